use std::time::Duration;

use super::{Blow, Strike, WentBack, When};
use crate::messages::run_logging;
use crate::{Losses, Machine, Way, charge, run_modelled_losing};
use talisman_core::prelude::*;
use talisman_job::checkpoints::{CkptEvery, FaultTolerance};
use talisman_job::{CheckpointTaken, Output, Progress, ResultValue, RunArgs};
use talisman_node::{Outcome, Watch};

const NODES: u32 = 8;
const STEPS: u64 = 40;
/// Of two objects.
const STEP: Duration = Duration::from_millis(2);
const PAUSE: Duration = Duration::from_millis(5);
/// After about 20 steps, when a checkpoint of every tenth step begins as well.
const CUT_AT: Duration = Duration::from_millis(44);
/// When that is committed.
const LOST_AT: Duration = Duration::from_millis(64);

#[derive(Pup)]
struct Player {
    sum: u64,
}

#[chare(array1d)]
impl Player {
    #[init]
    fn new() -> Self {
        Player { sum: 0 }
    }

    #[entry]
    fn take(step: u64, value: u64);

    /// Each computes, and tells the next one in a ring.
    #[entry]
    async fn play(&mut self, cx: &mut Cx<Self>, players: i32) -> u64 {
        for step in 1..=STEPS {
            charge(STEP / 2);
            cx.array().at((cx.index() + 1) % players).take(step, self.sum ^ cx.index() as u64);
            let value: u64 = cx.when(Self::take, step).await;
            self.sum = self.sum.rotate_left(7) ^ value;
            if cx.index() == 0 {
                cx.step(step);
            }
        }
        self.sum
    }
}

#[derive(clap::Parser, Pup)]
struct Options {}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    drop(options);
    let players: i32 = 2 * cx.pes() as i32;
    let array: Array<Player> = Player::array(players).new();
    let sum: u64 = array.play(players).reduce(BitXor).await;
    cx.result("sum", sum);
}

fn machine() -> Machine {
    let way = Way { send_ns: 1_000.0, receive_ns: 1_000.0, latency_ns: 10_000.0, ..Way::default() };
    Machine {
        nodes_per_host: 1,
        cores_per_host: 1,
        cores: Vec::new(),
        run_ns: 100.0,
        within: Way::default(),
        near: way,
        far: way,
        slice_ns: 1_000_000,
        wake_ns: 0,
    }
}

fn options(ft: FaultTolerance, every: u64) -> RunArgs {
    let ckpt_every = Some(CkptEvery::Steps(every));
    RunArgs { nodes: NODES, pes: Some(1), simulate: true, ft, ckpt_every, ..RunArgs::default() }
}

fn sum(outcome: &Outcome) -> u64 {
    assert_eq!((outcome.status, &outcome.message), (0, &None));
    match outcome.results.value("sum") {
        Some(ResultValue::U64(sum)) => *sum,
        other => panic!("{other:?}"),
    }
}

/// A job that goes back as one, to the checkpoint of every tenth step.
fn double(lost: &[(u32, Duration)]) -> Outcome {
    let losses = Losses { nodes: lost.to_vec(), pause: PAUSE };
    run_modelled_losing::<__Main>((Options {},), &machine(), &options(FaultTolerance::Double, 10), &losses)
}

/// One that logs its messages.
fn logging(strikes: &[Strike]) -> (Outcome, WentBack) {
    let watch = Watch::new(Output::capture(), Progress::off());
    let machine = (&machine(), PAUSE);
    run_logging::<__Main, _>(
        (Options {},),
        &options(FaultTolerance::Logging, 1_000),
        &watch,
        Some(machine),
        strikes,
    )
}

fn lose(nodes: &[u32]) -> Strike {
    Strike { when: When::Time(LOST_AT), what: Blow::Lose(nodes.to_vec()) }
}

#[test]
fn one_node_does_its_work_again_where_else_all_do() {
    let (calm, hurt) = (double(&[]), double(&[(3, LOST_AT)]));
    let at = |taken: &CheckpointTaken| Duration::from_secs_f64(taken.at_s);
    let line =
        hurt.checkpoints.iter().map(at).filter(|at| *at < LOST_AT).max().expect("one of every ten steps");
    let again = (LOST_AT - line) * NODES;
    let cut = Strike { when: When::Time(CUT_AT), what: Blow::Cut };
    let (outcome, went_back) = logging(&[cut, lose(&[3])]);
    assert_eq!(sum(&outcome), sum(&calm));
    assert_eq!(sum(&hurt), sum(&calm));
    assert_eq!(went_back.restored, [(3, 1)].into());
    let redone = Duration::from_nanos(went_back.redone_ns);
    assert!(STEP * 3 < redone && redone < STEP * 10, "{redone:?} were done again");
    eprintln!("{redone:?} are done again, and {again:?} where all go back");
    assert!(redone * 5 < again, "{redone:?} were done again, and {again:?} where all go back");
    let all = logging(&[lose(&[3])]).1;
    assert!(Duration::from_nanos(all.redone_ns) > STEP * 20, "without a cut it goes back to the beginning");
}

#[test]
fn several_do_their_work_again_at_the_same_time() {
    let calm = logging(&[]);
    let (one, two) = (logging(&[lose(&[1])]), logging(&[lose(&[1, 5])]));
    for (outcome, _) in [&one, &two] {
        assert_eq!(sum(outcome), sum(&calm.0));
    }
    let recovered = |went_back: &WentBack| Duration::from_nanos(went_back.recovered_ns[0]);
    let (redone, after_one, after_two) = (one.1.redone_ns, recovered(&one.1), recovered(&two.1));
    assert!(two.1.redone_ns > redone * 19 / 10, "{} ns and {redone} ns", two.1.redone_ns);
    assert!(after_two < after_one * 5 / 4, "{after_two:?} and {after_one:?}");
    assert!(after_one < PAUSE + LOST_AT + STEP, "it does not take longer than it did: {after_one:?}");
}
