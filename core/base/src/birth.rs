//! Names of births: of elements that come into their collection late.

use crate::ids::PeId;
use crate::pup::Pup;

/// A birth's name: one for each insertion of a job, and for each member of a group that is made late.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pup)]
pub struct BirthId(u64);

impl BirthId {
    /// Of an element that was there from the start.
    pub const NONE: BirthId = BirthId(0);

    /// The insertion of this number that a PE counted, from 1.
    pub fn new(pe: PeId, number: u64) -> Self {
        debug_assert!(pe < 1 << 24 && number < 1 << 39, "an insertion's number has 39 bits, a PE's 24");
        BirthId(number << 24 | u64::from(pe))
    }

    /// Of a member of a group that is made late.
    pub fn of_late(member: u32) -> Self {
        BirthId(1 << 63 | u64::from(member))
    }

    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// 128 bits that look random: sums of them are equal, for all that a job can count, when what they are sums of is.
    pub fn mark(self) -> u128 {
        u128::from(mixed(self.0)) << 64 | u128::from(mixed(!self.0))
    }
}

/// SplitMix64's output function (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
fn mixed(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
