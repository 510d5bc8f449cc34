//! A message as the words of a slot in a ring between PEs of a node, and back.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::entry_info::EntryInfo;
use crate::message::cell::{WORDS, Words};
use crate::message::envelope::{Body, Envelope};
use crate::pe::Pe;
use crate::witness::Shadow;
use talisman_base::ids::{CollectionId, ObjId, PeId};

/// What a ring's slot holds. Arguments may have bytes that mean nothing, so the words are kept as such.
pub(super) type RingWords = [MaybeUninit<u64>; 7];

/// Words of the arguments that travel in a ring's slot. The others are: entry, collection, index (two words).
pub(super) const SMALL: usize = 3;

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

/// The message that ring words stand for.
pub(super) fn from_words(pe: &Pe, from: PeId, words: &RingWords) -> NonNull<Envelope> {
    match small_message(words) {
        Some((object, entry)) => {
            let mut args = [const { MaybeUninit::uninit() }; WORDS];
            args[..SMALL].copy_from_slice(&words[4..]);
            pe.filled(object, entry, &args, from + pe.first_pe)
        }
        None => envelope_in(words),
    }
}

/// The receiver and the entry of a message that travels by value.
#[inline(always)]
pub(super) fn small_message(words: &RingWords) -> Option<(ObjId, &'static EntryInfo)> {
    // SAFETY: the four words that are not arguments were written by `small_words` or `by_pointer`.
    let [entry, collection, low, high] = std::array::from_fn(|i| unsafe { words[i].assume_init() });
    if entry == 0 {
        return None;
    }
    let object = ObjId {
        collection: CollectionId { creator: (collection >> 32) as PeId, serial: collection as u32 },
        index: low as u128 | (high as u128) << 64,
    };
    // SAFETY: written by `small_words`, from a reference that lives as long as the program.
    Some((object, unsafe { &*std::ptr::with_exposed_provenance::<EntryInfo>(entry as usize) }))
}

/// The envelope that ring words point to.
#[inline(always)]
pub(super) fn envelope_in(words: &RingWords) -> NonNull<Envelope> {
    // SAFETY: written by `by_pointer`, from a live envelope that is this PE's from now on.
    unsafe { NonNull::new_unchecked(std::ptr::with_exposed_provenance_mut(words[1].assume_init() as usize)) }
}

pub(super) fn by_pointer(envelope: NonNull<Envelope>) -> RingWords {
    let pointer = envelope.as_ptr().expose_provenance() as u64;
    [word(0), word(pointer), word(0), word(0), word(0), word(0), word(0)]
}

#[inline(always)]
fn word(value: u64) -> MaybeUninit<u64> {
    MaybeUninit::new(value)
}
