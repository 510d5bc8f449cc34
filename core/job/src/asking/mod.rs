//! Asking a running job for something: what can be asked, and where its launcher listens.
//!
//! A job is named by the process id of its launcher, the process that was started. It listens at a socket in a folder that only its user can
//! enter, and answers only that user. One line is the request, one line the answer: `ok` or `error`, a blank and a sentence.

pub mod left;

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{DirBuilder, symlink_metadata};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A checkpoint now.
    Checkpoint,
    /// A step of load balancing now.
    Balance,
    /// To go on without these nodes.
    Shrink(Vec<u32>),
    /// To go on with so many more nodes; with all that can be added if no number is said.
    Grow(Option<u32>),
    /// How it stands: a [`crate::snapshot::Snapshot`].
    Look,
}

/// Asks the job of a launcher, and waits for its answer.
///
/// # Errors
/// There is no such job, or it refuses: a sentence for people.
pub fn ask(job: u32, request: &Request) -> Result<String, String> {
    let silent = |error: io::Error| {
        format!(
            "no job of yours with the process id {job} listens ({error}); it is that of the process that was started, \
             of a job of several nodes with --ft or --balancer"
        )
    };
    let mut stream = folder().and_then(|folder| UnixStream::connect(socket(&folder, job))).map_err(silent)?;
    let mut answer = String::new();
    writeln!(stream, "{request}").map_err(silent)?;
    BufReader::new(stream).read_line(&mut answer).map_err(silent)?;
    match answer.trim_end().split_once(' ') {
        Some(("ok", text)) => Ok(text.into()),
        Some(("error", text)) => Err(text.into()),
        _ => Err("the job has ended, or has lost its launcher, without an answer".into()),
    }
}

/// The folder of the sockets of all jobs of this user, which nobody else can enter.
///
/// # Errors
/// It cannot be made, or somebody else made it.
pub fn folder() -> io::Result<PathBuf> {
    let user = rustix::process::getuid().as_raw();
    let folder = match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(own) if Path::new(&own).is_absolute() => PathBuf::from(own).join("talisman"),
        _ => std::env::temp_dir().join(format!("talisman-{user}")),
    };
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = symlink_metadata(&folder)?;
    if found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0 {
        return Ok(folder);
    }
    Err(io::Error::other(format!("others can enter {}; remove it", folder.display())))
}

/// Where the launcher of a job listens.
pub fn socket(folder: &Path, job: u32) -> PathBuf {
    folder.join(format!("{job}.job"))
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Checkpoint => f.write_str("checkpoint"),
            Request::Balance => f.write_str("balance"),
            Request::Look => f.write_str("look"),
            Request::Shrink(nodes) => {
                f.write_str("shrink")?;
                nodes.iter().try_for_each(|node| write!(f, " {node}"))
            }
            Request::Grow(None) => f.write_str("grow"),
            Request::Grow(Some(count)) => write!(f, "grow {count}"),
        }
    }
}

impl FromStr for Request {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        let wrong = || format!("`{line}` is not what a job can be asked; use the same build of `talisman`");
        match words.next() {
            Some("checkpoint") if words.next().is_none() => Ok(Request::Checkpoint),
            Some("balance") if words.next().is_none() => Ok(Request::Balance),
            Some("look") if words.next().is_none() => Ok(Request::Look),
            Some("shrink") => {
                // Each once, whoever names one twice.
                let nodes: BTreeSet<u32> =
                    words.map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
                if nodes.is_empty() { Err(wrong()) } else { Ok(Request::Shrink(nodes.into_iter().collect())) }
            }
            Some("grow") => {
                let count = words.next().map(str::parse).transpose().map_err(|_| wrong())?;
                if words.next().is_some() || count == Some(0) {
                    Err(wrong())
                } else {
                    Ok(Request::Grow(count))
                }
            }
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_they_are_written() {
        let shrinks = [Request::Shrink(vec![3]), Request::Shrink(vec![0, 12])];
        let others = [
            Request::Checkpoint,
            Request::Balance,
            Request::Grow(None),
            Request::Grow(Some(2)),
            Request::Look,
        ];
        for request in shrinks.into_iter().chain(others) {
            assert_eq!(request.to_string().parse(), Ok(request));
        }
        assert_eq!("shrink 2 1 2".parse(), Ok(Request::Shrink(vec![1, 2])));
        for wrong in [
            "",
            "shrink",
            "shrink one",
            "shrink -1",
            "checkpoint 4",
            "balance 1",
            "grow 0",
            "grow 1 2",
            "melt",
        ] {
            assert!(wrong.parse::<Request>().unwrap_err().contains(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_job_that_is_not_there_is_named() {
        let error = ask(u32::MAX, &Request::Checkpoint).unwrap_err();
        assert!(error.contains("process id 4294967295"), "{error}");
    }
}
