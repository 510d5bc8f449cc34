//! Which of many refusals people are told of one by one, and how many there were else.
//!
//! Pure: the time is an argument.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// So many within a period have a line each.
pub const LINES: u32 = 8;
/// After this, those that had no line are counted in one.
pub const PERIOD: Duration = Duration::from_secs(5);

/// Refusals at one listener, of so many kinds.
#[derive(Debug)]
pub struct Refusals<K> {
    /// When the period began.
    since: Duration,
    told: u32,
    /// Those that have had no line, by kind.
    untold: BTreeMap<K, u64>,
}

impl<K> Default for Refusals<K> {
    fn default() -> Self {
        Refusals { since: Duration::ZERO, told: 0, untold: BTreeMap::new() }
    }
}

impl<K: Ord + ToString> Refusals<K> {
    /// Somebody was refused; whether people are to be told of just that.
    pub fn on_refusal(&mut self, now: Duration, kind: K) -> bool {
        if self.untold.is_empty() && now >= self.since + PERIOD {
            (self.since, self.told) = (now, 0);
        }
        if self.told < LINES {
            self.told += 1;
            return true;
        }
        *self.untold.entry(kind).or_default() += 1;
        false
    }

    /// When [`summary`](Self::summary) has something to say.
    pub fn due(&self) -> Option<Duration> {
        (!self.untold.is_empty()).then_some(self.since + PERIOD)
    }

    /// What people are to be told of those that have had no line, once that is due.
    pub fn summary(&mut self, now: Duration) -> Option<String> {
        if self.due().is_none_or(|due| now < due) {
            return None;
        }
        let untold = std::mem::take(&mut self.untold);
        let count: u64 = untold.values().sum();
        let mut text = format!("refused {count} more connections within {} s", (now - self.since).as_secs());
        for (at, (kind, count)) in untold.into_iter().enumerate() {
            let sign = if at == 0 { ":" } else { ";" };
            write!(text, "{sign} {count} times, {}", kind.to_string()).expect("text takes all");
        }
        // As many may come in the next period, and are counted only.
        (self.since, self.told) = (now, LINES);
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    #[test]
    fn few_have_a_line_each_and_many_are_counted() {
        let mut refusals = Refusals::default();
        let told = (0..1000).filter(|_| refusals.on_refusal(at(100), "why")).count();
        assert_eq!((told, refusals.summary(at(104))), (LINES as usize, None));
        assert!(!refusals.on_refusal(at(104), "else"));
        assert_eq!(refusals.due(), Some(at(100) + PERIOD));
        let summary = refusals.summary(at(100) + PERIOD).expect("it is due");
        assert_eq!(summary, "refused 993 more connections within 5 s: 1 times, else; 992 times, why");
        assert_eq!(refusals.due(), None);
    }

    #[test]
    fn however_many_come_there_are_few_lines() {
        let mut refusals = Refusals::default();
        let (mut lines, mut counted) = (0_u64, 0_u64);
        for ms in 0..1_000_000_u64 {
            let now = Duration::from_millis(ms);
            lines += u64::from(refusals.on_refusal(now, "why"));
            if let Some(summary) = refusals.summary(now) {
                counted +=
                    summary.split(' ').nth(1).and_then(|count| count.parse::<u64>().ok()).expect("a count");
                lines += 1;
            }
        }
        assert!(lines <= u64::from(LINES) + 1000 / PERIOD.as_secs(), "{lines} lines");
        assert!(counted > 990_000, "all are told of: {counted}");
    }

    #[test]
    fn after_a_quiet_period_each_has_a_line_again() {
        let mut refusals = Refusals::default();
        for _ in 0..9 {
            refusals.on_refusal(at(0), "why");
        }
        assert!(refusals.summary(at(5)).is_some());
        assert!(!refusals.on_refusal(at(6), "why"), "the crowd may go on");
        assert!(refusals.summary(at(10)).is_some());
        assert!(refusals.on_refusal(at(20), "why"));
    }
}
