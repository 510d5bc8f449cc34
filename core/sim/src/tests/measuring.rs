//! What PEs measure for load balancing, on the model of a machine.

use std::cell::RefCell;
use std::time::Duration;

use crate::messages::run_on;
use crate::{Machine, Way, charge};
use talisman::Callback;
use talisman::function::Function;
use talisman::prelude::*;
use talisman_base::ids::PeId;
use talisman_job::{Measures, Output, Progress, RunArgs};
use talisman_kernel::pe::current;
use talisman_lb::member::Local;
use talisman_lb::snapshot::{Key, Object};
use talisman_lb::strategy::Wants;
use talisman_node::Watch;

const ALL: Measures = Measures { loads: true, edges: true, sizes: true };

/// Each node is a PE with a core of its own. What is not charged takes hardly any time.
fn machine() -> Machine {
    let way = Way { latency_ns: 1_000.0, ..Way::default() };
    Machine {
        nodes_per_host: 1,
        cores_per_host: 1,
        run_ns: 0.0,
        within: way,
        near: way,
        far: way,
        slice_ns: 1_000_000_000,
        wake_ns: 0,
        cores: Vec::new(),
    }
}

thread_local! {
    /// What PEs measured, in the order in which they were asked.
    static MEASURED: RefCell<Vec<Local>> = const { RefCell::new(Vec::new()) };
}

/// Ends a PE's period.
struct EndPeriod;

impl Function for EndPeriod {
    const NAME: &'static str = "talisman_simulator::tests::measuring::EndPeriod";
    type Value = ();

    fn call((): ()) {
        let local = current(|pe| pe.local(Wants { edges: true }));
        MEASURED.with_borrow_mut(|all| all.push(local));
    }
}

talisman::register_function!(EndPeriod);

/// Computes for as long as it is told, before and after it waits.
#[derive(Pup)]
struct Worker {
    ballast: Vec<f64>,
}

#[chare(array1d)]
impl Worker {
    #[init]
    fn new(cx: &mut Cx<Self>) -> Self {
        Worker { ballast: vec![0.0; 1_000 * cx.index() as usize] }
    }

    #[entry]
    fn compute(&mut self, micros: u64) -> u64 {
        charge(Duration::from_micros(micros));
        micros
    }

    #[entry]
    fn go(micros: u64);

    /// Computes for 1 µs, waits for a message that says how much more, and computes that; asks the next, and computes 10 µs.
    #[entry]
    async fn in_parts(&mut self, cx: &mut Cx<Self>) -> u64 {
        charge(Duration::from_micros(1));
        let micros: u64 = cx.when(Self::go).await;
        charge(Duration::from_micros(micros));
        let other: u64 = cx.array().at(cx.index() + 1).compute(100).await;
        charge(Duration::from_micros(10));
        other
    }

    #[entry]
    fn move_to(&mut self, cx: &mut Cx<Self>, pe: PeId) -> u64 {
        cx.migrate_to(pe);
        0
    }

    #[entry]
    fn say(&mut self, cx: &mut Cx<Self>) -> u64 {
        match cx.index() {
            0 => cx.set_load(2.5),
            1 => cx.set_migratable(false),
            2 => cx.set_position([1.0, -2.0, 3.5]),
            _ => {}
        }
        0
    }

    /// Sends so many numbers to the next, so often.
    #[entry]
    fn chat(&mut self, cx: &mut Cx<Self>, times: u64, numbers: u64) {
        for _ in 0..times {
            cx.array().at(cx.index() + 1).listen(vec![0; numbers as usize]);
            cx.me().hear(0);
        }
    }

    #[entry]
    fn listen(&mut self, numbers: Vec<u64>) {
        drop(numbers);
    }

    #[entry]
    fn hear(&mut self, number: u64) {
        let _ = number;
    }
}

/// Belongs to its PE.
#[derive(Pup)]
struct Clerk;

#[chare(group)]
impl Clerk {
    #[init]
    fn new() -> Self {
        Clerk
    }

    #[entry]
    fn compute(&mut self, micros: u64) -> u64 {
        charge(Duration::from_micros(micros));
        micros
    }
}

#[derive(clap::Parser, Clone, Default, Pup)]
struct Script {
    name: String,
}

/// Elements of the array, dealt out in blocks.
const WORKERS: i32 = 6;

#[talisman::main]
async fn main(cx: &mut Cx, script: Script) {
    let workers: Array<Worker> = Worker::array(WORKERS).new();
    let clerks: Group<Clerk> = Clerk::group().new();
    let _ready: u64 = workers.compute(0).reduce(Max).await;
    let _ready: u64 = clerks.compute(0).reduce(Max).await;
    end_period(cx.pes());
    cx.quiescence().await;
    match script.name.as_str() {
        "compute" => {
            for worker in 0..WORKERS {
                workers.at(worker).compute(100 * (worker as u64 + 1)).ignore();
                workers.at(worker).compute(1).ignore();
            }
            let _: u64 = clerks.on(1).compute(500).await;
        }
        "wait" => {
            workers.at(0).in_parts().ignore();
            workers.at(0).go(1_000);
        }
        "say" => {
            let _: u64 = workers.say().reduce(Max).await;
            let _: u64 = workers.move_to(1).reduce(Max).await;
            cx.quiescence().await;
            let _: u64 = workers.compute(7).reduce(Max).await;
        }
        "move" => {
            for period in 0..3u32 {
                let _: u64 = workers.at(0).compute([1_000, 1_020, 1_000][period as usize]).await;
                end_period(cx.pes());
                cx.quiescence().await;
                let _: u64 = workers.at(0).move_to(period.min(1)).await;
                cx.quiescence().await;
            }
        }
        "chat" => {
            workers.at(0).chat(10, 100);
            workers.at(1).chat(3, 0);
            workers.at(1).chat(2, 1_000);
        }
        other => cx.fail(other),
    }
    cx.quiescence().await;
    end_period(cx.pes());
    cx.quiescence().await;
    cx.exit();
}

fn end_period(pes: u32) {
    (0..pes).for_each(|pe| Callback::function::<EndPeriod>(pe).send(()));
}

/// What PE 0 and PE 1 measured in each period but the first.
fn periods(name: &str, options: &RunArgs) -> Vec<[Local; 2]> {
    MEASURED.take();
    let options = RunArgs { simulate: true, nodes: 2, pes: Some(1), ..options.clone() };
    let watch = Watch::new(Output::capture(), Progress::off());
    let outcome = run_on::<__Main, _>((Script { name: name.into() },), &options, &watch, Some(&machine()));
    assert_eq!((outcome.status, outcome.message), (0, None));
    let mut measured = MEASURED.take();
    let mut periods = Vec::new();
    while !measured.is_empty() {
        let mut two: Vec<_> = measured.drain(..2).collect();
        two.sort_by_key(|local| local.number);
        periods.push(two.try_into().expect("two PEs"));
    }
    periods.remove(0);
    periods
}

/// The only period.
fn period(name: &str, measures: Measures) -> [Local; 2] {
    let mut periods = periods(name, &RunArgs { measures, ..RunArgs::default() });
    assert_eq!(periods.len(), 1);
    periods.remove(0)
}

fn assert_micros(seconds: f64, micros: f64) {
    assert!((seconds * 1e6 - micros).abs() < 1e-6, "{} µs instead of {micros}", seconds * 1e6);
}

#[test]
fn objects_are_charged_what_they_compute() {
    let [here, there] = period("compute", ALL);
    assert_eq!((here.pes, here.number, there.number, there.pe.node), (2, 0, 1, 1));
    let all: Vec<&Object> = here.objects.iter().chain(&there.objects).collect();
    assert_eq!(all.len(), WORKERS as usize, "no members of groups, and not the main chare");
    assert!(here.objects.is_sorted_by_key(|object| object.key));
    assert!(there.objects.is_sorted_by_key(|object| object.key));
    for object in all {
        let worker = object.position.expect("of a line")[0];
        assert_micros(object.load, 100.0 * (f64::from(worker) + 1.0) + 1.0);
        assert_eq!(object.position, Some([worker, 0.0, 0.0]));
        assert!(object.migratable);
        assert!((8_000.0 * worker..8_000.0 * worker + 100.0).contains(&(object.bytes as f32)), "{object:?}");
    }
}

#[test]
fn what_is_no_object_to_balance_is_background() {
    let [here, there] = period("compute", ALL);
    assert_micros(there.pe.background, 500.0);
    assert_micros(here.pe.background, 0.0);
}

#[test]
fn nothing_is_measured_where_it_is_not_asked_for() {
    let [here, there] = period("compute", Measures::default());
    assert!(here.objects.iter().chain(&there.objects).all(|object| object.load == 0.0 && object.bytes == 0));
    let [here, there] = period("chat", Measures { loads: true, ..Measures::default() });
    assert!(here.edges.is_empty() && there.edges.is_empty());
}

#[test]
fn every_part_of_an_async_entry_counts() {
    let [here, there] = period("wait", ALL);
    let load = |worker: f32| {
        let mut all = here.objects.iter().chain(&there.objects);
        all.find(|object| object.position == Some([worker, 0.0, 0.0])).expect("it is there").load
    };
    assert_micros(load(0.0), 1_011.0);
    assert_micros(load(1.0), 100.0);
}

#[test]
fn what_the_program_says_moves_with_the_object() {
    for options in [
        RunArgs { measures: ALL, ..RunArgs::default() },
        RunArgs { measures: ALL, repack: true, ..RunArgs::default() },
        RunArgs { measures: ALL, pack_all: true, ..RunArgs::default() },
    ] {
        let [here, there] = periods("say", &options).remove(0);
        assert!(here.objects.is_empty(), "all were to move");
        let [first, second, third, fourth] = there.objects[..4] else { panic!("all have moved here") };
        assert_eq!((first.load, first.migratable, first.position), (2.5, true, Some([0.0; 3])));
        assert_micros(second.load, 7.0);
        assert_eq!((second.migratable, third.migratable), (false, true));
        assert_eq!((third.position, fourth.position), (Some([1.0, -2.0, 3.5]), Some([3.0, 0.0, 0.0])));
    }
}

#[test]
fn the_past_moves_with_the_object() {
    for repack in [false, true] {
        let options = RunArgs { measures: ALL, repack, ..RunArgs::default() };
        let mut loads = Vec::new();
        for [here, there] in periods("move", &options) {
            let worker = |local: &Local| local.objects.iter().find(|object| is_first(object)).copied();
            let Some(object) = worker(&here).xor(worker(&there)) else { panic!("it is on one of them") };
            loads.push((object.pe, (object.load * 1e9).round()));
        }
        // 1020 µs are within what is usual, and so are 1000 after the move; nothing computed is a change.
        assert_eq!(loads, [(0, 1e6), (0, 1.005e6), (1, 1.00375e6), (1, 0.0)]);
    }
}

fn is_first(object: &Object) -> bool {
    object.position == Some([0.0; 3])
}

#[test]
fn messages_between_elements_are_counted_by_pairs() {
    let [here, there] = period("chat", ALL);
    let mut edges = Vec::new();
    for local in [&here, &there] {
        assert!(local.edges.is_sorted_by_key(|edge| (edge.from, edge.to)));
        for edge in &local.edges {
            let [from, to] = [local.objects[edge.from as usize].key, local.peers[edge.to as usize]];
            edges.push((number(from), number(to), edge.messages, edge.bytes));
        }
    }
    edges.sort_by_key(|(from, to, ..)| (*from, *to));
    // What an element sends to itself goes nowhere. A vector's length takes 8 bytes.
    assert_eq!(edges, [(0, 1, 10.0, 10.0 * 808.0), (1, 2, 5.0, 3.0 * 8.0 + 2.0 * 8_008.0)]);
}

fn number(key: Key) -> i32 {
    <i32 as talisman_base::index::ArrayIndex>::from_bits(key.index)
}
