//! Disks that do not take a checkpoint while a job runs (`--ft disk`): the version is given up, which is said, the one before it stays, the
//! job goes on, and goes back to that one if it has to; later ones are kept when the disk takes them again.
//!
//! The jobs have a small disk of their own, in a namespace where anybody may mount one, and no right to write where permissions say
//! otherwise.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::disk::Folder;
use crate::job::until;
use crate::subjects::LONG;
use crate::system::signal;

/// What surrounds a job: a disk is mounted on the first argument, and the others are the job's command.
const SURROUNDINGS: &str = "mount -t tmpfs -o size=16m tmpfs \"$1\" && shift && \
                            exec setpriv --bounding-set=-dac_override,-dac_read_search \"$@\"";

pub fn a_disk_that_is_full() {
    let ballast = |disk: &Path| disk.join("ballast");
    let fill = |disk: &Path| {
        let mut file = File::options().append(true).create(true).open(ballast(disk)).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
    };
    goes_on_without(fill, |disk| fs::remove_file(ballast(disk)).unwrap(), "no space is left on its disk");
}

pub fn a_folder_that_cannot_be_written_any_more() {
    let permit = |disk: &Path, mode| {
        let folder = fs::read_dir(disk).unwrap().map(|entry| entry.unwrap().path()).min().unwrap();
        fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
    };
    goes_on_without(|disk| permit(disk, 0o555), |disk| permit(disk, 0o755), "Permission denied");
}

/// A job whose disk is hurt until a checkpoint is given up for this reason, loses a node, and has its disk repaired.
fn goes_on_without(hurt: impl Fn(&Path), repair: impl Fn(&Path), reason: &str) {
    if !can_have_disks() {
        return;
    }
    let shape = (3, 1, "shm");
    let expected = LONG.undisturbed(shape);
    let folder = Folder::new();
    fs::create_dir_all(&folder.0).unwrap();
    let options = folder.held("--ckpt-every 20ms");
    let run = LONG.start_by(shape, &options, |command| on_its_own_disk(&folder.0, &command));
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

/// Whether there can be such surroundings here. If not, says what is skipped.
fn can_have_disks() -> bool {
    let folder = Folder::new();
    fs::create_dir_all(&folder.0).unwrap();
    let mut attempt = on_its_own_disk(&folder.0, &Command::new("true"));
    let can = attempt.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !can {
        eprintln!("skipped: disks that are full or cannot be written (needs user namespaces and `setpriv`)");
    }
    can
}

fn on_its_own_disk(folder: &Path, command: &Command) -> Command {
    let mut surrounded = Command::new("unshare");
    surrounded.args(["--user", "--map-root-user", "--mount", "sh", "-c", SURROUNDINGS, "sh"]).arg(folder);
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
