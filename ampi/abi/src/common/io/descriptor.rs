//! What is asked of the system about a descriptor of the rank.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{BorrowedFd, FromRawFd};
use std::os::unix::fs::{FileExt, MetadataExt};

use super::errors::class_of;
use super::replayed;
use crate::class::Class;
use crate::hooks::hooks;

/// The file of a descriptor, which stays open.
pub fn borrowed(descriptor: i32) -> ManuallyDrop<File> {
    // SAFETY: it is open as long as the program has the file open, and is not closed here.
    ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) })
}

/// For calls that want it so.
fn raw<'a>(descriptor: i32) -> BorrowedFd<'a> {
    // SAFETY: as above.
    unsafe { BorrowedFd::borrow_raw(descriptor) }
}

/// Reads from an offset on, until the buffer is full or the file ends. Gives how many bytes there were.
///
/// # Errors
/// What the system says.
pub fn read_at(descriptor: i32, into: &mut [u8], offset: u64) -> Result<usize, Class> {
    let file = borrowed(descriptor);
    let mut done = 0;
    while done < into.len() {
        match file.read_at(&mut into[done..], offset.saturating_add(done as u64)) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(class_of(&error)),
        }
    }
    Ok(done)
}

/// Writes all of it from an offset on.
///
/// # Errors
/// What the system says.
pub fn write_at(descriptor: i32, from: &[u8], offset: u64) -> Result<usize, Class> {
    (hooks().before_write)(descriptor, offset..offset.saturating_add(from.len() as u64));
    borrowed(descriptor).write_all_at(from, offset).map_err(|error| class_of(&error))?;
    Ok(from.len())
}

/// Whether it can be read and written from an offset on: pipes and terminals cannot.
pub fn has_offsets(descriptor: i32) -> bool {
    rustix::fs::tell(raw(descriptor)).is_ok()
}

/// Reads or writes at the position that the system has, where there are no offsets: pipes, terminals.
///
/// # Errors
/// What the system says.
pub fn in_sequence(descriptor: i32, bytes: Bytes) -> Result<usize, Class> {
    use std::io::{Read, Write};
    let mut file = borrowed(descriptor);
    let done = match bytes {
        Bytes::Into(into) => {
            let mut done = 0;
            while done < into.len() {
                match file.read(&mut into[done..]) {
                    Ok(0) => break,
                    Ok(more) => done += more,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(class_of(&error)),
                }
            }
            Ok(done)
        }
        Bytes::From(from) => file.write_all(from).map(|()| from.len()),
    };
    done.map_err(|error| class_of(&error))
}

/// Bytes of memory that are read into, or written from.
#[derive(Debug)]
pub enum Bytes<'a> {
    /// To be read into.
    Into(&'a mut [u8]),
    /// To be written.
    From(&'a [u8]),
}

/// Bytes of the file: those that it had when the rank first asked.
///
/// # Errors
/// What the system said.
pub fn length(descriptor: i32) -> Result<u64, Class> {
    replayed::then(|| length_now(descriptor))
}

/// Bytes of the file, now.
///
/// # Errors
/// What the system says.
pub fn length_now(descriptor: i32) -> Result<u64, Class> {
    borrowed(descriptor).metadata().map(|meta| meta.len()).map_err(|error| class_of(&error))
}

/// When it was last written to, in seconds of the system's clock; 0 if that was before all of them.
///
/// # Errors
/// What the system says.
pub fn written(descriptor: i32) -> Result<u64, Class> {
    let meta = borrowed(descriptor).metadata().map_err(|error| class_of(&error))?;
    Ok(u64::try_from(meta.mtime()).unwrap_or(0))
}

/// Cuts a file, or makes it longer.
///
/// # Errors
/// What the system says.
pub fn set_length(descriptor: i32, length: u64) -> Result<(), Class> {
    (hooks().before_write)(descriptor, length..u64::MAX);
    borrowed(descriptor).set_len(length).map_err(|error| class_of(&error))
}

/// Makes room for so many bytes from the beginning on.
///
/// # Errors
/// What the system says.
pub fn reserve(descriptor: i32, bytes: u64) -> Result<(), Class> {
    use rustix::fs::{FallocateFlags, fallocate};
    match fallocate(raw(descriptor), FallocateFlags::empty(), 0, bytes) {
        // Some file systems cannot: then it has the length, and the room comes as it is written.
        Err(rustix::io::Errno::OPNOTSUPP) if length_now(descriptor)? < bytes => set_length(descriptor, bytes),
        Err(rustix::io::Errno::OPNOTSUPP) => Ok(()),
        other => other.map_err(|error| class_of(&error.into())),
    }
}

/// What was written is on the disk when this returns.
///
/// # Errors
/// What the system says.
pub fn sync(descriptor: i32) -> Result<(), Class> {
    match borrowed(descriptor).sync_all() {
        // Of pipes and the like there is nothing to be written out.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        other => other.map_err(|error| class_of(&error)),
    }
}

/// Whether nobody else had a file locked: now it is this descriptor's.
///
/// # Errors
/// What the system says.
pub fn try_lock(descriptor: i32) -> Result<bool, Class> {
    match rustix::fs::flock(raw(descriptor), rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(class_of(&error.into())),
    }
}

/// Nobody has it locked any more.
pub fn unlock(descriptor: i32) {
    // It was locked; there is nothing to be done if it is not.
    let _unlocked = rustix::fs::flock(raw(descriptor), rustix::fs::FlockOperation::Unlock);
}
