//! What a balancer would have made of what objects had to do: the strategies of `talisman-lb`, tried on it.
//!
//! Loads are of a part of a trace, or of a job at its end, as its PEs have measured or estimated them.

use std::collections::BTreeMap;

use talisman_job::loads::PeLoads;
use talisman_job::report::advice::Tried;
use talisman_lb::plan::Plan;
use talisman_lb::quality::Quality;
use talisman_lb::snapshot::{Key, Node, Object, Pe, Snapshot};
use talisman_lb::strategies::{Choice, by_name};

use crate::trace::plural;

/// Strategies that need loads alone. Of those that save as much the first is named.
const TRIED: [&str; 3] = ["greedy-refine", "refine", "greedy"];
/// A PE that has less to do than this part of the time holds nobody up.
const BUSY_LEAST: f64 = 0.5;
/// What saves less than this part of the time is not worth a word.
const SAVES_LEAST: f64 = 0.05;
/// Of less time nothing is said: what was measured in it may be chance.
const NS_LEAST: u64 = 1_000_000_000;
/// PEs of a job for which a balancer is tried.
const PES_MAX: u64 = 1 << 16;

/// An object, or a heap of such as move together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) pe: u32,
    pub(crate) ns: u64,
    pub(crate) can_move: bool,
    pub(crate) objects: u32,
}

/// What the best of the strategies would have saved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gain {
    /// The PE with most to do, and which part of the time that and a PE on average was busy.
    pub(crate) busiest: u32,
    pub(crate) busy: f64,
    pub(crate) average: f64,
    pub(crate) strategy: &'static str,
    /// Which part of the time would have been saved, and by how many moves.
    pub(crate) saves: f64,
    pub(crate) moves: u64,
}

impl Gain {
    /// What could have been saved of so many nanoseconds, on so many PEs, as many of each node; none if it is not worth it.
    pub(crate) fn of(loads: &[Load], ns: u64, pes: u64, pes_per_node: u64) -> Option<Gain> {
        let (pes, pes_per_node) = (pes.min(PES_MAX) as u32, pes_per_node.min(PES_MAX) as u32);
        let here: Vec<Load> = loads.iter().filter(|load| load.pe < pes).copied().collect();
        let snapshot = snapshot(&here, pes, pes_per_node);
        let seconds = ns as f64 / 1e9;
        let now = Quality::of(&snapshot, &Plan::default());
        let (busy, average) = (now.max / seconds, now.average / seconds);
        if pes < 2 || busy.is_nan() || busy < BUSY_LEAST {
            return None;
        }
        let saves = |quality: &Quality| (now.max - quality.max) / seconds;
        // Of those within a percent the first one, which `max_by` would not give.
        let percents = |quality: &Quality| (saves(quality) * 100.0).round() as i64;
        let tried = TRIED.iter().filter_map(|name| Some((*name, planned(name, &snapshot)?)));
        let (strategy, (best, plan)) = tried.rev().max_by_key(|(_, (quality, _))| percents(quality))?;
        let moved = |place: u32| here.get(place as usize).map_or(0, |load| u64::from(load.objects));
        let moves = plan.moves.iter().map(|each| moved(each.object)).sum();
        let gain = Gain { busiest: busiest(&here), busy, average, strategy, saves: saves(&best), moves };
        (gain.saves >= SAVES_LEAST).then_some(gain)
    }

    /// For people: of which part of the job it is, and which balancer the job had.
    pub(crate) fn sentence(&self, of_what: &str, had: Option<&str>) -> String {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let how = match had {
            Some(had) if had == self.strategy => {
                format!("another step of --balancer {had} (--lb-every)")
            }
            _ => format!("--balancer {}", self.strategy),
        };
        format!(
            "PE {} was busy for {} of the time, a PE on average for {}: {how} would have saved {} {of_what}, by {}",
            self.busiest,
            percent(self.busy),
            percent(self.average),
            percent(self.saves),
            plural(self.moves, "move"),
        )
    }
}

/// What could have been saved of the time since the last balancing step, or of the whole job, by what all PEs know at its end.
pub(crate) fn at_end(
    all: &[PeLoads],
    pes: u64,
    pes_per_node: u64,
    has_balanced: bool,
    had: Option<&str>,
) -> Tried {
    let ns = all.iter().map(|of| of.ns).max().unwrap_or(0);
    if (all.len() as u64) < pes || ns < NS_LEAST {
        return Tried::Not;
    }
    let loads: Vec<Load> = all
        .iter()
        .flat_map(|of| {
            let load = |load: &talisman_job::loads::Load| Load {
                pe: of.pe,
                ns: load.ns,
                can_move: load.can_move,
                objects: load.objects,
            };
            of.loads.iter().map(load)
        })
        .collect();
    let of_what = if has_balanced { "of the time since the last balancing step" } else { "of the job" };
    match Gain::of(&loads, ns, pes, pes_per_node) {
        Some(gain) => Tried::Saves(gain.sentence(of_what, had)),
        // PEs may have been busy all the same, with what is no load: objects that wait for a disk.
        None if (most(&loads) as f64) < BUSY_LEAST * ns as f64 => Tried::Not,
        None => Tried::InVain,
    }
}

/// What each PE has to do.
fn of_pes(loads: &[Load]) -> BTreeMap<u32, u64> {
    let mut of_pes = BTreeMap::<u32, u64>::new();
    for load in loads {
        let ns = of_pes.entry(load.pe).or_default();
        *ns = ns.saturating_add(load.ns);
    }
    of_pes
}

fn busiest(loads: &[Load]) -> u32 {
    of_pes(loads).into_iter().max_by_key(|(_, ns)| *ns).map_or(0, |(pe, _)| pe)
}

fn most(loads: &[Load]) -> u64 {
    of_pes(loads).into_values().max().unwrap_or(0)
}

fn snapshot(loads: &[Load], pes: u32, pes_per_node: u32) -> Snapshot {
    let each = pes_per_node.max(1);
    let pe = |pe: u32| Pe { node: pe / each, speed: 1.0, background: 0.0, available: true };
    let node = |_| Node { host: 0, memory: None };
    let object = |(number, load): (u64, &Load)| Object {
        key: Key { collection: 0, index: number.into() },
        load: load.ns as f64 / 1e9,
        bytes: 0,
        pe: load.pe,
        migratable: load.can_move,
        position: None,
    };
    Snapshot {
        pes: (0..pes).map(pe).collect(),
        nodes: (0..pes.div_ceil(each)).map(node).collect(),
        objects: (0..).zip(loads).map(object).collect(),
        edges: Vec::new(),
    }
}

/// What a strategy makes of it; none if that could not be carried out.
fn planned(name: &str, snapshot: &Snapshot) -> Option<(Quality, Plan)> {
    let Ok(Choice::Central(mut strategy)) = by_name(name) else { return None };
    let plan = strategy.plan(snapshot);
    plan.check(snapshot).ok()?;
    Some((Quality::of(snapshot, &plan), plan))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// So many objects of a tenth of a second on each PE.
    fn loads(objects: &[u32], can_move: bool) -> Vec<Load> {
        let load = |pe| Load { pe, ns: SECOND / 10, can_move, objects: 1 };
        (0..).zip(objects).flat_map(|(pe, count)| (0..*count).map(move |_| load(pe))).collect()
    }

    fn gain(objects: &[u32], can_move: bool) -> Option<Gain> {
        Gain::of(&loads(objects, can_move), SECOND, objects.len() as u64, 1)
    }

    #[test]
    fn the_strategies_tell_what_they_would_have_saved() {
        let gain = gain(&[10, 4, 4, 6], true).unwrap();
        assert_eq!((gain.busiest, gain.strategy, gain.moves), (0, "greedy-refine", 4));
        assert!((gain.busy - 1.0).abs() < 1e-9 && (gain.average - 0.6).abs() < 1e-9);
        assert!((gain.saves - 0.4).abs() < 1e-9, "{gain:?}");
        assert_eq!(
            gain.sentence("of step 7", None),
            "PE 0 was busy for 100 % of the time, a PE on average for 60 %: --balancer greedy-refine would have \
             saved 40 % of step 7, by 4 moves"
        );
        let again = gain.sentence("of the job", Some("greedy-refine"));
        assert!(
            again.contains(": another step of --balancer greedy-refine (--lb-every) would have saved"),
            "{again}"
        );
        assert!(gain.sentence("of the job", Some("rotate")).contains(": --balancer greedy-refine would"));
    }

    #[test]
    fn nothing_is_said_where_nothing_can_be_saved() {
        assert_eq!(gain(&[8, 8, 8, 8], true), None, "it is balanced");
        assert_eq!(gain(&[10, 4, 4, 6], false), None, "nothing can be moved");
        assert_eq!(gain(&[4, 0, 0, 0], true), None, "nobody waits for a PE that has little to do");
        assert_eq!(gain(&[10], true), None, "there is one PE");
        assert_eq!(gain(&[], true), None);
    }

    /// PEs with so many objects of a tenth of a second each, in two seconds.
    fn ended(objects: &[u32], can_move: bool) -> Vec<PeLoads> {
        let load = talisman_job::loads::Load { objects: 3, ns: SECOND / 10, can_move };
        let of =
            |(pe, count): (u32, &u32)| PeLoads { pe, ns: 2 * SECOND, loads: vec![load; *count as usize] };
        (0..).zip(objects).map(of).collect()
    }

    #[test]
    fn at_the_end_of_a_job_its_pes_tell_what_their_objects_had_to_do() {
        let uneven = ended(&[18, 2], true);
        let Tried::Saves(said) = at_end(&uneven, 2, 1, false, None) else { panic!("it can be balanced") };
        assert_eq!(
            said,
            "PE 0 was busy for 90 % of the time, a PE on average for 50 %: --balancer greedy-refine would have saved \
             40 % of the job, by 24 moves"
        );
        let Tried::Saves(said) = at_end(&uneven, 2, 1, true, Some("rotate")) else { panic!("it can be") };
        assert!(said.contains("40 % of the time since the last balancing step, by 24 moves"), "{said}");
        assert_eq!(at_end(&ended(&[18, 2], false), 2, 1, false, None), Tried::InVain);
        assert_eq!(
            at_end(&ended(&[4, 0], true), 2, 1, false, None),
            Tried::Not,
            "most is no load of objects"
        );
        assert_eq!(at_end(&uneven, 3, 1, false, None), Tried::Not, "a PE has not told");
        let short: Vec<PeLoads> = uneven.into_iter().map(|of| PeLoads { ns: SECOND / 2, ..of }).collect();
        assert_eq!(at_end(&short, 2, 1, false, None), Tried::Not);
    }
}
