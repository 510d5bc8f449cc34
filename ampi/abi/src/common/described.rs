//! What datatypes are: sizes, bounds, names, how they were made (MPI-3.1, 4.1.5 to 4.1.13 and 6.8).

use std::ffi::c_int;

use talisman_ampi::datatype::{Combiner, Contents, Datatype, Envelope, NAMED, Named};
use talisman_ampi::objects::Kind;

use super::call::{Outcome, known, local, put};
use super::communicator::{name_from, put_text, text_of};
use crate::abi::{Abi, Count, NULL};
use crate::class::Class;

/// Something of a datatype.
///
/// # Safety
/// The handle is the program's.
pub unsafe fn look<A: Abi, T: Copy>(
    datatype: A::Handle,
    at: impl FnOnce(&Datatype) -> T,
) -> Result<T, Class> {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Datatype, datatype) }?;
    local(|process| Ok(at(process.datatypes.get(number)?)))
}

/// Writes two numbers, which are `MPI_UNDEFINED` if they do not fit.
unsafe fn put_both<A: Abi, N: Count>(to: (*mut N, *mut N), (first, second): (i64, i64)) -> Outcome {
    let fitting = |value| N::of(value).or(N::of(i64::from(A::UNDEFINED))).ok_or(Class::Intern);
    // SAFETY: the caller's promise.
    unsafe {
        put(to.0, fitting(first)?)?;
        put(to.1, fitting(second)?)
    }
}

/// How a datatype was made, if by the program: what `with` makes of it.
fn envelope_of<T: Copy>(number: u32, with: impl FnOnce(&Envelope) -> Result<T, Class>) -> Result<T, Class> {
    local(|process| match process.datatypes.made(number) {
        Some(made) => with(&made.envelope),
        None => {
            process.datatypes.get(number)?;
            with(&Envelope::NAMED)
        }
    })
}

/// Places for what describes how a datatype was made, and how many there are of each kind.
struct Places<H> {
    integers: (i64, *mut c_int),
    addresses: (i64, *mut i64),
    counts: (i64, *mut i64),
    datatypes: (i64, *mut H),
}

/// Numbers of one kind.
unsafe fn put_all<T>((room, to): (i64, *mut T), numbers: &[i64], as_told: impl Fn(i64) -> T) -> Outcome {
    if numbers.len() as i64 > room {
        return Err(Class::Arg);
    }
    // SAFETY: the caller's promise.
    numbers.iter().enumerate().try_for_each(|(at, number)| unsafe { put(to.add(at), as_told(*number)) })
}

/// Numbers that describe how it was made.
unsafe fn contents<A: Abi>(datatype: A::Handle, is_large: bool, places: Places<A::Handle>) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Datatype, datatype) }?;
    let (room, to) = places.datatypes;
    let parts = envelope_of(number, |envelope| {
        if envelope.is_large && !is_large {
            return Err(Class::Type);
        }
        if envelope.combiner == Combiner::Named || envelope.datatypes.len() as i64 > room {
            return Err(Class::Arg);
        }
        let Contents { integers, addresses, counts } = envelope.contents();
        // SAFETY: the caller's promise.
        unsafe {
            put_all(places.integers, &integers, |number| number as c_int)?;
            put_all(places.addresses, &addresses, |number| number)?;
            put_all(places.counts, &counts, |number| number)?;
        }
        Ok(envelope.datatypes.len())
    })?;
    for at in 0..parts {
        let part = envelope_of(number, |envelope| envelope.datatypes.get(at).copied().ok_or(Class::Intern))?;
        local(|process| {
            process.datatypes.hold(part);
            Ok(())
        })?;
        // SAFETY: the caller's promise.
        unsafe { put(to.add(at), A::handle(Kind::Datatype, part)) }?;
    }
    Ok(())
}

/// How many numbers of each kind describe how it was made, and by which combiner.
unsafe fn envelope<A: Abi>(datatype: A::Handle, is_large: bool) -> Result<([usize; 4], c_int), Class> {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Datatype, datatype) }?;
    envelope_of(number, |envelope| {
        if envelope.is_large && !is_large {
            // What it was given may not fit.
            return Err(Class::Type);
        }
        let Contents { integers, addresses, counts } = envelope.contents();
        let sizes = [integers.len(), addresses.len(), counts.len(), envelope.datatypes.len()];
        Ok((sizes, A::combiner(envelope.combiner)))
    })
}

/// The predefined datatype of pairs of such values, if there is one: of a value and an `int`, or of two of Fortran's.
fn pair_of(value: u32, index: u32) -> Option<u32> {
    let name = |number: u32| NAMED.get(number as usize).map(|named| named.name);
    let pair = match (name(value)?, name(index)?) {
        ("MPI_FLOAT", "MPI_INT") => "MPI_FLOAT_INT",
        ("MPI_DOUBLE", "MPI_INT") => "MPI_DOUBLE_INT",
        ("MPI_LONG", "MPI_INT") => "MPI_LONG_INT",
        ("MPI_SHORT", "MPI_INT") => "MPI_SHORT_INT",
        ("MPI_INT", "MPI_INT") => "MPI_2INT",
        ("MPI_LONG_DOUBLE", "MPI_INT") => "MPI_LONG_DOUBLE_INT",
        ("MPI_REAL", "MPI_REAL") => "MPI_2REAL",
        ("MPI_DOUBLE_PRECISION", "MPI_DOUBLE_PRECISION") => "MPI_2DOUBLE_PRECISION",
        ("MPI_INTEGER", "MPI_INTEGER") => "MPI_2INTEGER",
        _ => return None,
    };
    Named::handle(pair)
}

/// The predefined datatype of a class and a size, if there is one.
fn matching<A: Abi>(class: c_int, size: c_int) -> Result<u32, Class> {
    let [real, integer, complex] = A::TYPECLASSES;
    let name = match (class, size) {
        (class, 4) if class == real => "MPI_REAL4",
        (class, 8) if class == real => "MPI_REAL8",
        (class, 16) if class == real => "MPI_REAL16",
        (class, 1) if class == integer => "MPI_INTEGER1",
        (class, 2) if class == integer => "MPI_INTEGER2",
        (class, 4) if class == integer => "MPI_INTEGER4",
        (class, 8) if class == integer => "MPI_INTEGER8",
        (class, 8) if class == complex => "MPI_COMPLEX8",
        (class, 16) if class == complex => "MPI_COMPLEX16",
        (class, 32) if class == complex => "MPI_COMPLEX32",
        _ => return Err(Class::Arg),
    };
    Named::handle(name).ok_or(Class::Intern)
}

super::calls! {
    "Type_size" type_size<N>(datatype: A::Handle, size: *mut N) => {
        let bytes = look::<A, _>(datatype, Datatype::size)? as i64;
        put(size, N::of(bytes).or(N::of(i64::from(A::UNDEFINED))).ok_or(Class::Intern)?)
    };
    "Type_size_x" type_size_x<>(datatype: A::Handle, size: *mut i64) => {
        put(size, look::<A, _>(datatype, Datatype::size)? as i64)
    };
    "Type_get_extent" type_get_extent<>(datatype: A::Handle, lower: *mut i64, extent: *mut i64) => {
        put_both::<A, i64>((lower, extent), look::<A, _>(datatype, Datatype::extent)?)
    };
    "Type_get_extent_c" type_get_extent_c<>(datatype: A::Handle, lower: *mut i64, extent: *mut i64) => {
        put_both::<A, i64>((lower, extent), look::<A, _>(datatype, Datatype::extent)?)
    };
    "Type_get_extent_x" type_get_extent_x<>(datatype: A::Handle, lower: *mut i64, extent: *mut i64) => {
        put_both::<A, i64>((lower, extent), look::<A, _>(datatype, Datatype::extent)?)
    };
    "Type_get_true_extent" type_get_true_extent<>(datatype: A::Handle, lower: *mut i64, extent: *mut i64) => {
        put_both::<A, i64>((lower, extent), look::<A, _>(datatype, Datatype::true_extent)?)
    };
    "Type_get_true_extent_c" type_get_true_extent_c<>(datatype: A::Handle, lower: *mut i64, extent: *mut i64) => {
        put_both::<A, i64>((lower, extent), look::<A, _>(datatype, Datatype::true_extent)?)
    };
    "Type_get_true_extent_x" type_get_true_extent_x<>(datatype: A::Handle, lower: *mut i64, extent: *mut i64) => {
        put_both::<A, i64>((lower, extent), look::<A, _>(datatype, Datatype::true_extent)?)
    };
    "Type_extent" type_extent<>(datatype: A::Handle, extent: *mut i64) => {
        put(extent, look::<A, _>(datatype, Datatype::extent)?.1)
    };
    "Type_lb" type_lb<>(datatype: A::Handle, lower: *mut i64) => {
        put(lower, look::<A, _>(datatype, Datatype::extent)?.0)
    };
    "Type_ub" type_ub<>(datatype: A::Handle, upper: *mut i64) => {
        let (lower, extent) = look::<A, _>(datatype, Datatype::extent)?;
        put(upper, lower + extent)
    };
    "Type_get_envelope" type_get_envelope<>(
        datatype: A::Handle, integers: *mut c_int, addresses: *mut c_int, datatypes: *mut c_int, combiner: *mut c_int,
    ) => {
        let (sizes, by) = envelope::<A>(datatype, false)?;
        put(integers, sizes[0] as c_int)?;
        put(addresses, sizes[1] as c_int)?;
        put(datatypes, sizes[3] as c_int)?;
        put(combiner, by)
    };
    "Type_get_envelope_c" type_get_envelope_c<>(
        datatype: A::Handle, integers: *mut i64, addresses: *mut i64, counts: *mut i64, datatypes: *mut i64,
        combiner: *mut c_int,
    ) => {
        let (sizes, by) = envelope::<A>(datatype, true)?;
        for (to, size) in [integers, addresses, counts, datatypes].into_iter().zip(sizes) {
            put(to, size as i64)?;
        }
        put(combiner, by)
    };
    "Type_get_contents" type_get_contents<>(
        datatype: A::Handle, integers_room: c_int, addresses_room: c_int, datatypes_room: c_int,
        integers: *mut c_int, addresses: *mut i64, datatypes: *mut A::Handle,
    ) => {
        contents::<A>(datatype, false, Places {
            integers: (integers_room.into(), integers),
            addresses: (addresses_room.into(), addresses),
            counts: (0, std::ptr::null_mut()),
            datatypes: (datatypes_room.into(), datatypes),
        })
    };
    "Type_get_contents_c" type_get_contents_c<>(
        datatype: A::Handle, integers_room: i64, addresses_room: i64, counts_room: i64, datatypes_room: i64,
        integers: *mut c_int, addresses: *mut i64, counts: *mut i64, datatypes: *mut A::Handle,
    ) => {
        contents::<A>(datatype, true, Places {
            integers: (integers_room, integers),
            addresses: (addresses_room, addresses),
            counts: (counts_room, counts),
            datatypes: (datatypes_room, datatypes),
        })
    };
    "Type_get_value_index" type_get_value_index<>(value: A::Handle, index: A::Handle, to: *mut A::Handle) => {
        let pair = pair_of(known::<A>(Kind::Datatype, value)?, known::<A>(Kind::Datatype, index)?);
        put(to, A::handle(Kind::Datatype, pair.unwrap_or(NULL)))
    };
    "Type_set_name" type_set_name<>(datatype: A::Handle, name: *const u8) => {
        let (number, name) = (known::<A>(Kind::Datatype, datatype)?, text_of(name)?);
        local(|process| Ok(process.datatypes.rename(number, String::from_utf8_lossy(name).into_owned())?))
    };
    "Type_get_name" type_get_name<>(datatype: A::Handle, name: *mut u8, len: *mut c_int) => {
        let number = known::<A>(Kind::Datatype, datatype)?;
        let (text, n) = name_from::<128>(|process| Ok(process.datatypes.name(number)?))?;
        put_text(name, A::NAME_ROOM[0], len, &text[..n])
    };
    "Type_match_size" type_match_size<>(class: c_int, size: c_int, to: *mut A::Handle) => {
        put(to, A::handle(Kind::Datatype, matching::<A>(class, size)?))
    };
}
