//! The bridge for `#[pup(serde)]` fields: MessagePack (through rmp-serde) behind a length.
//!
//! For types of other crates that only have serde. It is several times slower than `Pup`, above all for arrays.

use std::io::{self, Cursor, Write};

use rmp_serde::{decode, encode};

use crate::limits::SERDE_LEVELS_MAX;
use crate::{Fault, Packer, Pup, PupError, Unpacker};

/// So many levels are read on any stack.
const SHALLOW: usize = 128;

/// What more than these may need of the stack, in a debug build: it is touched as far as it is needed.
const DEEP_STACK: usize = 64 << 20;

/// In place of a length: what was to follow is nested too deeply, as its reader would find. By that a refusal gets its place.
const TOO_DEEP: u64 = u64::MAX;

/// What is left of the stack when writing goes on on another one, or is given up.
const RESERVE: usize = 128 << 10;

/// What the bridge needs of a type.
#[doc(hidden)]
pub trait Serde: serde::Serialize + serde::de::DeserializeOwned {}

impl<T: serde::Serialize + serde::de::DeserializeOwned> Serde for T {}

/// Writes `value` through its `Serialize`, with the names of its fields, so that skipped fields do no harm. One that is nested deeper than
/// [`SERDE_LEVELS_MAX`] is refused ([`Packer::refusal`]).
///
/// # Panics
/// When the type's `Serialize` fails, which is a fault of that type and not of any bytes.
pub fn pack<T: serde::Serialize>(value: &T, p: &mut Packer) {
    let mut written = write(value);
    if written.is_none() {
        written = stacker::grow(DEEP_STACK, || write(value));
    }
    match written.filter(|bytes| levels(bytes) <= SERDE_LEVELS_MAX) {
        Some(bytes) => bytes.pack(p),
        None => {
            p.refuse(PupError::new(p.size(), Fault::SerdeDepth).field(std::any::type_name::<T>()));
            p.word(TOO_DEEP);
        }
    }
}

/// The value as MessagePack; nothing if the stack does not suffice for that.
fn write<T: serde::Serialize>(value: &T) -> Option<Vec<u8>> {
    let mut serializer = rmp_serde::Serializer::new(OnStack(Vec::new())).with_struct_map();
    match value.serialize(&mut serializer) {
        Ok(()) => Some(serializer.into_inner().0),
        // Only `OnStack` fails to write.
        Err(encode::Error::InvalidValueWrite(_)) => None,
        Err(error) => panic!("`Serialize` of `{}` failed: {error}", std::any::type_name::<T>()),
    }
}

/// Bytes that are written as long as there is stack. rmp-serde has no bound of its own for writing, and writes something at each level.
struct OnStack(Vec<u8>);

impl Write for OnStack {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if stacker::remaining_stack().is_some_and(|left| left < RESERVE) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How deep arrays and maps of MessagePack are nested, as its reader counts them.
fn levels(bytes: &[u8]) -> usize {
    if bytes.len() <= SERDE_LEVELS_MAX {
        // Each level has a byte at least.
        return bytes.len();
    }
    let (mut rest, mut open, mut deepest) = (bytes, Vec::<u64>::new(), 0);
    while let Some((size, items)) = next(rest) {
        rest = rest.get(size..).unwrap_or_default();
        if let Some(items) = items {
            deepest = deepest.max(open.len() + 1);
            open.push(items);
        } else if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        // Whatever is whole is an item of what it is in.
        while open.last() == Some(&0) {
            open.pop();
            open.last_mut().into_iter().for_each(|left| *left -= 1);
        }
    }
    deepest
}

/// Of what MessagePack begins with: its bytes, without what is in it, and if it is an array or a map, of how many values.
fn next(bytes: &[u8]) -> Option<(usize, Option<u64>)> {
    let marker = *bytes.first()?;
    let number = |len: usize| {
        let bytes = bytes.get(1..1 + len).unwrap_or_default();
        bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    let low = |bits: u32| u64::from(marker) & ((1 << bits) - 1);
    let of_bytes = |head: usize, len: u64| (head + len as usize, None);
    Some(match marker {
        0x80..=0x8f => (1, Some(2 * low(4))),
        0x90..=0x9f => (1, Some(low(4))),
        0xdc => (3, Some(number(2))),
        0xdd => (5, Some(number(4))),
        0xde => (3, Some(2 * number(2))),
        0xdf => (5, Some(2 * number(4))),
        0xa0..=0xbf => of_bytes(1, low(5)),
        0xc4 | 0xd9 => of_bytes(2, number(1)),
        0xc5 | 0xda => of_bytes(3, number(2)),
        0xc6 | 0xdb => of_bytes(5, number(4)),
        0xc7 => of_bytes(3, number(1)),
        0xc8 => of_bytes(4, number(2)),
        0xc9 => of_bytes(6, number(4)),
        0xd4..=0xd8 => of_bytes(2, 1 << (marker - 0xd4)),
        0xcc | 0xd0 => (2, None),
        0xcd | 0xd1 => (3, None),
        0xce | 0xd2 | 0xca => (5, None),
        0xcf | 0xd3 | 0xcb => (9, None),
        _ => (1, None),
    })
}

/// Rebuilds a value through its `Deserialize`.
///
/// # Errors
/// What `Deserialize` says, or that the MessagePack ended early.
pub fn unpack<T: serde::de::DeserializeOwned>(u: &mut Unpacker<'_>) -> Result<T, PupError> {
    let len = match u64::unpack(u)? {
        TOO_DEEP => return Err(u.fault(Fault::SerdeDepth)),
        len => usize::try_from(len).map_err(|_| u.fault(Fault::Length { len, left: u.left() }))?,
    };
    let bytes = u.bytes(len)?;
    let (value, end) = match read(bytes, SHALLOW) {
        Err(decode::Error::DepthLimitExceeded) => stacker::grow(DEEP_STACK, || read(bytes, SERDE_LEVELS_MAX)),
        read => read,
    }
    .map_err(|error| match error {
        decode::Error::DepthLimitExceeded => u.fault(Fault::SerdeDepth),
        error => u.invalid(error),
    })?;
    if end != len as u64 {
        return Err(u.invalid("MessagePack that ends before its length says"));
    }
    Ok(value)
}

/// A value of at most so many levels, and where it ends.
fn read<T: serde::de::DeserializeOwned>(bytes: &[u8], levels: usize) -> Result<(T, u64), decode::Error> {
    let mut decoder = rmp_serde::Deserializer::new(Cursor::new(bytes));
    // It counts down to 0, where it stops.
    decoder.set_max_depth(levels + 1);
    let value = T::deserialize(&mut decoder)?;
    Ok((value, decoder.position()))
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::{Purpose, to_bytes};

    /// Fields that are left out break formats without names.
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Sparse {
        #[serde(skip_serializing_if = "Option::is_none", default)]
        first: Option<u8>,
        second: u8,
        inside: Option<Box<Sparse>>,
    }

    fn packed(value: &Sparse) -> Vec<u8> {
        let mut p = Packer::new(Purpose::Message);
        pack(value, &mut p);
        p.finish()
    }

    fn unpacked(bytes: &[u8]) -> Result<Sparse, PupError> {
        unpack(&mut Unpacker::new(bytes, Purpose::Message))
    }

    #[test]
    fn fields_that_are_left_out_come_back() {
        let leaf = |second| Sparse { first: None, second, inside: None };
        let value = Sparse { inside: Some(Box::new(leaf(2))), ..leaf(1) };
        assert_eq!(unpacked(&packed(&value)), Ok(value));
    }

    fn nested(levels: usize) -> Sparse {
        (1..levels).fold(Sparse { first: None, second: 0, inside: None }, |inside, _| Sparse {
            first: Some(1),
            second: 2,
            inside: Some(Box::new(inside)),
        })
    }

    fn in_small_thread(test: impl FnOnce() + Send + 'static) {
        std::thread::Builder::new().stack_size(3 << 19).spawn(test).unwrap().join().unwrap();
    }

    #[test]
    fn as_deep_as_may_be_comes_back_and_deeper_is_refused_when_it_is_written() {
        in_small_thread(|| {
            for levels in [1, SHALLOW, SHALLOW + 1, SERDE_LEVELS_MAX] {
                let value = nested(levels);
                assert!(unpacked(&packed(&value)) == Ok(value), "{levels} levels");
            }
        });
        // Whoever makes such a value has the stack to drop it.
        stacker::grow(256 << 20, || {
            for levels in [SERDE_LEVELS_MAX + 1, 100_000] {
                let mut p = Packer::new(Purpose::Message);
                pack(&nested(levels), &mut p);
                assert_eq!(p.refusal().map(PupError::fault), Some(&Fault::SerdeDepth), "{levels} levels");
            }
        });
    }

    #[test]
    fn deeper_bytes_are_refused() {
        let hostile = to_bytes(&[vec![0x91; 100_000], vec![0x90]].concat());
        let read: Result<Vec<u64>, _> = unpack(&mut Unpacker::new(&hostile, Purpose::Message));
        read.unwrap_err();
        let one = [[0x83, 0xa5].as_slice(), b"first", &[1, 0xa6], b"second", &[2, 0xa6], b"inside"].concat();
        let hostile = to_bytes(&one.repeat(SERDE_LEVELS_MAX + 1));
        in_small_thread(move || assert_eq!(unpacked(&hostile).unwrap_err().fault(), &Fault::SerdeDepth));
    }

    #[test]
    fn levels_are_counted_as_the_reader_does() {
        let filler = |levels: Vec<u8>| [&[0x92, 0xc6, 0, 0, 0x20, 0][..], &[9; 0x2000], &levels].concat();
        for (deep, bytes) in [
            (1, vec![0xc0]),
            (3, vec![0x92, 0x90, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0]),
            (4, vec![0x92, 0x91, 0x80, 0xa2, 0x91, 0x91]),
            (4, vec![0x81, 0xd9, 2, 0x91, 0x91, 0x92, 0x01, 0x91, 0x05]),
        ] {
            assert_eq!(levels(&filler(bytes.clone())), deep, "{bytes:x?}");
        }
    }

    #[test]
    fn bytes_after_the_value_and_lengths_without_bytes_are_refused() {
        let mut bytes = packed(&Sparse { first: None, second: 1, inside: None });
        bytes[0] += 1;
        bytes.push(0);
        assert!(unpacked(&bytes).unwrap_err().to_string().contains("ends before its length says"));
        // An array and a binary of 2^32 - 1 in MessagePack.
        for hostile in [0xdd, 0xc6] {
            let bytes = to_bytes(&vec![hostile, 0xff, 0xff, 0xff, 0xff]);
            let read: Result<Vec<u64>, _> = unpack(&mut Unpacker::new(&bytes, Purpose::Message));
            read.unwrap_err();
        }
    }
}
