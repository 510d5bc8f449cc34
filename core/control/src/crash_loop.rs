//! Processes that end by a fault of their own, or have to go for the same reason, again and again, though the job goes back each time.
//!
//! Pure. A machine that fails is made up for by going back. A program that runs over its stack at step 50 does so again at step 50, whoever
//! computes that, and would go back for ever. So a job may come to an end by itself: when it has been lost in this way several times in a
//! row and came no further in between. How far it has come is told by its steps. Of a program that reports none it is told by what it goes
//! back to: to more than the checkpoint that followed the last time at once.

use std::collections::BTreeMap;

use talisman_ft::Version;

/// So often in a row is an accident. Once more ends the job.
const BORNE: u32 = 3;

/// The same of nodes that were killed since others could not go on with them, or that could not go on themselves, for the same reason: networks
/// have several accidents in a row.
const COMPLAINTS_BORNE: u32 = 8;

/// What is known of such losses.
#[derive(Debug, Default)]
pub struct CrashLoop {
    /// Why the job has to go back, if it has not since.
    cause: Option<Cause>,
    /// How often that has happened without progress, by the cause.
    counts: BTreeMap<String, u32>,
    /// How far the program had come the last time; 0 if it reports no steps.
    steps: u64,
    /// The checkpoint that followed when the job had gone back.
    followed: Version,
}

#[derive(Debug)]
struct Cause {
    /// What is the same each time: nothing of a process's own fault.
    same: Option<String>,
    /// In words: who, and what became of it.
    what: String,
}

impl CrashLoop {
    /// A process has ended by a fault of its own.
    pub fn on_fault(&mut self, what: &str) {
        self.cause = Some(Cause { same: None, what: what.to_owned() });
    }

    /// A node had to go for this reason.
    pub fn on_complaint(&mut self, why: &str, what: &str) {
        // Which nodes it is of, and how much it was, may differ.
        let same = why.split(|c: char| c.is_ascii_digit()).collect();
        self.cause.get_or_insert_with(|| Cause { same: Some(same), what: what.to_owned() });
    }

    /// The job is about to go back, after so many steps, to this version, if there is one; the next checkpoint has this number. Why it is not
    /// to, if it is not.
    pub fn on_going_back(&mut self, steps: u64, to: Option<Version>, next: Version) -> Option<String> {
        let followed = std::mem::replace(&mut self.followed, next);
        let Cause { same, what } = self.cause.take()?;
        let has_come_further = if steps > 0 { steps > self.steps } else { to > Some(followed) };
        if has_come_further {
            self.counts.clear();
        }
        self.steps = self.steps.max(steps);
        let borne = if same.is_some() { COMPLAINTS_BORNE } else { BORNE };
        let is_own = same.is_none();
        let times = self.counts.entry(same.unwrap_or_default()).or_default();
        *times += 1;
        (*times > borne).then(|| {
            let reached = if steps > 0 { format!(", beyond step {}", self.steps) } else { String::new() };
            let row = match is_own {
                true => format!("the {times}th process in a row that ends by a fault of its own"),
                false => format!("the {times}th time in a row that the job goes back for this reason"),
            };
            format!("{what}; that is {row}, and the job came no further in between{reached}: it would go back for ever")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes back from each of these, and says whether that is the end.
    fn ends(losses: &[(u64, Option<Version>, Version)]) -> Vec<bool> {
        let mut relapses = CrashLoop::default();
        let end = |(steps, to, next): &(u64, Option<Version>, Version)| {
            relapses.on_fault("node 2 is gone");
            relapses.on_going_back(*steps, *to, *next).is_some()
        };
        losses.iter().map(end).collect()
    }

    #[test]
    fn a_step_that_cannot_be_done_ends_the_job() {
        let again = [(50, Some(4), 5), (50, Some(5), 6), (49, Some(6), 7), (50, Some(7), 8), (50, None, 9)];
        assert_eq!(ends(&again), [false, false, false, true, true]);
    }

    #[test]
    fn whoever_comes_further_may_go_on() {
        let further: Vec<_> = (1..20).map(|step| (step, Some(step), step + 1)).collect();
        assert!(!ends(&further).contains(&true));
    }

    #[test]
    fn without_steps_only_what_was_taken_meanwhile_counts() {
        let again = [(0, Some(4), 5), (0, Some(5), 6), (0, Some(6), 7), (0, Some(7), 8)];
        assert_eq!(ends(&again), [false, false, false, true]);
        let further: Vec<_> = (1..20).map(|round| (0, Some(10 * round), 10 * round + 1)).collect();
        assert!(!ends(&further).contains(&true));
        assert_eq!(ends(&[(0, None, 1); 4]), [false, false, false, true], "there is no checkpoint yet");
    }

    #[test]
    fn other_losses_do_not_count() {
        let mut relapses = CrashLoop::default();
        for version in 1..20 {
            assert_eq!(relapses.on_going_back(50, Some(version), version + 1), None);
        }
        relapses.on_fault("node 2 was killed by signal 11");
        assert_eq!(relapses.on_going_back(50, Some(20), 21), None);
        assert!(relapses.cause.is_none());
    }

    #[test]
    fn who_goes_for_the_same_reason_again_and_again_ends_the_job() {
        let (mut relapses, mut ended) = (CrashLoop::default(), Vec::new());
        for round in 1..=COMPLAINTS_BORNE + 1 {
            let why = format!("node {}: node {round} sent what cannot be read", round + 1);
            relapses.on_complaint(&why, &format!("node {round} was killed"));
            ended.push(relapses.on_going_back(0, Some(4), 5));
        }
        assert!(ended.iter().rev().skip(1).all(Option::is_none));
        let said = ended.last().and_then(Option::as_ref).expect("it is the end");
        assert!(said.starts_with("node 9 was killed; that is the 9th time in a row"), "{said}");
    }

    #[test]
    fn reasons_that_differ_are_counted_each_by_itself_until_the_job_comes_further() {
        let mut relapses = CrashLoop::default();
        for step in [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2] {
            for why in ["no answer for 2s", "a damaged frame"] {
                relapses.on_complaint(why, "node 1 was killed");
                assert_eq!(relapses.on_going_back(step, None, 1), None);
            }
        }
    }

    #[test]
    fn it_is_told_who_and_how_often_and_where() {
        let mut relapses =
            CrashLoop { counts: [(String::new(), BORNE)].into(), steps: 50, ..CrashLoop::default() };
        relapses.on_fault("node 2 was killed by signal 11");
        let why = relapses.on_going_back(50, Some(9), 10).expect("it is the end");
        assert_eq!(
            why,
            "node 2 was killed by signal 11; that is the 4th process in a row that ends by a fault of its own, and the job \
             came no further in between, beyond step 50: it would go back for ever"
        );
    }
}
