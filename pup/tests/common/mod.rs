//! What must hold for every value of every type.

use std::fmt::Debug;

use talisman_pup::{Named, Pup, from_bytes, size_of_packed, to_bytes};

/// Packs and unpacks, compares the bytes (NaN payloads included) and what people see, then damages the bytes.
pub fn check<T: Pup + Named + Debug>(value: &T) {
    let bytes = to_bytes(value);
    assert_eq!(bytes.len(), size_of_packed(value), "the sizer and the packer agree");
    assert!(bytes.len() >= T::MIN_SIZE, "{} is shorter than its MIN_SIZE", T::name());
    let back: T = from_bytes(&bytes).unwrap_or_else(|e| panic!("{value:?}: {e}"));
    assert_eq!(to_bytes(&back), bytes, "{value:?} came back as {back:?}");
    assert_eq!(sorted_text(&back), sorted_text(value));
    truncated::<T>(&bytes);
    mutated::<T>(&bytes);
}

/// The characters of `{:?}`, sorted, because hash maps print in an order of their own.
fn sorted_text(value: &impl Debug) -> Vec<char> {
    let mut text: Vec<char> = format!("{value:?}").chars().collect();
    text.sort_unstable();
    text
}

/// No proper prefix of a value is a value, and neither is a value with something after it.
fn truncated<T: Pup + Debug>(bytes: &[u8]) {
    for n in 0..bytes.len() {
        let error = from_bytes::<T>(&bytes[..n]).expect_err("a truncated value was read");
        assert!(error.offset() <= n, "{error}");
    }
    let longer = [bytes, &[0]].concat();
    from_bytes::<T>(&longer).expect_err("a trailing byte was ignored");
}

/// Every byte changed in a few ways gives an error, or a value that packs to what was read.
fn mutated<T: Pup + Debug>(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    for i in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            bytes[i] ^= flip;
            if let Ok(value) = from_bytes::<T>(&bytes) {
                from_bytes::<T>(&to_bytes(&value)).expect("what was read packs to something readable");
            }
            bytes[i] ^= flip;
        }
    }
}
