//! `--trace`: what is in the file, by a reader that knows no more than Perfetto's format; and what becomes of it when
//! processes die.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;

use super::checks;
use crate::job::{Job, Scratch, example, program, run, until};
use crate::system::signal;

checks!(
    have_every_call_and_message,
    have_a_loss_and_what_follows,
    have_what_a_lost_node_did_again,
    have_the_calls_of_ranks,
    are_left_by_jobs_that_died,
    are_refused_where_they_cannot_be_written,
    keep_to_their_window_and_their_size,
);

/// 8 blocks, each with 3 neighbours, which send their sides in each step.
const GRID: &str = "--grid 16,16,16 --block 8,8,8";

fn have_every_call_and_message() {
    for transport in ["shm", "tcp"] {
        let trace = TraceFile::new("whole");
        let words = format!("{GRID} --steps 10 --trace {}", trace.name());
        run(example("jacobi3d", &words, (3, 2, transport))).expect(0, &[]).quietly();
        let events = trace.read();
        let tracks: Vec<String> = (0..6).map(|pe| format!("PE {pe}")).collect();
        assert!(tracks.iter().all(|track| events.tracks.contains(track)), "{:?}", events.tracks);
        let ghosts: Vec<&Event> =
            events.all.iter().filter(|event| event.name.ends_with("Block.ghosts")).collect();
        assert_eq!(ghosts.len(), 8 * 3 * 10, "each side that was sent called an entry once");
        let begun = events.all.iter().filter(|event| event.kind == BEGINS).count();
        assert_eq!(events.all.iter().filter(|event| event.kind == ENDS).count(), begun);
        // All messages that came from anywhere left there before, on this host by the same clock.
        let left: BTreeMap<u64, u64> =
            events.all.iter().flat_map(|event| event.out.iter().map(|arrow| (*arrow, event.at))).collect();
        for event in &events.all {
            for arrow in &event.into {
                let sent = left.get(arrow).unwrap_or_else(|| panic!("nobody sent {event:?}"));
                assert!(*sent <= event.at, "{event:?} came before it was sent at {sent}");
            }
        }
        assert!(ghosts.iter().all(|event| event.into.len() == 1), "each call has its message");
        assert!(!trace.parts().exists(), "parts go when they are put together");
        let said = talisman(&[OsStr::new("trace"), trace.0.0.as_os_str()]);
        assert!(said.contains("jacobi3d: 3 nodes on 1 host, 2 PEs each"), "{said}");
        assert!(said.contains("Block.ghosts") && said.contains("How long entries took"), "{said}");
    }
}

fn have_a_loss_and_what_follows() {
    let trace = TraceFile::new("loss");
    let words =
        format!("{GRID} --steps 40 --ft double --ckpt-every 5steps --kill 1@step20 --trace {}", trace.name());
    run(example("jacobi3d", &words, (3, 1, "shm"))).expect(0, &["node 1"]);
    let events = trace.read();
    let count = |name: &str| events.count(name);
    assert_eq!(count("loss of node 1"), 1);
    assert_eq!(count("goes back"), 2, "each PE that is left");
    assert!(count("checkpoint") > 2 && count("frozen") > 2);
    let died: BTreeSet<u64> = events.of("PE 1").map(|event| event.at).collect();
    let back = events.all.iter().filter(|event| event.name == "goes back").map(|event| event.at).min();
    assert!(!died.is_empty() && died.last() < back.as_ref(), "what the lost node did is there");
    let html = TraceFile::new("page.html");
    let said = talisman(&["trace".as_ref(), trace.0.0.as_os_str(), "--html".as_ref(), html.0.0.as_os_str()]);
    assert!(said.contains("node 1 was lost at"), "{said}");
    assert!(fs::read_to_string(&html.0.0).unwrap().contains("node 1 was lost at"));
}

/// Its messages were told by the process that was lost: they have no arrows a second time, and go on to be counted.
fn have_what_a_lost_node_did_again() {
    for (nodes, pes, transport) in [(3, 1, "shm"), (2, 2, "tcp")] {
        let trace = TraceFile::new("again");
        let options = "--ft logging --ckpt-every 25steps --kill 1@step40";
        let words = format!("{GRID} --steps 60 {options} --trace {}", trace.name());
        run(example("jacobi3d", &words, (nodes, pes, transport))).expect(0, &["node 1"]);
        let events = trace.read();
        assert_eq!((events.count("loss of node 1"), events.count("replay")), (1, pes as usize));
        let left: BTreeMap<u64, u64> = events
            .all
            .iter()
            .rev()
            .flat_map(|event| event.out.iter().map(|arrow| (*arrow, event.at)))
            .collect();
        for pe in pes..2 * pes {
            let (track, again) = (format!("PE {pe}"), format!("PE {pe} runs again"));
            let [begins, ends] = events.of(&again).collect::<Vec<_>>()[..] else { panic!("{again} once") };
            assert_eq!((begins.kind, ends.kind), (BEGINS, ENDS));
            let calls: Vec<&Event> =
                events.of(&track).filter(|event| event.name.ends_with("Block.ghosts")).collect();
            let until = |at: u64| calls.iter().filter(|event| event.at < at).count();
            let (before, at_end) = (until(begins.at), until(ends.at));
            assert!(before > 0 && at_end > before && calls.len() > at_end, "{track}: {before}, {at_end}");
            // What the PEs of the lost node had sent each other last was not written any more.
            let is_told = |call: &&&Event| call.into.iter().any(|arrow| left.contains_key(arrow));
            let (after, told) = (&calls[at_end..], calls[at_end..].iter().filter(is_told).count());
            assert!(told == after.len() || pes > 1 && told > 0, "{track}: {told} of {}", after.len());
        }
        // Some calls of the lost process's last moment, of which nobody had heard, are made by the same messages a second time.
        let mut called = BTreeSet::new();
        let again =
            events.all.iter().flat_map(|event| &event.into).filter(|arrow| !called.insert(**arrow)).count();
        assert!(again * 20 < called.len(), "{again} of {} messages called twice", called.len());
        for event in &events.all {
            let sent = event.into.iter().filter_map(|arrow| left.get(arrow));
            sent.for_each(|sent| assert!(*sent <= event.at, "{event:?} came before it was sent at {sent}"));
        }
        let said = talisman(&[OsStr::new("trace"), trace.0.0.as_os_str()]);
        assert!(said.contains(&format!("PE {pes} did again what was done from line")), "{said}");
    }
}

fn have_the_calls_of_ranks() {
    let trace = TraceFile::new("ranks");
    let words = format!("--ranks 4 --laps 10 --move-every 4 --trace {}", trace.name());
    run(example("mpi_ring", &words, (2, 1, "shm"))).expect(0, &[]).quietly();
    let events = trace.read();
    for rank in 0..4 {
        let track = format!("rank {rank}");
        let (begins, ends) = (|event: &&Event| event.kind == BEGINS, |event: &&Event| event.kind == ENDS);
        let calls: Vec<_> = events.of(&track).filter(begins).collect();
        let receives = calls.iter().filter(|event| event.name.contains("receive")).count();
        assert!(receives >= 10, "{track} receives once in each lap: {receives}");
        assert_eq!(events.of(&track).filter(ends).count(), calls.len(), "{track}: each call returns");
    }
    let said = talisman(&[OsStr::new("trace"), trace.0.0.as_os_str()]);
    assert!(said.contains("Calls of ranks") && said.contains("receive"), "{said}");
}

fn are_left_by_jobs_that_died() {
    let trace = TraceFile::new("died");
    let job = Job::start(program(&format!("--trace {} traffic", trace.name()), (3, 1, "shm")));
    job.wait_for("under way");
    let has_some = |part: &PathBuf| fs::metadata(part).is_ok_and(|part| part.len() > 64 << 10);
    let all_have_some = || {
        // There is a lock beside them.
        let files = fs::read_dir(trace.parts()).ok()?.map(|part| part.unwrap().path());
        let parts: Vec<PathBuf> =
            files.filter(|file| file.extension().is_some_and(|end| end == "part")).collect();
        (parts.len() == 3 && parts.iter().all(has_some)).then_some(())
    };
    until(all_have_some).expect("every node writes its part while the job runs");
    job.processes().iter().for_each(|pid| signal(*pid, Signal::KILL));
    assert_eq!(job.end().at_once().status.code(), None);
    assert!(!trace.0.0.exists(), "nobody was left to put the parts together");
    let said = talisman(&[OsStr::new("trace"), trace.0.0.as_os_str()]);
    assert!(said.contains("put together from the parts of 3 nodes"), "{said}");
    let events = trace.read();
    assert!((0..3).all(|pe| events.of(&format!("PE {pe}")).count() > 100));
}

fn are_refused_where_they_cannot_be_written() {
    let nowhere = "--trace /nonexistent/folder/job.pftrace traffic";
    run(program(nowhere, (2, 1, "shm"))).expect(2, &["--trace /nonexistent", "cannot be written"]);
    run(program("--trace /tmp traffic", (2, 1, "shm"))).expect(2, &["--trace /tmp", "it is a folder"]);
    run(program("--trace x --report x traffic", (2, 1, "shm")))
        .expect(2, &["--trace --report: both would be"]);
}

fn keep_to_their_window_and_their_size() {
    let trace = TraceFile::new("window");
    let words = format!("{GRID} --steps 10 --trace-window 1h..2h --trace {}", trace.name());
    run(example("jacobi3d", &words, (2, 1, "shm"))).expect(0, &["nothing was done from 3600 to 7200 s"]);
    assert_eq!(trace.read().of("PE 0").count(), 0);
    let trace = TraceFile::new("size");
    let words = format!("{GRID} --steps 200 --trace-size 32KiB --trace {}", trace.name());
    run(example("jacobi3d", &words, (2, 1, "shm"))).expect(0, &["of --trace-size, 16384 bytes, was used"]);
    assert!(fs::metadata(&trace.0.0).unwrap().len() < 1 << 20);
}

/// Runs the command, which must succeed; what it prints.
fn talisman(words: &[&OsStr]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_talisman")).args(words).output().expect("it has been built");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// A trace that is not there yet, and goes with its parts.
pub(super) struct TraceFile(Scratch);

impl TraceFile {
    pub(super) fn new(name: &str) -> TraceFile {
        TraceFile(Scratch::new(name))
    }

    pub(super) fn name(&self) -> &str {
        self.0.name()
    }

    fn parts(&self) -> PathBuf {
        PathBuf::from(format!("{}.parts", self.name()))
    }

    pub(super) fn read(&self) -> Events {
        Events::of_bytes(&fs::read(&self.0.0).expect("there is a trace"))
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.parts());
    }
}

const BEGINS: u64 = 1;
const ENDS: u64 = 2;

/// A track event, with what its sequence says of it.
#[derive(Debug)]
struct Event {
    at: u64,
    kind: u64,
    track: u64,
    name: String,
    out: Vec<u64>,
    into: Vec<u64>,
}

#[derive(Default)]
pub(super) struct Events {
    all: Vec<Event>,
    tracks: BTreeSet<String>,
    names_of_tracks: BTreeMap<u64, String>,
}

impl Events {
    fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Event> {
        let is_on =
            move |event: &&Event| self.names_of_tracks.get(&event.track).is_some_and(|track| track == name);
        self.all.iter().filter(is_on)
    }

    /// How many begin or happen that are called so.
    pub(super) fn count(&self, name: &str) -> usize {
        self.all.iter().filter(|event| event.name == name).count()
    }

    /// Arrows that have both ends.
    pub(super) fn whole_arrows(&self) -> usize {
        let left: BTreeSet<u64> = self.all.iter().flat_map(|event| event.out.iter().copied()).collect();
        let come: BTreeSet<u64> = self.all.iter().flat_map(|event| event.into.iter().copied()).collect();
        come.intersection(&left).count()
    }

    /// Arrows that begin after they end, which viewers leave out: each by its ends.
    pub(super) fn arrows_back(&self) -> Vec<String> {
        let mut left: BTreeMap<u64, &Event> = BTreeMap::new();
        for event in &self.all {
            event.out.iter().for_each(|arrow| _ = left.entry(*arrow).or_insert(event));
        }
        let mut back = Vec::new();
        for to in &self.all {
            let from = to.into.iter().filter_map(|arrow| left.get(arrow));
            let late = from.filter(|from| from.at > to.at);
            let end = |event: &Event| {
                format!("{} on {:?} at {}", event.name, self.names_of_tracks.get(&event.track), event.at)
            };
            back.extend(late.map(|from| format!("{} to {}", end(from), end(to))));
        }
        back
    }

    /// Reads a trace by the numbers of fields in `protos/perfetto/trace/perfetto_trace.proto`.
    fn of_bytes(bytes: &[u8]) -> Events {
        let mut events = Events::default();
        let (mut names, mut defaults) = (BTreeMap::new(), BTreeMap::new());
        for (field, packet) in fields(bytes) {
            assert_eq!(field, 1, "Trace.packet");
            let packet = Fields(fields(packet.bytes()));
            let sequence = packet.number(10).expect("trusted_packet_sequence_id");
            if let Some(track) = packet.message(60) {
                let name = track.text(2);
                events.tracks.insert(name.clone());
                events.names_of_tracks.insert(track.number(1).expect("uuid"), name);
            }
            for name in packet.message(12).iter().flat_map(|interned| interned.messages(2)) {
                names.insert((sequence, name.number(1).expect("iid")), name.text(2));
            }
            let default = packet.message(59).and_then(|defaults| defaults.message(11)?.number(11));
            default.into_iter().for_each(|track| {
                defaults.insert(sequence, track);
            });
            let Some(event) = packet.message(11) else { continue };
            let known = event.number(10).map(|iid| names[&(sequence, iid)].clone());
            events.all.push(Event {
                at: packet.number(8).expect("timestamp"),
                kind: event.number(9).expect("type"),
                track: event.number(11).unwrap_or_else(|| defaults[&sequence]),
                name: known.unwrap_or_else(|| event.text(23)),
                out: event.numbers(47),
                into: event.numbers(48),
            });
        }
        events
    }
}

/// The value of a field.
#[derive(Clone, Copy)]
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Value::Bytes(bytes) => bytes,
            Value::Number(number) => panic!("{number} where bytes should be"),
        }
    }
}

struct Fields<'a>(Vec<(u64, Value<'a>)>);

impl<'a> Fields<'a> {
    fn numbers(&self, field: u64) -> Vec<u64> {
        let number = |(of, value): &(u64, Value<'_>)| match value {
            Value::Number(number) if *of == field => Some(*number),
            _ => None,
        };
        self.0.iter().filter_map(number).collect()
    }

    fn number(&self, field: u64) -> Option<u64> {
        self.numbers(field).first().copied()
    }

    fn messages(&self, field: u64) -> Vec<Fields<'a>> {
        let all = self.0.iter().filter(|(of, _)| *of == field);
        all.map(|(_, value)| Fields(fields(value.bytes()))).collect()
    }

    fn message(&self, field: u64) -> Option<Fields<'a>> {
        self.messages(field).pop()
    }

    fn text(&self, field: u64) -> String {
        let value = self.0.iter().find(|(of, _)| *of == field);
        value.map_or_else(String::new, |(_, value)| String::from_utf8(value.bytes().to_vec()).expect("UTF-8"))
    }
}

/// The fields of a message in the encoding of protocol buffers.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut bytes)),
            1 => {
                let (word, rest) = bytes.split_first_chunk().expect("eight bytes");
                bytes = rest;
                Value::Number(u64::from_le_bytes(*word))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (content, rest) = bytes.split_at(length);
                bytes = rest;
                Value::Bytes(content)
            }
            other => panic!("no field of ours is of the kind {other}"),
        };
        all.push((tag >> 3, value));
    }
    all
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0).expect("it ends") + 1;
    let (number, rest) = bytes.split_at(length);
    *bytes = rest;
    number.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
}
