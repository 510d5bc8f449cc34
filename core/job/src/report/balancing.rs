//! What a balancing step did.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A balancing step. Its loads are what PEs had to compute in the period before it, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BalancingStep {
    /// Which, counted from 1.
    pub number: u32,
    /// When it began, in seconds from the start of the job.
    pub at_s: f64,
    /// Why there was one: `sync`, `period`, `auto`, `request` or `membership`.
    pub trigger: String,
    /// What decided.
    pub strategy: String,
    /// Objects of the job.
    pub objects: u64,
    /// PEs of the job.
    pub pes: u32,
    /// What the busiest PE had to compute before it.
    pub max_before: f64,
    /// What each would have had to if all had been even, their speeds considered.
    pub average_before: f64,
    /// What the busiest would have to compute after it, as predicted.
    pub max_predicted: f64,
    /// What the busiest PE had to compute after it, as measured by the next step; none for the last.
    pub max_after: Option<f64>,
    /// What was even then.
    pub average_after: Option<f64>,
    /// Objects that were sent off to other PEs.
    pub moves: u64,
    /// What these take, packed.
    pub bytes_moved: u64,
    /// Moves that were not possible any more: the object had left, or was about to.
    pub out_of_date: u64,
    /// Messages between objects that the strategy did not hear of: a PE counts so many pairs of objects at most.
    pub uncounted_messages: u64,
    /// The longest time that a PE took to decide, in seconds.
    pub strategy_s: f64,
    /// From when the step began until the last PE had sent off its objects, in seconds.
    pub step_s: f64,
    /// Why nothing was decided, if that is so.
    pub refused: Option<String>,
}

impl BalancingStep {
    /// The next step has measured what came of this one.
    pub fn measured_after(&mut self, next: &BalancingStep) {
        self.max_after = Some(next.max_before);
        self.average_after = Some(next.average_before);
    }
}

/// As a line of the log.
impl fmt::Display for BalancingStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratio = |max: f64| if self.average_before > 0.0 { max / self.average_before } else { 1.0 };
        write!(
            f,
            "balancing step {} ({}, {}): max/average {:.3}, {:.3} predicted; {} of {} objects moved, {} bytes; {:.6} s, \
             {:.6} of them deciding",
            self.number,
            self.trigger,
            self.strategy,
            ratio(self.max_before),
            ratio(self.max_predicted),
            self.moves,
            self.objects,
            self.bytes_moved,
            self.step_s,
            self.strategy_s,
        )?;
        if self.out_of_date > 0 {
            write!(f, "; {} moves were out of date", self.out_of_date)?;
        }
        if self.uncounted_messages > 0 {
            let uncounted = self.uncounted_messages;
            write!(f, "; {uncounted} messages were not counted, as too many pairs of objects exchange some")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_loads_in_averages() {
        let step = BalancingStep {
            number: 3,
            trigger: "sync".into(),
            strategy: "greedy".into(),
            objects: 64,
            max_before: 3.0,
            average_before: 2.0,
            max_predicted: 2.2,
            moves: 7,
            bytes_moved: 700,
            out_of_date: 1,
            uncounted_messages: 2,
            step_s: 0.25,
            ..BalancingStep::default()
        };
        let line = "balancing step 3 (sync, greedy): max/average 1.500, 1.100 predicted; 7 of 64 objects moved, 700 bytes; \
                    0.250000 s, 0.000000 of them deciding; 1 moves were out of date; \
                    2 messages were not counted, as too many pairs of objects exchange some";
        assert_eq!(step.to_string(), line);
        assert!(BalancingStep::default().to_string().contains("max/average 1.000"), "nothing to compute");
    }
}
