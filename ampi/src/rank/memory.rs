//! The memory of a program, by its addresses.

use std::cell::Cell;

use super::lending::Lender;
use super::{Outside, lending, neighbor_memory, neighbors};
use crate::engine::{Head, Loan, Rank, Token, Whole};
use crate::process::{Host, PerformError};

/// The program of a rank whose slot is in place.
pub(super) struct ProgramMemory<'a> {
    /// Who lends what it announces, and may read what others have lent.
    lender: Option<Lender<'a>>,
    /// Of a rank that runs, and gives messages to ranks that wait on its PE: what is outside.
    outside: Option<&'a dyn Outside>,
    /// How many messages have left by it.
    left: Cell<usize>,
}

impl<'a> ProgramMemory<'a> {
    /// # Safety
    /// As long as this lives: the slot of the rank is in place. Every buffer that an action of its process names is
    /// memory of a call of the program that has not ended, which nobody else uses meanwhile. With a lender: the slots of
    /// all ranks that lend are in place, too.
    pub unsafe fn new(lender: Option<Lender<'a>>) -> ProgramMemory<'a> {
        ProgramMemory { lender, outside: None, left: Cell::new(0) }
    }

    /// That of the rank that runs, which may [give](neighbors::give) messages to others of its PE.
    ///
    /// # Safety
    /// As for [`ProgramMemory::new`].
    pub unsafe fn of_running(lender: Option<Lender<'a>>, outside: &'a dyn Outside) -> ProgramMemory<'a> {
        ProgramMemory { lender, outside: lender.map(|_| outside), left: Cell::new(0) }
    }

    /// How many messages have left without a frame.
    pub fn left(&self) -> usize {
        self.left.get()
    }

    /// Whether one has.
    fn has_left(&self, is_gone: bool) -> bool {
        self.left.set(self.left.get() + usize::from(is_gone));
        is_gone
    }
}

impl Host for ProgramMemory<'_> {
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

    fn copy(&mut self, from: u64, to: u64, len: u64) -> Result<(), PerformError> {
        if len > 0 {
            // SAFETY: the promise of `new`: all of it is memory of programs that do not run meanwhile.
            unsafe { std::ptr::copy(pointer(from, len)?, pointer(to, len)?, len as usize) };
        }
        Ok(())
    }

    fn lends(&self) -> bool {
        self.lender.is_some()
    }

    fn lend(&mut self, send: Token, at: u64, len: u64) -> Option<Loan> {
        self.lender?.lend(send, at, len)
    }

    fn give(&self, to: Rank, head: &Head, bytes: &[u8]) -> bool {
        let gives = self.outside.is_some() && to != head.source;
        // SAFETY: the rank that gives runs, by the promise of `of_running`.
        self.has_left(gives && unsafe { neighbors::give(to, head, bytes) })
    }

    fn send_at_once(&self, to: Rank, whole: &Whole<'_>) -> bool {
        self.has_left(self.outside.is_some_and(|outside| outside.send_at_once(to, whole)))
    }

    fn take_lent(
        &mut self,
        (from, send, loan): (Rank, Token, Option<Loan>),
        at: u64,
        len: u64,
    ) -> Result<Option<u64>, PerformError> {
        if self.lender.is_none_or(|lender| lender.rank == from) {
            return Ok(None);
        }
        let Some((lent, lent_len)) = lending::take(from, send) else {
            let Some(loan) = loan else { return Ok(None) };
            let len = len.min(loan.len);
            // SAFETY: the promise of `new`: the memory is that of a receive.
            let is_read = len > 0 && unsafe { neighbor_memory::read(&loan, pointer(at, len)?, len as usize) };
            return Ok(is_read.then_some(len));
        };
        let len = len.min(lent_len as u64);
        if len > 0 {
            // SAFETY: the promise of `new`: the message lies there until its request has ended, which it has not, and
            // the memory of this program is that of a receive. Programs that share memory may have given both the same.
            unsafe { std::ptr::copy(lent as *const u8, pointer(at, len)?, len as usize) };
        }
        Ok(Some(len))
    }
}

fn pointer(at: u64, len: u64) -> Result<*mut u8, PerformError> {
    let fits = at != 0 && len <= isize::MAX as u64 && at.checked_add(len).is_some();
    if fits { Ok(at as usize as *mut u8) } else { Err(PerformError::NoMemory { at, len }) }
}
