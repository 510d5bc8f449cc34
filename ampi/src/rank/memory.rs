//! The memory of a program, by its addresses.

use crate::process::{Host, PerformError};

/// The program of a rank whose slot is in place.
pub(super) struct ProgramMemory(());

impl ProgramMemory {
    /// # Safety
    /// As long as this lives: the slot of the rank is in place. Every buffer that an action of its process names is
    /// memory of a call of the program that has not ended, which nobody else uses meanwhile.
    pub unsafe fn new() -> ProgramMemory {
        ProgramMemory(())
    }
}

impl Host for ProgramMemory {
    fn read(&self, at: u64, len: u64) -> Result<&[u8], PerformError> {
        if len == 0 {
            return Ok(&[]);
        }
        let pointer = pointer(at, len)?;
        // SAFETY: the promise of `new`.
        Ok(unsafe { std::slice::from_raw_parts(pointer, len as usize) })
    }

    fn write(&mut self, at: u64, len: u64) -> Result<&mut [u8], PerformError> {
        if len == 0 {
            return Ok(&mut []);
        }
        let pointer = pointer(at, len)?;
        // SAFETY: the promise of `new`.
        Ok(unsafe { std::slice::from_raw_parts_mut(pointer, len as usize) })
    }
}

fn pointer(at: u64, len: u64) -> Result<*mut u8, PerformError> {
    let fits = at != 0 && len <= isize::MAX as u64 && at.checked_add(len).is_some();
    if fits { Ok(at as usize as *mut u8) } else { Err(PerformError::NoMemory { at, len }) }
}
