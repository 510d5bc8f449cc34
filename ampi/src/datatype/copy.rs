//! From memory to packed bytes and back.

use thiserror::Error;

use super::{Basic, Datatype};

/// The values do not lie within the memory that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("values at {at} are not within {len} bytes")]
pub struct OutOfBounds {
    /// Where the value is.
    pub at: i64,
    /// Length of the memory, or of the packed bytes.
    pub len: usize,
}

impl Datatype {
    /// Appends `count` of them to `out`, without gaps. Displacement 0 is at `origin` in `memory`; it may lie before that, as
    /// a negative number that has wrapped around.
    ///
    /// # Errors
    /// If a value is not within the memory.
    pub fn pack(
        &self,
        count: u64,
        memory: &[u8],
        origin: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), OutOfBounds> {
        self.try_runs(count, |at, basic, n| {
            let len = memory.len();
            let range = range(at, origin, n * basic.size()).ok_or(OutOfBounds { at, len })?;
            out.extend_from_slice(memory.get(range).ok_or(OutOfBounds { at, len })?);
            Ok(())
        })
    }

    /// Writes packed bytes to where the values of `count` of them lie: as many as there are, also if that is less
    /// than `count`.
    ///
    /// # Errors
    /// If a value is not within the memory.
    pub fn unpack(
        &self,
        count: u64,
        packed: &[u8],
        memory: &mut [u8],
        origin: usize,
    ) -> Result<(), OutOfBounds> {
        let mut rest = packed;
        self.try_runs(count, |at, basic, n| {
            let bytes = (n * basic.size()).min(rest.len() as u64);
            let (now, later) = rest.split_at(bytes as usize);
            rest = later;
            let len = memory.len();
            let range = range(at, origin, bytes).ok_or(OutOfBounds { at, len })?;
            memory.get_mut(range).ok_or(OutOfBounds { at, len })?.copy_from_slice(now);
            Ok(())
        })
    }

    /// As [`Map::each_run`](super::Map::each_run) over `count` of them, until one fails.
    pub(super) fn try_runs<E>(
        &self,
        count: u64,
        mut call: impl FnMut(i64, Basic, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut result = Ok(());
        let mut guarded = |at, basic, n| {
            // A block of no values may lie anywhere.
            if result.is_ok() && n > 0 {
                result = call(at, basic, n);
            }
        };
        match &self.map {
            super::Map::Run(basic, n) if (*n * basic.size()) as i64 == self.extent => {
                guarded(0, *basic, n * count)
            }
            // However often, and from whomever that number is.
            map if map.size() == 0 => {}
            map => (0..count as i64).for_each(|step| map.each_run(step * self.extent, &mut guarded)),
        }
        result
    }
}

/// Displacement 0 may lie before the memory: then `origin` is a negative number that has wrapped around. A value that is
/// not within the memory has a range that is not, either.
fn range(at: i64, origin: usize, bytes: u64) -> Option<std::ops::Range<usize>> {
    let start = origin.wrapping_add_signed(isize::try_from(at).ok()?);
    Some(start..start.checked_add(usize::try_from(bytes).ok()?)?)
}
