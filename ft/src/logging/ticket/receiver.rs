//! The receiving side of an object: it hands out tickets, and runs messages in their order.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::window::Window;
use super::{ObjectId, Tn};
use crate::NodeId;
use crate::logging::Incarnation;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// No receiver comes so far: who says so makes it up.
const TN_MAX: u64 = 1 << 62;

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ticket {
    /// The message is to be sent with this TN. Who asks again gets the same.
    New(Tn),
    /// It was received since the last image: it is to be logged with this TN, and not sent.
    Received(Tn),
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
    table: BTreeMap<(ObjectId, u64), (Tn, bool)>,
    /// What was received before the last image.
    windows: BTreeMap<ObjectId, Window>,
    waiting: BTreeMap<u64, (ObjectId, u64, M)>,
    /// TNs that nobody has: the first of a row, and its last.
    void: BTreeMap<u64, u64>,
    /// The highest TN run.
    run: u64,
    /// What the clock said when the last was handed out.
    time: u64,
    recovering: Option<Recovering>,
    /// The highest TN that the process before had handed out, as far as anybody has seen it: once all have said that.
    former: Option<u64>,
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
            void: BTreeMap::new(),
            run: 0,
            time: 0,
            recovering: None,
            former: Some(0),
        }
    }
}

impl<M> Receiver<M> {
    /// A sender asks for the ticket of a message, at that time. None if it is answered later: nobody knows yet which ones
    /// are given away.
    pub fn request(&mut self, sender: ObjectId, sn: u64, now: u64) -> Option<Ticket> {
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
        self.time = self.time.max(now);
        let tn = Tn { number: self.count, time: self.time };
        self.table.insert((sender, sn), (tn, false));
        Some(Ticket::New(tn))
    }

    /// A message comes with its ticket, or comes again out of its sender's log.
    pub fn deliver(&mut self, sender: ObjectId, sn: u64, tn: Tn, message: M) -> Delivered {
        if tn.number <= self.run || self.windows.get(&sender).is_some_and(|window| window.has(sn)) {
            return Delivered::Duplicate;
        }
        if tn.number >= TN_MAX {
            return Delivered::Refused;
        }
        let (known, is_received) = self.table.entry((sender, sn)).or_insert((tn, false));
        if *known != tn
            || self.waiting.get(&tn.number).is_some_and(|(from, number, _)| (*from, *number) != (sender, sn))
        {
            return Delivered::Refused;
        }
        if std::mem::replace(is_received, true) {
            return Delivered::Duplicate;
        }
        self.count = self.count.max(tn.number);
        self.waiting.insert(tn.number, (sender, sn, message));
        Delivered::Taken
    }

    /// The next message in the order of TNs, if it is there.
    pub fn take_next(&mut self) -> Option<(ObjectId, u64, M)> {
        let next = self.next_tn();
        let message = self.waiting.remove(&next)?;
        self.void.retain(|first, _| *first > next);
        self.run = next;
        Some(message)
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
        let done: Vec<_> =
            self.table.iter().filter(|(_, (tn, _))| tn.number <= run).map(|(key, _)| *key).collect();
        for (sender, sn) in done {
            self.table.remove(&(sender, sn));
            if !mutated("sn-window-not-in-image") {
                self.windows.entry(sender).or_default().add(sn);
            }
        }
    }

    /// It is restored, and waits for what these say. The keeper knows of these local messages: (sender, SN, TN).
    pub fn recover(&mut self, from: impl IntoIterator<Item = NodeId>, local: &[(ObjectId, u64, Tn)]) {
        self.recovering = Some(Recovering { missing: from.into_iter().collect(), asked: Vec::new() });
        self.former = None;
        local.iter().for_each(|(sender, sn, tn)| self.know(*sender, *sn, *tn));
    }

    /// Somebody knows the TN that a message was given: its sender, or of a local message the keeper.
    pub fn know(&mut self, sender: ObjectId, sn: u64, tn: Tn) {
        if (self.run + 1..TN_MAX).contains(&tn.number) {
            self.table.entry((sender, sn)).or_insert((tn, false));
            self.count = self.count.max(tn.number);
        }
    }

    /// How many messages of a sender have a TN here, which are its first.
    #[must_use]
    pub fn given_to(&self, sender: ObjectId) -> u64 {
        let in_table = self.table.range((sender, 0)..=(sender, u64::MAX)).next_back();
        in_table.map_or_else(|| self.windows.get(&sender).map_or(0, Window::end), |((_, sn), _)| sn + 1)
    }

    /// The sender of the next message in the order of TNs, if that is there.
    #[must_use]
    pub fn next_sender(&self) -> Option<ObjectId> {
        self.waiting.get(&self.next_tn()).map(|(sender, ..)| *sender)
    }

    /// The TN that is to run next.
    fn next_tn(&self) -> u64 {
        self.void.get(&(self.run + 1)).map_or(self.run, |last| *last) + 1
    }

    /// Whether the process before may have run more than has been run here. None as long as that is not known.
    #[must_use]
    pub fn has_more_of_former(&self) -> Option<bool> {
        let former = self.former?;
        Some(self.next_tn() <= former)
    }

    /// The memory that the tables take, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.table.len() * size_of::<((ObjectId, u64), (Tn, bool))>()
    }

    /// Whether it waits for others to say which TNs they have.
    #[must_use]
    pub fn is_recovering(&self) -> bool {
        self.recovering.is_some()
    }

    /// A node has sent all that it has logged with a TN, of which this is the highest that it has seen. When all
    /// have, TNs that nobody has are void, as nothing that anybody depends on came after them but what is here;
    /// requests are answered.
    pub fn on_highest(&mut self, from: NodeId, highest: u64, now: u64) -> Vec<(ObjectId, u64, Ticket)> {
        let Some(recovering) = &mut self.recovering else { return Vec::new() };
        self.count = self.count.max(highest.min(TN_MAX));
        recovering.missing.remove(&from);
        if !recovering.missing.is_empty() {
            return Vec::new();
        }
        let asked = std::mem::take(&mut recovering.asked);
        self.recovering = None;
        self.former = Some(self.count);
        if !mutated("ticket-hole-waits") {
            self.void_holes();
        }
        let answer = |(sender, sn)| Some((sender, sn, self.request(sender, sn, now)?));
        asked.into_iter().filter_map(answer).collect()
    }

    fn void_holes(&mut self) {
        let owned: BTreeSet<_> = self.table.values().map(|(tn, _)| tn.number).collect();
        let behind = owned.range(self.run + 1..).map(|tn| tn + 1);
        let ends = owned.range(self.run + 1..).copied().chain([self.count + 1]);
        let rows = std::iter::once(self.run + 1).chain(behind).zip(ends.map(|end| end - 1));
        self.void.extend(rows.filter(|(first, last)| first <= last));
        if !self.void.is_empty() {
            sometimes("a ticket was void, since nobody had it any more");
        }
    }

    /// Whether a ticket of a process of this object's node counts: of one before the last restart it does not.
    #[must_use]
    pub fn counts(of: Incarnation, newest: Incarnation) -> bool {
        of == newest || mutated("stale-ticket")
    }
}
