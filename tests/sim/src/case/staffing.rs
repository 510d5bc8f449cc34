//! Who may come while a job runs, and where to: processes that wait, nodes that were never there, and room for others on its hosts.

use talisman::simulation::{Asked, Plan, What};

use super::{Drawn, Moment, Overrides, generator};

/// What a job has besides its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Staffing {
    /// The hosts of processes that wait to take a lost node's place.
    pub spares: Vec<u32>,
    /// Nodes that may be added, and are not there at the start.
    pub more: u32,
    /// How many processes each host takes. There may be one more host than those with nodes.
    pub slots: Vec<u32>,
    /// Whether all hosts have one folder for what is on disk.
    pub shares_folder: bool,
}

/// What of a case it depends on whether anybody may come.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) hosts: &'a [u32],
    pub(super) survives: bool,
    pub(super) is_on_disk: bool,
    pub(super) heirs: bool,
    pub(super) respawn: bool,
    pub(super) requests: bool,
    /// Whether what is not said is drawn.
    pub(super) draws: bool,
}

/// In one of so many of the jobs that survive losses somebody waits.
const ONE_IN_HAS_SPARES: u64 = 4;
/// One in so many of those that are asked for something may have more nodes than at the start.
const ONE_IN_MAY_GROW: u64 = 2;
/// One in so many that somebody may come to has a host without nodes.
const ONE_IN_HAS_ROOM: u64 = 3;
/// In one of so many jobs a process that waits is lost.
const ONE_IN_LOSES_A_SPARE: u64 = 3;
const MILLION: u64 = 1_000_000;

impl Staffing {
    pub(super) fn draw(seed: u64, overrides: &Overrides, job: Job) -> Staffing {
        let some = |concern: &str, one_in: u64| {
            let mut rng = generator(seed, concern);
            let (has_any, count) = (rng.below(one_in) == 0, 1 + rng.below(2) as u32);
            if job.draws && has_any { count } else { 0 }
        };
        let spares = overrides.spares.unwrap_or(some("spares", ONE_IN_HAS_SPARES));
        let drawn = if job.requests { some("more", ONE_IN_MAY_GROW) } else { 0 };
        let more = overrides.more.unwrap_or(drawn);
        if !job.survives || !job.respawn && spares == 0 && more == 0 {
            return Staffing::default();
        }
        let rng = &mut generator(seed, "room");
        let has_another = rng.below(ONE_IN_HAS_ROOM) == 0 && !job.heirs && spares + more > 0;
        let own = job.hosts.iter().copied().chain(has_another.then_some(0));
        let slots: Vec<u32> = own.map(|nodes| (nodes + rng.below(3) as u32).max(1)).collect();
        let hosts = slots.len() as u64;
        Staffing {
            spares: (0..spares).map(|_| rng.below(hosts) as u32).collect(),
            more,
            slots,
            shares_folder: rng.below(2) == 0 && job.is_on_disk,
        }
    }

    /// What befalls those who wait, and that others are asked for. Numbered from `first` on, in a job of so many nodes.
    pub(super) fn events(&self, seed: u64, first: usize, nodes: u32) -> Vec<Drawn> {
        let rng = &mut generator(seed, "coming");
        let [added, lost] = [(); 2].map(|()| Moment::OfEvents(rng.below(MILLION)));
        let (spare, is_lost) =
            (rng.below(self.spares.len().max(1) as u64) as u32, rng.below(ONE_IN_LOSES_A_SPARE) == 0);
        let grow = (self.more > 0).then_some((added, What::Ask(Asked::Grow)));
        let node = nodes + self.more + spare;
        let lost = (is_lost && !self.spares.is_empty()).then_some((lost, What::Crash { node }));
        let drawn = |(number, (moment, what))| Drawn { number, moment, what };
        (first..).zip(grow.into_iter().chain(lost)).map(drawn).collect()
    }

    /// The plan of a job on these hosts with all that may come to it.
    pub(super) fn put_into(&self, plan: Plan) -> Plan {
        let without_nodes = self.slots.len().saturating_sub(plan.hosts.len());
        let hosts: Vec<u32> = plan.hosts.iter().copied().chain(vec![0; without_nodes]).collect();
        let nodes: u32 = hosts.iter().sum();
        Plan {
            hosts,
            slots: self.slots.clone(),
            spares: self.spares.clone(),
            max_nodes: if self.more > 0 { nodes + self.more } else { 0 },
            shares_folder: self.shares_folder,
            ..plan
        }
    }

    /// The same of a job to which nobody comes.
    pub(super) fn taken_from(plan: Plan) -> Plan {
        Plan { slots: Vec::new(), spares: Vec::new(), max_nodes: 0, shares_folder: false, ..plan }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(hosts: &[u32]) -> Job<'_> {
        Job {
            hosts,
            survives: true,
            is_on_disk: true,
            heirs: false,
            respawn: true,
            requests: true,
            draws: true,
        }
    }

    #[test]
    fn whoever_waits_is_on_a_host_that_there_is() {
        for seed in 0..500 {
            let staffing = Staffing::draw(seed, &Overrides::default(), job(&[2, 1]));
            let hosts = staffing.slots.len() as u32;
            assert!((2..=3).contains(&hosts) && staffing.spares.iter().all(|host| *host < hosts));
            let plan = staffing.put_into(Plan { hosts: vec![2, 1], ..Plan::calm(seed, 3, 1) });
            assert_eq!((plan.nodes(), plan.hosts.len() as u32), (3, hosts));
            for Drawn { what, .. } in staffing.events(seed, 7, 3) {
                let What::Crash { node } = what else { continue };
                let numbers = 3 + staffing.more..3 + staffing.more + staffing.spares.len() as u32;
                assert!(numbers.contains(&node));
            }
        }
    }

    #[test]
    fn nobody_comes_to_a_job_that_loses_nobody_or_has_nobody_to_come() {
        let none = Overrides { spares: Some(0), more: Some(0), ..Overrides::default() };
        for seed in 0..100 {
            let dying = Job { survives: false, ..job(&[2]) };
            assert_eq!(Staffing::draw(seed, &Overrides::default(), dying), Staffing::default());
            let alone = Job { respawn: false, ..job(&[2]) };
            assert_eq!(Staffing::draw(seed, &none, alone), Staffing::default());
            assert!(Staffing::default().events(seed, 0, 2).is_empty());
        }
    }
}
