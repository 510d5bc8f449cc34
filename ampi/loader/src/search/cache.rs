//! The list of libraries that ldconfig(8) makes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::Malformed;
use crate::elf::Bytes;

const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
/// An older list may stand before the one that is used.
const OLD_MAGIC: &[u8] = b"ld.so-1.7.0";
const OLD_HEADER: usize = 16;
const OLD_ENTRY: usize = 12;
const HEADER: usize = 48;
const ENTRY: usize = 24;
/// A library of the GNU C library, for x86-64.
const X86_64: u32 = 0x0303;

/// Names of libraries and where they are.
#[derive(Debug, Default)]
pub struct Cache(HashMap<String, PathBuf>);

impl Cache {
    /// A list that is not there or makes no sense is as good as none.
    pub fn read(path: &Path) -> Cache {
        let bytes = std::fs::read(path).unwrap_or_default();
        Cache::parse(Bytes(&bytes)).unwrap_or_default()
    }

    pub fn find(&self, name: &str) -> Option<PathBuf> {
        self.0.get(name).cloned()
    }

    fn parse(file: Bytes<'_>) -> Result<Cache, Malformed> {
        let list = skip_old(file)?;
        if list.slice(0, MAGIC.len())? != MAGIC {
            return Ok(Cache::default());
        }
        let mut found = HashMap::new();
        for i in 0..list.u32(MAGIC.len())? as usize {
            let entry = Bytes(list.slice(HEADER + i * ENTRY, ENTRY)?);
            // Variants for certain processors are left out: a rank may move to a host that has another one.
            if entry.u32(0)? != X86_64 || entry.word(16)? != 0 {
                continue;
            }
            let text =
                |at: u32| list.name(at as usize).map(|name| String::from_utf8_lossy(name).into_owned());
            let (name, path) = (text(entry.u32(4)?)?, text(entry.u32(8)?)?);
            found.entry(name).or_insert_with(|| path.into());
        }
        Ok(Cache(found))
    }
}

fn skip_old(file: Bytes<'_>) -> Result<Bytes<'_>, Malformed> {
    if !file.0.starts_with(OLD_MAGIC) {
        return Ok(file);
    }
    let entries = file.u32(12)? as usize;
    let end = (OLD_HEADER + entries * OLD_ENTRY).next_multiple_of(8);
    file.slice(end, file.0.len().saturating_sub(end)).map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[(u32, &str, &str, u64)]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((entries.len() as u32).to_le_bytes());
        bytes.resize(HEADER, 0);
        let mut names: Vec<u8> = Vec::new();
        let start = HEADER + entries.len() * ENTRY;
        for (flags, name, path, features) in entries {
            let mut at = |text: &str| {
                let at = (start + names.len()) as u32;
                names.extend(text.as_bytes().iter().chain(&[0]));
                at.to_le_bytes()
            };
            bytes.extend(flags.to_le_bytes());
            bytes.extend(at(name));
            bytes.extend(at(path));
            bytes.extend([0; 4]);
            bytes.extend(features.to_le_bytes());
        }
        bytes.extend(names);
        bytes
    }

    #[test]
    fn libraries_of_this_machine_are_found() {
        let bytes = list(&[
            (0x0803, "libm.so.6", "/x32/libm.so.6", 0),
            (X86_64, "libm.so.6", "/fast/libm.so.6", 1 << 62),
            (X86_64, "libm.so.6", "/lib/libm.so.6", 0),
        ]);
        let cache = Cache::parse(Bytes(&bytes)).expect("a list that makes sense");
        assert_eq!(cache.find("libm.so.6"), Some("/lib/libm.so.6".into()));
        assert_eq!(cache.find("libx.so"), None);
    }

    #[test]
    fn a_list_that_ends_too_early_is_refused() {
        let bytes = list(&[(X86_64, "a", "/a", 0)]);
        for len in 1..bytes.len() {
            assert!(Cache::parse(Bytes(&bytes[..len])).is_err(), "{len} of {} bytes", bytes.len());
        }
    }
}
