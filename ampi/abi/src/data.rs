//! Data of the interfaces that programs know by name: predefined objects, and Fortran's special values.
//!
//! An executable may have its own copy of such data (a COPY relocation), whose address is that of its rank. So what
//! the program compares handles and buffers with is looked up for each rank, when it begins ([`bind`](crate::bind)).

use std::sync::atomic::{AtomicU64, Ordering};

use talisman_ampi::objects::Kind;

/// What is at a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// An object: its first word names it.
    Object(Kind, u32),
    /// The address of another symbol, by its number.
    PointerTo(u32),
    /// The same with an offset in bytes.
    PointerInto(u32, usize),
    /// Nothing: the address is what counts.
    Zeroes,
}

/// A symbol.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// Its name.
    pub name: &'static str,
    /// What is there.
    pub content: Content,
    /// How many bytes a program may copy.
    pub of_bytes: usize,
}

/// Special values of Fortran, which are known by their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sentinel {
    /// `MPI_BOTTOM`.
    Bottom,
    /// `MPI_IN_PLACE`.
    InPlace,
    /// `MPI_STATUS_IGNORE`, `MPI_STATUSES_IGNORE`.
    StatusIgnore,
    /// `MPI_UNWEIGHTED`.
    Unweighted,
    /// `MPI_WEIGHTS_EMPTY`.
    WeightsEmpty,
    /// `MPI_ERRCODES_IGNORE`.
    ErrcodesIgnore,
    /// `MPI_ARGV_NULL`, `MPI_ARGVS_NULL`.
    ArgvNull,
}

/// Memory of one symbol.
#[derive(Debug)]
#[repr(align(64))]
pub struct Cell<const WORDS: usize>([AtomicU64; WORDS]);

impl<const WORDS: usize> Cell<WORDS> {
    /// Of zeroes.
    pub const fn zeroes() -> Self {
        Cell([const { AtomicU64::new(0) }; WORDS])
    }
}

/// What the first word of an object is: so that a handle of another kind is noticed.
pub const fn word(kind: Kind, number: u32) -> u64 {
    (0x5441_4c00 | kind as u64) << 32 | number as u64
}

/// The number in the first word of an object of this kind.
pub fn number_in(kind: Kind, found: u64) -> Option<u32> {
    let number = found as u32;
    (found == word(kind, number)).then_some(number)
}

/// Where the memory of a symbol is.
pub fn address<const WORDS: usize>(cells: &'static [Cell<WORDS>], symbol: u32) -> usize {
    std::ptr::from_ref(&cells[symbol as usize]).addr()
}

/// Writes what is at the symbols. Again is no harm: it is the same.
pub fn fill<const WORDS: usize>(cells: &'static [Cell<WORDS>], all: &[Data]) {
    for (cell, data) in cells.iter().zip(all) {
        let content = match data.content {
            Content::Object(kind, number) => word(kind, number),
            Content::PointerTo(symbol) => address(cells, symbol) as u64,
            Content::PointerInto(symbol, offset) => (address(cells, symbol) + offset) as u64,
            Content::Zeroes => continue,
        };
        cell.0[0].store(content, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_another_kind_are_noticed() {
        let comm = word(Kind::Comm, 7);
        assert_eq!((number_in(Kind::Comm, comm), number_in(Kind::Op, comm)), (Some(7), None));
        assert_eq!(number_in(Kind::Comm, 0), None);
    }
}
