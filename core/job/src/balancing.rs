//! Options of load balancing, and how they are written: `--lb-every 30s`, `--node-memory 4GiB`, `--pe-speeds 1,0.5`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use bytesize::ByteSize;

use super::faults::time;
use super::strategies::{OFF, choice};
use super::{Measures, RunArgs};
use talisman_lb::strategy::Wants;

/// `--lb-every`: when objects are balanced, beside when the program asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Every {
    /// Whenever all elements of an array are at `cx.at_sync()`.
    #[default]
    Sync,
    /// After so long. `cx.at_sync()` is a mere barrier then.
    Time(Duration),
    /// When what is to be gained exceeds what balancing costs: looked at whenever an array is at `cx.at_sync()`, and now and
    /// then where none ever is.
    Auto,
}

/// Shortest time between two steps: with less, a job would do hardly anything else.
const PERIOD_MIN: Duration = Duration::from_millis(1);

impl FromStr for Every {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sync" => Ok(Every::Sync),
            "auto" => Ok(Every::Auto),
            _ => match time(text) {
                Ok(period) if period >= PERIOD_MIN => Ok(Every::Time(period)),
                Ok(period) => Err(format!("{period:?} is too short; at least {PERIOD_MIN:?}")),
                Err(_) => {
                    Err(format!("`{text}` is neither `sync` nor `auto` nor a time such as 250ms or 30s"))
                }
            },
        }
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Every::Sync => f.write_str("sync"),
            Every::Time(period) => write!(f, "{period:?}"),
            Every::Auto => f.write_str("auto"),
        }
    }
}

/// How fast a PE is, where 1 is usual. Kept in millionths, so that options can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeSpeed {
    millionths: u32,
}

/// So much faster, or slower, than usual a PE can be said to be.
const SPEED_MAX: f64 = 1000.0;

impl PeSpeed {
    /// As a factor.
    pub fn factor(self) -> f64 {
        f64::from(self.millionths) / 1e6
    }
}

impl FromStr for PeSpeed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().parse::<f64>() {
            Ok(factor) if (1.0 / SPEED_MAX..=SPEED_MAX).contains(&factor) => {
                Ok(PeSpeed { millionths: (factor * 1e6).round() as u32 })
            }
            _ => Err(format!(
                "`{text}` is no speed; write one of {} to {SPEED_MAX}, where 1 is usual, for example 0.5",
                1.0 / SPEED_MAX
            )),
        }
    }
}

/// Reads a size in bytes: `4096`, `512MiB`, `1.5GiB`, `4GB`.
///
/// # Errors
/// The text is no size, or one that no memory has; the message says how one is written.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size; write for example 4096, 64KiB, 512MiB, 1.5GiB or 4GB");
    let size = text.parse::<ByteSize>().map_err(|_| wrong())?.as_u64();
    // What is too large becomes the largest number.
    if (1..u64::MAX).contains(&size) { Ok(size) } else { Err(wrong()) }
}

/// What the options say of load balancing, if it is on.
#[derive(Clone, Debug, PartialEq)]
pub struct LbSettings {
    /// The name of the strategy, or several with `+` between them.
    pub balancer: String,
    pub every: Every,
    /// Where to write what each step knew.
    pub dump: Option<PathBuf>,
    /// Whether to write a line about each step.
    pub logs: bool,
    /// Bytes that the objects of a node may take.
    pub node_memory: Option<u64>,
    speeds: Vec<PeSpeed>,
}

impl LbSettings {
    /// None if objects stay where they are.
    pub fn of(options: &RunArgs) -> Option<Self> {
        (options.balancer != OFF).then(|| LbSettings {
            balancer: options.balancer.clone(),
            every: options.lb_every,
            dump: options.lb_dump.clone(),
            logs: options.lb_log || options.progress,
            node_memory: options.node_memory,
            speeds: options.pe_speeds.clone(),
        })
    }

    /// What has to be measured.
    pub fn measures(&self) -> Measures {
        Measures { loads: true, edges: self.wants().edges, sizes: true }
    }

    /// What the strategies want to know; who replays a file may want to know everything.
    pub fn wants(&self) -> Wants {
        let wants = choice(&self.balancer).map_or_else(|_| Wants::default(), |choice| choice.wants());
        Wants { edges: wants.edges || self.dump.is_some() }
    }

    /// How fast a PE is.
    pub fn speed(&self, pe: u32) -> f64 {
        match self.speeds.len() {
            0 => 1.0,
            given => self.speeds[pe as usize % given].factor(),
        }
    }

    /// Whether a step belongs to `cx.at_sync()`.
    pub fn balances_at_sync(&self) -> bool {
        !matches!(self.every, Every::Time(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triggers_are_read_and_written_back() {
        for text in ["sync", "auto", "30s", "250ms"] {
            assert_eq!(text.parse::<Every>().unwrap().to_string(), text);
        }
        for text in ["", "often", "3", "0s", "0.0001s", "-1s"] {
            assert!(text.parse::<Every>().is_err(), "{text}");
        }
    }

    #[test]
    fn speeds_are_factors_within_reason() {
        assert_eq!("0.5".parse::<PeSpeed>().unwrap().factor(), 0.5);
        assert_eq!(" 2".parse::<PeSpeed>().unwrap().factor(), 2.0);
        for text in ["", "0", "-1", "NaN", "inf", "1e9", "fast"] {
            assert!(text.parse::<PeSpeed>().unwrap_err().contains("0.5"), "{text}");
        }
    }

    #[test]
    fn sizes_have_a_unit_or_are_bytes() {
        for (text, bytes) in [
            ("1", 1),
            ("4096B", 4096),
            ("64KiB", 65_536),
            ("1.5GiB", 3 << 29),
            ("2TiB", 2 << 40),
            ("4GB", 4_000_000_000),
            ("4 gib", 4 << 30),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "-1", "4XB", "1e3", "99999999999TiB", ".", "KiB", "NaN", "1.5"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
