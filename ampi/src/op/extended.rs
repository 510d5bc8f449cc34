//! Floating point of 80 bits (`long double` of C on this machine), by the processor's own unit for it.

use std::arch::asm;
use std::cmp::Ordering;

use super::predefined::Number;

/// A number of 80 bits in 16 bytes, as it lies in memory.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(super) struct F80([u8; 16]);

macro_rules! arithmetic {
    ($($name:ident $instruction:literal)*) => {$(
        fn $name(self, other: F80) -> F80 {
            let mut result = F80([0; 16]);
            // SAFETY: reads two numbers and writes one; the unit's stack is as before.
            unsafe {
                asm!(
                    "fld tbyte ptr [{a}]",
                    "fld tbyte ptr [{b}]",
                    $instruction,
                    "fstp tbyte ptr [{to}]",
                    a = in(reg) &self,
                    b = in(reg) &other,
                    to = in(reg) &mut result,
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                    out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                    options(nostack),
                );
            }
            result
        }
    )*};
}

impl Number<16> for F80 {
    fn read(bytes: &[u8]) -> F80 {
        let mut own = [0; 16];
        own.copy_from_slice(bytes);
        F80(own)
    }

    fn bytes(self) -> [u8; 16] {
        self.0
    }

    arithmetic! {
        sum "faddp st(1), st"
        difference "fsubp st(1), st"
        product "fmulp st(1), st"
    }
}

impl PartialEq for F80 {
    fn eq(&self, other: &F80) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for F80 {
    fn partial_cmp(&self, other: &F80) -> Option<Ordering> {
        let (is_above, is_below, has_no_order): (u8, u8, u8);
        // SAFETY: reads two numbers; the unit's stack is as before.
        unsafe {
            asm!(
                "fld tbyte ptr [{b}]",
                "fld tbyte ptr [{a}]",
                "fucomip st, st(1)",
                "seta {above}",
                "setb {below}",
                "setp {none}",
                "fstp st(0)",
                a = in(reg) self,
                b = in(reg) other,
                above = out(reg_byte) is_above,
                below = out(reg_byte) is_below,
                none = out(reg_byte) has_no_order,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        match (has_no_order, is_above, is_below) {
            (1, ..) => None,
            (_, 1, _) => Some(Ordering::Greater),
            (_, _, 1) => Some(Ordering::Less),
            _ => Some(Ordering::Equal),
        }
    }
}

#[cfg(test)]
pub(super) fn from_f64(value: f64) -> [u8; 16] {
    let mut wide = [0u8; 16];
    // SAFETY: reads one number and writes one; the unit's stack is as before.
    unsafe {
        asm!(
            "fld qword ptr [{from}]",
            "fstp tbyte ptr [{to}]",
            from = in(reg) &value,
            to = in(reg) wide.as_mut_ptr(),
            out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
            out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
            options(nostack),
        );
    }
    wide
}
