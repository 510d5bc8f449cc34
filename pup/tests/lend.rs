//! Large plain slices beside the bytes: what is lent is what comes out, without a copy, and nothing else is lent.

extern crate talisman_pup as talisman;

use bytes::Bytes;
use proptest::prelude::*;
use talisman::pup::{
    Fault, Lender, Packed, Packer, Pup, PupError, Purpose, SEGMENT_MIN, Segment, Unpacker, from_bytes,
    to_bytes,
};

/// Elements of an `f64` slice that is just large enough.
const LARGE: usize = SEGMENT_MIN / 8;

#[derive(Pup, Clone, PartialEq, Debug)]
struct Block {
    name: String,
    cells: Vec<f64>,
    at: (u32, Option<Box<[u16]>>),
    parts: Vec<Part>,
    raw: Bytes,
    made: Made,
}

#[derive(Pup, Clone, PartialEq, Debug)]
#[pup(version = 2)]
enum Part {
    Empty,
    Rows(Vec<[f32; 3]>),
    Named { of: String, values: Result<Vec<i64>, u8> },
}

/// Packs a vector that it makes on its way: nobody may keep a pointer to it.
#[derive(Clone, PartialEq, Debug)]
struct Made(u64);

impl Pup for Made {
    fn pack(&self, p: &mut Packer) {
        vec![self.0; LARGE].pack(p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let values = Vec::<u64>::unpack(u)?;
        values.first().map(|value| Made(*value)).ok_or_else(|| u.invalid("empty"))
    }
}

fn blocks() -> impl Strategy<Value = Block> {
    let len = || prop_oneof![0..9usize, LARGE - 1..LARGE + 2];
    (len(), len(), len(), len(), any::<u64>(), any::<bool>()).prop_map(|(a, b, c, d, made, some)| Block {
        name: "block".into(),
        cells: (0..a).map(|i| i as f64).collect(),
        at: (7, some.then(|| (0..4 * b).map(|i| i as u16).collect())),
        parts: vec![
            Part::Rows(vec![[0.5; 3]; c]),
            Part::Empty,
            Part::Named { of: "x".into(), values: if some { Ok(vec![-1; d]) } else { Err(3) } },
        ],
        raw: vec![5u8; 8 * d].into(),
        made: Made(made),
    })
}

fn lent(value: &Block) -> usize {
    let mut lender = Lender::new(Packer::new(Purpose::Message));
    value.lend(&mut lender);
    lender.finish().1.len()
}

proptest! {
    #[test]
    fn what_is_lent_comes_out(block in blocks()) {
        let packed = Packed::of(&block);
        prop_assert_eq!(packed.segments().len(), lent(&block));
        prop_assert_eq!(packed.read_copy(Purpose::Message, Block::unpack).unwrap(), block.clone());
        prop_assert_eq!(Packed::away(block.clone()).into_value::<Block>().unwrap(), block.clone());
        prop_assert_eq!(from_bytes::<Block>(&to_bytes(&block)).unwrap(), block);
    }

    /// A packed value within a packed value: its segments go through, or into the bytes.
    #[test]
    fn packed_values_pass_through_others(block in blocks()) {
        let inner = Packed::new(Bytes::from(to_bytes(&block)), Packed::of(&block).segments().to_vec(), vec![3, 9]);
        let plain: Packed = from_bytes(&to_bytes(&inner)).unwrap();
        prop_assert_eq!(&plain, &inner);
        let outer = Packed::of(&(1u8, inner.clone()));
        prop_assert!(outer.needs() == [3, 9] || to_bytes(&inner).len() < SEGMENT_MIN);
        prop_assert_eq!(outer.into_value::<(u8, Packed)>().unwrap(), (1, inner));
    }

    /// Whatever is wrong with bytes and segments is an error or a value.
    #[test]
    fn damage_is_survived(block in blocks(), at: u16, bit in 0..8u8, cut: u16, drop_one: bool, more: bool) {
        let packed = Packed::away((block, Packed::of(&vec![1.5f64; LARGE])));
        let (bytes, mut segments) = packed.into_parts();
        let mut bytes = bytes[..bytes.len() - usize::from(cut) % bytes.len()].to_vec();
        // Most of the structure is in front.
        let at = usize::from(at) % bytes.len().min(200);
        bytes[at] ^= 1 << bit;
        if drop_one { segments.pop(); }
        if more { segments.insert(0, Segment::of_vec(vec![1u8; 100])); }
        let damaged = Packed::new(bytes.into(), segments, vec![]);
        let _ = damaged.into_value::<(Block, Packed)>();
    }
}

#[test]
fn neither_sender_nor_receiver_copies() {
    let value = (1u8, vec![0.5f64; LARGE], Some(vec![7u8; SEGMENT_MIN]));
    let at = (value.1.as_ptr(), value.2.as_ref().unwrap().as_ptr());
    let packed = Packed::away(value);
    let [cells, raw] = packed.segments() else { panic!("two of them are large") };
    assert_eq!((cells.bytes().as_ptr().cast(), raw.bytes().as_ptr()), at, "the sender's own memory");
    assert!(packed.bytes().len() < 64);

    let arrived: Vec<_> = packed.segments().iter().map(Segment::copied).collect();
    let at = (arrived[0].bytes().as_ptr(), arrived[1].bytes().as_ptr());
    let arrived = Packed::new(Bytes::copy_from_slice(packed.bytes()), arrived, vec![]);
    drop(packed);
    let value: (u8, Vec<f64>, Option<Vec<u8>>) = arrived.into_value().unwrap();
    assert_eq!((value.1.as_ptr().cast(), value.2.as_ref().unwrap().as_ptr()), at, "the segments' own memory");
    assert_eq!((value.1[LARGE - 1], value.1.len()), (0.5, LARGE));
}

/// What lies in the value itself moves with it into the keeper, before it is lent.
#[test]
fn arrays_in_place_are_lent_where_they_stay() {
    #[derive(Clone, PartialEq, Debug)]
    struct InPlace([u64; LARGE]);

    impl Pup for InPlace {
        fn pack(&self, p: &mut Packer) {
            p.len(LARGE);
            p.plain(&self.0);
        }
        fn lend<'a>(&'a self, l: &mut Lender<'a>) {
            l.slice(&self.0);
        }
        fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
            let values = Vec::unpack(u)?;
            Ok(InPlace(values.try_into().map_err(|_| u.invalid("another length"))?))
        }
    }

    let value = InPlace([3; LARGE]);
    let packed = Packed::away(value.clone());
    assert_eq!(packed.segments().len(), 1);
    let clobber = std::hint::black_box([9u64; 2 * LARGE]);
    assert_eq!(packed.into_value::<InPlace>().unwrap(), value);
    assert_eq!(clobber[0], 9);
}

#[test]
fn segments_that_do_not_fit_are_told() {
    let value = vec![1u64; LARGE];
    let bytes = Bytes::copy_from_slice(Packed::of(&value).bytes());
    let read = |segments: Vec<Segment>| {
        let fault = Packed::new(bytes.clone(), segments, vec![]).into_value::<Vec<u64>>().unwrap_err();
        fault.fault().clone()
    };
    let good = || Segment::of_vec(value.clone());
    assert!(matches!(read(vec![]), Fault::Length { .. }));
    assert_eq!(read(vec![good(), good()]), Fault::Segments { left: 1 });
    let (wanted, found) = (SEGMENT_MIN as u64, SEGMENT_MIN as u64 - 8);
    assert_eq!(read(vec![Segment::of_vec(vec![1u64; LARGE - 1])]), Fault::Segment { wanted, found });
    // Of another alignment it is copied.
    let aligned = Packed::new(bytes.clone(), vec![Segment::of_vec(vec![1u8; SEGMENT_MIN])], vec![]);
    assert_eq!(aligned.into_value::<Vec<u64>>().unwrap(), [0x0101_0101_0101_0101; LARGE]);
    // A mark is no length for who does not expect one.
    let marked = [1u64 << 63 | 2].map(u64::to_le_bytes).concat();
    assert!(from_bytes::<Vec<String>>(&marked).is_err());
    assert!(from_bytes::<String>(&marked).is_err());
    assert!(from_bytes::<Vec<()>>(&marked).is_err());
    assert!(from_bytes::<Vec<[u8; 0]>>(&marked).is_err());
}

#[test]
fn arguments_in_front_of_others() {
    let (first, next) = ((1u8, vec![2u16; SEGMENT_MIN]), (vec![3u32; SEGMENT_MIN], 4u64));
    let all = Packed::of(&first).then(&Packed::of(&next));
    assert_eq!(all.into_value::<((u8, Vec<u16>), (Vec<u32>, u64))>().unwrap(), (first, next));
}

#[test]
fn most_are_small() {
    assert!(size_of::<Packed>() <= 40);
    let packed = Packed::of(&(1u8, 2.5f64));
    assert_eq!((packed.bytes().len(), packed.segments().len(), packed.needs().len()), (9, 0, 0));
    assert_eq!(to_bytes(&packed).len(), 8 + 9);
}
