//! Another process writes anything anywhere.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use proptest::prelude::*;

use super::super::{Mapping, Shape, create, hostile};
use super::halves::Kept;
use super::process;
use crate::transport::Peer;

const TWO: Shape = Shape { nodes: 2, pes: 1 };

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[cfg_attr(miri, ignore = "system calls in assembly")]
    fn nothing_that_is_written_does_harm(data in prop::collection::vec(any::<u8>(), 0..600)) {
        hostile::run(&data);
    }
}

/// What the fuzz target starts from, and what it has found.
#[test]
#[cfg_attr(miri, ignore = "system calls in assembly")]
fn the_corpus_replays() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/shm");
    let files: Vec<_> = std::fs::read_dir(corpus).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 8);
    files.iter().for_each(|file| hostile::run(&std::fs::read(file).unwrap()));
}

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
