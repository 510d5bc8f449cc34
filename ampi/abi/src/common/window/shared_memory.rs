//! Memory of windows that all their ranks address (`MPI_Win_allocate_shared`, MPI-4.1, 12.2.3).
//!
//! The first of the ranks makes a file that has no name. Each maps it for itself, from that rank's process, as a program
//! would map it: so a rank that has such a window stays where it is. On another host it is not there, and all are told.

use std::ffi::{CString, c_int, c_void};
use std::fs::read_link;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;

use talisman_ampi::window::{Part, SharedMemory};

use crate::abi::Abi;
use crate::class::Class;
use crate::common::agreement::{from_all, from_first};
use crate::common::call::{Outcome, local};
use crate::hooks::hooks;

/// Parts of memory that need not be contiguous begin at multiples of this: no two are in one line of a cache.
const LINE: u64 = 128;

/// What each rank asks for.
#[derive(Clone, Copy)]
pub struct Share {
    /// So many bytes.
    pub size: u64,
    /// The unit of displacements.
    pub unit: u64,
    /// Its part need not begin where the one before ends.
    pub may_be_apart: bool,
}

/// Maps memory for all members of a communicator; all of them, or none.
pub fn map<A: Abi>(name: &'static str, communicator: u32, share: Share) -> Result<SharedMemory, Class> {
    let mine = [share.size as i64, share.unit as i64, i64::from(share.may_be_apart)];
    let shares = from_all::<A, 3>(name, communicator, mine)?;
    let (parts, len) = parts(&shares).ok_or(Class::Size)?;
    let is_first = local(|process| Ok(process.comms.get(communicator)?.rank() == Some(0)))?;
    let made = if is_first { make(len).ok() } else { None };
    // The process, the descriptor in it, and the number by which it is known again.
    let mut place = [0i64; 3];
    if let Some((file, number)) = &made {
        place = [i64::from(std::process::id()), i64::from(file.as_raw_fd()), *number];
    }
    from_first::<A>(name, communicator, &mut place)?;
    let mapped = open(place).and_then(|file| map_file(&file, len));
    let all = from_all::<A, 1>(name, communicator, [i64::from(mapped.is_ok())])?;
    let memory = mapped.ok().map(|start| SharedMemory { start: start as u64, len: len as u64, parts });
    match memory {
        Some(memory) if all.iter().all(|[is_mapped]| *is_mapped != 0) => Ok(memory),
        memory => {
            memory.map_or(Ok(()), |memory| unmap(&memory))?;
            Err(Class::RmaShared)
        }
    }
}

/// Gives it back.
pub fn unmap(memory: &SharedMemory) -> Outcome {
    // SAFETY: it was mapped for the rank, and nobody uses it any more.
    let result = unsafe { (hooks().unmap)(memory.start as *mut c_void, memory.len as usize) };
    if result == 0 { Ok(()) } else { Err(Class::Intern) }
}

/// Where each rank's part is, and how long all are together; none if that is too much.
fn parts(shares: &[[i64; 3]]) -> Option<(Vec<Part>, usize)> {
    let may_be_apart = shares.iter().all(|[.., may_be]| *may_be != 0);
    let (mut parts, mut end) = (Vec::with_capacity(shares.len()), 0u64);
    for [size, unit, _] in shares {
        if may_be_apart {
            end = end.checked_next_multiple_of(LINE)?;
        }
        parts.push(Part { offset: end, size: *size as u64, unit: *unit as u64 });
        end = end.checked_add(*size as u64)?;
    }
    Some((parts, usize::try_from(end.max(1)).ok().filter(|len| i64::try_from(*len).is_ok())?))
}

fn name_of(number: i64) -> String {
    format!("talisman-window-{number:016x}")
}

/// A file of zeroes without a name, and the number by which it is known.
fn make(len: usize) -> io::Result<(OwnedFd, i64)> {
    let mut number = [0u8; 8];
    // SAFETY: room for as many bytes.
    if unsafe { libc::getrandom(number.as_mut_ptr().cast(), number.len(), 0) } != number.len() as isize {
        return Err(io::Error::last_os_error());
    }
    let number = i64::from_ne_bytes(number);
    let name = CString::new(name_of(number))?;
    // SAFETY: a string; what is returned is nobody else's.
    let file = unsafe {
        let file = libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(file)
    };
    // SAFETY: its descriptor.
    if unsafe { libc::ftruncate(file.as_raw_fd(), len as i64) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((file, number))
}

/// The file of another process, or of this one, if it is what it is to be.
fn open([process, file, number]: [i64; 3]) -> io::Result<OwnedFd> {
    let path = format!("/proc/{process}/fd/{file}");
    // SAFETY: a string; what is returned is nobody else's.
    let opened = unsafe {
        let path = CString::new(path)?;
        let opened = libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC | libc::O_NONBLOCK);
        if opened < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(opened)
    };
    let found = read_link(format!("/proc/self/fd/{}", opened.as_raw_fd()))?;
    let expected = format!("/memfd:{} (deleted)", name_of(number));
    if found.to_str() == Some(&expected) { Ok(opened) } else { Err(io::ErrorKind::NotFound.into()) }
}

fn map_file(file: &OwnedFd, len: usize) -> io::Result<usize> {
    const ACCESS: c_int = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: called as C's function is, for the rank that calls.
    let start = unsafe { (hooks().map)(null_mut(), len, ACCESS, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(start as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_unless_all_may_be_apart() {
        let offsets = |shares: &[[i64; 3]]| {
            let (parts, len) = parts(shares).expect("they are not too long");
            (parts.iter().map(|part| part.offset).collect::<Vec<_>>(), len)
        };
        assert_eq!(offsets(&[[10, 1, 0], [0, 1, 1], [6, 2, 1]]), (vec![0, 10, 10], 16));
        assert_eq!(offsets(&[[10, 1, 1], [0, 1, 1], [6, 2, 1]]), (vec![0, 128, 128], 134));
        assert_eq!(offsets(&[[0, 1, 0]]), (vec![0], 1));
        assert!(parts(&[[i64::MAX, 1, 0], [i64::MAX, 1, 0], [i64::MAX, 1, 0]]).is_none());
    }

    #[test]
    fn a_file_is_known_by_its_number() {
        let (file, number) = make(4096).expect("the system gives memory");
        let place = [i64::from(std::process::id()), i64::from(file.as_raw_fd()), number];
        assert!(open(place).is_ok());
        assert!(open([place[0], place[1], number ^ 1]).is_err());
        drop(file);
        assert!(open(place).is_err());
    }
}
