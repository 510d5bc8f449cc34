//! What the fuzz target does with its bytes. `cargo test -p talisman-pup --test corpus` does the same with the corpus, on
//! a stable compiler.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::net::SocketAddr;
use std::num::NonZero;
use std::ops::{Bound, Range, RangeInclusive};
use std::path::PathBuf;
use std::time::Duration;

use talisman::pup::{Pup, from_bytes, pup_object, to_bytes};

/// Reads `data`; what can be read has to pack to something that reads and packs the same again.
pub fn run(data: &[u8]) {
    if let Ok(read) = from_bytes::<Vec<Anything>>(data) {
        let bytes = to_bytes(&read);
        let again: Vec<Anything> = from_bytes(&bytes).expect("what was packed can be read");
        assert_eq!(to_bytes(&again), bytes);
    }
}

/// One variant for each kind of code path, so that a single byte leads a fuzzer there.
#[derive(Pup)]
pub enum Anything {
    Numbers(u8, i16, u32, i64, u128, f32, f64, usize, isize),
    Checked(bool, char, NonZero<u32>, std::cmp::Ordering, Duration),
    Text(String, Box<str>, PathBuf, std::ffi::CString, bytes::Bytes),
    Plain(Vec<f64>, Vec<[u16; 3]>, Box<[Atom]>, Box<[u32; 4]>),
    Sequences(Vec<String>, VecDeque<u8>, LinkedList<bool>, BinaryHeap<i32>),
    Sorted(BTreeMap<String, u16>, BTreeSet<(u8, char)>),
    Hashed(HashMap<u32, String>, HashSet<bool>),
    Choices(Option<Option<u8>>, Result<u8, String>, Bound<u64>),
    Ranges(Range<u32>, RangeInclusive<i8>, RangeInclusive<f32>),
    Address(SocketAddr),
    Empty(Vec<()>, Vec<Skipped>, LinkedList<()>, [(); 3]),
    Array([Option<String>; 2]),
    Versioned(Versioned),
    Nested(Box<Anything>),
    Tree(Vec<Anything>),
    Object(Option<Box<dyn Shape>>),
}

#[derive(Pup, Clone, Copy)]
#[repr(C)]
#[pup(plain)]
pub struct Atom {
    at: [f32; 3],
    kind: u32,
}

#[derive(Pup)]
pub struct Skipped {
    #[pup(skip = [7; 64])]
    #[allow(dead_code, reason = "only its size matters")]
    cache: [u8; 64],
}

#[derive(Pup)]
#[pup(name = "versioned", version = 3, restore = Versioned::restore)]
pub struct Versioned {
    first: u8,
    #[pup(since = 2)]
    second: String,
    #[pup(since = 3, default = 9)]
    third: u64,
    #[pup(serde)]
    foreign: Foreign,
    #[pup(with = halved)]
    halved: u32,
    #[pup(skip)]
    sum: u64,
}

impl Versioned {
    fn restore(&mut self) {
        self.sum = self.third.wrapping_add(self.first.into());
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Foreign {
    name: String,
    values: Vec<Option<f32>>,
    inside: Option<Box<Foreign>>,
}

mod halved {
    use talisman::pup::{Packer, Pup, PupError, Unpacker};

    pub fn pack(x: &u32, p: &mut Packer) {
        (x / 2).pack(p);
    }

    pub fn unpack(u: &mut Unpacker<'_>) -> Result<u32, PupError> {
        let half = u32::unpack(u)?;
        half.checked_mul(2).ok_or_else(|| u.invalid("twice of it is no u32"))
    }
}

#[pup_object]
pub trait Shape {}

#[derive(Pup)]
#[pup(name = "disc")]
struct Disc(f64);

#[derive(Pup)]
#[pup(name = "frame")]
struct Frame(Option<Box<dyn Shape>>, Vec<u8>);

#[pup_object]
impl Shape for Disc {}

#[pup_object]
impl Shape for Frame {}

/// The committed seeds: a name, and bytes that pin the format. Only the test that replays the corpus asks for them.
#[allow(dead_code, reason = "the fuzz target reads the files")]
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    use Anything::*;
    let foreign = |inside| Foreign { name: "é".into(), values: vec![Some(1.5), None], inside };
    let versioned = Anything::Versioned(self::Versioned {
        first: 1,
        second: "two".into(),
        third: 3,
        foreign: foreign(Some(Box::new(foreign(None)))),
        halved: 8,
        sum: 0,
    });
    let mut version_1 = to_bytes(&vec![Anything::Versioned(self::Versioned {
        first: 1,
        second: String::new(),
        third: 9,
        foreign: foreign(None),
        halved: 8,
        sum: 0,
    })]);
    // Versions before 2 have neither `second` (8 bytes) nor `third` (8 bytes); the version follows length and tag.
    version_1[9] = 1;
    version_1.drain(12..28);
    let inside: Box<dyn Shape> = Box::new(Disc(2.5));
    let object = Object(Some(Box::new(Frame(Some(inside), vec![1, 2]))));
    let one = |value: Anything| to_bytes(&vec![value]);
    vec![
        ("numbers", one(Numbers(1, -2, 3, -4, 5, 6.5, f64::NAN, 7, -8))),
        ("checked", {
            let checked = |c, o| Checked(c == 'ß', c, NonZero::<u32>::MIN, o, Duration::from_millis(1500));
            to_bytes(&vec![checked('ß', std::cmp::Ordering::Less), checked('x', std::cmp::Ordering::Greater)])
        }),
        ("text", one(Text("a✓".into(), "b".into(), "/c".into(), c"d".into(), vec![0u8, 255].into()))),
        (
            "plain",
            one(Plain(
                vec![0.5, -0.0],
                vec![[1, 2, 3]],
                [Atom { at: [1.0, 2.0, 3.0], kind: 4 }].into(),
                Box::new([1, 2, 3, 4]),
            )),
        ),
        (
            "sequences",
            one(Sequences(vec!["x".into(), "".into()], [1, 2].into(), [true].into(), [3, 9].into())),
        ),
        ("sorted", one(Sorted([("k".into(), 1), ("l".into(), 2)].into(), [(1, 'a')].into()))),
        ("hashed", one(Hashed([(2, "b".into()), (1, "a".into())].into(), [true, false].into()))),
        (
            "choices",
            to_bytes(&vec![
                Choices(None, Ok(1), Bound::Unbounded),
                Choices(Some(None), Err("no".into()), Bound::Included(1)),
                Choices(Some(Some(3)), Ok(2), Bound::Excluded(2)),
            ]),
        ),
        ("ranges", one(Ranges(1..4, -1..=1, 0.0..=1.0))),
        (
            "addresses",
            to_bytes(&vec![
                Address(([127, 0, 0, 1], 80).into()),
                Address(([0, 0, 0, 0, 0, 0, 0, 1], 81).into()),
            ]),
        ),
        ("empty", one(Empty(vec![(); 5], vec![Skipped { cache: [7; 64] }], [()].into(), [(); 3]))),
        ("array", one(Array([None, Some("x".into())]))),
        ("versioned", one(versioned)),
        ("version-1", version_1),
        ("nested", one(Nested(Box::new(Tree(vec![Nested(Box::new(Tree(vec![]))), Array([None, None])]))))),
        ("object", one(object)),
        ("hostile-length", [vec![0xff; 7], vec![0x7f]].concat()),
        ("hostile-empty", [to_bytes(&1u64), vec![10], (1u64 << 40).to_le_bytes().to_vec()].concat()),
        ("hostile-depth", [to_bytes(&1u64), vec![13; 2000]].concat()),
        ("hostile-object", [to_bytes(&1u64), vec![15, 1], to_bytes(&"nobody".to_string())].concat()),
    ]
}
