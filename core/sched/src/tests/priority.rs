//! Priorities and their queue against models.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::priority::{Priority, PriorityError};
use crate::queue::PriorityQueue;

fn from_bits(bits: &[bool]) -> Priority {
    Priority::bits(bits.iter().copied())
}

/// Whether not only the fractions but the vectors are the same.
fn same_bits(a: &Priority, b: &Priority) -> bool {
    a.to_parts() == b.to_parts()
}

/// The bits of a fraction, without the zeros at its end.
fn fraction(mut bits: Vec<bool>) -> Vec<bool> {
    while bits.last() == Some(&false) {
        bits.pop();
    }
    bits
}

fn int_bits(int: i32) -> Vec<bool> {
    let biased = int as u32 ^ 0x8000_0000;
    (0..32).rev().map(|bit| biased >> bit & 1 == 1).collect()
}

/// Bit vectors that often share a prefix, differ in zeros at the end only, or cross the words' borders.
fn bit_vectors() -> impl Strategy<Value = Vec<bool>> {
    let repeated = (any::<bool>(), 0usize..140).prop_map(|(bit, count)| vec![bit; count]);
    (repeated, vec(any::<bool>(), 0..4), 0usize..70).prop_map(|(mut bits, middle, zeros)| {
        bits.extend(middle);
        bits.extend(vec![false; zeros]);
        bits
    })
}

fn priorities() -> impl Strategy<Value = Vec<bool>> {
    prop_oneof![
        3 => (-40i32..40).prop_map(int_bits),
        1 => prop_oneof![Just(i32::MIN), Just(i32::MAX), any::<i32>()].prop_map(int_bits),
        2 => bit_vectors(),
    ]
}

proptest! {
    #[test]
    fn the_order_is_that_of_the_fractions(a in priorities(), b in priorities()) {
        let (x, y) = (from_bits(&a), from_bits(&b));
        let expected = fraction(a).cmp(&fraction(b));
        prop_assert_eq!(x.cmp(&y), expected);
        prop_assert_eq!(x == y, expected.is_eq());
    }

    #[test]
    fn integers_are_vectors_of_32_bits(a: i32, b: i32) {
        prop_assert_eq!(Priority::int(a).cmp(&Priority::int(b)), a.cmp(&b));
        prop_assert!(same_bits(&from_bits(&int_bits(a)), &Priority::int(a)));
        prop_assert_eq!(Priority::int(a).to_int(), Some(a));
    }

    #[test]
    fn to_int_finds_every_integer_and_no_other_fraction(bits in priorities()) {
        let expected = fraction(bits.clone());
        let short = expected.len() <= 32;
        let int = from_bits(&bits).to_int();
        prop_assert_eq!(int.is_some(), short);
        prop_assert!(int.is_none_or(|int| fraction(int_bits(int)) == expected));
    }

    #[test]
    fn extend_appends_the_low_bits(bits in bit_vectors(), value: u64, count in 0u32..=64) {
        let mut expected = bits.clone();
        expected.extend((0..count).rev().map(|bit| value >> bit & 1 == 1));
        prop_assert!(same_bits(&from_bits(&bits).extend(value, count), &from_bits(&expected)));
    }

    #[test]
    fn parts_come_together_again(bits in bit_vectors()) {
        let priority = from_bits(&bits);
        let (len, words) = priority.to_parts();
        prop_assert_eq!(len as usize, bits.len());
        prop_assert!(same_bits(&Priority::from_parts(len, words).unwrap(), &priority));
    }

    #[test]
    fn parts_from_outside_make_a_priority_or_an_error(len in 0u32..200, words in vec(any::<u64>(), 0..4)) {
        if let Ok(priority) = Priority::from_parts(len, &words) {
            prop_assert_eq!(priority.to_parts(), (len, &words[..]));
            prop_assert_eq!(priority.extend(0, 3), priority);
        }
    }

    /// The model is a stable sort: a list from which the first of the most urgent messages is taken.
    #[test]
    fn the_queue_is_a_stable_sort(actions in vec((0u8..5, priorities()), 0..200)) {
        let (mut queue, mut model) = (PriorityQueue::new(), Vec::new());
        for (number, (action, bits)) in actions.into_iter().enumerate() {
            match action {
                0 => prop_assert_eq!(queue.pop_urgent(), take_first(&mut model, true)),
                1 => prop_assert_eq!(queue.pop_background(), take_first(&mut model, false)),
                _ => {
                    queue.push(number, &from_bits(&bits));
                    model.push((fraction(bits), number));
                }
            }
            prop_assert_eq!((queue.len(), queue.is_empty()), (model.len(), model.is_empty()));
        }
        while let Some(number) = take_first(&mut model, true) {
            prop_assert_eq!(queue.pop_urgent(), Some(number));
        }
        while let Some(number) = take_first(&mut model, false) {
            prop_assert_eq!(queue.pop_background(), Some(number));
        }
        prop_assert!(queue.is_empty());
    }
}

fn take_first(model: &mut Vec<(Vec<bool>, usize)>, urgent: bool) -> Option<usize> {
    let default = vec![true];
    let candidates = model.iter().enumerate().filter(|(_, (fraction, _))| (*fraction < default) == urgent);
    let first = candidates.min_by_key(|(_, (fraction, number))| (fraction.clone(), *number))?.0;
    Some(model.remove(first).1)
}

#[test]
fn damaged_parts_are_refused() {
    assert_eq!(Priority::from_parts(65, &[0]).unwrap_err(), PriorityError::Words { bits: 65, words: 1 });
    assert_eq!(Priority::from_parts(0, &[0]).unwrap_err(), PriorityError::Words { bits: 0, words: 1 });
    assert_eq!(Priority::from_parts(3, &[1 << 60]).unwrap_err(), PriorityError::Tail { bits: 3 });
    assert!(Priority::from_parts(u32::MAX, &[0]).is_err());
}

#[test]
fn priorities_show_as_they_were_made() {
    assert_eq!(format!("{:?}", Priority::int(-3)), "Priority(-3)");
    assert_eq!(format!("{:?}", Priority::bits([true, false, true])), "Priority(0.101)");
}
