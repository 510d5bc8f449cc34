//! What has come from another PE of the node is run, or queued.

use std::ptr::NonNull;

use super::slot::{
    RingWords, args_in, envelope_in, from_words, short_envelope, short_message, small_entry, small_message,
};
use crate::message::envelope::{Body, Envelope};
use crate::message::service::{self, ShortWords};
use crate::pe::Pe;
use crate::trace::Origin;
use crate::wire::{self, WireError};
use crate::witness::{self, Shadow};
use talisman_base::ids::PeId;

/// Runs the message that ring words stand for, or queues it.
#[inline(always)]
pub(super) fn take_in(pe: &Pe, from: PeId, words: &RingWords, at_once: bool) {
    let origin = pe.trace_comes(from + pe.first_pe);
    match small_message(words) {
        Some((object, entry)) => {
            let mut args = args_in(words);
            if !at_once || !pe.run_at_once(object, entry, &mut args, Shadow::NONE, origin) {
                let envelope = pe.filled(object, entry, &args, from + pe.first_pe);
                pe.trace_keep(envelope, origin);
                pe.accept(envelope);
            }
        }
        None => match short_message(words) {
            Some((service, words)) => take_in_short(pe, from + pe.first_pe, service, &words, at_once),
            None if at_once && witness::is_present() => take_in_watched(pe, envelope_in(words), origin),
            None => {
                pe.trace_keep(envelope_in(words), origin);
                take_in_whole(pe, envelope_in(words));
            }
        },
    }
}

/// A message for this PE came by value: it runs, or is queued.
fn take_in_short(pe: &Pe, from: PeId, service: usize, words: &ShortWords, at_once: bool) {
    if let Some(message) = service::take_words_of(service, pe, from, words, at_once) {
        pe.accept(short_envelope(pe, from, message));
    }
}

/// A message that has an envelope only because it is watched runs like one that has none.
fn take_in_watched(pe: &Pe, envelope: NonNull<Envelope>, origin: Option<Origin>) {
    // SAFETY: the ring gave the envelope away.
    match unsafe { envelope.as_ref() }.unchecked {
        true => {
            pe.trace_keep(envelope, origin);
            take_in_from_afar(pe, envelope);
        }
        false => take_in_message(pe, envelope, origin),
    }
}

#[inline(always)]
fn take_in_whole(pe: &Pe, envelope: NonNull<Envelope>) {
    // SAFETY: the ring gave the envelope away.
    if unsafe { envelope.as_ref() }.unchecked {
        take_in_from_afar(pe, envelope);
    } else {
        pe.accept(envelope);
    }
}

/// A message that ring words stand for is taken in as a frame with what is in it: as it is when the PE runs again, without the one that
/// has sent it.
#[inline(never)]
pub(super) fn take_in_told(pe: &Pe, from: PeId, words: &RingWords) {
    let origin = pe.trace_comes(from + pe.first_pe);
    let (mut envelope, mut from) = (from_words(pe, from, words), from + pe.first_pe);
    // SAFETY: the ring gave the envelope away.
    let message = unsafe { envelope.as_ref() };
    if message.unchecked {
        // Another PE has passed it on: it is from another node.
        from = message.from;
        envelope = match wire::checked(pe, envelope) {
            Ok(envelope) => envelope,
            Err(error) => return end_over(pe, from, &error),
        };
    }
    let packed = wire::pack(pe, envelope, |head, segments| (Box::<[u8]>::from(head), segments));
    // Who cannot be packed has ended the job.
    let Some((head, segments)) = packed else { return };
    pe.note_taken_frame(from, &head, &segments);
    let taken = pe.take_in_frame_of(from, &head, segments, origin);
    taken.unwrap_or_else(|error| end_over(pe, from, &error));
}

/// Takes in a message from within the node that a simulator delivers: as one that came through a ring.
pub fn take_in_message(pe: &Pe, mut envelope: NonNull<Envelope>, origin: Option<Origin>) {
    // SAFETY: the simulator gives the envelope away.
    let message = unsafe { envelope.as_mut() };
    let shadow = message.shadow;
    if let Some(short) = message.pe_message()
        && short.runs_as_it_comes()
        && short.to_words().is_some()
        && pe.may_run_as_it_comes(short.collection())
    {
        pe.trace_keep(envelope, origin);
        return pe.run_as_it_comes(envelope);
    }
    let ran = small_entry(message)
        .is_some_and(|entry| pe.run_at_once(message.to(), entry, &mut message.words, shadow, origin));
    match ran {
        true => {
            message.body = Body::Empty;
            pe.pool.put(envelope);
        }
        false => {
            pe.trace_keep(envelope, origin);
            pe.accept(envelope);
        }
    }
}

/// A message from another node that another PE of this one passed on.
#[inline(never)]
fn take_in_from_afar(pe: &Pe, envelope: NonNull<Envelope>) {
    // SAFETY: the port gave the envelope away.
    let from = unsafe { envelope.as_ref() }.from;
    match wire::checked(pe, envelope) {
        Ok(envelope) => pe.accept(envelope),
        Err(error) => end_over(pe, from, &error),
    }
}

/// What a PE of another node has sent is none of this job's.
#[cold]
fn end_over(pe: &Pe, from: PeId, error: &WireError) {
    let node = pe.node.shape.node_of(from);
    pe.node.job.end(1, Some(format!("invalid message from node {node}: {error}")));
}
