//! Values and blocks of the program, as schedules know them.

use talisman_ampi::collective::{Blocks, Place, Span, Values};
use talisman_ampi::objects::Kind;
use talisman_ampi::process::Process;

use super::call::known;
use super::collective::{checked, counts, numbers, values};
use crate::abi::{Abi, Count};
use crate::class::Class;

/// Values of the program: where they are, how many, of which datatype.
#[derive(Clone, Copy)]
pub struct Part<H> {
    /// The address.
    pub at: usize,
    /// How many.
    pub count: i64,
    /// Of which datatype.
    pub datatype: H,
}

/// Blocks of the program, one for each peer: where the first is, how many values each has, where each begins.
#[derive(Clone, Copy)]
pub struct Parts<H, N> {
    /// The address.
    pub at: usize,
    /// How many values each has.
    pub counts: *const N,
    /// Where each begins, in values.
    pub displacements: *const N,
    /// Of which datatype.
    pub datatype: H,
}

impl<H: Copy> Part<H> {
    /// All values, as one span. What is in place has none.
    ///
    /// # Safety
    /// The handle is the program's.
    pub unsafe fn span<A: Abi<Handle = H>>(
        &self,
        process: &Process,
        place: Place,
    ) -> Result<Option<Span>, Class> {
        if self.at == A::IN_PLACE {
            return Ok(None);
        }
        // SAFETY: the caller's promise.
        let datatype = unsafe { known::<A>(Kind::Datatype, self.datatype) }?;
        Ok(Some(values(process, datatype)?.span(place, 0, checked(self.count)?)))
    }

    /// As many for each peer.
    ///
    /// # Safety
    /// The handle is the program's.
    pub unsafe fn blocks<A: Abi<Handle = H>>(&self, process: &Process, of: u32) -> Result<Blocks, Class> {
        // SAFETY: the caller's promise.
        let datatype = unsafe { known::<A>(Kind::Datatype, self.datatype) }?;
        Ok(Blocks::even(of, checked(self.count)?, values(process, datatype)?))
    }
}

impl<H: Copy, N: Count> Parts<H, N> {
    /// A block for each peer.
    ///
    /// # Safety
    /// The handle is the program's, and the lists have so many.
    pub unsafe fn blocks<A: Abi<Handle = H>>(&self, process: &Process, of: u32) -> Result<Blocks, Class> {
        // SAFETY: the caller's promise.
        unsafe {
            let datatype = known::<A>(Kind::Datatype, self.datatype)?;
            let (counts, displacements) = (counts(self.counts, of)?, numbers(self.displacements, of)?);
            Ok(Blocks::uneven(&counts, &displacements, values(process, datatype)?))
        }
    }
}

/// Blocks that nobody looks at.
pub fn no_blocks(of: u32) -> Blocks {
    Blocks::even(of, 0, Values::BYTES)
}

/// The block of each peer.
pub fn spans(blocks: &Blocks, place: Place) -> Vec<Span> {
    (0..blocks.counts.len() as u32).map(|peer| blocks.of(place, peer)).collect()
}

/// Spans of their own counts, displacements in bytes and datatypes.
///
/// # Safety
/// The lists have so many.
pub unsafe fn each_of_its_own<A: Abi, N: Count, D: Count>(
    process: &Process,
    of: u32,
    place: Place,
    (counted, displaced, datatypes): (*const N, *const D, *const A::Handle),
) -> Result<Vec<Span>, Class> {
    // SAFETY: the caller's promise.
    unsafe {
        let (counts, displacements) = (counts(counted, of)?, numbers(displaced, of)?);
        let span = |at: usize| {
            let datatype = known::<A>(Kind::Datatype, datatypes.add(at).read_unaligned())?;
            Ok(values(process, datatype)?.span(place, displacements[at], counts[at]))
        };
        (0..of as usize).map(span).collect()
    }
}
