//! Two nodes of two PEs each, in one thread, linked as processes of one host are: through memory.

use std::sync::Arc;
use std::time::Instant;

use crate::services::SERVICES;
use talisman_base::clock::Clock;
use talisman_base::topology::Shape;
use talisman_job::job::Job;
use talisman_job::{Output, RunArgs};
use talisman_kernel::net::{Net, UNSENT_MAX};
use talisman_kernel::node::{Config, Node};
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{Port, Threads};
use talisman_transport::Peer;
use talisman_transport::inherited::{self, Inherited};
use talisman_transport::poller::{Bell, Poller};
use talisman_transport::reconnect::Reconnect;

const NODES: u32 = 2;
const PES: u32 = 2;

/// All PEs of both nodes.
pub struct Host {
    pub pes: Vec<Pe>,
}

impl Host {
    pub fn new() -> Host {
        Host::with(&Config::of(&RunArgs::default()))
    }

    /// Loads are not estimated: no entry is timed for that.
    pub fn without_estimates() -> Host {
        Host::with(&Config { estimates_loads: false, ..Config::of(&RunArgs::default()) })
    }

    fn with(config: &Config) -> Host {
        let shape = Shape { nodes: NODES, pes_per_node: PES };
        let memory = inherited::create(NODES, PES).expect("the system gives memory");
        let bells: Vec<Arc<Bell>> =
            (0..NODES * PES).map(|_| Arc::new(Bell::new().expect("the system gives one"))).collect();
        let job = Job::new(Output::capture());
        let node = |number: u32| {
            let inherited = Inherited::open(&memory, NODES, PES).expect("made for as many");
            let node = Node::new(shape, number, config.clone(), job.clone());
            let net = |lane: u32| {
                let link = |other: u32| {
                    let bell = bells[(other * PES + lane) as usize].clone();
                    let parker = Arc::new(inherited.parker(other, lane, move || bell.ring()));
                    (other != number)
                        .then(|| inherited.link(number, other, Peer { node: other, lane }, parker))
                };
                let poller =
                    Poller::new(bells[(number * PES + lane) as usize].clone()).expect("a descriptor");
                Net::new((0..NODES).map(link).collect(), poller, Reconnect::never(), UNSENT_MAX)
                    .expect("no sockets")
            };
            let ports = Threads::connect(&node, (0..PES).map(|lane| Some(net(lane))).collect());
            let pe = move |(lane, port)| {
                let clock = Clock::Real(Instant::now());
                Pe::new(number * PES + lane, node.clone(), clock, Port::Threads(port), SERVICES)
            };
            (0..PES).zip(ports).map(pe).collect::<Vec<Pe>>()
        };
        Host { pes: (0..NODES).flat_map(node).collect() }
    }

    /// The PEs of one node, which is alone.
    pub fn alone() -> Host {
        let shape = Shape { nodes: 1, pes_per_node: PES };
        let node = Node::new(shape, 0, Config::of(&RunArgs::default()), Job::new(Output::capture()));
        let ports = Threads::connect(&node, (0..PES).map(|_| None).collect());
        let pe = |(id, port)| {
            Pe::new(id, node.clone(), Clock::Real(Instant::now()), Port::Threads(port), SERVICES)
        };
        Host { pes: (0..PES).zip(ports).map(pe).collect() }
    }

    /// So many rounds in which each PE has a turn.
    pub fn run(&self, rounds: usize) {
        (0..rounds).for_each(|_| self.pes.iter().for_each(turn));
    }

    /// How many messages have run.
    pub fn ran(&self) -> u64 {
        self.pes.iter().map(|pe| pe.stats.run.get()).sum()
    }
}

/// A PE takes in what has come and runs a message, as on a thread of its own.
pub fn turn(pe: &Pe) {
    let _here = Here::enter(pe);
    let Port::Threads(port) = &pe.port else { unreachable!("made above") };
    let received = pe.port.receive(pe);
    port.flush();
    pe.turn(Turn { received });
    if let Some(net) = &port.net {
        net.flush(pe);
    }
}

/// A message.
struct Turn {
    received: bool,
}

impl Feed for Turn {
    fn take_in(&mut self, _: &Pe) -> bool {
        self.received
    }

    fn most(&self) -> usize {
        1
    }

    fn looks_at_timers(&self) -> bool {
        true
    }

    fn may_rest(&self, pe: &Pe) -> bool {
        pe.chores.get()
    }
}
