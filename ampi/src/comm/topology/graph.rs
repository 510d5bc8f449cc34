//! Graphs.

use talisman_pup::Pup;

/// A graph that all members know (`MPI_Graph_create`).
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Graph {
    neighbors: Vec<Vec<u32>>,
}

impl Graph {
    /// From MPI's lists: `index[i]` is the number of neighbours of all up to member i. `None` if they do not fit each
    /// other.
    pub fn new(index: &[u32], edges: &[u32]) -> Option<Graph> {
        let mut first = 0;
        let mut neighbors = Vec::with_capacity(index.len());
        for last in index {
            neighbors.push(edges.get(first..*last as usize)?.to_vec());
            first = *last as usize;
        }
        let known = |edge: &u32| (*edge as usize) < index.len();
        (first == edges.len() && edges.iter().all(known)).then_some(Graph { neighbors })
    }

    /// How many members it is for.
    pub fn size(&self) -> u32 {
        self.neighbors.len() as u32
    }

    /// The neighbours of a member.
    pub fn neighbors(&self, member: u32) -> &[u32] {
        self.neighbors.get(member as usize).map_or(&[], Vec::as_slice)
    }
}

/// One member's edges of a graph (`MPI_Dist_graph_create_adjacent`). Weights say how much is sent; none if they were
/// not given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Adjacent {
    /// Whom it receives from.
    pub sources: Vec<u32>,
    /// Of the edges from them.
    pub source_weights: Option<Vec<u32>>,
    /// Whom it sends to.
    pub destinations: Vec<u32>,
    /// Of the edges to them.
    pub destination_weights: Option<Vec<u32>>,
}

impl Adjacent {
    /// A member's edges of those that all members have told of, in the order of the tellers
    /// (`MPI_Dist_graph_create`): from, to and weight.
    pub fn of(member: u32, edges: &[(u32, u32, u32)]) -> Adjacent {
        let (ins, outs): (Vec<_>, Vec<_>) = (
            edges.iter().filter(|edge| edge.1 == member).collect(),
            edges.iter().filter(|edge| edge.0 == member).collect(),
        );
        Adjacent {
            sources: ins.iter().map(|edge| edge.0).collect(),
            source_weights: Some(ins.iter().map(|edge| edge.2).collect()),
            destinations: outs.iter().map(|edge| edge.1).collect(),
            destination_weights: Some(outs.iter().map(|edge| edge.2).collect()),
        }
    }
}
