//! How many instructions a message takes, on each of its ways: two nodes of two PEs each, in one thread, linked as processes of one host
//! are. `.ci/instructions.py` runs each of these tests under callgrind, which counts between two calls of [`callgrind::toggle`]. Without
//! callgrind they see that all messages come.

use std::sync::Arc;
use std::time::Instant;

use self::program::{Main, Throw};
use super::callgrind;
use crate::main_chare::create_main;
use crate::services::SERVICES;
use talisman_base::clock::Clock;
use talisman_base::ids::PeId;
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

/// Two players throw a ball to and fro for ever.
mod program {
    use talisman::prelude::*;

    /// Between PE 0 and which, and what: so many bytes, or a number if there are none.
    #[derive(clap::Parser, Clone, Copy, Debug, Pup)]
    pub struct Throw {
        pub other: u32,
        pub bytes: usize,
    }

    #[derive(Pup)]
    struct Player {
        other: u32,
    }

    #[chare(group)]
    impl Player {
        #[init]
        fn new() -> Self {
            Player { other: 0 }
        }

        /// The first one begins when the second one knows of it.
        #[entry]
        fn meet(&mut self, cx: &mut Cx<Self>, other: u32, bytes: usize) {
            self.other = other;
            match bytes {
                _ if cx.pe() == 0 && other != 0 => cx.group().on(other).meet(0, bytes),
                0 => cx.group().on(other).number(0),
                _ => cx.group().on(other).bytes(vec![1; bytes]),
            }
        }

        #[entry]
        fn number(&mut self, cx: &mut Cx<Self>, thrown: u64) {
            cx.group().on(self.other).number(thrown + 1);
        }

        #[entry]
        fn bytes(&mut self, cx: &mut Cx<Self>, bytes: Vec<u8>) {
            cx.group().on(self.other).bytes(bytes);
        }
    }

    #[derive(Pup)]
    pub struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new(throw: Throw) -> Self {
            Player::group().new().on(0).meet(throw.other, throw.bytes);
            Main
        }
    }
}

const NODES: u32 = 2;
const PES: u32 = 2;
/// Rounds in which each PE has a turn: until they play, and while it is counted. `.ci/instructions.py` knows how many messages that are.
const BEFORE: usize = 200;
const MESSAGES: u64 = 2_000;

/// All PEs of both nodes.
struct Host {
    pes: Vec<Pe>,
}

impl Host {
    fn playing(other: PeId, bytes: usize) -> Host {
        let host = Host::new();
        create_main::<Main, _>(&host.pes[0], (Throw { other, bytes },));
        (0..BEFORE).for_each(|_| host.pes.iter().for_each(turn));
        host
    }

    fn new() -> Host {
        let shape = Shape { nodes: NODES, pes_per_node: PES };
        let memory = inherited::create(NODES, PES).expect("the system gives memory");
        let bells: Vec<Arc<Bell>> =
            (0..NODES * PES).map(|_| Arc::new(Bell::new().expect("the system gives one"))).collect();
        let job = Job::new(Output::capture());
        let node = |number: u32| {
            let inherited = Inherited::open(&memory, NODES, PES).expect("made for as many");
            let node = Node::new(shape, number, Config::of(&RunArgs::default()), job.clone());
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

    fn ran(&self) -> u64 {
        self.pes.iter().map(|pe| pe.stats.run.get()).sum()
    }
}

/// A PE takes in what has come and runs a message, as on a thread of its own.
fn turn(pe: &Pe) {
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

/// Throws between PE 0 and another, and counts.
fn count(other: PeId, bytes: usize) {
    let host = Host::playing(other, bytes);
    let players: Vec<&Pe> =
        if other == 0 { vec![&host.pes[0]] } else { vec![&host.pes[0], &host.pes[other as usize]] };
    let before = host.ran();
    callgrind::toggle();
    while host.ran() - before < MESSAGES {
        players.iter().for_each(|pe| turn(pe));
    }
    callgrind::toggle();
    assert!(host.ran() - before < MESSAGES + 2, "one ball is in the air");
}

#[test]
fn a_number_on_a_pe() {
    count(0, 0);
}

#[test]
fn a_number_between_pes() {
    count(1, 0);
}

#[test]
fn a_number_between_nodes() {
    count(2, 0);
}

#[test]
fn bytes_between_nodes() {
    count(2, 1024);
}
