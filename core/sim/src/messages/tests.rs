use std::time::Duration;

use super::*;
use talisman_base::ballast::Ballast;
use talisman_core::prelude::*;
use talisman_job::ResultValue;

/// In nanoseconds.
const MICROSECOND: u64 = 1_000;

/// Everything takes a round time.
fn machine() -> Machine {
    let way = Way { send_ns: 1_000.0, receive_ns: 2_000.0, latency_ns: 10_000.0, ..Way::default() };
    Machine {
        nodes_per_host: 2,
        cores_per_host: 2,
        cores: Vec::new(),
        run_ns: 100.0,
        within: Way::default(),
        near: way,
        far: Way { latency_ns: 50_000.0, line_ns_per_byte: 1.0, ..way },
        slice_ns: 1_000 * MICROSECOND,
        wake_ns: 0,
    }
}

/// Computes when it is told to, and says when it was done.
#[derive(Pup)]
struct Worker;

#[chare(group)]
impl Worker {
    #[init]
    fn new() -> Self {
        Worker
    }

    #[entry]
    fn compute(&self, cx: &mut Cx<Self>, micros: u64) -> u64 {
        charge(Duration::from_micros(micros));
        cx.now().as_nanos() as u64
    }

    #[entry]
    fn carry(&self, cx: &mut Cx<Self>, _ballast: Ballast) -> u64 {
        cx.now().as_nanos() as u64
    }
}

/// What the workers do, one thing after the other, timed together.
#[derive(clap::Parser, Clone, Default, Pup)]
struct Work {
    /// All of them compute for so long.
    #[arg(long, default_value_t = 0)]
    micros: u64,
    /// To the worker on this PE ...
    #[arg(long, default_value_t = 0)]
    to: u32,
    /// ... so many bytes are sent.
    #[arg(long, default_value_t = 0)]
    bytes: u32,
}

#[talisman::main]
async fn main(cx: &mut Cx, work: Work) {
    let workers: Group<Worker> = Worker::group().new();
    let _ready: u64 = workers.compute(0).reduce(Max).await;
    let start: u64 = cx.now().as_nanos() as u64;
    if work.micros == 0 {
        let there: u64 = workers.on(work.to).carry(Ballast(work.bytes)).await;
        cx.result("took_ns", there - start);
    } else {
        let last: u64 = workers.compute(work.micros).reduce(Max).await;
        cx.result("took_ns", last - start);
    }
}

fn took_ns(work: Work, machine: &Machine, nodes: u32) -> u64 {
    let outcome = run_modelled::<__Main>((work,), machine, nodes, 1);
    assert_eq!((outcome.status, outcome.message), (0, None));
    match outcome.results.value("took_ns") {
        Some(ResultValue::U64(took)) => *took,
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_computes_keeps_its_core_for_so_long() {
    let computing = |nodes_per_host, nodes| {
        let machine = Machine { nodes_per_host, ..machine() };
        took_ns(Work { micros: 5_000, ..Work::default() }, &machine, nodes) / MICROSECOND
    };
    assert!((5_000..5_200).contains(&computing(1, 2)));
    assert!((5_000..5_200).contains(&computing(2, 2)));
    assert!((10_000..10_300).contains(&computing(4, 4)), "four on two cores");
    let slow = Machine { nodes_per_host: 4, wake_ns: 500 * MICROSECOND, ..machine() };
    let took = took_ns(Work { micros: 5_000, ..Work::default() }, &slow, 4) / MICROSECOND;
    assert!((11_000..15_000).contains(&took), "each has to come to a core: {took}");
}

#[test]
fn a_message_takes_what_its_way_takes() {
    let carrying =
        |to, bytes| took_ns(Work { to, bytes, ..Work::default() }, &machine(), 4) as f64 / MICROSECOND as f64;
    let (near, far) = (carrying(1, 0), carrying(2, 0));
    // Sent, on its way, received, and run.
    assert!((13.1..13.5).contains(&near), "{near}");
    assert!((53.1..53.5).contains(&far), "{far}");
    assert_eq!(carrying(1, 100_000), near, "bytes are free in memory here");
    let more = carrying(2, 100_000) - far;
    assert!((99.9..100.1).contains(&more), "{more} for 100,000 bytes at one a nanosecond");
}

#[test]
fn the_same_program_on_the_same_machine_gives_the_same_trace() {
    let run = |bytes| {
        let work = Work { to: 3, bytes, ..Work::default() };
        let outcome = run_modelled::<__Main>((work,), &machine(), 4, 1);
        (outcome.trace, outcome.events)
    };
    assert_eq!(run(10), run(10));
    assert_ne!(run(10), run(11));
}
