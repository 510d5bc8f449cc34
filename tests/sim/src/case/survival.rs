//! Whether a case's job survives losses, when it takes checkpoints, and what it loses then.

use std::fmt::{self, Display};
use std::str::FromStr;
use std::time::Duration;

use talisman::launch::RunArgs;
use talisman::launch::checkpoints::{CkptEvery, FaultTolerance};
use talisman::rng::Rng;
use talisman::simulation::{Asked, What};

use super::faults::Place;
use super::{Drawn, FOR_EVER_NS, Moment, generator, magnitude, one_of};

/// How a job survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Survival {
    /// Not at all: the loss of a node ends it.
    #[default]
    Off,
    /// With checkpoints in memory.
    InMemory(Checkpoints),
    /// With checkpoints on disk.
    OnDisk(Checkpoints),
}

/// When a job takes checkpoints, besides when its program asks for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoints {
    /// Never, and most programs do not ask.
    Asked,
    /// With one after each so long a time.
    Time(Duration),
    /// With one after so many steps of the program.
    Steps(u64),
}

/// One in so many jobs survives losses.
const ONE_IN_SURVIVES: u64 = 3;
/// One in so many of these survives the loss of its launcher.
const ONE_IN_HAS_HEIRS: u64 = 3;
/// One in so many of these has its checkpoints on disk.
const ONE_IN_IS_ON_DISK: u64 = 5;
/// One in so many of those that are on several hosts survives the loss of its launcher there.
const ONE_IN_SUCCEEDS: u64 = 4;
/// In one of so many of those that survive, lost nodes get other processes.
const ONE_IN_REPLACES: u64 = 3;
/// One in so many of these is asked for something.
const ONE_IN_IS_ASKED: u64 = 3;
/// In one of so many of those that survive, PEs read on when they have halted.
const ONE_IN_LINGERS: u64 = 4;
/// What a survival on disk begins with, as it is written.
const DISK: &str = "disk:";
const MICROSECOND: u64 = 1_000;
const MILLION: u64 = 1_000_000;

impl Survival {
    pub(super) fn draw(rng: &mut Rng) -> Survival {
        let survives = rng.below(ONE_IN_SURVIVES) == 0;
        let drawn = match rng.below(8) {
            0 => Checkpoints::Asked,
            1 => Checkpoints::Steps(1 + rng.below(6)),
            _ => Checkpoints::Time(Duration::from_micros(magnitude(rng, 10, 5_000))),
        };
        match rng.below(ONE_IN_IS_ON_DISK) {
            _ if !survives => Survival::Off,
            0 => Survival::OnDisk(drawn),
            _ => Survival::InMemory(drawn),
        }
    }

    /// What a command line would say.
    pub(super) fn options(self) -> RunArgs {
        let (ft, checkpoints) = match self {
            Survival::Off => return RunArgs::default(),
            Survival::InMemory(checkpoints) => (FaultTolerance::Double, checkpoints),
            Survival::OnDisk(checkpoints) => (FaultTolerance::Disk, checkpoints),
        };
        let ckpt_every = match checkpoints {
            Checkpoints::Asked => CkptEvery::Steps(u64::MAX),
            Checkpoints::Time(time) => CkptEvery::Time(time),
            Checkpoints::Steps(steps) => CkptEvery::Steps(steps),
        };
        RunArgs { ft, ckpt_every: Some(ckpt_every), ..RunArgs::default() }
    }

    /// Whether the loss of a node does not end the job.
    pub fn is_on(self) -> bool {
        self != Survival::Off
    }
}

/// Whether the nodes of a job that survives take the launcher's place.
pub(super) fn heirs(rng: &mut Rng) -> bool {
    rng.below(ONE_IN_HAS_HEIRS) == 0
}

/// What becomes of a job that loses its launcher.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launcher {
    /// Nodes take its place.
    pub(super) heirs: bool,
    /// A process on another host does.
    pub(super) succession: bool,
}

/// Whether the hosts of such a job look for another launcher.
pub(super) fn succession(rng: &mut Rng) -> bool {
    rng.below(ONE_IN_SUCCEEDS) == 0
}

/// Whether lost nodes of such a job get other processes.
pub(super) fn respawn(rng: &mut Rng) -> bool {
    rng.below(ONE_IN_REPLACES) == 0
}

/// Whether PEs of a job that survives go on reading their links when they have halted.
pub(super) fn lingers(rng: &mut Rng) -> bool {
    rng.below(ONE_IN_LINGERS) == 0
}

/// Whether somebody asks such a job for something.
pub(super) fn is_asked(rng: &mut Rng) -> bool {
    rng.below(ONE_IN_IS_ASKED) == 0
}

/// What goes wrong, with all that a job that survives loses besides.
pub(super) fn all_losses(
    seed: u64,
    survival: Survival,
    launcher: Launcher,
    hosts: &[u32],
    mut faults: Vec<Drawn>,
) -> Vec<Drawn> {
    if survival.is_on() {
        faults.extend(losses(&mut generator(seed, "losses"), hosts, faults.len()));
        faults.extend(late_losses(&mut generator(seed, "late losses"), hosts, faults.len()));
        let rng = &mut generator(seed, "launcher losses");
        match launcher {
            Launcher { heirs: true, .. } => faults.extend(launcher_losses(rng, &faults)),
            Launcher { succession: true, .. } => {
                faults.extend(launcher_losses(rng, &faults));
                faults.extend(host_losses(&mut generator(seed, "host losses"), hosts, &faults));
            }
            _ => faults.extend(survival.whole_loss(rng, faults.len())),
        }
    }
    faults
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

/// What somebody asks a job for: at any moment, or soon after something else went wrong or was asked for, in the midst of what follows from
/// that.
pub(super) fn requests(rng: &mut Rng, hosts: &[u32], others: &[Drawn]) -> Vec<Drawn> {
    let (place, first) = (Place::on(hosts), others.len());
    let mut drawn: Vec<Drawn> = Vec::new();
    for number in first..first + one_of(rng, &[1, 2, 2, 3, 3, 4, 5]) {
        let last = drawn.last().or(others.last()).map(|last| last.number);
        let moment = match (rng.below(2), last) {
            (0, Some(last)) => Moment::After(last, soon(rng)),
            _ => Moment::OfEvents(rng.below(MILLION + MILLION / 10)),
        };
        let (kind, node) = (rng.below(5), place.node(rng));
        let asked = match kind {
            0 => Asked::Checkpoint,
            1 | 2 => Asked::Shrink(node),
            _ => Asked::Grow,
        };
        drawn.push(Drawn { number, moment, what: What::Ask(asked) });
    }
    drawn
}

/// A node that is lost when the program has just ended, as one of them says: what the others say of it may come too late.
pub(super) fn late_losses(rng: &mut Rng, hosts: &[u32], first: usize) -> Option<Drawn> {
    let (is_lost, moment) = (rng.below(4) == 0, after_end(rng));
    let what = loss(rng, Place::on(hosts));
    is_lost.then_some(Drawn { number: first, moment, what })
}

/// The launcher is lost, and perhaps whoever leads then: while the program runs, soon after something else went wrong, or when it has ended.
pub(super) fn launcher_losses(rng: &mut Rng, others: &[Drawn]) -> Vec<Drawn> {
    let first = others.len();
    let mut drawn: Vec<Drawn> = Vec::new();
    for number in first..first + one_of(rng, &[0, 1, 1, 1, 1, 2]) {
        let last = drawn.last().or(others.last()).map(|last| last.number);
        let moment = match (rng.below(8), last) {
            (0..3, Some(last)) => Moment::After(last, soon(rng)),
            (3 | 4, _) => after_end(rng),
            _ => Moment::OfEvents(rng.below(MILLION + MILLION / 10)),
        };
        drawn.push(Drawn { number, moment, what: What::LauncherLoss });
    }
    drawn
}

/// Besides the launcher a host is lost, mostly its own, hosts are cut off from each other, or strangers come to a door: by themselves, or about
/// when something else is lost.
pub(super) fn host_losses(rng: &mut Rng, hosts: &[u32], others: &[Drawn]) -> Vec<Drawn> {
    let (place, first) = (Place::on(hosts), others.len());
    let mut drawn: Vec<Drawn> = Vec::new();
    for number in first..first + one_of(rng, &[0, 1, 1, 1, 2, 3]) {
        let last = drawn.last().or(others.last()).map(|last| last.number);
        let moment = match (rng.below(3), last) {
            (0, _) | (_, None) => Moment::OfEvents(rng.below(MILLION)),
            (_, Some(last)) => Moment::After(last, soon(rng)),
        };
        let (host, node) = (rng.below(hosts.len() as u64) as u32, place.node(rng));
        let (from, to): (Vec<u32>, Vec<u32>) =
            (0..hosts.len() as u32).partition(|other| *other == host || rng.below(3) == 0);
        let what = match rng.below(8) {
            0 | 1 => What::HostLoss { host: 0 },
            2 => What::HostLoss { host },
            3 => What::Cut { from, to, for_ns: magnitude(rng, 1_000_000, 60_000_000) * MICROSECOND },
            4 => {
                What::Cut { from: to, to: from, for_ns: magnitude(rng, 1_000_000, 60_000_000) * MICROSECOND }
            }
            _ => What::Crowd {
                node,
                strangers: magnitude(rng, 50, 3_000) as u32,
                for_ns: magnitude(rng, 200, 100_000) * MICROSECOND,
            },
        };
        drawn.push(Drawn { number, moment, what });
    }
    drawn
}

fn after_end(rng: &mut Rng) -> Moment {
    Moment::AfterEnd(magnitude(rng, MICROSECOND, 1_000 * MICROSECOND))
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
            Survival::InMemory(checkpoints) => write!(f, "{checkpoints}"),
            Survival::OnDisk(checkpoints) => write!(f, "{DISK}{checkpoints}"),
        }
    }
}

impl Display for Checkpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Checkpoints::Asked => f.write_str("asked"),
            Checkpoints::Time(time) => write!(f, "{}us", time.as_micros()),
            Checkpoints::Steps(steps) => write!(f, "{steps}steps"),
        }
    }
}

impl FromStr for Survival {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix(DISK) {
            _ if text == "off" => Ok(Survival::Off),
            Some(checkpoints) => Ok(Survival::OnDisk(checkpoints.parse()?)),
            None => Ok(Survival::InMemory(text.parse()?)),
        }
    }
}

impl FromStr for Checkpoints {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |end: &str| text.strip_suffix(end)?.parse().ok().filter(|number: &u64| *number > 0);
        match (text, number("us"), number("steps")) {
            ("asked", ..) => Ok(Checkpoints::Asked),
            (_, Some(time), _) => Ok(Checkpoints::Time(Duration::from_micros(time))),
            (_, _, Some(steps)) => Ok(Checkpoints::Steps(steps)),
            _ => Err(format!(
                "`{text}` is none of off, asked, 200us, 5steps; nor disk:200us, which is on disk"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let all = [Checkpoints::Asked, Checkpoints::Steps(7), Checkpoints::Time(Duration::from_micros(250))];
        let on = all
            .into_iter()
            .flat_map(|checkpoints| [Survival::InMemory(checkpoints), Survival::OnDisk(checkpoints)]);
        for survival in on.chain([Survival::Off]) {
            assert_eq!(survival.to_string().parse(), Ok(survival));
        }
        for nonsense in ["", "on", "us", "0us", "5", "5 steps", "disk", "disk:", "disk:off"] {
            assert!(nonsense.parse::<Survival>().is_err(), "{nonsense}");
        }
    }
}
