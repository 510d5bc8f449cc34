//! `--trace-window 10s..20s`: which part of a job is traced.

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

#[cfg(test)]
mod tests {
    use super::*;

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
