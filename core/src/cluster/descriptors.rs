//! Room for a connection with every node.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Lets this process, and those it starts, open as many files as the system allows them. The usual limit, 1024, is there
/// for programs that call `select`; a job of some hundred nodes needs more.
pub(crate) fn raise_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Refused or not: too few descriptors are said when one is missing.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
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
}
