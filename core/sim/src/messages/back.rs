//! Jobs that go back to a checkpoint: at a random event a cut is taken, and what it keeps goes on, on fresh PEs, perhaps without some of
//! the nodes, or with some again that were lost before. As nothing runs between the cut and the end of the old PEs, the program does everything once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::chance::Chance;
use super::{Cluster, Rules, replay};
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_core::checkpoint::joiners::Redistribution;
use talisman_core::checkpoint::part::Part;
use talisman_core::checkpoint::restore::RestoreOnPe;
use talisman_job::job::Job;
use talisman_kernel::node::Config;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::turn::Command;
use talisman_node::Done;

/// When a job goes back, and what it loses.
#[derive(Clone, Debug)]
pub struct Back {
    /// After so many events.
    pub after: u64,
    /// Nodes that are lost then.
    pub lost: Vec<u32>,
    /// Nodes that are there again from then on.
    pub back: Vec<u32>,
}

/// Runs a job that goes back so often, unless it ends before.
pub fn run(shape: Shape, config: &Config, job: &Arc<Job>, backs: &[Back], main: impl FnOnce(&Pe)) -> Done {
    let (mut rules, mut records) = (Chance::new(config.seed), Vec::new());
    let mut cluster = Cluster::new(View::whole(shape), shape, config, job, 0);
    cluster.begin_with(main);
    cluster.begin(&mut rules);
    for (life, back) in (1..).zip(backs) {
        let until = cluster.trace.events + back.after;
        cluster.go_on(job, &mut rules, |cluster| cluster.trace.events >= until);
        let Some(version) = cluster.cut(job, &mut rules) else { break };
        let view = cluster.view().gaining(&back.back).losing(&back.lost);
        let parts = cluster.parts(version, &view);
        let mut next = Cluster::new(view, shape, config, job, cluster.clock.get());
        next.trace = cluster.trace.clone();
        records.extend(cluster.records());
        cluster.done();
        rules = Chance::new(config.seed.wrapping_add(life));
        next.restore(parts, &mut rules);
        cluster = next;
    }
    cluster.go_on(job, &mut rules, |_| false);
    rules.finish(&mut cluster);
    records.extend(cluster.records());
    let done = cluster.done();
    replay::verify(records, job);
    done
}

impl Cluster {
    fn view(&self) -> &View {
        self.pes[self.first as usize].view()
    }

    /// Has a cut taken: its version, unless the job ends before.
    fn cut(&mut self, job: &Job, rules: &mut impl Rules) -> Option<u64> {
        let (first, now) = (self.first, self.clock.get());
        self.command(first, Command::Checkpoint { asked: None, leaving: Vec::new() });
        let version = self.next_version();
        rules.collect(self, first);
        self.wake(first, now);
        self.go_on(job, rules, |cluster| cluster.has_all_parts(version));
        (!job.is_over()).then_some(version)
    }

    /// No version before it is of this cut.
    fn next_version(&self) -> u64 {
        let held = self.pes[self.first as usize].node.store.held();
        held.iter().map(|held| held.version).max().unwrap_or(0) + 1
    }

    fn has_all_parts(&self, version: u64) -> bool {
        let has = |node: &u32| {
            let pe = &self.pes[self.shape.first_pe(*node) as usize];
            pe.node.store.held().iter().any(|held| held.version >= version && held.held.contains(node))
        };
        self.pes[self.first as usize].frozen.get() && self.view().nodes().iter().all(has)
    }

    /// By PE of the next view: what it begins with.
    fn parts(&self, version: u64, next: &View) -> BTreeMap<PeId, Vec<Part>> {
        let part = |pe: PeId| self.pes[pe as usize].node.store.part(version, pe).expect("just taken");
        let before = self.view();
        let change = Redistribution::after(before, next);
        let mut parts: BTreeMap<PeId, Vec<Part>> = BTreeMap::new();
        for pe in before.there() {
            let of = parts.entry(next.acting_for(pe)).or_default();
            of.insert(if next.is_there(pe) { 0 } else { of.len() }, part(pe));
        }
        for pe in next.there().filter(|pe| !before.is_there(*pe)) {
            parts.entry(pe).or_default().insert(0, change.part_instead_of(pe, part(before.acting_for(pe))));
        }
        parts.iter_mut().for_each(|(pe, parts)| change.make_room(*pe, parts));
        parts
    }

    /// Fresh PEs go on from these parts.
    fn restore(&mut self, parts: BTreeMap<PeId, Vec<Part>>, rules: &mut impl Rules) {
        let now = self.clock.get();
        for (pe, parts) in parts {
            let parts = self.pes[pe as usize].note_restored(parts);
            assert!(self.pes[pe as usize].restore(parts), "nothing panics");
            rules.collect(self, pe);
            self.wake(pe, now);
        }
    }
}
