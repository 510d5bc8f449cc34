//! Short options: one letter each, several in one argument.

use std::ffi::{CStr, c_int};
use std::ptr::null_mut;

use super::{Scan, WRONG};

impl Scan {
    /// The short option that the rest of the argument begins with.
    pub(super) fn short_option(&mut self) -> c_int {
        let option = self.byte(0);
        let rest = self.rest().wrapping_add(1);
        self.set_rest(rest);
        if self.byte(0) == 0 {
            self.arguments.step();
        }
        let Some(wants) = self.find_short(option) else {
            self.say_short("invalid option", option);
            self.set_option(option);
            return WRONG;
        };
        match wants {
            0 => {}
            1 => return self.short_argument(option),
            _ => {
                if self.byte(0) != 0 {
                    self.set_argument(self.rest());
                    self.arguments.step();
                }
                self.set_rest(null_mut());
            }
        }
        c_int::from(option)
    }

    fn short_argument(&mut self, option: u8) -> c_int {
        let mut result = c_int::from(option);
        if self.byte(0) != 0 {
            self.set_argument(self.rest());
            self.arguments.step();
        } else if let Some(text) = self.arguments.take() {
            self.set_argument(text);
        } else {
            self.say_short("option requires an argument", option);
            self.set_option(option);
            result = if self.quiet { c_int::from(b':') } else { WRONG };
        }
        self.set_rest(null_mut());
        result
    }

    /// Whether the program's text of short options has this byte, maybe as a sign.
    pub(super) fn mentions(&self, byte: u8) -> bool {
        // SAFETY: a string of the program's.
        unsafe { CStr::from_ptr(self.short) }.to_bytes().contains(&byte)
    }

    /// How many colons are after a short option: none for one that there is not.
    pub(super) fn find_short(&self, option: u8) -> Option<usize> {
        if option == b':' || option == b';' || option == 0 {
            return None;
        }
        // SAFETY: a string of the program's.
        let short = unsafe { CStr::from_ptr(self.short) }.to_bytes();
        let at = short.iter().position(|byte| *byte == option)?;
        Some(short[at + 1..].iter().take(2).take_while(|byte| **byte == b':').count())
    }
}
