//! Datatypes: how values lie in memory (MPI-3.1, chapter 4).
//!
//! ```
//! use talisman_ampi::datatype::{Basic, Datatype};
//!
//! // A column of a matrix of 3 rows and 4 columns.
//! let column = Datatype::of(Basic::F64).vector(3, 1, 4).unwrap();
//! let matrix: Vec<u8> = (0..12).flat_map(|cell| f64::from(cell).to_ne_bytes()).collect();
//! let mut packed = Vec::new();
//! column.pack(1, &matrix, 8, &mut packed).unwrap();
//! assert_eq!(packed[8..16], 5.0f64.to_ne_bytes());
//! ```

mod basic;
mod build;
mod copy;
mod envelope;
mod external32;
mod flat;
mod named;
mod piece;
mod table;
#[cfg(test)]
mod tests;

use talisman_pup::Pup;

pub use basic::{BASICS, Basic};
pub use build::{BuildError, Order};
pub use copy::OutOfBounds;
pub use envelope::{Combiner, Contents, Envelope};
pub use flat::Map;
pub use named::{NAMED, Named, Shape};
pub use piece::Part;
pub use table::{Datatypes, Made, UnknownDatatype};

/// A datatype. Sizes and displacements are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Datatype {
    map: Map,
    lower: i64,
    extent: i64,
}

impl Datatype {
    /// One value.
    pub fn of(basic: Basic) -> Datatype {
        Datatype { map: Map::Run(basic, 1), lower: 0, extent: basic.size() as i64 }
    }

    /// Where the values lie.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Bytes of its values (`MPI_Type_size`).
    #[inline]
    pub fn size(&self) -> u64 {
        self.map.size()
    }

    /// The lower bound, and from there to the upper bound: in an array the next one begins so much later
    /// (`MPI_Type_get_extent`).
    pub fn extent(&self) -> (i64, i64) {
        (self.lower, self.extent)
    }

    /// The displacement of the first byte, and from there to the last (`MPI_Type_get_true_extent`).
    pub fn true_extent(&self) -> (i64, i64) {
        let (low, high) = self.map.bounds().unwrap_or_default();
        (low, high - low)
    }

    /// The displacements of the first byte of `count` of them, and of the one after the last; `None` if they have none.
    pub fn span(&self, count: u64) -> Option<(i64, i64)> {
        Map::repeat(self.map.clone(), count, self.extent).bounds()
    }

    /// Whether `count` of them are `count` times its size in one piece from the address on.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        matches!(self.map, Map::Run(..)) && self.lower == 0 && self.extent == self.size() as i64
    }

    /// How many of them make up so many bytes (`MPI_Get_count`); `None` if they do not.
    ///
    /// ```
    /// use talisman_ampi::datatype::{Basic, Datatype};
    /// let double = Datatype::of(Basic::F64);
    /// assert_eq!((double.count(24), double.count(20)), (Some(3), None));
    /// ```
    pub fn count(&self, bytes: u64) -> Option<u64> {
        match self.size() {
            0 => (bytes == 0).then_some(0),
            size => bytes.is_multiple_of(size).then(|| bytes / size),
        }
    }
}
