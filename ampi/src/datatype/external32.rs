//! The data representation "external32" (MPI-3.1, 13.5.2): big-endian, without gaps.

use super::{Datatype, OutOfBounds};

impl Datatype {
    /// As [`Datatype::pack`], in external32 (`MPI_Pack_external`).
    ///
    /// # Errors
    /// If a value is not within the memory.
    pub fn pack_external32(
        &self,
        count: u64,
        memory: &[u8],
        origin: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), OutOfBounds> {
        let start = out.len();
        self.pack(count, memory, origin, out)?;
        self.swap(count, &mut out[start..])
    }

    /// As [`Datatype::unpack`], from external32 (`MPI_Unpack_external`).
    ///
    /// # Errors
    /// If a value is not within the memory.
    pub fn unpack_external32(
        &self,
        count: u64,
        packed: &[u8],
        memory: &mut [u8],
        origin: usize,
    ) -> Result<(), OutOfBounds> {
        let mut native = packed.to_vec();
        self.swap(count, &mut native)?;
        self.unpack(count, &native, memory, origin)
    }

    /// Turns the bytes of each value around: from packed bytes to external32, and back. A value that is there in part
    /// only is left as it is.
    ///
    /// # Errors
    /// Never: what is not there is left out.
    pub fn swap(&self, count: u64, packed: &mut [u8]) -> Result<(), OutOfBounds> {
        let mut done = 0;
        self.try_runs(count, |_, basic, n| {
            let end = (done + (n * basic.size()) as usize).min(packed.len());
            for unit in packed[done..end].chunks_exact_mut(basic.unit() as usize) {
                unit.reverse();
            }
            done = end;
            Ok(())
        })
    }
}
