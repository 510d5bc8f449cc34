//! How a job ended, out of all that its nodes and the launcher say about it.

use crate::protocol::Stop;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// What has been heard so far.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    heard: Option<(Weight, Stop)>,
}

/// What is heard over what: the first of the weightiest words counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Success,
    /// A node cannot go on because another does not answer: the reason is the other.
    Symptom,
    Failure,
}

pub use talisman_job::exit::UNRECOVERABLE;

impl Verdict {
    /// A node's program has ended the job.
    pub fn on_word(&mut self, stop: Stop) {
        let weight = match stop.status {
            0 => Weight::Success,
            UNRECOVERABLE => Weight::Symptom,
            _ => Weight::Failure,
        };
        self.hear(weight, stop);
    }

    /// A node is lost.
    pub fn on_loss(&mut self, message: String) {
        self.hear(Weight::Failure, Stop { status: UNRECOVERABLE, message: Some(message) });
    }

    /// The job ends early, or has failed, with this exit status.
    pub fn on_failure(&mut self, status: i32, message: Option<String>) {
        self.hear(Weight::Failure, Stop { status, message });
    }

    /// Whether the job is to end.
    pub fn is_over(&self) -> bool {
        self.heard.is_some()
    }

    pub fn is_success(&self) -> bool {
        matches!(self.heard, Some((Weight::Success, _)))
    }

    /// Whether all that was heard are complaints whose reason is still unknown.
    pub fn is_symptom(&self) -> bool {
        matches!(self.heard, Some((Weight::Symptom, _)))
    }

    /// The end as it is known now; success if nothing was said.
    pub fn stop(&self) -> Stop {
        self.heard.as_ref().map(|(_, stop)| stop.clone()).unwrap_or_default()
    }

    fn hear(&mut self, weight: Weight, stop: Stop) {
        let known = self.heard.as_ref().map(|(known, _)| *known);
        match known {
            Some(Weight::Symptom) if weight == Weight::Failure => {
                sometimes("a complaint was overruled by its reason");
            }
            Some(Weight::Success) if weight > Weight::Success => {
                sometimes("a failure was heard over a success");
            }
            Some(Weight::Failure) => sometimes("something was said after the failure that counts"),
            _ => {}
        }
        let counts = match known {
            Some(Weight::Success) if mutated("success-over-failure") => false,
            Some(Weight::Symptom) if mutated("complaint-over-its-reason") => false,
            _ => known.is_none_or(|known| known < weight),
        };
        if counts {
            self.heard = Some((weight, stop));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(status: i32, message: &str) -> Stop {
        Stop { status, message: Some(message.into()) }
    }

    #[test]
    fn a_failure_is_heard_over_success_and_the_first_failure_counts() {
        let mut verdict = Verdict::default();
        assert!(!verdict.is_over());
        verdict.on_word(Stop::default());
        assert!(verdict.is_success());
        verdict.on_word(word(1, "panicked"));
        verdict.on_loss("node 1 was killed".into());
        verdict.on_word(Stop::default());
        assert_eq!(verdict.stop(), word(1, "panicked"));
    }

    #[test]
    fn a_lost_node_is_the_reason_for_what_others_complain_of() {
        let mut verdict = Verdict::default();
        verdict.on_word(word(UNRECOVERABLE, "node 1 does not answer"));
        verdict.on_loss("node 1 was killed".into());
        assert_eq!(verdict.stop(), word(UNRECOVERABLE, "node 1 was killed"));
    }
}
