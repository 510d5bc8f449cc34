//! Which build of a program or a library a file is.

use super::{Bytes, Elf, Segment};

/// A note of the linker with a number of this build alone (GNU `--build-id`).
const BUILD_ID: u32 = 3;
const OWNER: &[u8] = b"GNU\0";

impl Elf {
    /// A number of this build: of the linker's own number if the file has one, else of all that is loaded of it.
    pub fn build(&self) -> u64 {
        let ids = self.segments.notes.iter().filter_map(|notes| self.build_id(notes));
        sum(ids.into_iter().next().unwrap_or(&self.data))
    }

    fn build_id(&self, notes: &Segment) -> Option<&[u8]> {
        let end = notes.offset.checked_add(notes.file_len)?;
        build_id(self.data.get(notes.offset..end)?, notes.align.clamp(4, 8))
    }
}

/// The linker's number among notes: each has three words, the owner's name and a text, both padded (System V ABI, notes).
fn build_id(notes: &[u8], align: usize) -> Option<&[u8]> {
    let mut at = 0;
    while at < notes.len() {
        let word = |number: usize| Bytes(notes).u32(at + 4 * number).ok();
        let (name_len, len, kind) = (word(0)? as usize, word(1)? as usize, word(2)?);
        let name = at + 12;
        let text = name + name_len.checked_next_multiple_of(align)?;
        let end = text.checked_add(len)?;
        if kind == BUILD_ID && len > 0 && notes.get(name..name + name_len)? == OWNER {
            return notes.get(text..end);
        }
        at = end.checked_next_multiple_of(align)?;
    }
    None
}

/// Of eight bytes at a time (FNV-1a, with words in place of bytes): other builds have another one, unless somebody wants
/// them not to.
fn sum(bytes: &[u8]) -> u64 {
    let add = |sum: u64, word: [u8; 8]| {
        (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x100_0000_01b3).rotate_left(29)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64, |sum, word| add(sum, *word));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    add(sum, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(owner: &[u8], kind: u32, text: &[u8]) -> Vec<u8> {
        let mut note: Vec<u8> = [owner.len() as u32, text.len() as u32, kind]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        for part in [owner, text] {
            note.extend(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    #[test]
    fn the_build_id_is_found_among_other_notes() {
        let notes =
            [note(b"GNU\0", 1, &[7; 16]), note(b"Go\0", 3, b"no"), note(b"GNU\0", 3, b"abcde")].concat();
        assert_eq!(build_id(&notes, 4), Some(&b"abcde"[..]));
        assert_eq!(build_id(&notes[..notes.len() - 8], 4), None);
        assert_eq!((build_id(&[], 4), build_id(&[0xff; 40], 4)), (None, None));
        for len in 0..notes.len() - 3 {
            assert_eq!(build_id(&notes[..len], 4), None, "{len}");
        }
    }

    #[test]
    fn each_byte_counts() {
        let bytes = [1u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
        let whole = sum(&bytes);
        for at in 0..bytes.len() {
            let mut other = bytes;
            other[at] ^= 0x80;
            assert_ne!(sum(&other), whole, "{at}");
        }
        assert_ne!((sum(&[0; 8]), sum(&[0; 9])), (sum(&[0; 7]), sum(&[0; 10])));
    }
}
