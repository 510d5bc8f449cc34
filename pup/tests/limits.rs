//! Every limit of a packed value: what is just within it comes back, and what is just beyond it is refused when it is packed, on the stack
//! of a thread.
extern crate talisman_pup as talisman;

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, LinkedList, VecDeque};

use talisman::pup::limits::{EMPTY_MAX, LEVELS_MAX, SERDE_LEVELS_MAX};
use talisman::pup::{
    Fault, Lender, Packed, Packer, Pup, PupError, Purpose, SEGMENT_MIN, from_bytes, pup_object,
    size_of_packed, to_bytes, try_to_bytes,
};

/// A limit, and one way to come to it.
struct Limit {
    name: &'static str,
    /// What is within it, and comes back.
    within: fn(),
    /// What is beyond it, and why that is refused.
    beyond: fn() -> PupError,
    fault: Fault,
}

/// Packs a value in all ways, and gives why it is refused, whichever way.
fn refused<T: Pup>(value: T) -> PupError {
    let why = try_to_bytes(&value).expect_err("it is packed");
    let mut lender = Lender::new(Packer::new(Purpose::Message));
    value.lend(&mut lender);
    assert_eq!(lender.packer().refusal().map(PupError::fault), Some(why.fault()));
    let packed = Packed::of(&value);
    assert_eq!(packed.refusal().map(PupError::fault), Some(why.fault()));
    assert_eq!(try_to_bytes(&packed).unwrap_err().fault(), why.fault(), "and so is all that it is in");
    std::mem::forget(value);
    why
}

/// Packs a value in all ways, and reads it again.
fn comes_back<T: Pup>(value: &T) {
    let bytes = to_bytes(value);
    assert_eq!(bytes.len(), size_of_packed(value));
    assert!(to_bytes(&from_bytes::<T>(&bytes).unwrap()) == bytes);
    let packed = Packed::of(value);
    assert_eq!(packed.refusal(), None);
    packed.into_value::<T>().unwrap();
}

/// Of levels of one kind: `deeper` adds one.
fn levels<T>(most: usize, leaf: T, deeper: fn(T) -> T) -> T {
    (0..most).fold(leaf, |inside, _| deeper(inside))
}

#[derive(Pup, PartialEq, Eq, PartialOrd, Ord)]
struct Chain(Option<Box<Chain>>);

#[derive(Pup, PartialEq, Eq, PartialOrd, Ord)]
struct Tree(Vec<Tree>);

#[derive(Pup, PartialEq, Eq, PartialOrd, Ord)]
struct Ring(VecDeque<Ring>);

#[derive(Pup)]
struct List(LinkedList<List>);

#[derive(Pup)]
struct Map(BTreeMap<u8, Map>);

#[derive(Pup, PartialEq, Eq, PartialOrd, Ord)]
struct Set(BTreeSet<Set>);

#[derive(Pup)]
struct Hashed(HashMap<u8, Hashed>);

#[derive(Pup)]
struct Heap(BinaryHeap<OfHeap>);

#[derive(Pup)]
struct OfHeap(Heap);

impl PartialEq for OfHeap {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for OfHeap {}
impl PartialOrd for OfHeap {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for OfHeap {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

/// A value of 3 KiB takes four levels.
#[derive(Pup)]
struct Large {
    #[pup(skip = [0; 3 << 10])]
    #[allow(dead_code, reason = "only its size matters")]
    cache: [u8; 3 << 10],
    tag: u8,
    next: Option<Box<Large>>,
}

fn large(next: Option<Box<Large>>) -> Large {
    Large { cache: [0; 3 << 10], tag: 1, next }
}

#[pup_object]
trait Node {}

#[derive(Pup)]
#[pup(name = "inner")]
struct Inner(Option<Box<dyn Node>>);

#[pup_object]
impl Node for Inner {}

#[derive(Pup, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Nothing {
    #[pup(skip)]
    memory: [u64; 4],
}

#[derive(Pup)]
struct Bridge(#[pup(serde)] Seq);

#[derive(serde::Serialize, serde::Deserialize)]
struct Seq(Vec<Seq>);

/// One kind of levels.
macro_rules! of_levels {
    ($name:literal, $leaf:expr, $deeper:expr) => {
        of_levels!($name, $leaf, $deeper, LEVELS_MAX)
    };
    ($name:literal, $leaf:expr, $deeper:expr, $most:expr) => {
        Limit {
            name: $name,
            within: || comes_back(&levels($most, $leaf, $deeper)),
            beyond: || refused(levels($most + 1, $leaf, $deeper)),
            fault: Fault::Depth,
        }
    };
}

fn limits() -> Vec<Limit> {
    vec![
        of_levels!("boxes", Chain(None), |inside| Chain(Some(Box::new(inside)))),
        // The innermost vector is empty, and a level as well.
        of_levels!("vectors", Tree(vec![]), |inside| Tree(vec![inside]), LEVELS_MAX - 1),
        of_levels!("deques", Ring([].into()), |inside| Ring([inside].into()), LEVELS_MAX - 1),
        of_levels!("lists", List([].into()), |inside| List([inside].into()), LEVELS_MAX - 1),
        of_levels!("maps", Map([].into()), |inside| Map([(1, inside)].into()), LEVELS_MAX - 1),
        of_levels!("sets", Set([].into()), |inside| Set([inside].into()), LEVELS_MAX - 1),
        of_levels!("hash maps", Hashed([].into()), |inside| Hashed([(1, inside)].into()), LEVELS_MAX - 1),
        of_levels!("heaps", Heap([].into()), |inside| Heap([OfHeap(inside)].into()), LEVELS_MAX - 1),
        of_levels!("large values", large(None), |inside| large(Some(Box::new(inside))), LEVELS_MAX / 4),
        of_levels!("boxed objects", Inner(None), |inside| Inner(Some(Box::new(inside)))),
        Limit {
            name: "values without bytes",
            within: || comes_back(&vec![Nothing::default(); EMPTY_MAX / 32]),
            beyond: || refused(vec![Nothing::default(); EMPTY_MAX / 32 + 1]),
            fault: Fault::Empty { limit: EMPTY_MAX },
        },
        Limit {
            name: "values without bytes in two vectors",
            within: || comes_back(&(vec![(); EMPTY_MAX / 2], VecDeque::from(vec![(); EMPTY_MAX / 2]))),
            beyond: || refused((vec![(); EMPTY_MAX / 2], VecDeque::from(vec![(); EMPTY_MAX / 2 + 1]))),
            fault: Fault::Empty { limit: EMPTY_MAX },
        },
        Limit {
            name: "boxes without bytes",
            within: || comes_back(&vec![Box::new(Nothing::default()); EMPTY_MAX / 40]),
            beyond: || refused(vec![Box::new(Nothing::default()); EMPTY_MAX / 40 + 1]),
            fault: Fault::Empty { limit: EMPTY_MAX },
        },
        Limit {
            name: "plain values without bytes",
            within: || comes_back(&vec![[0u64; 0]; EMPTY_MAX]),
            beyond: || refused(vec![[0u64; 0]; EMPTY_MAX + 1]),
            fault: Fault::Empty { limit: EMPTY_MAX },
        },
        Limit {
            name: "levels of serde",
            within: || comes_back(&Bridge(levels(SERDE_LEVELS_MAX - 1, Seq(vec![]), |s| Seq(vec![s])))),
            beyond: || refused(Bridge(levels(SERDE_LEVELS_MAX, Seq(vec![]), |s| Seq(vec![s])))),
            fault: Fault::SerdeDepth,
        },
    ]
}

/// Threads of Rust have 2 MiB; this leaves room for what the program has on the stack already.
fn in_small_thread(name: &'static str, test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().name(name.into()).stack_size(3 << 19).spawn(test);
    thread.unwrap().join().unwrap_or_else(|_| panic!("{name}"));
}

#[test]
fn what_is_within_a_limit_comes_back_and_what_is_beyond_is_refused_when_it_is_packed() {
    for Limit { name, within, beyond, fault } in limits() {
        in_small_thread(name, move || {
            within();
            let why = beyond();
            assert_eq!(why.fault(), &fault, "{name}: {why}");
        });
    }
}

#[test]
fn who_is_far_too_deep_is_refused_as_well() {
    in_small_thread("far too deep", || {
        let why = refused(levels(100_000, Chain(None), |inside| Chain(Some(Box::new(inside)))));
        let zeros = ".0".repeat(5);
        assert_eq!(why.path(), format!("Chain.0{zeros} … Chain.0{zeros}"), "{why}");
        assert!(why.to_string().contains(": boxes and containers are nested deeper than"), "{why}");
    });
}

#[test]
fn each_of_several_values_within_one_has_the_limits_for_itself() {
    let deep = levels(LEVELS_MAX, Chain(None), |inside| Chain(Some(Box::new(inside))));
    let mut lender = Lender::new(Packer::new(Purpose::Message));
    lender.nested::<u8>(|l| {
        l.packed(|l| deep.lend(l));
        l.packed(|l| vec![(); EMPTY_MAX].pack(l.packer()));
        l.packed(|l| vec![(); EMPTY_MAX].pack(l.packer()));
    });
    assert_eq!(lender.packer().refusal(), None);
    let both: (Packed, Packed, Packed) = Packed::from(lender.finish()).into_value().unwrap();
    both.0.into_value::<Chain>().unwrap();
    assert_eq!(both.1.into_value::<Vec<()>>().unwrap().len(), EMPTY_MAX);
}

#[test]
fn a_vector_that_is_lent_is_not_without_bytes() {
    let value = vec![(vec![0u8; SEGMENT_MIN], Nothing::default()); 3];
    comes_back(&value);
}

/// The object of an error is named by whoever packs; the field by the error.
#[test]
fn an_error_names_the_field_whatever_it_is_in() {
    #[derive(Pup)]
    enum Part {
        Leaf(u8),
        Chain { speed: f32, links: Chain },
    }
    #[derive(Pup)]
    struct Outer {
        name: String,
        parts: Vec<(u8, Part)>,
        large: Vec<u64>,
    }
    let deep = || levels(LEVELS_MAX - 1, Chain(None), |inside| Chain(Some(Box::new(inside))));
    let outer = |links| Outer {
        name: "outer".into(),
        parts: vec![(1, Part::Leaf(2)), (3, Part::Chain { speed: 0.5, links })],
        large: vec![7; SEGMENT_MIN],
    };
    in_small_thread("fields", move || {
        comes_back(&outer(deep()));
        let value = outer(Chain(Some(Box::new(deep()))));
        for why in [Packed::of(&value).refusal().cloned(), try_to_bytes(&value).err()] {
            let path = why.expect("it is too deep").path();
            assert!(path.starts_with("Outer.parts[1].1.links.0.0 … Chain.0"), "{path}");
        }
        let away = Packed::away(value);
        assert!(away.refusal().expect("as before").path().starts_with("Outer.parts[1].1.links.0"));

        let why = refused((vec![(); EMPTY_MAX / 2], BTreeMap::from([(3u8, vec![(); EMPTY_MAX / 2 + 1])])));
        assert!(why.path().starts_with("1[0]"), "{why}");
        #[derive(Pup)]
        struct Bridged {
            before: u64,
            bridge: Bridge,
        }
        let why = refused(Bridged { before: 1, bridge: Bridge(levels(2000, Seq(vec![]), |s| Seq(vec![s]))) });
        assert_eq!(why.path(), "Bridged.bridge.0");
    });
}

/// What a hand-written `pack` refuses has the words of that.
#[test]
fn what_only_the_packer_refuses_stays_as_it_says() {
    struct Never;
    impl Pup for Never {
        fn pack(&self, p: &mut Packer) {
            p.refuse(PupError::new(0, Fault::Invalid("never".into())).field("Never"));
        }
        fn unpack(_: &mut talisman::pup::Unpacker<'_>) -> Result<Self, PupError> {
            Ok(Never)
        }
    }
    assert_eq!(try_to_bytes(&Never).unwrap_err().to_string(), "Never: never (at byte 0)");
}
