//! The receiving side of an object: it hands out tickets, and runs messages in their order.

use std::collections::{BTreeMap, BTreeSet};

use super::ObjectId;
use super::window::Window;
use crate::NodeId;
use crate::logging::Incarnation;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ticket {
    /// The message is to be sent with this TN. Who asks again gets the same.
    New(u64),
    /// It was received since the last image: it is to be logged with this TN, and not sent.
    Received(u64),
    /// It was received before the last image: it is not even to be logged.
    Old,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// It waits for its turn.
    Taken,
    /// It is there already.
    Duplicate,
    /// Its TN is not the one that it has.
    Refused,
}

/// What an object has received. All of it is part of an image.
#[derive(Clone, Debug)]
pub struct Receiver<M> {
    /// The highest TN handed out (the paper's TCount).
    count: u64,
    /// TNs handed out whose messages no image has, and whether these have been received.
    table: BTreeMap<(ObjectId, u64), (u64, bool)>,
    /// What was received before the last image.
    windows: BTreeMap<ObjectId, Window>,
    waiting: BTreeMap<u64, (ObjectId, u64, M)>,
    void: BTreeSet<u64>,
    /// The highest TN run.
    run: u64,
    recovering: Option<Recovering>,
}

/// Nobody knows yet which TNs the process before had handed out.
#[derive(Clone, Debug)]
struct Recovering {
    missing: BTreeSet<NodeId>,
    asked: Vec<(ObjectId, u64)>,
}

impl<M> Default for Receiver<M> {
    fn default() -> Self {
        Receiver {
            count: 0,
            table: BTreeMap::new(),
            windows: BTreeMap::new(),
            waiting: BTreeMap::new(),
            void: BTreeSet::new(),
            run: 0,
            recovering: None,
        }
    }
}

impl<M> Receiver<M> {
    /// A sender asks for the ticket of a message. None if it is answered later: nobody knows yet which ones are given
    /// away.
    pub fn request(&mut self, sender: ObjectId, sn: u64) -> Option<Ticket> {
        if self.windows.get(&sender).is_some_and(|window| window.has(sn)) {
            return Some(Ticket::Old);
        }
        if let Some((tn, is_received)) = self.table.get(&(sender, sn)) {
            return Some(if *is_received { Ticket::Received(*tn) } else { Ticket::New(*tn) });
        }
        if let Some(recovering) = &mut self.recovering
            && !mutated("tickets-before-all-answered")
        {
            recovering.asked.push((sender, sn));
            return None;
        }
        self.count += 1;
        self.table.insert((sender, sn), (self.count, false));
        Some(Ticket::New(self.count))
    }

    /// A message comes with its ticket, or comes again out of its sender's log.
    pub fn deliver(&mut self, sender: ObjectId, sn: u64, tn: u64, message: M) -> Delivered {
        if tn <= self.run || self.windows.get(&sender).is_some_and(|window| window.has(sn)) {
            return Delivered::Duplicate;
        }
        let (known, is_received) = self.table.entry((sender, sn)).or_insert((tn, false));
        if *known != tn
            || self.waiting.get(&tn).is_some_and(|(from, number, _)| (*from, *number) != (sender, sn))
        {
            return Delivered::Refused;
        }
        if std::mem::replace(is_received, true) {
            return Delivered::Duplicate;
        }
        self.count = self.count.max(tn);
        self.waiting.insert(tn, (sender, sn, message));
        Delivered::Taken
    }

    /// The next message in the order of TNs, if it is there.
    pub fn take_next(&mut self) -> Option<(ObjectId, u64, M)> {
        while self.void.remove(&(self.run + 1)) {
            self.run += 1;
        }
        let next = self.waiting.remove(&(self.run + 1))?;
        self.run += 1;
        Some(next)
    }

    /// The highest TN run: what has a lower one is in the image that is taken now.
    #[must_use]
    pub fn run(&self) -> u64 {
        self.run
    }

    /// The highest TN handed out, as far as is known.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// An image was taken when this was the highest TN run, and is committed: what it has needs no TN any more.
    pub fn on_image(&mut self, run: u64) {
        let done: Vec<_> = self.table.iter().filter(|(_, (tn, _))| *tn <= run).map(|(key, _)| *key).collect();
        for (sender, sn) in done {
            self.table.remove(&(sender, sn));
            if !mutated("sn-window-not-in-image") {
                self.windows.entry(sender).or_default().add(sn);
            }
        }
    }

    /// It is restored, and waits for what these say. The keeper knows of these local messages: (sender, SN, TN).
    pub fn recover(&mut self, from: impl IntoIterator<Item = NodeId>, local: &[(ObjectId, u64, u64)]) {
        self.recovering = Some(Recovering { missing: from.into_iter().collect(), asked: Vec::new() });
        for (sender, sn, tn) in local.iter().filter(|(_, _, tn)| *tn > self.run) {
            self.table.entry((*sender, *sn)).or_insert((*tn, false));
            self.count = self.count.max(*tn);
        }
    }

    /// Whether it waits for others to say which TNs they have.
    #[must_use]
    pub fn is_recovering(&self) -> bool {
        self.recovering.is_some()
    }

    /// A node has sent all that it has logged with a TN, of which this is the highest that it has seen. When all
    /// have, TNs that nobody has are void, as nothing that anybody depends on came after them but what is here;
    /// requests are answered.
    pub fn on_highest(&mut self, from: NodeId, highest: u64) -> Vec<(ObjectId, u64, Ticket)> {
        self.count = self.count.max(highest);
        let Some(recovering) = &mut self.recovering else { return Vec::new() };
        recovering.missing.remove(&from);
        if !recovering.missing.is_empty() {
            return Vec::new();
        }
        let asked = std::mem::take(&mut recovering.asked);
        self.recovering = None;
        if !mutated("ticket-hole-waits") {
            self.void_holes();
        }
        let answer = |(sender, sn)| Some((sender, sn, self.request(sender, sn)?));
        asked.into_iter().filter_map(answer).collect()
    }

    fn void_holes(&mut self) {
        let owned: BTreeSet<_> = self.table.values().map(|(tn, _)| *tn).collect();
        let holes: Vec<_> = (self.run + 1..=self.count).filter(|tn| !owned.contains(tn)).collect();
        if !holes.is_empty() {
            sometimes("a ticket was void, since nobody had it any more");
        }
        self.void.extend(holes);
    }

    /// Whether a ticket of a process of this object's node counts: of one before the last restart it does not.
    #[must_use]
    pub fn counts(of: Incarnation, newest: Incarnation) -> bool {
        of == newest || mutated("stale-ticket")
    }
}
