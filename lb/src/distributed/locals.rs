//! What every PE knows of a snapshot.

use crate::member::Local;
use crate::snapshot::{Edge, Key, Node, Object, Snapshot};

/// A snapshot, taken apart by PEs.
pub(crate) struct Locals<'a> {
    snapshot: &'a Snapshot,
    /// Numbers of objects, by PE, and of a PE in order.
    numbers: Vec<u32>,
    /// By PE: where its objects begin in `numbers`; then the end of all.
    starts: Vec<usize>,
}

impl<'a> Locals<'a> {
    /// Objects on PEs that are not in the snapshot are left out.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        let mut starts = vec![0; snapshot.pes.len() + 1];
        let placed = |object: &&Object| (object.pe as usize) < snapshot.pes.len();
        for object in snapshot.objects.iter().filter(placed) {
            starts[object.pe as usize + 1] += 1;
        }
        for pe in 1..starts.len() {
            starts[pe] += starts[pe - 1];
        }
        let mut numbers = vec![0; starts[snapshot.pes.len()]];
        let mut next = starts.clone();
        for (number, object) in snapshot.objects.iter().enumerate().filter(|(_, object)| placed(object)) {
            numbers[next[object.pe as usize]] = number as u32;
            next[object.pe as usize] += 1;
        }
        Locals { snapshot, numbers, starts }
    }

    /// What a PE knows; of messages only if they are wanted.
    pub fn local(&self, pe: u32, edges: bool) -> Local {
        let measured = self.snapshot.pes[pe as usize];
        let node = self.snapshot.nodes.get(measured.node as usize).copied();
        let (edges, peers) = if edges { self.edges(pe) } else { Default::default() };
        Local {
            number: pe,
            pe: measured,
            node: node.unwrap_or(Node { host: 0, memory: None }),
            pes: self.snapshot.pes.len() as u32,
            objects: self.objects(pe).map(|(_, object)| *object).collect(),
            edges,
            peers,
        }
    }

    /// The number of an object that is on a PE.
    pub fn number(&self, pe: u32, key: &Key) -> Option<u32> {
        let here = self.here(pe);
        let at = here.binary_search_by_key(key, |number| self.snapshot.objects[*number as usize].key).ok()?;
        Some(here[at])
    }

    fn here(&self, pe: u32) -> &[u32] {
        &self.numbers[self.starts[pe as usize]..self.starts[pe as usize + 1]]
    }

    fn objects(&self, pe: u32) -> impl Iterator<Item = (u32, &Object)> {
        self.here(pe).iter().map(|number| (*number, &self.snapshot.objects[*number as usize]))
    }

    fn edges(&self, pe: u32) -> (Vec<Edge>, Vec<Key>) {
        let key = |edge: &Edge| self.snapshot.objects.get(edge.to as usize).map(|object| object.key);
        let mut peers: Vec<Key> =
            self.objects(pe).flat_map(|(number, _)| self.sent(number)).filter_map(key).collect();
        peers.sort_unstable();
        peers.dedup();
        let mut edges = Vec::new();
        for (from, (number, _)) in (0..).zip(self.objects(pe)) {
            let local = |edge: &Edge| peers.binary_search(&key(edge)?).ok();
            edges.extend(
                self.sent(number)
                    .iter()
                    .filter_map(|edge| Some(Edge { from, to: local(edge)? as u32, ..*edge })),
            );
        }
        (edges, peers)
    }

    fn sent(&self, number: u32) -> &[Edge] {
        let edges = &self.snapshot.edges;
        let start = edges.partition_point(|edge| edge.from < number);
        &edges[start..start + edges[start..].partition_point(|edge| edge.from == number)]
    }
}
