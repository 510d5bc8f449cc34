//! Another process writes anything anywhere.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use proptest::prelude::*;

use super::super::layout::Direction;
use super::super::{Mapping, Shape, bytes, create, hostile, slots};
use super::halves::Kept;
use super::process;
use crate::Peer;

const TWO: Shape = Shape { nodes: 2, pes: 1 };

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[cfg_attr(miri, ignore = "system calls in assembly")]
    fn nothing_that_is_written_does_harm(data in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = hostile::run(&data);
    }
}

/// With room for a part of a line, a chunk would fit, and the gap behind it not.
#[test]
#[cfg_attr(miri, ignore = "system calls in assembly")]
fn a_reader_that_does_not_go_on_by_whole_lines_is_not_believed() {
    let segment = create(TWO).expect("a small segment");
    let mapping = Mapping::open(&segment, TWO).expect("the one just made");
    let (slots, bytes) = mapping.ends(Direction { from: 0, to: 1, lane: 0 });
    let (slots, mut bytes) = (slots::Writer::new(slots), bytes::Writer::new(bytes));
    let positions = slots.positions();
    while bytes.has_room(64, positions) == Ok(true) {
        bytes.write([&[1; 64], &[]]);
    }
    assert_eq!(bytes.has_room(40, positions), Ok(false));
    positions.bytes.store(40, Ordering::Release);
    assert!(bytes.has_room(40, positions).is_err());
}

/// What the fuzz target starts from, and what it has found.
#[test]
#[cfg_attr(miri, ignore = "system calls in assembly")]
fn the_corpus_replays() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/src/shm/tests/corpus");
    let files: Vec<_> = std::fs::read_dir(corpus).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= SEEDS.len());
    for file in files {
        let ended = hostile::run(&std::fs::read(&file).unwrap());
        let said = ended.map(|error| error.to_string()).unwrap_or_default();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let expected = SEEDS.iter().find(|(seed, _)| *seed == name);
        assert!(expected.is_none_or(|(_, expected)| said.contains(expected)), "{name}: {said:?}");
    }
}

/// The committed seeds, and what the link says of each.
const SEEDS: [(&str, &str); 15] = [
    ("begin_empty", "has no bytes"),
    ("begin_huge_head", "1073741825 bytes beside its segments"),
    ("begin_in_begin", "within another"),
    ("begin_largest", ""),
    ("begin_many_segments", "268435457 segments"),
    ("inline", ""),
    ("inline_too_long", "49 bytes said to be in a slot"),
    ("lap_beyond", "another lap"),
    ("lap_right_content_none", "checksum"),
    ("more_of_nothing", "never begun"),
    ("positions_ahead", "never written"),
    ("positions_bytes_ahead", "never written"),
    ("rank_beyond", "PE 7"),
    ("segments_in_table", ""),
    ("unknown_kind", "unknown kind 9"),
];

/// Not a test by itself: writes at random over everything behind the header, until it is ended.
#[test]
fn child() {
    let Some(descriptors) = process::handed_over() else { return };
    let mapping = Mapping::open(&descriptors[0], TWO).unwrap();
    let mut random = 88_172_645_463_325_252u64;
    loop {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let words = (mapping.memory.len as u64 - 4096) / 8;
        // Small numbers are likelier to be taken for something.
        let word = random >> (random % 64);
        mapping
            .memory
            .word(4096 + (random >> 20) as usize % words as usize * 8)
            .store(word, Ordering::Relaxed);
    }
}

#[test]
#[cfg_attr(miri, ignore = "processes")]
fn a_live_link_that_is_scribbled_on_fails_and_nothing_else_does() {
    for _ in 0..20 {
        let segment = create(TWO).unwrap();
        let mappings = [(); 2].map(|()| Mapping::open(&segment, TWO).unwrap());
        let halves = |me: u32| {
            let mapping = &mappings[me as usize];
            let parker = Arc::new(mapping.parker(1 - me, 0, || ()));
            mapping.link(me, 1 - me, Peer { node: 1 - me, lane: 0 }, parker)
        };
        let ((mut sender, _), (_, mut receiver)) = (halves(0), halves(1));
        let _scribbling = process::start("scribbled::child", &[segment.as_fd()]);
        // The link ends by an error on either side, or goes on as if nothing had happened: then the next one.
        for number in 0..20_000 {
            if sender.unsent() < 1 << 20 {
                Kept::made(number, (number * 37 % 3000) as usize, &[16 << 10][..(number % 2) as usize])
                    .send(&mut sender);
            }
            sender.flush();
            if receiver.receive(64, &mut |_| ()).is_err() || sender.error().is_some() {
                break;
            }
        }
    }
}
