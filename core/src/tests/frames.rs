//! Real frames, whole and damaged: what they weigh, that they come through, that nothing a PE gets makes it panic.

mod allocation;
mod shared;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use proptest::prelude::*;

use self::shared::{Main, TICK};
use crate::chare_type::number_of;
use crate::checkpoint::recovery_message::RecoveryMessage;
use crate::lab::{Frame, Lab};
use crate::shared::message::SharedMessage;
use talisman_base::ids::{CollectionId, ObjId, PeId};
use talisman_base::index::{ArrayIndex, Bounds};
use talisman_kernel::message::service::Service;
use talisman_kernel::pe::Here;
use talisman_kernel::wire::{BESIDE, BESIDE_MIN, WireError, copy_to_keep, pack, receive};
use talisman_pup::Segment;

/// Cases of the property tests: more by `PROPTEST_CASES`.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(150)
}

/// The frames of one whole run.
fn recorded() -> &'static [Frame] {
    static FRAMES: OnceLock<Vec<Frame>> = OnceLock::new();
    FRAMES.get_or_init(|| {
        let mut lab = Lab::new::<Main>();
        lab.run(usize::MAX);
        lab.frames().to_vec()
    })
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/frames/corpus")
}

/// With `WRITE_CORPUS=1` the files are written anew, after a change of the format that is meant.
#[test]
fn the_seeds_are_the_committed_files() {
    for (name, bytes) in shared::seeds() {
        let file = corpus().join(&name);
        if std::env::var_os("WRITE_CORPUS").is_some() {
            std::fs::write(&file, &bytes).unwrap();
        }
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "{name}: the format has changed");
    }
}

#[test]
fn the_corpus_replays() {
    let files: Vec<_> = std::fs::read_dir(corpus()).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= shared::seeds().len());
    files.iter().for_each(|file| shared::run(&std::fs::read(file).unwrap()));
}

/// A link copies a head, and takes none above a limit: a long one goes beside, however long it is.
#[test]
fn a_long_head_goes_beside_and_comes_back() {
    let lab = Lab::new::<Main>();
    let (from, to) = (&lab.pes[0], &lab.pes[1]);
    let collection = CollectionId { creator: 0, serial: 0 };
    for (count, is_long) in [(10, false), (BESIDE_MIN / 8, true)] {
        let here = Here::enter(from);
        let objects = (0..count).map(|index| (ObjId { collection, index: index as u128 }, 1));
        let message = from.pe_message(RecoveryMessage::Places { objects: objects.collect() });
        // SAFETY: just made.
        let sent = copy_to_keep(unsafe { message.as_ref() });
        let packed = pack(from, message, |head, segments| (head.to_vec(), segments));
        drop(here);
        let (head, segments) = packed.expect("no bound is met");
        assert_eq!((head == [BESIDE], segments.len()), (is_long, usize::from(is_long)));
        let _here = Here::enter(to);
        let came = receive(to, &head, segments).expect("it is of this job");
        // SAFETY: just made.
        assert_eq!(copy_to_keep(unsafe { came.as_ref() }).bytes(), sent.bytes());
        to.release(came);
    }
}

/// A change of a frame.
#[derive(Clone, Debug)]
enum Damage {
    Bit { at: usize, bit: u8 },
    Byte { at: usize, to: u8 },
    Word { at: usize, to: u64 },
    Cut { at: usize },
    Insert { at: usize, byte: u8 },
    Graft { at: usize, from: usize },
    LoseSegment,
    ShortSegment,
    MoreSegments,
    To(PeId),
    Twice,
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = || prop_oneof![3 => 0..64usize, 1 => 0..4096usize];
    let word = prop_oneof![Just(0), Just(u64::MAX), Just(1 << 63), Just(1 << 62), any::<u64>(), 0..300u64];
    prop_oneof![
        4 => (at(), 0..8u8).prop_map(|(at, bit)| Damage::Bit { at, bit }),
        4 => (at(), any::<u8>()).prop_map(|(at, to)| Damage::Byte { at, to }),
        2 => (at(), word).prop_map(|(at, to)| Damage::Word { at, to }),
        1 => at().prop_map(|at| Damage::Cut { at }),
        1 => (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert { at, byte }),
        1 => (at(), any::<usize>()).prop_map(|(at, from)| Damage::Graft { at, from }),
        1 => Just(Damage::LoseSegment),
        1 => Just(Damage::ShortSegment),
        1 => Just(Damage::MoreSegments),
        1 => (0..4u32).prop_map(Damage::To),
        2 => Just(Damage::Twice),
    ]
}

impl Damage {
    fn apply(&self, frame: &mut Frame) {
        let head = &mut frame.head;
        let within = |at: &usize, len: usize| at % len.max(1);
        match self {
            _ if head.is_empty() => {}
            Damage::Bit { at, bit } => {
                let at = within(at, head.len());
                head[at] ^= 1 << bit;
            }
            Damage::Byte { at, to } => {
                let at = within(at, head.len());
                head[at] = *to;
            }
            Damage::Word { at, to } => {
                let at = within(at, head.len());
                head[at..].iter_mut().zip(to.to_le_bytes()).for_each(|(byte, to)| *byte = to);
            }
            Damage::Cut { at } => head.truncate(within(at, head.len())),
            Damage::Insert { at, byte } => head.insert(within(at, head.len()), *byte),
            Damage::Graft { at, from } => {
                let at = within(at, head.len());
                let other = &recorded()[from % recorded().len()].head;
                head.truncate(at);
                head.extend(other.iter().skip(at));
            }
            Damage::LoseSegment => drop(frame.segments.pop()),
            Damage::ShortSegment => {
                let short = |segment: Segment| Segment::of_vec(segment.bytes()[1..].to_vec());
                frame.segments = frame.segments.drain(..).map(short).collect();
            }
            Damage::MoreSegments => frame.segments.insert(0, Segment::of_vec(vec![1u64; 3000])),
            Damage::To(pe) => frame.to = *pe,
            Damage::Twice => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// At any time of a job, whatever comes is let in, or refused, or ends the job.
    #[test]
    fn damaged_frames_are_survived(
        before in 0..400usize,
        hits in prop::collection::vec((any::<usize>(), prop::collection::vec(damage(), 1..4)), 1..6),
    ) {
        let mut lab = Lab::new::<Main>();
        lab.run(before);
        for (which, damages) in hits {
            let mut frame = recorded()[which % recorded().len()].clone();
            damages.iter().for_each(|damage| damage.apply(&mut frame));
            lab.inject(frame);
            lab.run(40);
        }
        lab.run(300);
    }

    #[test]
    fn any_bytes_are_survived(to in 0..4u32, head: Vec<u8>, tag in 0..6u8) {
        let mut lab = Lab::new::<Main>();
        lab.run(100);
        lab.inject(Frame { to, head: [vec![tag], head].concat(), segments: vec![] });
        lab.run(100);
    }
}

#[test]
fn the_program_runs_and_sends_every_kind_of_message() {
    let mut lab = Lab::new::<Main>();
    lab.run(usize::MAX);
    assert_eq!(lab.how_it_ended(), (0, None));
    let heads: std::collections::BTreeSet<_> = recorded().iter().map(|frame| frame.kind()).collect();
    // Tags, and for messages from PE to PE the service, and which of its messages it is.
    let wanted: [(Service, &[u8]); 8] = [
        (Service::Collections, &[0]),
        (Service::Insertions, &[0, 4, 5, 6]),
        (Service::Location, &[0, 1, 2, 3]),
        (Service::Broadcasts, &[0, 1, 2, 3]),
        (Service::Sections, &[0, 1]),
        (Service::Reductions, &[1]),
        (Service::Shared, &[0]),
        (Service::Quiescence, &[0, 1]),
    ];
    let wanted = wanted.iter().flat_map(|(service, of)| of.iter().map(|which| (2, *service as u8, *which)));
    let missing: Vec<_> = wanted.filter(|kind| !heads.contains(kind)).collect();
    assert!(recorded().iter().any(|frame| frame.is_of(Service::Functions)));
    assert!(missing.is_empty(), "no message of the kinds {missing:?} in {heads:?}");
    assert!([(1, 0, 0), (3, 0, 0), (4, 0, 0)].iter().all(|kind| heads.contains(kind)), "{heads:?}");
}

#[test]
fn small_messages_are_small() {
    let small = recorded().iter().filter(|frame| frame.head[0] == talisman_kernel::wire::COMPACT);
    // An index of two dimensions, a number and a flag of 9 bytes together.
    let ticks: Vec<_> = small.filter(|frame| frame.head.ends_with(&TICK)).collect();
    assert!(!ticks.is_empty());
    let longest = ticks.iter().map(|frame| frame.head.len()).max().unwrap();
    assert!(longest <= 24 + TICK.len(), "{longest} bytes");
}

#[test]
fn large_slices_travel_beside() {
    let large = recorded().iter().filter(|frame| !frame.segments.is_empty());
    let most = large.map(|frame| frame.head.len()).max().expect("the program sends some");
    assert!(most < 1024, "{most} bytes of head beside segments");
}

/// What is wrong is told, with who sent it.
#[test]
fn wrong_messages_are_told() {
    let lab = Lab::new::<Main>();
    let pe = &lab.pes[2];
    let _here = Here::enter(pe);
    let told = |head: Vec<u8>| match receive(pe, &head, vec![]) {
        Ok(_) => panic!("it was let in"),
        Err(error) => error,
    };
    assert!(matches!(told(vec![]), WireError::Unreadable { to: 2, .. }));
    assert!(
        told(vec![9]).to_string().starts_with("a message to PE 2 cannot be read: 9 is not a valid message")
    );
    // A shared value to the first PE of a node, as if from this node; and one from nowhere.
    let share = |from: u32, creator: u64| {
        let message = SharedMessage::Share { id: creator << 32, value: Default::default() };
        let service = vec![Service::Shared as u8];
        [vec![2], from.to_le_bytes().to_vec(), service, talisman_pup::to_bytes(&message)].concat()
    };
    let error = told(share(1, 3));
    assert_eq!(
        error.to_string(),
        "a message from PE 1 to PE 2 is none of this job: a shared value comes back to its node"
    );
    assert!(told(share(4, 0)).to_string().contains("the sender: 4 where there are at most 4"));
    assert!(told(share(0, 9)).to_string().contains("the creator of a shared value"));
}

/// Who is told that something cannot be read is told what it is, for whom, and by whom.
#[test]
fn what_cannot_be_read_is_named() {
    let lab = Lab::new::<Main>();
    let told =
        recorded().iter().filter(|frame| matches!(frame.head.first(), Some(1 | 3))).filter_map(|frame| {
            let pe = &lab.pes[frame.to as usize];
            let _here = Here::enter(pe);
            let error = receive(pe, &frame.head[..frame.head.len() - 1], vec![]).err()?;
            matches!(error, WireError::Unreadable { .. }).then(|| error.to_string())
        });
    let told: Vec<_> = told.collect();
    assert!(told.iter().all(|text| text.contains(", sent by PE ")), "{told:?}");
    assert!(!told.is_empty(), "no message for an object was recorded");
}

/// Bits that an index can be read from, and that it has not: they are a name that nobody has, not another one of somebody's.
#[test]
fn an_index_that_cannot_be_has_no_place_among_those_that_can() {
    let chare = number_of::<shared::Cell>().1;
    let bounds = Bounds::new([0, 0], [4, 4]).unwrap();
    let bits = (1, 2).to_bits();
    assert_eq!((chare.ordinal)(bits, &bounds), Some(6));
    assert_eq!((chare.ordinal)(bits | 1 << 100, &bounds), None);
}
