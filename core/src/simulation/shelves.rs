//! The disks that checkpoints are kept on (`--ft disk`), one of each node. What is written takes its time, may fail, and is torn when
//! the node dies.
//!
//! In the end all of them lose their power, and what was committed last has to be whole on what is left: a job can be started again
//! from there at any moment.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use talisman_ft::Version;

use super::plan::{DiskRates, Plan};
use super::process::Process;
use super::remains::Remains;
use super::world::{Event, World};
use crate::checkpoint::files::cover::JobMark;
use crate::checkpoint::files::keeper::{Backlog, Work};
use crate::checkpoint::store::Store;
use crate::disk::{SharedDisk, SimulatedDisk};
use crate::launch::checkpoints::FaultTolerance;
use crate::node::Shape;
use crate::rng::Rng;

/// What a piece of work takes: between these, in nanoseconds.
const WORK_NS: (u64, u64) = (5_000, 2_000_000);
/// Disk operations in most pieces of work, which settle a cover, a part and a copy: a process may die in any of them.
const OPERATIONS: u64 = 9;

/// A node's disk, and what is being done with it.
pub(super) struct Shelf {
    disk: SharedDisk,
    backlog: Backlog,
    under_way: RefCell<Option<Work>>,
    rng: RefCell<Rng>,
    /// Bits may be altered on it.
    is_rotten: bool,
    /// The job has ended well, and nobody needs what is on it.
    cleared: Cell<bool>,
}

impl Shelf {
    /// The parts that a node holds are kept on a disk of its own, if that is how the job survives losses. A job that goes on from
    /// another has the disks of that one.
    pub(super) fn below(
        store: &Store,
        plan: &Plan,
        former: Option<&Remains>,
        (number, shape): (u32, Shape),
        rng: &mut Rng,
    ) -> Option<Shelf> {
        if plan.options.ft != FaultTolerance::Disk {
            return None;
        }
        let new = SharedDisk::new(SimulatedDisk::new(DiskRates::default(), Rng::new(rng.next_u64())));
        let disk = former.and_then(|remains| remains.disk_of(number)).unwrap_or(new);
        let mark =
            JobMark { id: plan.seed, seed: plan.seed, program: "simulated".into(), ..JobMark::default() };
        let job = former.map_or(mark, Remains::job);
        let backlog = store.keep_on(Box::new(disk.clone()), job, shape);
        disk.with(|disk| disk.go_wrong(plan.disk));
        Some(Shelf {
            disk,
            backlog: backlog.expect("a disk that does what it should, and has nothing of other jobs"),
            under_way: RefCell::default(),
            rng: RefCell::new(Rng::new(rng.next_u64())),
            is_rotten: plan.disk.altered_ppm > 0,
            cleared: Cell::default(),
        })
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
}

impl World {
    /// A node's disk begins with what it is to do next, unless it is at work.
    pub(super) fn use_shelf(&self, number: u32) {
        let process = &self.nodes[number as usize];
        if let Some(takes) = process.lives.shelf.as_ref().and_then(Shelf::begin) {
            self.plan(self.now() + takes * process.slowness(self.now()), Event::Shelved(number));
        }
    }

    /// It is done.
    pub(super) fn on_shelved(&self, number: u32) {
        let process = &self.nodes[number as usize];
        if let Some(shelf) = process.lives.shelf.as_ref().filter(|_| process.is_up()) {
            shelf.end();
            self.use_shelf(number);
        }
    }

    /// All disks lose their power, now that nobody uses them: what was committed last is still there. It, or what is newer and whole, is what
    /// another job can go on from.
    pub(super) fn read_shelves(&self, former: Option<&Remains>) -> Option<Remains> {
        let shelves: BTreeMap<u32, &Shelf> = self
            .nodes
            .iter()
            .filter_map(|process| Some((process.number, process.lives.shelf.as_ref()?)))
            .collect();
        if shelves.is_empty() || shelves.values().any(|shelf| shelf.cleared.get()) {
            return None;
        }
        for shelf in shelves.values() {
            shelf.lose_power();
            shelf.heal();
        }
        let committed = self.nodes.iter().filter_map(committed).max();
        let disks = shelves.iter().map(|(node, shelf)| (*node, shelf.disk.clone())).collect();
        let flaw = match Remains::on(disks, former) {
            Ok(remains) if Some(remains.version()) >= committed => return Some(remains),
            Ok(remains) => format!("version {} is the newest that is whole", remains.version()),
            Err(error) => error.to_string(),
        };
        let is_rotten = shelves.values().any(|shelf| shelf.is_rotten);
        if let Some(committed) = committed.filter(|_| !is_rotten) {
            self.flaw(format!("version {committed} was committed, but is not on disk: {flaw}"));
        }
        None
    }
}

/// The newest version of which a process knows, or knew, that it is committed.
fn committed(process: &Process) -> Option<Version> {
    let held = process.lives.store.held();
    held.iter().filter(|held| held.committed).map(|held| held.version).max()
}

/// Whether what was read once can be read again.
pub(super) fn can_be_read(rates: DiskRates) -> bool {
    rates.unreadable_ppm == 0 && rates.altered_ppm == 0
}
