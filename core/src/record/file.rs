//! A record's file: a header, then blocks.
//!
//! | bytes | are |
//! |---|---|
//! | 16 | `talisman-record` and a line feed |
//! | 4 | the version of the format, little-endian, as all numbers |
//! | 8, 4, 4, … | a block: its length, its CRC-32, the CRC-32 of these twelve bytes, then packed items, one after the other |
//!
//! The first block is the [`Origin`] alone. A block is written at once, and none is ever changed. So of a process that
//! died all is there but what it had not written yet; a block that it was about to write may be there in part. That a length is
//! another has to be seen by itself: else what follows would be taken for such a part.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;

use super::item::{Item, Origin};
use talisman_base::build::build_number;
use talisman_job::options::{PES_MAX, PROCESSES_MAX, RECORD_ENDING};
use talisman_pup::{Pup, PupError, Purpose, Unpacker, from_bytes, to_bytes};

/// How all files begin.
const MAGIC: &[u8; 16] = b"talisman-record\n";
/// What this writes. It changes with what items are.
pub const FORMAT: u32 = 4;
/// Before a block: its length and sum, and the sum of both.
const BLOCK_HEAD: usize = 16;
const SUMMED: usize = 12;

/// A record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The system refuses.
    #[error("{} cannot be read: {why}", file.display())]
    Refused {
        /// Which file, or folder.
        file: PathBuf,
        /// What it says.
        why: io::Error,
    },
    /// The folder has no such PE.
    #[error("{} has no record of PE {pe}; it has {has}", folder.display())]
    NoSuchPe {
        /// The folder.
        folder: PathBuf,
        /// Which was asked for.
        pe: u32,
        /// In words.
        has: String,
    },
    /// It is something else, or not even its header is whole.
    #[error("{} is no record: {why}", file.display())]
    Other {
        /// Which file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// It is another user's. The program that a record names is started.
    #[error("{} belongs to the user {owner}, and a record has a program started: if you trust it, copy it", file.display())]
    OfAnother {
        /// Which file.
        file: PathBuf,
        /// The user's number.
        owner: u32,
    },
    /// A block is not what was written.
    #[error("{} is damaged at byte {at}: {why}", file.display())]
    Damaged {
        /// Which file.
        file: PathBuf,
        /// Where the block begins.
        at: u64,
        /// What is wrong.
        why: String,
    },
}

/// The name of the file of a PE, in a process of this life.
pub fn name_of(pe: u32, life: u64) -> String {
    format!("pe-{pe}.{life}{RECORD_ENDING}")
}

/// The PEs and lives that a folder has records of, in order.
///
/// # Errors
/// It cannot be looked into.
pub fn records_in(folder: &Path) -> Result<Vec<(u32, u64)>, RecordError> {
    let refused = |why| RecordError::Refused { file: folder.to_owned(), why };
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder).map_err(refused)? {
        let name = file.map_err(refused)?.file_name();
        let numbers = name.to_str().and_then(|name| name.strip_prefix("pe-")?.strip_suffix(RECORD_ENDING));
        let numbers = numbers.and_then(|numbers| numbers.split_once('.'));
        found.extend(numbers.and_then(|(pe, life)| Some((pe.parse().ok()?, life.parse().ok()?))));
    }
    found.sort_unstable();
    Ok(found)
}

/// The file of a PE in a folder: of its last process, if there were several.
///
/// # Errors
/// There is none.
pub fn find(folder: &Path, pe: u32) -> Result<PathBuf, RecordError> {
    let all = records_in(folder)?;
    if let Some((_, life)) = all.iter().rfind(|(of, _)| *of == pe) {
        return Ok(folder.join(name_of(pe, *life)));
    }
    let mut pes: Vec<u32> = all.into_iter().map(|(pe, _)| pe).collect();
    pes.dedup();
    let has = match pes[..] {
        [] => "none: give a folder that a program wrote with --record".into(),
        [one] => format!("that of PE {one}"),
        [first, .., last] => format!("{} of them, of PEs {first} to {last}", pes.len()),
    };
    Err(RecordError::NoSuchPe { folder: folder.to_owned(), pe, has })
}

/// Writes the header and what follows from it.
///
/// # Errors
/// What the system says.
pub fn begin(mut file: impl Write, origin: &Origin) -> io::Result<()> {
    let mut header = MAGIC.to_vec();
    header.extend(FORMAT.to_le_bytes());
    append_block(&mut header, &to_bytes(origin));
    file.write_all(&header)
}

/// A block of packed items.
///
/// # Errors
/// What the system says.
pub fn write_block(mut file: impl Write, items: &[u8]) -> io::Result<()> {
    let mut block = Vec::with_capacity(BLOCK_HEAD + items.len());
    append_block(&mut block, items);
    file.write_all(&block)
}

fn append_block(to: &mut Vec<u8>, content: &[u8]) {
    let begin = to.len();
    to.extend((content.len() as u64).to_le_bytes());
    to.extend(crc32fast::hash(content).to_le_bytes());
    to.extend(crc32fast::hash(&to[begin..]).to_le_bytes());
    to.extend(content);
}

/// A file that is read, block by block.
pub struct RecordFile {
    path: PathBuf,
    input: BufReader<File>,
    length: u64,
    /// Where the next block begins.
    at: u64,
    is_torn: bool,
    /// Of which process it is.
    pub origin: Origin,
}

impl RecordFile {
    /// # Errors
    /// There is no such file, it is another user's, no record, or one of another format.
    pub fn open(path: &Path) -> Result<RecordFile, RecordError> {
        let refused = |why| RecordError::Refused { file: path.to_owned(), why };
        // A pipe of this name would be waited for.
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::NONBLOCK.bits() as i32)
            .open(path)
            .map_err(refused)?;
        let found = file.metadata().map_err(refused)?;
        if found.uid() != geteuid().as_raw() {
            return Err(RecordError::OfAnother { file: path.to_owned(), owner: found.uid() });
        }
        if !found.is_file() {
            let why = "it is no ordinary file".into();
            return Err(RecordError::Other { file: path.to_owned(), why });
        }
        let length = found.len();
        let (input, origin, at) = (BufReader::new(file), Origin::default(), 0);
        let mut record = RecordFile { path: path.to_owned(), input, length, at, is_torn: false, origin };
        record.read_header()?;
        Ok(record)
    }

    fn read_header(&mut self) -> Result<(), RecordError> {
        let mut header = [0; 20];
        if self.length < header.len() as u64 {
            return Err(self.is_other("it ends within its header"));
        }
        self.read_exact(&mut header)?;
        let format = u32::from_le_bytes([header[16], header[17], header[18], header[19]]);
        match header.starts_with(MAGIC) {
            false => return Err(self.is_other("it begins with something else")),
            true if format != FORMAT => {
                let why = format!("its format is {format}, and this version of Talisman reads {FORMAT}");
                return Err(self.is_other(&why));
            }
            true => self.at = header.len() as u64,
        }
        let Some(origin) = self.next_block()? else { return Err(self.is_other("it ends within its header")) };
        self.origin = self.read_as(&origin, self.at)?;
        let Origin { pe, nodes, pes_per_node: pes, .. } = self.origin;
        let is_known = nodes <= PROCESSES_MAX && pes <= PES_MAX && pe / pes.max(1) < nodes;
        match is_known && pes > 0 {
            true => Ok(()),
            false => Err(self.is_other(&format!("it is of PE {pe} of {nodes} nodes of {pes} each"))),
        }
    }

    /// The items of the next block; none if that is not there, or only in part.
    ///
    /// # Errors
    /// It is not what was written.
    pub fn next_items(&mut self) -> Result<Option<Vec<Item>>, RecordError> {
        let at = self.at;
        let Some(block) = self.next_block()? else { return Ok(None) };
        let mut unpacker = Unpacker::new(&block, Purpose::Message);
        let mut items = Vec::new();
        while unpacker.left() > 0 {
            items.push(Item::unpack(&mut unpacker).map_err(|why| self.is_damaged(at, why.to_string()))?);
        }
        Ok(Some(items))
    }

    /// Whether this executable wrote it.
    pub fn is_of_this_build(&self) -> bool {
        self.origin.build == build_number()
    }

    /// Whether it ended in the midst of a block.
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    fn next_block(&mut self) -> Result<Option<Vec<u8>>, RecordError> {
        // What is left is a part of a block, however often it is asked.
        if self.is_torn {
            return Ok(None);
        }
        let (at, left) = (self.at, self.length.saturating_sub(self.at));
        if left < BLOCK_HEAD as u64 {
            self.is_torn = left > 0;
            return Ok(None);
        }
        let mut head = [0; BLOCK_HEAD];
        self.read_exact(&mut head)?;
        let length = u64::from_le_bytes(head[..8].try_into().expect("eight bytes"));
        let [sum, sum_of_both] =
            [8, SUMMED].map(|at| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes")));
        if crc32fast::hash(&head[..SUMMED]) != sum_of_both {
            return Err(self.is_damaged(at, "its length is not what was written".into()));
        }
        if length > left - BLOCK_HEAD as u64 {
            self.is_torn = true;
            return Ok(None);
        }
        // It is no longer than the file.
        let mut block = vec![0; length as usize];
        self.read_exact(&mut block)?;
        self.at += BLOCK_HEAD as u64 + length;
        match crc32fast::hash(&block) {
            found if found == sum => Ok(Some(block)),
            found => {
                let why = format!("the sum of {length} bytes is {found:08x}, and was {sum:08x}");
                Err(self.is_damaged(at, why))
            }
        }
    }

    fn read_exact(&mut self, bytes: &mut [u8]) -> Result<(), RecordError> {
        let read = self.input.read_exact(bytes);
        read.map_err(|why| RecordError::Refused { file: self.path.clone(), why })
    }

    fn read_as<T: Pup>(&self, bytes: &[u8], at: u64) -> Result<T, RecordError> {
        from_bytes(bytes).map_err(|why: PupError| self.is_damaged(at, why.to_string()))
    }

    fn is_other(&self, why: &str) -> RecordError {
        RecordError::Other { file: self.path.clone(), why: why.into() }
    }

    fn is_damaged(&self, at: u64, why: String) -> RecordError {
        RecordError::Damaged { file: self.path.clone(), at, why }
    }
}
