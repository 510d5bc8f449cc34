//! Jobs whose launcher is killed, and that one of their nodes leads to the end.

use rustix::process::Signal;

use crate::job::Shape;
use crate::subjects::{Left, ROUNDS, Run};
use crate::system::signal;

/// No checkpoint but those after a recovery.
const NEVER: &str = "--ckpt-every 1h";

pub fn the_launcher_between_two_checkpoints() {
    for (nodes, transport) in [(2, "shm"), (4, "tcp"), (3, "mixed")] {
        let shape = (nodes, 1, transport);
        let expected = ROUNDS.undisturbed(shape);
        let run = begin(shape, "--ckpt-every 4steps");
        run.job.wait_for("at 14");
        signal(run.job.launcher_pid(), Signal::KILL);
        led_by(&run.survives_its_launcher(&expected), &[0]);
    }
}

pub fn the_launcher_before_the_first_checkpoint() {
    for transport in ["tcp", "shm"] {
        let shape = (3, 2, transport);
        let expected = ROUNDS.undisturbed(shape);
        let run = begin(shape, NEVER);
        run.job.wait_for("at 5");
        signal(run.job.launcher_pid(), Signal::KILL);
        let left = run.survives_its_launcher(&expected);
        led_by(&left, &[0]);
        assert!(left.failures[0]["version"].is_null(), "{:?}", left.failures);
    }
}

fn begin(shape: Shape, options: &str) -> Run {
    ROUNDS.start(shape, &format!("--ft double {options}"))
}

/// These nodes led, one after another, as people were told; the last one reports that the launcher before it was lost.
#[track_caller]
fn led_by(left: &Left, leaders: &[u32]) {
    let said = |node: &u32| format!("the launcher is gone; node {node} leads now");
    let told: Vec<_> = left.ended.stderr.iter().filter(|line| line.contains("leads now")).collect();
    assert_eq!(told.len(), leaders.len(), "{}", left.ended.said());
    for (told, leader) in told.iter().zip(leaders) {
        assert!(told.ends_with(&said(leader)), "{}", left.ended.said());
    }
    let launchers: Vec<_> = left.failures.iter().filter(|failure| failure["node"].is_null()).collect();
    assert_eq!(launchers.len(), 1, "{:?}", left.failures);
    assert_eq!(launchers[0]["what"], said(leaders.last().expect("somebody led")).as_str());
}
