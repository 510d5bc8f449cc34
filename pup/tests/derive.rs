//! `#[derive(Pup)]` in all its forms, and the paths in its errors.
#![forbid(unsafe_code)]
extern crate talisman_pup as talisman;

use std::collections::BTreeMap;
use std::marker::PhantomData;

use talisman::pup::{
    Fault, Named, Packer, Pup, PupError, Unpacker, from_bytes, key, size_of_packed, to_bytes,
};

#[derive(Pup, Clone, Copy, PartialEq, Debug)]
#[repr(C)]
#[pup(plain)]
struct Atom {
    at: [f64; 3],
    charge: f64,
}

#[derive(Pup, PartialEq, Debug)]
enum Boundary<T> {
    Periodic,
    Fixed(T),
    Flow { speed: T, turbulence: Option<Box<Boundary<T>>> },
}

#[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
struct Foreign {
    name: String,
    level: u8,
}

mod angle {
    use super::*;
    pub fn pack(x: &f64, p: &mut Packer) {
        x.to_degrees().pack(p)
    }
    pub fn unpack(u: &mut Unpacker<'_>) -> Result<f64, PupError> {
        Ok(f64::unpack(u)?.to_radians())
    }
}

#[derive(Pup, PartialEq, Debug)]
#[pup(name = "grid", version = 2, restore = Grid::index)]
struct Grid<T> {
    cells: Vec<T>,
    edges: [Boundary<T>; 2],
    #[pup(serde)]
    foreign: Foreign,
    #[pup(with = angle)]
    angle: f64,
    #[pup(skip)]
    by_name: BTreeMap<String, usize>,
    #[pup(skip = 7)]
    scratch: u8,
    #[pup(since = 2, default = 0.5)]
    damping: f64,
}

impl<T> Grid<T> {
    fn index(&mut self) {
        self.by_name.insert(self.foreign.name.clone(), self.cells.len());
    }
}

fn grid() -> Grid<f32> {
    Grid {
        cells: vec![1.5, 2.5],
        edges: [
            Boundary::Periodic,
            Boundary::Flow { speed: 1.0, turbulence: Some(Box::new(Boundary::Fixed(2.0))) },
        ],
        foreign: Foreign { name: "x".into(), level: 3 },
        angle: 0.0,
        by_name: [("x".to_string(), 2)].into(),
        scratch: 7,
        damping: 0.25,
    }
}

#[test]
fn every_attribute_round_trips() {
    let bytes = to_bytes(&grid());
    assert_eq!(bytes.len(), size_of_packed(&grid()));
    assert_eq!(from_bytes::<Grid<f32>>(&bytes).unwrap(), grid());
}

#[test]
fn an_older_version_is_read_and_a_newer_one_refused() {
    let mut bytes = to_bytes(&grid());
    bytes[0] = 1;
    bytes.truncate(bytes.len() - size_of::<f64>());
    assert_eq!(from_bytes::<Grid<f32>>(&bytes).unwrap(), Grid { damping: 0.5, ..grid() });
    for found in [0, 3] {
        bytes[0] = found as u8;
        let error = from_bytes::<Grid<f32>>(&bytes).unwrap_err();
        assert_eq!(error.fault(), &Fault::Version { found, newest: 2 });
    }
}

#[test]
fn an_error_has_the_path_of_the_field() {
    let bytes = to_bytes(&grid());
    // Version 2, length 8, two cells of 4, the tags of two edges, and one byte of `speed`.
    let error = from_bytes::<Grid<f32>>(&bytes[..21]).unwrap_err();
    assert_eq!(error.path(), "Grid.edges[1].speed");
    assert_eq!(error.to_string(), "Grid.edges[1].speed: 4 bytes wanted, 1 left (at byte 20)");
}

#[test]
fn names_carry_their_parameters() {
    assert_eq!(<Grid<f32> as Named>::name(), "grid<f32>");
    assert_ne!(<Grid<f32> as Named>::KEY, <Grid<f64> as Named>::KEY);
    assert_eq!(Atom::name(), "derive::Atom");
    assert_eq!(Atom::KEY, key("derive::Atom"));
    assert_eq!(<Fixed<u8, 3> as Named>::name(), "derive::Fixed<u8, 3>");
    assert_ne!(<Fixed<u8, 3> as Named>::KEY, <Fixed<u8, 4> as Named>::KEY);
}

#[test]
fn plain_structs_are_their_memory() {
    let atoms = vec![Atom { at: [1.0, 2.0, 3.0], charge: -1.0 }; 4];
    let bytes = to_bytes(&atoms);
    assert_eq!(bytes.len(), 8 + 4 * 32);
    assert_eq!(from_bytes::<Vec<Atom>>(&bytes).unwrap(), atoms);
    assert_eq!(to_bytes(&atoms[0]), bytes[8..40]);
    assert_eq!(from_bytes::<[[Atom; 2]; 2]>(&bytes[8..]).unwrap(), [[atoms[0]; 2]; 2]);
}

trait Kind {
    type Item;
}
struct Numbers; // neither `Pup` nor `Named` is asked of a type that only stands in `PhantomData`, except for its name
impl Kind for Numbers {
    type Item = u16;
}
impl Named for Numbers {
    const KEY: u64 = key("Numbers");
    fn name() -> String {
        "Numbers".into()
    }
}

#[derive(Pup)]
struct Associated<K: Kind> {
    items: Vec<K::Item>,
    kind: PhantomData<K>,
}

#[derive(Pup, PartialEq, Debug, Default)]
struct Skipper<T> {
    #[pup(skip)]
    cache: Option<T>,
    kept: u8,
}

#[derive(Pup, PartialEq, Debug)]
struct Fixed<T, const N: usize>([T; N])
where
    T: Copy;

#[derive(Pup, PartialEq, Debug)]
#[pup(bound = "T: Pup + Ord")]
struct Bounded<T>(std::collections::BTreeSet<T>);

#[derive(Pup, PartialEq, Debug)]
struct Bridged<T>(#[pup(serde)] T, #[pup(skip = u8::MAX)] u8);

#[derive(Pup, PartialEq, Debug)]
struct Unit;

#[derive(Pup, PartialEq, Debug)]
enum Never {}

#[test]
fn generics_ask_for_no_more_than_the_fields_need() {
    let back: Associated<Numbers> =
        from_bytes(&to_bytes(&Associated::<Numbers> { items: vec![1, 2], kind: PhantomData })).unwrap();
    assert_eq!(back.items, [1, 2]);
    let skipper = Skipper::<std::fs::File> { cache: None, kept: 3 };
    assert_eq!(packs_without_name(&skipper).kept, 3);
    round_trip(Fixed(["a", "b"].map(|s| s.len())));
    round_trip(Bounded([3, 1].into()));
    round_trip(Bridged(vec![("x".to_string(), 1.5)], u8::MAX));
    round_trip(Unit);
}

fn packs_without_name<T: Pup>(value: &T) -> T {
    from_bytes(&to_bytes(value)).unwrap()
}

fn round_trip<T: Pup + PartialEq + std::fmt::Debug>(value: T) {
    assert_eq!(packs_without_name(&value), value);
}

#[test]
fn an_enum_without_variants_is_never_read() {
    assert_eq!(from_bytes::<Never>(&[0]).unwrap_err().fault(), &Fault::Tag { tag: 0, of: "Never" });
}

#[derive(Pup, Debug)]
struct Tree(Vec<Tree>);

#[test]
fn hostile_nesting_ends_before_the_stack_does() {
    let mut chain = vec![];
    for _ in 0..100_000 {
        chain.extend([2, 0, 0, 0, 0, 1]);
    }
    assert_eq!(from_bytes::<Boundary<f32>>(&chain).unwrap_err().fault(), &Fault::Depth);
    let tree = to_bytes(&vec![1u64; 100_000]);
    assert_eq!(from_bytes::<Tree>(&tree).unwrap_err().fault(), &Fault::Depth);
}
