//! What a ring between two PEs of a node holds of a message: a small one by value, any other as the address of its envelope.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::entry_info::EntryInfo;
use crate::message::cell::{WORDS, Words};
use crate::message::envelope::{Body, Envelope};
use crate::message::service::{self, PeMessage, SERVICES, Service, ShortWords};
use crate::pe::Pe;
use crate::witness::Shadow;
use talisman_base::ids::{CollectionId, ObjId, PeId};

/// What a ring's slot holds. Arguments may have bytes that mean nothing, so the words are kept as such.
pub(super) type RingWords = [MaybeUninit<u64>; 7];

/// Words of the arguments that travel in a ring's slot. The others are: entry, collection, index (two words).
pub(super) const SMALL: usize = 3;

/// Set in the first word of what is no call: the others have the address of an entry there. Above it is the number of the service that a
/// message for a PE is of, from 1 on; 0 if the second word is the address of an envelope.
const IS_PE: u8 = 1;
const _: () = assert!(SERVICES < 1 << 7, "the number of a service has seven bits there");

/// A message as ring words: a small invocation by value, any other as a pointer to its envelope.
#[inline(always)]
pub(super) fn into_words(pe: &Pe, mut envelope: NonNull<Envelope>) -> RingWords {
    // SAFETY: the sender owns the envelope.
    let message = unsafe { envelope.as_mut() };
    let small = small_entry(message).filter(|_| message.shadow == Shadow::NONE);
    let Some(entry) = small else { return by_pointer(envelope) };
    let words = small_words(message.to(), entry, &message.words);
    message.body = Body::Empty;
    pe.pool.put(envelope);
    words
}

/// The entry of a message that can travel by value.
#[inline(always)]
pub(super) fn small_entry(message: &Envelope) -> Option<&'static EntryInfo> {
    let Body::Invoke(entry) = message.body else { return None };
    let is_small = entry.args.size as usize <= SMALL * 8 && message.is_plain() && !message.forwarded;
    is_small.then_some(entry)
}

#[inline(always)]
pub(super) fn small_words(to: ObjId, entry: &'static EntryInfo, args: &Words) -> RingWords {
    [
        word(std::ptr::from_ref(entry).expose_provenance() as u64),
        word((to.collection.creator as u64) << 32 | to.collection.serial as u64),
        word(to.index as u64),
        word((to.index >> 64) as u64),
        args[0],
        args[1],
        args[2],
    ]
}

/// A message of this service by value.
#[inline(always)]
pub(super) fn short_words(service: Service, mut words: ShortWords) -> RingWords {
    words[0] |= u64::from(IS_PE) | (service as u64 + 1) << 1;
    words.map(word)
}

pub(super) fn by_pointer(envelope: NonNull<Envelope>) -> RingWords {
    let pointer = envelope.as_ptr().expose_provenance() as u64;
    [word(IS_PE.into()), word(pointer), word(0), word(0), word(0), word(0), word(0)]
}

#[inline(always)]
fn word(value: u64) -> MaybeUninit<u64> {
    MaybeUninit::new(value)
}

/// The message that ring words stand for.
pub(super) fn from_words(pe: &Pe, from: PeId, words: &RingWords) -> NonNull<Envelope> {
    match small_message(words) {
        Some((object, entry)) => pe.filled(object, entry, &args_in(words), from + pe.first_pe),
        None => match short_message(words) {
            Some((service, words)) => {
                short_envelope(pe, from + pe.first_pe, service::of_words(service, &words))
            }
            None => envelope_in(words),
        },
    }
}

/// The receiver and the entry of a message that travels by value.
#[inline(always)]
pub(super) fn small_message(words: &RingWords) -> Option<(ObjId, &'static EntryInfo)> {
    // SAFETY: the four words that are not arguments were written by `small_words`, `short_words` or `by_pointer`.
    let [entry, collection, low, high] = std::array::from_fn(|i| unsafe { words[i].assume_init() });
    if entry & u64::from(IS_PE) != 0 {
        return None;
    }
    let object = ObjId {
        collection: CollectionId { creator: (collection >> 32) as PeId, serial: collection as u32 },
        index: low as u128 | (high as u128) << 64,
    };
    // SAFETY: written by `small_words`, from a reference that lives as long as the program.
    Some((object, unsafe { &*std::ptr::with_exposed_provenance::<EntryInfo>(entry as usize) }))
}

/// The arguments of such a message.
#[inline(always)]
pub(super) fn args_in(words: &RingWords) -> Words {
    let mut args = [const { MaybeUninit::uninit() }; WORDS];
    args[..SMALL].copy_from_slice(&words[4..]);
    args
}

/// The service of a message for a PE that travels by value, and its words.
#[inline(always)]
pub(super) fn short_message(words: &RingWords) -> Option<(usize, ShortWords)> {
    // SAFETY: the first word was written by `by_pointer` or `short_words`.
    let tag = unsafe { words[0].assume_init() } as u8;
    if tag == IS_PE {
        return None;
    }
    // SAFETY: all were written by `short_words`.
    let mut words = words.map(|word| unsafe { word.assume_init() });
    words[0] &= !0xff;
    Some(((tag >> 1) as usize - 1, words))
}

/// The envelope that ring words point to.
#[inline(always)]
pub(super) fn envelope_in(words: &RingWords) -> NonNull<Envelope> {
    // SAFETY: written by `by_pointer`, from a live envelope that is this PE's from now on.
    unsafe { NonNull::new_unchecked(std::ptr::with_exposed_provenance_mut(words[1].assume_init() as usize)) }
}

/// An envelope for a message that came by value.
pub(super) fn short_envelope(pe: &Pe, from: PeId, message: Box<dyn PeMessage>) -> NonNull<Envelope> {
    let mut envelope = pe.with_pe_message(message);
    // SAFETY: just made.
    unsafe { envelope.as_mut() }.from = from;
    envelope
}
