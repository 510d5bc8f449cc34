//! Numbers that follow from a seed, and hashes.

/// splitmix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(hash(&[seed, 0x746c_736d]))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Less than this.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// One time in so many.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

pub fn hash(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0x5bd1_e995, |sum, number| mix(sum ^ mix(*number)).wrapping_add(*number))
}
