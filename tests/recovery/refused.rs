//! A state that no checkpoint can take is refused by name before one counts: the version before stays, and is what a job goes back to.

use rustix::process::Signal;

use crate::disk::{Folder, goes_on};
use crate::job::Scratch;
use crate::subjects::{HOARD, Run};
use crate::system::signal;

/// What grows, and what the refusal says of it.
const KINDS: [(&str, &str); 2] =
    [("deep", "Hoarder.nest.inner.inner."), ("empty", "Hoarder.empty: too many values that take no bytes")];
/// The last checkpoint that can be taken: there is one after each round.
const LAST: &str = "checkpoint 4";

/// It ended because of what one object has; so many checkpoints were taken by then.
#[track_caller]
fn is_refused(run: Run, place: &str, taken: usize) -> Vec<String> {
    let ended = run.job.end().expect(1, &["no checkpoint can take what", "Hoarder[1] has", place]);
    let committed = ended.stderr.iter().filter(|line| line.contains("committed after")).count();
    assert_eq!(committed, taken, "{}", ended.said());
    ended.stdout
}

/// A node is killed while an object has too much: all go back to the version before, come there once more, and the job ends by name then.
pub fn a_loss_before_a_checkpoint_is_refused() {
    for (what, place) in KINDS {
        for (victim, transport) in [(0, "shm"), (1, "tcp"), (2, "mixed")] {
            let folder = Folder::new();
            let options = format!("--ft double --ft-log --ckpt-every 1h --what {what} {}", folder.holding());
            let run = HOARD.start((3, 1, transport), &options);
            let nodes = run.job.nodes(3);
            run.job.wait_for("at 5");
            signal(nodes[victim], Signal::KILL);
            run.job.wait_for_error(&format!("2 nodes went back to {LAST}"));
            folder.let_go();
            // Who waited for the last one asks for it once more, and there is one after each loss.
            is_refused(run, place, 6);
        }
    }
}

/// The job that was ended is started again from the version before, without what was too much, and survives a kill then.
pub fn a_job_goes_on_from_before_a_checkpoint_that_was_refused() {
    for (what, place) in KINDS {
        let within = Scratch::new("within");
        let options = format!("--what {what} --within {}", within.name());
        within.touch();
        let expected = HOARD.start((1, 1, "shm"), &options).end().said;
        std::fs::remove_file(&within.0).expect("it is there");
        let folder = Folder::new();
        let run = HOARD.start((3, 1, "mixed"), &folder.disk(&format!("--ckpt-every 1h {options}")));
        let said = is_refused(run, place, 4);
        let said: Vec<String> = said.into_iter().filter(|line| !line.starts_with("round 5")).collect();
        within.touch();
        let again = folder.restart("--ft disk --ckpt-every 1h --kill 1@step6");
        let left = goes_on(HOARD, (3, 1, "tcp"), &again, &said, &expected);
        let told = |line: &String| line.contains(&format!("goes on from {LAST}"));
        assert!(left.ended.stderr.iter().any(told), "{}", left.ended.said());
    }
}
