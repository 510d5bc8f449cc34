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
