//! More than fits, sent at once to somebody who is asleep.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use talisman::prelude::*;

/// How much, and to whom.
#[derive(clap::Args, Clone, Debug, Pup)]
pub struct Plan {
    /// Messages that each sender sends, in one entry
    #[arg(long)]
    messages: u64,
    /// Bytes of each
    #[arg(long)]
    bytes: usize,
    /// The node that sends, to the next one; otherwise all do
    #[arg(long)]
    sender: Option<u32>,
    /// The receiver sleeps until this file is there
    #[arg(long)]
    wake: Option<PathBuf>,
    /// When all have come, the program goes on until this file is there
    #[arg(long)]
    leave: Option<PathBuf>,
}

impl Plan {
    pub fn stays(&self) -> bool {
        self.leave.as_ref().is_some_and(|file| !file.exists())
    }
}

pub fn start(plan: Shared<Plan>) -> Group<Member> {
    Member::group().new(plan)
}

/// One on every PE; the first of its node takes part.
#[derive(Pup)]
pub struct Member {
    plan: Shared<Plan>,
    came: u64,
}

#[chare(group)]
impl Member {
    #[init]
    fn new(plan: Shared<Plan>) -> Self {
        Member { plan, came: 0 }
    }

    #[entry]
    fn all_came();

    /// Sends all, and waits for all; gives how many came here.
    #[entry]
    pub async fn run(&mut self, cx: &mut Cx<Self>) -> u64 {
        self.send_all(cx);
        if self.expects(cx) {
            cx.when(Self::all_came).await;
        }
        self.came
    }

    #[entry]
    fn take(&mut self, cx: &mut Cx<Self>, number: u64, body: Vec<u8>) {
        assert!(number == self.came, "message {number} of a lane came as number {}", self.came);
        let byte = number as u8;
        assert!(body.len() == self.plan.bytes && body.first() == Some(&byte) && body.last() == Some(&byte));
        if self.came == 0 {
            self.sleep(cx);
        }
        self.came += 1;
        if self.came == self.plan.messages {
            cx.group().here().all_came();
        }
    }
}

impl Member {
    fn send_all(&self, cx: &mut Cx<Self>) {
        if !self.is_first(cx) || self.plan.sender.is_some_and(|sender| sender != cx.node()) {
            return;
        }
        let next = (cx.pe() + cx.pes() / cx.nodes()) % cx.pes();
        for number in 0..self.plan.messages {
            cx.group().on(next).take(number, vec![number as u8; self.plan.bytes]);
        }
        writeln!(cx.output(), "node {} has sent all", cx.node());
    }

    fn expects(&self, cx: &Cx<Self>) -> bool {
        let is_next = |sender| (sender + 1) % cx.nodes() == cx.node();
        self.is_first(cx) && self.plan.sender.is_none_or(is_next)
    }

    /// Of its node.
    fn is_first(&self, cx: &Cx<Self>) -> bool {
        cx.pe().is_multiple_of(cx.pes() / cx.nodes())
    }

    /// A long entry, in which nothing is received.
    fn sleep(&self, cx: &mut Cx<Self>) {
        let Some(file) = &self.plan.wake else { return };
        writeln!(cx.output(), "asleep");
        while !file.exists() {
            sleep(Duration::from_millis(10));
        }
    }
}
