//! Other users of the machine, and whoever else comes to a job's doors: it goes on, and they learn nothing.

use std::collections::VecDeque;
use std::fs;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::net::{SocketAddr as UnixAddress, UnixStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::{Gid, Uid};
use rustix::process::{Signal, geteuid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use crate::disk::{Folder, cut_off, goes_on};
use crate::held::begin;
use crate::job::until;
use crate::subjects::{LONG, NEVER};
use crate::system::{signal, sockets};

/// Who owns nothing.
const NOBODY: u32 = 65534;
/// Silent connections that are kept at each door: more than it has places.
const KEPT: usize = 200;

/// Strangers at doors, who come as long as this is there.
pub struct Crowd {
    stop: Arc<AtomicBool>,
    came: Arc<AtomicUsize>,
    threads: Vec<JoinHandle<()>>,
}

impl Crowd {
    /// Some say nothing, others what anybody can.
    pub fn at(doors: &[SocketAddr]) -> Crowd {
        assert!(!doors.is_empty(), "nobody listens");
        let (stop, came) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let come = |door: &SocketAddr| {
            let (door, stop, came) = (*door, stop.clone(), came.clone());
            thread::spawn(move || {
                let mut kept = VecDeque::new();
                while !stop.load(Ordering::Relaxed) {
                    let Ok(mut stranger) = TcpStream::connect_timeout(&door, Duration::from_secs(1)) else {
                        // The process may have ended.
                        thread::sleep(Duration::from_millis(1));
                        continue;
                    };
                    if came.fetch_add(1, Ordering::Relaxed) % 2 == 0 {
                        let _ = stranger.write_all(b"TALISMAN");
                    }
                    kept.push_back(stranger);
                    if kept.len() > KEPT {
                        kept.pop_front();
                        // As many as hold all places, but not all of the machine.
                        thread::sleep(Duration::from_micros(500));
                    }
                }
            })
        };
        let threads = doors.iter().map(come).collect();
        let crowd = Crowd { stop, came, threads };
        let all = KEPT * doors.len();
        until(|| (crowd.came.load(Ordering::Relaxed) >= all).then_some(())).expect("they come");
        crowd
    }

    /// How many came.
    pub fn leave(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().for_each(|thread| thread.join().expect("strangers do not panic"));
        self.came.load(Ordering::Relaxed)
    }
}

/// Where these processes listen.
pub fn doors(processes: &[i32]) -> Vec<SocketAddr> {
    let listening = processes.iter().flat_map(|pid| sockets(*pid)).filter(|socket| socket.listens);
    let mut doors: Vec<SocketAddr> = listening.map(|socket| socket.address).collect();
    doors.sort();
    doors.dedup();
    doors
}

/// To be other users.
pub fn root() -> Option<String> {
    (!geteuid().is_root()).then(|| "only root can be other users".into())
}

/// Does something as another user.
fn as_nobody<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let work = move || {
        let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
        set_thread_groups(&[]).expect("root may");
        set_thread_res_gid(group, group, group).expect("root may");
        // The system changes this thread alone, which ends right after.
        set_thread_res_uid(user, user, user).expect("root may");
        work()
    };
    thread::spawn(work).join().expect("it does not panic")
}

/// As many connections as there is room for, to all that has to do with jobs.
fn connections() -> Vec<UnixStream> {
    let text = fs::read_to_string("/proc/net/unix").expect("all may read it");
    let names = text.lines().filter_map(|line| line.split_whitespace().nth(7));
    let mut addresses: Vec<UnixAddress> = names
        .filter_map(|name| name.strip_prefix('@'))
        .filter(|name| name.starts_with("talisman"))
        .filter_map(|name| UnixAddress::from_abstract_name(name).ok())
        .collect();
    let folders = [std::env::temp_dir(), "/dev/shm".into()];
    for entry in folders.iter().flat_map(fs::read_dir).flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("talisman-doors-") {
            let doors = (0..8).map(|node| entry.path().join(node.to_string()));
            addresses.extend(doors.filter_map(|door| UnixAddress::from_pathname(door).ok()));
        }
    }
    let mut made = Vec::new();
    for address in addresses {
        // Whoever listens takes none: there is room for as many as the system allows.
        while let Ok(stream) = UnixStream::connect_addr(&address) {
            made.push(stream);
            if made.len() >= 4000 {
                return made;
            }
        }
    }
    made
}

/// What they find in the system's list of sockets, and under the folder for temporary files, is out of their reach.
pub fn other_users_cannot_reach_nodes() {
    let shape = (3, 1, "shm");
    let expected = LONG.undisturbed(shape);
    let held = begin(LONG, shape, "--ckpt-every 4steps");
    held.run.job.wait_for("at 14");
    let made = as_nobody(connections);
    assert_eq!(made.len(), 0, "another user has reached nodes");
    held.kill_launcher();
    held.survives_its_launcher(&expected);
}

/// Nobody hinders nodes that connect with each other and with their next launcher.
pub fn crowds_at_the_doors_of_nodes_without_their_launcher() {
    let shape = (3, 2, "tcp");
    let expected = LONG.undisturbed(shape);
    let held = begin(LONG, shape, "--ckpt-every 4steps --respawn");
    let nodes = held.run.job.nodes(3);
    held.run.job.wait_for("at 14");
    let crowd = Crowd::at(&doors(&nodes));
    held.kill_launcher();
    signal(nodes[1], Signal::KILL);
    let left = held.survives_its_launcher(&expected);
    // More come only while a door takes any, which is over soon where the job is quick.
    assert!(crowd.leave() >= KEPT * nodes.len(), "places were free");
    assert!(left.ended.stderr.len() < 200, "{} lines: {}", left.ended.stderr.len(), left.ended.said());
}

/// In the folder that is named and in the one that is not.
pub fn checkpoints_are_for_nobody_else() {
    let check = |dir: &Path| {
        let found = fs::symlink_metadata(dir).expect("it is there");
        assert_eq!((found.mode() & 0o777, found.is_dir()), (0o700, true), "{}", dir.display());
        for node in fs::read_dir(dir).expect("it is a folder").flatten() {
            assert_eq!(node.metadata().expect("it is there").mode() & 0o777, 0o700);
            for file in fs::read_dir(node.path()).expect("it is a folder").flatten() {
                // It may go meanwhile.
                let mode = file.metadata().map_or(0o600, |found| found.mode() & 0o777);
                assert_eq!(mode, 0o600, "{}", file.path().display());
            }
        }
    };
    for is_named in [true, false] {
        let folder = Folder::new();
        let options = if is_named { folder.disk("") } else { "--ft disk --ft-log".into() };
        let options = format!("{options} --ckpt-every 4steps {}", folder.holding());
        let run = LONG.start((2, 1, "shm"), &options);
        run.job.wait_for_error("committed after");
        let dir = if is_named {
            folder.0.clone()
        } else {
            let line = run.job.wait_for_error("checkpoints are kept in ");
            let rest = line.split("checkpoints are kept in ").nth(1).expect("it was found");
            rest.split(" (").next().expect("a path").into()
        };
        check(&dir);
        folder.let_go();
        run.job.end().expect(0, &[]);
        assert!(!dir.exists(), "a job that has ended leaves no checkpoints");
    }
}

/// They may have been made first.
pub fn folders_of_other_users_are_refused() {
    let folder = Folder::new();
    fs::create_dir_all(folder.0.join("node-1")).expect("the folder is ours");
    chown(folder.0.join("node-1"), Some(NOBODY), None).expect("root may");
    let ended = LONG.start((2, 1, "shm"), &folder.disk(NEVER)).job.end();
    ended.expect(2, &["cannot keep checkpoints in", "node-1", "belongs to another user"]);
}

/// Without a key nothing but its owner tells who made a file.
pub fn files_of_other_users_are_not_gone_on_from() {
    let expected = LONG.undisturbed((2, 1, "shm"));
    let folder = Folder::new();
    let said = cut_off(LONG.start((2, 1, "shm"), &folder.held("--ckpt-every 4steps")), &folder, 2, "at 12");
    goes_on(LONG, (2, 1, "shm"), &folder.restart(""), &said, &expected);
    for node in fs::read_dir(&folder.0).expect("it is ours").flatten() {
        for file in fs::read_dir(node.path()).expect("it is ours").flatten() {
            chown(file.path(), Some(NOBODY), None).expect("root may");
        }
    }
    let ended = LONG.start((2, 1, "shm"), &folder.restart("")).job.end();
    ended.expect(2, &["belongs to another user"]);
}

/// Where a job is asked, and where its nodes find each other without their launcher.
pub fn doors_are_for_nobody_else() {
    let place = Folder::new();
    fs::create_dir_all(&place.0).expect("the folder is ours");
    let surroundings = |mut command: Command| {
        command.env("TMPDIR", &place.0);
        command
    };
    let hold = Folder::new();
    let options = format!("--ft double --ckpt-every 4steps {}", hold.holding());
    let run = LONG.start_by((3, 1, "shm"), &options, surroundings);
    run.job.wait_for("at 12");
    let folders: Vec<_> = fs::read_dir(&place.0).expect("it is there").flatten().collect();
    assert!(!folders.is_empty(), "where a job is asked is made there");
    for folder in folders {
        let found = folder.metadata().expect("it is there");
        assert!(!found.is_dir() || found.mode() & 0o777 == 0o700, "{}", folder.path().display());
    }
    hold.let_go();
    run.job.end().expect(0, &[]);
}

/// Whoever may write beside it may have made them.
pub fn folders_that_lead_elsewhere_are_refused() {
    let (folder, elsewhere) = (Folder::new(), Folder::new());
    fs::create_dir_all(&folder.0).expect("the folder is ours");
    fs::create_dir_all(&elsewhere.0).expect("the folder is ours");
    fs::write(elsewhere.0.join("trial.tmp"), "kept").expect("the folder is ours");
    symlink(&elsewhere.0, folder.0.join("node-1")).expect("the folder is ours");
    // As it is no folder, a node cannot make its own.
    assert!(!LONG.start((2, 1, "shm"), &folder.disk(NEVER)).job.end().status.success());
    let kept: Vec<_> = fs::read_dir(&elsewhere.0).expect("it is there").flatten().collect();
    assert_eq!(kept.len(), 1, "something was written or removed elsewhere");
}

/// Another job that is to use the same folder is not sent to the checkpoints of one that runs.
pub fn a_folder_of_a_running_job_is_not_gone_on_from() {
    let folder = Folder::new();
    let run = LONG.start((2, 1, "shm"), &folder.held("--ckpt-every 4steps"));
    run.job.wait_for_error("committed after");
    let other = LONG.start((2, 1, "shm"), &folder.disk(NEVER)).job.end();
    let other = other.expect(2, &["that is running keeps its checkpoints there", "--ckpt-dir"]);
    assert!(!other.said().contains("--restart"), "{}", other.said());
    folder.let_go();
    run.job.end().expect(0, &[]);
}

/// A job goes on only from files that were written with its key.
pub fn checkpoints_with_a_key() {
    let folder = Folder::new();
    let keys = Folder::new();
    fs::create_dir_all(&keys.0).expect("the folder is ours");
    let key = |name: &str, byte: u8| {
        let file = keys.0.join(name);
        fs::write(&file, [byte; 32]).expect("the folder is ours");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("it is ours");
        format!("--ckpt-key {}", file.display())
    };
    let (own, other) = (key("own", 1), key("other", 2));
    let shape = (2, 1, "shm");
    let expected = LONG.undisturbed(shape);
    let run = LONG.start(shape, &folder.held(&format!("--ckpt-every 4steps {own}")));
    let said = cut_off(run, &folder, 2, "at 12");
    let before = folder.contents();
    let refused = LONG.start(shape, &folder.restart(&other)).job.end();
    refused.expect(2, &["is whole, and nothing was changed there", "was not written with this key"]);
    assert!(folder.contents() == before);
    goes_on(LONG, shape, &folder.restart(&format!("--ft disk {own}")), &said, &expected);
}
