//! Slices: in one piece when the elements are plain, one by one otherwise.

use std::marker::PhantomData;

use crate::lender::LENT;
use crate::tail::Ending;
use crate::{Fault, Packer, Pup, PupError, Unpacker};

/// Values that are their bytes, the same on every machine.
///
/// The same demands as `bytemuck`'s `NoUninit + AnyBitPattern`, and one more: nothing depends on the pointer size, so
/// `usize` is not plain. `#[derive(Pup)]` with `#[pup(plain)]` proves all of it at compile time.
///
/// # Safety
/// Every byte of a value is initialised (no padding), every bit pattern is a value, nothing inside is a pointer or
/// depends on its size, and the layout is fixed (`repr(C)` or `repr(transparent)`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain: it cannot be copied as bytes",
    label = "not plain",
    note = "`#[pup(plain)]` needs fields of fixed-width integers, floats, arrays of those, or other plain structs"
)]
pub unsafe trait Plain: Copy + 'static {}

// SAFETY: an array has no padding beyond that of its elements, of which there is none.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Evidence that `T` is plain, for code that has no such bound: it can only be made where `T: Plain` is known.
#[derive(Debug)]
pub struct PlainProof<T>(PhantomData<fn() -> T>);

impl<T: Plain> PlainProof<T> {
    /// The bound is the proof.
    #[expect(clippy::new_without_default, reason = "evidence is asked for by name")]
    pub const fn new() -> Self {
        PlainProof(PhantomData)
    }
}

impl<T> PlainProof<T> {
    /// An array of plain values is plain.
    pub(crate) const fn array<const N: usize>(&self) -> PlainProof<[T; N]> {
        PlainProof(PhantomData)
    }
}

/// The elements, without their number.
#[inline]
pub(crate) fn pack_slice<T: Pup>(slice: &[T], p: &mut Packer) {
    match T::PLAIN {
        Some(proof) => p.bytes(bytes_of(slice, proof)),
        None => slice.iter().for_each(|x| x.pack(p)),
    }
}

/// `len` elements.
#[inline]
pub(crate) fn unpack_vec<T: Pup>(len: usize, u: &mut Unpacker<'_>) -> Result<Vec<T>, PupError> {
    match T::PLAIN {
        Some(proof) if len as u64 & LENT != 0 && u.has_segment() => {
            read_segment(len as u64 & !LENT, u, proof)
        }
        Some(proof) => read_vec(len, u, proof),
        None => unpack_each(len, u),
    }
}

/// `len` plain values that travelled beside the bytes, without a copy where that can be.
#[cold]
fn read_segment<T>(len: u64, u: &mut Unpacker<'_>, proof: PlainProof<T>) -> Result<Vec<T>, PupError> {
    let bytes = len.checked_mul(size_of::<T>() as u64).ok_or_else(|| u.fault(Fault::NoSegment))?;
    let segment = u.segment(bytes)?;
    segment.into_vec(proof).ok_or_else(|| u.fault(Fault::NoSegment))
}

fn unpack_each<T: Pup>(len: usize, u: &mut Unpacker<'_>) -> Result<Vec<T>, PupError> {
    u.check_len(len, T::MIN_SIZE)?;
    let mut values = Vec::with_capacity(u.room::<T>(len));
    u.each::<T>(len, T::MIN_SIZE, |u| {
        values.push(T::unpack(u)?);
        Ok(())
    })?;
    Ok(values)
}

/// The memory of plain values.
#[inline]
pub(crate) fn bytes_of<T>(slice: &[T], _: PlainProof<T>) -> &[u8] {
    // SAFETY: by the proof every byte of a `T` is initialised, and bytes need no alignment.
    unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
}

/// `len` plain values, copied once.
#[inline]
pub(crate) fn read_vec<T>(
    len: usize,
    u: &mut Unpacker<'_>,
    proof: PlainProof<T>,
) -> Result<Vec<T>, PupError> {
    if let Some(bytes) = len.checked_mul(size_of::<T>())
        && let Some(ending) = u.ending(bytes)
    {
        return Ok(ended(&ending, len, proof));
    }
    u.check_len(len, size_of::<T>())?;
    if size_of::<T>() == 0 {
        u.spend_empty(len)?;
    }
    Ok(copied(u.bytes(len * size_of::<T>())?, len, proof))
}

/// The same of all that is left, of which a part is elsewhere.
fn ended<T>(bytes: &Ending<'_>, len: usize, _: PlainProof<T>) -> Vec<T> {
    let mut values = Vec::<T>::with_capacity(len);
    let memory = &raw mut values.spare_capacity_mut()[..len];
    // SAFETY: memory of the vector's own, of bytes that need not be anything yet.
    let memory = unsafe { std::slice::from_raw_parts_mut(memory.cast(), len * size_of::<T>()) };
    bytes.copy_to(memory);
    // SAFETY: all of it is written, and by the proof every bit pattern is a `T`.
    unsafe { values.set_len(len) };
    values
}

/// A fresh vector of `len` values, which is aligned and has not been zeroed first.
#[inline]
pub(crate) fn copied<T>(bytes: &[u8], len: usize, _: PlainProof<T>) -> Vec<T> {
    assert_eq!(bytes.len(), len * size_of::<T>(), "the caller took exactly these bytes");
    let mut values = Vec::<T>::with_capacity(len);
    // SAFETY: `bytes` holds exactly `len * size_of::<T>()` bytes, the vector has room for them and is another
    // allocation, and by the proof every bit pattern is a `T`.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), values.as_mut_ptr().cast(), bytes.len());
        values.set_len(len);
    }
    values
}

/// One plain value.
#[inline]
pub(crate) fn read_one<T>(u: &mut Unpacker<'_>, _: PlainProof<T>) -> Result<T, PupError> {
    let bytes = u.bytes(size_of::<T>())?;
    // SAFETY: `bytes` holds `size_of::<T>()` bytes, of which every pattern is a `T` by the proof; the read does not
    // need alignment.
    Ok(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// One plain value on the heap, without passing through the stack, which a large array would overflow.
#[inline]
pub(crate) fn read_box<T>(u: &mut Unpacker<'_>, proof: PlainProof<T>) -> Result<Box<T>, PupError> {
    let one = copied(u.bytes(size_of::<T>())?, 1, proof).into_boxed_slice();
    // SAFETY: a boxed slice of exactly one `T` has the address, size and alignment of a boxed `T`.
    Ok(unsafe { Box::from_raw(Box::into_raw(one).cast::<T>()) })
}

#[cfg(test)]
mod tests {
    use crate::{Fault, from_bytes, to_bytes};

    /// A slice that starts at an odd address, which nothing wider than a byte may be read from in place.
    fn misaligned(bytes: &[u8]) -> Vec<u8> {
        [&[0], bytes].concat()
    }

    #[test]
    fn plain_slices_arrive_aligned_from_any_address() {
        let values = vec![[1u128, 2], [3, u128::MAX]];
        for start in 0..16 {
            let bytes = [vec![0; start], to_bytes(&values)].concat();
            let back: Vec<[u128; 2]> = from_bytes(&bytes[start..]).unwrap();
            assert!(back.as_ptr().is_aligned());
            assert_eq!(back, values);
        }
    }

    #[test]
    fn one_value_and_a_boxed_one_are_read_from_odd_addresses() {
        let bytes = misaligned(&to_bytes(&[7u64, 8, 9]));
        assert_eq!(from_bytes::<[u64; 3]>(&bytes[1..]), Ok([7, 8, 9]));
        assert_eq!(from_bytes::<Box<[u64; 3]>>(&bytes[1..]), Ok(Box::new([7, 8, 9])));
    }

    #[test]
    fn values_without_memory_are_read_and_bounded() {
        assert_eq!(from_bytes::<Vec<[u64; 0]>>(&to_bytes(&vec![[0u64; 0]; 3])), Ok(vec![[]; 3]));
        assert_eq!(from_bytes::<Box<[u64; 0]>>(&[]), Ok(Box::new([])));
        assert_eq!(from_bytes::<Vec<u64>>(&to_bytes(&Vec::<u64>::new())), Ok(vec![]));
        let error = from_bytes::<Vec<[u64; 0]>>(&u64::MAX.to_le_bytes()).unwrap_err();
        assert!(matches!(error.fault(), Fault::Length { .. }), "{error}");
    }

    #[test]
    fn a_boxed_array_larger_than_the_stack_is_read() {
        let values = vec![1.5f64; 1 << 20];
        let bytes = to_bytes(&values);
        let back: Box<[f64; 1 << 20]> = from_bytes(&bytes[8..]).unwrap();
        assert_eq!(back.as_slice(), values);
    }

    #[test]
    fn lengths_near_the_end_of_the_address_space_do_not_wrap() {
        for len in [u64::MAX, u64::MAX / 16 + 1, 1 << 60] {
            let error = from_bytes::<Vec<u128>>(&len.to_le_bytes()).unwrap_err();
            assert_eq!(error.fault(), &Fault::Length { len, left: 0 });
        }
    }
}
