//! The sending side of an object: what it has sent to whom, logged until the receiver has an image of it.

use std::collections::BTreeMap;

use super::receiver::Ticket;
use super::{ObjectId, Tn};
use talisman_observe::mutations::mutated;

/// The SN table and the message log.
#[derive(Clone, Debug)]
pub struct Sender<M> {
    next: BTreeMap<ObjectId, u64>,
    log: BTreeMap<(ObjectId, u64), (M, Option<Tn>)>,
    highest: BTreeMap<ObjectId, u64>,
}

impl<M> Default for Sender<M> {
    fn default() -> Self {
        Sender { next: BTreeMap::new(), log: BTreeMap::new(), highest: BTreeMap::new() }
    }
}

/// What a restarted receiver is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resend<M> {
    /// Messages with their SNs and TNs.
    pub ticketed: Vec<(u64, Tn, M)>,
    /// SNs of those for which a ticket is to be asked for, again.
    pub requests: Vec<u64>,
    /// The highest TN of that receiver that was seen.
    pub highest: u64,
}

impl<M: Clone> Sender<M> {
    /// The SN of a message, which is to be logged unless it is for an object of the same PE.
    pub fn number(&mut self, to: ObjectId) -> u64 {
        let next = self.next.entry(to).or_default();
        *next += 1;
        *next - 1
    }

    /// Logs a message before its ticket is asked for.
    pub fn log(&mut self, to: ObjectId, sn: u64, message: M) {
        self.log.entry((to, sn)).or_insert((message, None));
    }

    /// A ticket comes. The message that is to be sent with it, if any is.
    pub fn on_ticket(&mut self, to: ObjectId, sn: u64, ticket: Ticket) -> Option<(Tn, M)> {
        let (tn, is_new) = match ticket {
            Ticket::Old => {
                self.log.remove(&(to, sn));
                return None;
            }
            Ticket::Received(tn) => (tn, false),
            Ticket::New(tn) => (tn, true),
        };
        let (message, noted) = self.log.get_mut(&(to, sn))?;
        *noted = Some(tn);
        let highest = self.highest.entry(to).or_default();
        *highest = tn.number.max(*highest);
        is_new.then(|| (tn, message.clone()))
    }

    /// The TN of a message that is logged, if it has come.
    #[must_use]
    pub fn ticket_of(&self, to: ObjectId, sn: u64) -> Option<Tn> {
        self.log.get(&(to, sn)).and_then(|(_, tn)| *tn)
    }

    /// The memory that the tables take, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.log.len() * size_of::<((ObjectId, u64), (M, Option<Tn>))>()
    }

    /// A receiver was restarted.
    #[must_use]
    pub fn on_restart(&self, to: ObjectId) -> Resend<M> {
        let of_it = || self.log.range((to, 0)..=(to, u64::MAX));
        let ticketed = of_it().filter_map(|((_, sn), (message, tn))| Some((*sn, (*tn)?, message.clone())));
        let requests = of_it().filter(|(_, (_, tn))| tn.is_none()).map(|((_, sn), _)| *sn);
        let highest = self.highest.get(&to).copied().unwrap_or(0);
        Resend { ticketed: ticketed.collect(), requests: requests.collect(), highest }
    }

    /// Whether all that is logged has its ticket.
    #[must_use]
    pub fn has_all_tickets(&self) -> bool {
        self.log.values().all(|(_, tn)| tn.is_some())
    }

    /// A receiver's image is committed, which has all up to this TN.
    pub fn forget(&mut self, to: ObjectId, up_to: u64) {
        self.log.retain(|(receiver, _), (_, tn)| *receiver != to || tn.is_none_or(|tn| tn.number > up_to));
    }

    /// All that is logged, of a sender that is restored: tickets are asked for again. Also of what has one, since the
    /// message may have been lost on its way with the process before; if it was not, the answer says so.
    #[must_use]
    pub fn to_ask_again(&self) -> Vec<(ObjectId, u64)> {
        let is_asked_for = |tn: &Option<Tn>| tn.is_none() || !mutated("ticketed-not-asked-again");
        self.log.iter().filter(|(_, (_, tn))| is_asked_for(tn)).map(|(key, _)| *key).collect()
    }
}
