//! `--trace-window 10s..20s`, `--trace-every 200ms/10s`: which parts of a job are traced.

use std::str::FromStr;
use std::time::Duration;

use crate::faults::time;

/// From when to when, since the program's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceWindow {
    /// The first moment that is traced.
    pub from: Duration,
    /// The first that is not any more.
    pub until: Duration,
}

impl FromStr for TraceWindow {
    type Err = String;

    fn from_str(text: &str) -> Result<TraceWindow, String> {
        let wrong = || format!("`{text}` is no window; write for example 10s..20s, or 500ms..2s");
        let (from, until) = text.split_once("..").ok_or_else(wrong)?;
        let (from, until) = (time(from.trim())?, time(until.trim())?);
        match from < until {
            true => Ok(TraceWindow { from, until }),
            false => Err(format!("`{text}` ends before it begins; write for example 10s..20s")),
        }
    }
}

/// Some time of each period, from the beginning of the window on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEvery {
    /// So much of each is traced, from its beginning.
    pub part: Duration,
    /// How long one is.
    pub period: Duration,
}

/// What is traced takes effect within some milliseconds.
const PART_LEAST: Duration = Duration::from_millis(1);

impl FromStr for TraceEvery {
    type Err = String;

    fn from_str(text: &str) -> Result<TraceEvery, String> {
        const EXAMPLE: &str = "write for example 200ms/10s: the first 200 ms of each 10 s";
        let wrong = || format!("`{text}` is no part of a period; {EXAMPLE}");
        let (part, period) = text.split_once('/').ok_or_else(wrong)?;
        let (part, period) = (time(part.trim())?, time(period.trim())?);
        match part < period {
            _ if part < PART_LEAST => Err(format!("`{text}`: less than 1 ms is no part; {EXAMPLE}")),
            true => Ok(TraceEvery { part, period }),
            false => Err(format!("`{text}` is all of each period; {EXAMPLE}")),
        }
    }
}

/// Which parts of a job are traced: all of it unless something is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traced {
    /// Only in there.
    pub window: Option<TraceWindow>,
    /// Only in there of each period.
    pub every: Option<TraceEvery>,
}

impl Traced {
    /// Whether there is anything that is not.
    pub fn is_all(&self) -> bool {
        *self == Traced::default()
    }

    /// The number of the part that is traced at this time since the program's start; none if nothing is.
    pub fn part_at(&self, at: Duration) -> Option<u64> {
        let from = self.window.map_or(Duration::ZERO, |window| window.from);
        let since = at.checked_sub(from).filter(|_| self.window.is_none_or(|window| at < window.until))?;
        let Some(TraceEvery { part, period }) = self.every else { return Some(0) };
        let period = period.as_nanos();
        (since.as_nanos() % period < part.as_nanos()).then(|| (since.as_nanos() / period) as u64)
    }

    /// Whether something is traced from shortly before this time to shortly behind it.
    pub fn is_near(&self, at: Duration, margin: Duration) -> bool {
        let earlier = at.saturating_sub(margin);
        let next = self.every.map_or(Duration::MAX, |every| every.part);
        let step = margin.min(next).max(PART_LEAST);
        let mut looks = (0..).map(|look| earlier.saturating_add(step.saturating_mul(look)));
        let until = at.saturating_add(margin);
        let is_in = |at: Duration| self.part_at(at).is_some();
        is_in(until) || looks.by_ref().take_while(|look| *look < until).any(is_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_each_period_is_two_times() {
        let every = |text: &str| text.parse::<TraceEvery>().map(|every| (every.part, every.period));
        assert_eq!(every("200ms/10s"), Ok((Duration::from_millis(200), Duration::from_secs(10))));
        for wrong in ["", "10s", "10s/", "/10s", "10s/10s", "10s/1s", "0s/1s", "1/2"] {
            assert!(every(wrong).is_err_and(|why| why.contains("for example")), "{wrong}");
        }
    }

    #[test]
    fn parts_are_numbered_and_begin_with_the_window() {
        let ms = Duration::from_millis;
        let window = TraceWindow { from: ms(1_000), until: ms(1_450) };
        let every = TraceEvery { part: ms(10), period: ms(200) };
        let traced = Traced { window: Some(window), every: Some(every) };
        let parts = [0, 999, 1_000, 1_009, 1_010, 1_199, 1_205, 1_405, 1_500];
        let told = parts.map(|at| traced.part_at(ms(at)));
        let none = None;
        assert_eq!(told, [none, none, Some(0), Some(0), none, none, Some(1), Some(2), none]);
        let near = |at| traced.is_near(ms(at), ms(20));
        assert_eq!([985, 1_025, 1_100, 1_185].map(near), [true, true, false, true]);
        assert_eq!(
            (Traced::default().part_at(ms(7)), Traced::default().is_near(ms(7), ms(0))),
            (Some(0), true)
        );
    }

    #[test]
    fn a_window_is_two_times() {
        let window = |text: &str| text.parse::<TraceWindow>().map(|window| (window.from, window.until));
        assert_eq!(window("10s..1m"), Ok((Duration::from_secs(10), Duration::from_secs(60))));
        assert_eq!(window("0s..250ms"), Ok((Duration::ZERO, Duration::from_millis(250))));
        for wrong in ["", "10s", "10s..", "..20s", "20s..10s", "1s..1s", "1..2"] {
            assert!(window(wrong).is_err_and(|why| why.contains("for example")), "{wrong}");
        }
    }
}
