//! Receives that wait for a message.

use std::collections::{HashMap, VecDeque};

use rustc_hash::FxBuildHasher;
use talisman_pup::Pup;

use super::peers::Peers;
use super::{Context, Head, Pattern, Token};

/// Posted receives. A message is matched with the one that was posted first of those that accept it.
#[derive(Debug, Default, PartialEq, Pup)]
pub struct Posted {
    /// Those from one source: a search looks only at receives from the right one.
    by_source: Peers<VecDeque<Receive>>,
    /// Those from anybody.
    from_any: HashMap<Context, VecDeque<Receive>, FxBuildHasher>,
    /// The stamp of the next one.
    next: u64,
    /// How many there are: a message that comes to a rank without any is not searched for.
    count: usize,
}

/// A posted receive.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
struct Receive {
    /// Rises in the order of posting.
    stamp: u64,
    pattern: Pattern,
    request: Token,
}

impl Posted {
    /// Posts a receive.
    pub fn push(&mut self, pattern: Pattern, request: Token) {
        let receive = Receive { stamp: self.next, pattern, request };
        self.next += 1;
        self.count += 1;
        self.queue_mut(&pattern).push_back(receive);
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether one of them gets this message.
    pub fn has_for(&mut self, head: &Head) -> bool {
        if self.count == 0 {
            return false;
        }
        let (of_source, of_any) = self.queues(head);
        find(of_source.as_deref(), head).is_some() || find(of_any.as_deref(), head).is_some()
    }

    /// Takes the receive that gets this message.
    #[inline]
    pub fn take(&mut self, head: &Head) -> Option<Token> {
        if self.count == 0 { None } else { self.search(head) }
    }

    fn search(&mut self, head: &Head) -> Option<Token> {
        let (of_source, of_any) = self.queues(head);
        let (first, second) = (find(of_source.as_deref(), head), find(of_any.as_deref(), head));
        let (queue, at) = match (first, second) {
            (Some((_, stamp)), Some((at, other))) if other < stamp => (of_any, at),
            (Some((at, _)), _) => (of_source, at),
            (None, Some((at, _))) => (of_any, at),
            (None, None) => return None,
        };
        let taken = queue.and_then(|queue| queue.remove(at))?;
        self.count -= 1;
        Some(taken.request)
    }

    /// Those from the sender of this message, and those from anybody.
    fn queues(&mut self, head: &Head) -> (Option<&mut VecDeque<Receive>>, Option<&mut VecDeque<Receive>>) {
        // Most programs have none from anybody.
        let has_any = !self.from_any.is_empty();
        let of_any = has_any.then(|| self.from_any.get_mut(&head.context)).flatten();
        (self.by_source.get_mut(head.context, head.source), of_any)
    }

    /// Takes a receive back. Returns whether it was still there.
    pub fn cancel(&mut self, pattern: &Pattern, request: Token) -> bool {
        let queue = self.queue_mut(pattern);
        let at = queue.iter().position(|receive| receive.request == request);
        let is_removed = at.is_some_and(|at| queue.remove(at).is_some());
        self.count -= usize::from(is_removed);
        is_removed
    }

    /// All, in the order of posting.
    pub fn patterns(&self) -> Vec<(Pattern, Token)> {
        let mut all: Vec<_> = self.by_source.values().chain(self.from_any.values()).flatten().collect();
        all.sort_by_key(|receive| receive.stamp);
        all.into_iter().map(|receive| (receive.pattern, receive.request)).collect()
    }

    fn queue_mut(&mut self, pattern: &Pattern) -> &mut VecDeque<Receive> {
        match pattern.source {
            Some(source) => self.by_source.of(pattern.context, source),
            None => self.from_any.entry(pattern.context).or_default(),
        }
    }
}

/// The place and the stamp of the first receive that accepts the message.
fn find(queue: Option<&VecDeque<Receive>>, head: &Head) -> Option<(usize, u64)> {
    let queue = queue?;
    let at = queue.iter().position(|receive| receive.pattern.accepts(head))?;
    Some((at, queue[at].stamp))
}
