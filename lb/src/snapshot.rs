//! What is known of a job's load: its PEs, its objects, and who talks with whom.

use talisman_pup::Pup;

/// The name of an object: its collection, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Pup)]
pub struct Key {
    /// Of the collection.
    pub collection: u64,
    /// In the collection.
    pub index: u128,
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
