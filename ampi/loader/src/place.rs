//! Where in the image the objects of a program are.

use crate::elf::{Elf, OBJECT_MAX};
use crate::{BASE_ALIGN, LoadError, Malformed, PAGE};

/// Programs with all their libraries may be this long in memory.
const SPAN_MAX: usize = 1 << 31;

/// One after the other from an offset on; where the last one ends.
pub fn place_objects(objects: &[Elf], start: usize) -> Result<(Vec<usize>, usize), LoadError> {
    let (mut offsets, mut end) = (Vec::new(), start);
    for elf in objects {
        let align = elf.segments.loads.iter().map(|load| load.align).max().unwrap_or(PAGE);
        // More is the linker's habit, for pages that it could not know the length of.
        let align = align.clamp(PAGE, BASE_ALIGN);
        if !align.is_power_of_two() {
            let fault = Malformed { what: "a segment is aligned to no power of two", at: align };
            return Err(elf.damaged(fault));
        }
        let at = end.next_multiple_of(align);
        offsets.push(at);
        end = at + elf.segments.span();
        check_span(&objects[0], end)?;
    }
    Ok((offsets, end))
}

/// Whether a program of that many bytes is too long.
pub fn check_span(program: &Elf, bytes: usize) -> Result<(), LoadError> {
    const { assert!(OBJECT_MAX < SPAN_MAX) };
    if bytes > SPAN_MAX {
        let (path, room) = (program.path.clone(), "addresses");
        return Err(LoadError::TooLarge { path, room, bytes, limit: SPAN_MAX });
    }
    Ok(())
}
