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
