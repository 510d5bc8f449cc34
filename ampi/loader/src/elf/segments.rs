//! Program headers: what of the file goes where in memory.

use std::ops::Range;

use super::{Bytes, Header, PROGRAM_HEADER};
use crate::{BASE_ALIGN, Malformed, PAGE};

/// No object may be longer in memory than this: a slot has room for less.
pub const OBJECT_MAX: usize = 1 << 30;

const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
const INTERPRETER: u32 = 3;
const NOTE: u32 = 4;
const TLS: u32 = 7;
const FRAMES: u32 = 0x6474_e550;
const STACK: u32 = 0x6474_e551;

/// Linkers make two.
const NOTES_MAX: usize = 8;

/// A part of the file and its place, relative to the object's own zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address in the object.
    pub at: usize,
    /// Bytes in memory; those beyond `file_len` are zero.
    pub len: usize,
    /// Offset in the file.
    pub offset: usize,
    /// Bytes in the file.
    pub file_len: usize,
    /// Its address has to be a multiple of this.
    pub align: usize,
    /// Whether the program may write to it.
    pub writable: bool,
    /// Whether there is code in it.
    pub executable: bool,
}

impl Segment {
    /// Whole pages.
    pub fn pages(&self) -> Range<usize> {
        self.at / PAGE * PAGE..(self.at + self.len).next_multiple_of(PAGE)
    }
}

/// All program headers that matter.
#[derive(Debug, Default)]
pub struct Segments {
    /// What is mapped, in the order of addresses, on pages of their own.
    pub loads: Vec<Segment>,
    /// The dynamic section.
    pub dynamic: Option<Segment>,
    /// Notes of whoever has made the file; a few at most are kept.
    pub notes: Vec<Segment>,
    /// The first values of thread-locals.
    pub thread_locals: Option<Segment>,
    /// The sorted table for unwinding (`.eh_frame_hdr`).
    pub frames: Option<usize>,
    /// Whether code is put onto the stack.
    pub executable_stack: bool,
    /// Whether a dynamic linker is asked for.
    pub interpreter: bool,
    /// Where the program headers are in memory, and how many.
    pub headers: Option<(usize, usize)>,
    /// Where an executable has to be that is not position-independent: addresses in the file are this much more. Zero
    /// for all others.
    pub start: usize,
}

impl Segments {
    /// Reads program headers. `file_len` is the length of the whole file.
    pub fn read(table: Bytes<'_>, header: &Header, file_len: usize) -> Result<Segments, Malformed> {
        let mut segments = Segments::default();
        for i in 0..header.count {
            let at = i * PROGRAM_HEADER;
            segments.add(table.u32(at)?, &segment(table, at)?, file_len)?;
        }
        segments.check_order()?;
        if !header.movable {
            segments.begin_at_zero();
        }
        segments.headers = segments.address_of(header.headers).map(|at| (at, header.count));
        Ok(segments)
    }

    fn add(&mut self, kind: u32, segment: &Segment, file_len: usize) -> Result<(), Malformed> {
        if segment.at.checked_add(segment.len).is_none_or(|end| end > OBJECT_MAX) {
            return match kind {
                LOAD | DYNAMIC | TLS => {
                    Err(Malformed { what: "a segment is longer than 1 GiB", at: segment.at })
                }
                _ => Ok(()),
            };
        }
        match kind {
            LOAD if segment.len > 0 => {
                check_load(segment, file_len)?;
                self.loads.push(*segment);
            }
            DYNAMIC => self.dynamic = Some(*segment),
            NOTE if self.notes.len() < NOTES_MAX => self.notes.push(*segment),
            TLS => self.thread_locals = Some(check_thread_locals(segment)?),
            FRAMES => self.frames = Some(segment.at),
            STACK => self.executable_stack = segment.executable,
            INTERPRETER => self.interpreter = true,
            _ => {}
        }
        Ok(())
    }

    /// Addresses from here on are relative to where the executable has to be.
    fn begin_at_zero(&mut self) {
        self.start = self.loads[0].at / BASE_ALIGN * BASE_ALIGN;
        let all = self.loads.iter_mut().chain(&mut self.dynamic).chain(&mut self.thread_locals);
        all.for_each(|segment| segment.at = segment.at.wrapping_sub(self.start));
        self.frames = self.frames.map(|at| at.wrapping_sub(self.start));
    }

    fn check_order(&self) -> Result<(), Malformed> {
        let overlap = self.loads.windows(2).find(|two| two[0].pages().end > two[1].pages().start);
        match overlap {
            Some(two) => Err(Malformed { what: "two segments share a page", at: two[1].at }),
            None if self.loads.is_empty() => Err(Malformed { what: "nothing of it is to be loaded", at: 0 }),
            None => Ok(()),
        }
    }

    /// Where in memory a part of the file is.
    fn address_of(&self, offset: usize) -> Option<usize> {
        let holds = |s: &&Segment| offset >= s.offset && offset - s.offset < s.file_len;
        self.loads.iter().find(holds).map(|s| s.at + (offset - s.offset))
    }

    /// Bytes from the object's zero to its end, whole pages.
    pub fn span(&self) -> usize {
        self.loads.last().map_or(0, |last| last.pages().end)
    }

    /// Bytes from the beginning of the file that are loaded.
    pub fn file_end(&self) -> usize {
        self.loads.iter().map(|s| s.offset + s.file_len).max().unwrap_or(0)
    }

    /// The segment that has all of these addresses.
    pub fn holding(&self, at: usize, len: usize) -> Option<&Segment> {
        self.loads.iter().find(|s| at >= s.at && len <= s.len && at - s.at <= s.len - len)
    }
}

fn segment(table: Bytes<'_>, at: usize) -> Result<Segment, Malformed> {
    let flags = table.u32(at + 4)?;
    Ok(Segment {
        offset: table.word(at + 8)?,
        at: table.word(at + 16)?,
        file_len: table.word(at + 32)?,
        len: table.word(at + 40)?,
        align: table.word(at + 48)?.max(1),
        writable: flags & 2 != 0,
        executable: flags & 1 != 0,
    })
}

fn check_load(segment: &Segment, file_len: usize) -> Result<(), Malformed> {
    let at = segment.at;
    if segment.file_len > segment.len {
        return Err(Malformed { what: "a segment is longer in the file than in memory", at });
    }
    if segment.offset.checked_add(segment.file_len).is_none_or(|end| end > file_len) {
        return Err(Malformed { what: "a segment goes beyond the end of the file", at });
    }
    if segment.file_len > 0 && segment.offset % PAGE != at % PAGE {
        return Err(Malformed { what: "a segment does not begin where its page does", at });
    }
    if segment.len > segment.file_len && !segment.writable {
        return Err(Malformed { what: "zeroes after a segment that cannot be written to", at });
    }
    Ok(())
}

fn check_thread_locals(segment: &Segment) -> Result<Segment, Malformed> {
    if !segment.align.is_power_of_two() {
        return Err(Malformed { what: "thread-locals are aligned to no power of two", at: segment.at });
    }
    if segment.file_len > segment.len {
        return Err(Malformed {
            what: "thread-locals are longer in the file than in memory",
            at: segment.at,
        });
    }
    Ok(*segment)
}
