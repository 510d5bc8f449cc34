//! The compact form of an entry's message: tag, sender, collection, index and entry in as few bytes as they need, then
//! the packed arguments up to the end.
//!
//! Numbers are in groups of seven bits, the lowest first, the top bit set in all bytes but the last (LEB128). The creator
//! of a collection is counted from 1, 0 stands for singletons. An index is the number of its bytes up to the last that
//! is not zero, and those.

use std::ptr::NonNull;

use bytes::Bytes;

use super::{COMPACT, COMPACT_FORWARDED, check, write_whole};
use crate::collection::Collection;
use crate::entry_info::EntryInfo;
use crate::message::cell::Words;
use crate::message::control::ObjectMessage;
use crate::message::envelope::{Body, Envelope};
use crate::pe::Pe;
use crate::refusal::Call;
use talisman_base::ids::{CollectionId, ObjId, PeId};
use talisman_pup::{
    Fault, Lender, Packed, Packer, Pup, PupError, Purpose, ScratchPacker, Segment, Tail, Unpacker,
};

/// Writes an entry's message that has no options, and takes its arguments.
pub(super) fn write(
    pe: &Pe,
    message: &mut Envelope,
    entry: &'static EntryInfo,
    mut p: Packer,
) -> (Packer, Vec<Segment>) {
    super::write_shadow(message, &mut p);
    let to = message.to();
    let tag = if message.forwarded { COMPACT_FORWARDED } else { COMPACT };
    p.bytes(Start::of(tag, message.from, to, entry).bytes());
    let start = p.size();
    message.body = Body::Empty;
    // SAFETY: the body said that the words hold this entry's arguments, and says otherwise now.
    let (packer, segments) = unsafe { (entry.args.pack)(&mut message.words, p) };
    if packer.refusal().is_some() {
        refuse(pe, (message.from, to), entry, (&packer, start, &segments));
    }
    if packer.needs().is_empty() {
        return super::refuse_too_many((packer, segments), |why| {
            pe.refuse_call(message.from, to, Call::Entry(entry.number), why);
        });
    }
    // They refer to something that may come later: the receiver has to see that before it reads them.
    let (mut bytes, needs) = packer.into_parts();
    let args = Packed::new(Bytes::copy_from_slice(&bytes[start..]), segments, needs);
    message.put_object_message(Box::new(ObjectMessage::Invoke { entry: entry.number, args }));
    bytes.clear();
    write_whole(pe, message, Packer::over(Purpose::Message, bytes))
}

/// Writes what [`write`] would write of an entry's message straight from its arguments, which stay. None if it has to be written as
/// others are: something goes beside it, or it cannot be read.
#[inline]
pub fn write_call<'a>(
    packer: &'a mut ScratchPacker,
    from: PeId,
    (to, entry): (ObjId, &EntryInfo),
    words: &Words,
) -> Option<&'a [u8]> {
    // SAFETY: the caller's words are those of a message to this entry.
    write_lent(packer, from, (to, entry), false, |l| unsafe { (entry.args.lend)(words, l) })
        .map(|(all, _)| all)
}

/// The same of arguments that `lend` packs as those of the entry; in two parts, if their end `is_apart`.
#[inline]
pub fn write_lent<'a, 'p>(
    packer: &'p mut ScratchPacker,
    from: PeId,
    (to, entry): (ObjId, &EntryInfo),
    is_apart: bool,
    lend: impl FnOnce(&mut Lender<'a>),
) -> Option<(&'p [u8], &'a [u8])> {
    packer.pack_parts(Start::of(COMPACT, from, to, entry).bytes(), is_apart, lend)
}

/// Ends the job over arguments that cannot be read again, which begin at `start`.
#[cold]
fn refuse(
    pe: &Pe,
    (from, to): (PeId, ObjId),
    entry: &EntryInfo,
    (packer, start, segments): (&Packer, usize, &[Segment]),
) {
    let args = packer.copy_from(start, segments).placed(Purpose::Message, entry.args.unpack_and_drop());
    args.refusal().into_iter().for_each(|why| pe.refuse_call(from, to, Call::Entry(entry.number), why));
}

/// Reads what [`write`] wrote, behind the tag. If the collection is known, the arguments come to lie where the entry
/// takes them from; if not, they stay packed.
pub(super) fn read(pe: &Pe, u: &mut Unpacker<'_>, forwarded: bool) -> Result<NonNull<Envelope>, PupError> {
    let (from, to, number) = read_start(u)?;
    let entry = u16::try_from(number).map_err(|_| no_entry(number, u))?;
    let mut envelope = match pe.collections.get(to.collection) {
        Some(known) => {
            let (info, words) = read_args(known, entry, u)?;
            pe.filled(to, info, &words, from)
        }
        None => {
            let args = Packed::new(Bytes::copy_from_slice(u.bytes(u.left())?), u.take_segments(), Vec::new());
            super::sent_from(from, pe.with_object_message(to, ObjectMessage::Invoke { entry, args }))
        }
    };
    // SAFETY: just made.
    unsafe { envelope.as_mut() }.forwarded = forwarded;
    Ok(envelope)
}

/// What stands before the arguments of most messages: each number takes one byte.
pub struct ShortStart<'a> {
    pub from: PeId,
    pub to: ObjId,
    pub entry: u16,
    /// The arguments, packed.
    pub args: &'a [u8],
}

impl ShortStart<'_> {
    /// None if it is anything else, or wrong, which others see to.
    #[inline(always)]
    pub fn read(head: &[u8]) -> Option<ShortStart<'_>> {
        let ([COMPACT, from, creator, serial, used], rest) = head.split_first_chunk()? else { return None };
        let index = index_before(rest, u32::from(*used))?;
        let (entry, args) = rest.get(usize::from(*used)..)?.split_first()?;
        if (from | creator | serial | entry) >= 0x80 {
            return None;
        }
        let creator = PeId::from(*creator).wrapping_sub(1);
        let collection = CollectionId { creator, serial: u32::from(*serial) };
        let to = ObjId { collection, index };
        Some(ShortStart { from: PeId::from(*from), to, entry: u16::from(*entry), args })
    }
}

/// An index of so many bytes, which others follow. Where there are too few to read them with it and mask them, it is read as any other.
#[inline(always)]
fn index_before(bytes: &[u8], used: u32) -> Option<u128> {
    match 8_u32.checked_sub(used) {
        Some(unused) => {
            let index = u64::from_le_bytes(*bytes.first_chunk()?);
            Some((index & u64::MAX.checked_shr(8 * unused).unwrap_or(0)).into())
        }
        // Of a singleton chare on any PE but the first, or of several numbers.
        None => {
            let index = u128::from_le_bytes(*bytes.first_chunk()?);
            Some(index & u128::MAX >> (8 * 16_u32.checked_sub(used)?))
        }
    }
}

/// Reads an entry's arguments into words, of which the last bytes may be elsewhere. None if they are wrong, or there is no such entry.
#[inline]
pub fn read_known_args(
    collection: &Collection,
    entry: u16,
    (args, tail): (&[u8], &dyn Tail),
    words: &mut Words,
) -> Option<&'static EntryInfo> {
    let mut u = Unpacker::with_tail(args, Purpose::Message, tail);
    let (info, read) = read_args(collection, entry, &mut u).ok()?;
    *words = read;
    Some(info)
}

/// Reads what [`write`] wrote of a message for an object of a collection that is known, and checks it: its envelope, and the
/// collection. None if it is anything else, or wrong, which others see to.
#[inline]
pub fn read_known<'a>(pe: &'a Pe, head: &[u8]) -> Option<(NonNull<Envelope>, &'a Collection)> {
    let u = &mut Unpacker::new(head, Purpose::Message);
    let (COMPACT, shadow) = super::unpack_tag(u).ok()? else { return None };
    let (from, to, number) = read_start(u).ok()?;
    check::check_sender(pe, from).ok()?;
    let collection = pe.collections.get(to.collection)?;
    let (entry, words) = read_args(collection, u16::try_from(number).ok()?, u).ok()?;
    let mut envelope = pe.filled(to, entry, &words, from);
    // SAFETY: just made.
    unsafe { envelope.as_mut() }.shadow = shadow;
    Some((envelope, collection))
}

/// Who has sent it, what it is for, and the number of the entry.
#[inline(always)]
pub(super) fn read_start(u: &mut Unpacker<'_>) -> Result<(PeId, ObjId, u32), PupError> {
    let from: PeId = read_number(u)?;
    let collection = CollectionId { creator: read_number(u)?.wrapping_sub(1), serial: read_number(u)? };
    let to = ObjId { collection, index: read_index(u)? };
    Ok((from, to, read_number(u)?))
}

#[inline]
fn read_args(
    collection: &Collection,
    entry: u16,
    u: &mut Unpacker<'_>,
) -> Result<(&'static EntryInfo, Words), PupError> {
    let info = collection.chare.entries.get(entry as usize).ok_or_else(|| no_entry(entry.into(), u))?;
    let mut words = (info.args.unpack)(u)?;
    if let Err(error) = u.finish() {
        // SAFETY: just unpacked as this entry's arguments; dropped once.
        unsafe { (info.args.drop)(&mut words) };
        return Err(error);
    }
    Ok((info, words))
}

#[cold]
fn no_entry(number: u32, u: &Unpacker<'_>) -> PupError {
    u.fault(Fault::Tag { tag: number.into(), of: "entry" })
}

/// What stands before the arguments.
struct Start {
    bytes: [u8; START_MAX],
    len: usize,
}

/// A tag, four numbers of up to five bytes, and an index with its length; an index is copied whole, so there is room behind.
const START_MAX: usize = 1 + 4 * 5 + 1 + 16 + 16;

impl Start {
    #[inline(always)]
    fn new(tag: u8) -> Self {
        let mut bytes = [0; START_MAX];
        bytes[0] = tag;
        Start { bytes, len: 1 }
    }

    /// Of an entry's message.
    #[inline(always)]
    fn of(tag: u8, from: PeId, to: ObjId, entry: &EntryInfo) -> Self {
        let mut start = Start::new(tag);
        start.number(from);
        start.number(to.collection.creator.wrapping_add(1));
        start.number(to.collection.serial);
        start.index(to.index);
        start.number(entry.number.into());
        start
    }

    #[inline(always)]
    fn number(&mut self, mut number: u32) {
        while number >= 0x80 {
            self.bytes[self.len] = number as u8 | 0x80;
            number >>= 7;
            self.len += 1;
        }
        self.bytes[self.len] = number as u8;
        self.len += 1;
    }

    #[inline(always)]
    fn index(&mut self, index: u128) {
        let used = 16 - index.leading_zeros() as usize / 8;
        self.bytes[self.len] = used as u8;
        let at = self.len + 1;
        self.bytes[at..at + 16].copy_from_slice(&index.to_le_bytes());
        self.len = at + used;
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

#[inline(always)]
fn read_number(u: &mut Unpacker<'_>) -> Result<u32, PupError> {
    let byte = u8::unpack(u)?;
    if byte < 0x80 { Ok(byte.into()) } else { read_long_number(byte, u) }
}

#[inline(never)]
fn read_long_number(first: u8, u: &mut Unpacker<'_>) -> Result<u32, PupError> {
    let mut number = u64::from(first & 0x7f);
    for shift in (7..35).step_by(7) {
        let byte = u8::unpack(u)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(number)
                .map_err(|_| u.fault(Fault::Width { value: number.into(), of: "u32" }));
        }
    }
    Err(u.fault(Fault::Width { value: number.into(), of: "u32" }))
}

#[inline(always)]
fn read_index(u: &mut Unpacker<'_>) -> Result<u128, PupError> {
    let used = usize::from(u8::unpack(u)?);
    let bytes = u.bytes(used)?;
    let mut index = [0; 16];
    match index.get_mut(..used) {
        Some(place) => place.copy_from_slice(bytes),
        None => return Err(u.fault(Fault::Length { len: used as u64, left: u.left() })),
    }
    Ok(u128::from_le_bytes(index))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use talisman_base::index::ArrayIndex;

    fn written(write: impl FnOnce(&mut Start)) -> Vec<u8> {
        let mut start = Start::new(0);
        write(&mut start);
        start.bytes()[1..].to_vec()
    }

    proptest! {
        #[test]
        fn numbers_and_indices_come_back(number: u32, shift in 0..32u32, index: u128, bits in 0..128u32) {
            let (number, index) = (number >> shift, index >> bits);
            let bytes = written(|start| { start.number(number); start.index(index) });
            let mut u = Unpacker::new(&bytes, Purpose::Message);
            prop_assert_eq!((read_number(&mut u).unwrap(), read_index(&mut u).unwrap()), (number, index));
            u.finish().unwrap();
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            let _ = read_number(&mut Unpacker::new(&bytes, Purpose::Message));
            let _ = read_index(&mut Unpacker::new(&bytes, Purpose::Message));
        }
    }

    fn read_both_ways(bytes: &[u8]) {
        let Some(short) = ShortStart::read(bytes) else { return };
        let mut u = Unpacker::new(&bytes[1..], Purpose::Message);
        let (from, to, entry) = read_start(&mut u).unwrap();
        assert_eq!((short.from, short.to, u32::from(short.entry)), (from, to, entry));
        assert_eq!(short.args, u.bytes(u.left()).unwrap());
    }

    proptest! {
        #[test]
        fn a_short_start_is_read_as_any_other(
            numbers: [u32; 4], shifts in [0..32u32, 0..32, 0..32, 0..32], index: u128, bits in 0..128u32, args: Vec<u8>,
        ) {
            let mut start = Start::new(COMPACT);
            let [from, creator, serial, entry] = std::array::from_fn(|i| numbers[i] >> shifts[i]);
            [from, creator, serial].into_iter().for_each(|number| start.number(number));
            start.index(index >> bits);
            start.number(entry);
            let is_short = [from, creator, serial, entry].iter().all(|number| *number < 0x80);
            let bytes = [start.bytes(), &args].concat();
            prop_assert!(ShortStart::read(&bytes).is_none() || is_short);
            prop_assert!(ShortStart::read(&bytes).is_some() || !is_short || args.len() < 16);
            read_both_ways(&bytes);
        }

        #[test]
        fn a_short_start_of_any_bytes_is_survived(mut bytes: Vec<u8>) {
            bytes.iter_mut().take(5).for_each(|byte| *byte &= 0x8f);
            read_both_ways(&[&[COMPACT], &bytes[..]].concat());
        }
    }

    #[test]
    fn small_numbers_take_few_bytes() {
        assert_eq!(written(|start| start.number(127)).len(), 1);
        assert_eq!(written(|start| start.number(u32::MAX)).len(), 5);
        assert_eq!(written(|start| start.index(0)).len(), 1);
        assert_eq!(written(|start| start.index(7u32.to_bits())).len(), 2);
        assert!(written(|start| start.index((1, 2, 300).to_bits())).len() <= 13);
        assert_eq!(written(|start| start.index(u128::MAX)).len(), 17);
    }

    #[test]
    fn everything_at_its_longest_fits() {
        let longest = written(|start| {
            (0..3).for_each(|_| start.number(u32::MAX));
            start.index(u128::MAX);
            start.number(u32::MAX);
        });
        assert_eq!(longest.len(), 4 * 5 + 17);
    }
}
