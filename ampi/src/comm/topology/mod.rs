//! Virtual topologies (MPI-3.1, chapter 7).

mod cartesian;
mod dims;
mod graph;

use talisman_pup::Pup;

pub use cartesian::Cartesian;
pub use dims::{DimsError, dims_create};
pub use graph::{Adjacent, Graph};

/// How the members of a communicator are related.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub enum Topology {
    /// A grid.
    Cartesian(Cartesian),
    /// A graph that all members know.
    Graph(Graph),
    /// A graph of which each member knows its own edges.
    Adjacent(Adjacent),
}

/// Whom a member receives from and sends to, in the order of blocks in the buffers of neighbourhood collectives; none
/// where a grid ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbors {
    /// Whom it receives from.
    pub sources: Vec<Option<u32>>,
    /// Whom it sends to.
    pub destinations: Vec<Option<u32>>,
    /// The order in which blocks are sent. Of several edges to one member the first that is sent on is the first that
    /// it receives on.
    pub sending: Vec<usize>,
}

impl Topology {
    /// The neighbours of a member.
    pub fn neighbors(&self, member: u32) -> Neighbors {
        match self {
            Topology::Cartesian(grid) => grid.neighbors(member),
            Topology::Graph(graph) => {
                let all: Vec<_> = graph.neighbors(member).iter().copied().map(Some).collect();
                Neighbors { sending: (0..all.len()).collect(), sources: all.clone(), destinations: all }
            }
            Topology::Adjacent(own) => Neighbors {
                sources: own.sources.iter().copied().map(Some).collect(),
                destinations: own.destinations.iter().copied().map(Some).collect(),
                sending: (0..own.destinations.len()).collect(),
            },
        }
    }
}
