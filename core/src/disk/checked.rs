//! Files that are whole or not there, and whose damage is noticed.
//!
//! ```text
//! offset  bytes
//!      0      8  "TALISDSK"
//!      8      4  version of this format
//!     12      4  checksum (CRC-32) of the body
//!     16      8  length of the body
//!     24      4  checksum of the 24 bytes before
//!     28         body
//!                in version 2: 32 bytes that show who wrote it ([`Key`])
//! ```
//!
//! Numbers are little-endian. Files of a disk that has a key have version 2.

use super::key::TAG;
use super::{Disk, DiskError, Key};
use talisman_observe::mutations::mutated;

const MAGIC: [u8; 8] = *b"TALISDSK";
/// It changes with everything that is read otherwise than before.
const VERSION: u32 = 1;
/// The same with what shows who wrote it.
const AUTHENTICATED: u32 = 2;
const HEADER: usize = 28;
/// Ends the names of files that are being written.
const TEMPORARY: &str = ".tmp";

/// Puts a file with these bytes in the place of `name`, so that they outlive a loss of power.
///
/// # Errors
/// There may be the former file then, or the new one, and after a loss of power either; never anything between.
pub(crate) fn replace(disk: &mut impl Disk, name: &str, body: &[&[u8]]) -> Result<(), DiskError> {
    let mut files = Replacing::default();
    files.write(disk, name, body)?;
    files.finish(disk)
}

/// Files that come to their places together: the disk keeps the bytes of all of them at the same time, and then all names at once.
/// Each wait for a disk may take as long as whatever else it has to do.
#[derive(Debug, Default)]
pub(crate) struct Replacing {
    /// The places of those that are written.
    names: Vec<String>,
}

impl Replacing {
    /// Writes what is to come to the place of `name`, and has the disk begin to keep it.
    ///
    /// # Errors
    /// What the disk says. This file does not come to its place then; the others do.
    pub(crate) fn write(
        &mut self,
        disk: &mut impl Disk,
        name: &str,
        body: &[&[u8]],
    ) -> Result<(), DiskError> {
        let (temporary, key) = (temporary(name), disk.key());
        let header = header(body, if key.is_some() { AUTHENTICATED } else { VERSION });
        let mut parts = [&[&header[..]], body].concat();
        let tag = key.map(|key| key.tag(name, parts.iter().copied()));
        parts.extend(tag.iter().map(|tag| &tag[..]));
        self.names.retain(|other| other != name);
        let written = disk.write(&temporary, &parts);
        if written.is_ok() {
            disk.begin_sync(&temporary);
            self.names.push(name.to_owned());
        } else {
            // Only tidying up; the first error is the one to tell.
            let _ = disk.remove(&temporary);
        }
        written
    }

    /// What was written for `name` is not to come to its place.
    pub(crate) fn forget(&mut self, disk: &mut impl Disk, name: &str) {
        self.names.retain(|other| other != name);
        // Only tidying up: whatever is left is taken away before the disk is used the next time.
        let _ = disk.remove(&temporary(name));
    }

    /// Whether nothing is written that has not come to its place.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether the disk has not kept all bytes yet, so that to finish is to wait.
    pub(crate) fn is_under_way(&self, disk: &impl Disk) -> bool {
        self.names.iter().any(|name| disk.is_syncing(&temporary(name)))
    }

    /// Puts what is written in its places, so that it outlives a loss of power.
    ///
    /// # Errors
    /// In each place there may be the former file then, or the new one, and after a loss of power either; never anything between.
    pub(crate) fn finish(&mut self, disk: &mut impl Disk) -> Result<(), DiskError> {
        let names = std::mem::take(&mut self.names);
        let done = put_in_place(disk, &names);
        if done.is_err() {
            // As above. Some may have come to their places.
            names.iter().for_each(|name| drop(disk.remove(&temporary(name))));
        }
        done
    }
}

fn put_in_place(disk: &mut impl Disk, names: &[String]) -> Result<(), DiskError> {
    if names.is_empty() {
        return Ok(());
    }
    // Before any has its name, or a loss of power could leave half a file under that.
    if !mutated("file-not-synced") {
        names.iter().try_for_each(|name| disk.sync(&temporary(name)))?;
    }
    names.iter().try_for_each(|name| disk.rename(&temporary(name), name))?;
    if mutated("names-not-synced") { Ok(()) } else { disk.sync_names() }
}

fn temporary(name: &str) -> String {
    let end = if mutated("file-written-in-place") { "" } else { TEMPORARY };
    format!("{name}{end}")
}

/// Takes away what was being written when a process ended. To be called before anything else is done with a disk.
///
/// # Errors
/// What the disk says.
pub(crate) fn remove_leftovers(disk: &mut impl Disk) -> Result<(), DiskError> {
    let names = disk.list()?;
    names.iter().filter(|name| name.ends_with(TEMPORARY)).try_for_each(|name| disk.remove(name))
}

/// What a file is to be called that has this name, if it was begun and never ended.
pub(crate) fn name_at_the_end(name: &str) -> &str {
    name.strip_suffix(TEMPORARY).unwrap_or(name)
}

/// Why there is nothing to be had from a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReadError {
    /// It cannot be read at all.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// It is no file of this format, or its beginning is lost.
    #[error("{file} is no file of Talisman, or its beginning is damaged: {what}; it cannot be used")]
    Header {
        /// Which one.
        file: String,
        /// What is wrong.
        what: &'static str,
    },
    /// Another version of the program has written it.
    #[error(
        "{file} has version {theirs} of the format, this program reads versions {VERSION} and {AUTHENTICATED}; use the program that wrote it"
    )]
    Version {
        /// Which one.
        file: String,
        /// Its version.
        theirs: u32,
    },
    /// Nothing shows that it was written by who knows the key.
    #[error(
        "{file} was not written with this key (--ckpt-key): {what}; it may be forged, and cannot be used"
    )]
    Forged {
        /// Which one.
        file: String,
        /// What is wrong.
        what: &'static str,
    },
    /// There is less or more than was written.
    #[error("{file} has {found} bytes after its header, where {written} were written; it cannot be used")]
    Length {
        /// Which one.
        file: String,
        /// How many there are.
        found: u64,
        /// How many were written.
        written: u64,
    },
    /// Something else is there than was written.
    #[error(
        "{file} is damaged somewhere in the {bytes} bytes after its header: their checksum is {found:08x}, it was \
         {written:08x} when they were written; it cannot be used"
    )]
    Sum {
        /// Which one.
        file: String,
        /// How many bytes the checksum is of.
        bytes: u64,
        /// That of what is there.
        found: u32,
        /// That of what was written.
        written: u32,
    },
}

/// What [`Replacing`] has put in the place of `name`.
///
/// # Errors
/// There is no such file, or it is not as it was written.
pub(crate) fn read_checked(disk: &mut impl Disk, name: &str) -> Result<Vec<u8>, ReadError> {
    let bytes = disk.read(name)?;
    checked(name, bytes, disk.key().as_ref())
}

/// What was written to a file of this name that has these bytes, by who knows this key.
///
/// # Errors
/// They are not as they were written, or nothing shows by whom.
pub(crate) fn checked(name: &str, mut bytes: Vec<u8>, key: Option<&Key>) -> Result<Vec<u8>, ReadError> {
    let body = check(name, &bytes, key)?;
    bytes.truncate(HEADER + body);
    bytes.drain(..HEADER);
    Ok(bytes)
}

fn header(body: &[&[u8]], version: u32) -> [u8; HEADER] {
    let mut sum = crc32fast::Hasher::new();
    body.iter().for_each(|part| sum.update(part));
    let length: u64 = body.iter().map(|part| part.len() as u64).sum();
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&version.to_le_bytes());
    header[12..16].copy_from_slice(&sum.finalize().to_le_bytes());
    header[16..24].copy_from_slice(&length.to_le_bytes());
    let sum = crc32fast::hash(&header[..24]);
    header[24..].copy_from_slice(&sum.to_le_bytes());
    header
}

/// The length of the body.
fn check(name: &str, bytes: &[u8], key: Option<&Key>) -> Result<usize, ReadError> {
    let no_header = |what| ReadError::Header { file: name.to_owned(), what };
    let (header, body) = bytes.split_first_chunk::<HEADER>().ok_or_else(|| no_header("it is too short"))?;
    if header[..8] != MAGIC {
        return Err(no_header("it begins with other bytes"));
    }
    if crc32fast::hash(&header[..24]) != number(header, 24) {
        return Err(no_header("its checksum is wrong"));
    }
    let theirs = number(header, 8);
    let (body, tag) = match theirs {
        VERSION => (body, None),
        AUTHENTICATED => match body.split_last_chunk::<TAG>() {
            Some((body, tag)) => (body, Some(tag)),
            None => return Err(no_header("it is too short")),
        },
        _ => return Err(ReadError::Version { file: name.to_owned(), theirs }),
    };
    check_body(name, header, body)?;
    // Who has no key goes by the owners of files.
    if let Some(key) = key {
        check_tag(name, &bytes[..HEADER + body.len()], tag, key)?;
    }
    Ok(body.len())
}

fn check_tag(name: &str, bytes: &[u8], tag: Option<&[u8; TAG]>, key: &Key) -> Result<(), ReadError> {
    let forged = |what| ReadError::Forged { file: name.to_owned(), what };
    let tag = tag.ok_or_else(|| forged("it was written without any"))?;
    if key.verify(name, bytes, tag) { Ok(()) } else { Err(forged("what shows that does not fit")) }
}

fn check_body(name: &str, header: &[u8; HEADER], body: &[u8]) -> Result<(), ReadError> {
    let file = name.to_owned();
    let written = u64::from(number(header, 16)) | u64::from(number(header, 20)) << 32;
    let bytes = body.len() as u64;
    if bytes != written {
        return Err(ReadError::Length { file, found: bytes, written });
    }
    let (found, written) = (crc32fast::hash(body), number(header, 12));
    let is_same = found == written || mutated("file-sum-ignored");
    if is_same { Ok(()) } else { Err(ReadError::Sum { file, bytes, found, written }) }
}

fn number(header: &[u8; HEADER], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| header[at + i]))
}
