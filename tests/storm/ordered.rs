//! Elements of an ordered array that talk while everybody moves: messages between two come in order all the same.

use talisman::prelude::*;
use talisman::testing::{Test, Tested};

use crate::ledger::{self, Counted};

#[derive(Clone, Copy, Debug, Pup, clap::Parser)]
pub struct Plan {
    #[arg(skip)]
    pub job: u64,
    #[arg(skip)]
    pub elements: i32,
    #[arg(skip)]
    pub rounds: u32,
}

#[derive(Pup)]
struct Talker {
    plan: Plan,
    said: Vec<u32>,
    heard: Vec<u32>,
}

#[chare(array1d, ordered)]
impl Talker {
    #[init]
    fn new(plan: Plan) -> Self {
        Talker { plan, said: vec![0; plan.elements as usize], heard: vec![0; plan.elements as usize] }
    }

    #[entry]
    fn talk(&mut self, cx: &mut Cx<Self>, left: u32) {
        for _ in 0..6 {
            let to = cx.rng().below(self.plan.elements as u64) as i32;
            let number = self.said[to as usize];
            self.said[to as usize] += 1;
            let id = ledger::of(self.plan.job).send();
            cx.array().at(to).say(id, cx.index(), number, Counted::new(self.plan.job));
        }
        wander(cx);
        if left > 0 {
            cx.me().talk(left - 1);
        }
    }

    #[entry]
    fn say(&mut self, cx: &mut Cx<Self>, id: u64, from: i32, number: u32, _value: Counted) {
        let (ledger, heard) = (ledger::of(self.plan.job), &mut self.heard[from as usize]);
        ledger.receive(id, cx.index());
        if number != *heard {
            ledger.violation(format!("{} heard {number} of {from} instead of {heard}", cx.index()));
        }
        *heard += 1;
        wander(cx);
    }
}

fn wander(cx: &mut Cx<Talker>) {
    let pes = u64::from(cx.pes());
    if cx.rng().below(3) == 0 {
        let pe = cx.rng().below(pes) as u32;
        cx.migrate_to(pe);
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, plan: Plan) {
    Talker::array(plan.elements).new(plan).talk(plan.rounds);
    cx.quiescence().await;
    let ledger = ledger::of(plan.job);
    ledger.quiet("after the talk");
    ledger.finish();
}

pub fn run(test: &Test, plan: Plan) -> Tested {
    test.run::<__Main>((plan,))
}
