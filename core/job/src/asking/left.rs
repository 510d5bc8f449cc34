//! Sockets of jobs that are gone. A launcher that is killed leaves its own behind, and so does a job of which every process is killed at
//! once; whoever listens next, and a node that gives up, takes away what is proven to be nobody's.

use std::fs::{read, read_dir, remove_file, symlink_metadata};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

/// Files that are looked at; the rest is left to the next one who looks.
const MOST: usize = 10_000;

/// Where a launcher makes its socket, which gets the name of its job when somebody listens: so nobody finds one that does not answer yet.
pub fn unfinished(folder: &Path) -> PathBuf {
    folder.join(format!("{}.new", std::process::id()))
}

/// Takes away the sockets in a folder of this user's own that are nobody's any more.
pub fn sweep(folder: &Path) {
    let Ok(entries) = read_dir(folder) else { return };
    for entry in entries.take(MOST).flatten() {
        let path = entry.path();
        if process_of(&path).is_some_and(|process| !is_running(process)) && is_deaf(&path) {
            // Another may have been faster.
            let _ = remove_file(&path);
        }
    }
}

/// The process that a socket is called by.
fn process_of(path: &Path) -> Option<u32> {
    let is_ours = matches!(path.extension()?.to_str()?, "job" | "new");
    is_ours.then(|| path.file_stem()?.to_str()?.parse().ok()).flatten()
}

/// Whether nobody listens at a socket, and nobody will: the system keeps none whose listener has gone. It is not waited for: one that is full
/// has a listener.
fn is_deaf(path: &Path) -> bool {
    let is_socket = symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let refused = || {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&socket, &SocketAddrUnix::new(path)?)
    };
    is_socket && refused() == Err(Errno::CONNREFUSED)
}

/// Whether there is a process of this number that has not ended.
fn is_running(process: u32) -> bool {
    let Ok(stat) = read(format!("/proc/{process}/stat")) else { return false };
    // Behind the name, in which there may be anything.
    let behind = stat.iter().rposition(|byte| *byte == b')').map(|at| &stat[at + 1..]);
    let state = behind.and_then(|rest| rest.iter().find(|byte| **byte != b' '));
    !matches!(state, Some(b'Z' | b'X'))
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir, remove_dir_all, write};
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn what_is_nobodys_is_taken_away_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("talisman-left-{}", std::process::id()));
        create_dir(&folder).unwrap();
        let (gone, own) = (u32::MAX, std::process::id());
        let at = |name: String| folder.join(name);
        // Listeners that are dropped leave their files.
        for name in [format!("{gone}.job"), format!("{gone}.new"), format!("{own}.new")] {
            drop(UnixListener::bind(at(name)).unwrap());
        }
        let _listens = UnixListener::bind(at(format!("{}.job", gone - 1))).unwrap();
        write(at(format!("{}.job", gone - 2)), "no socket").unwrap();
        write(at("notes".into()), "of somebody").unwrap();
        sweep(&folder);
        let mut left: Vec<_> = read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        let mut expected =
            [format!("{own}.new"), format!("{}.job", gone - 1), format!("{}.job", gone - 2), "notes".into()];
        expected.sort();
        assert_eq!(left, expected.map(Into::<std::ffi::OsString>::into));
        remove_dir_all(&folder).unwrap();
    }
}
