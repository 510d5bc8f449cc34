//! Elements of an ordered array that talk while everybody moves, or is removed and inserted again: messages between two
//! names come in order all the same.

use talisman::prelude::*;
use talisman::rng::Rng;

use super::ledger::{self, Counted};

#[derive(Clone, Copy, Debug, Pup, clap::Parser)]
pub struct Plan {
    #[arg(skip)]
    pub job: u64,
    #[arg(skip)]
    pub elements: i32,
    #[arg(skip)]
    pub rounds: u32,
    /// Elements are removed and inserted again.
    #[arg(skip)]
    pub again: bool,
}

#[derive(Pup)]
struct Talker {
    plan: Plan,
    said: Vec<u32>,
    heard: Vec<u32>,
    /// Unlike `cx.rng()`, not the same again in the next life.
    rng: Rng,
}

#[chare(array1d, ordered)]
impl Talker {
    #[init]
    fn new(cx: &mut Cx<Self>, plan: Plan) -> Self {
        let none = vec![0; plan.elements as usize];
        Talker { plan, said: none.clone(), heard: none, rng: Rng::new(cx.rng().next_u64()) }
    }

    /// The next life counts on.
    #[init]
    fn again(plan: Plan, said: Vec<u32>, heard: Vec<u32>, rng: Rng) -> Self {
        Talker { plan, said, heard, rng }
    }

    #[entry]
    fn talk(&mut self, cx: &mut Cx<Self>, left: u32) {
        for _ in 0..6 {
            let to = self.rng.below(self.plan.elements as u64) as i32;
            let number = self.said[to as usize];
            self.said[to as usize] += 1;
            let id = ledger::of(self.plan.job).send();
            cx.array().at(to).say(id, cx.index(), number, Counted::new(self.plan.job));
        }
        if self.plan.again {
            cx.me().ask(self.rng.below(self.plan.elements as u64) as i32);
        }
        if left > 0 {
            cx.me().talk(left - 1);
        }
        self.wander(cx);
    }

    /// The answer has its turn among what the other says, and may come when this life is over.
    #[entry]
    async fn ask(&mut self, cx: &mut Cx<Self>, of: i32) {
        let _: u32 = cx.array().at(of).lives().await;
    }

    #[entry]
    fn lives(&mut self) -> u32 {
        1
    }

    #[entry]
    fn say(&mut self, cx: &mut Cx<Self>, id: u64, from: i32, number: u32, _value: Counted) {
        let (ledger, heard) = (ledger::of(self.plan.job), &mut self.heard[from as usize]);
        ledger.receive(id, cx.index());
        if number != *heard {
            ledger.violation(format!("{} heard {number} of {from} instead of {heard}", cx.index()));
        }
        *heard += 1;
        self.wander(cx);
    }
}

impl Talker {
    fn wander(&mut self, cx: &mut Cx<Self>) {
        let pe = self.rng.below(cx.pes().into()) as u32;
        match self.rng.below(12) {
            0..4 => cx.migrate_to(pe),
            4 if self.plan.again => {
                let (said, heard) = (std::mem::take(&mut self.said), std::mem::take(&mut self.heard));
                cx.array().insert(cx.index()).on(pe).again(self.plan, said, heard, self.rng.clone());
                cx.destroy();
            }
            _ => {}
        }
    }
}

#[derive(Pup)]
pub struct Main;

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, plan: Plan) -> Self {
        Talker::array(plan.elements).new(plan).talk(plan.rounds);
        cx.on_quiescence(cx.callback(Self::quiet).with(plan));
        Main
    }

    #[entry]
    fn quiet(&mut self, cx: &mut Cx<Self>, plan: Plan, _now: ()) {
        let ledger = ledger::of(plan.job);
        ledger.quiet("after the talk");
        ledger.finish();
        cx.exit();
    }
}
