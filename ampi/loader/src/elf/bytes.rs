//! Reading numbers and names from bytes that may be anything.

use crate::Malformed;

/// Little-endian data of a file. Every read is checked.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    /// `len` bytes from `at` on.
    pub fn slice(self, at: usize, len: usize) -> Result<&'a [u8], Malformed> {
        let end = at.checked_add(len);
        end.and_then(|end| self.0.get(at..end)).ok_or(Malformed { what: "it ends too early", at })
    }

    pub fn u16(self, at: usize) -> Result<u16, Malformed> {
        self.array(at).map(u16::from_le_bytes)
    }

    pub fn u32(self, at: usize) -> Result<u32, Malformed> {
        self.array(at).map(u32::from_le_bytes)
    }

    /// A word of 64 bits: ranks run on machines where an address has as many.
    pub fn word(self, at: usize) -> Result<usize, Malformed> {
        self.array(at).map(usize::from_le_bytes)
    }

    /// A name, up to its zero.
    pub fn name(self, at: usize) -> Result<&'a [u8], Malformed> {
        let rest = self.0.get(at..).ok_or(Malformed { what: "a name lies outside", at })?;
        let len = rest.iter().position(|byte| *byte == 0);
        len.map(|len| &rest[..len]).ok_or(Malformed { what: "a name has no end", at })
    }

    fn array<const N: usize>(self, at: usize) -> Result<[u8; N], Malformed> {
        let mut array = [0; N];
        array.copy_from_slice(self.slice(at, N)?);
        Ok(array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian_and_nothing_is_read_beyond_the_end() {
        let bytes = Bytes(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(bytes.u16(0), Ok(0x0201));
        assert_eq!(bytes.u32(1), Ok(0x0504_0302));
        assert_eq!(bytes.word(1), Ok(0x0908_0706_0504_0302));
        assert!(bytes.word(2).is_err());
        assert!(bytes.slice(usize::MAX, 2).is_err());
    }

    #[test]
    fn a_name_ends_with_zero() {
        let bytes = Bytes(b"one\0two");
        assert_eq!(bytes.name(0), Ok(&b"one"[..]));
        assert_eq!(bytes.name(3), Ok(&b""[..]));
        assert!(bytes.name(4).is_err());
        assert!(bytes.name(99).is_err());
    }
}
