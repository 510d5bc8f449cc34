//! Messages come in order where order is promised: in ordered collections always, between other chares while neither moves.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use talisman::ids::{CollectionId, ObjId};
use talisman::witness::{Kind, Seen, Until};

use super::Oracle;

/// Keeps, of each pair of objects, what one sent and the other has not got.
#[derive(Clone, Default)]
pub struct Order {
    ordered: FxHashSet<CollectionId>,
    channels: FxHashMap<Channel, VecDeque<Waiting>>,
    /// The channel of each message.
    open: FxHashMap<u64, Channel>,
    /// How often each object was made, left, came or was removed.
    moves: FxHashMap<ObjId, u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Channel {
    from: ObjId,
    to: ObjId,
}

#[derive(Clone, Copy)]
struct Waiting {
    message: u64,
    /// Of its sender and its receiver, when it was sent.
    moves: (u32, u32),
    /// It has a priority, or waited for a shared value: others may pass it.
    out_of_line: bool,
}

impl Order {
    fn sent(&mut self, message: u64, channel: Channel, in_line: bool) {
        let moves = (self.moves_of(channel.from), self.moves_of(channel.to));
        let waiting = Waiting { message, moves, out_of_line: !in_line };
        self.channels.entry(channel).or_default().push_back(waiting);
        self.open.insert(message, channel);
    }

    fn moves_of(&self, object: ObjId) -> u32 {
        self.moves.get(&object).copied().unwrap_or(0)
    }

    fn moved(&mut self, object: ObjId) {
        *self.moves.entry(object).or_default() += 1;
    }

    fn delivered(&mut self, message: u64) -> Result<(), String> {
        let Some(channel) = self.open.remove(&message) else { return Ok(()) };
        let (before, this) = self.take_out(channel, message);
        let now = self.moves_of(channel.to);
        let ordered = self.ordered.contains(&channel.to.collection);
        let passed = |other: &&Waiting| {
            let still = other.moves == (this.moves.0, now) && !this.out_of_line && !other.out_of_line;
            ordered || still
        };
        let Some(other) = before.iter().find(passed) else { return Ok(()) };
        let Channel { from, to } = channel;
        let kind = if ordered { "which is ordered" } else { "and neither has moved" };
        Err(format!("{to:?} gets message {message} of {from:?} before message {}, {kind}", other.message))
    }

    /// Takes a message out of its channel; what is before it there stays, and is given too.
    fn take_out(&mut self, channel: Channel, message: u64) -> (Vec<Waiting>, Waiting) {
        let waiting = self.channels.get_mut(&channel).expect("an open message is in its channel");
        let at = waiting.iter().position(|other| other.message == message).expect("as above");
        let this = waiting.remove(at).expect("just found");
        let before = waiting.iter().take(at).copied().collect();
        if waiting.is_empty() {
            self.channels.remove(&channel);
        }
        (before, this)
    }

    fn dropped(&mut self, message: u64) {
        if let Some(channel) = self.open.remove(&message) {
            self.take_out(channel, message);
        }
    }

    fn let_pass(&mut self, message: u64) {
        let Some(channel) = self.open.get(&message) else { return };
        let waiting = self.channels.get_mut(channel).into_iter().flatten();
        waiting.filter(|other| other.message == message).for_each(|other| other.out_of_line = true);
    }

    /// What a dead node had is lost, so order is no matter of comparing any more; nor is it when a PE goes back.
    fn forget(&mut self) {
        self.channels.clear();
        self.open.clear();
    }
}

impl Oracle for Order {
    fn name(&self) -> &'static str {
        "order"
    }

    fn see(&mut self, seen: &Seen) -> Result<(), String> {
        match *seen {
            Seen::Sent {
                message,
                sender: Some(from),
                to: Some(to),
                kind: Kind::Entry | Kind::Reply,
                in_line,
                ..
            } => self.sent(message, Channel { from, to }, in_line),
            Seen::Kept { message, until: Until::Shared, .. } => self.let_pass(message),
            Seen::Delivered { message, .. } => return self.delivered(message),
            Seen::Dropped { message, .. } => self.dropped(message),
            Seen::Known { collection, ordered: true, .. } => drop(self.ordered.insert(collection)),
            // What was sent to a chare before it is made comes in order, too. Elements may be made away from where that waits.
            Seen::Born { object, .. } if object.collection.is_singles() => {}
            Seen::Born { object, .. }
            | Seen::Departed { object, .. }
            | Seen::Arrived { object, .. }
            | Seen::Removed { object, .. } => self.moved(object),
            Seen::NodeGone { .. } | Seen::RolledBack { .. } => self.forget(),
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn end(&mut self, _: bool) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::told::{born, delivered, element, finds, sent, tell};
    use super::*;

    fn moves(index: u128) -> [Seen; 2] {
        let object = element(index);
        [
            Seen::Departed { object, pe: 0, to: 1, moves: 1 },
            Seen::Arrived { object, pe: 1, home: 0, moves: 1, passed: 0 },
        ]
    }

    #[test]
    fn messages_come_as_they_were_sent_to_each_receiver() {
        let story =
            [sent(1, 0, 5, 6), sent(2, 0, 5, 7), sent(3, 0, 5, 6), delivered(2, 0, 7), delivered(1, 0, 6)];
        let mut oracle = Order::default();
        assert_eq!(tell(&mut oracle, &story).and_then(|()| oracle.see(&delivered(3, 0, 6))), Ok(()));
        assert!(oracle.channels.is_empty() && oracle.open.is_empty());
    }

    #[test]
    fn a_message_does_not_pass_another() {
        let story = [sent(1, 0, 5, 6), sent(2, 0, 5, 6), delivered(2, 0, 6)];
        finds(Order::default(), &story, "before message 1");
    }

    #[test]
    fn what_was_sent_to_a_chare_before_it_is_made_is_not_passed_either() {
        let to = ObjId { collection: CollectionId::singles(0), index: 6 };
        let mut story = [sent(1, 0, 5, 6), sent(2, 0, 5, 6), born(6, 0), delivered(2, 0, 6)];
        for seen in &mut story {
            match seen {
                Seen::Sent { to: of, .. } => *of = Some(to),
                Seen::Born { object, .. } => *object = to,
                _ => {}
            }
        }
        finds(Order::default(), &story, "before message 1");
    }

    #[test]
    fn what_has_a_priority_or_lacks_a_value_may_be_passed() {
        let mut urgent = sent(2, 0, 5, 6);
        if let Seen::Sent { in_line, .. } = &mut urgent {
            *in_line = false;
        }
        assert_eq!(tell(&mut Order::default(), &[sent(1, 0, 5, 6), urgent, delivered(2, 0, 6)]), Ok(()));
        let kept = Seen::Kept { message: 1, pe: 0, until: Until::Shared };
        let story = [sent(1, 0, 5, 6), sent(2, 0, 5, 6), kept, delivered(2, 0, 6)];
        assert_eq!(tell(&mut Order::default(), &story), Ok(()));
    }

    #[test]
    fn who_moves_may_get_messages_in_another_order_unless_it_is_ordered() {
        for who in [5, 6] {
            let mut story = vec![born(5, 0), born(6, 0), sent(1, 0, 5, 6)];
            story.extend(moves(who));
            story.extend([sent(2, 0, 5, 6), delivered(2, 0, 6)]);
            assert_eq!(tell(&mut Order::default(), &story), Ok(()), "{who}");
            story.insert(0, Seen::Known { collection: element(0).collection, pe: 0, ordered: true });
            finds(Order::default(), &story, "which is ordered");
        }
    }
}
