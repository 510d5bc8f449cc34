//! Memory does not grow with the number of messages.

use talisman::prelude::*;

use super::memory::resident_mib;
use crate::common::{Budget, on_pes, result, row, sample, table};

const LOCAL: &str = "memory added by 10,000,000 messages on one PE, MiB | before";
const BETWEEN: &str = "memory added by 10,000,000 messages to another PE, MiB | before";
const VECTORS: &str = "memory added by 1,000,000 vectors to another PE, MiB | before";

pub fn measure() {
    for (what, pes, vectors) in [(LOCAL, 1, false), (BETWEEN, 2, false), (VECTORS, 2, true)] {
        let outcome = on_pes::<__Main>(pes, (Options { vectors },));
        sample(what, result(&outcome, "after") - result(&outcome, "before"), result(&outcome, "before"));
    }
    let budget = Budget::AtMost(2.0);
    table(
        "Memory over many messages",
        "MiB",
        &[row(LOCAL, budget), row(BETWEEN, budget), row(VECTORS, budget)],
    );
}

#[derive(clap::Parser, Pup)]
struct Options {
    vectors: bool,
}

/// On the last PE it takes; on the first it sends, a window at a time.
#[derive(Pup)]
struct Member {
    seen: u64,
}

#[chare(group)]
impl Member {
    #[init]
    fn new() -> Self {
        Member { seen: 0 }
    }

    #[entry]
    fn number(&mut self, number: u64) {
        self.seen = self.seen.wrapping_add(number);
    }

    #[entry]
    fn vector(&mut self, vector: Vec<u64>) {
        self.seen = self.seen.wrapping_add(vector.len() as u64);
    }

    #[entry]
    fn count(&mut self) -> u64 {
        self.seen
    }

    #[entry]
    async fn send(&mut self, cx: &mut Cx<Self>, messages: u64, vectors: bool) -> u64 {
        let window: u64 = 10_000;
        for _ in 0..messages / window {
            let to = cx.group().on(cx.pes() - 1);
            for number in 0..window {
                if vectors { to.vector(vec![number; 32]) } else { to.number(number) }
            }
            let _seen: u64 = cx.group().on(cx.pes() - 1).count().await;
        }
        messages
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let members: Group<Member> = Member::group().new();
    let messages: u64 = if options.vectors { 1_000_000 } else { 10_000_000 };
    let _warm: u64 = members.on(0).send(messages / 10, options.vectors).await;
    cx.result("before", resident_mib());
    let _sent: u64 = members.on(0).send(messages, options.vectors).await;
    cx.result("after", resident_mib());
}
