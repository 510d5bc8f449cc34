//! A rank's own pointer (MPI-3.1, 13.4.3).

use std::ffi::c_int;

use super::{descriptor, file, known_file};
use crate::abi::Abi;
use crate::class::Class;
use crate::common::call::{Outcome, local, put};

/// A position that is sought, in elementary values of the view.
#[derive(Clone, Copy)]
pub struct Sought {
    /// It counts from here; none if it does from where the pointer is.
    base: Option<u64>,
    offset: i64,
}

impl Sought {
    /// # Errors
    /// There is no such way to say it.
    pub fn of<A: Abi>(number: u32, offset: i64, whence: c_int) -> Result<Sought, Class> {
        let [from_start, from_here, from_end] = A::SEEKS;
        let base = match whence {
            whence if whence == from_start => Some(0),
            whence if whence == from_here => None,
            whence if whence == from_end => {
                let length = descriptor::length(local(|process| Ok(file(process, number)?.descriptor))?)?;
                Some(local(|process| Ok(file(process, number)?.view.position_of(length)))?)
            }
            _ => return Err(Class::Arg),
        };
        Ok(Sought { base, offset })
    }

    /// # Errors
    /// It is before the beginning.
    pub fn from(self, now: u64) -> Result<u64, Class> {
        self.base.unwrap_or(now).checked_add_signed(self.offset).ok_or(Class::Arg)
    }
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
    let position = Sought::of::<A>(number, offset, whence)?.from(now)?;
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
