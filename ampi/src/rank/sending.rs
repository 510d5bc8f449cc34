//! How what a rank has sent comes to the others: at once to those that wait on its PE, to all others as messages.

use std::ptr::NonNull;

use talisman_core::cx::Cx;
use talisman_core::proxy::Array;

use super::element::goes_by_messages;
use super::neighbors::{self, Given, Neighbor};
use super::{Outgoing, Program, RankElement, RankError};
use crate::engine::{EAGER_MAX, Frame, INLINE_MAX, Payload, Rank as Number, Whole};

impl<P: Program> RankElement<P> {
    /// Sends what its rank has sent, and what that leads to: to ranks of this PE at once.
    pub(super) fn send(&mut self, cx: &mut Cx<Self>, sent: &mut Vec<Outgoing>) -> Result<(), RankError> {
        let (own, is_alone) = (cx.index() as Number, !cx.shares_process());
        let ranks = self.ranks;
        neighbors::end_of_run(sent, |given| tell(cx, ranks, given));
        if sent.is_empty() {
            return Ok(());
        }
        let mut next = Vec::new();
        while !sent.is_empty() {
            for (to, frame) in sent.drain(..) {
                match is_alone && to == own {
                    true => self.rank.on_frame(frame, &mut next)?,
                    false => give(cx, self.ranks, to, frame, &mut next),
                }
            }
            if !next.is_empty() {
                std::mem::swap(sent, &mut next);
            }
        }
        Ok(())
    }

    /// From now on other ranks of this PE give it their frames at once; or not, as it does not wait here for them.
    pub(super) fn be_found(&mut self, cx: &mut Cx<Self>) {
        let waits = self.launch.is_some() && !self.has_ended && !self.regroups;
        let number = self.rank.process().engine.rank();
        let at = Neighbor { rank: NonNull::from(&mut self.rank), seat: cx.seat() };
        let found = (waits && !goes_by_messages(cx)).then_some((number, at));
        // SAFETY: an element stays where it is until it is dropped, and the rank with it, whose place leaves then. Entries
        // of a PE run one after the other, and a rank looks for others in its own.
        unsafe { self.rank.place.set(found) };
    }
}

/// Gives a frame to another rank: at once if that waits on this PE, else by a message.
fn give<P: Program>(
    cx: &mut Cx<RankElement<P>>,
    ranks: Array<RankElement<P>>,
    to: Number,
    frame: Frame<Payload>,
    sent: &mut Vec<Outgoing>,
) {
    // One that was noted before other nodes came into this process may be aside.
    let found = if goes_by_messages(cx) { None } else { neighbors::look_for(to) };
    match found {
        // SAFETY: the entry of another rank runs, which sends itself nothing by this way.
        Some(receiver) => unsafe { give_to(cx, ranks, (to, receiver), frame, sent) },
        None => send(ranks, to, frame),
    }
}

/// Gives a frame to a rank that waits on this PE.
///
/// # Safety
/// It is not the one that runs.
unsafe fn give_to<P: Program>(
    cx: &mut Cx<RankElement<P>>,
    ranks: Array<RankElement<P>>,
    (to, mut receiver): (Number, Neighbor),
    frame: Frame<Payload>,
    sent: &mut Vec<Outgoing>,
) {
    let bytes = frame.body.payload_len();
    // SAFETY: it waits, so nobody uses it but entries of its own, of which none runs now.
    let rank = unsafe { receiver.rank.as_mut() };
    let is_to_be_called = rank.is_called_by(frame, sent);
    tell(cx, ranks, Given { to, bytes, receiver, is_to_be_called });
}

/// The same while the rank that sends runs on; what is for itself is given to it by whoever runs it.
pub(super) fn give_now<P: Program>(
    cx: &mut Cx<RankElement<P>>,
    to: Number,
    frame: Frame<Payload>,
    led_to: &mut Vec<Outgoing>,
) -> Result<(), Frame<Payload>> {
    if goes_by_messages(cx) {
        return Err(frame);
    }
    if to == cx.index() as Number {
        led_to.push((to, frame));
        return Ok(());
    }
    let Some(receiver) = neighbors::look_for(to) else { return Err(frame) };
    let ranks = cx.array();
    // SAFETY: it is another one.
    unsafe { give_to(cx, ranks, (to, receiver), frame, led_to) };
    Ok(())
}

impl<P: Program> RankElement<P> {
    /// Its rank waits, and another has got this from it and is ready: that one's turn comes when this entry has ended, without a message
    /// if it would be the next one to run.
    pub(super) fn hand_over(&self, cx: &mut Cx<Self>, given: Given) {
        let Given { to, bytes, .. } = given;
        match cx.call_next(to as i32, RankElement::<P>::go_on) {
            true => cx.note_sent(&self.ranks.at(to as i32), bytes as usize),
            false => tell(cx, self.ranks, given),
        }
    }
}

/// A rank has got a message without one of the runtime's: it is called if it is ready, and the message is counted.
fn tell<P: Program>(cx: &mut Cx<RankElement<P>>, ranks: Array<RankElement<P>>, given: Given) {
    let Given { to, bytes, is_to_be_called, .. } = given;
    let receiver = ranks.at(to as i32);
    if is_to_be_called {
        receiver.go_on();
    }
    // The call is a message to it, as this one would have been; but it has no bytes.
    if !is_to_be_called || bytes > INLINE_MAX as u64 {
        cx.note_sent(&receiver, bytes as usize);
    }
}

/// Sends what goes to other PEs than that of the rank that runs; the others have their turns when it has had its.
pub(super) fn send_now<P: Program>(cx: &mut Cx<RankElement<P>>, sent: &mut Vec<Outgoing>) {
    // Several nodes in a process have their turns one after the other as well.
    if cx.shares_process() {
        return;
    }
    let (own, ranks) = (cx.index() as Number, cx.array());
    let leave = |(to, _): &mut Outgoing| *to != own && neighbors::look_for(*to).is_none();
    for (to, frame) in sent.extract_if(.., leave) {
        send(ranks, to, frame);
    }
    cx.flush();
}

/// Sends a whole message to a rank of another node from where its bytes are. False if it is to be sent in a frame.
pub(super) fn send_at_once<P: Program>(cx: &Cx<RankElement<P>>, to: Number, whole: &Whole<'_>) -> bool {
    // What runs again sends in the order in which it did, which is another one where nothing is sent so.
    if cx.shares_process() || cx.runs_again() || whole.head.bytes > EAGER_MAX {
        return false;
    }
    let receiver = cx.array().at(to as i32);
    let is_sent =
        cx.call_in_place(&receiver, RankElement::<P>::frame, |l| whole.pack_start(l.packer()), whole.bytes);
    if is_sent {
        cx.flush();
    }
    is_sent
}

pub(super) fn send<P: Program>(ranks: Array<RankElement<P>>, to: Number, frame: Frame<Payload>) {
    ranks.at(to as i32).frame(frame);
}
