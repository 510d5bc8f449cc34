//! What all PEs know, put together.

use super::Local;
use crate::snapshot::{Edge, Key, Node, Object, Pe, Snapshot};
use thiserror::Error;

/// A snapshot, and where its objects came from.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// All that is known.
    pub snapshot: Snapshot,
    /// By number of the object: its number on its PE.
    pub numbers: Vec<u32>,
}

/// What PEs say does not fit together.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum Misfit {
    #[error("PE {pe} is not one of {pes}")]
    Pe { pe: u32, pes: u32 },
    #[error("PE {pe} told twice what it knows")]
    Twice { pe: u32 },
    #[error("PE {pe} did not tell what it knows")]
    Missing { pe: usize },
    #[error("PE {pe} says that it belongs to node {node}: {pes} PEs have nodes with lower numbers only")]
    Node { pe: u32, node: u32, pes: u32 },
    #[error("{objects} objects are more than can be numbered")]
    Many { objects: usize },
}

impl Gathered {
    /// Puts together what PEs `0..pes` told, in any order.
    pub fn new(locals: Vec<Local>, pes: u32) -> Result<Self, Misfit> {
        let locals = in_order(locals, pes)?;
        let (snapshot_pes, nodes) = machine(&locals);
        let (objects, numbers) = objects(&locals)?;
        let edges = edges(&locals, &objects, &numbers);
        Ok(Gathered { snapshot: Snapshot { pes: snapshot_pes, nodes, objects, edges }, numbers })
    }
}

fn in_order(mut locals: Vec<Local>, pes: u32) -> Result<Vec<Local>, Misfit> {
    locals.sort_by_key(|local| local.number);
    if let Some(twice) = locals.windows(2).find(|pair| pair[0].number == pair[1].number) {
        return Err(Misfit::Twice { pe: twice[0].number });
    }
    if let Some(beyond) = locals.last().filter(|last| last.number >= pes) {
        return Err(Misfit::Pe { pe: beyond.number, pes });
    }
    if locals.len() < pes as usize {
        let gap = locals.iter().enumerate().position(|(at, local)| local.number as usize != at);
        return Err(Misfit::Missing { pe: gap.unwrap_or(locals.len()) });
    }
    match locals.iter().find(|local| local.pe.node >= pes) {
        Some(local) => Err(Misfit::Node { pe: local.number, node: local.pe.node, pes }),
        None => Ok(locals),
    }
}

fn machine(locals: &[Local]) -> (Vec<Pe>, Vec<Node>) {
    let count = locals.iter().map(|local| local.pe.node + 1).max().unwrap_or(0);
    let mut nodes = vec![Node { host: 0, memory: None }; count as usize];
    for local in locals {
        nodes[local.pe.node as usize] = local.node;
    }
    (locals.iter().map(|local| local.pe).collect(), nodes)
}

/// All objects in the order of their keys, each once, with their numbers on their PEs.
fn objects(locals: &[Local]) -> Result<(Vec<Object>, Vec<u32>), Misfit> {
    let count = locals.iter().map(|local| local.objects.len()).sum();
    if u32::try_from(count).is_err() {
        return Err(Misfit::Many { objects: count });
    }
    let mut all: Vec<(Object, u32)> = Vec::with_capacity(count);
    for local in locals {
        let here = local.objects.iter().map(|object| Object { pe: local.number, ..*object });
        all.extend(here.zip(0..));
    }
    all.sort_by_key(|(object, _)| object.key);
    all.dedup_by_key(|(object, _)| object.key);
    Ok(all.into_iter().unzip())
}

/// The edges between objects that are there, in the order of their senders.
fn edges(locals: &[Local], objects: &[Object], numbers: &[u32]) -> Vec<Edge> {
    let count = locals.iter().map(|local| local.edges.len()).sum();
    if count == 0 {
        return Vec::new();
    }
    let senders = senders(locals, objects, numbers);
    let mut edges = Vec::with_capacity(count);
    for (local, senders) in locals.iter().zip(&senders) {
        let receivers: Vec<_> = local.peers.iter().map(|peer| number_of(objects, peer)).collect();
        let both = |edge: &Edge| Some((*senders.get(edge.from as usize)?, *receivers.get(edge.to as usize)?));
        edges.extend(local.edges.iter().filter_map(|edge| match both(edge)? {
            (Some(from), Some(to)) => Some(Edge { from, to, ..*edge }),
            _ => None,
        }));
    }
    edges.sort_by_key(|edge| edge.from);
    edges
}

/// By PE and number there: the number of the object among all.
fn senders(locals: &[Local], objects: &[Object], numbers: &[u32]) -> Vec<Vec<Option<u32>>> {
    let mut senders: Vec<_> = locals.iter().map(|local| vec![None; local.objects.len()]).collect();
    for (all, (object, number)) in objects.iter().zip(numbers).enumerate() {
        senders[object.pe as usize][*number as usize] = Some(all as u32);
    }
    senders
}

fn number_of(objects: &[Object], key: &Key) -> Option<u32> {
    objects.binary_search_by_key(key, |object| object.key).ok().map(|number| number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(index: u128) -> Key {
        Key { collection: 1, index }
    }

    fn local(number: u32, indices: &[u128]) -> Local {
        let object = |index: &u128| Object {
            key: key(*index),
            load: *index as f64,
            bytes: 8,
            pe: 77,
            migratable: true,
            position: None,
        };
        let pe = Pe { node: number / 2, speed: 1.0, background: 0.0, available: true };
        let node = Node { host: 3, memory: None };
        Local {
            number,
            pe,
            node,
            pes: 3,
            objects: indices.iter().map(object).collect(),
            edges: vec![],
            peers: vec![],
        }
    }

    fn edge(from: u32, to: u32) -> Edge {
        Edge { from, to, messages: 1.0, bytes: 2.0 }
    }

    #[test]
    fn objects_are_in_the_order_of_keys_and_edges_lead_to_them() {
        let mut first = local(0, &[2, 5]);
        first.peers = vec![key(1), key(4)];
        first.edges = vec![edge(1, 0), edge(0, 1), edge(9, 0), edge(0, 9)];
        let gathered = Gathered::new(vec![local(2, &[]), local(1, &[1, 3]), first], 3).unwrap();
        let snapshot = &gathered.snapshot;
        let places: Vec<_> = snapshot.objects.iter().map(|o| (o.key.index, o.pe)).collect();
        assert_eq!(places, [(1, 1), (2, 0), (3, 1), (5, 0)]);
        assert_eq!(gathered.numbers, [0, 0, 1, 1]);
        assert_eq!(snapshot.edges, [edge(3, 0)], "nobody is called 4, and 9 is no number");
        assert_eq!((snapshot.pes.len(), snapshot.nodes.len()), (3, 2));
    }

    #[test]
    fn what_does_not_fit_together_is_told() {
        let misfit = |locals| Gathered::new(locals, 2).unwrap_err();
        assert_eq!(misfit(vec![local(0, &[]), local(2, &[])]), Misfit::Pe { pe: 2, pes: 2 });
        assert_eq!(misfit(vec![local(1, &[]), local(1, &[])]), Misfit::Twice { pe: 1 });
        assert_eq!(misfit(vec![local(1, &[])]), Misfit::Missing { pe: 0 });
        assert_eq!(misfit(vec![local(0, &[])]), Misfit::Missing { pe: 1 });
        let mut stray = local(1, &[]);
        stray.pe.node = u32::MAX;
        let told = misfit(vec![local(0, &[]), stray]);
        assert_eq!(told, Misfit::Node { pe: 1, node: u32::MAX, pes: 2 });
    }

    #[test]
    fn an_object_in_two_places_is_in_the_first() {
        let gathered = Gathered::new(vec![local(0, &[4]), local(1, &[4, 6])], 2).unwrap();
        let places: Vec<_> = gathered.snapshot.objects.iter().map(|o| (o.key.index, o.pe)).collect();
        assert_eq!(places, [(4, 0), (6, 1)]);
        assert_eq!(gathered.numbers, [0, 1]);
    }
}
