//! How good a plan is, as far as a snapshot tells.

use crate::ideal;
use crate::plan::Plan;
use crate::snapshot::Snapshot;

/// What a period like the measured one would be after a plan, and what the plan costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Seconds that the PE with the most to do is busy, its background included.
    pub max: f64,
    /// Seconds that every PE would be busy if everything were spread by their speeds, background included. No plan changes it.
    pub average: f64,
    /// The least that [`max`](Self::max) could be if what may move could be divided at will: [`ideal::level`], or what a PE
    /// must do anyway.
    pub ideal: f64,
    /// Bytes between objects on different PEs.
    pub external_bytes: f64,
    /// Bytes between objects on different nodes.
    pub bytes_between_nodes: f64,
    /// Bytes between objects on different hosts.
    pub bytes_between_hosts: f64,
    /// Objects that move.
    pub moves: u64,
    /// Of these, to another node.
    pub moves_between_nodes: u64,
    /// Of these, to another host.
    pub moves_between_hosts: u64,
    /// Bytes of the objects that move, packed.
    pub bytes_moved: u64,
    /// Nodes that hold more than they may.
    pub nodes_exceeded: u64,
}

impl Quality {
    /// Of a plan that makes sense for a snapshot; of what does not, as much as there is.
    pub fn of(snapshot: &Snapshot, plan: &Plan) -> Self {
        let places = plan.places(snapshot);
        let mut quality = Quality::default();
        quality.add_times(snapshot, &places);
        quality.add_edges(snapshot, &places);
        quality.add_moves(snapshot, &places);
        quality.nodes_exceeded = nodes_exceeded(snapshot, &places);
        quality
    }

    /// How much longer the PE with the most to do is busy than the average; 1 if nobody has anything to do.
    pub fn ratio(&self) -> f64 {
        if self.average > 0.0 { self.max / self.average } else { 1.0 }
    }

    /// How much longer the period takes than the best that could be; 1 if nobody has anything to do.
    pub fn over_ideal(&self) -> f64 {
        if self.ideal > 0.0 { self.max / self.ideal } else { 1.0 }
    }

    fn add_times(&mut self, snapshot: &Snapshot, places: &[u32]) {
        let (mut stay, mut all) = (vec![0.0; snapshot.pes.len()], vec![0.0; snapshot.pes.len()]);
        for (object, &place) in snapshot.objects.iter().zip(places) {
            if let Some(work) = all.get_mut(place as usize) {
                *work += object.work();
                stay[place as usize] += if object.migratable { 0.0 } else { object.work() };
            }
        }
        let (mut work_total, mut rates) = (0.0, 0.0);
        for ((pe, &work), stay) in snapshot.pes.iter().zip(&all).zip(stay) {
            work_total += work;
            if pe.available {
                work_total += pe.busy() * pe.rate();
                rates += pe.rate();
            }
            if pe.available || work > 0.0 {
                self.max = self.max.max(pe.busy() + work / pe.rate());
                self.ideal = self.ideal.max(pe.busy() + stay / pe.rate());
            }
        }
        self.average = if rates > 0.0 { work_total / rates } else { self.max };
        self.ideal = self.ideal.max(ideal::level(snapshot));
    }

    fn add_edges(&mut self, snapshot: &Snapshot, places: &[u32]) {
        for edge in &snapshot.edges {
            let ends = [edge.from, edge.to].map(|end| places.get(end as usize).copied());
            let [Some(from), Some(to)] = ends else { continue };
            let apart = Apart::of(snapshot, from, to);
            self.external_bytes += if apart.pes { edge.volume() } else { 0.0 };
            self.bytes_between_nodes += if apart.nodes { edge.volume() } else { 0.0 };
            self.bytes_between_hosts += if apart.hosts { edge.volume() } else { 0.0 };
        }
    }

    fn add_moves(&mut self, snapshot: &Snapshot, places: &[u32]) {
        for (object, &place) in
            snapshot.objects.iter().zip(places).filter(|(object, place)| object.pe != **place)
        {
            let apart = Apart::of(snapshot, object.pe, place);
            self.moves += 1;
            self.moves_between_nodes += u64::from(apart.nodes);
            self.moves_between_hosts += u64::from(apart.hosts);
            self.bytes_moved = self.bytes_moved.saturating_add(object.bytes);
        }
    }
}

/// How far apart two PEs are.
struct Apart {
    pes: bool,
    nodes: bool,
    hosts: bool,
}

impl Apart {
    #[inline]
    fn of(snapshot: &Snapshot, a: u32, b: u32) -> Self {
        let node = |pe: u32| snapshot.pes.get(pe as usize).map(|pe| pe.node);
        let pes = a != b;
        let nodes = pes && node(a) != node(b);
        Apart { pes, nodes, hosts: nodes && snapshot.host(a) != snapshot.host(b) }
    }
}

fn nodes_exceeded(snapshot: &Snapshot, places: &[u32]) -> u64 {
    let mut held = vec![0u128; snapshot.nodes.len()];
    for (object, &place) in snapshot.objects.iter().zip(places) {
        let node = snapshot.pes.get(place as usize).map(|pe| pe.node as usize);
        if let Some(held) = node.and_then(|node| held.get_mut(node)) {
            *held += u128::from(object.bytes);
        }
    }
    let limits = snapshot.nodes.iter().map(|node| node.memory.map_or(u128::MAX, u128::from));
    held.iter().zip(limits).filter(|(held, limit)| *held > limit).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Move;
    use crate::snapshot::Edge;
    use crate::snapshot::tests::line;

    /// Three PEs on two nodes and hosts: 0 and 1, and 2.
    fn snapshot() -> Snapshot {
        let mut snapshot = line(3, &[(0, 4.0), (0, 2.0), (2, 3.0)]);
        snapshot.pes[1].node = 0;
        let edge = |from, to, bytes| Edge { from, to, messages: 1.0, bytes };
        snapshot.edges = vec![edge(0, 1, 100.0), edge(1, 2, 10.0), edge(2, 2, 1.0), edge(2, 0, f32::NAN)];
        snapshot
    }

    #[test]
    fn nothing_moves() {
        let quality = Quality::of(&snapshot(), &Plan::default());
        assert_eq!((quality.max, quality.average, quality.ideal, quality.ratio()), (6.0, 3.0, 3.0, 2.0));
        assert_eq!((quality.external_bytes, quality.bytes_between_nodes, quality.moves), (10.0, 10.0, 0));
    }

    #[test]
    fn a_move_is_counted_by_how_far_it_goes() {
        let mut snapshot = snapshot();
        let of =
            |snapshot: &Snapshot, to| Quality::of(snapshot, &Plan { moves: vec![Move { object: 1, to }] });
        let near = of(&snapshot, 1);
        assert_eq!((near.max, near.external_bytes, near.bytes_between_nodes), (4.0, 110.0, 10.0));
        assert_eq!((near.moves, near.moves_between_nodes, near.bytes_moved), (1, 0, 10));
        let far = of(&snapshot, 2);
        assert_eq!((far.max, far.bytes_between_hosts, far.moves_between_hosts), (5.0, 100.0, 1));
        snapshot.nodes[2].host = 0;
        assert_eq!(
            (of(&snapshot, 2).bytes_between_nodes, of(&snapshot, 2).bytes_between_hosts),
            (100.0, 0.0)
        );
        assert_eq!(far.nodes_exceeded, 0);
        snapshot.nodes[2].memory = Some(19);
        assert_eq!((of(&snapshot, 2).nodes_exceeded, of(&snapshot, 1).nodes_exceeded), (1, 0));
    }

    #[test]
    fn speed_and_background_count() {
        let mut snapshot = snapshot();
        snapshot.pes[0].speed = 2.0;
        snapshot.pes[1].background = 5.0;
        snapshot.objects[2].migratable = false;
        let quality = Quality::of(&snapshot, &Plan::default());
        // 9 seconds of work and 5 of background, at a rate of 4; PE 1 is busy for 5 whatever is decided.
        assert_eq!((quality.max, quality.average, quality.ideal), (5.0, 3.5, 5.0));
    }

    #[test]
    fn of_nothing_everything_is_fine() {
        assert_eq!(Quality::of(&line(0, &[(0, 1.0)]), &Plan::default()).ratio(), 1.0);
        assert_eq!(Quality::of(&line(2, &[]), &Plan::default()).over_ideal(), 1.0);
    }
}
