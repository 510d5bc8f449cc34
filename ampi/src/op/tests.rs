use super::predefined::PREDEFINED;
use super::*;
use crate::datatype::{BASICS, Basic};

fn bytes<T: Copy, const N: usize>(values: &[T], to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|value| to(*value)).collect()
}

fn apply(op: Predefined, basic: Basic, left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut result = right.to_vec();
    op.apply(basic, left, &mut result).unwrap();
    result
}

#[test]
fn integers() {
    let of = |values: &[i32]| bytes(values, i32::to_ne_bytes);
    let (left, right) = (of(&[5, -6, 0, i32::MAX]), of(&[3, -3, 2, 1]));
    let expected = [
        (Predefined::Max, [5, -3, 2, i32::MAX]),
        (Predefined::Min, [3, -6, 0, 1]),
        (Predefined::Sum, [8, -9, 2, i32::MIN]),
        (Predefined::Product, [15, 18, 0, i32::MAX]),
        (Predefined::LogicalAnd, [1, 1, 0, 1]),
        (Predefined::LogicalOr, [1, 1, 1, 1]),
        (Predefined::LogicalXor, [0, 0, 1, 0]),
        (Predefined::BitAnd, [1, -8, 0, 1]),
        (Predefined::BitOr, [7, -1, 2, i32::MAX]),
        (Predefined::BitXor, [6, 7, 2, i32::MAX - 1]),
        (Predefined::Replace, [5, -6, 0, i32::MAX]),
        (Predefined::NoOp, [3, -3, 2, 1]),
    ];
    for (op, values) in expected {
        assert_eq!(apply(op, Basic::I32, &left, &right), of(&values), "{op:?}");
    }
    assert_eq!(apply(Predefined::Max, Basic::U8, &[200], &[100]), [200]);
    assert_eq!(apply(Predefined::Max, Basic::I8, &[200], &[100]), [100]);
}

#[test]
fn floats_and_complex_numbers() {
    let of = |values: &[f64]| bytes(values, f64::to_ne_bytes);
    assert_eq!(
        apply(Predefined::Sum, Basic::F64, &of(&[0.5, 1e300]), &of(&[0.25, 1e300])),
        of(&[0.75, 2e300])
    );
    let product = apply(Predefined::Product, Basic::C64, &of(&[1.0, 2.0]), &of(&[3.0, 4.0]));
    assert_eq!(product, of(&[-5.0, 10.0]));
    assert_eq!(apply(Predefined::Sum, Basic::C64, &of(&[1.0, 2.0]), &of(&[3.0, 4.0])), of(&[4.0, 6.0]));
}

#[test]
fn bytes_are_unsigned() {
    assert_eq!(apply(Predefined::Sum, Basic::Byte, &[200, 1], &[100, 2]), [44, 3]);
    assert_eq!(apply(Predefined::Max, Basic::Byte, &[200, 1], &[100, 2]), [200, 2]);
    assert_eq!(apply(Predefined::LogicalAnd, Basic::Byte, &[200, 1], &[100, 0]), [1, 0]);
}

#[test]
fn numbers_of_128_bits_and_complex_ones_of_those_and_of_80() {
    let quad = |value: f64| {
        use rustc_apfloat::{Float, FloatConvert, ieee};
        let exact: ieee::Quad = ieee::Double::from_bits(value.to_bits().into()).convert(&mut false).value;
        exact.to_bits().to_ne_bytes().to_vec()
    };
    let of = |values: &[f64]| values.iter().flat_map(|value| quad(*value)).collect::<Vec<u8>>();
    let sum = apply(Predefined::Sum, Basic::F128, &of(&[1.0]), &of(&[1e-30]));
    // A double would have lost what is small.
    assert_ne!(sum, of(&[1.0]));
    let back = apply(Predefined::Sum, Basic::F128, &sum, &of(&[-1.0]));
    let (low, high) = (of(&[0.999e-30]), of(&[1.001e-30]));
    assert_eq!(apply(Predefined::Max, Basic::F128, &low, &back), back);
    assert_eq!(apply(Predefined::Min, Basic::F128, &high, &back), back);
    let product = apply(Predefined::Product, Basic::C128, &of(&[1.0, 2.0]), &of(&[3.0, 4.0]));
    assert_eq!(product, of(&[-5.0, 10.0]));
    let of = |values: &[f64]| {
        values.iter().flat_map(|value| super::extended::from_f64(*value)).collect::<Vec<u8>>()
    };
    let product = apply(Predefined::Product, Basic::C80, &of(&[1.0, 2.0]), &of(&[3.0, 4.0]));
    assert_eq!(product, of(&[-5.0, 10.0]));
    assert_eq!(apply(Predefined::Sum, Basic::C80, &of(&[1.0, 2.0]), &of(&[3.0, 4.0])), of(&[4.0, 6.0]));
    assert!(!Predefined::Max.fits(Basic::C80) && !Predefined::BitOr.fits(Basic::F128));
}

#[test]
fn locations_prefer_the_lower_index() {
    let of = |pairs: &[(f64, i32)]| {
        let pair =
            |(value, index): (f64, i32)| [value.to_ne_bytes(), i64::from(index).to_ne_bytes()].concat();
        pairs.iter().flat_map(|p| pair(*p)).collect::<Vec<u8>>()
    };
    let (left, right) = (of(&[(2.0, 7), (1.0, 3), (4.0, 9)]), of(&[(1.0, 1), (1.0, 5), (4.0, 2)]));
    let mut max = right.clone();
    assert!(Location::Max.apply(Basic::F64, &left, &mut max));
    assert_eq!(max, of(&[(2.0, 7), (1.0, 3), (4.0, 2)]));
    let mut min = right;
    assert!(Location::Min.apply(Basic::F64, &left, &mut min));
    assert_eq!(min, of(&[(1.0, 1), (1.0, 3), (4.0, 2)]));
    assert!(!Location::Max.apply(Basic::C64, &left, &mut min));
}

#[test]
fn a_pair_is_as_long_as_in_c() {
    for (basic, size, extent) in [
        (Basic::I16, 6, 8),
        (Basic::I32, 8, 8),
        (Basic::I64, 12, 16),
        (Basic::F32, 8, 8),
        (Basic::F64, 12, 16),
    ] {
        let pair = Location::datatype(basic).unwrap();
        assert_eq!((pair.size(), pair.extent()), (size, (0, extent)), "{basic:?}");
        let mut right = vec![0; 2 * extent as usize];
        right[extent as usize..].fill(0x7f);
        let expected = right.clone();
        let left = vec![0; right.len()];
        assert!(Location::Max.apply(basic, &left, &mut right));
        assert_eq!(right, expected, "{basic:?}: pairs of {extent} bytes");
    }
}

#[test]
fn each_operation_takes_the_values_that_it_fits_and_refuses_others() {
    for op in PREDEFINED {
        for basic in BASICS {
            // Not every sequence of bytes is a number of 80 bits.
            let of = |byte: u8| match basic {
                Basic::F80 => super::extended::from_f64(f64::from(byte)).repeat(2),
                _ => vec![byte; 32],
            };
            let (left, mut right) = (of(5), of(6));
            let applied = op.apply(basic, &left, &mut right);
            assert_eq!(applied.is_ok(), op.fits(basic), "{op:?} of {basic:?}");
            if applied.is_ok() && op != Predefined::NoOp && !matches!(op, Predefined::Max) {
                assert_ne!(right, of(6), "{op:?} of {basic:?} does something");
            }
        }
    }
    let error = Predefined::BitAnd.apply(Basic::F64, &[], &mut []).unwrap_err();
    assert_eq!(error.to_string(), "BitAnd is not defined for F64");
}

#[test]
fn handles() {
    let mut ops = Ops::default();
    assert_eq!(ops.get(Ops::handle_of(Predefined::Sum)), Ok(Op::Predefined(Predefined::Sum)));
    assert_eq!(ops.get(Ops::location(Location::Min)), Ok(Op::Location(Location::Min)));
    let mine = ops.insert(0x1234, false);
    assert!(!ops.get(mine).unwrap().is_commutative());
    ops.free(mine).unwrap();
    assert_eq!(ops.get(mine), Err(UnknownOp(mine)));
    assert_eq!(ops.free(Ops::location(Location::Max)), Err(UnknownOp(12)));
}

#[test]
fn numbers_of_80_bits() {
    let of = |values: &[f64]| bytes(values, super::extended::from_f64);
    let (left, right) = (of(&[1.5, -2.0, f64::NAN, f64::INFINITY]), of(&[0.5, 4.0, 1.0, 1.0]));
    let expected = [
        (Predefined::Sum, [2.0, 2.0, f64::NAN, f64::INFINITY]),
        (Predefined::Product, [0.75, -8.0, f64::NAN, f64::INFINITY]),
        (Predefined::Max, [1.5, 4.0, 1.0, f64::INFINITY]),
        (Predefined::Min, [0.5, -2.0, 1.0, 1.0]),
    ];
    for (op, values) in expected {
        assert_eq!(apply(op, Basic::F80, &left, &right), of(&values), "{op:?}");
    }
    // More digits than a `f64` has.
    let small = of(&[1.0 / (1u64 << 60) as f64]);
    let sum = apply(Predefined::Sum, Basic::F80, &of(&[1.0]), &small);
    assert_ne!(sum, of(&[1.0]));
    assert!(!Predefined::BitOr.fits(Basic::F80));
}

#[test]
fn pairs_of_two_of_a_kind() {
    let of = |values: &[f64]| bytes(values, f64::to_ne_bytes);
    let left = of(&[3.0, 1.0, 5.0, 2.0]);
    for (op, expected) in [(Location::Max, [3.0, 1.0, 6.0, 0.0]), (Location::Min, [2.0, 7.0, 5.0, 2.0])] {
        let mut right = of(&[2.0, 7.0, 6.0, 0.0]);
        assert!(op.apply_two(Basic::F64, &left, &mut right));
        assert_eq!(right, of(&expected));
    }
    // Of equal values the lower index counts.
    let mut right = of(&[3.0, 0.5]);
    assert!(Location::Max.apply_two(Basic::F64, &left[..16], &mut right));
    assert_eq!(right, of(&[3.0, 0.5]));
}
