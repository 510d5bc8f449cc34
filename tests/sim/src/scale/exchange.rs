//! What messages of a size take on the real runtime: chares in a ring that send each other faces, step by step, like
//! blocks that have nothing to compute.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use talisman::launch::ResultValue;
use talisman::launch::options::Transport;
use talisman::prelude::*;
use talisman::run::Outcome;
use talisman::simulation::{Machine, charge, run_modelled};
use talisman::testing::Test;

/// Messages of a flood.
const FLOOD: u32 = 400;

/// What was measured, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exchange {
    /// A step, in which everyone sends to its neighbour and waits for the other's message.
    pub step_ns: f64,
    /// Sending a message, among many.
    pub send_ns: f64,
    /// From the sending of the first of many messages to when the last has been received, for each.
    pub flood_ns: f64,
}

/// Between two PEs of two nodes, all in this process, or between chares of one PE.
pub fn measure(nodes: u32, transport: Transport, work: Work) -> Exchange {
    let test = Test::new().pes(1);
    let test = if nodes > 1 { test.nodes(nodes, transport) } else { test };
    let done = test.run::<__Main>((work,));
    of(&done)
}

/// The same on a modelled machine.
pub fn modelled(machine: &Machine, nodes: u32, work: Work) -> Exchange {
    of(&run_modelled::<__Main>((Work { is_modelled: true, ..work },), machine, nodes, 1))
}

fn of(outcome: &Outcome) -> Exchange {
    assert_eq!((outcome.status, &outcome.message), (0, &None), "the exchange runs to its end");
    let value = |name| match outcome.results.value(name) {
        Some(ResultValue::F64(value)) => *value,
        other => panic!("the exchange tells {name}, not {other:?}"),
    };
    Exchange { step_ns: value("step_ns"), send_ns: value("send_ns"), flood_ns: value("flood_ns") }
}

/// What is exchanged.
#[derive(Clone, Copy, clap::Parser, Pup)]
pub struct Work {
    /// Numbers in a message
    #[arg(long, default_value_t = 1)]
    pub cells: u32,
    /// Steps
    #[arg(long, default_value_t = 1)]
    pub steps: u32,
    /// What everyone computes in a step, in nanoseconds
    #[arg(long, default_value_t = 0)]
    pub compute_ns: u64,
    /// Only says so
    #[arg(long)]
    pub is_modelled: bool,
}

impl Work {
    /// Takes its time, of the processor's.
    fn compute(&self) {
        if self.is_modelled {
            return charge(Duration::from_nanos(self.compute_ns));
        }
        if self.compute_ns > 0 {
            let start = worked_ns();
            while worked_ns() - start < self.compute_ns {}
        }
    }
}

/// The processor's time that this thread has had.
pub fn worked_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[derive(Pup)]
struct Peer {
    peers: i32,
    work: Work,
    cells: Vec<f64>,
    received: u32,
    sending_ns: f64,
}

#[chare(array1d)]
impl Peer {
    #[init]
    fn new(peers: i32, work: Work) -> Self {
        Peer { peers, work, cells: vec![1.0; work.cells as usize], received: 0, sending_ns: 0.0 }
    }

    #[entry]
    fn face(step: u32, side: usize, cells: Vec<f64>);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>, steps: u32) -> u32 {
        for step in 1..=steps {
            self.send(cx, step);
            let (_side, cells) = cx.when(Self::face, step).await;
            self.cells = cells;
            self.work.compute();
        }
        steps
    }

    fn send(&mut self, cx: &mut Cx<Self>, step: u32) {
        let cells = std::mem::take(&mut self.cells);
        cx.array().at((cx.index() + 1) % self.peers).face(step, 0, cells);
    }

    #[entry]
    fn flood(&mut self, cx: &mut Cx<Self>) -> f64 {
        let faces: Vec<_> = (0..FLOOD).map(|_| self.cells.clone()).collect();
        let start = cx.now();
        for cells in faces {
            cx.array().at(1).drop_in(0, 0, cells);
        }
        self.sending_ns = (cx.now() - start).as_nanos() as f64 / f64::from(FLOOD);
        self.sending_ns
    }

    #[entry]
    fn drop_in(&mut self, _step: u32, _side: usize, cells: Vec<f64>) {
        self.received += 1;
        self.cells = cells;
    }

    #[entry]
    async fn await_flood(&mut self, cx: &mut Cx<Self>) -> u32 {
        self.received
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, work: Work) {
    let peers: i32 = cx.pes().max(2) as i32;
    let array: Array<Peer> = Peer::array(peers).new(peers, work);
    let _warm: u32 = array.run(work.steps / 10 + 1).reduce(Max).await;
    let start: f64 = cx.now().as_nanos() as f64;
    let _steps: u32 = array.run(work.steps).reduce(Max).await;
    cx.result("step_ns", (cx.now().as_nanos() as f64 - start) / f64::from(work.steps));
    let _first: f64 = array.at(0).flood().await;
    cx.quiescence().await;
    let start: f64 = cx.now().as_nanos() as f64;
    let sending: f64 = array.at(0).flood().await;
    let mut received: u32 = 0;
    while received < 2 * FLOOD {
        let now: u32 = array.at(1).await_flood().await;
        received = now;
    }
    cx.result("flood_ns", (cx.now().as_nanos() as f64 - start) / f64::from(FLOOD));
    cx.result("send_ns", sending);
}
