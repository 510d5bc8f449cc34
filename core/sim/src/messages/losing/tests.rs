use std::time::Duration;

use super::Losses;
use crate::{Machine, Way, charge, run_modelled_losing};
use talisman_core::prelude::*;
use talisman_job::checkpoints::{CkptEvery, FaultTolerance};
use talisman_job::{ResultValue, RunArgs};
use talisman_node::Outcome;

const STEPS: u64 = 60;
const STEP: Duration = Duration::from_millis(1);
const PAUSE: Duration = Duration::from_millis(20);

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
            charge(STEP);
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

/// Four nodes, of which these are lost at these milliseconds.
fn run(lost: &[(u32, u64)]) -> Outcome {
    let options = RunArgs {
        nodes: 4,
        pes: Some(1),
        ft: FaultTolerance::Double,
        ckpt_every: Some(CkptEvery::Steps(10)),
        ..RunArgs::default()
    };
    let nodes = lost.iter().map(|(node, at)| (*node, Duration::from_millis(*at))).collect();
    run_modelled_losing::<__Main>((Options {},), &machine(), &options, &Losses { nodes, pause: PAUSE })
}

fn sum(outcome: &Outcome) -> Option<&ResultValue> {
    outcome.results.value("sum")
}

#[test]
fn what_is_lost_is_done_again_and_takes_its_time() {
    let whole = run(&[]);
    assert_eq!((whole.status, &whole.message), (0, &None));
    let one = run(&[(2, 70)]);
    assert_eq!((one.status, &one.message), (0, &None));
    assert_eq!(sum(&one), sum(&whole));
    assert!(one.wall > whole.wall + PAUSE, "{:?} and {:?}", one.wall, whole.wall);
    let three = run(&[(0, 50), (2, 120), (1, 200)]);
    assert_eq!((three.status, &three.message), (0, &None));
    assert_eq!(sum(&three), sum(&whole));
    assert!(three.wall > one.wall + 2 * PAUSE, "{:?} and {:?}", three.wall, one.wall);
    assert!(three.checkpoints.iter().any(|taken| taken.trigger == "failure"));
}

#[test]
fn before_the_first_checkpoint_there_is_nothing_to_go_back_to() {
    let early = run(&[(1, 5)]);
    assert_eq!(early.status, 3);
    assert!(early.message.is_some_and(|why| why.contains("before the first checkpoint")));
}
