//! The disks that checkpoints are kept on (`--ft disk`), one of each node. What is written takes its time, may fail, and is torn when
//! the node dies.
//!
//! In the end all of them lose their power, and what was committed last has to be whole on what is left: a job can be started again
//! from there at any moment.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::disks_after::Remains;
use super::plan::Plan;
use super::process::Process;
use super::world::{Event, World};
use talisman_base::rng::Rng;
use talisman_base::topology::Shape;
use talisman_job::checkpoints::FaultTolerance;
use talisman_observe::sometimes::sometimes;
use talisman_store::disk::DiskRates;
use talisman_store::disk::{SharedDisk, SimulatedDisk};
use talisman_store::files::checkpoint_dir::CheckpointDirError;
use talisman_store::files::manifest::JobMark;
use talisman_store::files::writer::{Backlog, Work};
use talisman_store::versions::Store;

/// New disks draw from a generator of their own.
const NEW_DISKS: u64 = 0x0e1d_15c5;
/// What a piece of work takes: between these, in nanoseconds.
const WORK_NS: (u64, u64) = (5_000, 2_000_000);
/// Disk operations in most pieces of work, which settle a manifest, a part and a copy: a process may die in any of them.
const OPERATIONS: u64 = 9;

/// A node's disk, and what is being done with it.
pub(super) struct NodeDisk {
    disk: SharedDisk,
    job: JobMark,
    shape: Shape,
    backlog: Backlog,
    under_way: RefCell<Option<Work>>,
    rng: RefCell<Rng>,
    /// What was kept on it may not be there as it was.
    is_rotten: bool,
    /// The job has ended well, and nobody needs what is on it.
    cleared: Cell<bool>,
}

impl NodeDisk {
    /// The parts that a node holds are kept on a disk of its own, if that is how the job survives losses. A job that goes on from
    /// another has the disks of that one.
    pub(super) fn below(
        store: &Store,
        plan: &Plan,
        former: Option<&Remains>,
        (number, shape): (u32, Shape),
        rng: &mut Rng,
    ) -> Option<NodeDisk> {
        if plan.options.ft != FaultTolerance::Disk {
            return None;
        }
        let new = SharedDisk::new(SimulatedDisk::new(DiskRates::default(), Rng::new(rng.next_u64())));
        let disk = former.and_then(|remains| remains.disk_of(number)).unwrap_or(new);
        let mark =
            JobMark { id: plan.seed, seed: plan.seed, program: "simulated".into(), ..JobMark::default() };
        let job = former.map_or(mark, Remains::job);
        let own = Rng::new(0);
        let node_disk = NodeDisk::on(disk, store, (job, shape), own);
        let node_disk = node_disk.expect("a disk that does what it should, and has nothing of other jobs");
        node_disk.go_wrong(plan.disk);
        Some(NodeDisk {
            rng: RefCell::new(Rng::new(rng.next_u64())),
            is_rotten: !can_be_trusted(plan.disk),
            ..node_disk
        })
    }

    /// On a disk that is as it is, of this job.
    fn on(
        disk: SharedDisk,
        store: &Store,
        (job, shape): (JobMark, Shape),
        rng: Rng,
    ) -> Result<NodeDisk, CheckpointDirError> {
        Ok(NodeDisk {
            backlog: store.keep_on(Box::new(disk.clone()), job.clone(), shape)?,
            disk,
            job,
            shape,
            under_way: RefCell::default(),
            rng: RefCell::new(rng),
            is_rotten: false,
            cleared: Cell::default(),
        })
    }

    /// From now on so much goes wrong on it.
    fn go_wrong(&self, rates: DiskRates) {
        self.disk.with(|disk| disk.go_wrong(rates));
    }

    /// Begins with what is to be done next, unless something is under way; how long that takes.
    fn begin(&self) -> Option<u64> {
        let mut under_way = self.under_way.borrow_mut();
        if under_way.is_some() {
            return None;
        }
        *under_way = self.backlog.take_next();
        let (low, high) = WORK_NS;
        under_way.is_some().then(|| low + self.rng.borrow_mut().below(high - low))
    }

    fn end(&self) {
        self.under_way.take().into_iter().for_each(|work| self.backlog.carry_out(work));
    }

    /// All that is to be done is, now that the job has ended well: the last of it takes everything away.
    pub(super) fn clear(&self) {
        self.end();
        std::iter::from_fn(|| self.backlog.take_next()).for_each(|work| self.backlog.carry_out(work));
        self.cleared.set(true);
    }

    /// Its process is killed, in the midst of what is under way.
    pub(super) fn die(&self) {
        let operations = self.rng.borrow_mut().below(OPERATIONS);
        self.disk.with(|disk| disk.die_after(operations));
        self.end();
        self.disk.with(SimulatedDisk::restart);
    }

    /// Its host loses its power.
    pub(super) fn lose_power(&self) {
        self.disk.with(SimulatedDisk::lose_power);
    }

    pub(super) fn heal(&self) {
        self.disk.with(SimulatedDisk::heal);
    }

    /// It does nothing until then.
    pub(super) fn hang(&self, until: u64) {
        self.disk.with(|disk| disk.hang(until));
    }

    /// Until when it does nothing.
    pub(super) fn hangs_until(&self) -> u64 {
        self.disk.with(|disk| disk.hangs_until())
    }
}

impl World {
    /// Where another process of a node keeps its parts, on this host, if the job's are kept on disks: where the former one did, or, elsewhere,
    /// on a disk that has nothing, unless all hosts have one folder.
    pub(super) fn node_disk_again(
        &self,
        former: &Process,
        host: u32,
        store: &Store,
    ) -> Option<Result<NodeDisk, CheckpointDirError>> {
        let any = self.nodes.ever().find_map(|process| process.lives.node_disk.as_ref())?;
        if former.number >= self.tasks[0].nodes {
            // It waits, and is no node.
            return None;
        }
        let seed =
            self.plan.seed ^ u64::from(former.number) << 32 ^ u64::from(self.nodes.life(former.number));
        let mut rng = Rng::new(seed ^ NEW_DISKS);
        let new = SharedDisk::new(SimulatedDisk::new(self.disk_rates(), Rng::new(rng.next_u64())));
        let is_same = former.host == host || self.plan.shares_folder;
        let old = former.lives.node_disk.as_ref().filter(|_| is_same).map(|node_disk| node_disk.disk.clone());
        match &old {
            Some(_) => sometimes("a new process found what the one before it had left on disk"),
            None => sometimes("a new process had a disk without anything on it"),
        }
        let node_disk = NodeDisk::on(old.unwrap_or(new), store, (any.job.clone(), any.shape), rng);
        Some(node_disk.map(|node_disk| NodeDisk { is_rotten: any.is_rotten, ..node_disk }))
    }

    /// Until when a node waits that wants something of its disk.
    pub(super) fn disk_hangs_until(&self, number: u32) -> u64 {
        self.nodes[number as usize].lives.node_disk.as_ref().map_or(0, NodeDisk::hangs_until)
    }

    /// A node's disk begins with what it is to do next, unless it is at work.
    pub(super) fn use_shelf(&self, number: u32) {
        let process = &self.nodes[number as usize];
        if let Some(takes) = process.lives.node_disk.as_ref().and_then(NodeDisk::begin) {
            self.plan(self.now() + takes * process.slowness(self.now()), Event::Shelved(number));
        }
    }

    /// It is done.
    pub(super) fn on_shelved(&self, number: u32) {
        let process = &self.nodes[number as usize];
        if let Some(node_disk) = process.lives.node_disk.as_ref().filter(|_| process.is_up()) {
            node_disk.end();
            self.use_shelf(number);
        }
    }

    /// All disks lose their power, now that nobody uses them: what was committed last is still there. It, or what is newer and whole, is what
    /// another job can go on from.
    pub(super) fn read_shelves(&self, former: Option<&Remains>) -> Option<Remains> {
        let node_disks = self.all_node_disks();
        for (kind, times) in
            node_disks.values().flat_map(|node_disk| node_disk.disk.with(SimulatedDisk::take_wronged))
        {
            *self.injected.borrow_mut().entry(kind).or_default() += times;
        }
        if node_disks.is_empty() || node_disks.values().any(|node_disk| node_disk.cleared.get()) {
            return None;
        }
        for node_disk in node_disks.values() {
            node_disk.lose_power();
            node_disk.heal();
        }
        let committed = self.newest_committed();
        let disks = node_disks.iter().map(|(node, node_disk)| (*node, node_disk.disk.clone())).collect();
        let flaw = match Remains::on(disks, former) {
            Ok(remains) if Some(remains.version()) >= committed => return Some(remains),
            Ok(remains) => format!("version {} is the newest that is whole", remains.version()),
            Err(error) => error.to_string(),
        };
        let is_rotten = node_disks.values().any(|node_disk| node_disk.is_rotten);
        if let Some(committed) = committed.filter(|_| !is_rotten) {
            self.flaw(format!("version {committed} was committed, but is not on disk: {flaw}"));
        }
        None
    }
}

impl World {
    /// All disks, by the nodes that have them. Those that former processes of a node had elsewhere are by numbers that no node has.
    fn all_node_disks(&self) -> BTreeMap<u32, &NodeDisk> {
        let of_nodes = self.nodes.iter();
        let of_nodes =
            of_nodes.filter_map(|process| Some((process.number, process.lives.node_disk.as_ref()?)));
        let mut node_disks: BTreeMap<u32, &NodeDisk> = of_nodes.collect();
        let mut number = self.nodes.iter().count() as u32;
        for node_disk in self.nodes.ever().filter_map(|process| process.lives.node_disk.as_ref()) {
            if !node_disks.values().any(|other| other.disk.is(&node_disk.disk)) {
                node_disks.insert(number, node_disk);
                number += 1;
            }
        }
        node_disks
    }
}

/// Whether what was read once can be read again.
pub(super) fn can_be_read(rates: DiskRates) -> bool {
    rates.unreadable_ppm == 0 && stays_as_it_was(rates)
}

/// Whether what was said to be kept is there when the power comes back.
fn can_be_trusted(rates: DiskRates) -> bool {
    rates.lying_ppm == 0 && stays_as_it_was(rates)
}

fn stays_as_it_was(rates: DiskRates) -> bool {
    rates.altered_ppm == 0 && rates.misdirected_ppm == 0
}
