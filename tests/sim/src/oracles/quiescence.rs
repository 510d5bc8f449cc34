//! Quiescence is declared only when nothing is in flight, queued or timed.

use rustc_hash::{FxHashMap, FxHashSet};
use talisman::witness::{Kind, Seen, Until};

use super::Oracle;

/// Knows what is still to be done.
#[derive(Clone, Default)]
pub struct Quiescence {
    /// Messages that count; whether something is to come of them by itself.
    open: FxHashMap<u64, bool>,
    /// Those among them that are for PEs.
    of_runtime: FxHashSet<u64>,
    stirring: usize,
    timers: usize,
    /// A node has died or gone back.
    blind: bool,
}

impl Quiescence {
    fn sent(&mut self, message: u64) {
        self.open.insert(message, true);
        self.stirring += 1;
    }

    fn is_over(&mut self, message: u64) {
        self.of_runtime.remove(&message);
        if self.open.remove(&message) == Some(true) {
            self.stirring -= 1;
        }
    }

    /// A message goes on, or waits for what only the program can bring about.
    fn stirs(&mut self, message: u64, stirs: bool) {
        let Some(stirred) = self.open.get_mut(&message) else { return };
        match (std::mem::replace(stirred, stirs), stirs) {
            (false, true) => self.stirring += 1,
            (true, false) => self.stirring -= 1,
            _ => {}
        }
    }

    fn is_quiet(&self) -> Result<(), String> {
        if self.stirring > 0 {
            let first = self.open.iter().filter(|(_, stirs)| **stirs).map(|(message, _)| *message).min();
            let (count, first) = (self.stirring, first.unwrap_or(0));
            return Err(format!(
                "quiescence is declared while {count} messages are under way, {first} the first"
            ));
        }
        match self.timers {
            0 => Ok(()),
            timers => Err(format!("quiescence is declared while {timers} timers are set")),
        }
    }
}

impl Oracle for Quiescence {
    fn name(&self) -> &'static str {
        "quiescence"
    }

    fn see(&mut self, seen: &Seen) -> Result<(), String> {
        if self.blind {
            return Ok(());
        }
        match *seen {
            Seen::Sent { kind: Kind::Runtime { counted: false }, .. } => {}
            Seen::Sent { message, kind, .. } => {
                self.sent(message);
                if matches!(kind, Kind::Runtime { .. } | Kind::Marker) {
                    self.of_runtime.insert(message);
                }
            }
            Seen::Kept { message, until: Until::Collection | Until::Element | Until::End, .. } => {
                self.stirs(message, false);
            }
            Seen::Kept { message, .. } | Seen::Queued { message, .. } | Seen::Left { message, .. } => {
                self.stirs(message, true);
            }
            Seen::Delivered { message, .. } | Seen::Dropped { message, .. } => self.is_over(message),
            Seen::TimerSet { .. } => self.timers += 1,
            Seen::TimerDue { .. } => {
                self.timers = self.timers.checked_sub(1).ok_or("a timer is due that nobody set")?;
            }
            Seen::Quiet => return self.is_quiet(),
            Seen::NodeGone { .. } | Seen::RolledBack { .. } => {
                *self = Quiescence { blind: true, ..Quiescence::default() };
            }
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn go_back(&mut self) {
        // Whoever restores a timer sets it; what was asked of PEs is asked again, and places are.
        self.timers = 0;
        std::mem::take(&mut self.of_runtime).into_iter().for_each(|message| self.is_over(message));
    }

    fn end(&mut self, _: bool) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::told::{delivered, finds, sent, tell};
    use super::*;

    #[test]
    fn it_is_quiet_when_all_is_delivered_or_waits_for_ever() {
        let wave = Seen::Sent {
            message: 3,
            pe: 0,
            sender: None,
            to: None,
            kind: Kind::Runtime { counted: false },
            in_line: true,
        };
        let waits = Seen::Kept { message: 2, pe: 0, until: Until::Element };
        let timer = [Seen::TimerSet { pe: 0 }, Seen::TimerDue { pe: 0 }];
        let story = [sent(1, 0, 5, 6), sent(2, 0, 5, 9), wave, waits, delivered(1, 0, 6)];
        let story: Vec<_> = story.into_iter().chain(timer).chain([Seen::Quiet]).collect();
        assert_eq!(tell(&mut Quiescence::default(), &story), Ok(()));
    }

    #[test]
    fn it_is_not_quiet_while_something_is_under_way() {
        finds(
            Quiescence::default(),
            &[sent(1, 0, 5, 6), Seen::Quiet],
            "while 1 messages are under way, 1 the",
        );
        let kept = |until| Seen::Kept { message: 1, pe: 0, until };
        finds(Quiescence::default(), &[sent(1, 0, 5, 6), kept(Until::Place), Seen::Quiet], "1 messages");
        let found = Seen::Queued { message: 1, pe: 0 };
        finds(
            Quiescence::default(),
            &[sent(1, 0, 5, 6), kept(Until::Element), found, Seen::Quiet],
            "1 messages",
        );
    }

    #[test]
    fn it_is_not_quiet_while_a_timer_is_set() {
        finds(Quiescence::default(), &[Seen::TimerSet { pe: 0 }, Seen::Quiet], "1 timers");
        finds(Quiescence::default(), &[Seen::TimerDue { pe: 0 }], "nobody set");
    }
}
