//! What is asked of the folder of another host, and answered there: before a job goes on from the files of several hosts, and when a
//! node needs a part that is not on its own.
//!
//! Nothing is changed there as long as the job has not ended well. What comes is not believed: a file counts if it is as it was written, wherever it was.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use talisman_ft::{NodeId, Version};

use super::listing::Listing;
use super::{File, catalog, folder_of, writer};
use crate::disk::{Folder, KeyFile};
use talisman_base::frame;
use talisman_base::ids::PeId;

/// Most bytes of a file that travel at a time.
pub const PIECE: usize = 1 << 20;

/// A question about the folder of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// The folder's path, which may be any bytes.
    dir: Blob,
    /// What shows there who wrote its files.
    key: KeyFile,
    what: What,
}

/// What is to be known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// What is there.
    List,
    /// What is wrong with these parts of a version of this cut, if anything is: they are read, all of them.
    Check { job: u64, version: Version, parts: Vec<(NodeId, PeId)> },
    /// The bytes of the file of a part from this one on, [`PIECE`] of them at most.
    Read { node: NodeId, version: Version, pe: PeId, from: u64 },
    /// Nothing: what this job has left there is to be taken away.
    Clear { job: u64 },
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    Listed(Result<Listing, String>),
    /// In the order of the question.
    Checked(Vec<Option<String>>),
    Read(Result<Piece, String>),
    Cleared,
}

/// Some bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// How many the file has.
    pub of: u64,
    pub bytes: Blob,
}

/// Bytes that are written as such, not as a list of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blob(pub Vec<u8>);

impl Ask {
    /// About this folder, wherever it is, with the key of its files.
    pub fn of((dir, key): (&Path, &KeyFile), what: What) -> Self {
        Ask { dir: Blob(dir.as_os_str().as_bytes().to_vec()), key: key.clone(), what }
    }

    /// The answer of this host. Disks are waited for.
    pub fn answer(&self) -> Answer {
        let (dir, key) = (Path::new(OsStr::from_bytes(&self.dir.0)), &self.key);
        match &self.what {
            What::List => Answer::Listed(list(dir, key)),
            What::Check { job, version, parts } => {
                let check = |(node, pe): &(NodeId, PeId)| {
                    catalog::part((dir, key), *node, (*job, *version), *pe)
                        .err()
                        .map(|error| error.to_string())
                };
                Answer::Checked(parts.iter().map(check).collect())
            }
            What::Read { node, version, pe, from } => {
                Answer::Read(piece((dir, key), *node, (*version, *pe), *from))
            }
            What::Clear { job } => {
                writer::clear(dir, key, *job);
                Answer::Cleared
            }
        }
    }
}

fn list(dir: &Path, key: &KeyFile) -> Result<Listing, String> {
    let listing = Listing::of(dir, key)?;
    match frame::encode(&listing) {
        Ok(_) => Ok(listing),
        Err(error) => Err(format!("it has more files than can be told of: {error}")),
    }
}

fn piece(
    (dir, key): (&Path, &KeyFile),
    node: NodeId,
    (version, pe): (Version, PeId),
    from: u64,
) -> Result<Piece, String> {
    let (folder, name) = (folder_of(dir, node), File::Part(version, pe).name());
    let path = folder.join(&name);
    let file = Folder::open_with(&folder, key).and_then(|folder| folder.file_of(&name));
    let file = file.map_err(|error| error.to_string())?;
    let read = || {
        let of = file.metadata()?.len();
        let mut bytes = vec![0; of.saturating_sub(from).min(PIECE as u64) as usize];
        file.read_exact_at(&mut bytes, from)?;
        Ok(Piece { of, bytes: Blob(bytes) })
    };
    read().map_err(|error: std::io::Error| format!("cannot read {}: {error}", path.display()))
}

/// A file that is asked for piece by piece, each from where the one before ended. There is never much more memory than has come.
///
/// # Errors
/// What was answered, or that it cannot be.
pub fn whole(mut read: impl FnMut(u64) -> Result<Piece, String>) -> Result<Vec<u8>, String> {
    let (mut file, mut length) = (Vec::new(), None);
    loop {
        let Piece { of, bytes: Blob(bytes) } = read(file.len() as u64)?;
        if *length.get_or_insert(of) != of {
            return Err("it changed while it was sent".into());
        }
        let left = of - file.len() as u64;
        if bytes.len() > PIECE || bytes.len() as u64 > left || bytes.is_empty() != (left == 0) {
            return Err(format!("{} bytes of it came, where {left} of {of} were missing", bytes.len()));
        }
        file.extend_from_slice(&bytes);
        if file.len() as u64 == of {
            return Ok(file);
        }
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(Bytes)
    }
}

struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Blob;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Blob, E> {
        Ok(Blob(bytes.to_vec()))
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Blob, E> {
        Ok(Blob(bytes))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Blob, A::Error> {
        Err(A::Error::custom("a list, where there are to be bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_base::frame::{Decoder, encode};

    fn pieces(pieces: &[(u64, usize)]) -> Result<Vec<u8>, String> {
        let mut next = pieces.iter();
        whole(|_| {
            let (of, bytes) = next.next().ok_or("no more")?;
            Ok(Piece { of: *of, bytes: Blob(vec![7; *bytes]) })
        })
    }

    #[test]
    fn a_file_comes_in_pieces() {
        assert_eq!(pieces(&[(10, 4), (10, 6)]), Ok(vec![7; 10]));
        assert_eq!(pieces(&[(0, 0)]), Ok(vec![]));
    }

    /// A peer that says what cannot be is not waited for, and no memory is taken for what it promises.
    #[test]
    fn what_cannot_be_is_refused() {
        let wrong: [(&[(u64, usize)], &str); 6] = [
            (&[(10, 4), (11, 6)], "it changed"),
            (&[(10, 4), (3, 6)], "it changed"),
            (&[(10, 11)], "11 bytes of it came, where 10 of 10"),
            (&[(u64::MAX, 0)], "0 bytes of it came"),
            (&[(u64::MAX, PIECE + 1)], "bytes of it came"),
            (&[(u64::MAX, PIECE)], "no more"),
        ];
        for (said, why) in wrong {
            let error = pieces(said).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn bytes_are_written_as_bytes() {
        let piece = Piece { of: 300, bytes: Blob(vec![0xff; 300]) };
        let frame = encode(&piece).unwrap();
        assert!(frame.len() < 320, "{}", frame.len());
        let mut decoder = Decoder::default();
        decoder.push(&frame);
        assert_eq!(decoder.next().unwrap(), Some(piece));
    }
}
