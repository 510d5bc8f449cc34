//! Bytes as an executable. `cargo test -p talisman-loader --test run hostile` does the same with the corpus, on a stable
//! compiler.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use talisman_loader::{Explanation, LoadError, NoImports, Program, Search, explain};

/// Reads the bytes as an executable: it is refused, or all that is said of it makes sense. Whether it could be run.
pub fn run(data: &[u8]) -> bool {
    let file = Temporary::new(data);
    let search = Search { library_path: Vec::new(), cache: None, defaults: Vec::new(), ..Search::default() };
    if let Ok(explanation) = explain(&file.0, &search, &NoImports) {
        assert!(!explanation.to_string().is_empty());
    }
    match Program::prepare_fixed(&file.0, &search, &NoImports) {
        Ok(program) => check(&program),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    }
    true
}

/// What a seed means.
#[allow(dead_code, reason = "the fuzz target does not ask")]
pub fn explained(data: &[u8]) -> Result<Explanation, LoadError> {
    let file = Temporary::new(data);
    explain(&file.0, &Search::default(), &NoImports)
}

/// Parts are in order and inside of the image.
fn check(program: &Program) {
    let mut end = 0;
    for part in program.parts() {
        assert!(part.offset >= end, "{part:?} begins before {end:#x}");
        end = part.offset + part.len;
    }
    assert!(end <= program.span());
    program.name_of(program.entry(0));
}

struct Temporary(PathBuf);

impl Temporary {
    fn new(data: &[u8]) -> Temporary {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("talisman-executable-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, data).expect("the folder for temporary files can be written to");
        Temporary(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed is a temporary file.
        let _left = std::fs::remove_file(&self.0);
    }
}

/// The committed files.
#[allow(dead_code, reason = "the fuzz target reads the files")]
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("program", program(3, 0)),
        ("fixed", program(2, 0x40_0000)),
        ("script", b"#!/bin/sh\n".to_vec()),
        ("empty", Vec::new()),
    ]
}

/// A small executable with something of each kind, of this type (`e_type`), linked for this address.
fn program(kind: u16, start: u64) -> Vec<u8> {
    let mut file = vec![0; 0x1500];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"\x7fELF\x02\x01\x01");
    put(16, &[kind.to_le_bytes(), 62u16.to_le_bytes()].concat());
    put(20, &1u32.to_le_bytes());
    put(24, &words(&[start + 0x580, 64]));
    put(52, &[64u16, 56, 5].map(u16::to_le_bytes).concat());
    let segment = |kind: u64, flags: u64, at: u64, file: u64, len: u64| {
        words(&[kind | flags << 32, at, start + at, start + at, file, len, 16])
    };
    let segments = [
        segment(3, 4, 0x2c0, 8, 8),
        segment(1, 5, 0, 0x600, 0x600),
        segment(1, 6, 0x1000, 0x500, 0x1800),
        segment(2, 6, 0x1000, 0x1c0, 0x1c0),
        segment(7, 4, 0x1400, 16, 32),
    ];
    put(64, &segments.concat());
    put(0x200, b"\0libc.so.6\0printf\0own\0local\0GLIBC_2.2.5\0environ\0");
    // Names, kinds and sections, values, sizes: a function that is wanted, one of its own, a thread-local, a copy.
    let symbol = |name: u64, info: u64, section: u64, value: u64| {
        words(&[name | info << 32 | section << 48, value, 8])
    };
    let symbols = [
        symbol(0, 0, 0, 0),
        symbol(11, 0x12, 0, 0),
        symbol(18, 0x12, 1, start + 0x580),
        symbol(22, 0x16, 2, 0),
        symbol(40, 0x11, 2, start + 0x1600),
    ];
    put(0x300, &symbols.concat());
    put(0x400, &[1u32, 5, 1, 0, 2, 3, 4, 0].map(u32::to_le_bytes).concat());
    let relocation =
        |at: u64, symbol: u64, kind: u64, addend: u64| words(&[start + at, symbol << 32 | kind, addend]);
    let relocations = [
        relocation(0x1200, 0, 8, start + 0x580),
        relocation(0x1208, 1, 6, 0),
        relocation(0x1210, 2, 1, 4),
        relocation(0x1218, 3, 18, 0),
        relocation(0x1220, 3, 16, 0),
        relocation(0x1230, 0, 37, start + 0x580),
        relocation(0x1600, 4, 5, 0),
    ];
    put(0x480, &relocations.concat());
    let dynamic = [
        [1, 1],
        [5, start + 0x200],
        [10, 48],
        [6, start + 0x300],
        [4, start + 0x400],
        [7, start + 0x480],
        [8, relocations.len() as u64 * 24],
        [25, start + 0x1200],
        [27, 8],
        [12, start + 0x580],
        [0x6fff_fff0, start + 0x2e0],
        [0x6fff_fffe, start + 0x560],
        [0, 0],
    ];
    put(0x1000, &words(&dynamic.concat()));
    // Versions of symbols: the function that is wanted has one.
    put(0x2e0, &[0u16, 2, 1, 1, 1].map(u16::to_le_bytes).concat());
    put(0x560, &[1u16, 1].map(u16::to_le_bytes).concat());
    put(0x564, &[1u32, 16, 0].map(u32::to_le_bytes).concat());
    put(0x570, &[0u32, 2 << 16, 28, 0].map(u32::to_le_bytes).concat());
    file
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
