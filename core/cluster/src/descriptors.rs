//! Room for a connection with every node.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};

/// Lets this process, and those it starts, open as many files as the system allows them. The usual limit, 1024, is there
/// for programs that call `select`; a job of some hundred nodes needs more.
pub fn raise_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Refused or not: too few descriptors are said when one is missing.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// So many a runtime of `tokio` takes, and some more. It panics if those are missing that it hears of signals by.
const OF_A_RUNTIME: usize = 8;

/// A runtime of one thread.
///
/// # Errors
/// What the system says: too many descriptors.
pub fn runtime() -> io::Result<Runtime> {
    room_for(OF_A_RUNTIME)?;
    Builder::new_current_thread().enable_all().build()
}

/// Whether this process can have so many descriptors more.
fn room_for(count: usize) -> io::Result<()> {
    let (one, _other) = io::pipe()?;
    let more: io::Result<Vec<_>> = (2..count).map(|_| one.try_clone()).collect();
    more.map(drop)
}

/// What can be done about a failure that was said in these words, to be put behind them; nothing if it is no want of descriptors.
pub fn advice(said: &str) -> String {
    // As the system calls it, wherever it was found out: here, or in a node.
    let limit = getrlimit(Resource::Nofile).current.filter(|_| said.contains("Too many open files"));
    limit.map_or_else(String::new, |limit| {
        format!("; each process may have {limit}: raise that limit (`ulimit -n`), or use fewer nodes")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_what_the_system_allows() {
        raise_limit();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }

    #[test]
    fn a_want_of_descriptors_is_told_with_the_limit() {
        let missing = io::Error::from(rustix::io::Errno::MFILE);
        assert!(advice(&format!("node 2: cannot listen: {missing}")).contains("`ulimit -n`"));
        assert_eq!(advice("node 2 is lost"), "");
        assert!(room_for(OF_A_RUNTIME).is_ok());
    }
}
