//! Against a reference that keeps all 2,100 bits.

use num_bigint::{BigInt, BigUint, Sign};
use proptest::prelude::*;
use talisman_pup::{from_bytes, to_bytes};

use super::*;

fn exact(numbers: &[f64]) -> ExactSum {
    let mut sum = ExactSum::new();
    numbers.iter().for_each(|&number| sum.add(number));
    sum
}

/// The exact sum in units of 2^-1074.
fn big_sum(numbers: &[f64]) -> BigInt {
    numbers
        .iter()
        .map(|number| {
            let (bits, exponent) = (number.to_bits(), number.to_bits() >> 52 & 0x7ff);
            let mantissa = bits & ((1 << 52) - 1) | if exponent > 0 { 1 << 52 } else { 0 };
            let sign = if *number < 0.0 { Sign::Minus } else { Sign::Plus };
            BigInt::from_biguint(sign, BigUint::from(mantissa) << exponent.saturating_sub(1))
        })
        .sum()
}

/// Rounds half to even to `precision` bits above `lowest`, as an integer: no floating point involved.
fn big_round(sum: &BigInt, precision: u64, lowest: u64) -> BigUint {
    let magnitude = sum.magnitude();
    let drop = magnitude.bits().saturating_sub(precision).max(lowest);
    let kept = magnitude >> drop;
    let rest = magnitude - (&kept << drop);
    let twice: BigUint = rest << 1u32;
    let one = BigUint::from(1u32) << drop;
    let up = twice > one || twice == one && kept.bit(0);
    (kept + u32::from(up)) << drop
}

fn reference_f64(numbers: &[f64]) -> f64 {
    let sum = big_sum(numbers);
    let rounded = big_round(&sum, 53, 0);
    let magnitude = if rounded.bits() > 1024 + 1074 {
        f64::INFINITY
    } else {
        // 53 significant bits: both the conversion and the scaling in two steps are exact.
        let shift = rounded.bits().saturating_sub(53);
        let mantissa = u64::try_from(&rounded >> shift).unwrap() as f64;
        let half = shift as i32 / 2;
        mantissa * f64::from_bits(1) * 2f64.powi(half) * 2f64.powi(shift as i32 - half)
    };
    if sum.sign() == Sign::Minus { -magnitude } else { magnitude }
}

fn reference_f32(numbers: &[f32]) -> f32 {
    let sum = big_sum(&numbers.iter().map(|&number| number.into()).collect::<Vec<_>>());
    let rounded = big_round(&sum, 24, 1074 - 149) >> (1074u32 - 149);
    let magnitude = if rounded.bits() > 128 + 149 {
        f32::INFINITY
    } else {
        let shift = rounded.bits().saturating_sub(24);
        let mantissa = u32::try_from(&rounded >> shift).unwrap();
        (f64::from(mantissa) * 2f64.powi(shift as i32 - 149)) as f32
    };
    if sum.sign() == Sign::Minus { -magnitude } else { magnitude }
}

/// Finite numbers of every size, of sizes near each other, and near-opposites.
fn numbers() -> impl Strategy<Value = Vec<f64>> {
    let any = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |number| number.is_finite());
    let near = -1e6..1e6f64;
    let tiny = (0..1u64 << 54).prop_map(f64::from_bits);
    let opposite = (0..64u64).prop_map(|k| f64::from_bits((1023 << 52) + k + ((k % 2) << 63)));
    let huge = prop_oneof![Just(f64::MAX), Just(-f64::MAX), Just(1e308)];
    prop::collection::vec(prop_oneof![any, near, tiny, opposite, huge], 0..80)
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits()
}

proptest! {
    #[test]
    fn equals_the_reference(numbers in numbers()) {
        let (sum, wanted) = (exact(&numbers).to_f64(), reference_f64(&numbers));
        prop_assert_eq!(sum, wanted);
    }

    #[test]
    fn one_size_equals_the_reference(numbers in prop::collection::vec(-1.0..1.0f64, 1..80)) {
        prop_assert!(same(exact(&numbers).to_f64(), reference_f64(&numbers)));
    }

    #[test]
    fn f32_is_rounded_once(bits in prop::collection::vec(any::<u32>(), 1..40), spread in 1..255u32) {
        // Exponents within `spread` of one, so that halfway cases of the short mantissa come up.
        let number = |bits: &u32| f32::from_bits(bits & 0x807f_ffff | (((bits >> 23) & 255) % spread) << 23);
        let numbers: Vec<f32> = bits.iter().map(number).collect();
        let mut sum = ExactSum::new();
        numbers.iter().for_each(|&number| sum.add(number.into()));
        prop_assert_eq!(sum.to_f32(), reference_f32(&numbers));
    }

    #[test]
    fn ties_and_near_ties_equal_the_reference(bits in 1 << 58..1023u64 << 52, nudge in -2..=2i32, back: bool) {
        // Half a unit in the last place of the first number, and a trifle.
        let number = f64::from_bits(bits);
        let half = (f64::from_bits(bits + 1) - number) / 2.0;
        let numbers = [number, if back { -half } else { half }, f64::from(nudge) * f64::from_bits(1)];
        prop_assert!(same(exact(&numbers).to_f64(), reference_f64(&numbers)));
    }

    #[test]
    fn any_order_and_any_tree_give_the_same_bits(
        numbers in prop_oneof![
            prop::collection::vec(any::<u64>().prop_map(f64::from_bits), 0..60),
            numbers(),
            prop::collection::vec(prop_oneof![-1.0..1.0f64, -1e11..1e11f64, -1e-11..1e-11f64], 0..60),
        ],
        shuffled_by: u64,
        joins in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>()), 60),
    ) {
        let wanted = exact(&numbers);
        let mut shuffled = numbers.clone();
        shuffled.sort_by_key(|number| (number.to_bits() ^ shuffled_by).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut parts: Vec<ExactSum> = shuffled.chunks(3).map(exact).collect();
        for (a, b, packed) in joins {
            if parts.len() < 2 { break }
            let part = parts.swap_remove(a.index(parts.len()));
            let into = b.index(parts.len());
            parts[into].merge(&if packed { from_bytes(&to_bytes(&part)).unwrap() } else { part });
        }
        let merged = parts.pop().unwrap_or_default();
        prop_assert!(same(merged.to_f64(), wanted.to_f64()));
        prop_assert_eq!(merged.to_f32().to_bits(), wanted.to_f32().to_bits());
        prop_assert_eq!(to_bytes(&merged), to_bytes(&wanted), "equal sums are equal on the wire");
    }

    #[test]
    fn any_bytes_are_survived(bytes: Vec<u8>, more: Vec<u8>) {
        if let (Ok(mut a), Ok(b)) = (from_bytes::<ExactSum>(&bytes), from_bytes::<ExactSum>(&more)) {
            a.merge(&b);
            a.add(1.0);
            let _ = (a.to_f64(), a.to_f32());
        }
    }
}

#[test]
fn forged_buckets_are_survived() {
    for buckets in [vec![i128::MAX; 64], vec![i128::MIN; 64], vec![i128::MIN; 1]] {
        let mut sum = ExactSum { wide: buckets, ..ExactSum::new() };
        sum.merge(&sum.clone());
        let _ = (sum.to_f64(), sum.to_f32());
    }
}

#[test]
fn halves_go_to_even() {
    let half_step = f64::EPSILON / 2.0;
    assert_eq!(exact(&[1.0, half_step]).to_f64(), 1.0);
    assert_eq!(exact(&[1.0, half_step, f64::from_bits(1)]).to_f64(), 1.0 + f64::EPSILON);
    assert_eq!(exact(&[1.0, half_step, -f64::from_bits(1)]).to_f64(), 1.0);
    assert_eq!(exact(&[1.0 + f64::EPSILON, half_step]).to_f64(), 1.0 + 2.0 * f64::EPSILON);
    // By way of f64 the last would be rounded away first, and then the tie to even.
    let sum = exact(&[1.0, f32::EPSILON as f64 / 2.0, 2f64.powi(-100)]);
    assert_eq!(sum.to_f32(), 1.0 + f32::EPSILON);
}

#[test]
fn the_ends_of_the_range() {
    assert_eq!(exact(&[1e308, 1e308, -1e308, -1e308, 5e-324, 5e-324]).to_f64(), 1e-323);
    assert_eq!(exact(&[f64::MAX, f64::MAX]).to_f64(), f64::INFINITY);
    assert_eq!(exact(&[-f64::MAX, -f64::MAX]).to_f64(), f64::NEG_INFINITY);
    assert_eq!(exact(&[f64::MAX, f64::MAX, -f64::MAX]).to_f64(), f64::MAX);
    assert_eq!(exact(&[f64::MIN_POSITIVE, -5e-324]).to_f64(), f64::MIN_POSITIVE - 5e-324);
}

#[test]
fn infinities_and_nan() {
    const UP: f64 = f64::INFINITY;
    assert_eq!(exact(&[1.0, UP]).to_f64(), UP);
    assert_eq!(exact(&[-UP, 1.0]).to_f32(), f32::NEG_INFINITY);
    let negative_nan = f64::from_bits(u64::MAX);
    for numbers in [&[UP, -UP][..], &[negative_nan, 1.0], &[f64::NAN, -UP]] {
        assert!(same(exact(numbers).to_f64(), f64::NAN), "{numbers:?}");
    }
}

#[test]
fn zeros() {
    assert!(same(exact(&[]).to_f64(), 0.0));
    assert!(same(exact(&[-0.0, -0.0]).to_f64(), -0.0));
    assert!(same(exact(&[-0.0, 0.0]).to_f64(), 0.0));
    for numbers in [&[1.0, -1.0, -0.0][..], &[1e300, -1e300, 1e-300, -1e-300, -0.0]] {
        let sum = exact(numbers);
        assert!(same(sum.to_f64(), 0.0));
        let mut packed: ExactSum = from_bytes(&to_bytes(&sum)).unwrap();
        packed.merge(&exact(&[-0.0]));
        assert!(same(packed.to_f64(), 0.0), "the wire does not forget what cancelled");
    }
}

#[test]
fn very_many_summands() {
    let mut sum = exact(&[f64::MAX]);
    for _ in 0..42 {
        let twice = sum.clone();
        sum.merge(&twice);
    }
    sum.merge(&exact(&[1.0]));
    let mut back = exact(&[-f64::MAX]);
    for _ in 0..42 {
        let twice = back.clone();
        back.merge(&twice);
    }
    sum.merge(&back);
    assert_eq!(sum.to_f64(), 1.0);
}

#[test]
fn sums_are_small() {
    assert!(size_of::<ExactSum>() <= 80);
    let noisy = exact(&[1.0, 1e-17, -1e-17, 3e5]);
    assert!(noisy.wide.capacity() <= 8, "the heap grows with the exponents met, not to all of them");
    assert!(to_bytes(&exact(&[1.0, 2.0, 3.0])).len() <= 35);
}
