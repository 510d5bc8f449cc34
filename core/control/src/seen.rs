//! What nodes have said of themselves to those who look at the job, and how fast it goes by that.
//!
//! Pure: figures and the time go in. Of each node the last two figures are kept, whose differences are rates and loads.

use std::collections::VecDeque;
use std::time::Duration;

use talisman_job::report::MessageCounts;
use talisman_job::snapshot::figures::{CHARES_MOST, NodeFigures, PeFigures, most_frequent};
use talisman_job::snapshot::{PAST_MOST, Pe, Point, Rates, Snapshot};
use talisman_job::{BalancingStep, CheckpointTaken};

/// What has been seen of all nodes.
#[derive(Default)]
pub struct Seen {
    nodes: Vec<SeenNode>,
    past: VecDeque<Point>,
    /// The newest version that was committed, how many were, and when.
    committed: Option<(u64, u64, Duration)>,
    /// Steps that were done, and when that was seen: at the look before this one, and now.
    steps: [Option<(Duration, u64)>; 2],
}

#[derive(Default)]
struct SeenNode {
    awaited: bool,
    before: Option<NodeFigures>,
    now: Option<NodeFigures>,
}

impl Seen {
    /// Somebody looks at a job of so many numbers, of which these nodes can answer, and which has come so far.
    pub fn look(&mut self, now: Duration, nodes: u32, there: &[u32], steps: u64) {
        self.nodes.resize_with(nodes as usize, SeenNode::default);
        for (number, node) in (0..).zip(&mut self.nodes) {
            node.awaited = there.contains(&number);
            if !node.awaited {
                *node = SeenNode::default();
            }
        }
        self.steps = [self.steps[1], Some((now, steps))];
    }

    /// A node of so many PEs has answered.
    pub fn on_figures(&mut self, node: u32, pes: u32, mut figures: NodeFigures) {
        let Some(seen) = self.nodes.get_mut(node as usize) else { return };
        figures.pes.truncate(pes as usize);
        figures.pes.iter_mut().for_each(|pe| pe.objects.truncate(CHARES_MOST));
        seen.awaited = false;
        seen.before = seen.now.replace(figures);
    }

    /// Whether all have answered who were asked.
    pub fn is_complete(&self) -> bool {
        self.nodes.iter().all(|node| !node.awaited)
    }

    /// A version is committed, as one of the nodes says.
    pub fn on_committed(&mut self, now: Duration, version: u64) {
        match &mut self.committed {
            Some((newest, count, at)) if version > *newest => {
                (*newest, *count, *at) = (version, *count + 1, now)
            }
            Some(_) => {}
            none => *none = Some((version, 1, now)),
        }
    }

    /// How many versions were committed, and when the last was.
    pub fn committed(&self) -> Option<(u64, Duration)> {
        self.committed.map(|(_, count, at)| (count, at))
    }

    /// What is known of a node, into its place in a snapshot; of a job that goes on, or not.
    pub fn pes_of(&self, node: u32, pes: u32, is_running: bool) -> (u64, Vec<Pe>) {
        let Some(SeenNode { before, now: Some(now), .. }) = self.nodes.get(node as usize) else {
            return (0, Vec::new());
        };
        let before = |rank: usize| before.as_ref().and_then(|before| before.pes.get(rank));
        let pe = |(rank, figures): (usize, &PeFigures)| {
            let span = Span::of(before(rank), figures);
            Pe {
                pe: node * pes + rank as u32,
                load: span.load(figures).filter(|_| is_running),
                entries_per_s: span.rate(|figures| figures.entries),
                entries: figures.entries,
                idle_s: figures.idle_ns as f64 / 1e9,
                objects: figures.objects.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count)),
                waiting: figures.waiting,
            }
        };
        (now.memory, now.pes.iter().enumerate().map(pe).collect())
    }

    /// Objects of all nodes by chare.
    pub fn objects(&self) -> Vec<(String, u64)> {
        most_frequent(self.figures().flat_map(|figures| figures.objects.iter().cloned()))
    }

    /// Bytes kept for others on all nodes.
    pub fn kept(&self) -> u64 {
        self.figures().fold(0, |sum: u64, pe| sum.saturating_add(pe.kept))
    }

    /// Messages of all nodes so far.
    pub fn messages(&self) -> MessageCounts {
        let sum = |of: fn(&PeFigures) -> u64| self.figures().map(of).fold(0, u64::saturating_add);
        let (between_pes, between_nodes) = (sum(|pe| pe.between_pes), sum(|pe| pe.between_nodes));
        let entries = sum(|pe| pe.entries);
        MessageCounts {
            local: entries.saturating_sub(between_pes).saturating_sub(between_nodes),
            between_pes,
            between_nodes,
            bytes_between_nodes: sum(|pe| pe.bytes_between_nodes),
        }
    }

    /// What all nodes do in a second.
    pub fn rates(&self) -> Rates {
        let mut rates = Rates::default();
        for node in &self.nodes {
            let (Some(before), Some(now)) = (&node.before, &node.now) else { continue };
            for (before, now) in before.pes.iter().zip(&now.pes) {
                let span = Span::of(Some(before), now);
                rates.entries += span.rate(|pe| pe.entries);
                rates.between_pes += span.rate(|pe| pe.between_pes);
                rates.between_nodes += span.rate(|pe| pe.between_nodes);
                rates.bytes_between_nodes += span.rate(|pe| pe.bytes_between_nodes);
            }
        }
        rates
    }

    /// Steps in a second lately.
    pub fn steps_per_s(&self) -> Option<f64> {
        let [Some((before, earlier)), Some((now, later))] = self.steps else { return None };
        let elapsed = now.checked_sub(before)?.as_secs_f64();
        (elapsed > 0.0 && later >= earlier).then(|| (later - earlier) as f64 / elapsed)
    }

    /// The last checkpoint that any node knows of, and how many one knows at most.
    pub fn checkpoint(&self) -> (u64, Option<CheckpointTaken>) {
        let known = self.nodes.iter().filter_map(|node| node.now.as_ref());
        let newest =
            known.clone().filter_map(|node| node.checkpoint.as_ref()).max_by_key(|taken| taken.version);
        (known.map(|node| node.checkpoints).max().unwrap_or(0), newest.cloned())
    }

    /// Balancing steps of all nodes, and the last.
    pub fn balanced(&self) -> (u64, Option<BalancingStep>) {
        let known = self.nodes.iter().filter_map(|node| node.now.as_ref());
        let steps = known.clone().filter_map(|node| node.balanced.as_ref());
        let last = steps.max_by(|one, other| one.at_s.total_cmp(&other.at_s));
        (known.fold(0, |sum: u64, node| sum.saturating_add(node.balancing)), last.cloned())
    }

    /// Keeps this moment, and gives all that are kept.
    pub fn remember(&mut self, snapshot: &Snapshot) -> Vec<Point> {
        let loads: Vec<f64> = snapshot.pes().filter_map(|pe| pe.load).collect();
        if !loads.is_empty() {
            let point = Point {
                at_s: snapshot.at_s,
                load_max: loads.iter().copied().fold(0.0, f64::max),
                load: loads.iter().sum::<f64>() / loads.len() as f64,
                entries_per_s: snapshot.rates.entries,
                memory: snapshot.memory,
            };
            if self.past.len() == PAST_MOST {
                self.past.pop_front();
            }
            self.past.push_back(point);
        }
        self.past.iter().copied().collect()
    }

    fn figures(&self) -> impl Iterator<Item = &PeFigures> {
        self.nodes.iter().filter_map(|node| node.now.as_ref()).flat_map(|node| &node.pes)
    }
}

/// What a PE did from one look to the next.
struct Span<'a> {
    /// None if it has begun anew since.
    before: Option<&'a PeFigures>,
    now: &'a PeFigures,
    elapsed_s: f64,
}

impl<'a> Span<'a> {
    fn of(before: Option<&'a PeFigures>, now: &'a PeFigures) -> Self {
        let before = before.filter(|before| before.entries <= now.entries && before.idle_ns <= now.idle_ns);
        let since = before.map_or(0, |before| before.at_ns);
        Span { before, now, elapsed_s: now.at_ns.saturating_sub(since) as f64 / 1e9 }
    }

    fn rate(&self, of: fn(&PeFigures) -> u64) -> f64 {
        let before = self.before.map_or(0, of);
        let more = of(self.now).saturating_sub(before) as f64;
        // A PE that began anew has counted since then, and not since the job began.
        if self.before.is_some() && self.elapsed_s > 0.0 { more / self.elapsed_s } else { 0.0 }
    }

    /// A PE that has not answered from one look to the next is within an entry.
    fn load(&self, figures: &PeFigures) -> Option<f64> {
        if !figures.is_new && self.before.is_some() && self.elapsed_s == 0.0 {
            return Some(1.0);
        }
        let idle_ns = figures.idle_ns - self.before.map_or(0, |before| before.idle_ns);
        let idle = idle_ns as f64 / 1e9 / self.elapsed_s;
        (self.before.is_some() && self.elapsed_s > 0.0).then(|| (1.0 - idle).clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(at_s: u64, entries: u64, idle_s: u64) -> NodeFigures {
        let (at_ns, idle_ns) = (at_s * 1_000_000_000, idle_s * 1_000_000_000);
        let objects = vec![("Cell".to_owned(), 4)];
        let pe = PeFigures {
            at_ns,
            is_new: true,
            entries,
            idle_ns,
            between_pes: 10,
            objects,
            ..PeFigures::default()
        };
        NodeFigures { pes: vec![pe], memory: 100, ..NodeFigures::default() }
    }

    fn load(seen: &Seen) -> Option<f64> {
        seen.pes_of(0, 1, true).1[0].load
    }

    #[test]
    fn loads_and_rates_are_of_the_time_between_two_looks() {
        let mut seen = Seen::default();
        seen.look(Duration::from_secs(10), 2, &[0], 100);
        assert!(!seen.is_complete());
        seen.on_figures(0, 1, figures(10, 1000, 5));
        assert!(seen.is_complete() && load(&seen).is_none());
        seen.look(Duration::from_secs(14), 2, &[0], 140);
        seen.on_figures(0, 1, figures(14, 3000, 6));
        let (memory, pes) = seen.pes_of(0, 1, true);
        assert_eq!((memory, pes[0].load, pes[0].entries_per_s, pes[0].objects), (100, Some(0.75), 500.0, 4));
        assert_eq!((seen.rates().entries, seen.rates().between_pes), (500.0, 0.0));
        assert_eq!((seen.steps_per_s(), seen.messages().local), (Some(10.0), 2990));
        assert_eq!(seen.objects(), [("Cell".to_owned(), 4)]);
        assert_eq!(seen.pes_of(0, 1, false).1[0].load, None, "nobody computes while all go back");
        assert!(seen.pes_of(1, 1, true).1.is_empty() && seen.pes_of(9, 1, true).1.is_empty());
    }

    #[test]
    fn a_pe_that_does_not_answer_is_busy_and_one_that_begins_anew_is_not_taken_for_the_former() {
        let mut seen = Seen::default();
        let look = |seen: &mut Seen, figures| {
            seen.look(Duration::from_secs(1), 1, &[0], 0);
            seen.on_figures(0, 1, figures);
        };
        look(&mut seen, figures(10, 1000, 5));
        let mut within_entry = figures(10, 1000, 5);
        within_entry.pes[0].is_new = false;
        look(&mut seen, within_entry);
        assert_eq!(load(&seen), Some(1.0));
        let mut late = figures(14, 1000, 7);
        late.pes[0].is_new = false;
        look(&mut seen, late);
        assert_eq!(load(&seen), Some(0.5), "it had answered a little later");
        look(&mut seen, figures(12, 50, 1));
        assert_eq!((load(&seen), seen.rates().entries), (None, 0.0));
        look(&mut seen, figures(14, 60, 2));
        assert_eq!((load(&seen), seen.rates().entries), (Some(0.5), 5.0));
        // It was lost.
        seen.look(Duration::from_secs(2), 1, &[], 0);
        assert!(seen.pes_of(0, 1, true).1.is_empty() && seen.is_complete());
    }

    #[test]
    fn what_strangers_say_has_bounds() {
        let mut seen = Seen::default();
        seen.look(Duration::ZERO, 1, &[0], 0);
        seen.on_figures(7, 1, figures(1, 1, 1));
        let mut many = figures(1, 1, 1);
        many.pes[0].objects = vec![("x".to_owned(), u64::MAX); 100];
        many.pes = vec![many.pes[0].clone(); 100];
        seen.on_figures(0, 2, many);
        assert_eq!((seen.pes_of(0, 2, true).1.len(), seen.objects().len()), (2, 1));
        for number in 0..2 * PAST_MOST as u64 {
            let pes = vec![Pe { load: Some(0.5), ..Pe::default() }];
            let nodes = vec![talisman_job::snapshot::Node { pes, ..Default::default() }];
            seen.remember(&Snapshot { at_s: number as f64, nodes, ..Snapshot::default() });
        }
        let past = seen.remember(&Snapshot::default());
        assert_eq!(
            (past.len(), past.last().map(|point| point.at_s)),
            (PAST_MOST, Some(2.0 * PAST_MOST as f64 - 1.0))
        );
    }

    #[test]
    fn versions_count_once() {
        let mut seen = Seen::default();
        assert_eq!(seen.committed(), None);
        for (at, version) in [(1, 3), (2, 3), (3, 4), (4, 2)] {
            seen.on_committed(Duration::from_secs(at), version);
        }
        assert_eq!(seen.committed(), Some((2, Duration::from_secs(3))));
    }
}
