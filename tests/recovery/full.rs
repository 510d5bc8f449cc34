//! Disks that do not take a checkpoint while a job runs (`--ft disk`): the version is given up, which is said, the one before it stays, the
//! job goes on, and goes back to that one if it has to; later ones are kept when the disk takes them again. With `--ft double`, only who has
//! asked for one is told.
//!
//! The jobs have a small disk of their own, in a namespace where anybody may mount one, and no right to write where permissions say
//! otherwise.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rustix::process::{Signal, getuid};

use crate::disk::Folder;
use crate::job::until;
use crate::subjects::{LONG, Run};
use crate::system::signal;

/// What surrounds a job: a disk is mounted on the first argument, and the others are the job's command.
const SURROUNDINGS: &str = "mount -t tmpfs -o size=16m tmpfs \"$1\" && shift && \
                            exec setpriv --bounding-set=-dac_override,-dac_read_search \"$@\"";

pub fn a_disk_that_is_full() {
    goes_on_without(fill, empty, "no space is left on its disk");
}

pub fn a_folder_that_cannot_be_written_any_more() {
    goes_on_without(|disk| permit(disk, 0o555), |disk| permit(disk, 0o755), "Permission denied");
}

/// Those that are in memory do not need it.
pub fn a_disk_that_does_not_take_what_is_asked_for() {
    asks_in_vain(fill, empty, "no space is left on its disk");
    asks_in_vain(|disk| permit(disk, 0o555), |disk| permit(disk, 0o755), "Permission denied");
}

fn fill(disk: &Path) {
    let mut file = File::options().append(true).create(true).open(ballast(disk)).unwrap();
    while file.write_all(&[1; 4096]).is_ok() {}
}

fn empty(disk: &Path) {
    fs::remove_file(ballast(disk)).unwrap();
}

fn ballast(disk: &Path) -> PathBuf {
    disk.join("ballast")
}

/// Says how the folder of the first node may be used.
fn permit(disk: &Path, mode: u32) {
    let folder = fs::read_dir(disk).unwrap().map(|entry| entry.unwrap().path()).min().unwrap();
    fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
}

const SHAPE: (u32, u32, &str) = (3, 1, "shm");

/// A job whose folder is on a disk of its own.
fn started(folder: &Folder, options: &str) -> Run {
    fs::create_dir_all(&folder.0).unwrap();
    LONG.start_by(SHAPE, options, |command| on_its_own_disk(&folder.0, &command))
}

/// A job in memory whose disk is hurt when it is asked for a checkpoint, loses a node, and has its disk repaired.
fn asks_in_vain(hurt: impl Fn(&Path), repair: impl Fn(&Path), reason: &str) {
    let expected = LONG.undisturbed(SHAPE);
    let folder = Folder::new();
    let on_disk = format!("--ckpt-dir {}", folder.0.display());
    let options = format!("--ft double --ckpt-every 1h {on_disk} {}", folder.holding());
    let run = started(&folder, &options);
    let ask = |answer: &str| {
        signal(run.job.launcher_pid(), Signal::USR1);
        run.job.wait_for_error(answer)
    };
    run.job.wait_for("at 3");
    let nodes = run.job.nodes(3);
    ask("checkpoint 1 is taken; after the loss of all nodes");
    let disk = seen_by(run.job.launcher_pid(), &folder.0);
    hurt(&disk);
    let told = ask("checkpoint 2 is taken, in the memory of the nodes, but not in ");
    assert!(told.contains(reason) && told.contains("node "), "{told}");
    signal(nodes[1], Signal::KILL);
    run.job.wait_for_error("nodes went back to checkpoint 2");
    repair(&disk);
    signal(run.job.launcher_pid(), Signal::USR1);
    run.job.wait_for_error_after("nodes went back", "is taken; after the loss of all nodes");
    folder.let_go();
    run.survives(&expected);
}

/// A job whose disk is hurt until a checkpoint is given up for this reason, loses a node, and has its disk repaired.
fn goes_on_without(hurt: impl Fn(&Path), repair: impl Fn(&Path), reason: &str) {
    let expected = LONG.undisturbed(SHAPE);
    let folder = Folder::new();
    let options = folder.held("--ckpt-every 20ms");
    let run = started(&folder, &options);
    run.job.wait_for_error("committed after");
    let nodes = run.job.nodes(3);
    let disk = seen_by(run.job.launcher_pid(), &folder.0);
    // What is older than a checkpoint that is just committed still goes, and makes room.
    let given_up = until(|| {
        hurt(&disk);
        run.job.said().contains("is given up").then_some(())
    });
    assert!(given_up.is_some(), "{}", run.job.said());
    let told = run.job.wait_for_error("is given up");
    assert!(told.contains(reason) && told.contains("node "), "{told}");
    signal(nodes[1], Signal::KILL);
    run.job.wait_for_error("nodes went back to checkpoint");
    repair(&disk);
    let kept = run.job.wait_for_error("(failure)");
    assert!(kept.contains("committed after"), "{kept}");
    folder.let_go();
    run.survives(&expected);
}

/// To have such surroundings.
pub fn disks() -> Option<String> {
    static CAN: OnceLock<bool> = OnceLock::new();
    let can = || {
        let folder = Folder::new();
        let mut attempt = on_its_own_disk(&folder.0, &Command::new("true"));
        fs::create_dir_all(&folder.0).is_ok()
            && attempt.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    (!CAN.get_or_init(can)).then(|| {
        "disks cannot be mounted: that takes root or namespaces of users, `unshare` and `setpriv`".into()
    })
}

fn on_its_own_disk(folder: &Path, command: &Command) -> Command {
    let mut surrounded = Command::new("unshare");
    // Who may mount anyway needs no namespace of users, of which there may be none.
    let as_root: &[&str] = if getuid().is_root() { &[] } else { &["--user", "--map-root-user"] };
    surrounded.args(as_root).args(["--mount", "sh", "-c", SURROUNDINGS, "sh"]).arg(folder);
    surrounded.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => surrounded.env(name, value),
            None => surrounded.env_remove(name),
        };
    }
    surrounded
}

/// A folder as a process sees it.
fn seen_by(pid: i32, folder: &Path) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/root{}", folder.display()))
}
