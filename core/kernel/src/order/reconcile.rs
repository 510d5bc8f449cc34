//! Orders of elements that are gone end when nothing of them is under way.
//!
//! What an element leaves to the next of its name ([`Order`]) is of no use once all that it said has been heard, and it has heard all that was
//! said to it: both sides may begin at 0 again. But both have to, and nobody may say anything in between. Of those that are gone it is
//! known that they say nothing. So when a home has many orders it asks, for each element that is gone, each partner that it had: are these
//! your counts, too? If so, the partner forgets them, and says so; then the home does. If not, something is under way yet, and it asks another
//! time. Whoever is to be made under the name meanwhile waits for the answers.
//!
//! Where the partner is gone as well its home answers for it, and says no while it asks the other itself: it might not have heard yet that it is to
//! forget.
//!
//! Elements that go with their whole collection have nobody who asks for them later: the collection is forgotten, with
//! what they left. So all whom they had sent to are told how many messages that were, and count them until these have come.
//!
//! A frozen PE does not answer. Nobody does from a checkpoint: who goes back to it knows nothing of the question, on either side.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ptr::NonNull;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Order, give_back, sorted};
use crate::collection::Collection;
use crate::location::message::LocationMessage;
use crate::message::control::ObjectMessage;
use crate::message::envelope::Envelope;
use crate::object::Head;
use crate::pe::Pe;
use talisman_base::history::{Few, SinceLook};
use talisman_base::ids::{ObjId, PeId, wire};
use talisman_observe::sometimes::sometimes;
use talisman_pup::Pup;

/// To a partner of an element that is gone: are these your counts?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Reconcile {
    /// Who is gone.
    gone: ObjId,
    /// Its home.
    #[pup(with = wire::pe)]
    home: PeId,
    /// Messages that it has sent to the partner.
    said: Option<u32>,
    /// Messages of the partner that it got.
    heard: Option<u32>,
}

/// What of that the partner has forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pup)]
pub struct Reconciled {
    pub said: bool,
    heard: bool,
}

impl Reconciled {
    /// Of a partner that will never get or say anything again.
    const ALL: Reconciled = Reconciled { said: true, heard: true };
}

/// At the home: orders of elements that are gone.
#[derive(Default)]
pub struct Orders {
    all: RefCell<HashMap<u128, Box<Order>, FxBuildHasher>>,
    since: SinceLook,
    /// Partners that have been asked and have not answered.
    asked: RefCell<HashMap<u128, BTreeSet<ObjId>, FxBuildHasher>>,
}

impl Orders {
    /// Keeps what an element that was removed left to the next of its name.
    pub fn keep(&self, index: u128, order: Option<Box<Order>>) {
        order.into_iter().for_each(|order| drop(self.all.borrow_mut().insert(index, order)));
    }

    /// What the former element of this name left.
    pub fn take(&self, index: u128) -> Option<Box<Order>> {
        debug_assert!(!self.is_asking(index), "it waits for the answers");
        self.all.borrow_mut().remove(&index)
    }

    pub fn is_empty(&self) -> bool {
        self.all.borrow().is_empty()
    }

    /// All, in the same order in every run.
    pub fn all(&self) -> Vec<(u128, Order)> {
        let orders = self.all.borrow();
        let mut all: Vec<_> = orders.iter().map(|(index, order)| (*index, (**order).clone())).collect();
        all.sort_unstable_by_key(|(index, _)| *index);
        all
    }

    /// Whether partners of an element that is gone have been asked and have not answered.
    pub fn is_asking(&self, index: u128) -> bool {
        self.asked.borrow().contains_key(&index)
    }

    /// The collection ends: what all elements left that are gone, in the same order in every run. Partners that have been
    /// asked are left out, as they will answer.
    fn take_all(&self) -> Vec<(u128, Box<Order>)> {
        let (mut all, asked): (Vec<_>, _) = (self.all.take().into_iter().collect(), self.asked.take());
        all.sort_unstable_by_key(|(index, _)| *index);
        for (index, order) in &mut all {
            if let Some(asked) = asked.get(index) {
                order.sent.retain(|partner, _| !asked.contains(partner));
            }
        }
        all
    }

    /// A sender to an element that is nowhere is gone with its collection.
    fn end_sender(&self, index: u128, sender: ObjId, sent: u32) {
        let mut all = self.all.borrow_mut();
        let order = all.entry(index).or_default();
        order.end(sender, sent);
        if order.is_empty() {
            all.remove(&index);
        }
    }

    /// One more was kept: those whose partners are to be asked, all of them when they are many.
    fn due(&self, few: Few) -> Vec<u128> {
        let orders = self.all.borrow();
        if !self.since.is_due(few, orders.len()) {
            return Vec::new();
        }
        let mut due: Vec<_> = orders.keys().copied().filter(|index| !self.is_asking(*index)).collect();
        due.sort_unstable();
        due
    }

    /// Notes that all partners are asked; the questions.
    fn ask(&self, gone: ObjId, home: PeId) -> Vec<(ObjId, Reconcile)> {
        let mut orders = self.all.borrow_mut();
        let Some(order) = orders.get_mut(&gone.index) else { return Vec::new() };
        order.reconcile_with_itself(gone);
        if order.is_empty() {
            orders.remove(&gone.index);
            return Vec::new();
        }
        let others = order.partners().into_iter().filter(|(partner, ..)| *partner != gone);
        let question = |(partner, said, heard)| (partner, Reconcile { gone, home, said, heard });
        let questions: Vec<_> = others.map(question).collect();
        if !questions.is_empty() {
            let partners = questions.iter().map(|(partner, _)| *partner).collect();
            self.asked.borrow_mut().insert(gone.index, partners);
        }
        questions
    }

    /// A partner has answered; whether it was the last.
    fn answered(&self, index: u128, partner: ObjId, answer: Reconciled) -> bool {
        let (mut all, mut asked) = (self.all.borrow_mut(), self.asked.borrow_mut());
        let Some(waits) = asked.get_mut(&index) else { return false };
        if !waits.remove(&partner) {
            return false;
        }
        let is_last = waits.is_empty();
        if is_last {
            asked.remove(&index);
            give_back(&mut asked);
        }
        if let Some(order) = all.get_mut(&index) {
            order.forget(partner, answer);
            if order.is_empty() {
                sometimes("an order ended whose element was gone");
                all.remove(&index);
                give_back(&mut all);
            }
        }
        is_last
    }

    /// Answers for an element that is gone.
    fn answer_for(&self, index: u128, question: &Reconcile) -> Reconciled {
        let is_asked = self.asked.borrow().get(&index).is_some_and(|waits| waits.contains(&question.gone));
        if is_asked {
            sometimes("two that were gone asked each other for their counts");
            return Reconciled::default();
        }
        let mut all = self.all.borrow_mut();
        let answer = match all.get_mut(&index) {
            Some(order) => order.reconcile(question),
            None => Order::default().reconcile(question),
        };
        if all.get(&index).is_some_and(|order| order.is_empty()) {
            all.remove(&index);
        }
        answer
    }
}

impl Order {
    /// Whom it has counts of, in the same order in every run: messages sent and got.
    fn partners(&self) -> Vec<(ObjId, Option<u32>, Option<u32>)> {
        let all: BTreeSet<_> = self.sent.keys().chain(self.received.keys()).copied().collect();
        let counts = |partner| {
            let heard = self.received.get(&partner).map(|channel| channel.next);
            (partner, self.sent.get(&partner).copied(), heard)
        };
        all.into_iter().map(counts).collect()
    }

    /// Forgets the counts of one that is gone if they are the same on its side: nothing is under way then.
    fn reconcile(&mut self, question: &Reconcile) -> Reconciled {
        let is_heard = |said| {
            let channel = self.received.get(&question.gone);
            channel.is_some_and(|channel| channel.next == said && channel.early.is_empty())
        };
        // Who counts nothing begins at 0 anyhow.
        let is_said = |heard| self.sent.get(&question.gone).is_none_or(|sent: &u32| *sent == heard);
        let answer = Reconciled {
            said: question.said.is_some_and(is_heard),
            heard: question.heard.is_some_and(is_said),
        };
        if answer.said {
            self.forget_sender(question.gone);
        }
        if answer.heard {
            self.sent.remove(&question.gone);
            give_back(&mut self.sent);
        }
        answer
    }

    /// Of one that is gone: what it sent to itself it also got, unless it waits for the next of the name.
    fn reconcile_with_itself(&mut self, gone: ObjId) {
        let got = self.received.get(&gone).map(|channel| channel.next);
        if got.is_some() && self.sent.get(&gone).copied() == got {
            self.sent.remove(&gone);
            self.received.remove(&gone);
        }
    }

    /// The partner has forgotten these.
    fn forget(&mut self, partner: ObjId, answer: Reconciled) {
        if answer.said {
            self.sent.remove(&partner);
        }
        if answer.heard {
            self.received.remove(&partner);
        }
    }
}

impl Pe {
    /// At the home: an element is gone, and what it left is kept. When these are many, all partners of all are asked.
    pub fn limit_orders(&self, collection: &Collection) {
        for index in collection.orders.due(self.node.config.few) {
            sometimes("a home asked the partners of those that are gone for their counts");
            let gone = collection.object(index);
            for (partner, question) in collection.orders.ask(gone, self.id) {
                self.tell_partner(partner, ObjectMessage::Reconcile(question));
            }
        }
    }

    pub fn tell_partner(&self, partner: ObjId, message: ObjectMessage) {
        let envelope = self.object_message(partner, message);
        match self.collections.get(partner.collection) {
            Some(collection) => self.dispatch(collection, envelope),
            None => self.keep_orphan(partner.collection, envelope),
        }
    }

    /// A partner that is gone asks for counts.
    pub fn reconcile(&self, head: NonNull<Head>, question: &Reconcile) {
        // SAFETY: the object is live.
        let object = unsafe { head.as_ref() };
        let mut extras = object.take_extras();
        let answer = match extras.as_mut() {
            Some(extras) => extras.order.reconcile(question),
            None => Order::default().reconcile(question),
        };
        object.put_extras(extras);
        if answer != Reconciled::ALL {
            sometimes("an order could not end yet, or had ended on one side");
        }
        self.answer_question(object.id(), question, answer);
    }

    /// At the home of one that is nowhere: whether this is about its order, which has been seen to then.
    pub fn reconcile_nowhere(&self, collection: &Collection, message: &Envelope) -> bool {
        let index = message.to().index;
        match message.object_message() {
            Some(ObjectMessage::Reconcile(question)) => self.answer_nowhere(collection, index, question),
            Some(ObjectMessage::SenderGone { sender, sent }) if collection.acting(index).is_none() => {
                sometimes("a sender was gone with its collection, and its receiver was nowhere");
                collection.orders.end_sender(index, *sender, *sent);
            }
            Some(ObjectMessage::SenderGone { .. }) => {}
            _ => return false,
        }
        true
    }

    fn answer_nowhere(&self, collection: &Collection, index: u128, question: &Reconcile) {
        let answer = match collection.acting(index) {
            Some(_) => Reconciled::ALL,
            None => collection.orders.answer_for(index, question),
        };
        self.answer_question(collection.object(index), question, answer);
    }

    /// A message for a collection that was destroyed. Nobody of that gets anything any more; what was sent by those who are
    /// gone with it may be on its way, and who gets it is told how much that is.
    pub fn reconcile_too_late(&self, message: &Envelope) {
        let birth = message.extra.as_ref().and_then(|extra| extra.birth.as_ref());
        if let Some(order) = birth.and_then(|birth| birth.order.as_deref()) {
            self.tell_of_end(message.to(), order);
        }
        if let Some(ObjectMessage::Reconcile(question)) = message.object_message() {
            let answer = Reconciled { said: question.said.is_some(), heard: false };
            self.answer_question(message.to(), question, answer);
        }
        message.pe_message().into_iter().for_each(|said| said.too_late(self));
    }

    fn answer_question(&self, partner: ObjId, question: &Reconcile, answer: Reconciled) {
        let (gone, said) = (question.gone, question.said);
        self.tell(question.home, LocationMessage::Reconciled { gone, partner, answer, said });
    }

    /// A collection ends: whoever had ordered messages of its elements is told how many.
    pub fn tell_of_ends(&self, collection: &Collection) {
        for (index, order) in collection.orders.take_all() {
            self.tell_of_end(collection.object(index), &order);
        }
    }

    /// The same of one element that is gone with its collection, and of this order.
    pub fn tell_of_end(&self, gone: ObjId, order: &Order) {
        for (receiver, sent) in sorted(&order.sent) {
            let of = receiver.collection;
            if of != gone.collection && !self.collections.is_gone(of) {
                self.tell_partner(receiver, ObjectMessage::SenderGone { sender: gone, sent });
            }
        }
    }

    /// A sender is gone with its collection.
    pub fn end_sender(&self, head: NonNull<Head>, sender: ObjId, sent: u32) {
        // SAFETY: the object is live.
        unsafe { head.as_ref() }.extras(|extras| extras.order.end(sender, sent));
    }

    /// At the home: a partner has answered. Who was to be made under the name can be, after the last.
    pub fn on_reconciled(&self, gone: ObjId, partner: ObjId, answer: Reconciled) {
        let Some(collection) = self.collections.get(gone.collection) else { return };
        if collection.orders.answered(gone.index, partner, answer) {
            self.release_unborn(collection, gone.index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_base::ids::CollectionId;
    use talisman_pup::Packed;

    fn id(index: u128) -> ObjId {
        ObjId { collection: CollectionId { creator: 0, serial: 3 }, index }
    }

    /// One that sent so many to 9, and got so many of 9.
    fn order(partner: u128, sent: u32, got: u32) -> Order {
        let mut order = Order::default();
        for _ in 0..sent {
            order.number(id(partner));
        }
        for _ in 0..got {
            order.advance(id(partner));
        }
        order
    }

    /// At the home of 1, which is gone and had 9 for a partner.
    fn gone(sent: u32, got: u32) -> (Orders, Reconcile) {
        let orders = Orders::default();
        orders.keep(1, Some(Box::new(order(9, sent, got))));
        let asked = orders.ask(id(1), 0);
        let said = (sent > 0).then_some(sent);
        let heard = (got > 0).then_some(got);
        assert_eq!(asked, [(id(9), Reconcile { gone: id(1), home: 0, said, heard })]);
        (orders, asked[0].1)
    }

    #[test]
    fn both_forget_when_nothing_is_under_way() {
        let (home, question) = gone(3, 2);
        let mut partner = order(1, 2, 3);
        let answer = partner.reconcile(&question);
        assert_eq!((answer, partner.is_empty()), (Reconciled::ALL, true));
        assert!(home.answered(1, id(9), answer) && home.all().is_empty() && !home.is_asking(1));
    }

    #[test]
    fn what_is_under_way_keeps_the_counts_of_its_direction() {
        let (home, question) = gone(3, 2);
        let mut partner = order(1, 2, 2);
        partner.keep(id(1), 2, Packed::of(&2u8));
        let answer = partner.reconcile(&question);
        assert_eq!(answer, Reconciled { said: false, heard: true });
        assert!(home.answered(1, id(9), answer));
        assert_eq!(home.all(), [(1, order(9, 3, 0))]);
        assert_eq!(partner.number(id(1)), 0);

        let (home, question) = gone(0, 2);
        let mut partner = order(1, 3, 0);
        let answer = partner.reconcile(&question);
        assert_eq!((answer, partner.number(id(1))), (Reconciled::default(), 3));
        assert!(home.answered(1, id(9), answer));
        assert_eq!(home.all(), [(1, order(9, 0, 2))]);
    }

    /// 9 sent three to 1, which is gone and had got two of them.
    #[test]
    fn a_home_counts_a_sender_that_was_destroyed_until_the_next_of_the_name_comes() {
        let home = Orders::default();
        home.keep(1, Some(Box::new(order(9, 0, 2))));
        home.end_sender(1, id(9), 3);
        let mut next = *home.take(1).expect("one message is under way");
        assert!(next.is_next(id(9), 2) && next.advance(id(9)).is_none() && next.is_empty());

        home.keep(1, Some(Box::new(order(9, 0, 3))));
        home.end_sender(1, id(9), 3);
        assert!(home.is_empty());
    }

    #[test]
    fn who_will_answer_is_not_told_of_the_end_as_well() {
        let orders = Orders::default();
        let sent_to = |receivers: std::ops::Range<u128>| {
            let mut order = Order::default();
            for receiver in receivers {
                order.number(id(receiver));
            }
            Some(Box::new(order))
        };
        orders.keep(1, sent_to(8..10));
        orders.keep(2, sent_to(8..10));
        orders.ask(id(1), 0);
        orders.answered(1, id(8), Reconciled::default());
        let all = orders.take_all().into_iter();
        let left: Vec<_> = all.map(|(index, order)| (index, sorted(&order.sent))).collect();
        assert_eq!(left, [(1, vec![(id(8), 1)]), (2, vec![(id(8), 1), (id(9), 1)])]);
        assert!(!orders.is_asking(1) && orders.all().is_empty());
    }

    #[test]
    fn messages_that_nobody_has_heard_are_under_way() {
        let (_, question) = gone(1, 0);
        assert_eq!(Order::default().reconcile(&question), Reconciled::default());
    }

    /// It may have been told already to forget what it would agree to: one message that waits, and one that was sent before.
    #[test]
    fn who_asks_agrees_to_nothing() {
        let (home, _) = gone(0, 1);
        let question = Reconcile { gone: id(9), home: 0, said: Some(1), heard: None };
        assert_eq!(home.answer_for(1, &question), Reconciled::default());
        assert!(home.answered(1, id(9), Reconciled { said: false, heard: true }));
        assert_eq!(home.answer_for(1, &question), Reconciled::default());
    }

    #[test]
    fn what_one_said_to_itself_needs_no_question() {
        let orders = Orders::default();
        orders.keep(1, Some(Box::new(order(1, 3, 3))));
        assert!(orders.ask(id(1), 0).is_empty() && orders.all().is_empty());
        orders.keep(1, Some(Box::new(order(1, 3, 2))));
        assert!(orders.ask(id(1), 0).is_empty() && !orders.is_asking(1));
        assert_eq!(orders.all(), [(1, order(1, 3, 2))]);
    }

    #[test]
    fn all_are_asked_when_they_are_many_and_nobody_twice() {
        let orders = Orders::default();
        let kept: Vec<_> = (0..8)
            .map(|index| {
                orders.keep(index, Some(Box::new(order(9, 1, 0))));
                orders.due(Few(3)).len()
            })
            .collect();
        assert_eq!(kept, [0, 0, 3, 0, 0, 6, 0, 0]);
        orders.ask(id(4), 0);
        assert!(orders.due(Few(9)).is_empty());
        assert_eq!(orders.due(Few(1)), [0, 1, 2, 3, 5, 6, 7]);
        assert!(!orders.answered(4, id(8), Reconciled::ALL), "it was not asked");
        assert!(!orders.answered(3, id(9), Reconciled::ALL), "its partners were not");
    }
}
