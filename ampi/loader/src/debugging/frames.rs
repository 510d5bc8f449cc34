//! Tables for unwinding (DWARF 5, 6.4; Linux Standard Base, 10.6): the registers of a caller from those of the called.

use addr2line::gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, ParsedEhFrameHdr, Register, RegisterRule, UnwindContext,
    UnwindSection, UnwindTableRow,
};

use super::files::{Slice, slice};
use super::walk::{RETURN_ADDRESS, Registers, STACK_POINTER, Stack};
use crate::elf::Sections;

/// Bytes of an address.
const ADDRESS: u8 = 8;

/// Those of a file.
pub struct Frames {
    index: ParsedEhFrameHdr<Slice>,
    frames: EhFrame<Slice>,
    bases: BaseAddresses,
}

impl Frames {
    /// None if there are none.
    pub fn of(sections: &Sections) -> Option<Frames> {
        let address = |name: &str| sections.address(name);
        let bases = BaseAddresses::default()
            .set_eh_frame_hdr(address(".eh_frame_hdr")?)
            .set_eh_frame(address(".eh_frame")?)
            .set_text(address(".text").unwrap_or(0));
        let index = EhFrameHdr::from(slice(sections, ".eh_frame_hdr")).parse(&bases, ADDRESS).ok()?;
        let mut frames = EhFrame::from(slice(sections, ".eh_frame"));
        frames.set_address_size(ADDRESS);
        Some(Frames { index, frames, bases })
    }

    /// The registers of the caller of a function that was interrupted, or has called, before `address`, as the file has
    /// addresses. None where the stack ends, or where its tables ask for more than compilers do.
    pub fn caller(&self, address: u64, registers: &Registers, stack: &Stack<'_>) -> Option<Registers> {
        let mut context = UnwindContext::new();
        let row = self.index.table()?.unwind_info_for_address(
            &self.frames,
            &self.bases,
            &mut context,
            address,
            |frames, bases, offset| frames.cie_from_offset(bases, offset),
        );
        apply(row.ok()?, registers, stack)
    }
}

fn apply(row: &UnwindTableRow<usize>, registers: &Registers, stack: &Stack<'_>) -> Option<Registers> {
    let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else { return None };
    let frame = registers.get(register.0)?.wrapping_add_signed(*offset as isize);
    let mut caller = registers.clone();
    for number in 0..=RETURN_ADDRESS {
        match row.register(Register(number)) {
            Some(RegisterRule::Offset(offset)) => {
                caller.set(number, stack.word(frame.wrapping_add_signed(offset as isize)));
            }
            Some(RegisterRule::SameValue) => {}
            None if number != RETURN_ADDRESS => {}
            _ => caller.set(number, None),
        }
    }
    caller.set(STACK_POINTER, Some(frame));
    Some(caller)
}
