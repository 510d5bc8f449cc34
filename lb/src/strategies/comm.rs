//! Communication-aware greedy (`GreedyCommLB` in Charm++): objects go where those are that they talk with.

use std::cmp::Ordering;
use std::ops::Range;

use super::least::Least;
use super::memory;
use super::work::{NOWHERE, Place, Work};
use crate::plan::Plan;
use crate::snapshot::{Edge, Snapshot};
use crate::strategy::{Strategy, Wants};

/// Places the heaviest objects first, each where it causes the least communication among the PEs that stay below the ideal time
/// with it; where none does, to the one that is done first, counting the time for messages.
///
/// Being done before the slowest is worth nothing, so PEs below the ideal are all as good: what tells them apart is how far the
/// object's partners are, on the PE itself, its node, its host, or beyond.
#[derive(Clone, Copy, Debug, Default)]
pub struct Comm;

impl Strategy for Comm {
    fn name(&self) -> &str {
        "comm"
    }

    fn wants(&self) -> Wants {
        Wants { edges: true }
    }

    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        let work = Work::new(snapshot);
        if work.objects.is_empty() {
            return Plan::default();
        }
        let mut placing = Placing::new(snapshot, &work);
        for at in heaviest_first(&work) {
            placing.place(at);
        }
        let placed = placing.into_places();
        memory::plan(snapshot, &work, placed)
    }
}

/// How far above the ideal a PE may go before it counts as full.
const SLACK: f64 = 1.01;

/// Seconds that a message and a byte of it keep either end busy: on another PE of the node, another node of the host, another host.
/// As measured for pointers, shared memory and TCP, roughly; what matters is what is more than what.
const MESSAGE_S: [f64; 3] = [0.2e-6, 1e-6, 5e-6];
const BYTE_S: [f64; 3] = [0.0, 0.1e-9, 0.5e-9];

/// Of an object's partners, so many PEs with most to say are tried: an object with thousands is at home nowhere.
const PARTNERS_TRIED: usize = 16;

/// Objects being placed, one after the other.
struct Placing<'a> {
    work: &'a Work,
    /// By object of the snapshot: its place, if it has one already.
    placed: Vec<u32>,
    /// Where each object of the work is now.
    current: Vec<u32>,
    /// When each place is done with what it has.
    times: Least,
    /// When it counts as full.
    full: f64,
    talk: Talk,
    around: Vec<Around>,
    /// The partners of the object at hand.
    near: Vec<Partner>,
}

/// The places of a place's node and host.
struct Around {
    node: Range<usize>,
    host: Range<usize>,
}

/// What speaks for a place: less is better.
struct Rating {
    /// When it would be done, if that is too late.
    late: f64,
    /// Seconds of talk.
    talk: f64,
    /// Whether the object would have to move.
    moves: bool,
    /// When it would be done.
    time: f64,
}

/// Who an object talks with.
struct Talk {
    offsets: Vec<usize>,
    /// Of all objects, one after the other: the partner, messages and bytes.
    said: Vec<(u32, f32, f32)>,
}

/// What an object says to those on one place, and hears from them, in seconds for each distance.
#[derive(Clone, Copy, Debug)]
struct Partner {
    place: u32,
    seconds: [f64; 3],
}

impl<'a> Placing<'a> {
    fn new(snapshot: &Snapshot, work: &'a Work) -> Self {
        let place_of_pe = work.place_of_pe(snapshot);
        let place = |pe: u32| place_of_pe.get(pe as usize).copied().unwrap_or(NOWHERE);
        let stays =
            snapshot.objects.iter().map(|object| if object.migratable { NOWHERE } else { place(object.pe) });
        Placing {
            work,
            placed: stays.collect(),
            current: work.current(snapshot),
            times: Least::new(work.places.iter().map(|place| place.busy).collect()),
            full: work.level * SLACK,
            talk: Talk::new(snapshot),
            around: surroundings(work),
            near: Vec::new(),
        }
    }

    /// Places an object of the work.
    fn place(&mut self, at: u32) {
        let object = self.work.objects[at as usize];
        self.look_for_partners(object);
        let weight = self.work.weights[at as usize];
        let own = self.current[at as usize] as usize;
        let rated =
            self.candidates(at).into_iter().map(|place| (self.rating(place, weight, place == own), place));
        let best = rated.min_by(|a, b| a.0.order(&b.0).then(a.1.cmp(&b.1)));
        let Some((_, place)) = best else { return };
        self.placed[object as usize] = place as u32;
        let time = self.times.value(place) + weight / self.work.places[place].speed;
        self.times.set(place, time + self.seconds_at(place));
        for partner in std::mem::take(&mut self.near) {
            let other = partner.place as usize;
            self.times.set(other, self.times.value(other) + self.seconds_between(place, &partner));
        }
    }

    /// Gathers where the object's partners are, those with most to say first.
    fn look_for_partners(&mut self, object: u32) {
        self.near.clear();
        for &(other, messages, bytes) in self.talk.of(object) {
            let place = self.placed[other as usize];
            if place != NOWHERE && other != object {
                let seconds =
                    |far: usize| f64::from(messages) * MESSAGE_S[far] + f64::from(bytes) * BYTE_S[far];
                self.near.push(Partner { place, seconds: std::array::from_fn(seconds) });
            }
        }
        self.near.sort_unstable_by_key(|partner| partner.place);
        self.near.dedup_by(|next, sum| {
            let same = next.place == sum.place;
            if same {
                (0..3).for_each(|far| sum.seconds[far] += next.seconds[far]);
            }
            same
        });
        self.near.sort_by(|a, b| b.seconds[2].total_cmp(&a.seconds[2]).then(a.place.cmp(&b.place)));
    }

    /// Places worth a look: where it is now, where partners are, and who is done first on their nodes, on their hosts, and of all.
    fn candidates(&self, at: u32) -> Vec<usize> {
        let all = 0..self.work.places.len();
        let mut candidates = Vec::with_capacity(3 * PARTNERS_TRIED + 2);
        candidates.extend(Some(self.current[at as usize] as usize).filter(|own| all.contains(own)));
        for partner in self.near.iter().take(PARTNERS_TRIED) {
            let around = &self.around[partner.place as usize];
            candidates.push(partner.place as usize);
            candidates.extend(self.times.of(around.node.clone()));
            candidates.extend(self.times.of(around.host.clone()));
        }
        candidates.extend(self.times.of(all));
        candidates
    }

    fn rating(&self, place: usize, weight: f64, stays: bool) -> Rating {
        let talk = self.seconds_at(place);
        let time = self.times.value(place) + weight / self.work.places[place].speed;
        let late = if time + talk <= self.full { 0.0 } else { time + talk };
        Rating { late, talk, moves: !stays, time }
    }

    /// Seconds that talking takes an object at this place.
    fn seconds_at(&self, place: usize) -> f64 {
        self.near.iter().map(|partner| self.seconds_between(place, partner)).sum()
    }

    fn seconds_between(&self, place: usize, partner: &Partner) -> f64 {
        let around = &self.around[partner.place as usize];
        match place {
            _ if place == partner.place as usize => 0.0,
            _ if around.node.contains(&place) => partner.seconds[0],
            _ if around.host.contains(&place) => partner.seconds[1],
            _ => partner.seconds[2],
        }
    }

    /// The places of the objects of the work.
    fn into_places(self) -> Vec<u32> {
        self.work.objects.iter().map(|&object| self.placed[object as usize]).collect()
    }
}

impl Rating {
    /// Done in time first, then little talk, then no move, then done early.
    fn order(&self, other: &Rating) -> Ordering {
        let late = self.late.total_cmp(&other.late);
        let talk = late.then(self.talk.total_cmp(&other.talk));
        talk.then(self.moves.cmp(&other.moves)).then(self.time.total_cmp(&other.time))
    }
}

impl Talk {
    fn new(snapshot: &Snapshot) -> Self {
        let objects = snapshot.objects.len();
        let known = |edge: &&Edge| edge.from.max(edge.to) < objects as u32;
        let mut offsets = vec![0; objects + 1];
        for edge in snapshot.edges.iter().filter(known) {
            offsets[edge.from as usize + 1] += 1;
            offsets[edge.to as usize + 1] += 1;
        }
        for object in 0..objects {
            offsets[object + 1] += offsets[object];
        }
        let (mut next, mut said) = (offsets.clone(), vec![(0, 0.0, 0.0); offsets[objects]]);
        for edge in snapshot.edges.iter().filter(known) {
            for (end, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
                let at = &mut next[end as usize];
                said[*at] = (other, edge.messages.clamp(0.0, 1e20).max(0.0), edge.volume() as f32);
                *at += 1;
            }
        }
        Talk { offsets, said }
    }

    fn of(&self, object: u32) -> &[(u32, f32, f32)] {
        &self.said[self.offsets[object as usize]..self.offsets[object as usize + 1]]
    }
}

/// Objects of the work by weight; equals in the order of their keys, in which neighbours often follow each other.
fn heaviest_first(work: &Work) -> Vec<u32> {
    let mut order: Vec<u32> = (0..work.objects.len() as u32).collect();
    order.sort_by(|&a, &b| work.weights[b as usize].total_cmp(&work.weights[a as usize]));
    order
}

/// The surroundings of each place.
fn surroundings(work: &Work) -> Vec<Around> {
    let end = |from: usize, same: &dyn Fn(&Place) -> bool| {
        from + work.places[from..].iter().take_while(|place| same(place)).count()
    };
    let mut surroundings: Vec<Around> = Vec::with_capacity(work.places.len());
    for (number, place) in work.places.iter().enumerate() {
        let last = surroundings.last();
        let host = last.map(|around| around.host.clone()).filter(|host| host.contains(&number));
        let host = host.unwrap_or_else(|| number..end(number, &|other| other.host == place.host));
        let node = last.map(|around| around.node.clone()).filter(|node| node.contains(&number));
        let same_node = |other: &Place| (other.host, other.node) == (place.host, place.node);
        let node = node.unwrap_or_else(|| number..end(number, &same_node));
        surroundings.push(Around { node, host });
    }
    surroundings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::Quality;
    use crate::snapshot::Object;
    use crate::strategies::samples::{machine, object, square};

    fn edge(from: u32, to: u32) -> Edge {
        Edge { from, to, messages: 1.0, bytes: 1000.0 }
    }

    #[test]
    fn partners_come_together_and_the_pes_stay_in_balance() {
        let mut snapshot = machine(1, 2, 2);
        square(&mut snapshot, 16);
        let apart: Vec<u32> = (0..256).map(|number| number * 7 % 4).collect();
        snapshot.objects.iter_mut().zip(apart).for_each(|(object, pe)| object.pe = pe);
        let before = Quality::of(&snapshot, &Plan::default());
        let after = Quality::of(&snapshot, &Comm.plan(&snapshot));
        assert!(after.external_bytes * 3.0 < before.external_bytes, "{before:?} {after:?}");
        assert!(after.ratio() < 1.05, "{after:?}");
    }

    #[test]
    fn who_finds_no_room_with_its_partner_goes_to_its_node_or_host() {
        // Two hosts of two nodes of two PEs. A heavy object that stays has PE 2 to itself; its partner is as heavy.
        let mut snapshot = machine(2, 2, 2);
        snapshot.objects = (0..8).map(|number| object(number, 1.0)).collect();
        snapshot.objects[0] = Object { pe: 2, migratable: false, ..object(0, 1.0) };
        snapshot.edges = vec![edge(0, 1)];
        let plan = Comm.plan(&snapshot);
        assert_eq!(plan.places(&snapshot)[1], 3, "the other PE of the node");
        snapshot.pes[3].available = false;
        let place = Comm.plan(&snapshot).places(&snapshot)[1];
        assert!(place < 2, "a PE of the other node of the host, not {place}");
    }

    #[test]
    fn nobody_moves_who_need_not() {
        let mut snapshot = machine(1, 1, 4);
        snapshot.objects =
            (0..40).map(|number| Object { pe: number as u32 % 4, ..object(number, 1.0) }).collect();
        assert_eq!(Comm.plan(&snapshot), Plan::default());
    }

    #[test]
    fn messages_count_as_time_where_all_are_late() {
        // Talking across hosts takes longer than running both objects on one PE.
        let mut snapshot = machine(2, 1, 1);
        snapshot.objects =
            (0..2).map(|number| Object { pe: number as u32, ..object(number, 1e-3) }).collect();
        snapshot.edges = vec![Edge { messages: 1000.0, ..edge(0, 1) }];
        assert_eq!(Comm.plan(&snapshot).moves.len(), 1);
        snapshot.edges[0].messages = 10.0;
        assert_eq!(Comm.plan(&snapshot).moves.len(), 0);
    }
}
