//! What a balancer would have made of a part of a job: the strategies of `talisman-lb`, on the loads that the trace shows.

use std::collections::BTreeMap;

use super::path::Part;
use super::terminal::plural;
use talisman_lb::plan::Plan;
use talisman_lb::quality::Quality;
use talisman_lb::snapshot::{Key, Node, Object, Pe, Snapshot};
use talisman_lb::strategies::{Choice, by_name};

/// Strategies that need loads alone, as a trace has them. Of those that save as much the first is named.
const TRIED: [&str; 3] = ["greedy-refine", "refine", "greedy"];
/// A PE that has less to do than this part of the time holds nobody up.
const BUSY_LEAST: f64 = 0.5;
/// What saves less than this part of the time is not worth a word.
const SAVES_LEAST: f64 = 0.05;

/// What objects did in a part.
#[derive(Clone, Debug, Default)]
pub struct Loads {
    /// By object: the PE it was on last, nanoseconds in its calls, and whether it can be moved.
    objects: BTreeMap<u64, (u32, u64, bool)>,
}

/// What the best of the strategies would have saved.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    /// The PE with most to do, and which part of the time that and a PE on average was busy.
    pub busiest: u32,
    pub busy: f64,
    pub average: f64,
    pub strategy: &'static str,
    /// Which part of the time would have been saved, and by how many moves.
    pub saves: f64,
    pub moves: u64,
}

impl Loads {
    /// An object was called on a PE, for so long.
    pub fn add(&mut self, object: u64, pe: u32, ns: u64, is_movable: bool) {
        let known = self.objects.entry(object).or_insert((pe, 0, is_movable));
        *known = (pe, known.1 + ns, is_movable);
    }

    /// What could have been saved in a part of the time, on so many PEs, as many of each node; nothing if it is not worth it.
    pub fn gain(&self, part: &Part, pes: u32, pes_per_node: u32) -> Option<Gain> {
        let snapshot = self.snapshot(pes, pes_per_node);
        let seconds = part.ns() as f64 / 1e9;
        let now = Quality::of(&snapshot, &Plan::default());
        let (busy, average) = (now.max / seconds, now.average / seconds);
        if pes < 2 || busy.is_nan() || busy < BUSY_LEAST {
            return None;
        }
        let tried = TRIED.iter().filter_map(|name| Some((*name, planned(name, &snapshot)?)));
        let saves = |quality: &Quality| (now.max - quality.max) / seconds;
        // Of those within a percent the first one, which `max_by` would not give.
        let percents = |quality: &Quality| (saves(quality) * 100.0).round() as i64;
        let (strategy, best) = tried.rev().max_by_key(|(_, quality)| percents(quality))?;
        let gain =
            Gain { busiest: self.busiest(), busy, average, strategy, saves: saves(&best), moves: best.moves };
        (gain.saves >= SAVES_LEAST).then_some(gain)
    }

    fn busiest(&self) -> u32 {
        let mut of_pes = BTreeMap::<u32, u64>::new();
        self.objects.values().for_each(|(pe, ns, _)| *of_pes.entry(*pe).or_default() += ns);
        of_pes.into_iter().max_by_key(|(_, ns)| *ns).map_or(0, |(pe, _)| pe)
    }

    fn snapshot(&self, pes: u32, pes_per_node: u32) -> Snapshot {
        let each = pes_per_node.max(1);
        let pe = |pe: u32| Pe { node: pe / each, speed: 1.0, background: 0.0, available: true };
        let node = |_| Node { host: 0, memory: None };
        let here = self.objects.iter().filter(|(_, (on, ..))| *on < pes);
        let object = |(object, (pe, ns, migratable)): (&u64, &(u32, u64, bool))| Object {
            key: Key { collection: 0, index: (*object).into() },
            load: *ns as f64 / 1e9,
            bytes: 0,
            pe: *pe,
            migratable: *migratable,
            position: None,
        };
        Snapshot {
            pes: (0..pes).map(pe).collect(),
            nodes: (0..pes.div_ceil(each)).map(node).collect(),
            objects: here.map(object).collect(),
            edges: Vec::new(),
        }
    }
}

/// What a strategy makes of it; none if that could not be carried out.
fn planned(name: &str, snapshot: &Snapshot) -> Option<Quality> {
    let Ok(Choice::Central(mut strategy)) = by_name(name) else { return None };
    let plan = strategy.plan(snapshot);
    plan.check(snapshot).ok().map(|()| Quality::of(snapshot, &plan))
}

impl Gain {
    /// For people.
    pub fn sentence(&self, part: &Part) -> String {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        format!(
            "PE {} was busy for {} of the time, a PE on average for {}: --balancer {} would have saved {} {}, by {}",
            self.busiest,
            percent(self.busy),
            percent(self.average),
            self.strategy,
            percent(self.saves),
            part.what,
            plural(self.moves, "move"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One second, or so many objects of a tenth of it on each PE.
    fn gain(objects: &[u64], is_movable: bool) -> Option<Gain> {
        let part = Part { what: "of step 7".into(), from: 0, until: 1_000_000_000 };
        let mut loads = Loads::default();
        for (pe, count) in (0..).zip(objects) {
            (0..*count).for_each(|nth| loads.add(1000 * u64::from(pe) + nth, pe, 100_000_000, is_movable));
        }
        loads.gain(&part, objects.len() as u32, 1)
    }

    #[test]
    fn the_strategies_tell_what_they_would_have_saved() {
        let gain = gain(&[10, 4, 4, 6], true).unwrap();
        assert_eq!((gain.busiest, gain.strategy, gain.moves), (0, "greedy-refine", 4));
        assert!((gain.busy - 1.0).abs() < 1e-9 && (gain.average - 0.6).abs() < 1e-9);
        assert!((gain.saves - 0.4).abs() < 1e-9, "{gain:?}");
        let part = Part { what: "of step 7".into(), from: 0, until: 1 };
        assert_eq!(
            gain.sentence(&part),
            "PE 0 was busy for 100 % of the time, a PE on average for 60 %: --balancer greedy-refine would have \
             saved 40 % of step 7, by 4 moves"
        );
    }

    #[test]
    fn nothing_is_said_where_nothing_can_be_saved() {
        assert_eq!(gain(&[8, 8, 8, 8], true), None, "it is balanced");
        assert_eq!(gain(&[10, 4, 4, 6], false), None, "nothing can be moved");
        assert_eq!(gain(&[4, 0, 0, 0], true), None, "nobody waits for a PE that has little to do");
        assert_eq!(gain(&[10], true), None, "there is one PE");
        assert_eq!(gain(&[], true), None);
    }
}
