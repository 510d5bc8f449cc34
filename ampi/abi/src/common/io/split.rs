//! Collectives in two parts (MPI-3.1, 13.4.5): the first does all, the second tells of it.

use super::transfer::{From, Values, Way, told, transfer};
use super::{file, known_file, shared, together};
use crate::abi::Abi;
use crate::class::Class;
use crate::common::call::{Outcome, local};
use crate::common::message::put_status;

/// One of them is under way: not two on one file (MPI-3.1, 13.4.5).
fn begun(number: u32, bytes: u64) -> Outcome {
    local(|process| {
        file(process, number)?.split = Some(bytes);
        Ok(())
    })
}

fn none_is_under_way(number: u32) -> Outcome {
    match local(|process| Ok(file(process, number)?.split.is_some()))? {
        true => Err(Class::Other),
        false => Ok(()),
    }
}

/// # Safety
/// Handles and memory are the program's.
unsafe fn begin<A: Abi>(handle: A::File, way: Way, from: From, values: Values<A::Handle>) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let number = known_file::<A>(handle)?;
        none_is_under_way(number)?;
        begun(number, transfer::<A>(handle, way, from, values)?)
    }
}

/// # Safety
/// As for [`begin`].
unsafe fn begin_ordered<A: Abi>(handle: A::File, way: Way, values: Values<A::Handle>) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let number = known_file::<A>(handle)?;
        none_is_under_way(number)?;
        begun(number, shared::in_order::<A>(handle, way, values)?)
    }
}

/// # Safety
/// Handle and status are the program's.
unsafe fn end<A: Abi>(name: &'static str, handle: A::File, status: usize) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known_file::<A>(handle) }?;
    let bytes = local(|process| file(process, number)?.split.take().ok_or(Class::Other))?;
    together::<A>(name, number)?;
    // SAFETY: the caller's promise.
    unsafe { put_status::<A>(status, told::<A>(bytes)) };
    Ok(())
}

macro_rules! split {
    ($($way:ident
        $begin:literal $begin_function:ident $end:literal $end_function:ident
        $begin_at:literal $begin_at_function:ident $end_at:literal $end_at_function:ident
        $begin_ordered:literal $begin_ordered_function:ident $end_ordered:literal $end_ordered_function:ident;
    )*) => {
        crate::common::calls! {
            $(
                $begin $begin_function<N>(handle: A::File, at: usize, count: N, datatype: A::Handle) of handle => {
                    begin::<A>(handle, Way::$way, From::Pointer, Values { at, count: count.get(), datatype })
                };
                $end $end_function<>(handle: A::File, _at: usize, status: usize) of handle => {
                    end::<A>(concat!("MPI_", $end), handle, status)
                };
                $begin_at $begin_at_function<N>(
                    handle: A::File, offset: i64, at: usize, count: N, datatype: A::Handle,
                ) of handle => {
                    begin::<A>(handle, Way::$way, From::At(offset), Values { at, count: count.get(), datatype })
                };
                $end_at $end_at_function<>(handle: A::File, _at: usize, status: usize) of handle => {
                    end::<A>(concat!("MPI_", $end_at), handle, status)
                };
                $begin_ordered $begin_ordered_function<N>(
                    handle: A::File, at: usize, count: N, datatype: A::Handle,
                ) of handle => {
                    begin_ordered::<A>(handle, Way::$way, Values { at, count: count.get(), datatype })
                };
                $end_ordered $end_ordered_function<>(handle: A::File, _at: usize, status: usize) of handle => {
                    end::<A>(concat!("MPI_", $end_ordered), handle, status)
                };
            )*
        }
    };
}

split! {
    Read
        "File_read_all_begin" file_read_all_begin "File_read_all_end" file_read_all_end
        "File_read_at_all_begin" file_read_at_all_begin "File_read_at_all_end" file_read_at_all_end
        "File_read_ordered_begin" file_read_ordered_begin "File_read_ordered_end" file_read_ordered_end;
    Write
        "File_write_all_begin" file_write_all_begin "File_write_all_end" file_write_all_end
        "File_write_at_all_begin" file_write_at_all_begin "File_write_at_all_end" file_write_at_all_end
        "File_write_ordered_begin" file_write_ordered_begin "File_write_ordered_end" file_write_ordered_end;
}
