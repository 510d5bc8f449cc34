//! A rank's own pointer (MPI-3.1, 13.4.3).

use std::ffi::c_int;

use super::{descriptor, file, known_file};
use crate::abi::Abi;
use crate::class::Class;
use crate::common::call::{Outcome, local, put};

/// The position that is sought, in elementary values of the view.
///
/// # Errors
/// If it is before the beginning, or there is no such way to say it.
pub fn sought<A: Abi>(number: u32, now: u64, offset: i64, whence: c_int) -> Result<u64, Class> {
    let [from_start, from_here, from_end] = A::SEEKS;
    let base = match whence {
        whence if whence == from_start => 0,
        whence if whence == from_here => now,
        whence if whence == from_end => local(|process| {
            let file = file(process, number)?;
            Ok(file.view.position_of(descriptor::length(file.descriptor)?))
        })?,
        _ => return Err(Class::Arg),
    };
    base.checked_add_signed(offset).ok_or(Class::Arg)
}

unsafe fn seek<A: Abi>(handle: A::File, offset: i64, whence: c_int) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known_file::<A>(handle) }?;
    let (now, is_sequential) = local(|process| {
        let file = file(process, number)?;
        Ok((file.position, file.access.is_sequential))
    })?;
    if is_sequential {
        return Err(Class::UnsupportedOperation);
    }
    let position = sought::<A>(number, now, offset, whence)?;
    local(|process| {
        file(process, number)?.position = position;
        Ok(())
    })
}

crate::common::calls! {
    "File_seek" file_seek<>(handle: A::File, offset: i64, whence: c_int) of handle => {
        seek::<A>(handle, offset, whence)
    };
    "File_get_position" file_get_position<>(handle: A::File, offset: *mut i64) of handle => {
        let number = known_file::<A>(handle)?;
        put(offset, local(|process| Ok(file(process, number)?.position))? as i64)
    };
    "File_get_byte_offset" file_get_byte_offset<>(handle: A::File, offset: i64, bytes: *mut i64) of handle => {
        let number = known_file::<A>(handle)?;
        let position = u64::try_from(offset).map_err(|_| Class::Arg)?;
        put(bytes, local(|process| Ok(file(process, number)?.view.offset_of(position)))? as i64)
    };
}
