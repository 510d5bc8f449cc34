//! What is written into an undo log: what a file had, before a rank wrote over it.
//!
//! | bytes | are |
//! |---|---|
//! | 8 × 8 | kind, bytes of the path, identity and number of the file, where it begins, bytes, length and mode of the file: little-endian |
//! | … | the path, from the root on |
//! | … | what the file had there |
//! | 8 | when that had been read, in nanoseconds: what is older counts where several have written over the same |

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::departed::PATH;

const WORDS: usize = 8;
/// Bytes in front of a path, and behind what the file had.
const HEAD: usize = WORDS * 8;
const END: usize = 8;
/// So much is copied at a time.
const CHUNK: usize = 256 << 10;

/// How much of a file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Kind {
    /// What was written over: it is in the log.
    Part = 1,
    /// All that it had, since it was emptied: in a file beside the log.
    Copy = 2,
    /// The file itself, since it was removed or another one took its name: beside the log it has another one.
    Link = 3,
    /// Nothing: there was nothing of this name.
    New = 4,
    /// A folder.
    Folder = 5,
}

/// What a file had somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: Kind,
    /// When it was written down, in nanoseconds; 0 before.
    pub(super) time: u64,
    /// Which file it was, and its number.
    pub(super) mark: u64,
    pub(super) inode: u64,
    /// The bytes of the file that are in the log; or the number of what is beside it.
    pub(super) start: u64,
    pub(super) len: u64,
    /// So long the whole file was.
    pub(super) length: u64,
    pub(super) mode: u32,
    pub(super) path: Vec<u8>,
}

impl Record {
    pub(super) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// Appends it to a log, with what the file has now.
    ///
    /// # Errors
    /// What the system says; or the file is shorter than it was. Nothing is in the log then.
    pub(super) fn append(&self, log: &File, source: &File) -> io::Result<()> {
        let before = log.metadata()?.len();
        let written = self.write(log, source);
        if written.is_err() {
            // What is not whole would be passed over, and all that follows with it.
            log.set_len(before)?;
        }
        written
    }

    fn write(&self, mut log: &File, source: &File) -> io::Result<()> {
        let words: [u64; WORDS] = [
            self.kind as u64,
            self.path.len() as u64,
            self.mark,
            self.inode,
            self.start,
            self.len,
            self.length,
            self.mode.into(),
        ];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend_from_slice(&self.path);
        let mut done = 0;
        loop {
            let filled = bytes.len();
            let more = (self.len - done).min((CHUNK.saturating_sub(filled)).max(1) as u64) as usize;
            bytes.resize(filled + more, 0);
            source.read_exact_at(&mut bytes[filled..], self.start + done)?;
            log.write_all(&bytes)?;
            bytes.clear();
            done += more as u64;
            if done == self.len {
                return log.write_all(&now().to_le_bytes());
            }
        }
    }

    /// All that are whole in a log, each with where its bytes are there. What was being written when its process was lost was not
    /// written over in the file yet.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn all_in(log: &File) -> io::Result<Vec<(Record, u64)>> {
        let len = log.metadata()?.len();
        let mut records = Vec::new();
        let mut at = 0;
        while let Some(record) = Record::read(log, at, len)? {
            let content = at + (HEAD + record.path.len()) as u64;
            at = content + record.len + END as u64;
            records.push((record, content));
        }
        Ok(records)
    }

    fn read(log: &File, at: u64, end: u64) -> io::Result<Option<Record>> {
        if end - at < (HEAD + END) as u64 {
            return Ok(None);
        }
        let mut head = [0; HEAD];
        log.read_exact_at(&mut head, at)?;
        let mut words = [0u64; WORDS];
        for (word, bytes) in words.iter_mut().zip(head.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        }
        let [kind, path_len, mark, inode, start, len, length, mode] = words;
        let kind = [Kind::Part, Kind::Copy, Kind::Link, Kind::New, Kind::Folder]
            .into_iter()
            .find(|known| *known as u64 == kind);
        let is_whole = path_len < PATH as u64
            && path_len.checked_add(len).is_some_and(|bytes| bytes <= end - at - (HEAD + END) as u64);
        let (Some(kind), true) = (kind, is_whole) else { return Ok(None) };
        let mut path = vec![0; path_len as usize];
        log.read_exact_at(&mut path, at + HEAD as u64)?;
        let mut time = [0; END];
        log.read_exact_at(&mut time, at + HEAD as u64 + path_len + len)?;
        let time = u64::from_le_bytes(time);
        Ok(Some(Record { kind, time, mark, inode, start, len, length, mode: mode as u32, path }))
    }

    /// Writes what the file had to this file, out of the log, where its bytes begin `at`.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn put_back(&self, log: &File, at: u64, file: &File) -> io::Result<()> {
        let mut bytes = vec![0; CHUNK.min(self.len as usize)];
        let mut done = 0;
        while done < self.len {
            let part = bytes.len().min((self.len - done) as usize);
            log.read_exact_at(&mut bytes[..part], at + done)?;
            file.write_all_at(&bytes[..part], self.start + done)?;
            done += part as u64;
        }
        Ok(())
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    #[test]
    fn what_was_written_down_is_put_back() {
        let folder = std::env::temp_dir().join(format!("talisman-undo-record-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let open = |name: &str| {
            OpenOptions::new()
                .read(true)
                .append(name == "log")
                .write(true)
                .create(true)
                .open(folder.join(name))
                .unwrap()
        };
        let (log, file) = (open("log"), open("file"));
        let content: Vec<u8> = (0..2 * CHUNK + 7).map(|byte| byte as u8).collect();
        file.write_all_at(&content, 0).unwrap();
        let path = folder.join("file").as_os_str().as_bytes().to_vec();
        let record = |kind, start, len| Record {
            kind,
            time: 0,
            mark: 6,
            inode: 7,
            start,
            len,
            length: 8,
            mode: 0o600,
            path: path.clone(),
        };
        let records = [
            record(Kind::Part, 3, 2 * CHUNK as u64),
            record(Kind::Copy, 0, content.len() as u64),
            record(Kind::Part, 9, 0),
        ];
        for record in &records {
            record.append(&log, &file).unwrap();
        }
        assert!(
            record(Kind::Part, content.len() as u64, 1).append(&log, &file).is_err(),
            "so much is not there"
        );
        let found = Record::all_in(&log).unwrap();
        assert!(found.is_sorted_by_key(|(record, _)| record.time) && found[0].0.time > 0);
        let read = found.iter().map(|(record, _)| Record { time: 0, ..record.clone() });
        assert_eq!(read.collect::<Vec<_>>(), records);
        file.set_len(0).unwrap();
        let (whole, at) = &found[1];
        whole.put_back(&log, *at, &file).unwrap();
        assert!(std::fs::read(folder.join("file")).unwrap() == content);
        // The last one is cut off in the middle; then the head of another one is no head.
        let end = log.metadata().unwrap().len();
        log.set_len(end - 1).unwrap();
        assert_eq!(Record::all_in(&log).unwrap().len(), 2);
        log.set_len(HEAD as u64 + 3).unwrap();
        assert_eq!(Record::all_in(&log).unwrap().len(), 0);
        (&log).write_all(&[0xff; 200]).unwrap();
        assert_eq!(Record::all_in(&log).unwrap().len(), 0);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
