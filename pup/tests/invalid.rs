//! Bytes of the right number that are no value of the type.
extern crate talisman_pup as talisman;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::CString;
use std::net::IpAddr;
use std::num::NonZero;
use std::ops::{Bound, RangeInclusive};
use std::time::Duration;

use talisman::pup::{Pup, from_bytes, to_bytes};

/// Packs one type and reads another; gives the error as people see it.
fn refused<T: Pup>(written: impl Pup) -> String {
    from_bytes::<T>(&to_bytes(&written)).err().expect("it was read").to_string()
}

#[test]
fn numbers_that_are_no_value() {
    assert_eq!(refused::<bool>(2u8), "2 is not a valid bool (at byte 1)");
    assert_eq!(refused::<char>(0xd800u32), "55296 is not a valid char (at byte 4)");
    assert_eq!(refused::<NonZero<u16>>(0u16), "0 is not a valid NonZero<u16> (at byte 2)");
    assert_eq!(refused::<Ordering>(2u8), "2 is not a valid Ordering (at byte 1)");
    assert_eq!(refused::<Option<u8>>(2u8), "2 is not a valid Option (at byte 1)");
    assert_eq!(refused::<Result<u8, u8>>((2u8, 0u8)), "2 is not a valid Result (at byte 1)");
    assert_eq!(refused::<Bound<u8>>(3u8), "3 is not a valid Bound (at byte 1)");
    assert_eq!(refused::<IpAddr>((5u8, 0u32)), "5 is not a valid IpAddr (at byte 1)");
}

#[test]
fn values_that_cannot_be() {
    let long = (1u64, 1_000_000_000u32);
    assert_eq!(refused::<Duration>(long), "1000000000 nanoseconds are more than a second (at byte 12)");
    assert_eq!(refused::<String>(vec![0xffu8]), "text is not UTF-8 (at byte 9)");
    assert_eq!(refused::<CString>(vec![0u8]), "a zero byte inside a C string (at byte 9)");
    assert_eq!(
        refused::<RangeInclusive<u8>>((1u8, 2u8, true)),
        "a used-up range whose ends differ (at byte 3)"
    );
}

#[test]
fn keys_that_come_twice() {
    let twice = || vec![(1u8, 2u8), (1, 3)];
    assert_eq!(refused::<BTreeMap<u8, u8>>(twice()), "[1]: a key that came before (at byte 12)");
    assert_eq!(refused::<HashMap<u8, u8>>(twice()), "[1]: a key that came before (at byte 12)");
    assert_eq!(refused::<BTreeSet<u8>>(vec![1u8, 1]), "[1]: a key that came before (at byte 10)");
    assert_eq!(refused::<HashSet<u8>>(vec![1u8, 1]), "[1]: a key that came before (at byte 10)");
}

#[test]
fn bytes_that_go_on() {
    assert_eq!(refused::<u8>((1u8, 2u8)), "1 bytes left over after the end of the value (at byte 1)");
}

#[test]
fn equal_hash_maps_pack_to_equal_bytes() {
    let one: HashMap<u32, String> = (0..100).map(|i| (i, i.to_string())).collect();
    let other: HashMap<u32, String> = (0..100).rev().map(|i| (i, i.to_string())).collect();
    assert_eq!(to_bytes(&one), to_bytes(&other));
}
