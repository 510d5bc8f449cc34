//! Numbers of varying length in bytes: seven bits in each, the least first (LEB128). What is read comes from other
//! processes.

use std::fmt::{self, Display, Formatter};

/// Bytes that are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// They end too early.
    Short,
    /// A number is larger than it can be.
    TooLarge,
    /// There is no input of this kind.
    UnknownKind(u8),
    /// Some are left over.
    LeftOver,
}

impl Display for Malformed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Short => f.write_str("it ends too early"),
            Malformed::TooLarge => f.write_str("a number is out of range"),
            Malformed::UnknownKind(kind) => write!(f, "no input is of kind {kind}"),
            Malformed::LeftOver => f.write_str("there are bytes left over"),
        }
    }
}

impl std::error::Error for Malformed {}

/// Appends a number.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends bytes with their length before them.
pub(super) fn put_bytes(bytes: &mut Vec<u8>, slice: &[u8]) {
    put(bytes, slice.len() as u64);
    bytes.extend_from_slice(slice);
}

/// Reads what is left of some bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader { left: bytes }
    }

    pub(super) fn left(&self) -> usize {
        self.left.len()
    }

    /// All that is left.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.left
    }

    pub(super) fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.left.split_first().ok_or(Malformed::Short)?;
        self.left = rest;
        Ok(*first)
    }

    pub(super) fn number(&mut self) -> Result<u64, Malformed> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits.leading_zeros() < shift {
                return Err(Malformed::TooLarge);
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed::TooLarge)
    }

    pub(super) fn number_u32(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.number()?).map_err(|_| Malformed::TooLarge)
    }

    /// A count of things that take at least `least` bytes each, so that nobody makes room for what cannot be there.
    pub(super) fn count(&mut self, least: usize) -> Result<usize, Malformed> {
        let count = self.number()?;
        match usize::try_from(count) {
            Ok(count) if count <= self.left.len() / least => Ok(count),
            _ => Err(Malformed::TooLarge),
        }
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.count(1)?;
        let (bytes, rest) = self.left.split_at(length);
        self.left = rest;
        Ok(bytes)
    }

    pub(super) fn end(self) -> Result<(), Malformed> {
        if self.left.is_empty() { Ok(()) } else { Err(Malformed::LeftOver) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_larger_ones_than_there_are_do_not() {
        for number in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            let mut reader = Reader::new(&bytes);
            assert_eq!((reader.number(), reader.left()), (Ok(number), 0));
        }
        let mut too_large = [0xff; 10];
        too_large[9] = 2;
        assert_eq!(Reader::new(&too_large).number(), Err(Malformed::TooLarge));
        assert_eq!(Reader::new(&[0x80]).number(), Err(Malformed::Short));
        assert_eq!(Reader::new(&[0xff; 11]).number(), Err(Malformed::TooLarge));
    }
}
