//! A program: messages that make others. Which there are follows from their tokens alone; what is in them from the
//! order in which PEs run them.

use std::collections::VecDeque;

use talisman_ft::logging::{LogId, Shape};

use crate::random::hash;

/// A message between PEs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub to: LogId,
    /// It makes others as long as this is not 0.
    pub left: u32,
    /// Follows from that of the message before.
    pub token: u64,
    /// Depends on all that its sender had run.
    pub content: u64,
}

/// What a PE asks of the world, and does to it.
pub trait Outside {
    fn send(&mut self, message: Message);
    /// A value that cannot be known.
    fn value(&mut self, run: u64) -> u64;
    fn say(&mut self, line: u64);
}

/// The state of a PE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeState {
    pub queue: VecDeque<Message>,
    /// Messages run.
    pub run: u64,
    /// Of all that it did.
    pub hash: u64,
    /// The sum of the tokens that it ran: the same in whatever order.
    pub tokens: u64,
}

impl PeState {
    /// Runs the next message.
    pub fn run(&mut self, shape: Shape, outside: &mut dyn Outside) {
        let message = self.queue.pop_front().expect("there is one to run");
        self.run += 1;
        self.tokens = self.tokens.wrapping_add(message.token);
        self.hash = hash(&[self.hash, message.content, message.token]);
        let children = children(&message, shape);
        for (number, mut child) in children.into_iter().enumerate() {
            child.content = hash(&[self.hash, number as u64]);
            outside.send(child);
            if number == 0 && message.token.is_multiple_of(5) {
                self.hash = hash(&[self.hash, outside.value(self.run)]);
            }
        }
        if message.token.is_multiple_of(3) {
            outside.say(self.hash);
        }
    }

    /// Something came that is no message.
    pub fn note(&mut self, number: u64) {
        self.hash = hash(&[self.hash, number]);
    }
}

/// The messages that one makes.
fn children(message: &Message, shape: Shape) -> Vec<Message> {
    let count = if message.left == 0 { 0 } else { 1 + u64::from(message.token.is_multiple_of(8)) };
    let child = |number: u64| {
        let token = hash(&[message.token, number]);
        let to = LogId {
            node: (token >> 8) as u32 % shape.nodes,
            rank: (token >> 40) as u32 % shape.pes_per_node,
        };
        Message { to, left: message.left - 1, token, content: 0 }
    };
    (0..count).map(child).collect()
}

/// What a PE begins with.
pub fn first_messages(log: LogId, seed: u64, left: u32) -> VecDeque<Message> {
    let first = |number| {
        let token = hash(&[seed, u64::from(log.node), u64::from(log.rank), number]);
        Message { to: log, left, token, content: token }
    };
    (0..2).map(first).collect()
}

/// The sum of all tokens that come of these.
pub fn sum_of_tokens(begin: impl IntoIterator<Item = Message>, shape: Shape) -> u64 {
    let (mut left, mut sum): (Vec<_>, u64) = (begin.into_iter().collect(), 0);
    while let Some(message) = left.pop() {
        sum = sum.wrapping_add(message.token);
        left.extend(children(&message, shape));
    }
    sum
}
