//! Which build of which program this is: nodes of one job have to be the same.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

/// A build's mark: programs whose messages could mean different things have different ones.
pub type BuildId = [u8; 32];

/// That of this process: of the executable's length and build id, which linkers compute from all its content, or else of
/// the content itself; and of this library's version.
pub fn this_build() -> BuildId {
    static THIS: OnceLock<BuildId> = OnceLock::new();
    *THIS.get_or_init(|| {
        let mut hash = Sha256::new();
        hash.update(env!("CARGO_PKG_VERSION"));
        // Without the file there is nothing to tell builds apart by but the version.
        if let Ok(mark) = mark_of_executable() {
            hash.update(mark);
        }
        hash.finalize().into()
    })
}

/// The same in short, where it is compared among processes that trust each other.
pub fn build_number() -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| this_build()[i]))
}

/// Whether the executable can be read. Otherwise a process takes itself for another build than it is.
///
/// # Errors
/// The system's reason, such as too few descriptors.
pub fn check_readable() -> io::Result<()> {
    File::open("/proc/self/exe").map(drop)
}

/// The content is hashed to 32 bytes, so that a mark is short either way.
fn mark_of_executable() -> io::Result<Vec<u8>> {
    let mut file = File::open("/proc/self/exe")?;
    if let Some(mut id) = linker_id(&mut file)? {
        id.extend(file.metadata()?.len().to_le_bytes());
        return Ok(id);
    }
    file.rewind()?;
    let mut hash = Sha256::new();
    io::copy(&mut file, &mut hash)?;
    Ok(hash.finalize().to_vec())
}

/// Notes are looked for in so many bytes: real ones take some hundred.
const NOTES_MAX: u64 = 64 << 10;
const PT_NOTE: u32 = 4;
const NT_GNU_BUILD_ID: u32 = 3;

/// The note that `--build-id` makes, in a 64-bit ELF file.
fn linker_id(file: &mut (impl Read + Seek)) -> io::Result<Option<Vec<u8>>> {
    let header = read_at(file, 0, 64)?;
    if header[..5] != *b"\x7fELF\x02" {
        return Ok(None);
    }
    let (offset, size, count) = (u64_at(&header, 32), u16_at(&header, 54), u16_at(&header, 56));
    for i in 0..u64::from(count) {
        let program = read_at(file, offset + i * u64::from(size), 56)?;
        if u32_at(&program, 0) == PT_NOTE {
            let notes = read_at(file, u64_at(&program, 8), u64_at(&program, 32).min(NOTES_MAX))?;
            if let Some(id) = find_id(&notes) {
                return Ok(Some(id));
            }
        }
    }
    Ok(None)
}

/// The build id among the notes of an ELF file. Walks them: three words (lengths of name and content, kind), both
/// padded to words.
pub fn find_id(mut notes: &[u8]) -> Option<Vec<u8>> {
    while notes.len() >= 12 {
        let (name, content, kind) = (u32_at(notes, 0) as usize, u32_at(notes, 4) as usize, u32_at(notes, 8));
        let start = 12 + name.checked_next_multiple_of(4)?;
        let end = start.checked_add(content)?;
        if kind == NT_GNU_BUILD_ID && notes.get(12..12 + name)? == b"GNU\0" {
            return notes.get(start..end).map(<[u8]>::to_vec);
        }
        notes = notes.get(end.checked_next_multiple_of(4)?..)?;
    }
    None
}

fn read_at(file: &mut (impl Read + Seek), at: u64, len: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = vec![0; len as usize];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn a_process_has_one_and_keeps_it() {
        assert_eq!(this_build(), this_build());
        assert!(mark_of_executable().unwrap().len() >= 16);
    }

    #[test]
    fn the_note_is_found_behind_others() {
        let note = |name: &[u8], kind: u32, content: &[u8]| {
            let mut bytes = Vec::new();
            for word in [name.len() as u32, content.len() as u32, kind] {
                bytes.extend(word.to_le_bytes());
            }
            for part in [name, content] {
                bytes.extend(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        let mut notes = note(b"GNU\0", 1, b"12345");
        notes.extend(note(b"Other\0", 3, b"no"));
        assert_eq!(find_id(&notes), None);
        notes.extend(note(b"GNU\0", 3, b"the id"));
        assert_eq!(find_id(&notes).unwrap(), b"the id");
        notes.truncate(notes.len() - 4);
        assert_eq!(find_id(&notes), None);
        assert_eq!(find_id(&[255; 40]), None);
    }

    #[test]
    fn other_files_have_none() {
        assert_eq!(linker_id(&mut Cursor::new([0; 64])).unwrap(), None);
        assert!(linker_id(&mut Cursor::new([0; 10])).is_err());
    }
}
