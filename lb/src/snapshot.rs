//! What is known of a job's load: its PEs, its objects, and who talks with whom.

use std::fmt;
use talisman_pup::Pup;

/// The name of an object: its collection, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Pup)]
pub struct Key {
    /// Of the collection.
    pub collection: u64,
    /// In the collection.
    pub index: u128,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object {} of collection {}", self.index, self.collection)
    }
}

/// An object, as measured.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub struct Object {
    /// Which.
    pub key: Key,
    /// Seconds of a processor of speed 1 that its entries took in the period, or what the program says instead.
    pub load: f64,
    /// Bytes that it takes when packed.
    pub bytes: u64,
    /// The PE it is on.
    pub pe: u32,
    /// Whether it may be moved.
    pub migratable: bool,
    /// Where it is in the program's space, if it has a place there.
    pub position: Option<[f32; 3]>,
}

impl Object {
    /// Its load for those who calculate with it: never negative, and never so odd that a sum is spoilt by it. What is no number
    /// counts as nothing.
    #[inline]
    pub fn work(&self) -> f64 {
        sane_seconds(self.load)
    }
}

/// Messages from one object to another, as measured.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub struct Edge {
    /// Who sends, by its number in the snapshot.
    pub from: u32,
    /// Who receives.
    pub to: u32,
    /// Messages in the period.
    pub messages: f32,
    /// Bytes in the period.
    pub bytes: f32,
}

impl Edge {
    /// Its bytes for those who calculate with them: never negative. What is no number counts as nothing.
    #[inline]
    pub fn volume(&self) -> f64 {
        match self.bytes > 0.0 && self.bytes.is_finite() {
            true => f64::from(self.bytes),
            false => 0.0,
        }
    }
}

/// A PE, as measured.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub struct Pe {
    /// The node it belongs to.
    pub node: u32,
    /// What its core does in a second, where 1 is usual. An object takes `load / speed` seconds on it.
    pub speed: f64,
    /// Seconds of the period in which others had its core: other processes, the runtime itself, objects that are not counted.
    pub background: f64,
    /// Whether objects may be put there. From one that is not, all go that may.
    pub available: bool,
}

impl Pe {
    /// Its speed for those who calculate with it: never so small or large that times are spoilt by it. What is no speed counts
    /// as the usual one.
    #[inline]
    pub fn rate(&self) -> f64 {
        match self.speed > 0.0 && self.speed.is_finite() {
            true => self.speed.clamp(1e-6, 1e6),
            false => 1.0,
        }
    }

    /// Its background for those who calculate with it: never negative, and never so odd that a sum is spoilt by it.
    #[inline]
    pub fn busy(&self) -> f64 {
        sane_seconds(self.background)
    }
}

/// At most some thirty thousand years, so that sums of them and their products with speeds stay numbers.
fn sane_seconds(seconds: f64) -> f64 {
    match seconds > 0.0 && seconds.is_finite() {
        true => seconds.min(1e12),
        false => 0.0,
    }
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Node {
    /// The host it is on.
    pub host: u32,
    /// Bytes that its objects may take in all; none: as many as there are.
    pub memory: Option<u64>,
}

/// All that is known when a step begins.
#[derive(Clone, Debug, Default, PartialEq, Pup)]
pub struct Snapshot {
    /// By number of the PE.
    pub pes: Vec<Pe>,
    /// By number of the node.
    pub nodes: Vec<Node>,
    /// In the order of their keys.
    pub objects: Vec<Object>,
    /// In the order of their senders. Empty if messages are not measured.
    pub edges: Vec<Edge>,
}

impl Snapshot {
    /// Whether its parts fit together, for snapshots that come from outside. Odd figures are no fault: [`Object::work`], [`Pe::rate`],
    /// [`Pe::busy`] and [`Edge::volume`] make something of each.
    ///
    /// # Errors
    /// The first thing that does not fit.
    pub fn check(&self) -> Result<(), Misfit> {
        for (what, count) in [("PEs", self.pes.len()), ("objects", self.objects.len())] {
            if count > u32::MAX as usize {
                return Err(Misfit::TooMany { what, count });
            }
        }
        self.check_pes()?;
        self.check_objects()?;
        self.check_edges()
    }

    fn check_pes(&self) -> Result<(), Misfit> {
        let nodes = self.nodes.len();
        match self.pes.iter().position(|pe| pe.node as usize >= nodes) {
            Some(pe) => Err(Misfit::Node { pe, node: self.pes[pe].node, nodes }),
            None => Ok(()),
        }
    }

    fn check_objects(&self) -> Result<(), Misfit> {
        let pes = self.pes.len();
        if let Some(object) = self.objects.iter().find(|object| object.pe as usize >= pes) {
            return Err(Misfit::Place { key: object.key, pe: object.pe, pes });
        }
        match self.objects.windows(2).find(|pair| pair[0].key >= pair[1].key) {
            Some(pair) => Err(Misfit::Order { key: pair[1].key, before: pair[0].key }),
            None => Ok(()),
        }
    }

    fn check_edges(&self) -> Result<(), Misfit> {
        let objects = self.objects.len();
        let unknown = |edge: &Edge| edge.from.max(edge.to) as usize >= objects;
        if let Some(edge) = self.edges.iter().position(unknown) {
            return Err(Misfit::End {
                edge,
                object: self.edges[edge].from.max(self.edges[edge].to),
                objects,
            });
        }
        match self.edges.windows(2).position(|pair| pair[0].from > pair[1].from) {
            Some(edge) => Err(Misfit::EdgeOrder { edge: edge + 1 }),
            None => Ok(()),
        }
    }

    /// Whether a PE is there and may be given objects.
    #[inline]
    pub fn takes(&self, pe: u32) -> bool {
        self.pes.get(pe as usize).is_some_and(|pe| pe.available)
    }

    /// PEs that may be given objects.
    pub fn available(&self) -> Vec<u32> {
        (0..).zip(&self.pes).filter(|(_, pe)| pe.available).map(|(number, _)| number).collect()
    }

    /// The host of a PE. What is not known is taken for the first.
    pub fn host(&self, pe: u32) -> u32 {
        let node = self.pes.get(pe as usize).map_or(0, |pe| pe.node);
        self.nodes.get(node as usize).map_or(0, |node| node.host)
    }
}

/// What does not fit together in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// More than can be numbered.
    #[error("the snapshot has {count} {what}, more than can be numbered")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// A node that is not there.
    #[error("PE {pe} of the snapshot belongs to node {node}; there are {nodes} nodes")]
    Node {
        /// The PE.
        pe: usize,
        /// What it says.
        node: u32,
        /// Nodes there are.
        nodes: usize,
    },
    /// A PE that is not there.
    #[error("{key} is on PE {pe} in the snapshot; there are {pes} PEs")]
    Place {
        /// The object.
        key: Key,
        /// What it says.
        pe: u32,
        /// PEs there are.
        pes: usize,
    },
    /// Objects out of order, or one twice.
    #[error("{key} comes after {before} in the snapshot; objects are in the order of their keys, each once")]
    Order {
        /// The later one.
        key: Key,
        /// The one before it.
        before: Key,
    },
    /// An object that is not there.
    #[error("edge {edge} of the snapshot has object number {object} at an end; there are {objects}")]
    End {
        /// The edge.
        edge: usize,
        /// What it says.
        object: u32,
        /// Objects there are.
        objects: usize,
    },
    /// Edges out of order.
    #[error("edge {edge} of the snapshot comes too late; edges are in the order of their senders")]
    EdgeOrder {
        /// The edge.
        edge: usize,
    },
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// PEs with a node and a host each, and objects of 10 bytes, given by PE and load.
    pub(crate) fn line(pes: u32, objects: &[(u32, f64)]) -> Snapshot {
        let pe = |node| Pe { node, speed: 1.0, background: 0.0, available: true };
        let object = |(index, &(pe, load))| {
            let key = Key { collection: 1, index };
            Object { key, load, bytes: 10, pe, migratable: true, position: None }
        };
        Snapshot {
            pes: (0..pes).map(pe).collect(),
            nodes: (0..pes).map(|host| Node { host, memory: None }).collect(),
            objects: (0..).zip(objects).map(object).collect(),
            edges: Vec::new(),
        }
    }

    #[test]
    fn what_does_not_fit_together_is_named() {
        let fit = line(3, &[(0, 1.0), (1, f64::NAN), (2, 1.0)]);
        let edge = |from, to| Edge { from, to, messages: 1.0, bytes: 1.0 };
        let said = |spoil: fn(&mut Snapshot)| {
            let mut snapshot = fit.clone();
            snapshot.edges = vec![edge(0, 1), edge(0, 2), edge(2, 0)];
            spoil(&mut snapshot);
            snapshot.check().map_err(|misfit| misfit.to_string())
        };
        assert_eq!(said(|_| ()), Ok(()));
        assert_eq!(
            said(|snapshot| snapshot.pes[1].node = 3).unwrap_err(),
            "PE 1 of the snapshot belongs to node 3; there are 3 nodes"
        );
        assert_eq!(
            said(|snapshot| snapshot.objects[2].pe = 9).unwrap_err(),
            "object 2 of collection 1 is on PE 9 in the snapshot; there are 3 PEs"
        );
        assert!(said(|snapshot| snapshot.objects[1].key.index = 0).unwrap_err().contains("each once"));
        assert!(
            said(|snapshot| snapshot.edges[1].to = 3)
                .unwrap_err()
                .starts_with("edge 1 of the snapshot has object")
        );
        assert!(
            said(|snapshot| snapshot.edges.swap(1, 2))
                .unwrap_err()
                .starts_with("edge 2 of the snapshot comes")
        );
    }

    #[test]
    fn odd_figures_are_calculated_with_as_harmless_ones() {
        let mut snapshot = line(1, &[(0, 1.0)]);
        let odd = [f64::NAN, f64::NEG_INFINITY, f64::INFINITY, -1.0, 0.0];
        for load in odd {
            snapshot.objects[0].load = load;
            snapshot.pes[0] = Pe { speed: load, background: load, ..snapshot.pes[0] };
            let (object, pe) = (&snapshot.objects[0], &snapshot.pes[0]);
            assert_eq!((object.work(), pe.rate(), pe.busy()), (0.0, 1.0, 0.0), "{load}");
        }
        snapshot.objects[0].load = 1e300;
        assert!((snapshot.objects[0].work() * 1e7 * 1e6).is_finite());
    }
}
