//! The PEs and objects of a group, as its leader knows them.

use super::bundles::Bundle;
use super::offers::Flow;
use crate::member::place::Place;
use crate::plan::{Nonsense, Plan};
use crate::snapshot::{Key, Node, Object, Pe, Snapshot};
use crate::strategy::Strategy;
use std::collections::BTreeMap;
use talisman_pup::Pup;

/// What a PE tells its leader.
#[derive(Clone, Debug, PartialEq, Pup)]
pub(crate) struct Report {
    pub place: Place,
    pub node: u32,
    pub host: u32,
    /// Bytes that may come to it.
    pub room: i64,
    /// Load of objects that stay.
    pub fixed: f64,
    /// Bytes of these.
    pub fixed_bytes: u64,
    pub bundles: Vec<Bundle>,
}

impl Report {
    /// Whether it can be reckoned with.
    pub fn is_sound(&self) -> bool {
        let Place { speed, background, .. } = self.place;
        let numbers = [background, self.fixed].iter().all(|number| number.is_finite() && *number >= 0.0);
        numbers && speed.is_finite() && speed > 0.0 && self.bundles.iter().all(Bundle::is_sound)
    }

    /// Load of all that is there.
    pub fn load(&self) -> f64 {
        self.fixed + self.bundles.iter().map(|bundle| bundle.load).sum::<f64>()
    }

    /// Load of bundles that is too much for the level; below zero if more could come.
    fn excess(&self, level: f64) -> f64 {
        let movable: f64 = self.bundles.iter().map(|bundle| bundle.load).sum();
        let takes = if self.place.available { (self.place.load(level) - self.fixed).max(0.0) } else { 0.0 };
        movable - takes
    }
}

/// A bundle of the group: its PE, from the group's first, and its number there.
pub(crate) type Which = (u32, u32);

/// A group whose PEs have all reported.
#[derive(Debug)]
pub(crate) struct Group {
    /// Its first PE.
    pub first: u32,
    pub reports: Vec<Report>,
}

/// What is worth moving to another group, of all that this one can do.
const WORTH_IT: f64 = 0.002;

impl Group {
    /// Load that is too much for the level, or too little if it is below zero; little counts as nothing.
    pub fn excess(&self, level: f64) -> f64 {
        let excess: f64 = self.reports.iter().map(|report| report.excess(level)).sum();
        let available = self.reports.iter().filter(|report| report.place.available);
        let capacity: f64 = available.map(|report| report.place.speed).sum();
        if excess.abs() > capacity * level * WORTH_IT { excess } else { 0.0 }
    }

    /// Bundles for each flow out of the group: first off PEs that have the most too much.
    pub fn chosen(&self, flows: &[Flow], level: f64) -> Vec<Vec<Which>> {
        let mut left: Vec<f64> = flows.iter().map(|flow| flow.load).collect();
        let mut chosen = vec![Vec::new(); flows.len()];
        if flows.is_empty() {
            return chosen;
        }
        let forced = |report: &Report| if report.place.available { 0.0 } else { f64::MAX };
        let excess = |report: &Report| report.excess(level).max(forced(report));
        let mut by_excess: Vec<(u32, f64)> = (0..).zip(self.reports.iter().map(excess)).collect();
        by_excess.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (pe, excess) in by_excess {
            self.choose_from(pe, excess, &mut left, &mut chosen);
        }
        chosen
    }

    fn choose_from(&self, pe: u32, mut excess: f64, left: &mut [f64], chosen: &mut [Vec<Which>]) {
        let mut bundles: Vec<(u32, &Bundle)> = (0..).zip(&self.reports[pe as usize].bundles).collect();
        bundles.sort_by(|a, b| b.1.load.total_cmp(&a.1.load));
        for (bundle, Bundle { load, .. }) in bundles {
            let most = (0..left.len()).max_by(|a, b| left[*a].total_cmp(&left[*b]));
            let Some(flow) = most.filter(|flow| *load <= left[*flow] && *load <= excess) else { continue };
            left[flow] -= load;
            excess -= load;
            chosen[flow].push((pe, bundle));
        }
    }

    /// Lets a strategy place all bundles but those that are `gone`, and what others brought.
    ///
    /// # Errors
    /// What makes no sense in its plan.
    pub fn placed(
        &self,
        strategy: &mut dyn Strategy,
        gone: &[Which],
        brought: &[Bundle],
    ) -> Result<Placed, Nonsense> {
        let mut table = self.table(gone);
        let own = table.whose.len();
        table.add_guests(self, brought);
        let plan = strategy.plan(&table.snapshot);
        plan.check(&table.snapshot)?;
        Ok(self.told(&table, own, &plan, brought.len()))
    }

    fn told(&self, table: &Table, own: usize, plan: &Plan, guests: usize) -> Placed {
        let mut placed = Placed { moves: Vec::new(), guests: vec![None; guests] };
        for step in &plan.moves {
            let (object, to) = (step.object as usize, self.first + step.to);
            match table.whose.get(object) {
                Some(Some(which)) if table.snapshot.objects[object].pe != step.to => {
                    placed.moves.push((*which, to))
                }
                None => placed.guests[object - own] = Some(to),
                _ => (),
            }
        }
        placed
    }

    fn table(&self, gone: &[Which]) -> Table {
        let mut table = Table { snapshot: Snapshot::default(), whose: Vec::new() };
        let mut nodes: BTreeMap<u32, u32> = BTreeMap::new();
        for report in &self.reports {
            let next = nodes.len() as u32;
            let node = *nodes.entry(report.node).or_insert(next);
            table.add_pe(node, report);
        }
        let mut gone = gone.to_vec();
        gone.sort_unstable();
        for (pe, report) in (0..).zip(&self.reports) {
            let stays = Bundle { load: report.fixed, bytes: report.fixed_bytes };
            table.add(pe, &stays, None);
            for (bundle, described) in (0..).zip(&report.bundles) {
                match gone.binary_search(&(pe, bundle)) {
                    Ok(_) => table.is_gone(pe, described),
                    Err(_) => table.add(pe, described, Some((pe, bundle))),
                }
            }
        }
        table
    }
}

/// What a strategy decided within a group.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Placed {
    /// Bundles of the group and the PEs they go to.
    pub moves: Vec<(Which, u32)>,
    /// Where what was brought goes; some may find no place.
    pub guests: Vec<Option<u32>>,
}

/// A snapshot of a group.
struct Table {
    snapshot: Snapshot,
    /// By number of the object: the bundle, unless it stays. Guests come behind.
    whose: Vec<Option<Which>>,
}

impl Table {
    /// With the memory that its objects take now and what may come.
    fn add_pe(&mut self, node: u32, report: &Report) {
        let Snapshot { pes, nodes, .. } = &mut self.snapshot;
        let Place { speed, background, available } = report.place;
        pes.push(Pe { node, speed, background, available });
        if nodes.len() <= node as usize {
            nodes.push(Node { host: report.host, memory: Some(0) });
        }
        let bundles =
            report.bundles.iter().fold(report.fixed_bytes, |sum, bundle| sum.saturating_add(bundle.bytes));
        let memory = &mut nodes[node as usize].memory;
        let is_limited = report.room < i64::MAX;
        *memory = memory
            .filter(|_| is_limited)
            .map(|sum| sum.saturating_add(bundles).saturating_add_signed(report.room));
    }

    fn add(&mut self, pe: u32, bundle: &Bundle, whose: Option<Which>) {
        self.whose.push(whose);
        self.object(pe, bundle, whose.is_some());
    }

    fn object(&mut self, pe: u32, bundle: &Bundle, migratable: bool) {
        let key = Key { collection: 0, index: self.snapshot.objects.len() as u128 };
        let Bundle { load, bytes } = *bundle;
        self.snapshot.objects.push(Object { key, load, bytes, pe, migratable, position: None });
    }

    /// The room of what goes is not used again in the same step: it may find no place and stay.
    fn is_gone(&mut self, pe: u32, bundle: &Bundle) {
        let node = self.snapshot.pes[pe as usize].node as usize;
        let memory = &mut self.snapshot.nodes[node].memory;
        *memory = memory.map(|sum| sum.saturating_sub(bundle.bytes));
    }

    /// What was brought is on one more PE, on a host of its own, that all objects have to leave.
    fn add_guests(&mut self, group: &Group, brought: &[Bundle]) {
        if brought.is_empty() {
            return;
        }
        let guests = group.reports.len() as u32;
        let node = self.snapshot.nodes.len() as u32;
        self.snapshot.nodes.push(Node { host: u32::MAX, memory: None });
        self.snapshot.pes.push(Pe { node, speed: 1.0, background: 0.0, available: false });
        brought.iter().for_each(|bundle| self.object(guests, bundle, true));
    }
}
