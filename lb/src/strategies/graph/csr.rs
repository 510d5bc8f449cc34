//! A graph with weights.

/// An undirected graph: what each vertex weighs, and its arcs. Each edge is two arcs, one at either end.
#[derive(Clone, Debug, Default)]
pub(in crate::strategies) struct Csr {
    /// By vertex. The sum is 2⁴⁰ at most, so products with a small number do not overflow.
    pub weights: Vec<i64>,
    /// By vertex, and one more: where its arcs begin.
    pub offsets: Vec<usize>,
    /// No two of a vertex lead to the same, and none to itself.
    pub arcs: Vec<Arc>,
}

/// One end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::strategies) struct Arc {
    /// The vertex at the other end.
    pub to: u32,
    /// What it costs to cut the edge. The sum over a graph's edges is less than 2³², so that no sum overflows.
    pub weight: u32,
}

impl Csr {
    /// The graph of these edges. There may be several between two vertices; those from a vertex to itself are left out.
    pub fn new(weights: Vec<i64>, edges: impl Iterator<Item = (u32, u32, u32)> + Clone) -> Self {
        let edges = edges.filter(|(from, to, _)| from != to);
        let mut offsets = vec![0; weights.len() + 1];
        for (from, to, _) in edges.clone() {
            offsets[from as usize + 1] += 1;
            offsets[to as usize + 1] += 1;
        }
        for vertex in 0..weights.len() {
            offsets[vertex + 1] += offsets[vertex];
        }
        let mut next = offsets.clone();
        let mut arcs = vec![Arc { to: 0, weight: 0 }; offsets[weights.len()]];
        for (from, to, weight) in edges {
            for (at, to) in [(from, to), (to, from)] {
                arcs[next[at as usize]] = Arc { to, weight };
                next[at as usize] += 1;
            }
        }
        let mut graph = Csr { weights, offsets, arcs };
        graph.merge_parallel_arcs();
        graph
    }

    /// How many vertices there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// The arcs of a vertex.
    pub fn arcs(&self, vertex: usize) -> &[Arc] {
        &self.arcs[self.offsets[vertex]..self.offsets[vertex + 1]]
    }

    /// The sum of the weights of the vertices.
    pub fn total(&self) -> i64 {
        self.weights.iter().sum()
    }

    /// What the edges between vertices of different parts weigh.
    pub fn cut(&self, part: &[u32]) -> u64 {
        let cut_at = |vertex: usize| {
            let cut = self.arcs(vertex).iter().filter(move |arc| part[arc.to as usize] != part[vertex]);
            cut.map(|arc| u64::from(arc.weight)).sum::<u64>()
        };
        (0..self.len()).map(cut_at).sum::<u64>() / 2
    }

    fn merge_parallel_arcs(&mut self) {
        let mut seen = Seen::new(self.len());
        let mut end = 0;
        for vertex in 0..self.len() {
            let begin = end;
            for at in self.offsets[vertex]..self.offsets[vertex + 1] {
                let arc = self.arcs[at];
                match seen.at(arc.to, begin) {
                    Some(at) => self.arcs[at].weight = self.arcs[at].weight.saturating_add(arc.weight),
                    None => {
                        self.arcs[end] = arc;
                        seen.note(arc.to, end);
                        end += 1;
                    }
                }
            }
            self.offsets[vertex] = begin;
        }
        let vertices = self.len();
        self.offsets[vertices] = end;
        self.arcs.truncate(end);
    }
}

/// Where the arc to each vertex was put, as long as that is of the vertex at hand.
pub(super) struct Seen(Vec<usize>);

impl Seen {
    pub fn new(vertices: usize) -> Self {
        Seen(vec![usize::MAX; vertices])
    }

    /// Where it was put, if not before `begin`: that was for another vertex.
    pub fn at(&self, to: u32, begin: usize) -> Option<usize> {
        let at = self.0[to as usize];
        (at != usize::MAX && at >= begin).then_some(at)
    }

    pub fn note(&mut self, to: u32, at: usize) {
        self.0[to as usize] = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_edges_are_one_and_loops_none() {
        let edges = [(0, 1, 5), (1, 0, 2), (2, 2, 9), (1, 2, 1)];
        let graph = Csr::new(vec![1; 3], edges.into_iter());
        let arcs: Vec<Vec<(u32, u32)>> = (0..3)
            .map(|vertex| graph.arcs(vertex).iter().map(|arc| (arc.to, arc.weight)).collect())
            .collect();
        assert_eq!(arcs, [vec![(1, 7)], vec![(0, 7), (2, 1)], vec![(1, 1)]]);
        assert_eq!(graph.cut(&[0, 0, 1]), 1);
    }
}
