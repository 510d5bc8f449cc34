//! Reading and writing where the pointer of all is (MPI-3.1, 13.4.4).

use std::ffi::c_int;

use talisman_ampi::objects::Kind;

use super::pointer::Sought;
use super::transfer::{From, Values, Way, told, transfer};
use super::{file, is_first, known_file, shared_pointer, together};
use crate::abi::Abi;
use crate::class::Class;
use crate::common::agreement::{from_all, from_first, from_number, to_number};
use crate::common::call::{Outcome, known, local, put};
use crate::common::message::put_status;

/// How many elementary values of the view these are.
unsafe fn units_of<A: Abi>(number: u32, values: Values<A::Handle>) -> Result<u64, Class> {
    // SAFETY: the caller's promise.
    let datatype = unsafe { known::<A>(Kind::Datatype, values.datatype) }?;
    local(|process| {
        let datatype = process.datatypes.get(datatype)?.clone();
        let count = u64::try_from(values.count).map_err(|_| Class::Count)?;
        let view = &file(process, number)?.view;
        let bytes = count.checked_mul(view.bytes_of(&datatype)).ok_or(Class::Count)?;
        Ok(bytes.div_ceil(view.unit()))
    })
}

/// One rank, whenever it comes to it.
///
/// # Safety
/// Handles and memory are the program's.
pub unsafe fn take_turn<A: Abi>(handle: A::File, way: Way, values: Values<A::Handle>) -> Result<u64, Class> {
    // SAFETY: the caller's promise.
    unsafe {
        let number = known_file::<A>(handle)?;
        let units = units_of::<A>(number, values)?;
        let position = shared_pointer::update(number, |before| Ok((before + units, before)))?;
        transfer::<A>(handle, way, From::Shared(position as i64), values)
    }
}

/// All ranks, in their order.
///
/// # Safety
/// As for [`take_turn`].
pub unsafe fn in_order<A: Abi>(handle: A::File, way: Way, values: Values<A::Handle>) -> Result<u64, Class> {
    const NAME: &str = "MPI_File_write_ordered";
    // SAFETY: the caller's promise.
    unsafe {
        let number = known_file::<A>(handle)?;
        let (communicator, rank) = local(|process| {
            let communicator = file(process, number)?.communicator;
            Ok((communicator, process.comms.get(communicator)?.rank().ok_or(Class::Comm)?))
        })?;
        let units = units_of::<A>(number, values)? as i64;
        let all = from_all::<A, 1>(NAME, communicator, [units])?;
        let total: i64 = all.iter().map(|[units]| units).sum();
        let mut begins = [0, 0];
        if is_first(number)? {
            match shared_pointer::update(number, |before| Ok((before + total as u64, before))) {
                Ok(position) => begins[0] = position as i64,
                Err(class) => begins[1] = to_number(Err(class)),
            }
        }
        from_first::<A>(NAME, communicator, &mut begins)?;
        from_number(begins[1])?;
        let before: i64 = all[..rank as usize].iter().map(|[units]| units).sum();
        transfer::<A>(handle, way, From::Shared(begins[0] + before), values)
    }
}

unsafe fn shared<A: Abi>(handle: A::File, way: Way, values: Values<A::Handle>, status: usize) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let bytes = take_turn::<A>(handle, way, values)?;
        put_status::<A>(status, told::<A>(bytes));
    }
    Ok(())
}

unsafe fn ordered<A: Abi>(handle: A::File, way: Way, values: Values<A::Handle>, status: usize) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let bytes = in_order::<A>(handle, way, values)?;
        put_status::<A>(status, told::<A>(bytes));
        together::<A>("MPI_File_write_ordered", known_file::<A>(handle)?)
    }
}

/// All say the same; the first moves it.
unsafe fn seek<A: Abi>(handle: A::File, offset: i64, whence: c_int) -> Outcome {
    const NAME: &str = "MPI_File_seek_shared";
    // SAFETY: the caller's promise.
    let number = unsafe { known_file::<A>(handle) }?;
    let communicator = local(|process| Ok(file(process, number)?.communicator))?;
    let mut outcome = [0];
    if is_first(number)? {
        let moved = Sought::of::<A>(number, offset, whence)
            .and_then(|sought| shared_pointer::update(number, |before| Ok((sought.from(before)?, ()))));
        outcome[0] = to_number(moved);
    }
    from_first::<A>(NAME, communicator, &mut outcome)?;
    from_number(outcome[0])
}

crate::common::calls! {
    "File_read_shared" file_read_shared<N>(
        handle: A::File, at: usize, count: N, datatype: A::Handle, status: usize,
    ) of handle => shared::<A>(handle, Way::Read, Values { at, count: count.get(), datatype }, status);
    "File_write_shared" file_write_shared<N>(
        handle: A::File, at: usize, count: N, datatype: A::Handle, status: usize,
    ) of handle => shared::<A>(handle, Way::Write, Values { at, count: count.get(), datatype }, status);
    "File_read_ordered" file_read_ordered<N>(
        handle: A::File, at: usize, count: N, datatype: A::Handle, status: usize,
    ) of handle => ordered::<A>(handle, Way::Read, Values { at, count: count.get(), datatype }, status);
    "File_write_ordered" file_write_ordered<N>(
        handle: A::File, at: usize, count: N, datatype: A::Handle, status: usize,
    ) of handle => ordered::<A>(handle, Way::Write, Values { at, count: count.get(), datatype }, status);
    "File_seek_shared" file_seek_shared<>(handle: A::File, offset: i64, whence: c_int) of handle => {
        seek::<A>(handle, offset, whence)
    };
    "File_get_position_shared" file_get_position_shared<>(handle: A::File, offset: *mut i64) of handle => {
        let number = known_file::<A>(handle)?;
        put(offset, shared_pointer::update(number, |before| Ok((before, before)))? as i64)
    };
}
