//! Steps whose notes come in any order that is allowed, for tests.

use std::collections::VecDeque;

use super::Distributed;
use super::locals::Locals;
use crate::member::{Action, Decided, Event, Member};
use crate::plan::{Move, Plan};
use crate::rng::Rng;
use crate::snapshot::{Key, Node, Object, Pe, Snapshot};

/// What comes beside the notes of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strangers {
    /// Nothing.
    None,
    /// Bytes that are no notes.
    Garbage,
    /// Notes to others, again, from anybody.
    Copies,
}

/// What came of a step.
pub(crate) struct Jumbled {
    pub plan: Plan,
    /// By PE; none if it never decided.
    pub decided: Vec<Option<Decided>>,
}

impl Jumbled {
    /// Why something was refused, the first.
    pub fn refused(&self) -> Option<&str> {
        self.decided.iter().flatten().find_map(|decided| decided.refused.as_deref())
    }
}

/// Runs a step, and panics if what its members want breaks a rule of all steps.
pub(crate) fn jumbled(
    strategy: &dyn Distributed,
    snapshot: &Snapshot,
    seed: u64,
    strangers: Strangers,
) -> Jumbled {
    let pes = snapshot.pes.len() as u32;
    let members = (0..pes).map(|pe| strategy.member(pe, pes)).collect();
    let jumbled = jumbled_members(members, snapshot, strategy.wants().edges, seed, strangers);
    if strangers != Strangers::Copies {
        check_memory(snapshot, &jumbled.plan);
    }
    jumbled
}

/// No node takes more than it may, unless it held more before.
fn check_memory(snapshot: &Snapshot, plan: &Plan) {
    let bytes = |places: &[u32]| {
        let mut bytes = vec![0; snapshot.nodes.len()];
        for (object, pe) in snapshot.objects.iter().zip(places) {
            bytes[snapshot.pes[*pe as usize].node as usize] += object.bytes;
        }
        bytes
    };
    let before = bytes(&Plan::default().places(snapshot));
    let after = bytes(&plan.places(snapshot));
    for (node, limit) in snapshot.nodes.iter().enumerate() {
        let most = limit.memory.unwrap_or(u64::MAX).max(before[node]);
        assert!(after[node] <= most, "node {node} holds {} bytes, {most} are allowed", after[node]);
    }
}

/// The same with any members.
pub(crate) fn jumbled_members(
    members: Vec<Box<dyn Member>>,
    snapshot: &Snapshot,
    edges: bool,
    seed: u64,
    strangers: Strangers,
) -> Jumbled {
    let pes = members.len();
    let mut jumble = Jumble {
        locals: Locals::new(snapshot),
        snapshot,
        members,
        begun: vec![false; pes],
        queues: vec![VecDeque::new(); pes * pes],
        full: Vec::new(),
        rng: Rng::new(seed),
        strangers,
        left: 100 * pes,
        decided: vec![None; pes],
        moves: Vec::new(),
    };
    jumble.run(edges);
    jumble.moves.sort_by_key(|step| step.object);
    let jumbled = Jumbled { plan: Plan { moves: jumble.moves }, decided: jumble.decided };
    let twice = jumbled.plan.moves.windows(2).any(|pair| pair[0].object == pair[1].object);
    assert!(!twice, "an object moves twice");
    // Who copies whole notes can lie, and can take the place of who was to speak.
    if strangers != Strangers::Copies {
        jumbled.plan.check(snapshot).unwrap();
        assert!(jumbled.decided.iter().all(Option::is_some), "a member did not decide");
    }
    jumbled
}

/// More than the notes of any strategy on the few PEs of a test.
const EVENTS_MAX: usize = 2_000_000;

struct Jumble<'a> {
    snapshot: &'a Snapshot,
    locals: Locals<'a>,
    members: Vec<Box<dyn Member>>,
    begun: Vec<bool>,
    /// By receiver and sender.
    queues: Vec<VecDeque<Vec<u8>>>,
    /// Queues with something in them.
    full: Vec<usize>,
    rng: Rng,
    strangers: Strangers,
    /// Notes of strangers still to come.
    left: usize,
    decided: Vec<Option<Decided>>,
    moves: Vec<Move>,
}

impl Jumble<'_> {
    fn run(&mut self, edges: bool) {
        let pes = self.members.len();
        let mut waiting: Vec<_> = (0..pes).collect();
        for _ in 0..EVENTS_MAX {
            let ready: usize = self.full.len() + waiting.len();
            if ready == 0 {
                return;
            }
            let drawn = self.rng.below(ready as u32) as usize;
            if drawn < waiting.len() {
                let pe = waiting.swap_remove(drawn);
                self.begun[pe] = true;
                let local = Box::new(self.locals.local(pe as u32, edges));
                self.happens(pe, Event::Begin(local));
            } else {
                self.arrives(drawn - waiting.len());
            }
        }
        panic!("it does not end");
    }

    /// The first note of a queue, unless its receiver has not begun.
    fn arrives(&mut self, full: usize) {
        let pes = self.members.len();
        let queue = self.full[full];
        let (to, from) = (queue / pes, queue % pes);
        if !self.begun[to] {
            return;
        }
        let note = self.queues[queue].pop_front().expect("a queue of `full` has a note");
        if self.queues[queue].is_empty() {
            self.full.swap_remove(full);
        }
        self.happens(to, Event::Note { from: from as u32, note });
    }

    fn happens(&mut self, pe: usize, event: Event) {
        let mut actions = Vec::new();
        self.members[pe].step(event, &mut actions);
        for action in actions {
            match action {
                Action::Send { to, note } => {
                    assert_ne!(to as usize, pe, "a note to itself");
                    self.send_strange(&note);
                    self.send(to as usize, pe, note);
                }
                Action::Move { object, to } => self.moved(pe, &object, to),
                Action::Decided(decided) => {
                    assert!(self.decided[pe].replace(decided).is_none(), "PE {pe} decided twice");
                }
            }
        }
    }

    fn moved(&mut self, pe: usize, key: &Key, to: u32) {
        assert!(self.decided[pe].is_none(), "a move comes after PE {pe} has decided");
        let object = self.locals.number(pe as u32, key).expect("a PE moves its own objects only");
        assert_ne!(self.snapshot.objects[object as usize].pe, to, "{key:?} moves to where it is");
        self.moves.push(Move { object, to });
    }

    fn send(&mut self, to: usize, from: usize, note: Vec<u8>) {
        let pes = self.members.len();
        assert!(to < pes, "PE {from} sends a note to PE {to}");
        let queue = to * pes + from;
        if self.queues[queue].is_empty() {
            self.full.push(queue);
        }
        self.queues[queue].push_back(note);
    }

    fn send_strange(&mut self, note: &[u8]) {
        if self.strangers == Strangers::None || self.left == 0 || self.rng.below(2) == 0 {
            return;
        }
        self.left -= 1;
        let (to, from) = (self.drawn_pe(), self.drawn_pe());
        let note = match self.strangers {
            Strangers::Copies => note.to_vec(),
            _ if self.rng.below(2) == 0 => note[..note.len() - 1].to_vec(),
            _ => (0..self.rng.below(40)).map(|_| self.rng.number() as u8 | 0x40).collect(),
        };
        self.send(to, from, note);
    }

    fn drawn_pe(&mut self) -> usize {
        self.rng.below(self.members.len() as u32) as usize
    }
}

/// A machine on which everything is odd: speeds, backgrounds, PEs that take nothing, objects that stay, loads that are no numbers.
pub(crate) fn machine(pes: u32, objects: u32, seed: u64) -> Snapshot {
    let mut rng = Rng::new(seed);
    let per_node = 1 + rng.below(3);
    let pe = |number: u32, rng: &mut Rng| Pe {
        node: number / per_node,
        speed: [1.0, 1.0, 0.5, 2.0, f64::NAN][rng.below(5) as usize],
        background: [0.0, 0.0, 1.0, 30.0][rng.below(4) as usize],
        available: rng.below(8) != 0,
    };
    let nodes = (0..pes.div_ceil(per_node))
        .map(|node| Node { host: node / 2, memory: (rng.below(3) == 0).then(|| u64::from(rng.below(3000))) })
        .collect();
    let hot = 1 + rng.below(pes);
    let object = |index: u32, rng: &mut Rng| Object {
        key: Key { collection: 1, index: u128::from(index) },
        load: if rng.below(20) == 0 { f64::NAN } else { 0.1 / (0.01 + rng.unit()) },
        bytes: u64::from(rng.below(100)),
        pe: rng.below(hot),
        migratable: rng.below(10) != 0,
        position: None,
    };
    Snapshot {
        pes: (0..pes).map(|number| pe(number, &mut rng)).collect(),
        nodes,
        objects: (0..objects).map(|index| object(index, &mut rng)).collect(),
        edges: Vec::new(),
    }
}
