//! What the system does not give any more.

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::executions::Relay;
use crate::losses::{NO_CUTS, SLOW, kill};

crate::trials::checks!(no_process_can_be_started_again);

/// Its launcher keeps the files that it has, and gets none more.
fn no_process_can_be_started_again() {
    let relay = Relay::start((3, 1, "tcp"), &format!("--ft logging {NO_CUTS} {SLOW}"));
    let victim = relay.wait_for(1, 20, &[]);
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    prlimit(Pid::from_raw(relay.job.launcher_pid()), Resource::Nofile, none).expect("it is our own");
    kill(victim);
    relay.end(3, &["node 1 could not be started again", "Too many open files"]);
}
