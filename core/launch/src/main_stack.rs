//! The stack of a process's first thread, where the system gives few addresses (`ulimit -v`).
//!
//! That stack grows as it is used. Where all addresses have been given to other threads by then, it cannot, and the process
//! ends by SIGSEGV without a word.

use std::hint::black_box;
use std::io;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::process::{Resource, getrlimit};

/// More than a launcher or a node needs there, also where it is not optimized.
const RESERVED: usize = 512 << 10;
/// What is touched at a time.
const STEP: usize = 16 << 10;

/// Has the stack grow while there are addresses, if they are limited: not more than half of what it may.
///
/// # Errors
/// There are too few.
pub fn reserve() -> io::Result<()> {
    if getrlimit(Resource::As).current.is_none() {
        return Ok(());
    }
    let most = getrlimit(Resource::Stack).current.map_or(RESERVED, |limit| (limit / 2) as usize);
    let bytes = RESERVED.min(most);
    // SAFETY: new memory somewhere, which nobody uses and which is given back at once: whether there are as many addresses.
    unsafe {
        let room = mmap_anonymous(ptr::null_mut(), bytes.max(STEP), ProtFlags::empty(), MapFlags::PRIVATE)?;
        munmap(room, bytes.max(STEP))?;
    }
    touch(bytes);
    Ok(())
}

#[inline(never)]
fn touch(bytes: usize) {
    let room = [0_u8; STEP];
    black_box(&room);
    if bytes > STEP {
        touch(bytes - STEP);
    }
    // Behind the call: nobody makes a loop of it.
    black_box(&room);
}
