//! Ranges: their ends.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::id::named;
use crate::{Packer, Pup, PupError, Unpacker};

named!("Range", Range<T>, [T], T);
impl<T: Pup> Pup for Range<T> {
    const MIN_SIZE: usize = <(T, T)>::MIN_SIZE;

    fn pack(&self, p: &mut Packer) {
        self.start.pack(p);
        self.end.pack(p);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let start = T::unpack(u).map_err(|e| e.field("start"))?;
        let end = T::unpack(u).map_err(|e| e.field("end"))?;
        Ok(start..end)
    }
}

/// One end only.
macro_rules! half_ranges {
    ($($text:literal $type:ident $end:ident)*) => {$(
        named!($text, $type<T>, [T], T);

        impl<T: Pup> Pup for $type<T> {
            const MIN_SIZE: usize = T::MIN_SIZE;

            fn pack(&self, p: &mut Packer) {
                self.$end.pack(p);
            }
            fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
                let $end = T::unpack(u).map_err(|e| e.field(stringify!($end)))?;
                Ok($type { $end })
            }
        }
    )*};
}
half_ranges!("RangeFrom" RangeFrom start "RangeTo" RangeTo end "RangeToInclusive" RangeToInclusive end);

named!("RangeFull", RangeFull);
impl Pup for RangeFull {
    fn pack(&self, _: &mut Packer) {}
    fn unpack(_: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(..)
    }
}

named!("RangeInclusive", RangeInclusive<T>, [T], T);

/// An inclusive range that an iterator has used up has equal ends and a hidden mark. The mark travels too, and is put
/// back by using the range up again, which only works for types that can be stepped through.
macro_rules! inclusive_ranges {
    ($($type:ident $exhaust:expr;)*) => {$(
        impl Pup for RangeInclusive<$type> {
            const MIN_SIZE: usize = 2 * <$type>::MIN_SIZE + 1;

            fn pack(&self, p: &mut Packer) {
                self.start().pack(p);
                self.end().pack(p);
                (self.start() <= self.end() && self.is_empty()).pack(p);
            }
            fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
                let (start, end) = <($type, $type)>::unpack(u)?;
                let exhaust: fn(&mut RangeInclusive<$type>) = $exhaust;
                let mut range = start..=end;
                match (bool::unpack(u)?, start == end) {
                    (false, _) => {}
                    (true, true) => exhaust(&mut range),
                    (true, false) => return Err(u.invalid("a used-up range whose ends differ")),
                }
                Ok(range)
            }
        }
    )*};
}

macro_rules! stepped {
    ($($type:ident)*) => { inclusive_ranges! { $($type |range| { range.next(); };)* } };
}
stepped!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize char);

inclusive_ranges! {
    f32 |_| {};
    f64 |_| {};
}
