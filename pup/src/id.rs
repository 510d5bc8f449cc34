//! Names that are the same in every build and on every machine.

use crate::Pup;

/// A stable name of a type: its module path and name, or what `#[pup(name = "…")]` says, with its parameters.
///
/// `std::any::type_name` and `TypeId` promise no stability, so neither ever crosses a wire.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no stable name for the wire",
    label = "not `Named`",
    note = "`#[derive(Pup)]` gives one; generic parameters of a chare are bounded by `talisman::Value`"
)]
pub trait Named {
    /// The name as a number, see [`key`].
    const KEY: u64;
    /// The name as people read it.
    fn name() -> String;
}

/// What an argument of a message, and a generic parameter of a chare, must be. Every fitting type is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent or checkpointed: it is not `Pup + Named + Send + 'static`",
    label = "this type is not a `talisman::Value`",
    note = "if it is yours, add `#[derive(Pup)]` to it; a type parameter is bounded by `talisman::Value`"
)]
pub trait Value: Pup + Named + Send + 'static {}

impl<T: Pup + Named + Send + 'static> Value for T {}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// A name as a number: 64-bit FNV-1a over its UTF-8 bytes.
pub const fn key(name: &str) -> u64 {
    fnv(FNV_OFFSET, name.as_bytes())
}

/// The key of a type with a parameter: goes on hashing from `outer` with the 8 bytes of `inner`.
pub const fn join(outer: u64, inner: u64) -> u64 {
    fnv(outer, &inner.to_le_bytes())
}

const fn fnv(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(FNV_PRIME);
        i += 1;
    }
    hash
}

/// Names a type by a text, with its type parameters if it has any.
macro_rules! named {
    ($text:expr, $type:ty) => {
        impl $crate::Named for $type {
            const KEY: u64 = $crate::key($text);
            fn name() -> String {
                $text.into()
            }
        }
    };
    ($text:literal, $type:ty, [$($params:tt)*], $($parameter:ident)+) => {
        impl<$($params)*> $crate::Named for $type
        where
            $($parameter: $crate::Named,)+
        {
            const KEY: u64 = {
                let key = $crate::key($text);
                $(let key = $crate::join(key, <$parameter as $crate::Named>::KEY);)+
                key
            };
            fn name() -> String {
                let parameters = [$(<$parameter as $crate::Named>::name()),+];
                format!("{}<{}>", $text, parameters.join(", "))
            }
        }
    };
}
pub(crate) use named;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_published_fnv_1a() {
        assert_eq!(key(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(key("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(key("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn parameters_and_their_order_are_part_of_a_name() {
        assert_eq!(<Vec<Option<[u8; 3]>>>::name(), "Vec<Option<[u8; 3]>>");
        assert_ne!(<(u8, u16)>::KEY, <(u16, u8)>::KEY);
        assert_ne!(<[u8; 3]>::KEY, <[u8; 4]>::KEY);
        assert_ne!(<Vec<u8>>::KEY, <Option<u8>>::KEY);
    }
}
