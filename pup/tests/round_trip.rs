//! Property: every value of every supported type comes back bit by bit, and damaged bytes never panic.
extern crate talisman_pup as talisman;

mod common;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{CString, OsString};
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{NonZero, Saturating, Wrapping};
use std::ops::{Bound, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use common::check;
use proptest::collection::{btree_map, btree_set, hash_map, hash_set, linked_list, vec, vec_deque};
use proptest::option;
use proptest::prelude::*;
use talisman::pup::Pup;

/// One test for each type: `name: Type = strategy`.
macro_rules! round_trips {
    ($($name:ident: $type:ty = $strategy:expr;)+) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(64))]
            $(
                #[test]
                fn $name(value in $strategy) {
                    check::<$type>(&value);
                }
            )+
        }
    };
}

/// Floats by their bits, so that NaN payloads, infinities and subnormals all come up.
fn bits32() -> impl Strategy<Value = f32> {
    prop_oneof![any::<u32>().prop_map(f32::from_bits), Just(f32::from_bits(0x7fa0_0001)), Just(-0.0)]
}
fn bits64() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        Just(f64::from_bits(0x7ff4_0000_0000_0001)),
        Just(-0.0)
    ]
}
fn text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..6).prop_map(String::from_iter)
}
fn octets() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..9)
}

round_trips! {
    u8s: u8 = any::<u8>();
    u16s: u16 = any::<u16>();
    u32s: u32 = any::<u32>();
    u64s: u64 = any::<u64>();
    u128s: u128 = any::<u128>();
    usizes: usize = any::<usize>();
    i8s: i8 = any::<i8>();
    i16s: i16 = any::<i16>();
    i32s: i32 = any::<i32>();
    i64s: i64 = any::<i64>();
    i128s: i128 = any::<i128>();
    isizes: isize = any::<isize>();
    f32s: f32 = bits32();
    f64s: f64 = bits64();
    bools: bool = any::<bool>();
    chars: char = any::<char>();
    orderings: Ordering = prop_oneof![Just(Ordering::Less), Just(Ordering::Equal), Just(Ordering::Greater)];
    wrapping: Wrapping<u16> = any::<u16>().prop_map(Wrapping);
    saturating: Saturating<i64> = any::<i64>().prop_map(Saturating);
    reverse: Reverse<i32> = any::<i32>().prop_map(Reverse);
    non_zero: (NonZero<u8>, NonZero<u16>, NonZero<u32>, NonZero<u64>, NonZero<u128>, NonZero<usize>) =
        any::<(NonZero<u8>, NonZero<u16>, NonZero<u32>, NonZero<u64>, NonZero<u128>, NonZero<usize>)>();
    non_zero_signed: (NonZero<i8>, NonZero<i16>, NonZero<i32>, NonZero<i64>, NonZero<i128>, NonZero<isize>) =
        any::<(NonZero<i8>, NonZero<i16>, NonZero<i32>, NonZero<i64>, NonZero<i128>, NonZero<isize>)>();
}

round_trips! {
    strings: String = text();
    boxed_str: Box<str> = text().prop_map(String::into_boxed_str);
    cow_str: Cow<'static, str> = text().prop_map(Cow::Owned);
    c_strings: CString = vec(1u8.., 0..6).prop_map(|b| CString::new(b).unwrap());
    os_strings: OsString = octets().prop_map(OsString::from_vec);
    paths: PathBuf = octets().prop_map(|b| OsString::from_vec(b).into());
    bytes_: bytes::Bytes = octets().prop_map(bytes::Bytes::from);
}

round_trips! {
    vec_of_plain: Vec<f64> = vec(bits64(), 0..9);
    vec_of_arrays: Vec<[u16; 3]> = vec(any::<[u16; 3]>(), 0..5);
    vec_of_strings: Vec<String> = vec(text(), 0..5);
    vec_of_bools: Vec<bool> = vec(any::<bool>(), 0..9);
    vec_of_nothing: Vec<()> = vec(Just(()), 0..9);
    vec_of_vec: Vec<Vec<Option<u8>>> = vec(vec(any::<Option<u8>>(), 0..4), 0..4);
    boxed_slices: Box<[u32]> = octets().prop_map(|b| b.into_iter().map(u32::from).collect());
    cow_slices: Cow<'static, [u8]> = octets().prop_map(Cow::Owned);
    deques: VecDeque<i32> = vec_deque(any::<i32>(), 0..9);
    // Half of them with their content in two pieces.
    rotated_deques: VecDeque<i32> = (vec_deque(any::<i32>(), 0..9), any::<i32>()).prop_map(|(mut d, x)| {
        d.push_front(x);
        d
    });
    lists: LinkedList<String> = linked_list(text(), 0..4);
    heaps: BinaryHeap<u16> = vec(any::<u16>(), 0..9).prop_map(BinaryHeap::from);
    tree_maps: BTreeMap<String, f32> = btree_map(text(), bits32(), 0..5);
    tree_sets: BTreeSet<(u8, bool)> = btree_set(any::<(u8, bool)>(), 0..6);
    hash_maps: HashMap<String, u32> = hash_map(text(), any::<u32>(), 0..6);
    hash_sets: HashSet<u64> = hash_set(any::<u64>(), 0..6);
}

round_trips! {
    options: Option<Option<u32>> = option::of(option::of(any::<u32>()));
    results: Result<u8, String> = prop_oneof![any::<u8>().prop_map(Ok), text().prop_map(Err)];
    boxes: Box<Box<String>> = text().prop_map(|s| Box::new(Box::new(s)));
    boxed_plain: Box<[u64; 4]> = any::<[u64; 4]>().prop_map(Box::new);
    cells: Cell<u16> = any::<u16>().prop_map(Cell::new);
    ref_cells: RefCell<String> = text().prop_map(RefCell::new);
    phantoms: PhantomData<str> = Just(PhantomData);
    bounds: Bound<u8> =
        prop_oneof![any::<u8>().prop_map(Bound::Included), any::<u8>().prop_map(Bound::Excluded), Just(Bound::Unbounded)];
    arrays: [String; 3] = proptest::array::uniform3(text());
    arrays_of_plain: [[f32; 2]; 2] = proptest::array::uniform2(proptest::array::uniform2(bits32()));
    empty_arrays: [String; 0] = Just([]);
    units: () = Just(());
}

round_trips! {
    tuples_1_2_3: ((u8,), (u8, u16), (u8, u16, u32)) = any::<((u8,), (u8, u16), (u8, u16, u32))>();
    tuples_4_5_6: ((u8, i8, u8, i8), (u8, i8, u8, i8, u8), (u8, i8, u8, i8, u8, bool)) =
        any::<((u8, i8, u8, i8), (u8, i8, u8, i8, u8), (u8, i8, u8, i8, u8, bool))>();
    tuples_7_8: ((u8, i8, u8, i8, u8, i8, bool), (u8, i8, u8, i8, u8, i8, u8, char)) =
        any::<((u8, i8, u8, i8, u8, i8, bool), (u8, i8, u8, i8, u8, i8, u8, char))>();
    tuples_9_10: ((u8, u8, u8, u8, u8, u8, u8, u8, bool), (u8, u8, u8, u8, u8, u8, u8, u8, u8, char)) =
        any::<((u8, u8, u8, u8, u8, u8, u8, u8, bool), (u8, u8, u8, u8, u8, u8, u8, u8, u8, char))>();
    tuples_11: (u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, bool) = any::<[u8; 10]>()
        .prop_map(|[a, b, c, d, e, f, g, h, i, j]| (a, b, c, d, e, f, g, h, i, j, a > b));
    tuples_12: (u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, bool, String) = (any::<[u8; 10]>(), text())
        .prop_map(|([a, b, c, d, e, f, g, h, i, j], s)| (a, b, c, d, e, f, g, h, i, j, a > b, s));
}

round_trips! {
    ranges: Range<String> = (text(), text()).prop_map(|(a, b)| a..b);
    ranges_from: RangeFrom<u8> = any::<u8>().prop_map(|a| a..);
    ranges_to: RangeTo<u8> = any::<u8>().prop_map(|a| ..a);
    ranges_to_inclusive: RangeToInclusive<u8> = any::<u8>().prop_map(|a| ..=a);
    ranges_full: RangeFull = Just(..);
    ranges_inclusive: (RangeInclusive<i16>, RangeInclusive<char>) =
        any::<(i16, i16, char, char)>().prop_map(|(a, b, c, d)| (a..=b, c..=d));
    ranges_of_floats: RangeInclusive<f64> = (bits64(), bits64()).prop_map(|(a, b)| a..=b);
    ranges_used_up: RangeInclusive<u8> = any::<(u8, u8)>().prop_map(|(a, b)| {
        let mut range = a..=b;
        range.by_ref().for_each(drop);
        range
    });
    durations: Duration = any::<Duration>();
    ips: (Ipv4Addr, Ipv6Addr, IpAddr) = any::<(Ipv4Addr, Ipv6Addr, IpAddr)>();
    sockets: (SocketAddrV4, SocketAddrV6, SocketAddr) = any::<(SocketAddrV4, SocketAddrV6, SocketAddr)>();
}

#[derive(Pup, Debug, Clone, PartialEq)]
enum Shape<T> {
    Point,
    Disc(T),
    Frame {
        size: (T, T),
        inside: Option<Box<Shape<T>>>,
        #[pup(skip = 3)]
        cached: u8,
    },
}

#[derive(Pup, Debug, Clone)]
#[pup(version = 3)]
struct Scene {
    #[pup(since = 2)]
    title: String,
    shapes: Vec<Shape<f32>>,
    #[pup(serde)]
    tags: BTreeMap<String, Option<i64>>,
}

fn shapes() -> impl Strategy<Value = Shape<f32>> {
    let leaf = prop_oneof![Just(Shape::Point), bits32().prop_map(Shape::Disc)];
    leaf.prop_recursive(4, 8, 1, |inside| {
        ((bits32(), bits32()), option::of(inside.prop_map(Box::new)))
            .prop_map(|(size, inside)| Shape::Frame { size, inside, cached: 3 })
    })
}

round_trips! {
    derived_enums: Shape<f32> = shapes();
    derived_structs: Scene = (text(), vec(shapes(), 0..3), btree_map(text(), any::<Option<i64>>(), 0..3))
        .prop_map(|(title, shapes, tags)| Scene { title, shapes, tags });
}
