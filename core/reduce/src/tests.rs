//! Each reducer gives the same bits in any order and over any tree.

use std::fmt::Debug;

use proptest::prelude::*;
use talisman_pup::{from_bytes, to_bytes};

use super::*;

/// Reduces the values, whose contributors are numbered in their order, in the order and tree that `seed` gives.
fn reduced<T: Clone, R: Reducer<T>>(values: &[T], mut seed: u64, _: R) -> Result<R::Output, ReduceError> {
    let mut random = |below: usize| {
        seed = (seed ^ seed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(0x9e37_79b9);
        (seed >> 33) as usize % below
    };
    let mut left: Vec<(u128, T)> = (0..).zip(values.iter().cloned()).collect();
    let mut partials: Vec<R::Partial> = Vec::new();
    while !left.is_empty() {
        let (at, value) = left.swap_remove(random(left.len()));
        match random(3) {
            0 if !partials.is_empty() => {
                let into = random(partials.len());
                R::add(&mut partials[into], value, at);
            }
            _ => partials.push(R::lift(value, at)),
        }
    }
    while partials.len() > 1 {
        let next = partials.swap_remove(random(partials.len()));
        let next = if random(2) == 0 { from_bytes(&to_bytes(&next)).unwrap() } else { next };
        let into = random(partials.len());
        R::combine(&mut partials[into], next);
    }
    R::finish(partials.pop().expect("at least one value"))
}

/// The result of several orders and trees, as packed, must be one; gives it.
fn one_result<T: Clone, R: Reducer<T>>(values: &[T], seed: u64, reducer: R) -> Result<R::Output, String> {
    let of = |seed| match reduced(values, seed, reducer) {
        Ok(output) => Ok(to_bytes(&output)),
        Err(error) => Err(error.to_string()),
    };
    let first = of(seed);
    for other in 1..8 {
        assert_eq!(of(seed.wrapping_add(other)), first, "another order, another result");
    }
    first.map(|bytes| from_bytes(&bytes).unwrap())
}

fn any_float() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<u64>().prop_map(f64::from_bits),
        8 => -2.0..2.0f64,
        1 => prop_oneof![Just(0.0), Just(-0.0), Just(1e200), Just(-1e200)],
    ]
}

fn floats() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(any_float(), 1..30)
}

proptest! {
    #[test]
    fn floats_of_any_kind(values in floats(), seed: u64) {
        let all = values.iter().map(|&v| (v, v, v, v, v)).collect::<Vec<_>>();
        one_result(&all, seed, (Sum, Product, Min, Max, Stats)).unwrap();
        let rows = values.iter().map(|&v| (vec![[v, 1.0]; 3], v as f32)).collect::<Vec<_>>();
        one_result(&rows, seed, (Sum, Sum)).unwrap();
    }

    #[test]
    fn integers_sum_or_overflow(values in prop::collection::vec(any::<i64>(), 1..20), seed: u64) {
        let wide: i128 = values.iter().map(|&v| i128::from(v)).sum();
        prop_assert_eq!(one_result(&values, seed, Sum).ok(), i64::try_from(wide).ok());
    }

    #[test]
    fn integers_multiply_or_overflow(values in prop::collection::vec(-9..9i16, 1..30), seed: u64) {
        let wide: f64 = values.iter().map(|&v| f64::from(v)).product(); // exact below 2^53
        let wanted = if wide.abs() < 1e9 { i16::try_from(wide as i64).ok() } else { None };
        prop_assert_eq!(one_result(&values, seed, Product).ok(), wanted);
    }

    #[test]
    fn integers_and_their_bits(values in prop::collection::vec(any::<u16>(), 1..20), seed: u64) {
        let all = values.iter().map(|&v| (v, v, v, v, v)).collect::<Vec<_>>();
        let (min, max, and, or, xor) = one_result(&all, seed, (Min, Max, BitAnd, BitOr, BitXor)).unwrap();
        prop_assert_eq!((min, max), (*values.iter().min().unwrap(), *values.iter().max().unwrap()));
        prop_assert_eq!(and, values.iter().fold(!0, |a, b| a & b));
        prop_assert_eq!(or, values.iter().fold(0, |a, b| a | b));
        prop_assert_eq!(xor, values.iter().fold(0, |a, b| a ^ b));
    }

    #[test]
    fn booleans(values in prop::collection::vec(any::<bool>(), 1..20), seed: u64) {
        let all = values.iter().map(|&v| (v, v, v)).collect::<Vec<_>>();
        let (every, some, odd) = one_result(&all, seed, (All, Any, Xor)).unwrap();
        prop_assert_eq!(every, values.iter().all(|v| *v));
        prop_assert_eq!(some, values.iter().any(|v| *v));
        prop_assert_eq!(odd, values.iter().filter(|v| **v).count() % 2 == 1);
    }

    #[test]
    fn collections_are_in_index_order(values in prop::collection::vec(".{0,5}", 1..20), seed: u64) {
        let all = values.iter().map(|v| (v.clone(), v.clone(), v.clone(), v.clone())).collect::<Vec<_>>();
        let reducers = (Concat, Gather::<u32>::new(), Set, Merged);
        let all = all.into_iter().map(|(a, b, c, d)| (a, b, c, Text(d))).collect::<Vec<_>>();
        let (list, by_index, set, text) = one_result(&all, seed, reducers).unwrap();
        prop_assert_eq!(&list, &values);
        prop_assert_eq!(by_index, (0..).zip(values.clone()).collect::<Vec<_>>());
        prop_assert_eq!(set, values.iter().cloned().collect());
        prop_assert_eq!(text.0, values.concat());
    }

    #[test]
    fn uneven_rows_are_one_error(lengths in prop::collection::vec(0..4usize, 1..12), seed: u64) {
        let rows: Vec<Vec<u8>> = lengths.iter().map(|&len| vec![1; len]).collect();
        let (shortest, longest) = (lengths.iter().min().unwrap(), lengths.iter().max().unwrap());
        match one_result(&rows, seed, Max) {
            Ok(row) => prop_assert!(shortest == longest && row.len() == *longest),
            Err(error) => {
                let lengths = format!("lengths, {shortest} to {longest},");
                prop_assert!(error.contains(&lengths));
            }
        }
    }

    #[test]
    fn variance_is_close(values in prop::collection::vec(-2.0..2.0f64, 1..30), offset in -1e6..1e6f64, seed: u64) {
        let moved: Vec<f64> = values.iter().map(|v| v + offset).collect();
        let stats = one_result(&moved, seed, Stats).unwrap();
        let mean = moved.iter().sum::<f64>() / moved.len() as f64;
        let variance = moved.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / moved.len() as f64;
        prop_assert!((stats.mean - mean).abs() <= 1e-9);
        prop_assert!((stats.variance - variance).abs() <= 1e-8 * (1.0 + variance), "{stats:?} {variance}");
    }
}

/// A merge that depends on the order.
#[derive(Clone, Pup)]
struct Text(String);

impl Merge for Text {
    fn merge(&mut self, other: Self) {
        self.0.push_str(&other.0);
    }
}

/// A merge that does not, and says so.
#[derive(Clone, Debug, PartialEq, Pup)]
struct Largest(u64);

impl Merge for Largest {
    const COMMUTES: bool = true;
    fn merge(&mut self, other: Self) {
        self.0 = self.0.max(other.0);
    }
}

#[test]
fn commuting_merges_happen_on_the_way() {
    let values: Vec<Largest> = [3, 9, 4].map(Largest).into();
    assert_eq!(one_result(&values, 1, Merged), Ok(Largest(9)));
    let mut partial = Merged::lift(Largest(1), 5);
    Merged::add(&mut partial, Largest(2), 4);
    Merged::combine(&mut partial, Merged::lift(Largest(7), 3));
    assert_eq!(partial.into_values().count(), 1, "one value travels, not three");
}

#[test]
fn extremes_of_floats_have_one_answer() {
    fn bits(values: &[f64]) -> (u64, u64) {
        let all: Vec<(f64, f64)> = values.iter().map(|&v| (v, v)).collect();
        let (min, max) = one_result(&all, 3, (Min, Max)).unwrap();
        (min.to_bits(), max.to_bits())
    }
    assert_eq!(bits(&[0.0, -0.0]), ((-0.0f64).to_bits(), 0.0f64.to_bits()));
    assert_eq!(bits(&[1.0, -f64::NAN, f64::INFINITY]), (f64::NAN.to_bits(), f64::NAN.to_bits()));
    assert_eq!(bits(&[f64::from_bits(u64::MAX)]), (f64::NAN.to_bits(), f64::NAN.to_bits()));
    assert_eq!(bits(&[-2.0, 5.0]), ((-2.0f64).to_bits(), 5f64.to_bits()));
}

#[test]
fn statistics_without_cancellation() {
    let stats = one_result(&[1e8 + 1.0, 1e8 + 2.0, 1e8 + 3.0], 0, Stats).unwrap();
    assert_eq!((stats.count, stats.mean, stats.min, stats.max), (3, 1e8 + 2.0, 1e8 + 1.0, 1e8 + 3.0));
    assert_eq!(stats.variance, 2.0 / 3.0);
    assert_eq!(stats.sample_variance(), 1.0);
    assert_eq!(one_result(&[0.1; 10], 0, Stats).unwrap().variance, 0.0);
    assert_eq!(one_result(&[1e200, -1e200], 0, Stats).unwrap().variance, f64::INFINITY);
    assert!(one_result(&[1.0, f64::INFINITY], 0, Stats).unwrap().variance.is_nan());
}

#[test]
fn a_product_is_zero_whatever_overflows() {
    assert_eq!(one_result(&[i64::MIN, i64::MIN, i64::MIN, i64::MAX, 0], 0, Product), Ok(0));
    assert_eq!(one_result(&[i64::MIN, 1], 0, Product), Ok(i64::MIN));
    let error = one_result(&[i64::MIN, -1], 0, Product).unwrap_err();
    assert!(error.starts_with("the product is too large for i64"), "{error}");
}

#[test]
fn indices_travel_in_few_bytes() {
    let mut ordered = Ordered::one(0u8, 1 << 100);
    for at in 0..100 {
        ordered.push(1, (1 << 100) + at);
    }
    assert_eq!(to_bytes(&ordered).len(), 25 + 101 * 2);
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes: Vec<u8>) {
        fn survives<T, R: Reducer<T>>(bytes: &[u8], _: R) {
            if let Ok(partial) = from_bytes::<R::Partial>(bytes) {
                let _ = R::finish(partial);
            }
        }
        survives::<Vec<f64>, _>(&bytes, Sum);
        survives::<f64, _>(&bytes, Stats);
        survives::<Vec<i32>, _>(&bytes, Product);
        survives::<u8, _>(&bytes, Gather::<(i32, i32)>::new());
        survives::<Text, _>(&bytes, Merged);
        survives::<(), _>(&bytes, Concat);
    }
}

const _: () = {
    // Rows nest, tuples hold rows, and rows hold tuples.
    const fn reduces<T, R: Reducer<T>>() {}
    reduces::<Vec<Vec<[f64; 3]>>, Sum>();
    reduces::<(Vec<bool>, [u8; 4], ()), (Any, BitXor, Nothing)>();
    reduces::<Vec<(f64, [u8; 2])>, (Sum, Max)>();
    const fn debug<T: Debug>() {}
    debug::<Gather<u32>>();
};
