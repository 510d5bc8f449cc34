//! The compact form of an entry's message: tag, sender, collection, index and entry in as few bytes as they need, then
//! the packed arguments up to the end.
//!
//! Numbers are in groups of seven bits, the lowest first, the top bit set in all bytes but the last (LEB128). The creator
//! of a collection is counted from 1, 0 stands for singletons. An index is two bytes that say which of its sixteen bytes
//! are not zero, and those: indices of small numbers have few.

use std::ptr::NonNull;

use bytes::Bytes;

use super::{COMPACT, COMPACT_FORWARDED, write_whole};
use crate::collection::Collection;
use crate::entry::EntryInfo;
use crate::ids::{CollectionId, ObjId, PeId};
use crate::message::cell::Words;
use crate::message::control::ObjectMessage;
use crate::message::envelope::{Body, Envelope};
use crate::pe::Pe;
use crate::pup::{Fault, Packed, Packer, Pup, PupError, Segment, Unpacker};

/// Writes an entry's message that has no options, and takes its arguments.
pub(super) fn write(
    message: &mut Envelope,
    entry: &'static EntryInfo,
    mut p: Packer,
) -> (Packer, Vec<Segment>) {
    let to = message.to();
    p.bytes(&[if message.forwarded { COMPACT_FORWARDED } else { COMPACT }]);
    write_number(message.from, &mut p);
    write_number(to.collection.creator.wrapping_add(1), &mut p);
    write_number(to.collection.serial, &mut p);
    write_index(to.index, &mut p);
    write_number(entry.number.into(), &mut p);
    let start = p.size();
    message.body = Body::Empty;
    // SAFETY: the body said that the words hold this entry's arguments, and says otherwise now.
    let (packer, segments) = unsafe { (entry.args.pack)(&mut message.words, p) };
    if packer.needs().is_empty() {
        return (packer, segments);
    }
    // They refer to something that may come later: the receiver has to see that before it reads them.
    let (mut bytes, needs) = packer.into_parts();
    let args = Packed::new(Bytes::copy_from_slice(&bytes[start..]), segments, needs);
    message.put_object_message(Box::new(ObjectMessage::Invoke { entry: entry.number, args }));
    bytes.clear();
    write_whole(message, Packer::over(crate::pup::Purpose::Message, bytes))
}

/// Reads what [`write`] wrote, behind the tag. If the collection is known, the arguments come to lie where the entry
/// takes them from; if not, they stay packed.
pub(super) fn read(pe: &Pe, u: &mut Unpacker<'_>, forwarded: bool) -> Result<NonNull<Envelope>, PupError> {
    let from: PeId = read_number(u)?;
    let collection = CollectionId { creator: read_number(u)?.wrapping_sub(1), serial: read_number(u)? };
    let to = ObjId { collection, index: read_index(u)? };
    let number = read_number(u)?;
    let entry = u16::try_from(number).map_err(|_| no_entry(number, u))?;
    let mut envelope = match pe.collections.get(collection) {
        Some(known) => {
            let (info, words) = read_args(known, entry, u)?;
            pe.filled(to, info, &words, from)
        }
        None => {
            let args = Packed::new(Bytes::copy_from_slice(u.bytes(u.left())?), u.take_segments(), Vec::new());
            super::sent_from(from, pe.object_message(to, ObjectMessage::Invoke { entry, args }))
        }
    };
    // SAFETY: just made.
    unsafe { envelope.as_mut() }.forwarded = forwarded;
    Ok(envelope)
}

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

fn write_number(mut number: u32, p: &mut Packer) {
    let mut bytes = [0; 5];
    let mut len = 0;
    while number >= 0x80 {
        bytes[len] = number as u8 | 0x80;
        number >>= 7;
        len += 1;
    }
    bytes[len] = number as u8;
    p.bytes(&bytes[..=len]);
}

fn read_number(u: &mut Unpacker<'_>) -> Result<u32, PupError> {
    let mut number = 0u64;
    for shift in (0..35).step_by(7) {
        let byte = u8::unpack(u)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(number)
                .map_err(|_| u.fault(Fault::Width { value: number.into(), of: "u32" }));
        }
    }
    Err(u.fault(Fault::Width { value: number.into(), of: "u32" }))
}

fn write_index(index: u128, p: &mut Packer) {
    let mut out = [0; 18];
    let (mut mask, mut len) = (0u16, 2);
    for (at, byte) in index.to_le_bytes().into_iter().enumerate() {
        if byte != 0 {
            mask |= 1 << at;
            out[len] = byte;
            len += 1;
        }
    }
    out[..2].copy_from_slice(&mask.to_le_bytes());
    p.bytes(&out[..len]);
}

fn read_index(u: &mut Unpacker<'_>) -> Result<u128, PupError> {
    let mask = u16::unpack(u)?;
    let bytes = u.bytes(mask.count_ones() as usize)?;
    let mut index = [0; 16];
    let places = (0..16).filter(|at| mask >> at & 1 == 1);
    places.zip(bytes).for_each(|(at, byte): (usize, _)| index[at] = *byte);
    Ok(u128::from_le_bytes(index))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::ArrayIndex;
    use crate::pup::Purpose;

    fn written(write: impl FnOnce(&mut Packer)) -> Vec<u8> {
        let mut p = Packer::new(Purpose::Message);
        write(&mut p);
        p.finish()
    }

    proptest! {
        #[test]
        fn numbers_and_indices_come_back(number: u32, shift in 0..32u32, index: u128, mask: u128) {
            let (number, index) = (number >> shift, index & mask);
            let bytes = written(|p| { write_number(number, p); write_index(index, p) });
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

    #[test]
    fn small_numbers_take_few_bytes() {
        assert_eq!(written(|p| write_number(127, p)).len(), 1);
        assert_eq!(written(|p| write_number(u32::MAX, p)).len(), 5);
        assert_eq!(written(|p| write_index(7u32.to_bits(), p)).len(), 3);
        assert_eq!(written(|p| write_index((1, 2, 300).to_bits(), p)).len(), 9);
    }
}
