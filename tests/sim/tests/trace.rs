//! The trace of a simulated job, event by event against what the witness of the same run sees.

#![allow(missing_docs)]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use program::{Main, Plan};
use talisman::launch::trace_part::PartReader;
use talisman::launch::trace_record::{Kind, calls};
use talisman::launch::{Output, Progress, RunArgs};
use talisman::run::{Watch, run};
use talisman::witness::{self, Kind as SeenKind, Seen};

#[path = "../../logging/program.rs"]
#[allow(dead_code, reason = "other tests use all of it")]
mod program;

const PLAN: Plan = Plan { tokens: 12, hops: 40, save_after: None, talks: false, is_large: false };

/// By which way a message came to a PE: from this one, as so many-th.
type Way = (u32, u64);

/// Messages as the witness sees them, by their numbers.
#[derive(Default)]
struct Witnessed {
    /// Those that call an object.
    calls: BTreeSet<u64>,
    /// Those that left a PE for another, in this order.
    left: BTreeMap<(u32, u32), Vec<u64>>,
    /// Those that came to a PE from another.
    taken: BTreeSet<(u32, u64)>,
    /// Which message reached which object, by PE: the index, as it is in a trace.
    delivered: BTreeMap<u32, Vec<(u64, u128)>>,
}

impl Witnessed {
    fn see(&mut self, seen: &Seen) {
        match *seen {
            Seen::Sent { message, to: Some(_), kind: SeenKind::Entry | SeenKind::Reply, .. } => {
                self.calls.insert(message);
            }
            Seen::Left { message, pe, to } => self.left.entry((pe, to)).or_default().push(message),
            Seen::Taken { message, pe } => {
                self.taken.insert((pe, message));
            }
            Seen::Delivered { message, pe, object: Some(object) } => {
                self.delivered.entry(pe).or_default().push((message, object.index));
            }
            _ => {}
        }
    }

    /// Calls of objects by messages of other PEs, by PE and in order: the message and the index.
    fn calls_from_afar(&self, pe: u32) -> Vec<(u64, u128)> {
        let came = |(message, _): &&(u64, u128)| {
            self.calls.contains(message) && self.taken.contains(&(pe, *message))
        };
        self.delivered.get(&pe).into_iter().flatten().filter(came).copied().collect()
    }
}

/// What a trace says.
#[derive(Default)]
struct Traced {
    /// Calls of entries and answers, by PE and in order: the way of the message, and the index.
    calls: BTreeMap<u32, Vec<(Option<Way>, u128)>>,
    /// Messages that left, by the ends of their way: how many.
    left: BTreeMap<(u32, u32), u64>,
    dropped: u64,
}

impl Traced {
    fn read(folder: &Path) -> Traced {
        let mut traced = Traced::default();
        for part in fs::read_dir(folder).expect("there are parts") {
            let mut reader = PartReader::open(&part.unwrap().path()).expect("it is a part");
            while let Some(strip) = reader.next_strip().expect("it is whole") {
                traced.dropped += strip.dropped;
                let mut cause = None;
                for record in &strip.records {
                    match Kind::of(record.kind).expect("it is one of ours") {
                        Kind::Caused => cause = Some((record.wide, record.low)),
                        Kind::Begins => {
                            let call = (cause.take(), record.index());
                            if record.small <= calls::REPLY {
                                traced.calls.entry(strip.pe).or_default().push(call);
                            }
                        }
                        Kind::Sent => {
                            let count = traced.left.entry((strip.pe, record.wide)).or_default();
                            *count += 1;
                            assert_eq!(*count, record.low, "messages are counted one by one");
                        }
                        _ => {}
                    }
                }
            }
        }
        traced
    }
}

/// Runs the job of a seed; what its witness saw, and the hash of its events.
fn witnessed(seed: u64, trace: Option<PathBuf>) -> (Witnessed, Option<u64>) {
    let all = Rc::new(RefCell::new(Witnessed::default()));
    let seeing = all.clone();
    witness::call(Some(Box::new(move |_, seen| seeing.borrow_mut().see(seen))));
    let options = RunArgs {
        nodes: 3,
        pes: Some(2),
        simulate: true,
        seed,
        trace,
        repack: seed % 3 == 1,
        ..RunArgs::default()
    };
    let outcome = run::<Main, _>((PLAN,), &options, Watch::new(Output::capture(), Progress::off()));
    witness::call(None);
    assert_eq!(outcome.status, 0, "{:?}", outcome.message);
    (all.take(), outcome.trace)
}

fn scratch(seed: u64) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("trace-{}-{seed}", std::process::id()))
}

#[test]
fn every_call_and_message_is_in_the_trace() {
    let mut calls = 0;
    for seed in 0..8 {
        let file = scratch(seed);
        let folder = file.with_extension("parts");
        let (seen, _) = witnessed(seed, Some(file));
        let traced = Traced::read(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(traced.dropped, 0);
        for (way, left) in &seen.left {
            assert_eq!(traced.left.get(way), Some(&(left.len() as u64)), "seed {seed}, {way:?}");
        }
        for pe in 0..6 {
            let message = |(from, number): Way| seen.left[&(from, pe)][number as usize - 1];
            let from_afar = |(way, index): &(Option<Way>, u128)| {
                let way = way.filter(|(from, _)| *from != pe)?;
                Some((message(way), *index)).filter(|(message, _)| seen.calls.contains(message))
            };
            let told: Vec<_> = traced.calls[&pe].iter().filter_map(from_afar).collect();
            assert_eq!(told, seen.calls_from_afar(pe), "seed {seed}, PE {pe}");
            calls += told.len();
        }
    }
    assert!(calls > 1_000, "only {calls} calls by messages of other PEs");
}

#[test]
fn a_trace_changes_nothing() {
    for seed in 8..12 {
        let file = scratch(seed);
        let (_, traced) = witnessed(seed, Some(file.clone()));
        fs::remove_dir_all(file.with_extension("parts")).unwrap();
        let (_, plain) = witnessed(seed, None);
        assert!(traced.is_some() && traced == plain, "seed {seed}");
    }
}
