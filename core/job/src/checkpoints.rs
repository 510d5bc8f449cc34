//! Options of fault tolerance, and how they are written: `--ft double`, `--ckpt-every 10s`, `--ckpt-every 100steps`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;

use super::RunArgs;
use super::faults::time;

/// `--ft`: what becomes of a job that loses nodes.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FaultTolerance {
    /// It ends
    #[default]
    Off,
    /// It goes back to its last checkpoint, of which two nodes keep each part in memory, and goes on with the nodes that are left
    Double,
    /// The same on disk: each part is in a file on two nodes (--ckpt-dir), and the whole job can be started again (--restart)
    Disk,
    /// Lost nodes alone go back: all log what they are given, and keep what they send
    Logging,
    /// The same, and no message leaves its node before what that was given is kept on another node
    #[value(name = "logging:strict")]
    LoggingStrict,
    /// The protocol of the paper, to compare with: receivers number what they are sent, and senders keep that number; one node may be
    /// lost at a time
    #[value(name = "logging:ticket")]
    LoggingTicket,
}

impl FaultTolerance {
    /// Whether all nodes take checkpoints together, and go back to them together.
    pub fn takes_checkpoints(self) -> bool {
        matches!(self, FaultTolerance::Double | FaultTolerance::Disk)
    }

    /// Whether nodes log what they are given, and only lost ones go back.
    pub fn logs(self) -> bool {
        matches!(
            self,
            FaultTolerance::Logging | FaultTolerance::LoggingStrict | FaultTolerance::LoggingTicket
        )
    }

    /// Whether there are checkpoints, whoever goes back to them.
    pub fn has_checkpoints(self) -> bool {
        self != FaultTolerance::Off
    }

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            FaultTolerance::Off => "off",
            FaultTolerance::Double => "double",
            FaultTolerance::Disk => "disk",
            FaultTolerance::Logging => "logging",
            FaultTolerance::LoggingStrict => "logging:strict",
            FaultTolerance::LoggingTicket => "logging:ticket",
        }
    }
}

/// `--ckpt-every`: when checkpoints are taken, beside when the program asks for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CkptEvery {
    /// After so long.
    Time(Duration),
    /// After so many steps of the program (`cx.step`).
    Steps(u64),
    /// As often as costs least, by what they have cost and how often nodes are lost.
    #[default]
    Auto,
}

/// Shortest time between two checkpoints: with less, a job would do hardly anything else.
const PERIOD_MIN: Duration = Duration::from_millis(1);

impl FromStr for CkptEvery {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is neither `auto` nor a time such as 10s nor a number of steps such as 100steps"
            )
        };
        if text == "auto" {
            return Ok(CkptEvery::Auto);
        }
        if let Some(steps) = text.strip_suffix("steps").or_else(|| text.strip_suffix("step")) {
            return match steps.trim().parse() {
                Ok(0) => Err("a checkpoint every 0 steps: at least 1step".into()),
                Ok(steps) => Ok(CkptEvery::Steps(steps)),
                Err(_) => Err(wrong()),
            };
        }
        match time(text) {
            Ok(period) if period >= PERIOD_MIN => Ok(CkptEvery::Time(period)),
            Ok(period) => Err(format!("{period:?} is too short; at least {PERIOD_MIN:?}")),
            Err(_) => Err(wrong()),
        }
    }
}

impl fmt::Display for CkptEvery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CkptEvery::Time(period) => write!(f, "{period:?}"),
            CkptEvery::Steps(steps) => write!(f, "{steps}steps"),
            CkptEvery::Auto => f.write_str("auto"),
        }
    }
}

/// What the options say of checkpoints, if there are any.
#[derive(Clone, Debug, PartialEq)]
pub struct CkptSettings {
    pub every: CkptEvery,
    /// The mean time between two failures, as far as the user knows it.
    pub mtbf: Option<Duration>,
    /// Whether to write a line about each checkpoint.
    pub logs: bool,
    /// Nobody thaws: whoever drives the PEs has them made anew from their parts (`--ft logging`).
    pub renews: bool,
}

impl CkptSettings {
    /// None if there are no checkpoints.
    pub fn of(options: &RunArgs) -> Option<Self> {
        options.ft.has_checkpoints().then(|| CkptSettings {
            every: options.ckpt_every.unwrap_or_default(),
            mtbf: options.mtbf,
            logs: options.ft_log || options.progress,
            renews: options.ft.logs(),
        })
    }

    /// Whether a step of the program is a reason for a checkpoint, where this one was the last such.
    pub fn is_due_at(&self, last: u64, step: u64) -> bool {
        match self.every {
            CkptEvery::Steps(steps) => step / steps > last / steps,
            CkptEvery::Time(_) | CkptEvery::Auto => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_a_time_or_a_number_of_steps() {
        let of = |text: &str| text.parse::<CkptEvery>();
        assert_eq!(of("auto"), Ok(CkptEvery::Auto));
        assert_eq!(of("1.5s"), Ok(CkptEvery::Time(Duration::from_millis(1500))));
        assert_eq!(of("100steps"), Ok(CkptEvery::Steps(100)));
        assert_eq!(of("1step"), Ok(CkptEvery::Steps(1)));
        for every in ["auto", "250ms", "7steps"] {
            assert_eq!(of(every).unwrap().to_string(), every);
        }
        assert!(of("0steps").unwrap_err().contains("at least 1step"));
        assert!(of("0.5ms").unwrap_err().contains("too short"));
        for wrong in ["", "often", "-3steps", "steps", "10"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
