//! Options that inject faults, and the times they are written with: `--kill 1@step40`, `--chaos mtbf=5s,seed=3`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// `--kill NODE@WHEN`: a node that is to be killed, to see what becomes of the job.
///
/// ```
/// use std::time::Duration;
/// use talisman_job::faults::{Kill, When};
///
/// assert_eq!("1@step40".parse(), Ok(Kill { node: 1, when: When::Step(40) }));
/// assert_eq!("0@1.5s".parse(), Ok(Kill { node: 0, when: When::After(Duration::from_millis(1500)) }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kill {
    /// Who.
    pub node: u32,
    /// When.
    pub when: When,
}

/// When a fault happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// Once the program has reported this step (`cx.step`), and before any node begins what comes after.
    Step(u64),
    /// So long after the program began.
    After(Duration),
}

impl FromStr for Kill {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not NODE@WHEN; write for example 1@2s or 1@step40");
        let (node, when) = text.split_once('@').ok_or_else(wrong)?;
        let node = node.parse().map_err(|_| wrong())?;
        let when = match when.strip_prefix("step") {
            Some(step) => When::Step(step.parse().map_err(|_| wrong())?),
            None => When::After(time(when).map_err(|_| wrong())?),
        };
        Ok(Kill { node, when })
    }
}

impl fmt::Display for Kill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.when {
            When::Step(step) => write!(f, "{}@step{step}", self.node),
            When::After(time) => write!(f, "{}@{time:?}", self.node),
        }
    }
}

/// `--chaos mtbf=T,seed=S`: nodes are killed at random, one every `mtbf` on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chaos {
    /// Mean time between two kills in the whole job.
    pub mtbf: Duration,
    /// The same seed kills the same nodes at the same times.
    pub seed: u64,
}

impl FromStr for Chaos {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not mtbf=T,seed=S; write for example mtbf=5s,seed=3");
        let (mut mtbf, mut seed) = (None, 0);
        for part in text.split(',') {
            match part.split_once('=').ok_or_else(wrong)? {
                ("mtbf", value) => mtbf = Some(time(value)?),
                ("seed", value) => seed = value.parse().map_err(|_| wrong())?,
                _ => return Err(wrong()),
            }
        }
        match mtbf {
            Some(mtbf) if !mtbf.is_zero() => Ok(Chaos { mtbf, seed }),
            Some(_) => Err("a mean time between failures of 0 leaves no time for anything".into()),
            None => Err(wrong()),
        }
    }
}

/// Reads a time: `250ms`, `2s`, `1.5s`, `3m`, `1h`.
///
/// # Errors
/// The text is no time, or has no unit; the message says how one is written.
pub fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time; write for example 250ms, 2s, 1.5s, 3m or 1h");
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = if plain { digits.parse().map_err(|_| wrong())? } else { return Err(wrong()) };
    Duration::try_from_secs_f64(number * unit).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_number_and_a_unit() {
        for (text, millis) in
            [("250ms", 250), ("2s", 2000), ("1.5s", 1500), ("3m", 180_000), ("1h", 3_600_000)]
        {
            assert_eq!(time(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "2", "s", "2 s", "-1s", "1e9s", "nans", "infs", "2S", "99999999999999999999h", ".s"]
        {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn kills_are_read_and_written_back() {
        for text in ["3@step40", "0@2s", "12@250ms"] {
            assert_eq!(text.parse::<Kill>().unwrap().to_string(), text);
        }
        for text in ["", "1", "@2s", "1@", "1@step", "1@step-1", "-1@2s", "1@40", "a@2s", "1@2s@3s"] {
            let error = text.parse::<Kill>().unwrap_err();
            assert!(error.contains("write for example"), "{text}: {error}");
        }
    }

    #[test]
    fn chaos_has_a_mean_time_and_maybe_a_seed() {
        let chaos = |mtbf, seed| Ok(Chaos { mtbf: Duration::from_secs(mtbf), seed });
        assert_eq!("mtbf=5s,seed=3".parse(), chaos(5, 3));
        assert_eq!("mtbf=1m".parse(), chaos(60, 0));
        for text in ["", "mtbf", "seed=3", "mtbf=0s", "mtbf=5s,speed=1", "mtbf=5,seed=1"] {
            assert!(text.parse::<Chaos>().is_err(), "{text}");
        }
    }
}
