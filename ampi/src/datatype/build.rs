//! Making datatypes of others (MPI-3.1, 4.1.2 to 4.1.4).

use thiserror::Error;

use super::{Datatype, Map};

/// Why a datatype cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BuildError {
    /// Lists that belong together differ in length.
    #[error("{lengths} block lengths for {displacements} displacements")]
    Lists {
        /// Of one list.
        lengths: usize,
        /// Of the other.
        displacements: usize,
    },
    /// A displacement beyond what an address can be.
    #[error("a displacement of more than 2^63 bytes")]
    TooLarge,
    /// A part that is not within the whole.
    #[error("dimension {dimension}: {part} from {start} on is not within {whole}")]
    Subarray {
        /// Which one.
        dimension: usize,
        /// Its length in the part.
        part: u64,
        /// Where the part begins.
        start: u64,
        /// Its length in the whole.
        whole: u64,
    },
}

/// Which dimension of an array is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last: C and Rust.
    RowMajor,
    /// The first: Fortran.
    ColumnMajor,
}

impl Datatype {
    /// `count` of them, one after the other (`MPI_Type_contiguous`).
    ///
    /// # Errors
    /// If a displacement is too large.
    pub fn contiguous(&self, count: u64) -> Result<Datatype, BuildError> {
        self.hvector(1, count, 0)
    }

    /// `count` blocks of `length`, each `stride` elements after the one before (`MPI_Type_vector`).
    ///
    /// # Errors
    /// If a displacement is too large.
    pub fn vector(&self, count: u64, length: u64, stride: i64) -> Result<Datatype, BuildError> {
        self.hvector(count, length, stride.checked_mul(self.extent).ok_or(BuildError::TooLarge)?)
    }

    /// As [`Datatype::vector`] with a stride in bytes (`MPI_Type_create_hvector`).
    ///
    /// # Errors
    /// If a displacement is too large.
    pub fn hvector(&self, count: u64, length: u64, stride: i64) -> Result<Datatype, BuildError> {
        fits(count, stride)?;
        fits(length, self.extent)?;
        let map = self.map.clone().repeat(length, self.extent).repeat(count, stride);
        let (low, high) = self.block_bounds(length);
        let last = stride * count.saturating_sub(1) as i64;
        Datatype::bounded(map, (count > 0 && length > 0).then_some((low + last.min(0), high + last.max(0))))
    }

    /// Blocks of their own lengths at their own displacements in elements (`MPI_Type_indexed`).
    ///
    /// # Errors
    /// If the lists differ in length or a displacement is too large.
    pub fn indexed(&self, lengths: &[u64], displacements: &[i64]) -> Result<Datatype, BuildError> {
        let bytes = displacements.iter().map(|at| at.checked_mul(self.extent).ok_or(BuildError::TooLarge));
        self.hindexed(lengths, &bytes.collect::<Result<Vec<_>, _>>()?)
    }

    /// As [`Datatype::indexed`] with displacements in bytes (`MPI_Type_create_hindexed`).
    ///
    /// # Errors
    /// If the lists differ in length or a displacement is too large.
    pub fn hindexed(&self, lengths: &[u64], displacements: &[i64]) -> Result<Datatype, BuildError> {
        let parts: Vec<_> = lengths.iter().map(|length| (*length, self)).collect();
        Datatype::structure(&parts, displacements)
    }

    /// Blocks of one length (`MPI_Type_create_indexed_block`).
    ///
    /// # Errors
    /// If a displacement is too large.
    pub fn indexed_block(&self, length: u64, displacements: &[i64]) -> Result<Datatype, BuildError> {
        self.indexed(&vec![length; displacements.len()], displacements)
    }

    /// Blocks of different types, each a number of them, at displacements in bytes (`MPI_Type_create_struct`).
    ///
    /// # Errors
    /// If the lists differ in length or a displacement is too large.
    pub fn structure(blocks: &[(u64, &Datatype)], displacements: &[i64]) -> Result<Datatype, BuildError> {
        if blocks.len() != displacements.len() {
            return Err(BuildError::Lists { lengths: blocks.len(), displacements: displacements.len() });
        }
        let (mut parts, mut bounds) = (Vec::new(), None);
        for ((length, datatype), at) in
            blocks.iter().zip(displacements).filter(|((length, _), _)| *length > 0)
        {
            fits(*length, datatype.extent)?;
            let (low, high) = datatype.block_bounds(*length);
            let low = low.checked_add(*at).ok_or(BuildError::TooLarge)?;
            let high = high.checked_add(*at).ok_or(BuildError::TooLarge)?;
            bounds = bounds.map_or(Some((low, high)), |(l, h): (i64, i64)| Some((l.min(low), h.max(high))));
            parts.push((*at, datatype.map.clone().repeat(*length, datatype.extent)));
        }
        Datatype::bounded(Map::at(parts), bounds)
    }

    /// The same values with other bounds (`MPI_Type_create_resized`).
    #[must_use]
    pub fn resized(&self, lower: i64, extent: i64) -> Datatype {
        Datatype { map: self.map.clone(), lower, extent }
    }

    /// A part of an array: for each dimension its length in the whole, that of the part, and where the part begins
    /// (`MPI_Type_create_subarray`). The extent is that of the whole.
    ///
    /// # Errors
    /// If the part is not within the whole, or that is too large.
    pub fn subarray(&self, dimensions: &[(u64, u64, u64)], order: Order) -> Result<Datatype, BuildError> {
        let (mut map, mut stride, mut at) = (self.map.clone(), self.extent, 0i64);
        let mut inner_first: Vec<usize> = (0..dimensions.len()).collect();
        if order == Order::RowMajor {
            inner_first.reverse();
        }
        for dimension in inner_first {
            let (whole, part, start) = dimensions[dimension];
            if start.checked_add(part).is_none_or(|end| end > whole) {
                return Err(BuildError::Subarray { dimension, part, start, whole });
            }
            fits(whole, stride)?;
            map = map.repeat(part, stride);
            at += stride * start as i64;
            stride *= whole as i64;
        }
        Ok(Datatype { map: Map::at(vec![(at, map)]), lower: 0, extent: stride })
    }

    /// A structure as a compiler of C lays it out: its extent is rounded up to its alignment.
    #[must_use]
    pub fn padded(&self) -> Datatype {
        let align = self.map.align() as i64;
        Datatype { extent: (self.extent + align - 1) / align * align, ..self.clone() }
    }

    /// The bounds of a block of so many, which is more than none.
    fn block_bounds(&self, length: u64) -> (i64, i64) {
        let last = self.extent * (length.max(1) - 1) as i64;
        (self.lower + last.min(0), self.lower + self.extent + last.max(0))
    }

    fn bounded(map: Map, bounds: Option<(i64, i64)>) -> Result<Datatype, BuildError> {
        let (lower, upper) = bounds.unwrap_or_default();
        let extent = upper.checked_sub(lower).ok_or(BuildError::TooLarge)?;
        Ok(Datatype { map, lower, extent })
    }
}

/// Displacements stay below 2^62, so that sums of two do not overflow.
fn fits(count: u64, stride: i64) -> Result<(), BuildError> {
    let bytes = i64::try_from(count).ok().and_then(|count| count.checked_mul(stride));
    bytes.filter(|bytes| bytes.unsigned_abs() < 1 << 62).map(|_| ()).ok_or(BuildError::TooLarge)
}
