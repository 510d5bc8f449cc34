//! A part of a trace, as a file: a header, then blocks.
//!
//! | bytes | are |
//! |---|---|
//! | 16 | `talisman-trace-p` |
//! | 4 | the version of the format, little-endian, as all numbers |
//! | 4, 4, 4, … | a block: its length, its CRC-32, the CRC-32 of these eight bytes, then its content |
//!
//! The first block is the [`Origin`], packed. Each other one is of one PE: its number and epoch (4 bytes each), how many
//! items were dropped so far (8), a moment by its clock in ticks and by the system's in nanoseconds (8 each), and then what
//! it wrote, whole [`Item`](talisman_observe::trace::words::Item)s, all of them from before that moment.
//!
//! A block is written at once, and none is ever changed. Of a process that died all is there but what it had not written
//! yet; a block that it was about to write may be there in part. A length that is another would look like that, so it has a
//! sum of its own.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use super::decoder::Decoder;
use talisman_job::options::{NODES_MAX, PES_MAX};
use talisman_observe::trace::Record;
use talisman_pup::{Pup, from_bytes, to_bytes};

const MAGIC: &[u8; 16] = b"talisman-trace-p";
/// What this writes. It changes with what items are.
pub const FORMAT: u32 = 5;
/// Before a block: its length and sum, and the sum of both.
const BLOCK_HEAD: usize = 12;
const SUMMED: usize = 8;
/// Before the items of a block.
const STRIP_HEAD: usize = 32;
/// No block is longer: a ring has fewer words, and a header some names.
const BLOCK_MAX: usize = 64 << 20;

/// A part of a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// The system refuses.
    #[error("{} cannot be read: {why}", file.display())]
    Refused {
        /// Which file.
        file: PathBuf,
        /// What it says.
        why: io::Error,
    },
    /// It is something else, or not even its header is whole.
    #[error("{} is no part of a trace: {why}", file.display())]
    Other {
        /// Which file.
        file: PathBuf,
        /// What is wrong.
        why: String,
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

/// Of which process a part is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Origin {
    /// The program's name.
    pub program: String,
    /// The first node of the process.
    pub node: u32,
    /// So many nodes are in the process, from that on: one, unless the job is simulated.
    pub nodes_here: u32,
    /// Nodes of the job, as far as they have numbers.
    pub nodes: u32,
    pub pes_per_node: u32,
    /// Which process of the node it is, in a job that logs: a later one's PEs do again what those before it did.
    pub life: u64,
    /// The number of the host.
    pub host: u32,
    /// The program's start by the host's monotonic clock, in nanoseconds.
    pub start_ns: u64,
    /// The same moment by its calendar, in nanoseconds since 1970.
    pub calendar_ns: u64,
    /// A moment by the clock of the PEs, in ticks, and by the monotonic clock.
    pub moment: Moment,
    /// The chares of the program, by their numbers.
    pub chares: Vec<ChareNames>,
}

impl Origin {
    /// Names of chares whose objects can be moved.
    pub fn movable(&self) -> Vec<&str> {
        self.chares.iter().filter(|chare| chare.moves).map(|chare| chare.name.as_str()).collect()
    }
}

/// A moment by two clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pup)]
pub struct Moment {
    /// By that of the PEs.
    pub ticks: u64,
    /// By the host's monotonic clock, in nanoseconds.
    pub ns: u64,
}

/// What a chare and its entries are called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct ChareNames {
    pub name: String,
    pub entries: Vec<String>,
    /// Whether its objects can be moved.
    pub moves: bool,
}

/// What one PE did up to a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strip {
    pub pe: u32,
    /// The period between two losses in which the PE lives.
    pub epoch: u32,
    /// Items of its that were dropped so far.
    pub dropped: u64,
    pub moment: Moment,
    pub records: Vec<Record>,
}

/// Writes the header.
///
/// # Errors
/// What the system says.
pub fn begin(mut file: impl Write, origin: &Origin) -> io::Result<()> {
    let mut header = MAGIC.to_vec();
    header.extend(FORMAT.to_le_bytes());
    append_block(&mut header, &to_bytes(origin));
    file.write_all(&header)
}

/// A block of one PE that is being made. One is used again and again: its memory stays.
#[derive(Debug, Default)]
pub struct Block {
    bytes: Vec<u8>,
}

impl Block {
    /// Begins with a PE in this epoch, of which so many items were dropped. What it wrote is to be appended, in bytes.
    pub fn begin(&mut self, pe: u32, epoch: u32, dropped: u64) -> &mut Vec<u8> {
        self.bytes.clear();
        self.bytes.resize(BLOCK_HEAD, 0);
        self.bytes.extend(pe.to_le_bytes());
        self.bytes.extend(epoch.to_le_bytes());
        self.bytes.extend(dropped.to_le_bytes());
        self.bytes.resize(BLOCK_HEAD + STRIP_HEAD, 0);
        &mut self.bytes
    }

    /// All of it was written before this moment. The block as it is in a file.
    pub fn end(&mut self, moment: Moment) -> &[u8] {
        let (head, content) = self.bytes.split_at_mut(BLOCK_HEAD);
        content[16..24].copy_from_slice(&moment.ticks.to_le_bytes());
        content[24..STRIP_HEAD].copy_from_slice(&moment.ns.to_le_bytes());
        head.copy_from_slice(&head_of(content));
        &self.bytes
    }
}

fn append_block(file: &mut Vec<u8>, content: &[u8]) {
    file.extend(head_of(content));
    file.extend(content);
}

fn head_of(content: &[u8]) -> [u8; BLOCK_HEAD] {
    let mut head = [0; BLOCK_HEAD];
    head[..4].copy_from_slice(&(content.len() as u32).to_le_bytes());
    head[4..SUMMED].copy_from_slice(&crc32fast::hash(content).to_le_bytes());
    let sum = crc32fast::hash(&head[..SUMMED]);
    head[SUMMED..].copy_from_slice(&sum.to_le_bytes());
    head
}

/// A part that is being read, from its beginning.
pub struct PartReader<R = BufReader<File>> {
    file: PathBuf,
    from: R,
    /// Where the next block begins.
    at: u64,
    is_cut: bool,
    origin: Origin,
    /// What is known of each PE, in each of its lives.
    decoders: HashMap<(u32, u32), Decoder>,
}

impl PartReader {
    /// That of a file.
    ///
    /// # Errors
    /// It is no part of a trace, or cannot be read.
    pub fn open(file: &Path) -> Result<PartReader, PartError> {
        let from = File::open(file).map_err(|why| PartError::Refused { file: file.to_owned(), why })?;
        PartReader::read(file, BufReader::with_capacity(1 << 20, from))
    }
}

impl<R: Read> PartReader<R> {
    /// Reads what is called so in errors.
    ///
    /// # Errors
    /// It is no part of a trace, or cannot be read.
    pub fn read(file: &Path, mut from: R) -> Result<PartReader<R>, PartError> {
        let other = |why: &str| PartError::Other { file: file.to_owned(), why: why.into() };
        let mut head = [0; MAGIC.len() + 4];
        from.read_exact(&mut head).map_err(|_| other("it is too short"))?;
        let version = u32::from_le_bytes(std::array::from_fn(|i| head[MAGIC.len() + i]));
        match &head[..MAGIC.len()] {
            magic if magic != MAGIC => return Err(other("it begins with something else")),
            _ if version != FORMAT => return Err(other(&format!("its format is {version}, not {FORMAT}"))),
            _ => {}
        }
        let (file, at) = (file.to_owned(), head.len() as u64);
        let (origin, decoders) = (Origin::default(), HashMap::new());
        let mut reader = PartReader { file, from, at, is_cut: false, origin, decoders };
        let header = reader.block()?.ok_or_else(|| reader.other("its header is not whole"))?;
        reader.origin = from_bytes(&header).map_err(|why| reader.other(&why.to_string()))?;
        let Origin { node, nodes_here, nodes, .. } = reader.origin;
        let is_within = node.checked_add(nodes_here).is_some_and(|end| end <= nodes && nodes <= NODES_MAX);
        match reader.origin.pes_per_node {
            1..=PES_MAX if is_within => Ok(reader),
            _ => Err(reader.other("it is of nodes that there cannot be")),
        }
    }

    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Whether the last block was there in part only: the process died while it wrote it.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The next strip, none at the end.
    ///
    /// # Errors
    /// A block is damaged, or the system refuses.
    pub fn next_strip(&mut self) -> Result<Option<Strip>, PartError> {
        let begins = self.at;
        let Some(content) = self.block()? else { return Ok(None) };
        let file = self.file.clone();
        let damaged = |why: &str| PartError::Damaged { file: file.clone(), at: begins, why: why.into() };
        let Some((head, items)) = content.split_at_checked(STRIP_HEAD) else {
            return Err(damaged("it is too short"));
        };
        let (words, rest) = items.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(damaged("it ends within a word"));
        }
        let short = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        let (pe, epoch) = (short(0), short(4));
        let life = self.origin.life;
        let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let decoder = self.decoders.entry((pe, epoch)).or_insert_with(|| Decoder::of(pe, life));
        let records = decoder.read(&words).map_err(|why| damaged(&why))?;
        let moment = Moment { ticks: long(16), ns: long(24) };
        Ok(Some(Strip { pe, epoch, dropped: long(8), moment, records }))
    }

    fn other(&self, why: &str) -> PartError {
        PartError::Other { file: self.file.clone(), why: why.into() }
    }

    /// The content of the next block; none at the end, or if it is cut off.
    fn block(&mut self) -> Result<Option<Vec<u8>>, PartError> {
        let begins = self.at;
        let head = self.bytes(BLOCK_HEAD)?;
        let Ok(words) = <[[u8; 4]; 3]>::try_from(head.as_chunks::<4>().0) else { return Ok(None) };
        let [length, sum, sum_of_both] = words.map(u32::from_le_bytes);
        let length = length as usize;
        let file = self.file.clone();
        let damaged = |why: String| Err(PartError::Damaged { file, at: begins, why });
        if crc32fast::hash(&head[..SUMMED]) != sum_of_both {
            return damaged("its length is not what was written".into());
        }
        if length > BLOCK_MAX {
            return damaged(format!("a block of {length} bytes"));
        }
        let content = self.bytes(length)?;
        if content.len() < length {
            return Ok(None);
        }
        match crc32fast::hash(&content) == sum {
            true => Ok(Some(content)),
            false => damaged("its checksum is another".into()),
        }
    }

    /// So many bytes, or as many as there are: then the file is cut, unless there is none at all.
    fn bytes(&mut self, count: usize) -> Result<Vec<u8>, PartError> {
        let mut bytes = Vec::new();
        let read = (&mut self.from).take(count as u64).read_to_end(&mut bytes);
        read.map_err(|why| PartError::Refused { file: self.file.clone(), why })?;
        self.at += bytes.len() as u64;
        self.is_cut |= bytes.len() < count && !(bytes.is_empty() && count == BLOCK_HEAD);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_observe::trace::Kind;
    use talisman_observe::trace::words::whole;

    fn block_of(strip: &Strip) -> Vec<u8> {
        let mut block = Block::default();
        let words = block.begin(strip.pe, strip.epoch, strip.dropped);
        words.extend(whole(&strip.records).iter().flat_map(|word| word.to_le_bytes()));
        block.end(strip.moment).to_vec()
    }

    fn written() -> (Vec<u8>, Origin, Strip) {
        let names = ChareNames { name: "Block".into(), entries: vec!["step".into()], moves: true };
        let origin = Origin {
            program: "heat".into(),
            nodes_here: 1,
            nodes: 1,
            pes_per_node: 2,
            chares: vec![names],
            ..Origin::default()
        };
        let records = vec![Record::at(5, Kind::Begins), Record::at(9, Kind::Ends)];
        let strip = Strip { pe: 1, epoch: 2, dropped: 3, moment: Moment { ticks: 10, ns: 20 }, records };
        let mut file = Vec::new();
        begin(&mut file, &origin).unwrap();
        file.extend(block_of(&strip));
        file.extend(block_of(&Strip::default()));
        (file, origin, strip)
    }

    fn read(bytes: &[u8]) -> Result<(Vec<Strip>, bool), PartError> {
        let mut reader = PartReader::read(Path::new("a.part"), bytes)?;
        let mut strips = Vec::new();
        while let Some(strip) = reader.next_strip()? {
            strips.push(strip);
        }
        Ok((strips, reader.is_cut()))
    }

    #[test]
    fn what_is_written_is_read() {
        let (file, origin, strip) = written();
        let reader = PartReader::read(Path::new("a.part"), &file[..]).unwrap();
        assert_eq!(*reader.origin(), origin);
        assert_eq!(read(&file).unwrap(), (vec![strip, Strip::default()], false));
    }

    #[test]
    fn a_part_that_is_cut_off_anywhere_has_what_is_whole() {
        let (file, ..) = written();
        let last = file.len() - block_of(&Strip::default()).len();
        let first = last - block_of(&written().2).len();
        for length in 0..file.len() {
            match read(&file[..length]) {
                Err(error) => assert!(length < first, "{length}: {error}"),
                Ok((strips, is_cut)) => {
                    assert_eq!(strips.len(), usize::from(length >= last), "{length}");
                    assert_eq!(is_cut, length != first && length != last, "{length}");
                }
            }
        }
    }

    #[test]
    fn a_changed_byte_is_noticed() {
        let (file, ..) = written();
        for at in 0..file.len() {
            let mut other = file.clone();
            other[at] ^= 0x10;
            assert!(read(&other).is_err(), "byte {at}");
        }
    }
}
