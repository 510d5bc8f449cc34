//! The first bytes of a file: what it is, and where its program headers are (System V ABI, chapter 4).

use super::Bytes;
use crate::Malformed;

/// Length of one program header.
pub const PROGRAM_HEADER: usize = 56;

const EXECUTABLE: u16 = 2;
const SHARED: u16 = 3;
const X86_64: u16 = 62;

/// What a file is.
#[derive(Debug, PartialEq, Eq)]
pub enum Identity {
    /// An executable or library of this machine.
    Elf(Header),
    /// A script, with the interpreter that its first line names.
    Script(String),
    /// Made for another machine.
    Foreign(String),
    /// Anything else.
    Other,
}

/// The header of a 64-bit x86-64 file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whether it can be at any address (`ET_DYN`).
    pub movable: bool,
    /// Address of the first instruction.
    pub entry: usize,
    /// Offset of the program headers in the file.
    pub headers: usize,
    /// How many there are.
    pub count: usize,
}

/// Looks at the first bytes of a file.
pub fn identify(start: &[u8]) -> Result<Identity, Malformed> {
    if let Some(line) = start.strip_prefix(b"#!") {
        return Ok(Identity::Script(first_line(line)));
    }
    if !start.starts_with(b"\x7fELF") {
        return Ok(Identity::Other);
    }
    let bytes = Bytes(start);
    let ident = bytes.slice(0, 16)?;
    if ident[4] != 2 {
        return Ok(Identity::Foreign("a 32-bit machine".into()));
    }
    if ident[5] != 1 {
        return Ok(Identity::Foreign("a big-endian machine".into()));
    }
    match bytes.u16(18)? {
        X86_64 => header(bytes).map(Identity::Elf),
        other => Ok(Identity::Foreign(machine(other))),
    }
}

fn header(bytes: Bytes<'_>) -> Result<Header, Malformed> {
    let movable = match bytes.u16(16)? {
        SHARED => true,
        EXECUTABLE => false,
        _ => return Err(Malformed { what: "it is neither an executable nor a library", at: 16 }),
    };
    if usize::from(bytes.u16(54)?) != PROGRAM_HEADER {
        return Err(Malformed { what: "its program headers have another length than they should", at: 54 });
    }
    let (entry, headers, count) = (bytes.word(24)?, bytes.word(32)?, usize::from(bytes.u16(56)?));
    Ok(Header { movable, entry, headers, count })
}

fn first_line(text: &[u8]) -> String {
    let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    String::from_utf8_lossy(&text[..end]).trim().to_owned()
}

/// Names of the machines that MPI programs are built for (the registry of `e_machine`).
fn machine(number: u16) -> String {
    let name = match number {
        3 => "32-bit x86",
        20 | 21 => "PowerPC",
        40 => "32-bit ARM",
        183 => "aarch64",
        243 => "RISC-V",
        _ => return format!("machine number {number}"),
    };
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(class: u8, data: u8, machine: u16) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..4].copy_from_slice(b"\x7fELF");
        (bytes[4], bytes[5]) = (class, data);
        bytes[16..18].copy_from_slice(&SHARED.to_le_bytes());
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes[54..56].copy_from_slice(&(PROGRAM_HEADER as u16).to_le_bytes());
        bytes
    }

    #[test]
    fn kinds_of_files_are_told_apart() {
        assert_eq!(identify(b"#! /bin/sh -e\nexit"), Ok(Identity::Script("/bin/sh -e".into())));
        assert_eq!(identify(b"hello"), Ok(Identity::Other));
        assert!(matches!(identify(&elf(2, 1, X86_64)), Ok(Identity::Elf(Header { movable: true, .. }))));
        assert_eq!(identify(&elf(2, 1, 183)), Ok(Identity::Foreign("aarch64".into())));
        assert_eq!(identify(&elf(1, 1, 3)), Ok(Identity::Foreign("a 32-bit machine".into())));
        assert!(identify(&elf(2, 1, X86_64)[..40]).is_err());
    }
}
