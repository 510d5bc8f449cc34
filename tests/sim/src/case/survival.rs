//! Whether a case's job survives losses, when it takes checkpoints, and what it loses then.

use std::fmt::{self, Display};
use std::str::FromStr;
use std::time::Duration;

use talisman::launch::RunArgs;
use talisman::launch::checkpoints::{CkptEvery, FaultTolerance};
use talisman::rng::Rng;
use talisman::simulation::What;

use super::faults::Place;
use super::{Drawn, FOR_EVER_NS, Moment, magnitude, one_of};

/// How a job survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Survival {
    /// Not at all: the loss of a node ends it.
    #[default]
    Off,
    /// With checkpoints when the program asks for them, which most never do.
    Asked,
    /// With one after each so long a time.
    Time(Duration),
    /// With one after so many steps of the program.
    Steps(u64),
}

/// One in so many jobs survives losses.
const ONE_IN_SURVIVES: u64 = 3;
const MICROSECOND: u64 = 1_000;
const MILLION: u64 = 1_000_000;

impl Survival {
    pub(super) fn draw(rng: &mut Rng) -> Survival {
        let survives = rng.below(ONE_IN_SURVIVES) == 0;
        let drawn = match rng.below(8) {
            0 => Survival::Asked,
            1 => Survival::Steps(1 + rng.below(6)),
            _ => Survival::Time(Duration::from_micros(magnitude(rng, 10, 5_000))),
        };
        if survives { drawn } else { Survival::Off }
    }

    /// Whether a workload comes to its result after losses: one that counts in a group has to say what becomes of what a lost member has
    /// counted.
    pub fn is_for(workload: &str) -> bool {
        workload != "nqueens"
    }

    /// What a command line would say.
    pub(super) fn options(self) -> RunArgs {
        let ckpt_every = match self {
            Survival::Off => return RunArgs::default(),
            Survival::Asked => CkptEvery::Steps(u64::MAX),
            Survival::Time(time) => CkptEvery::Time(time),
            Survival::Steps(steps) => CkptEvery::Steps(steps),
        };
        RunArgs { ft: FaultTolerance::Double, ckpt_every: Some(ckpt_every), ..RunArgs::default() }
    }

    /// Whether the loss of a node does not end the job.
    pub fn is_on(self) -> bool {
        self != Survival::Off
    }
}

/// What a job that survives loses besides all else that goes wrong: mostly one node, sometimes several, at once, one soon after the
/// other, or long after. Faults are numbered from `first` on.
pub(super) fn losses(rng: &mut Rng, hosts: &[u32], first: usize) -> Vec<Drawn> {
    let place = Place::on(hosts);
    let mut drawn: Vec<Drawn> = Vec::new();
    for number in first..first + one_of(rng, &[0, 0, 1, 1, 1, 2, 2, 3]) {
        let moment = match drawn.last() {
            Some(last) if rng.below(2) == 0 => Moment::After(last.number, soon(rng)),
            _ => Moment::OfEvents(rng.below(MILLION + MILLION / 10)),
        };
        drawn.push(Drawn { number, moment, what: loss(rng, place) });
    }
    drawn
}

fn loss(rng: &mut Rng, place: Place) -> What {
    let node = place.node(rng);
    match rng.below(8) {
        0 => What::CrashAmid { node, kept_ppm: rng.below(MILLION + 1) as u32 },
        1 => What::CrashReset { node },
        2 => What::Stop { node, for_ns: FOR_EVER_NS },
        _ => What::Crash { node },
    }
}

/// At once, in the midst of what follows from the loss before, or later.
fn soon(rng: &mut Rng) -> u64 {
    match rng.below(4) {
        0 => 0,
        _ => magnitude(rng, MICROSECOND, 30_000 * MICROSECOND),
    }
}

impl Display for Survival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Survival::Off => f.write_str("off"),
            Survival::Asked => f.write_str("asked"),
            Survival::Time(time) => write!(f, "{}us", time.as_micros()),
            Survival::Steps(steps) => write!(f, "{steps}steps"),
        }
    }
}

impl FromStr for Survival {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |end: &str| text.strip_suffix(end)?.parse().ok().filter(|number: &u64| *number > 0);
        match (text, number("us"), number("steps")) {
            ("off", ..) => Ok(Survival::Off),
            ("asked", ..) => Ok(Survival::Asked),
            (_, Some(time), _) => Ok(Survival::Time(Duration::from_micros(time))),
            (_, _, Some(steps)) => Ok(Survival::Steps(steps)),
            _ => Err(format!("`{text}` is none of off, asked, 200us, 5steps")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let all =
            [Survival::Off, Survival::Asked, Survival::Steps(7), Survival::Time(Duration::from_micros(250))];
        for survival in all {
            assert_eq!(survival.to_string().parse(), Ok(survival));
        }
        for nonsense in ["", "on", "us", "0us", "5", "5 steps"] {
            assert!(nonsense.parse::<Survival>().is_err(), "{nonsense}");
        }
    }
}
