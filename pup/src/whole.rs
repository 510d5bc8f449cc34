//! Whole values to bytes and back.

use crate::{Packer, Pup, PupError, Purpose, Unpacker};

/// The packed form of `value`, in one allocation of exactly the needed size.
///
/// # Panics
/// If `value` is beyond one of the [limits](crate::limits), so that it could not be read again: see [`try_to_bytes`].
pub fn to_bytes<T: Pup>(value: &T) -> Vec<u8> {
    try_to_bytes(value)
        .unwrap_or_else(|why| panic!("a `{}` cannot be packed: {why}", std::any::type_name::<T>()))
}

/// The packed form of `value`, in one allocation of exactly the needed size, if it can be read again.
///
/// # Errors
/// `value` is beyond one of the [limits](crate::limits); the error names the field.
pub fn try_to_bytes<T: Pup>(value: &T) -> Result<Vec<u8>, PupError> {
    let mut p = Packer::with_capacity(Purpose::Message, size_of_packed(value));
    value.pack(&mut p);
    match p.take_refusal() {
        None => Ok(p.finish()),
        Some(why) => Err(why.placed(from_bytes::<T>(&p.finish()))),
    }
}

/// How many bytes [`to_bytes`] gives for `value`, without packing it.
pub fn size_of_packed<T: Pup>(value: &T) -> usize {
    let mut p = Packer::sizer(Purpose::Message);
    value.pack(&mut p);
    p.size()
}

/// Rebuilds a value from all of `bytes`.
///
/// # Errors
/// When the bytes are not those of a `T`, or go on after its end.
pub fn from_bytes<T: Pup>(bytes: &[u8]) -> Result<T, PupError> {
    let mut u = Unpacker::new(bytes, Purpose::Message);
    let value = T::unpack(&mut u)?;
    u.finish()?;
    Ok(value)
}

/// Compiles only for types that may change threads: objects and messages do, inside a node.
pub fn moves_between_threads<T: Send>() {}
