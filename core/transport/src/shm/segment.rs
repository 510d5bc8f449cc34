//! The memory that the nodes of a host share: made once for a job, without a name, gone with the last process that has it.

use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::process::{Resource, getrlimit};

use super::layout::{LINE, Layout, SLOT, SLOTS, Shape, TooManyLinks};
use super::sync::{AsymmetricFence, AtomicU64, Ordering};
use talisman_sched::idle::are_more_than_cores;

/// Nobody can cut the memory off under another (that would be a SIGBUS), nor take these promises back.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// The first word: the name and version of this layout.
const MAGIC: u64 = u64::from_le_bytes(*b"TALshm\x01\0");

/// There will be no links through shared memory. With tcp between its nodes the job can run all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSegment {
    /// The segment of so many nodes would be too large.
    #[error(transparent)]
    TooManyLinks(#[from] TooManyLinks),
    /// The kernel gives none.
    #[error("the kernel gives no shared memory of {len} bytes ({what}: {error}); use --transport tcp")]
    Kernel {
        /// Which step failed.
        what: &'static str,
        /// Bytes that were asked for.
        len: usize,
        /// Why.
        error: Errno,
    },
    /// `RLIMIT_FSIZE` is below its size: the kernel would end the process rather than refuse.
    #[error(
        "shared memory of {len} bytes is more than the limit on file sizes (`ulimit -f`); raise it or use --transport tcp"
    )]
    FileSizeLimit {
        /// Bytes that were asked for.
        len: usize,
    },
    /// What was handed over is not the segment of this job.
    #[error("the shared memory that was handed over is not that of this job: {what}")]
    Foreign {
        /// What is different.
        what: &'static str,
    },
    /// The kernel has barriers across processes for whoever made the segment, and not for this process.
    #[error(
        "this process cannot take part in barriers across processes (membarrier: {error}); use --transport tcp"
    )]
    Fence {
        /// Why.
        error: Errno,
    },
}

/// Makes the segment for the nodes of this host. They inherit the descriptor, which closes on exec unless told otherwise.
///
/// No memory is taken yet but one page. That it can be mapped is tried here, under the limits that the nodes inherit.
///
/// # Errors
/// There cannot be one: see [`NoSegment`].
pub fn create(shape: Shape) -> Result<OwnedFd, NoSegment> {
    let layout = Layout::of(shape)?;
    let len = layout.len;
    if getrlimit(Resource::Fsize).current.is_some_and(|limit| limit < len as u64) {
        return Err(NoSegment::FileSizeLimit { len });
    }
    let failed = |what| move |error| NoSegment::Kernel { what, len, error };
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let fd = memfd_create("talisman", flags).map_err(failed("memfd_create"))?;
    ftruncate(&fd, len as u64).map_err(failed("ftruncate"))?;
    fcntl_add_seals(&fd, SEALS).map_err(failed("sealing"))?;
    let memory = Memory::map(&fd, len)?;
    // Barriers of all processes interrupt all cores: they are for those who seldom sleep.
    let pes = u64::from(shape.nodes) * u64::from(shape.pes);
    let expedited = !are_more_than_cores(pes) && AsymmetricFence::host_is_expedited();
    for (word, value) in (0..).zip(header(&layout, expedited)) {
        memory.word(word * 8).store(value, Ordering::Release);
    }
    Ok(fd)
}

/// What the first page says, in words.
fn header(layout: &Layout, expedited: bool) -> [u64; 8] {
    let Shape { nodes, pes } = layout.shape;
    let sizes = [LINE as u64, SLOT as u64, SLOTS as u64, layout.ring as u64];
    let [line, slot, slots, ring] = sizes;
    [MAGIC, nodes.into(), pes.into(), line, slot, slots, ring, expedited.into()]
}

/// A mapped segment.
pub(super) struct Memory {
    at: NonNull<u8>,
    pub(super) len: usize,
}

// SAFETY: an address and a length; what is done there is the affair of who does it.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Maps the segment of a job and finds it to be what the layout says.
    pub(super) fn open(fd: impl AsFd, layout: &Layout) -> Result<(Memory, AsymmetricFence), NoSegment> {
        let memory = Memory::map(fd, layout.len)?;
        let said: [u64; 8] = std::array::from_fn(|word| memory.word(word * 8).load(Ordering::Acquire));
        let expedited = said[7] != 0;
        if said != header(layout, expedited) {
            return Err(NoSegment::Foreign { what: "it was made for another job, or by another version" });
        }
        let fence = AsymmetricFence::between_processes(expedited);
        Ok((memory, fence.map_err(|error| NoSegment::Fence { error })?))
    }

    fn map(fd: impl AsFd, len: usize) -> Result<Memory, NoSegment> {
        let foreign = |what| NoSegment::Foreign { what };
        let seals = fcntl_get_seals(&fd).map_err(|_| foreign("it is not a memfd"))?;
        if !seals.contains(SEALS) {
            return Err(foreign("its size is not sealed"));
        }
        let failed = |what| move |error| NoSegment::Kernel { what, len, error };
        if fstat(&fd).map_err(failed("fstat"))?.st_size != len as i64 {
            return Err(foreign("it has another size"));
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, wherever the kernel likes, changes nothing that exists.
        let at = unsafe { mmap(std::ptr::null_mut(), len, access, MapFlags::SHARED, fd, 0) };
        let at = at.map_err(failed("mmap"))?;
        Ok(Memory { at: NonNull::new(at.cast()).expect("the kernel maps nothing at zero"), len })
    }

    /// Where `len` bytes at `offset` are.
    pub(super) fn piece<T>(&self, offset: usize, len: usize) -> NonNull<T> {
        assert!(len <= self.len && offset <= self.len - len, "{len} bytes at {offset} of {}", self.len);
        // SAFETY: inside the mapping, as was just found.
        let at: NonNull<T> = unsafe { self.at.add(offset) }.cast();
        assert!(at.is_aligned());
        at
    }

    /// The word at an offset, for what is an atomic to everyone.
    pub(super) fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: eight aligned bytes that are mapped as long as `self` lives.
        unsafe { self.piece::<AtomicU64>(offset, 8).as_ref() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: mapped with this length; all that points into it keeps it.
        let unmapped = unsafe { munmap(self.at.as_ptr().cast(), self.len) };
        debug_assert!(unmapped.is_ok());
    }
}
