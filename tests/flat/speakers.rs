//! Collections whose members send to an ordered array, and that are destroyed as a whole.

use super::*;
use talisman::launch::checkpoints::{CkptEvery, FaultTolerance};
use talisman::launch::options::Transport;

/// Of an array.
#[derive(Pup)]
struct Speaker;

#[chare(array1d)]
impl Speaker {
    #[init]
    fn new() -> Self {
        Speaker
    }

    /// Some have moved, and some of what they send is on its way when they go.
    #[entry]
    fn speak(&mut self, cx: &mut Cx<Self>, halls: Array<Hall>) -> u32 {
        halls.at(cx.index() % 2).hear(1);
        cx.migrate_to((cx.pe() + 1) % cx.pes());
        1
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>, halls: Array<Hall>) -> u32 {
        halls.at(0).hear(1);
        cx.destroy();
        1
    }
}

/// The same of a group.
#[derive(Pup)]
struct Caller;

#[chare(group)]
impl Caller {
    #[init]
    fn new() -> Self {
        Caller
    }

    #[entry]
    fn call(&mut self, halls: Array<Hall>) -> u32 {
        halls.at(0).hear(1);
        halls.at(1).hear(1);
        2
    }
}

/// Hears of all of them, in order, and moves meanwhile.
#[derive(Pup)]
struct Hall {
    heard: u32,
}

#[chare(array1d, ordered)]
impl Hall {
    #[init]
    fn new() -> Self {
        Hall { heard: 0 }
    }

    #[entry]
    fn hear(&mut self, cx: &mut Cx<Self>, times: u32) {
        self.heard += times;
        if self.heard.is_multiple_of(16) {
            cx.migrate_to((cx.pe() + 1) % cx.pes());
        }
    }

    #[entry]
    fn heard(&mut self) -> u32 {
        self.heard
    }
}

#[derive(clap::Parser, Pup)]
pub struct Speeches {
    #[arg(long)]
    rounds: u32,
}

#[talisman::main]
async fn main(cx: &mut Cx, speeches: Speeches) {
    let halls: Array<Hall> = Hall::array(2).new();
    let mut spoken: u32 = 0;
    for round in 0..speeches.rounds {
        let all: Array<Speaker> = Speaker::array(4).new();
        let ones: u32 = all.speak(halls).reduce(Sum).await;
        // One goes before the others, and leaves what it counted to its home.
        if round % 3 == 0 {
            let one: u32 = all.at(1).leave(halls).await;
            spoken += one;
        }
        all.destroy();
        let group: Group<Caller> = Caller::group().new();
        let twos: u32 = group.call(halls).reduce(Sum).await;
        group.destroy();
        spoken += ones + twos;
        if round % BETWEEN == 0 {
            NOTED.lock().unwrap().push(IN_USE.load(Ordering::Relaxed));
        }
    }
    cx.quiescence().await;
    let heard: Vec<u32> = halls.heard().reduce(Concat).await;
    assert_eq!(heard.iter().sum::<u32>(), spoken);
    cx.exit();
}

pub fn are_flat() {
    const ROUNDS: u32 = 5_000;
    let run = |test: Test| is_flat::<__Main>(&test, (Speeches { rounds: ROUNDS },), ROUNDS);
    run(Test::new().pes(1));
    run(Test::new().pes(4));
    run(Test::new().pes(2).simulated(2, 1));
    run(Test::new().pes(2).nodes(2, Transport::Shm));
    run(Test::new().pes(2).simulated(2, 1).with_options(|options| {
        (options.ft, options.ckpt_every) =
            (FaultTolerance::Double, Some(CkptEvery::Time(std::time::Duration::from_millis(20))));
    }));
    run(Test::new().pes(2).simulated(3, 1).going_back(40_000, &[1]).going_back(80_000, &[]));
}
