//! How a job that keeps its checkpoints on disks is started again when all of it was lost: on other nodes and PEs, where it may be lost
//! once more.

use std::time::Duration;

use talisman::rng::Rng;
use talisman::simulation::{DiskRates, Fault, Plan, What};

use super::faults::{Drawn, Moment, moved_into};
use super::staffing::Staffing;
use super::survival::{Checkpoints, Survival, losses};
use super::{Case, Length, generator, magnitude, shape};

/// A job that goes on from the disks of one that was lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Again {
    /// Of its world.
    pub seed: u64,
    /// Nodes on each host.
    pub hosts: Vec<u32>,
    /// PEs of each node.
    pub pes: u32,
    /// Whether it survives losses, and whether it can be started again in turn.
    pub survival: Survival,
    /// What goes wrong in it, besides what disks do not keep.
    pub faults: Vec<Drawn>,
}

/// It is started again so often at most.
const TIMES: usize = 2;
const MILLION: u64 = 1_000_000;

/// The jobs that are started one after the other, after one that survives so. Their faults are numbered from `first` on; `harmed`: whether
/// there are any.
pub(super) fn draw(seed: u64, survival: Survival, first: usize, harmed: bool) -> Vec<Again> {
    let (mut all, mut first) = (Vec::<Again>::new(), first);
    let rng = &mut generator(seed, "again");
    while all.last().map_or(survival, |last| last.survival).is_on_disk() && all.len() < TIMES {
        let again = one(rng, first);
        first += again.faults.len();
        all.push(Again { faults: if harmed { again.faults } else { Vec::new() }, ..again });
    }
    all
}

fn one(rng: &mut Rng, first: usize) -> Again {
    let (seed, hosts, pes) = (rng.next_u64(), shape::hosts(rng), shape::pes(rng));
    let checkpoints = Checkpoints::Time(Duration::from_micros(magnitude(rng, 50, 5_000)));
    let survival = match rng.below(4) {
        0 => Survival::Off,
        1 => Survival::InMemory(checkpoints),
        _ => Survival::OnDisk(checkpoints),
    };
    let mut faults = Vec::new();
    if survival.is_on() && rng.below(2) == 0 {
        faults.extend(losses(rng, &hosts, first));
    }
    faults.extend(survival.whole_loss(rng, first + faults.len()));
    Again { seed, faults: moved_into(faults, &hosts), hosts, pes, survival }
}

impl Survival {
    pub(super) fn is_on_disk(self) -> bool {
        matches!(self, Survival::OnDisk(_))
    }

    /// All of a job may be lost that can be started again from its disks: its launcher is, and everything goes with that.
    pub(super) fn whole_loss(self, rng: &mut Rng, number: usize) -> Option<Drawn> {
        let (is_lost, moment) = (rng.below(2) == 0, Moment::OfEvents(rng.below(MILLION)));
        (is_lost && self.is_on_disk()).then_some(Drawn { number, moment, what: What::LauncherLoss })
    }
}

impl Again {
    /// The world of this job, if the calm run was so long, and `next` comes after it. Disks are as bad as before, but what was kept can
    /// be read: whoever starts a job again would have that mended first.
    pub(super) fn plan(&self, case: &Case, calm: Length, next: Option<Box<Plan>>) -> Plan {
        let faults: Vec<Fault> =
            self.faults.iter().map(|drawn| drawn.in_run_of(calm, &self.faults)).collect();
        // A program that waits for a checkpoint waits as long as disks are too bad for any.
        let healed_ns = case.healed_ns(&faults, calm);
        Plan {
            hosts: self.hosts.clone(),
            pes_per_node: self.pes,
            options: Box::new(self.survival.options()),
            heirs: false,
            lingers: case.lingers,
            disk: DiskRates { unreadable_ppm: 0, altered_ppm: 0, misdirected_ppm: 0, ..case.disk },
            faults,
            again: next,
            healed_ns,
            seed: self.seed,
            ..Staffing::taken_from(case.bounded(calm, healed_ns))
        }
    }
}
