//! A slot as bytes: the runs of pages that were touched.

use std::ops::Range;
use std::ptr::NonNull;

use talisman_core::record::packs_undetermined;
use talisman_pup::{Lender, Packer, Page, PageRun, Pup, PupError, Unpacker};

use super::aside::Piece;
use super::header::MAGIC;
use super::layout::{HEADER, IMAGES_ALIGN, PAGE};
use super::pages::PageMap;
use super::{ImagesError, Slot, SlotSpace, home_of_images, images};

/// Number, lengths of stack and heap, which program and its length, and each piece's runs: offset and bytes. Below the
/// stack pointer nothing is packed.
impl Pup for Slot {
    fn pack(&self, p: &mut Packer) {
        let Some(contents) = self.contents(p) else { return };
        contents.head.pack(p);
        p.len(contents.runs.len());
        for (offset, pages) in contents.runs {
            offset.pack(p);
            p.len(pages.len());
            p.plain(pages);
        }
    }

    /// Pages are lent where they are, to a link or to a checkpoint.
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        let Some(contents) = self.contents(l.packer()) else { return };
        contents.head.pack(l.packer());
        l.packer().len(contents.runs.len());
        for (offset, pages) in contents.runs {
            offset.pack(l.packer());
            l.slice(pages);
        }
    }

    /// Pages that have come beside the bytes are moved into the slot, others are copied. The slot is aside then: it can be put
    /// back when its addresses are free.
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let head = Head::unpack(u).map_err(|e| e.field("head"))?;
        let mut slot = head.make(u)?;
        let runs = u.len()?;
        for run in 0..runs {
            let offset = u64::unpack(u).map_err(|e| e.index(run))?;
            let pages = PageRun::unpack(u).map_err(|e| e.index(run))?;
            slot.fill(offset, pages).map_err(|why| u.invalid(why))?;
        }
        slot.check_header().map_err(|why| u.invalid(why))?;
        Ok(slot)
    }
}

#[derive(Pup)]
struct Head {
    number: u32,
    /// Bytes of stack in a slot: all processes of a job have the same.
    stack: u64,
    /// Bytes of heap that are accessible.
    heap: u64,
    /// Bytes of the program that was mapped, and its mark; 0 if none was.
    images: u64,
    mark: u64,
}

struct Contents<'a> {
    head: Head,
    /// Offset in bytes from the lowest address of the stack, of the heap plus [`HEAP`] or of the program plus [`IMAGES`],
    /// and the pages.
    runs: Vec<(u64, &'a [Page])>,
}

/// Set in the offset of a run of the heap.
const HEAP: u64 = 1 << 63;
/// Set in the offset of a run of the program that was mapped.
const IMAGES: u64 = 1 << 62;

impl Slot {
    /// Reading the system's list of pages can fail only for want of descriptors or memory: then packing is refused.
    ///
    /// What a rank has left on its stack, and in blocks that it does not use any more, is as it happens to be: addresses of the
    /// process's heap, for one.
    fn contents(&self, p: &mut Packer) -> Option<Contents<'_>> {
        packs_undetermined();
        if self.in_place {
            self.tell_as_rank(|images, base| images.note(base));
        }
        let heap = Piece { len: self.heap_len(), ..self.heap };
        let head = Head {
            number: self.number,
            stack: self.space.layout().stack as u64,
            heap: heap.len as u64,
            images: self.images.len as u64,
            mark: self.mark(),
        };
        match self.runs(&heap) {
            Ok(runs) => Some(Contents { head, runs }),
            Err(error) => {
                p.refuse(PupError::new(
                    0,
                    talisman_pup::Fault::Invalid(format!("pages of slot {}: {error}", self.number)),
                ));
                None
            }
        }
    }

    fn runs(&self, heap: &Piece) -> std::io::Result<Vec<(u64, &[Page])>> {
        let map = PageMap::open()?;
        let low = map.runs(self.low.now + self.unused_stack()..self.low.now + self.low.len)?;
        let high = map.runs(heap.now..heap.now + heap.len)?;
        let pages = |run: &Range<usize>| {
            // SAFETY: whole pages of this slot, accessible as long as it lives; its rank does not run while it is borrowed.
            unsafe { std::slice::from_raw_parts(run.start as *const Page, run.len() / PAGE) }
        };
        let low = low.iter().map(|run| ((run.start - self.low.now) as u64, pages(run)));
        let high = high.iter().map(|run| ((run.start - heap.now) as u64 | HEAP, pages(run)));
        let images = self.written_images(&map)?;
        let images = images.iter().map(|run| ((run.start - self.images.now) as u64 | IMAGES, pages(run)));
        Ok(low.chain(images).chain(high).collect())
    }

    /// Pages of the program that its rank has written to.
    fn written_images(&self, map: &PageMap) -> std::io::Result<Vec<Range<usize>>> {
        let mut runs = Vec::new();
        if self.images.len > 0 {
            for part in images(self.number).map_err(std::io::Error::other)?.written() {
                runs.extend(map.written_runs(self.images.now + part.start..self.images.now + part.end)?);
            }
        }
        Ok(runs)
    }

    fn mark(&self) -> u64 {
        if self.images.len == 0 { 0 } else { images(self.number).map_or(0, |images| images.mark()) }
    }

    /// Whole pages below the stack pointer of the suspended thread. There is nothing below: it has called the
    /// function that switches.
    fn unused_stack(&self) -> usize {
        // SAFETY: as in `Slot::blocks`.
        let at = unsafe { self.header().as_ref() }.thread.stack_pointer;
        let stack = self.stack();
        let used = match at {
            0 => stack.end,
            at if stack.contains(&at) => at,
            // It waits on a stack that the program has made (`makecontext`), and may go back to this one.
            _ => return 0,
        };
        used.saturating_sub(stack.start) / PAGE * PAGE
    }

    /// Puts a run to where it belongs.
    fn fill(&mut self, offset: u64, pages: PageRun<'_>) -> Result<(), String> {
        let piece = match offset & (HEAP | IMAGES) {
            0 => &self.low,
            HEAP => &self.heap,
            _ => &self.images,
        };
        let place = usize::try_from(offset & !(HEAP | IMAGES)).ok().filter(|at| at.is_multiple_of(PAGE));
        let end = place.and_then(|offset| offset.checked_add(pages.bytes().len()));
        let (Some(offset), Some(end)) = (place, end.filter(|end| *end <= piece.len)) else {
            return Err("a page outside of its slot".into());
        };
        if std::ptr::eq(piece, &self.images) && !is_written(self.number, offset..end) {
            return Err("a page of a program that it does not write to".into());
        }
        let to = NonNull::new((piece.now + offset) as *mut u8).ok_or("a page at address 0")?;
        // SAFETY: whole pages within the piece, which is accessible and this slot's alone; nothing refers to them.
        unsafe { pages.move_to(to) }.map(|_| ()).map_err(|error| error.to_string())
    }

    /// What the header says has to be what the slot has: everything in it is trusted from then on, as the program in
    /// it is.
    fn check_header(&self) -> Result<(), String> {
        // SAFETY: as in `Slot::blocks`; any bytes are valid for the numbers that are looked at.
        let header = unsafe { self.header().as_ref() };
        let layout = self.space.layout();
        let heap = header.heap_start == self.heap.home
            && header.heap_top == self.heap.home + self.heap.len
            && header.heap_end == self.heap.home + layout.heap;
        let images = header.images == self.images.len as u64;
        // A program may have stacks of its own.
        let memory = [&self.heap, &self.images].map(|piece| piece.home..piece.home + piece.len);
        let is_own = |at: usize| self.stack().contains(&at) || memory.iter().any(|own| own.contains(&at));
        let thread = header.thread.stack_pointer == 0 || is_own(header.thread.stack_pointer);
        if header.magic == MAGIC && header.slot == u64::from(self.number) && heap && images && thread {
            Ok(())
        } else {
            Err(format!("a header that is not of slot {}", self.number))
        }
    }
}

/// Whether the program of this slot writes to all of this.
fn is_written(slot: u32, range: Range<usize>) -> bool {
    let holds = |part: &Range<usize>| part.start <= range.start && range.end <= part.end;
    images(slot).is_ok_and(|images| images.written().iter().any(holds))
}

impl Head {
    /// A slot aside, of zeroes, with the program as its files have it.
    fn make(&self, u: &Unpacker<'_>) -> Result<Slot, PupError> {
        let space = SlotSpace::get().map_err(|error| u.invalid(error))?;
        let at = space.address(self.number).map_err(|error| u.invalid(error))?;
        let layout = space.layout();
        if self.stack != layout.stack as u64
            || self.heap > layout.heap as u64
            || !self.heap.is_multiple_of(PAGE as u64)
        {
            return Err(u.invalid(format!("a stack of {} and a heap of {} bytes", self.stack, self.heap)));
        }
        let piece = |home, len| Piece::fresh(home, len).map_err(|error| u.invalid(error));
        let low = piece(at + layout.guard, layout.stack + HEADER)?;
        let heap = piece(at + layout.heap_start(), self.heap as usize)?;
        let room = home_of_images(self.number, low.home + low.len);
        let images = Piece { home: room, now: room, len: 0 };
        let mut slot = Slot { number: self.number, space, low, images, heap, in_place: false };
        if self.images > 0 {
            self.map_images(&mut slot).map_err(|error| u.invalid(error))?;
        }
        Ok(slot)
    }

    fn map_images(&self, slot: &mut Slot) -> Result<(), ImagesError> {
        let program = images(self.number)?;
        if (program.span() as u64, program.mark()) != (self.images, self.mark) {
            return Err(ImagesError::OtherProgram);
        }
        let (span, room) = (program.span(), slot.space.layout().images);
        if span > room && program.fixed().is_none() {
            return Err(ImagesError::Room { span, room });
        }
        slot.images = Piece::reserved(slot.images.home, span, IMAGES_ALIGN)?;
        // SAFETY: as many bytes as the program spans, reserved just now.
        Ok(unsafe { program.map_again(slot.images.now) }?)
    }
}
