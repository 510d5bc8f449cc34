//! How runs end that do not end well: what is said of it, and how long it takes.

use std::fmt::{self, Display};

use crate::played::Played;

/// An end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// What was said, with `#` for every number.
    pub said: String,
    /// How long it took.
    pub times: Times,
}

/// How often something was said, and how long it took at most, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// How often.
    pub runs: u64,
    /// From the last thing that went wrong until the launcher knew of the end.
    pub known_ns: u64,
    /// From there until no process was left.
    pub gone_ns: u64,
}

impl End {
    /// How a run ended, unless it ended well.
    pub fn of(played: &Played) -> Option<End> {
        if played.status == 0 {
            return None;
        }
        let said = without_numbers(played.message.as_deref().unwrap_or("no message"));
        let until = played.over_ns.unwrap_or(played.lasted_ns);
        let before = played.hurt.iter().map(|(at, _)| *at).filter(|at| *at <= until);
        let known_ns = until - before.max().unwrap_or(0);
        let gone_ns = played.lasted_ns - until;
        Some(End { said: format!("{}: {said}", played.status), times: Times { runs: 1, known_ns, gone_ns } })
    }
}

impl Times {
    /// Of all these and those.
    pub fn add(&mut self, other: Times) {
        self.runs += other.runs;
        self.known_ns = self.known_ns.max(other.known_ns);
        self.gone_ns = self.gone_ns.max(other.gone_ns);
    }
}

impl Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let text =
            format!("{:>6} {:>7.2} s, {:>6.2} s", self.runs, seconds(self.known_ns), seconds(self.gone_ns));
        f.pad(&text)
    }
}

fn without_numbers(text: &str) -> String {
    let mut short = String::new();
    for char in text.chars() {
        match char.is_ascii_digit() {
            true if short.ends_with('#') => {}
            true => short.push('#'),
            false => short.push(char),
        }
    }
    short
}
