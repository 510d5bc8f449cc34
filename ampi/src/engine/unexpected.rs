//! Messages that came before a receive for them.

use std::collections::{BTreeMap, VecDeque};

use talisman_pup::Pup;

use super::{Context, Head, Pattern, Payload, Rank, Token};

/// A message that no receive was matched with yet.
#[derive(Clone, Debug, PartialEq, Pup)]
pub struct Message {
    /// Its head.
    pub head: Head,
    /// Its bytes, or where they are.
    pub content: Content,
}

/// The bytes of a message, or where they are.
#[derive(Clone, Debug, PartialEq, Pup)]
pub enum Content {
    /// Here.
    Here(Payload),
    /// With the sender.
    Announced {
        /// The sender's request.
        send: Token,
        /// Whether the sender wants to know that it was matched.
        synchronous: bool,
        /// The bytes, if the sender had to leave before they were pulled.
        paid: Option<Payload>,
    },
}

impl Message {
    /// The sender's request, if the message was announced.
    pub fn send(&self) -> Option<Token> {
        match self.content {
            Content::Here(_) => None,
            Content::Announced { send, .. } => Some(send),
        }
    }
}

/// Unexpected messages. A receive gets the one that came first of those that it accepts; a receive from anybody, too.
#[derive(Debug, Default, PartialEq, Pup)]
pub struct Unexpected {
    /// In the order of their arrival, each with its stamp. Ordered by source, so that a search over all visits them
    /// in the same order in every run.
    queues: BTreeMap<(Context, Rank), VecDeque<(u64, Message)>>,
    next: u64,
}

impl Unexpected {
    /// Keeps a message.
    pub fn push(&mut self, message: Message) {
        let stamp = self.next;
        self.next += 1;
        self.queues
            .entry((message.head.context, message.head.source))
            .or_default()
            .push_back((stamp, message));
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Takes the message that a receive gets.
    pub fn take(&mut self, pattern: &Pattern) -> Option<Message> {
        let (key, at) = self.find(pattern)?;
        self.remove(key, at)
    }

    /// Looks at the message that a receive would get.
    pub fn peek(&self, pattern: &Pattern) -> Option<&Message> {
        let (key, at) = self.find(pattern)?;
        self.queues.get(&key)?.get(at).map(|(_, message)| message)
    }

    /// Takes the announced message with this request of its sender.
    pub fn take_announced(&mut self, context: Context, source: Rank, send: Token) -> Option<Message> {
        let queue = self.queues.get(&(context, source))?;
        let at = queue.iter().position(|(_, message)| message.send() == Some(send))?;
        self.remove((context, source), at)
    }

    /// The announced message with this request of its sender.
    pub fn announced_mut(&mut self, context: Context, source: Rank, send: Token) -> Option<&mut Message> {
        let queue = self.queues.get_mut(&(context, source))?;
        queue.iter_mut().map(|(_, message)| message).find(|message| message.send() == Some(send))
    }

    /// A deliberate mistake: one of them is gone.
    pub fn forget_one(&mut self) {
        if let Some(key) = self.queues.keys().next().copied() {
            self.remove(key, 0);
        }
    }

    /// The heads of all, by context and source.
    pub fn heads(&self) -> impl Iterator<Item = &Head> {
        self.queues.values().flatten().map(|(_, message)| &message.head)
    }

    fn find(&self, pattern: &Pattern) -> Option<((Context, Rank), usize)> {
        if self.is_empty() {
            return None;
        }
        let (first, last) = match pattern.source {
            Some(source) => (source, source),
            None => (0, Rank::MAX),
        };
        let queues = self.queues.range((pattern.context, first)..=(pattern.context, last));
        let found = queues.filter_map(|(key, queue)| {
            let at = queue.iter().position(|(_, message)| pattern.accepts(&message.head))?;
            Some((queue[at].0, *key, at))
        });
        found.min_by_key(|(stamp, ..)| *stamp).map(|(_, key, at)| (key, at))
    }

    /// An empty queue goes, or a search over all sources would visit everybody who ever sent something.
    fn remove(&mut self, key: (Context, Rank), at: usize) -> Option<Message> {
        let queue = self.queues.get_mut(&key)?;
        let message = queue.remove(at).map(|(_, message)| message);
        if queue.is_empty() {
            self.queues.remove(&key);
        }
        message
    }
}
