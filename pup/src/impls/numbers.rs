//! Numbers, `bool`, `char`, and their wrappers.

use std::cmp::{Ordering, Reverse};
use std::num::{NonZero, Saturating, Wrapping};

use crate::id::named;
use crate::{Fault, Packer, Plain, PlainProof, Pup, PupError, Unpacker};

macro_rules! plain_numbers {
    ($($type:ident)*) => {$(
        named!(stringify!($type), $type);

        // SAFETY: a number has no padding and no pointer, and every bit pattern is one.
        unsafe impl Plain for $type {}

        impl Pup for $type {
            const MIN_SIZE: usize = size_of::<$type>();
            const PLAIN: Option<PlainProof<Self>> = Some(PlainProof::new());

            #[inline]
            fn pack(&self, p: &mut Packer) {
                p.bytes(&self.to_le_bytes());
            }
            #[inline]
            fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
                Ok(<$type>::from_le_bytes(u.fixed()?))
            }
        }
    )*};
}
plain_numbers!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64);

/// `usize` and `isize` travel as 64 bits and are checked where the machine has fewer.
macro_rules! sizes {
    ($($type:ident as $wire:ident)*) => {$(
        named!(stringify!($type), $type);

        impl Pup for $type {
            const MIN_SIZE: usize = size_of::<$wire>();

            #[inline]
            fn pack(&self, p: &mut Packer) {
                (*self as $wire).pack(p);
            }
            #[inline]
            fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
                let value = <$wire>::unpack(u)?;
                <$type>::try_from(value)
                    .map_err(|_| u.fault(Fault::Width { value: value.into(), of: stringify!($type) }))
            }
        }
    )*};
}
sizes!(usize as u64 isize as i64);

named!("bool", bool);
impl Pup for bool {
    const MIN_SIZE: usize = 1;

    #[inline]
    fn pack(&self, p: &mut Packer) {
        u8::from(*self).pack(p);
    }
    #[inline]
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        match u8::unpack(u)? {
            0 => Ok(false),
            1 => Ok(true),
            tag => Err(u.fault(Fault::Tag { tag: tag.into(), of: "bool" })),
        }
    }
}

named!("char", char);
impl Pup for char {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn pack(&self, p: &mut Packer) {
        u32::from(*self).pack(p);
    }
    #[inline]
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let tag = u32::unpack(u)?;
        char::from_u32(tag).ok_or_else(|| u.fault(Fault::Tag { tag: tag.into(), of: "char" }))
    }
}

macro_rules! non_zeros {
    ($($type:ident)*) => {$(
        named!(concat!("NonZero<", stringify!($type), ">"), NonZero<$type>);

        impl Pup for NonZero<$type> {
            const MIN_SIZE: usize = <$type>::MIN_SIZE;

            #[inline]
            fn pack(&self, p: &mut Packer) {
                self.get().pack(p);
            }
            #[inline]
            fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
                let of = concat!("NonZero<", stringify!($type), ">");
                NonZero::new(<$type>::unpack(u)?).ok_or_else(|| u.fault(Fault::Tag { tag: 0, of }))
            }
        }
    )*};
}
non_zeros!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! wrappers {
    ($($text:literal $type:ident)*) => {$(
        named!($text, $type<T>, [T], T);

        impl<T: Pup> Pup for $type<T> {
            const MIN_SIZE: usize = T::MIN_SIZE;

            #[inline]
            fn pack(&self, p: &mut Packer) {
                self.0.pack(p);
            }
            #[inline]
            fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
                T::unpack(u).map($type)
            }
        }
    )*};
}
wrappers!("Wrapping" Wrapping "Saturating" Saturating "Reverse" Reverse);

named!("Ordering", Ordering);
impl Pup for Ordering {
    const MIN_SIZE: usize = 1;

    fn pack(&self, p: &mut Packer) {
        (*self as i8).pack(p);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        match i8::unpack(u)? {
            -1 => Ok(Ordering::Less),
            0 => Ok(Ordering::Equal),
            1 => Ok(Ordering::Greater),
            tag => Err(u.fault(Fault::Tag { tag: tag as u8 as u64, of: "Ordering" })),
        }
    }
}
