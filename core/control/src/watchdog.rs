//! What people are told of a recovery that takes long: who is waited for. Pure.

use std::time::Duration;

use talisman_ft::Epoch;
use talisman_ft::double::leader::Awaited;

use crate::messages::nodes_in_words;

/// A recovery takes milliseconds, unless an entry takes long: after so long people want to know, and then each time after twice as long.
const FIRST: Duration = Duration::from_secs(10);

/// For how long what is waited for.
#[derive(Default)]
pub struct Patience {
    /// In which epoch, and whether all have halted.
    what: Option<(Epoch, bool)>,
    since: Duration,
    next: Duration,
}

impl Patience {
    /// Time went by, and these are waited for: what to tell.
    pub fn on_time(&mut self, now: Duration, epoch: Epoch, awaited: Option<Awaited>) -> Option<String> {
        let what = awaited.as_ref().map(|awaited| (epoch, matches!(awaited, Awaited::ToResume(_))));
        if self.what != what {
            *self = Patience { what, since: now, next: now + FIRST };
        }
        let line =
            awaited.filter(|_| now >= self.next).and_then(|awaited| in_words(&awaited, now - self.since))?;
        self.next = now + (now - self.since);
        Some(line)
    }
}

/// Nothing if it is other processes that are waited for, which has bounds of its own.
fn in_words(awaited: &Awaited, waited: Duration) -> Option<String> {
    let (nodes, what, why) = match awaited {
        Awaited::ToHalt(nodes) => (nodes, "halted", "a node halts between entries, however long one takes"),
        Awaited::ToResume(nodes) => {
            (nodes, "gone on", "a node goes on when it has read what it goes back to")
        }
    };
    let has = if nodes.len() == 1 { "has" } else { "have" };
    let line = || format!("{} {has} not {what} for {} s: {why}", nodes_in_words(nodes), waited.as_secs());
    (!nodes.is_empty()).then(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When something is told of those that are awaited, asked every second, and the last line.
    fn told(
        patience: &mut Patience,
        seconds: std::ops::Range<u64>,
        epoch: Epoch,
        awaited: &Awaited,
    ) -> (Vec<u64>, String) {
        let mut last = String::new();
        let tells = |second: &u64| {
            let line = patience.on_time(Duration::from_secs(*second), epoch, Some(awaited.clone()));
            line.map(|line| last = line).is_some()
        };
        (seconds.filter(tells).collect(), last)
    }

    #[test]
    fn who_is_waited_for_is_told_after_ten_seconds_and_ever_less_often() {
        let mut patience = Patience::default();
        let (at, line) = told(&mut patience, 100..200, 1, &Awaited::ToHalt(vec![0, 2]));
        assert_eq!(at, [110, 120, 140, 180]);
        assert_eq!(
            line,
            "nodes 0 and 2 have not halted for 80 s: a node halts between entries, however long one takes"
        );
        let (at, line) = told(&mut patience, 200..215, 1, &Awaited::ToResume(vec![2]));
        assert_eq!(
            (&at[..], &line[..]),
            (
                &[210][..],
                "node 2 has not gone on for 10 s: a node goes on when it has read what it goes back to"
            )
        );
    }

    #[test]
    fn another_loss_begins_another_wait_and_nobody_is_told_of_none() {
        let mut patience = Patience::default();
        let awaited = Awaited::ToHalt(vec![0]);
        let never = Vec::<u64>::new();
        assert_eq!(told(&mut patience, 0..10, 1, &awaited).0, never);
        assert_eq!(told(&mut patience, 10..20, 2, &awaited).0, never);
        assert_eq!(patience.on_time(Duration::from_secs(20), 2, None), None);
        assert_eq!(told(&mut patience, 21..31, 2, &awaited).0, never);
        assert_eq!(told(&mut patience, 31..50, 2, &Awaited::ToHalt(Vec::new())).0, never);
    }
}
