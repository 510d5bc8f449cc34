//! Random numbers that are the same in every run.

/// SplitMix64 (Steele, Lea and Flood 2014): a counter and a good hash of it, so that every seed will do.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Rng { state: seed }
    }

    /// Any number.
    #[inline]
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scattered(self.state)
    }

    /// One of 0 to `limit` − 1, each as likely as the others but for one part in 2³²; 0 if there are none.
    #[inline]
    pub fn below(&mut self, limit: u32) -> u32 {
        (((self.number() >> 32) * u64::from(limit)) >> 32) as u32
    }

    /// From 0 to less than 1, with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A number that has nothing to do with `number`, and is another for every other one.
#[inline]
pub fn scattered(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_published_ones_of_their_seed() {
        let mut rng = Rng::new(1_234_567);
        assert_eq!(
            [rng.number(), rng.number(), rng.number()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn what_is_drawn_keeps_its_limits_and_reaches_all_of_them() {
        let mut rng = Rng::new(7);
        let mut drawn = [0; 5];
        for _ in 0..10_000 {
            drawn[rng.below(5) as usize] += 1;
            assert!((0.0..1.0).contains(&rng.unit()));
        }
        assert!(drawn.iter().all(|&times| (1_800..2_200).contains(&times)), "{drawn:?}");
        assert_eq!(rng.below(0), 0);
    }
}
