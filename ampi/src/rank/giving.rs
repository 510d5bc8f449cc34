//! What a rank sends to itself, and asks of windows of its PE: given at once, while it runs.
//!
//! Other ranks of the PE wait meanwhile, and what they are asked for is done by their engines, so who asks need not be suspended for
//! that. Frames of other kinds go to them when the rank has had its turn ([`sending`](super::sending)).

use super::running::{Running, Slots};
use crate::engine::{Frame, Payload};

/// Accesses to windows that are done at once in a turn: a rank that looks at a window until another one has put something there would keep
/// the PE from that one.
const ACCESSES: u32 = 32;

impl Running<'_> {
    /// Gives what may be given at once. Whether anything has come of it for the rank that runs.
    pub(super) fn give_now(&mut self) -> bool {
        let Slots { process, agenda, sent, outside, failure, .. } = &mut self.slots;
        let own = process.engine.rank();
        // Its own window too: others write to that.
        let is_due = |to, frame: &Frame<Payload>, asked| match frame.body.is_access() {
            true => asked < ACCESSES,
            false => to == own,
        };
        if !sent.iter().any(|(to, frame)| is_due(*to, frame, self.asked)) {
            return false;
        }
        let (mut all, mut led_to) = (std::mem::take(*sent), Vec::new());
        for (to, frame) in all.drain(..) {
            let is_access = frame.body.is_access();
            let given = match is_due(to, &frame, self.asked) {
                true => outside.give_now(to, frame, &mut led_to),
                false => Err(frame),
            };
            match given {
                Ok(()) => (self.asked, self.left) = (self.asked + u32::from(is_access), self.left + 1),
                Err(frame) => sent.push((to, frame)),
            }
        }
        if sent.is_empty() {
            // With its room.
            **sent = all;
        }
        let mut any = false;
        for (to, frame) in led_to {
            if to != own {
                sent.push((to, frame));
                continue;
            }
            (any, self.got) = (true, self.got + 1);
            if let Err(error) = process.on_frame(frame, &mut agenda.actions) {
                // Said where it is suspended, as of a frame that comes then.
                **failure = Some(error.to_string());
            }
        }
        any
    }
}
