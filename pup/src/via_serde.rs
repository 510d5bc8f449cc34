//! The bridge for `#[pup(serde)]` fields: MessagePack (through rmp-serde) behind a length.
//!
//! For types of other crates that only have serde. It is several times slower than `Pup`, above all for arrays.

use std::io::Cursor;

use crate::{Packer, Pup, PupError, Unpacker};

/// How deep the MessagePack may nest. rmp-serde's own bound of 1024 is too much for a small stack.
const DEPTH_MAX: usize = 128;

/// What the bridge needs of a type.
#[doc(hidden)]
pub trait Serde: serde::Serialize + serde::de::DeserializeOwned {}

impl<T: serde::Serialize + serde::de::DeserializeOwned> Serde for T {}

/// Writes `value` through its `Serialize`, with the names of its fields, so that skipped fields do no harm.
///
/// # Panics
/// When the type's `Serialize` fails, which is a fault of that type and not of any bytes.
pub fn pack<T: serde::Serialize>(value: &T, p: &mut Packer) {
    let bytes = rmp_serde::to_vec_named(value)
        .unwrap_or_else(|e| panic!("`Serialize` of `{}` failed: {e}", std::any::type_name::<T>()));
    bytes.pack(p);
}

/// Rebuilds a value through its `Deserialize`.
///
/// # Errors
/// What `Deserialize` says, or that the MessagePack ended early.
pub fn unpack<T: serde::de::DeserializeOwned>(u: &mut Unpacker<'_>) -> Result<T, PupError> {
    let len = u.len()?;
    let bytes = u.bytes(len)?;
    let mut decoder = rmp_serde::Deserializer::new(Cursor::new(bytes));
    decoder.set_max_depth(DEPTH_MAX);
    let value = T::deserialize(&mut decoder).map_err(|e| u.invalid(e))?;
    if decoder.position() != len as u64 {
        return Err(u.invalid("MessagePack that ends before its length says"));
    }
    Ok(value)
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
