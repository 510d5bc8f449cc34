//! A job that logs (`--ft logging`) and has lost more than can be restored is started again from what it has on disk, if nobody has seen
//! anything of what it did since.
//!
//! It is as if somebody had called it again with `--restart`, under the same process: kills that were asked for do not come twice, and the
//! report has all losses.

use std::time::Duration;

use talisman_control::outcome::ClusterOutcome;
use talisman_ft::Version;
use talisman_job::faults::When;
use talisman_job::{CheckpointTaken, Failure, RunArgs};

/// So often a job goes back to the same checkpoint.
const TIMES: u32 = 3;

/// What is known of the starts before this one.
pub struct GoingBack {
    options: RunArgs,
    /// What the last one went back to, and how often any has.
    version: Option<Version>,
    times: u32,
    /// How long the program had been running.
    wall: Duration,
    failures: Vec<Failure>,
    checkpoints: Vec<CheckpointTaken>,
}

impl GoingBack {
    /// Of a job that is started for the first time.
    pub fn new(options: &RunArgs) -> Self {
        let (failures, checkpoints) = (Vec::new(), Vec::new());
        let options = options.clone();
        GoingBack { options, version: None, times: 0, wall: Duration::ZERO, failures, checkpoints }
    }

    /// Those of the next start.
    pub fn options(&self) -> &RunArgs {
        &self.options
    }

    /// The oldest version that may be gone on from: what was done before has been seen.
    pub fn least(&self) -> Option<Version> {
        self.version
    }

    /// A start has ended so: whether there is to be another.
    pub fn goes_back(&mut self, outcome: &mut ClusterOutcome) -> bool {
        let Some(back) = outcome.back.take().filter(|_| outcome.interrupted.is_none()) else { return false };
        self.times = if self.version == Some(back.version) { self.times + 1 } else { 1 };
        if self.times > TIMES {
            return false;
        }
        self.version = Some(back.version);
        outcome.failures.iter_mut().filter(|failure| !failure.is_settled()).for_each(|failure| {
            (failure.version, failure.replaced) = (Some(back.version), true);
        });
        self.options.restart = Some(back.dir);
        self.leave_out_kills(outcome);
        self.add(outcome);
        true
    }

    fn leave_out_kills(&mut self, outcome: &ClusterOutcome) {
        let (wall, done) = (outcome.wall, outcome.steps.done);
        for kill in std::mem::take(&mut self.options.kill) {
            let when = match kill.when {
                When::Step(step) => (step > done).then_some(When::Step(step)),
                When::After(time) => time.checked_sub(wall).map(When::After),
            };
            self.options.kill.extend(when.map(|when| talisman_job::faults::Kill { when, ..kill }));
        }
    }

    fn add(&mut self, outcome: &mut ClusterOutcome) {
        self.to_own_time(outcome);
        self.failures.append(&mut outcome.failures);
        self.checkpoints.append(&mut outcome.checkpoints);
        self.wall = outcome.wall;
    }

    /// Times count from the beginning of the first start.
    fn to_own_time(&self, outcome: &mut ClusterOutcome) {
        let before = self.wall.as_secs_f64();
        outcome.failures.iter_mut().for_each(|failure| failure.at_s += before);
        outcome.checkpoints.iter_mut().for_each(|taken| taken.at_s += before);
        outcome.wall += self.wall;
    }

    /// How the job has ended, with what there was before the last start.
    pub fn and_before(mut self, mut outcome: ClusterOutcome) -> ClusterOutcome {
        self.to_own_time(&mut outcome);
        self.failures.append(&mut outcome.failures);
        self.checkpoints.append(&mut outcome.checkpoints);
        ClusterOutcome { failures: self.failures, checkpoints: self.checkpoints, ..outcome }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_control::coordinator::Back;
    use talisman_job::progress::Steps;

    fn ended(version: Version, after_s: u64, step: u64) -> ClusterOutcome {
        let failure = Failure { node: Some(1), at_s: 1.0, ..Failure::default() };
        ClusterOutcome {
            back: Some(Back { dir: "here".into(), version }),
            wall: Duration::from_secs(after_s),
            steps: Steps { done: step, ..Steps::default() },
            failures: vec![failure],
            ..ClusterOutcome::default()
        }
    }

    #[test]
    fn a_kill_does_not_come_twice_and_losses_are_told_in_one_time() {
        let kill =
            ["1@step3", "2@step9", "0@4s", "0@6s"].map(|kill| kill.parse().expect("it is one")).to_vec();
        let mut back = GoingBack::new(&RunArgs { kill, ..RunArgs::default() });
        assert!(back.goes_back(&mut ended(2, 5, 5)));
        let left: Vec<_> = ["2@step9", "0@1s"].map(|kill| kill.parse().expect("it is one")).to_vec();
        assert_eq!((&back.options().kill, back.least()), (&left, Some(2)));
        let whole = back.and_before(ended(0, 2, 9));
        assert_eq!(whole.failures.iter().map(|failure| failure.at_s).collect::<Vec<_>>(), [1.0, 6.0]);
        assert_eq!((whole.wall, whole.failures[0].version), (Duration::from_secs(7), Some(2)));
    }

    #[test]
    fn a_job_goes_back_to_the_same_checkpoint_only_so_often() {
        let mut back = GoingBack::new(&RunArgs::default());
        let went: Vec<_> =
            [4, 4, 4, 7, 7, 7, 7].map(|version| back.goes_back(&mut ended(version, 1, 1))).to_vec();
        assert_eq!(went, [true, true, true, true, true, true, false]);
    }
}
