//! What a seed stands for: a program, a cluster, and what goes wrong in it.

mod again;
mod classes;
mod faults;
mod overrides;
mod shape;
mod staffing;
mod strikes;
mod survival;

use std::time::Duration;

use talisman::launch::RunArgs;
use talisman::rng::Rng;
use talisman::simulation::{DiskRates, Fault, Limits, Network, Plan, Rates, Schedule, What, When};

use crate::workloads;

pub use again::Again;
pub use classes::Classes;
pub use faults::{Drawn, Moment};
pub use overrides::{CALM, HostSizes, Kept, Overrides};
pub use staffing::Staffing;
pub use strikes::{Blow, Strike, Strikes};
pub use survival::{Checkpoints, Survival};

/// A run, before anything of it has run.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What it was drawn from.
    pub seed: u64,
    /// What was said otherwise.
    pub overrides: Overrides,
    /// The program.
    pub workload: &'static str,
    /// How large it is.
    pub size: u32,
    /// Nodes on each host.
    pub hosts: Vec<u32>,
    /// PEs of each node.
    pub pes: u32,
    /// The network, with its rates of faults.
    pub network: Network,
    /// The disks, with their rates of faults.
    pub disk: DiskRates,
    /// How PEs take turns.
    pub schedule: Schedule,
    /// What bounds queues.
    pub limits: Limits,
    /// Without a word for so long somebody counts as lost.
    pub silence: Duration,
    /// What goes wrong.
    pub faults: Vec<Drawn>,
    /// How long faults may come by themselves.
    pub unsettled: Unsettled,
    /// Whether its job survives losses.
    pub survival: Survival,
    /// Whether it survives that of its launcher, too: all its nodes are on one host.
    pub heirs: bool,
    /// Whether lost nodes get other processes.
    pub respawn: bool,
    /// Whether somebody asks it for something.
    pub requests: bool,
    /// Who may come while it runs.
    pub staffing: Staffing,
    /// Whether it survives the loss of its launcher, or of that one's host, on several hosts.
    pub succession: bool,
    /// Whether PEs that have halted go on reading their links.
    pub lingers: bool,
    /// How it is started again when all of it was lost, and again.
    pub again: Vec<Again>,
    /// Whether the run is repeated, to see that it is the same again.
    pub twice: bool,
}

/// A process that is stopped for so long does not go on: a hundred years.
pub const FOR_EVER_NS: u64 = 100 * 365 * 24 * 3_600 * 1_000_000_000;

/// When a world is healed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsettled {
    /// After so many percent of the time of the calm run …
    pub percent: u64,
    /// … and so long besides.
    pub more_ns: u64,
    /// But not before all that was planned is over.
    pub to_the_end: bool,
}

/// How long a calm run was, by which times of faults are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// In simulated nanoseconds.
    pub ns: u64,
    /// In events.
    pub events: u64,
}

/// One in so many runs is repeated.
const ONE_IN_IS_REPEATED: u64 = 16;
/// A healed world gets as many times the time of the calm run, and this besides.
const SLACK: u64 = 100;
const SLACK_NS: u64 = 60_000_000_000;
/// Whoever takes a checkpoint whenever one is over has little time for anything else, where it takes many times as long as between two.
const SLACK_NS_WITH_CHECKPOINTS: u64 = 10 * SLACK_NS;
/// A calm run has some thousand events.
const SLACK_EVENTS: u64 = 2_000_000;

impl Case {
    /// That of a seed, with what is said otherwise. Each concern has a generator of its own, so that what is said of one
    /// changes nothing of another.
    ///
    /// # Errors
    /// There is no such workload, host or node.
    pub fn draw(seed: u64, overrides: &Overrides) -> Result<Case, String> {
        let classes = Classes::draw(seed, &overrides.only);
        let drawn = shape::hosts(&mut generator(seed, "hosts"));
        let HostSizes(asked) = overrides.hosts.clone().unwrap_or(HostSizes(drawn.clone()));
        let silence = shape::silence(&mut generator(seed, "silence"));
        let workload = shape::workload(&mut generator(seed, "workload"), overrides.workload.as_deref())?;
        let survival = overrides.ft.unwrap_or(Survival::draw(&mut generator(seed, "survival")));
        let heirs =
            survival.is_on() && overrides.heirs.unwrap_or(survival::heirs(&mut generator(seed, "heirs")));
        let is_whole = overrides.only.is_empty() && overrides.strikes.is_none();
        let draws = |concern, f: fn(&mut Rng) -> bool| is_whole && f(&mut generator(seed, concern));
        let respawn = survival.is_on() && overrides.respawn.unwrap_or(draws("respawn", survival::respawn));
        let requests = survival.is_on() && overrides.requests.unwrap_or(draws("asked", survival::is_asked));
        let lingers = survival.is_on() && overrides.lingers.unwrap_or(draws("lingers", survival::lingers));
        let hosts = shape::resized(&asked, overrides.nodes.unwrap_or(asked.iter().sum()));
        let hosts = if heirs && overrides.hosts.is_none() { vec![hosts.iter().sum()] } else { hosts };
        let heirs = heirs && hosts.len() == 1;
        let succession = overrides.succession.unwrap_or(draws("succession", survival::succession));
        let succession = succession && survival.is_on() && !heirs && hosts.len() > 1;
        let job = staffing::Job {
            hosts: &hosts,
            survives: survival.is_on(),
            is_on_disk: survival.is_on_disk(),
            heirs,
            respawn,
            requests,
            draws: is_whole,
        };
        // Who waits ends with the launcher that has started it, and nobody else starts any in a world.
        let without_spares = Overrides { spares: Some(0), ..overrides.clone() };
        let staffing = Staffing::draw(seed, if succession { &without_spares } else { overrides }, job);
        let (faults, again) = match &overrides.strikes {
            Some(strikes) => {
                let waiting = staffing.more + staffing.spares.len() as u32;
                (strikes.drawn(&hosts, waiting)?, again::draw(seed, survival, 0, false))
            }
            None => {
                let harmed = overrides.only.is_empty();
                let faults = faults::draw(seed, &classes, &drawn, silence);
                let launcher = survival::Launcher { heirs, succession };
                let lost = |faults| survival::all_losses(seed, survival, launcher, &drawn, faults);
                let mut faults = if harmed { lost(faults) } else { faults };
                if requests {
                    let rng = &mut generator(seed, "requests");
                    faults.extend(survival::requests(rng, &drawn, &faults));
                }
                let nodes = hosts.iter().sum();
                let coming = if harmed { staffing.events(seed, faults.len(), nodes) } else { Vec::new() };
                let again = again::draw(seed, survival, faults.len() + coming.len(), harmed);
                let all = faults.iter().chain(&coming).chain(again.iter().flat_map(|again| &again.faults));
                let newer = faults::newer(seed, &classes, &drawn, silence, all.clone().count());
                overrides.check_kept(all.chain(&newer))?;
                let mut faults = faults::moved_into(overrides.kept(faults), &hosts);
                faults.extend(overrides.kept(coming));
                let is_left = |drawn: &Drawn| match drawn.what {
                    What::DiskHang { .. } => survival.is_on_disk() && !overrides.is_calm("disk-hangs"),
                    _ => !overrides.is_calm("crowd"),
                };
                let newer = overrides.kept(newer).into_iter().filter(is_left).collect();
                faults.extend(faults::moved_into(newer, &hosts));
                (faults, overrides.kept_again(again))
            }
        };
        Ok(Case {
            seed,
            overrides: overrides.clone(),
            workload,
            size: overrides.size.unwrap_or(shape::size(&mut generator(seed, "size"))),
            pes: overrides.pes.unwrap_or(shape::pes(&mut generator(seed, "pes"))),
            network: shape::network(&mut generator(seed, "network"), classes.rates(seed), overrides),
            schedule: shape::schedule(&mut generator(seed, "schedule"), overrides),
            limits: shape::limits(&mut generator(seed, "limits"), overrides),
            disk: overrides.calmed(classes.disk(seed)),
            silence,
            faults,
            hosts,
            unsettled: faults::unsettled(&mut generator(seed, "healing")),
            survival,
            heirs,
            respawn,
            requests,
            staffing,
            succession,
            lingers,
            again,
            twice: generator(seed, "twice").below(ONE_IN_IS_REPEATED) == 0
                && !(survival.is_on() && workloads::has_bytes_of_its_process(workload)),
        })
    }

    /// How many nodes it has.
    pub fn nodes(&self) -> u32 {
        self.hosts.iter().sum()
    }

    /// The numbers of processes that wait to take a lost node's place.
    pub fn waiting(&self) -> std::ops::Range<u32> {
        let first = self.nodes() + self.staffing.more;
        first..first + self.staffing.spares.len() as u32
    }

    /// All that goes wrong by the numbers that it has, in the jobs that are started again too.
    pub fn all_faults(&self) -> impl Iterator<Item = &Drawn> {
        self.faults.iter().chain(self.again.iter().flat_map(|again| &again.faults))
    }

    /// The same without anything that goes wrong.
    pub fn calm_plan(&self) -> Plan {
        let mut network = self.network.clone();
        network.rates = Rates::default();
        (network.near.late_ppm, network.far.late_ppm) = (0, 0);
        let plan = Plan {
            hosts: self.hosts.clone(),
            network,
            schedule: Schedule { pause_ppm: 0, ..self.schedule },
            limits: self.limits,
            options: Box::new(RunArgs { respawn: self.respawn, ..self.survival.options() }),
            heirs: self.heirs || self.succession,
            lingers: self.lingers,
            silence: self.silence,
            patience_ns: if self.survival.is_on() { SLACK_NS_WITH_CHECKPOINTS } else { SLACK_NS },
            events_max: SLACK_EVENTS,
            ..Plan::calm(self.seed, self.nodes(), self.pes)
        };
        self.staffing.put_into(plan)
    }

    /// The world of this case, if the calm run was so long.
    pub fn plan(&self, calm: Length) -> Plan {
        let faults: Vec<Fault> =
            self.faults.iter().map(|drawn| drawn.in_run_of(calm, &self.faults)).collect();
        let healed_ns = self.healed_ns(&faults, calm);
        let outages: u64 = faults.iter().filter_map(|fault| lasts_ns(&fault.what)).sum();
        Plan {
            network: self.network.clone(),
            disk: self.disk,
            schedule: self.schedule,
            faults,
            healed_ns,
            again: self
                .again
                .iter()
                .rev()
                .fold(None, |next, again| Some(Box::new(again.plan(self, calm, next)))),
            ..self.bounded(calm, healed_ns + outages)
        }
    }

    /// A calm plan in which a job has so much more time than the calm run took.
    fn bounded(&self, calm: Length, more_ns: u64) -> Plan {
        Plan {
            patience_ns: more_ns + SLACK_NS + SLACK * calm.ns,
            events_max: SLACK_EVENTS + SLACK * calm.events,
            ..self.calm_plan()
        }
    }

    fn healed_ns(&self, faults: &[Fault], calm: Length) -> u64 {
        // Nothing else goes wrong, and a strike has to happen whenever its step comes.
        if self.overrides.strikes.is_some() {
            return 0;
        }
        let Unsettled { percent, more_ns, to_the_end } = self.unsettled;
        let end = |fault: &Fault| begins_ns(fault.when, calm, faults) + lasts_ns(&fault.what).unwrap_or(1);
        let all_over = faults.iter().filter(|_| to_the_end).map(end).max().unwrap_or(0);
        all_over.max(calm.ns * percent / 100 + more_ns)
    }
}

/// For how long a fault lasts, if it does, and comes to an end.
pub fn lasts_ns(what: &What) -> Option<u64> {
    match what {
        What::Stop { for_ns: FOR_EVER_NS, .. } => None,
        What::Stop { for_ns, .. }
        | What::Slow { for_ns, .. }
        | What::Cut { for_ns, .. }
        | What::DiskHang { for_ns, .. }
        | What::LauncherStop { for_ns } => Some(*for_ns),
        What::ClockJump { by_ns, .. } => Some(*by_ns),
        _ => None,
    }
}

/// When a fault begins, if everything goes at the pace of the calm run.
fn begins_ns(when: When, calm: Length, faults: &[Fault]) -> u64 {
    match when {
        When::After(other, ns) => {
            ns + faults.get(other).map_or(0, |other| begins_ns(other.when, calm, faults))
        }
        When::At(at) => at,
        When::Step(_) => 0,
        When::AfterEnd(ns) => calm.ns + ns,
        When::Event(event) => (calm.ns as f64 * event as f64 / calm.events.max(1) as f64) as u64,
    }
}

/// The generator of a concern.
fn generator(seed: u64, concern: &str) -> Rng {
    // FNV-1a (Fowler, Noll, Vo): different texts start from different states, which the generator spreads.
    Rng::new(concern.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |state, byte| {
        (state ^ byte as u64).wrapping_mul(0x0100_0000_01b3)
    }))
}

/// One of a few.
fn one_of<T: Copy>(rng: &mut Rng, these: &[T]) -> T {
    these[rng.below(these.len() as u64) as usize]
}

/// Between these; small ones are as likely as large ones, by orders of magnitude.
fn magnitude(rng: &mut Rng, from: u64, to: u64) -> u64 {
    let (low, high) = ((from.max(1) as f64).ln(), (to.max(1) as f64).ln());
    ((low + (high - low) * rng.unit_f64()).exp() as u64).clamp(from.min(to), to)
}

#[cfg(test)]
mod tests;
