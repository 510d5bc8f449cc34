//! Graphs as topologies (MPI-3.1, 7.5.3 and 7.5.4).

use std::ffi::c_int;

use talisman_ampi::comm::Communicator;
use talisman_ampi::comm::topology::{Adjacent, Graph, Topology};
use talisman_ampi::objects::Kind;

use super::agreement::{from_all, lists_of_all};
use super::call::{Outcome, known, length, list, put};
use super::communicator::look;
use super::topology::of_first;
use crate::abi::Abi;
use crate::class::Class;

fn graph(communicator: &Communicator) -> Result<&Graph, Class> {
    match &communicator.topology {
        Some(Topology::Graph(graph)) => Ok(graph),
        _ => Err(Class::Topology),
    }
}

fn adjacent(communicator: &Communicator) -> Result<&Adjacent, Class> {
    match &communicator.topology {
        Some(Topology::Adjacent(own)) => Ok(own),
        _ => Err(Class::Topology),
    }
}

/// As unsigned numbers; a negative one is an error.
fn unsigned(numbers: &[c_int]) -> Result<Vec<u32>, Class> {
    numbers.iter().map(|number| u32::try_from(*number).map_err(|_| Class::Arg)).collect()
}

unsafe fn create_graph<A: Abi>(
    communicator: A::Handle,
    members: c_int,
    (index, edges): (*const c_int, *const c_int),
    to: *mut A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let parent = known::<A>(Kind::Comm, communicator)?;
        let index = list(index, length(members)?)?;
        let edges = list(edges, length(index.last().copied().unwrap_or(0))?)?;
        of_first::<A>("MPI_Graph_create", parent, to, |size| {
            let graph = Graph::new(&unsigned(index)?, &unsigned(edges)?).ok_or(Class::Topology)?;
            let places = graph.size();
            if places > size { Err(Class::Arg) } else { Ok((Topology::Graph(graph), places)) }
        })
    }
}

unsafe fn get_graph<A: Abi>(
    communicator: A::Handle,
    (index_room, edges_room): (c_int, c_int),
    (index, edges): (*mut c_int, *mut c_int),
) -> Outcome {
    let (index_room, edges_room) = (length(index_room)?, length(edges_room)?);
    // SAFETY: the caller's promise.
    unsafe {
        look::<A, _>(communicator, |found| {
            let graph = graph(found)?;
            let mut n = 0;
            for member in 0..graph.size() {
                for edge in graph.neighbors(member) {
                    if n < edges_room {
                        put(edges.add(n), *edge as c_int)?;
                    }
                    n += 1;
                }
                if (member as usize) < index_room {
                    put(index.add(member as usize), n as c_int)?;
                }
            }
            Ok(())
        })
    }
}

unsafe fn graph_neighbors<A: Abi>(
    communicator: A::Handle,
    rank: c_int,
    room: c_int,
    neighbors: *mut c_int,
) -> Outcome {
    let room = length(room)?;
    // SAFETY: the caller's promise.
    unsafe {
        look::<A, _>(communicator, |found| {
            let rank = u32::try_from(rank).map_err(|_| Class::Rank)?;
            let mut all = graph(found)?.neighbors(rank).iter().take(room).enumerate();
            all.try_for_each(|(at, neighbor)| put(neighbors.add(at), *neighbor as c_int))
        })
    }
}

/// Neighbours and weights of the program: how many, who, how much.
type Edges = (c_int, *const c_int, *const c_int);

/// Weights; none if the graph has none. Where there is no edge the list may be a special value.
unsafe fn weights_of<A: Abi>(weights: *const c_int, n: usize) -> Result<Option<Vec<u32>>, Class> {
    let [unweighted, empty] = (A::WEIGHTS)();
    match weights as usize {
        at if at == unweighted => Ok(None),
        at if at == empty || n == 0 => Ok(Some(Vec::new())),
        // SAFETY: the caller's promise.
        _ => unsigned(unsafe { list(weights, n) }?).map(Some),
    }
}

/// A graph of which each member tells its own edges.
unsafe fn create_adjacent<A: Abi>(
    communicator: A::Handle,
    sources: Edges,
    destinations: Edges,
    to: *mut A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let parent = known::<A>(Kind::Comm, communicator)?;
        let (ins, outs) = (length(sources.0)?, length(destinations.0)?);
        let (from, towards) = (list(sources.1, ins)?, list(destinations.1, outs)?);
        of_first::<A>("MPI_Dist_graph_create_adjacent", parent, to, |size| {
            let own = Adjacent {
                sources: unsigned(from)?,
                source_weights: weights_of::<A>(sources.2, ins)?,
                destinations: unsigned(towards)?,
                destination_weights: weights_of::<A>(destinations.2, outs)?,
            };
            let is_known = own.sources.iter().chain(&own.destinations).all(|rank| *rank < size);
            if is_known { Ok((Topology::Adjacent(own), size)) } else { Err(Class::Rank) }
        })
    }
}

/// A graph of which any member tells any edges.
unsafe fn create_distributed<A: Abi>(
    communicator: A::Handle,
    (n, sources, degrees): (c_int, *const c_int, *const c_int),
    (destinations, weights): (*const c_int, *const c_int),
    to: *mut A::Handle,
) -> Outcome {
    const NAME: &str = "MPI_Dist_graph_create";
    // SAFETY: the caller's promise.
    unsafe {
        let parent = known::<A>(Kind::Comm, communicator)?;
        let (sources, degrees) = (list(sources, length(n)?)?, list(degrees, length(n)?)?);
        let edges: usize = unsigned(degrees)?.iter().map(|degree| *degree as usize).sum();
        let destinations = list(destinations, edges)?;
        let weights = weights_of::<A>(weights, edges)?;
        let tellers = sources
            .iter()
            .zip(degrees)
            .flat_map(|(source, degree)| std::iter::repeat_n(*source, usize::try_from(*degree).unwrap_or(0)));
        let mut told = Vec::with_capacity(3 * edges);
        for (at, (source, destination)) in tellers.zip(destinations).enumerate() {
            let weight = weights.as_ref().and_then(|weights| weights.get(at)).copied().unwrap_or(1);
            told.extend([i64::from(source), i64::from(*destination), i64::from(weight)]);
        }
        let all = lists_of_all::<A>(NAME, parent, &told)?;
        let unweighted = from_all::<A, 1>(NAME, parent, [i64::from(weights.is_none())])?;
        let has_weights = unweighted.iter().all(|[none]| *none == 0);
        let rank = look::<A, _>(communicator, |found| found.rank().ok_or(Class::Comm))?;
        of_first::<A>(NAME, parent, to, |size| {
            let edges: Vec<_> =
                all.chunks_exact(3).map(|edge| (edge[0] as u32, edge[1] as u32, edge[2] as u32)).collect();
            if edges.iter().any(|edge| edge.0 >= size || edge.1 >= size) {
                return Err(Class::Rank);
            }
            let mut own = Adjacent::of(rank, &edges);
            if !has_weights {
                (own.source_weights, own.destination_weights) = (None, None);
            }
            Ok((Topology::Adjacent(own), size))
        })
    }
}

/// Lists of neighbours and weights, each with room for so many.
unsafe fn get_adjacent<A: Abi>(
    communicator: A::Handle,
    (in_room, sources, source_weights): (c_int, *mut c_int, *mut c_int),
    (out_room, destinations, destination_weights): (c_int, *mut c_int, *mut c_int),
) -> Outcome {
    let special = (A::WEIGHTS)();
    let (ins, outs) = (length(in_room)?, length(out_room)?);
    let copy = |from: &[u32], room: usize, to: *mut c_int| {
        // SAFETY: the caller's promise.
        from.iter()
            .take(room)
            .enumerate()
            .try_for_each(|(at, number)| unsafe { put(to.add(at), *number as c_int) })
    };
    let copy_weights = |from: &Option<Vec<u32>>, room: usize, to: *mut c_int| match from {
        Some(from) if !special.contains(&(to as usize)) => copy(from, room, to),
        _ => Ok(()),
    };
    // SAFETY: the caller's promise.
    unsafe {
        look::<A, _>(communicator, |found| {
            let own = adjacent(found)?;
            copy(&own.sources, ins, sources)?;
            copy_weights(&own.source_weights, ins, source_weights)?;
            copy(&own.destinations, outs, destinations)?;
            copy_weights(&own.destination_weights, outs, destination_weights)
        })
    }
}

super::calls! {
    "Graph_create" graph_create<>(
        communicator: A::Handle, members: c_int, index: *const c_int, edges: *const c_int,
        _reorder: c_int, to: *mut A::Handle,
    ) on communicator => create_graph::<A>(communicator, members, (index, edges), to);
    "Graphdims_get" graphdims_get<>(
        communicator: A::Handle, members: *mut c_int, edges: *mut c_int,
    ) on communicator => {
        let (n, all) = look::<A, _>(communicator, |found| {
            let graph = graph(found)?;
            Ok((graph.size(), (0..graph.size()).map(|member| graph.neighbors(member).len()).sum::<usize>()))
        })?;
        put(members, n as c_int)?;
        put(edges, all as c_int)
    };
    "Graph_get" graph_get<>(
        communicator: A::Handle, index_room: c_int, edges_room: c_int, index: *mut c_int, edges: *mut c_int,
    ) on communicator => get_graph::<A>(communicator, (index_room, edges_room), (index, edges));
    "Graph_neighbors_count" graph_neighbors_count<>(
        communicator: A::Handle, rank: c_int, count: *mut c_int,
    ) on communicator => {
        let member = u32::try_from(rank).map_err(|_| Class::Rank)?;
        put(count, look::<A, _>(communicator, |found| Ok(graph(found)?.neighbors(member).len()))? as c_int)
    };
    "Graph_neighbors" neighbors_of_graph<>(
        communicator: A::Handle, rank: c_int, room: c_int, neighbors: *mut c_int,
    ) on communicator => graph_neighbors::<A>(communicator, rank, room, neighbors);
    "Graph_map" graph_map<>(
        communicator: A::Handle, members: c_int, _index: *const c_int, _edges: *const c_int, rank: *mut c_int,
    ) on communicator => {
        let own = look::<A, _>(communicator, |found| found.rank().ok_or(Class::Comm))? as c_int;
        put(rank, if own < members { own } else { A::UNDEFINED })
    };
    "Dist_graph_create_adjacent" dist_graph_create_adjacent<>(
        communicator: A::Handle,
        ins: c_int, sources: *const c_int, source_weights: *const c_int,
        outs: c_int, destinations: *const c_int, destination_weights: *const c_int,
        _info: A::Handle, _reorder: c_int, to: *mut A::Handle,
    ) on communicator => {
        let (sources, destinations) = ((ins, sources, source_weights), (outs, destinations, destination_weights));
        create_adjacent::<A>(communicator, sources, destinations, to)
    };
    "Dist_graph_create" dist_graph_create<>(
        communicator: A::Handle, n: c_int, sources: *const c_int, degrees: *const c_int,
        destinations: *const c_int, weights: *const c_int, _info: A::Handle, _reorder: c_int, to: *mut A::Handle,
    ) on communicator => create_distributed::<A>(communicator, (n, sources, degrees), (destinations, weights), to);
    "Dist_graph_neighbors_count" dist_graph_neighbors_count<>(
        communicator: A::Handle, ins: *mut c_int, outs: *mut c_int, weighted: *mut c_int,
    ) on communicator => {
        let (sources, destinations, has_weights) = look::<A, _>(communicator, |found| {
            let own = adjacent(found)?;
            Ok((own.sources.len(), own.destinations.len(), own.source_weights.is_some()))
        })?;
        put(ins, sources as c_int)?;
        put(outs, destinations as c_int)?;
        put(weighted, c_int::from(has_weights))
    };
    "Dist_graph_neighbors" dist_graph_neighbors<>(
        communicator: A::Handle, in_room: c_int, sources: *mut c_int, source_weights: *mut c_int,
        out_room: c_int, destinations: *mut c_int, destination_weights: *mut c_int,
    ) on communicator => {
        let (ins, outs) = ((in_room, sources, source_weights), (out_room, destinations, destination_weights));
        get_adjacent::<A>(communicator, ins, outs)
    };
}
