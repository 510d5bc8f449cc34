//! Nodes that halt in the midst of traffic and begin anew on the same links, each for itself as processes do.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use super::super::linking::Streams;
use super::super::together;
use super::Lives;
use talisman_base::topology::Shape;
use talisman_base::transport::TRANSPORTS;
use talisman_core::main_chare::create_main;
use talisman_core::prelude::*;
use talisman_ft::double::Order;
use talisman_ft::view::View;
use talisman_job::Output;
use talisman_job::job::{End, Job, Others};
use talisman_job::lines::Lines;
use talisman_job::options::TransportChoice;
use talisman_kernel::node::Config;
use talisman_kernel::pe::Pe;
use talisman_transport::reconnect::Reconnect;

/// The last one is lost.
const NODES: u32 = 3;
/// Messages of a life, by each element.
const MESSAGES: u64 = 300;
/// Large ones, so that much is in the links when a node halts.
const WORDS: usize = 5_000;

/// The nodes of the job that is being tested.
static JOBS: Mutex<Vec<Arc<Job>>> = Mutex::new(Vec::new());
/// Messages that were received in the first life.
static RECEIVED: AtomicU64 = AtomicU64::new(0);

#[derive(Pup)]
struct Talker {
    life: u64,
    heard: u64,
}

#[chare(group, name = "lives::Talker")]
impl Talker {
    #[init]
    fn new(life: u64) -> Self {
        Talker { life, heard: 0 }
    }

    #[entry]
    fn talk(&mut self, cx: &mut Cx<Self>) {
        for number in 0..64 {
            let words = if number % 8 == 0 { WORDS } else { 3 };
            cx.group().on(number % cx.pes()).hear(self.life, vec![self.life; words]);
        }
        if self.life == 2 && cx.pe() == 0 {
            // The other node halts later than this one has gone on, and has got much that it must not look at yet.
            halt(1);
        }
    }

    #[entry]
    fn hear(&mut self, cx: &mut Cx<Self>, life: u64, values: Vec<u64>) {
        assert!(life == self.life && values.iter().all(|value| *value == life), "of another life: {life}");
        self.heard += 1;
        if life > 1 && self.heard <= MESSAGES {
            return self.talk_on(cx);
        }
        if life == 1 {
            if RECEIVED.fetch_add(1, Ordering::Relaxed) == MESSAGES {
                halt(2);
                halt(0);
            }
            self.talk_on(cx);
        }
    }

    #[entry]
    fn heard(&mut self) -> u64 {
        self.heard
    }
}

impl Talker {
    /// Every other message goes back, and one within the node, so that traffic never ends by itself.
    fn talk_on(&self, cx: &mut Cx<Self>) {
        let to = (cx.pe() + 1 + self.heard as u32) % cx.pes();
        cx.group()
            .on(to)
            .hear(self.life, vec![self.life; if self.heard.is_multiple_of(3) { WORDS } else { 5 }]);
    }
}

/// Not by the PE that says so, which may be of another node.
fn halt(node: usize) {
    let job = JOBS.lock().unwrap()[node].clone();
    thread::spawn(move || job.halt());
}

/// Which life it is.
#[derive(clap::Parser, Clone, Debug, Pup)]
struct Life {
    life: u64,
}

#[talisman::main]
async fn main(cx: &mut Cx, which: Life) {
    let life: u64 = which.life;
    let talkers: Group<Talker> = Talker::group().new(life);
    talkers.talk();
    cx.quiescence().await;
    let heard: u64 = talkers.heard().reduce(Sum).await;
    writeln!(cx.output(), "life {life}: {}", heard > MESSAGES);
}

#[test]
fn nothing_that_was_sent_in_an_earlier_life_is_delivered() {
    let transports = TRANSPORTS.iter().map(|row| row.transport.into()).chain([TransportChoice::Mixed]);
    for transport in transports {
        for _ in 0..5 {
            assert_eq!(lives(transport), ["life 2: true"], "{transport:?}");
        }
    }
}

/// What the program prints.
fn lives(transport: TransportChoice) -> Vec<String> {
    let output = Output::capture();
    let jobs: Vec<_> = (0..NODES).map(|_| Job::new(output.clone())).collect();
    jobs.iter().for_each(|job| job.survive());
    (0..).zip(&jobs).for_each(|(node, job)| job.join(Box::new(Rest(node))));
    *JOBS.lock().unwrap() = jobs.clone();
    RECEIVED.store(0, Ordering::Relaxed);
    let hosts = together::hosts(Shape { nodes: NODES, pes_per_node: 2 }, transport).unwrap();
    thread::scope(|scope| {
        for ((host, number, streams), job) in hosts.into_iter().zip(&jobs) {
            let never = |_| Reconnect::never();
            let lives =
                Lives::new(host, number, None, Config::default(), (job, Arc::default()), streams, never)
                    .unwrap();
            scope.spawn(move || live(lives, job));
        }
    });
    assert_eq!(jobs[0].how_it_ended(), Some(End { status: 0, message: None }));
    output.captured()
}

/// The node that is lost has one life.
fn live(mut lives: Lives, job: &Job) {
    let first = View::whole(NODES);
    let second = first.after(1, NODES, |node| node < 2, |_| 1);
    let number = lives.number;
    for (life, view) in [(1, first), (2, second)].into_iter().filter(|(_, view)| view.is_there(number)) {
        let ready = lives.next(&Order::new(view.clone(), None, 1), Streams::new()).unwrap();
        let begins = |pe: &Pe| pe.id == 0;
        lives.live(ready, |pe| {
            if begins(pe) {
                create_main::<__Main, (Life,)>(pe, (Life { life },))
            }
        });
        if job.how_it_ended().is_some() {
            job.last_words(number);
            return;
        }
        job.begin_again();
    }
}

/// The other nodes, for the one with this number.
struct Rest(usize);

impl Others for Rest {
    fn end(&self, end: &End) {
        let jobs = JOBS.lock().unwrap().clone();
        jobs.iter()
            .enumerate()
            .filter(|(node, _)| *node != self.0)
            .for_each(|(_, job)| job.end_here(end.clone()));
    }

    fn step(&self, _: u64) {}

    fn suspect(&self, node: u32, why: String) {
        panic!("node {node}: {why}");
    }

    fn say(&self, lines: Lines) {
        let output = JOBS.lock().unwrap()[0].output.clone();
        lines.lines.iter().for_each(|line| output.print(line));
    }
}
