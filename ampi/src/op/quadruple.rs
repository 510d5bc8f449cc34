//! Numbers of 128 bits, which the processor does not know: computed by a library.

use std::cmp::Ordering;

use rustc_apfloat::Float;
use rustc_apfloat::ieee::Quad;

use super::predefined::Number;

/// A number of 128 bits as a compiler of C or Fortran has it in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct F128(Quad);

impl Number<16> for F128 {
    fn read(bytes: &[u8]) -> F128 {
        let mut own = [0; 16];
        own.copy_from_slice(bytes);
        F128(Quad::from_bits(u128::from_ne_bytes(own)))
    }

    fn bytes(self) -> [u8; 16] {
        self.0.to_bits().to_ne_bytes()
    }

    fn sum(self, other: F128) -> F128 {
        F128((self.0 + other.0).value)
    }

    fn difference(self, other: F128) -> F128 {
        F128((self.0 - other.0).value)
    }

    fn product(self, other: F128) -> F128 {
        F128((self.0 * other.0).value)
    }
}

impl PartialEq for F128 {
    fn eq(&self, other: &F128) -> bool {
        self.0 == other.0
    }
}

impl PartialOrd for F128 {
    fn partial_cmp(&self, other: &F128) -> Option<Ordering> {
        self.0.partial_cmp(&other.0)
    }
}
