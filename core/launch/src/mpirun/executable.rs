//! The file of an MPI program: where it is, and whether ranks can run it at all.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Finds a program as a shell does, seen from this folder.
///
/// # Errors
/// If there is none.
pub fn find(program: &OsStr, folder: Option<&Path>) -> Result<PathBuf, String> {
    let here = std::env::current_dir().map_err(|error| format!("this folder is not known: {error}"))?;
    let here = folder.map_or(here.clone(), |folder| here.join(folder));
    if program.as_encoded_bytes().contains(&b'/') {
        let file = here.join(program);
        return if file.exists() {
            Ok(file)
        } else {
            Err(format!("there is no program `{}`", program.display()))
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&path).map(|folder| here.join(folder).join(program));
    files.find(|file| is_runnable(file)).ok_or_else(|| {
        format!("there is no program `{0}` in PATH; if it is here, write ./{0}", program.display())
    })
}

fn is_runnable(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Looks whether a file can be a program of ranks, by its first bytes.
///
/// # Errors
/// If it cannot, with the reason.
pub fn check(file: &Path) -> Result<(), String> {
    let name = file.display();
    if !is_runnable(file) {
        return Err(format!("`{name}` is no program that you may run"));
    }
    let head = head(file).map_err(|error| format!("`{name}` cannot be read: {error}"))?;
    let refused = why_not(&head);
    refused.map_or(Ok(()), |why| Err(format!("`{name}` {why}")))
}

/// The header of an executable (System V ABI, ELF header): identification, type and machine.
const HEAD: usize = 20;

fn head(file: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(file)?.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Its type in the header: it has to be at the addresses that it was linked for.
const EXECUTABLE: u16 = 2;

/// Whether a program that ranks can run is not position-independent: a process can have it once.
pub fn is_fixed(file: &Path) -> bool {
    head(file).is_ok_and(|head| head.get(16..18) == Some(&EXECUTABLE.to_le_bytes()))
}

fn why_not(head: &[u8]) -> Option<String> {
    const CLASS_64: u8 = 2;
    const LITTLE_ENDIAN: u8 = 1;
    const SHARED: u16 = 3;
    const X86_64: u16 = 62;
    if head.starts_with(b"#!") {
        return Some("is a script: ranks run executables, so give what it starts".into());
    }
    if head.len() < HEAD || !head.starts_with(b"\x7fELF") {
        return Some("is no executable".into());
    }
    let word = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    match (head[4], head[5], word(16), word(18)) {
        (CLASS_64, LITTLE_ENDIAN, SHARED | EXECUTABLE, X86_64) => None,
        (CLASS_64, LITTLE_ENDIAN, _, X86_64) => Some("is no executable, but another object of x86_64".into()),
        _ => Some("is for another machine: ranks run on x86_64, in 64 bits".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(class: u8, order: u8, kind: u16, machine: u16) -> Vec<u8> {
        let mut head = b"\x7fELF".to_vec();
        head.extend([class, order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        head.extend([kind.to_le_bytes(), machine.to_le_bytes()].concat());
        head
    }

    #[test]
    fn what_ranks_cannot_run_is_refused_with_the_reason() {
        let refused = |head: &[u8]| why_not(head).expect("it is refused");
        assert_eq!((why_not(&elf(2, 1, 3, 62)), why_not(&elf(2, 1, 2, 62))), (None, None));
        assert!(refused(b"#!/bin/sh\nexec lmp").contains("script"));
        assert!(refused(b"").contains("no executable"));
        assert!(refused(&elf(2, 1, 3, 62)[..19]).contains("no executable"));
        assert!(refused(&elf(2, 1, 1, 62)).contains("another object"));
        for other in [elf(1, 1, 3, 62), elf(2, 1, 3, 183), elf(2, 2, 3, 62), elf(1, 1, 2, 3)] {
            assert!(refused(&other).contains("another machine"));
        }
    }

    #[test]
    fn programs_are_found_as_by_a_shell() {
        assert!(find(OsStr::new("sh"), None).unwrap().is_absolute());
        assert!(find(OsStr::new("no-such-program"), None).unwrap_err().contains("./no-such-program"));
        assert!(find(OsStr::new("./no-such"), None).unwrap_err().contains("no program `./no-such`"));
        let bin = Path::new("/bin");
        assert_eq!(find(OsStr::new("./sh"), Some(bin)).unwrap(), Path::new("/bin/./sh"));
        assert!(check(bin).unwrap_err().contains("may run"));
        let sh = find(OsStr::new("sh"), None).unwrap();
        assert_eq!(check(&sh), Ok(()));
    }
}
