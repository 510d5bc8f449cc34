//! Giving a copy of a program its values: what is done for each rank.

use std::sync::OnceLock;

use talisman_observe::mutations::mutated;

use crate::plan::{Plan, Step};

impl Plan {
    /// # Safety
    /// The program that this is the plan of is mapped at `base`, and nothing of it runs.
    pub unsafe fn carry_out(&self, base: usize) {
        // SAFETY: places were checked to be inside of writable data when the plan was made.
        unsafe {
            for word in &self.relative {
                ((base + word.at) as *mut usize).write_unaligned(base.wrapping_add(word.value));
            }
            for word in &self.fixed {
                ((base + word.at) as *mut usize).write_unaligned(word.value);
            }
            if mutated("got-word-of-another-slot") {
                self.leave_a_word_in_the_first_slot(base);
            }
            for step in &self.steps {
                step.carry_out(base);
            }
        }
    }

    /// A deliberate mistake: the last word points to where it pointed in the first copy.
    ///
    /// # Safety
    /// As for [`Plan::carry_out`].
    unsafe fn leave_a_word_in_the_first_slot(&self, base: usize) {
        static FIRST: OnceLock<usize> = OnceLock::new();
        let first = *FIRST.get_or_init(|| base);
        if let Some(word) = self.relative.last() {
            // SAFETY: the caller's promise; as for all words.
            unsafe { ((base + word.at) as *mut usize).write_unaligned(first.wrapping_add(word.value)) };
        }
    }
}

impl Step {
    /// # Safety
    /// As for [`Plan::carry_out`].
    unsafe fn carry_out(&self, base: usize) {
        // SAFETY: the same; functions were checked to be in the program's code.
        unsafe {
            match *self {
                Step::Copy { at, from, len } => {
                    std::ptr::copy((base + from) as *const u8, (base + at) as *mut u8, len);
                }
                Step::CopyFromProcess { at, from, len } => {
                    std::ptr::copy(from as *const u8, (base + at) as *mut u8, len);
                }
                Step::Call { at, function, addend } => {
                    let choose: extern "C" fn() -> usize = std::mem::transmute(base + function);
                    ((base + at) as *mut usize).write_unaligned(choose().wrapping_add(addend));
                }
            }
        }
    }
}
