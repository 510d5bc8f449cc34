//! A world of the simplest kind: no time but steps, in each of which a seed takes one thing that can happen.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex};

use crate::turns::{Next, Streams, Turns, pes};
use talisman_base::clock::Clock;
use talisman_base::rng::Rng;
use talisman_base::topology::Shape;
use talisman_core::chare::MainChare;
use talisman_core::main_chare::create_main;
use talisman_job::Output;
use talisman_job::job::{End, Job};
use talisman_kernel::node::{Config, Node};
use talisman_kernel::pe::Nobody;
use talisman_transport::Peer;
use talisman_transport::reconnect::{Inbox, Reconnect};
use talisman_transport::sim::{Board, Hand, Pipe};
use talisman_transport::sim_wait::SimWaiting;
use talisman_transport::tcp::Stream;

/// Steps after which nothing will come of it.
const STEPS_MOST: u64 = 3_000_000;
/// What a step takes.
const STEP_NS: u64 = 500;

/// What a world is like.
#[derive(Clone, Copy)]
pub(super) struct Nature {
    pub(super) nodes: u32,
    pub(super) seed: u64,
    /// Bytes that a pipe takes.
    pub(super) room: usize,
    pub(super) unsent_max: usize,
    /// Of a million chunks so many are the last of their connection.
    pub(super) breaks_ppm: u64,
    /// PEs of this node are killed when they wait for room.
    pub(super) killed: Option<u32>,
}

/// How a program ended in a world.
#[derive(Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) end: Option<End>,
    pub(super) output: Vec<String>,
    pub(super) breaks: u64,
    /// The most senders that waited for room at once.
    pub(super) waited: u32,
    pub(super) steps: u64,
}

/// A link's two PEs: node and lane of each, the lower node first.
type Place = (u32, u32, u32);

pub(super) struct World {
    nature: Nature,
    job: Arc<Job>,
    clock: Rc<Cell<u64>>,
    random: RefCell<Rng>,
    board: Board,
    pes: Vec<Turns>,
    /// By node and lane.
    inboxes: BTreeMap<Peer, Arc<Inbox>>,
    wires: RefCell<BTreeMap<Place, Wire>>,
    /// Connections that broke, as PEs say.
    missed: Arc<Mutex<Vec<Place>>>,
    seen: RefCell<Seen>,
    waiting: Cell<u32>,
}

/// A connection.
struct Wire {
    ends: [Hand; 2],
    /// What is under way to each end.
    chunks: [VecDeque<Vec<u8>>; 2],
}

/// Runs a program to its end.
pub(super) fn run<C: MainChare>(nature: Nature) -> Seen {
    let output = Output::capture();
    let world = World::new(nature, output.clone());
    let weak: Weak<World> = Rc::downgrade(&world);
    let wait = move |pe| {
        let _nobody = Nobody::enter();
        weak.upgrade().expect("it runs").sim_wait(pe)
    };
    let _waiting = SimWaiting::by(Rc::new(wait));
    world.pes[0].begin(|pe| {
        create_main::<C, ()>(pe, ());
        true
    });
    while !world.job.is_over() {
        world.step();
    }
    world.pes.iter().for_each(Turns::end);
    let mut seen = world.seen.replace(Seen::nothing());
    drop(world);
    seen.output = output.captured();
    seen
}

impl Seen {
    fn nothing() -> Self {
        Seen { end: None, output: Vec::new(), breaks: 0, waited: 0, steps: 0 }
    }
}

impl World {
    fn new(nature: Nature, output: Output) -> Rc<World> {
        let mut world = World {
            nature,
            job: Job::new(output),
            clock: Rc::default(),
            random: RefCell::new(Rng::new(nature.seed)),
            board: Board::default(),
            pes: Vec::new(),
            inboxes: BTreeMap::new(),
            wires: RefCell::default(),
            missed: Arc::default(),
            seen: RefCell::new(Seen::nothing()),
            waiting: Cell::new(0),
        };
        let shape = Shape { nodes: nature.nodes, pes_per_node: 2 };
        let mut streams: Vec<Streams> = (0..shape.nodes).map(|_| Streams::new()).collect();
        for (one, other, lane) in places(shape) {
            let [near, far] = world.connect((one, other, lane));
            streams[one as usize].insert(Peer { node: other, lane }, near);
            streams[other as usize].insert(Peer { node: one, lane }, far);
        }
        for (number, streams) in (0..).zip(streams) {
            world.add_node(shape, number, streams);
        }
        Rc::new(world)
    }

    fn add_node(&mut self, shape: Shape, number: u32, streams: Streams) {
        let node = Node::new(shape, number, Config::default(), self.job.clone());
        let clock = Clock::simulated(self.clock.clone());
        let lanes = 0..shape.pes_per_node;
        self.inboxes.extend(lanes.map(|lane| (Peer { node: number, lane }, Arc::default())));
        let reconnect = |lane| {
            let missed = self.missed.clone();
            let inbox = self.inboxes[&Peer { node: number, lane }].clone();
            Reconnect::new(inbox, move |Peer { node, lane }| {
                missed.lock().unwrap().push((number.min(node), number.max(node), lane));
            })
        };
        let pes = pes(&node, &clock, streams, reconnect, self.nature.unsent_max).unwrap();
        self.pes.extend(pes);
    }

    /// A new connection.
    fn connect(&self, place: Place) -> [Stream; 2] {
        let new = || Pipe::new(0, self.nature.room, &self.board);
        let ((near, near_hand), (far, far_hand)) = (new(), new());
        self.wires
            .borrow_mut()
            .insert(place, Wire { ends: [near_hand, far_hand], chunks: Default::default() });
        [near, far].map(Stream::Simulated)
    }

    fn below(&self, bound: u64) -> u64 {
        self.random.borrow_mut().below(bound)
    }

    /// Something happens: mostly to bytes, else to a PE.
    fn step(&self) {
        self.clock.set(self.clock.get() + STEP_NS);
        let steps = self.seen.borrow().steps + 1;
        self.seen.borrow_mut().steps = steps;
        assert!(steps < STEPS_MOST, "seed {}: nothing comes of it", self.nature.seed);
        match self.below(3) {
            0 => self.go_on_with(self.below(self.pes.len() as u64) as usize),
            _ => self.carry(),
        }
        self.board.take();
        self.seen.borrow_mut().end = self.job.how_it_ended();
    }

    /// A PE has a turn if it has a reason to.
    fn go_on_with(&self, at: usize) {
        let pe = &self.pes[at];
        let now = self.clock.get();
        match pe.next() {
            Next::Now if pe.is_waiting() => _ = pe.wait_round(),
            Next::Now => while pe.turn(1 + self.below(4) as usize) && self.below(2) > 0 {},
            Next::At(time) if time.as_nanos() as u64 <= now => _ = pe.turn(4),
            // Nothing else may happen until then.
            Next::At(time) if self.below(50) == 0 && self.is_still() => {
                self.clock.set(time.as_nanos() as u64);
            }
            _ => {}
        }
    }

    fn is_still(&self) -> bool {
        let wires = self.wires.borrow();
        let empty = |wire: &Wire| wire.chunks.iter().all(VecDeque::is_empty);
        self.pes.iter().all(|pe| !pe.has_work()) && wires.values().all(empty)
    }

    /// On one wire, in one direction, bytes leave or arrive. Or all of it ends.
    fn carry(&self) {
        let mut wires = self.wires.borrow_mut();
        let at = self.below(wires.len() as u64) as usize;
        let wire = wires.values_mut().nth(at).expect("below their number");
        let to = self.below(2) as usize;
        let most = 1 << self.below(15);
        let chunks = &mut wire.chunks[to];
        if self.below(2) == 0 {
            wire.ends[1 - to].take(|bytes| {
                let n = bytes.len().min(most);
                chunks.extend((n > 0).then(|| bytes[..n].to_vec()));
                n
            });
        } else if let Some(chunk) = chunks.pop_front() {
            wire.ends[to].bring(&chunk);
            if self.below(1_000_000) < self.nature.breaks_ppm {
                self.seen.borrow_mut().breaks += 1;
                wire.ends.iter().for_each(Hand::set_broken);
                wire.chunks = Default::default();
            }
        }
        let closed = wire.ends.iter().any(Hand::is_closed);
        if closed {
            wire.ends.iter().for_each(Hand::set_broken);
        }
        drop(wires);
        self.reconnect();
    }

    /// Now and then, whoever misses somebody finds him again.
    fn reconnect(&self) {
        let missed = self.missed.lock().unwrap().pop().filter(|_| !self.job.is_over());
        let Some((one, other, lane)) = missed else { return };
        let [near, far] = self.connect((one, other, lane));
        self.inboxes[&Peer { node: one, lane }].put(other, near);
        self.inboxes[&Peer { node: other, lane }].put(one, far);
    }

    /// A PE waits for room.
    fn sim_wait(&self, id: u32) -> bool {
        let pe = &self.pes[id as usize];
        if self.nature.killed == Some(pe.pe.node.number) {
            return false;
        }
        self.waiting.set(self.waiting.get() + 1);
        let waited = self.seen.borrow().waited.max(self.waiting.get());
        self.seen.borrow_mut().waited = waited;
        while !pe.is_wait_over() {
            self.step();
        }
        self.waiting.set(self.waiting.get() - 1);
        true
    }
}

fn places(shape: Shape) -> impl Iterator<Item = Place> {
    (0..shape.nodes).flat_map(move |one| {
        (one + 1..shape.nodes)
            .flat_map(move |other| (0..shape.pes_per_node).map(move |lane| (one, other, lane)))
    })
}
