//! An image of a node: all that it is to be restored from.

use std::collections::{BTreeMap, VecDeque};

use talisman_ft::NodeId;
use talisman_ft::logging::{Lane, Output, Position, Retained};

use crate::program::{Message, PeState};

/// The rings between the PEs of a node, by the ranks of sender and receiver.
pub type Rings = BTreeMap<(u32, u32), VecDeque<Message>>;

#[derive(Clone, Debug)]
pub struct Image {
    pub of: NodeId,
    pub position: Position,
    pub pes: Vec<PeState>,
    pub rings: Rings,
    pub retained: BTreeMap<Lane, Retained<Message>>,
    pub output: Vec<Output<u64>>,
}
