//! A part as a file.
//!
//! ```text
//! offset  bytes
//!      0      8  length of the head
//!      8         head: the job with the epoch, the version, the PE, and length and alignment of each buffer
//!                the buffers, one after the other: the packed bytes, and the large slices beside them
//! ```
//!
//! It is the body of a file of [`crate::disk`], whose checksum is of all of it.

use talisman_ft::Version;

use super::File;
use crate::disk::{Disk, DiskError, KeyFile, ReadError, Replacing, checked, read_checked};
use talisman_base::ids::PeId;
use talisman_observe::mutations::mutated;
use talisman_pup::{Packed, Pup, SegmentBuffer, from_bytes, to_bytes};

/// Which part it is, and what it is made of.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Head {
    /// What tells the job, and the epoch in which the version was taken, from others: [`cut_of`](super::manifest::cut_of).
    pub cut: u64,
    pub version: Version,
    pub pe: PeId,
    /// Length and alignment of each buffer.
    pub buffers: Vec<(u64, u32)>,
}

/// A part cannot be had from its file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// There is no whole file.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It is whole, and something else.
    #[error("{file} is not what its name says: {why}; it cannot be used")]
    Other {
        /// Which one.
        file: String,
        /// What it is.
        why: String,
    },
}

/// Writes a part, to come to its place with other files: its buffers, in slices one after the other.
///
/// # Errors
/// What the disk says.
pub fn write(
    files: &mut Replacing,
    disk: &mut impl Disk,
    head: &Head,
    slices: &[&[u8]],
) -> Result<(), DiskError> {
    let name = File::Part(head.version, head.pe).name();
    let head = to_bytes(head);
    let length = (head.len() as u64).to_le_bytes();
    files.write(disk, &name, &[&[&length[..], &head[..]], slices].concat())
}

/// The part of a PE in a version of this cut.
///
/// # Errors
/// There is no such file, or it is not as it was written, or it is another one.
pub fn read(disk: &mut impl Disk, cut: u64, version: Version, pe: PeId) -> Result<Packed, ImageError> {
    let body = read_checked(disk, &File::Part(version, pe).name())?;
    of_body(&body, cut, version, pe)
}

/// The same of the bytes of a file.
///
/// # Errors
/// They are not as they were written, or not with this key, or are another part's.
pub fn of_file(
    bytes: Vec<u8>,
    key: &KeyFile,
    (cut, version): (u64, Version),
    pe: PeId,
) -> Result<Packed, ImageError> {
    let key = key.read().map_err(ReadError::from)?;
    let body = checked(&File::Part(version, pe).name(), bytes, key.as_ref())?;
    of_body(&body, cut, version, pe)
}

fn of_body(body: &[u8], cut: u64, version: Version, pe: PeId) -> Result<Packed, ImageError> {
    let file = File::Part(version, pe).name();
    taken_apart(body, cut, version, pe).map_err(|why| ImageError::Other { file, why })
}

fn taken_apart(body: &[u8], cut: u64, version: Version, pe: PeId) -> Result<Packed, String> {
    let short = || "it is too short".to_owned();
    let (length, rest) = body.split_first_chunk().ok_or_else(short)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| short())?;
    let (head, buffers) = rest.split_at_checked(length).ok_or_else(short)?;
    let head: Head = from_bytes(head).map_err(|error| format!("its head cannot be read: {error}"))?;
    if head.cut != cut {
        return Err("it is of another job, or was taken when other nodes were there".into());
    }
    if (head.version, head.pe) != (version, pe) && !mutated("other-part-believed") {
        return Err(format!("it is the part of PE {} in version {}", head.pe, head.version));
    }
    packed(&head.buffers, buffers)
}

fn packed(buffers: &[(u64, u32)], mut bytes: &[u8]) -> Result<Packed, String> {
    let mut next = |(length, align): &(u64, u32)| {
        let (buffer, rest) = bytes.split_at_checked(usize::try_from(*length).ok()?)?;
        bytes = rest;
        let mut memory = SegmentBuffer::new(buffer.len(), *align as usize).ok()?;
        memory.fill(buffer);
        memory.finish()
    };
    let buffers = buffers.iter().map(&mut next).collect::<Option<_>>();
    let buffers = buffers.ok_or("there is less than its head says")?;
    if bytes.is_empty() {
        Ok(Packed::of_buffers(buffers))
    } else {
        Err("there is more than its head says".into())
    }
}
