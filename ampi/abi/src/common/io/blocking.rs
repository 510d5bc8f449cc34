//! Reading and writing at once (MPI-3.1, 13.4.2 and 13.4.3).

use super::transfer::{From, Values, Way, told, transfer};
use super::{known_file, together};
use crate::abi::Abi;
use crate::common::call::Outcome;
use crate::common::message::put_status;

/// By one rank.
///
/// # Safety
/// Handles, memory and status are the program's.
unsafe fn alone<A: Abi>(
    handle: A::File,
    way: Way,
    from: From,
    values: Values<A::Handle>,
    status: usize,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let bytes = transfer::<A>(handle, way, from, values)?;
        put_status::<A>(status, told::<A>(bytes));
    }
    Ok(())
}

/// By all: none goes on before all have done it, also if one has failed.
///
/// # Safety
/// As for [`alone`].
unsafe fn by_all<A: Abi>(
    name: &'static str,
    handle: A::File,
    way: Way,
    from: From,
    values: Values<A::Handle>,
    status: usize,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let number = known_file::<A>(handle)?;
        let outcome = alone::<A>(handle, way, from, values, status);
        together::<A>(name, number)?;
        outcome
    }
}

crate::common::calls! {
    "File_read" file_read<N>(handle: A::File, at: usize, count: N, datatype: A::Handle, status: usize) of handle => {
        alone::<A>(handle, Way::Read, From::Pointer, Values { at, count: count.get(), datatype }, status)
    };
    "File_write" file_write<N>(handle: A::File, at: usize, count: N, datatype: A::Handle, status: usize) of handle => {
        alone::<A>(handle, Way::Write, From::Pointer, Values { at, count: count.get(), datatype }, status)
    };
    "File_read_at" file_read_at<N>(
        handle: A::File, offset: i64, at: usize, count: N, datatype: A::Handle, status: usize,
    ) of handle => {
        alone::<A>(handle, Way::Read, From::At(offset), Values { at, count: count.get(), datatype }, status)
    };
    "File_write_at" file_write_at<N>(
        handle: A::File, offset: i64, at: usize, count: N, datatype: A::Handle, status: usize,
    ) of handle => {
        alone::<A>(handle, Way::Write, From::At(offset), Values { at, count: count.get(), datatype }, status)
    };
    "File_read_all" file_read_all<N>(
        handle: A::File, at: usize, count: N, datatype: A::Handle, status: usize,
    ) of handle => {
        let values = Values { at, count: count.get(), datatype };
        by_all::<A>("MPI_File_read_all", handle, Way::Read, From::Pointer, values, status)
    };
    "File_write_all" file_write_all<N>(
        handle: A::File, at: usize, count: N, datatype: A::Handle, status: usize,
    ) of handle => {
        let values = Values { at, count: count.get(), datatype };
        by_all::<A>("MPI_File_write_all", handle, Way::Write, From::Pointer, values, status)
    };
    "File_read_at_all" file_read_at_all<N>(
        handle: A::File, offset: i64, at: usize, count: N, datatype: A::Handle, status: usize,
    ) of handle => {
        let values = Values { at, count: count.get(), datatype };
        by_all::<A>("MPI_File_read_at_all", handle, Way::Read, From::At(offset), values, status)
    };
    "File_write_at_all" file_write_at_all<N>(
        handle: A::File, offset: i64, at: usize, count: N, datatype: A::Handle, status: usize,
    ) of handle => {
        let values = Values { at, count: count.get(), datatype };
        by_all::<A>("MPI_File_write_at_all", handle, Way::Write, From::At(offset), values, status)
    };
}
