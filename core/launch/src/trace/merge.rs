//! Parts of nodes as one trace.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::clocks::{Clocks, Moments, Offset};
use super::packets::write;
use super::perfetto::{
    Annotation, INSTANT, Packet, SLICE_BEGIN, SLICE_END, STATE_CLEARED, TrackDescriptor, TrackEvent,
};
use super::sequence::{Program, Sequence, ShowIndex};
use super::tracks::Track;
use talisman_job::Failure;
use talisman_job::options::{TRACE_PART_ENDING, Traced};
use talisman_kernel::registry::Registry;
use talisman_node::trace::part_file::{Origin, PartError, PartReader, Strip};
use talisman_observe::trace::Kind;

/// Of the messages between hosts, so many are looked at to align their clocks.
const MESSAGES_MAX: usize = 1 << 20;
/// What is written at once.
const PIECE: usize = 1 << 20;
/// The sequence of what is said of the job.
const JOB: u32 = 1;

/// Parts cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error("{0}")]
    Part(#[from] PartError),
    #[error("{} has no part of a trace; nodes of other hosts have theirs there", .0.display())]
    NoParts(PathBuf),
    #[error("{} cannot be written: {why}", file.display())]
    Refused { file: PathBuf, why: io::Error },
    #[error("{} is of a program with other chares than {}", .0.display(), .1.display())]
    Mixed(PathBuf, PathBuf),
}

/// What is known beside the parts.
#[derive(Default)]
pub struct Extras<'a> {
    /// Which parts of the job are in the trace.
    pub traced: Traced,
    /// Nodes that were lost.
    pub failures: &'a [Failure],
}

/// What became of parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Nodes whose part there is.
    pub nodes: BTreeSet<u32>,
    /// Parts whose process died before it had written all.
    pub cut: u32,
    /// Records for which there was no room.
    pub dropped: u64,
    /// Records that are in the trace.
    pub kept: u64,
    /// By how much times of two hosts may be wrong against each other, in nanoseconds; none if only calendars tell.
    pub error_ns: Option<i64>,
}

/// Writes the parts in a folder as one trace to this file, which appears whole or not at all.
pub fn merge(
    folder: &Path,
    file: &Path,
    show_index: ShowIndex<'_>,
    extras: &Extras<'_>,
) -> Result<Merged, MergeError> {
    let mut parts = parts_in(folder)?;
    let (origins, clocks) = look_through(&mut parts)?;
    let offsets = clocks.offsets();
    let refused = |why| MergeError::Refused { file: file.to_owned(), why };
    let beside = file.with_extension(format!("{}.tmp", std::process::id()));
    let out = BufWriter::with_capacity(PIECE, File::create_new(&beside).map_err(refused)?);
    let mut merger = Merger::new(&origins, offsets, out);
    let merged = merger.write(&parts, show_index, extras);
    let merged = merged.and_then(|merged| fs::rename(&beside, file).map(|()| merged).map_err(Stop::Refused));
    if merged.is_err() {
        let _ = fs::remove_file(&beside);
    }
    merged.map_err(|stop| match stop {
        Stop::Part(error) => MergeError::Part(error),
        Stop::Refused(why) => refused(why),
    })
}

/// The index of a chare of this program.
pub fn index_of_program(chare: u32, index: u128) -> String {
    let chare = Registry::get().types().get(chare as usize);
    chare.map_or_else(|| format!("{index:#x}"), |chare| (chare.show_index)(index))
}

/// The files of parts, by their names.
pub fn parts_in(folder: &Path) -> Result<Vec<PathBuf>, MergeError> {
    let refused = |why| PartError::Refused { file: folder.to_owned(), why };
    let mut parts = Vec::new();
    for file in fs::read_dir(folder).map_err(refused)? {
        let path = file.map_err(refused)?.path();
        if path.to_str().is_some_and(|name| name.ends_with(TRACE_PART_ENDING)) {
            parts.push(path);
        }
    }
    parts.sort();
    if parts.is_empty() { Err(MergeError::NoParts(folder.to_owned())) } else { Ok(parts) }
}

/// Of which processes the parts are, those of a node as they began one after the other; and, where there are several hosts, what
/// messages tell of their clocks.
fn look_through(parts: &mut [PathBuf]) -> Result<(Vec<Origin>, Clocks), MergeError> {
    let mut origins: Vec<Origin> = Vec::new();
    let mut clocks = Clocks::default();
    for part in &*parts {
        let origin = PartReader::open(part)?.origin().clone();
        if origins.first().is_some_and(|first| first.chares != origin.chares) {
            return Err(MergeError::Mixed(part.clone(), parts[0].clone()));
        }
        clocks.see_host(origin.host, calendar_of(&origin));
        origins.push(origin);
    }
    let began = |origin: &Origin| (origin.node, (origin.moment.ns as i64).wrapping_add(calendar_of(origin)));
    let mut in_order: Vec<_> = origins.iter().map(began).zip(parts.iter().cloned()).collect();
    in_order.sort();
    origins.sort_by_key(began);
    parts.iter_mut().zip(in_order).for_each(|(part, (_, in_order))| *part = in_order);
    if clocks.hosts() > 1 {
        let hosts =
            origins.iter().flat_map(|origin| nodes_of(origin).map(|node| (node, origin.host))).collect();
        let pes = origins[0].pes_per_node;
        see_messages(parts, &Places { hosts, pes }, &mut clocks)?;
    }
    Ok((origins, clocks))
}

/// By how much the calendar of a process is before its monotonic clock.
fn calendar_of(origin: &Origin) -> i64 {
    (origin.calendar_ns as i64).wrapping_sub(origin.start_ns as i64)
}

/// The nodes of a process.
fn nodes_of(origin: &Origin) -> std::ops::Range<u32> {
    origin.node..origin.node.saturating_add(origin.nodes_here)
}

/// On which hosts nodes are.
struct Places {
    hosts: HashMap<u32, u32>,
    pes: u32,
}

impl Places {
    fn host_of(&self, pe: u32) -> Option<u32> {
        self.hosts.get(&(pe / self.pes)).copied()
    }
}

/// Looks at messages between hosts: when they were sent, and when what they called began.
fn see_messages(parts: &[PathBuf], places: &Places, clocks: &mut Clocks) -> Result<(), MergeError> {
    let mut sent = HashMap::new();
    each_message(parts, Kind::Sent, |strip, at, other, number| {
        if sent.len() < MESSAGES_MAX && places.host_of(strip.pe) != places.host_of(other) {
            sent.insert((strip.epoch, strip.pe, other, number), at);
        }
    })?;
    each_message(parts, Kind::Caused, |strip, at, other, number| {
        let began = sent.get(&(strip.epoch, other, strip.pe, number));
        if let (Some(sent), Some(from), Some(to)) = (began, places.host_of(other), places.host_of(strip.pe)) {
            clocks.see_message((from, *sent), (to, at));
        }
    })
}

/// Messages of one kind, with the time by their host's clock, the PE at the other end and the number on the way.
fn each_message(
    parts: &[PathBuf],
    kind: Kind,
    mut see: impl FnMut(&Strip, i64, u32, u64),
) -> Result<(), MergeError> {
    for part in parts {
        let mut reader = PartReader::open(part)?;
        let mut moments = Moments::from(reader.origin().moment);
        while let Some(strip) = reader.next_strip()? {
            moments.go_to(strip.moment);
            for record in strip.records.iter().filter(|record| record.kind == kind as u16) {
                see(&strip, moments.ns_of(record.ticks), record.wide, record.low);
            }
        }
    }
    Ok(())
}

/// Why a trace cannot be written.
enum Stop {
    Part(PartError),
    Refused(io::Error),
}

impl From<PartError> for Stop {
    fn from(error: PartError) -> Stop {
        Stop::Part(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Refused(error)
    }
}

struct Merger<'a, W> {
    origins: &'a [Origin],
    offsets: BTreeMap<u32, Offset>,
    /// The program's start, by the clock of the first host.
    start_ns: i64,
    sequences: BTreeMap<u32, Sequence>,
    out: W,
}

impl<'a, W: Write> Merger<'a, W> {
    fn new(origins: &'a [Origin], offsets: BTreeMap<u32, Offset>, out: W) -> Self {
        let start = |origin: &Origin| origin.start_ns as i64 - offsets[&origin.host].ns;
        let start_ns = origins.iter().map(start).min().unwrap_or(0);
        Merger { origins, offsets, start_ns, sequences: BTreeMap::new(), out }
    }

    fn write(
        &mut self,
        parts: &[PathBuf],
        show_index: ShowIndex<'_>,
        extras: &Extras<'_>,
    ) -> Result<Merged, Stop> {
        let mut merged = Merged { error_ns: Some(0), ..Merged::default() };
        for offset in self.offsets.values() {
            merged.error_ns = merged.error_ns.zip(offset.error_ns).map(|(one, two)| one.max(two));
        }
        self.begin(&merged, extras)?;
        for (part, origin) in parts.iter().zip(self.origins) {
            merged.nodes.extend(nodes_of(origin));
            self.part(part, show_index, extras, &mut merged)?;
        }
        let mut out = Vec::new();
        self.sequences.values_mut().for_each(|sequence| sequence.close(&mut out));
        self.out.write_all(&out)?;
        self.out.flush()?;
        Ok(merged)
    }

    /// The records of one part.
    fn part(
        &mut self,
        part: &Path,
        show_index: ShowIndex<'_>,
        extras: &Extras<'_>,
        merged: &mut Merged,
    ) -> Result<(), Stop> {
        let mut reader = PartReader::open(part)?;
        let origin = reader.origin().clone();
        let shift = self.start_ns + self.offsets[&origin.host].ns;
        let program = Program { chares: &origin.chares, show_index };
        let mut moments = Moments::from(origin.moment);
        let (mut out, mut dropped) = (Vec::new(), BTreeMap::new());
        for node in nodes_of(&origin) {
            let first = node.saturating_mul(origin.pes_per_node);
            let own = self.sequences.range_mut(first..first.saturating_add(origin.pes_per_node));
            own.for_each(|(_, sequence)| sequence.begin_process(&mut out));
        }
        while let Some(strip) = reader.next_strip()? {
            moments.go_to(strip.moment);
            let sequence = self.sequences.entry(strip.pe).or_insert_with(|| Sequence::of(strip.pe));
            sequence.live(strip.epoch, &mut out);
            for record in &strip.records {
                let at = moments.ns_of(record.ticks) - shift;
                let at = at.max(0) as u64;
                if let Some(part) = extras.traced.part_at(Duration::from_nanos(at)) {
                    sequence.go_to(part, &mut out);
                    sequence.record(at, record, &program, &mut out);
                    merged.kept += 1;
                }
            }
            sequence.drop_records(strip.dropped, &mut out);
            dropped.insert((strip.pe, strip.epoch), strip.dropped);
            if out.len() > PIECE {
                self.out.write_all(&out)?;
                out.clear();
            }
        }
        self.out.write_all(&out)?;
        merged.cut += u32::from(reader.is_cut());
        merged.dropped += dropped.values().sum::<u64>();
        Ok(())
    }

    /// What the job is, its tracks, and its losses.
    fn begin(&mut self, merged: &Merged, extras: &Extras<'_>) -> io::Result<()> {
        let mut out = Vec::new();
        let mut tracks = BTreeMap::from(
            [Track::Job, Track::Checkpoints, Track::Steps, Track::Program].map(|track| (track, None)),
        );
        for origin in self.origins {
            tracks.insert(Track::Host(origin.host), None);
            for (node, rank) in
                nodes_of(origin).flat_map(|node| (0..origin.pes_per_node).map(move |pe| (node, pe)))
            {
                let pe = node.saturating_mul(origin.pes_per_node).saturating_add(rank);
                tracks.insert(Track::Node(node), Some(Track::Host(origin.host)));
                tracks.insert(Track::Pe(pe), Some(Track::Node(node)));
                tracks.insert(Track::Frozen(pe), Some(Track::Pe(pe)));
            }
        }
        tracks.iter().for_each(|(track, parent)| write(&descriptor(*track, *parent), &mut out));
        write(&self.job(merged), &mut out);
        extras.failures.iter().for_each(|failure| {
            loss(failure).iter().for_each(|packet| write(packet, &mut out));
        });
        self.out.write_all(&out)
    }

    fn job(&self, merged: &Merged) -> Packet {
        let first = &self.origins[0];
        let mut said = vec![
            text("program", &first.program),
            number("nodes", first.nodes.into()),
            number("pes_per_node", first.pes_per_node.into()),
            number("hosts", self.offsets.len() as u64),
            text("movable", &first.movable().join("\n")),
        ];
        said.extend(merged.error_ns.map(|error| number("clock_error_ns", error as u64)));
        job_packet(0, TrackEvent { name: Some(NAME.into()), debug_annotations: said, ..of_type(INSTANT) })
    }
}

/// What the first event of ours is called.
pub const NAME: &str = "talisman job";
/// What those of losses begin with.
pub const LOSS: &str = "loss of ";

fn of_type(r#type: i32) -> TrackEvent {
    TrackEvent { r#type, track_uuid: Some(Track::Job.uuid()), ..TrackEvent::default() }
}

fn job_packet(at: u64, event: TrackEvent) -> Packet {
    Packet {
        timestamp: Some(at),
        trusted_packet_sequence_id: JOB,
        sequence_flags: Some(STATE_CLEARED),
        track_event: Some(event),
        ..Packet::default()
    }
}

fn descriptor(track: Track, parent: Option<Track>) -> Packet {
    let parent_uuid = parent.map(Track::uuid);
    let track = TrackDescriptor { uuid: track.uuid(), name: track.name(), parent_uuid };
    Packet { trusted_packet_sequence_id: JOB, track_descriptor: Some(track), ..Packet::default() }
}

/// From when a node was known to be lost until the others went on.
fn loss(failure: &Failure) -> [Packet; 2] {
    let who = failure.node.map_or_else(|| "the launcher".into(), |node| format!("node {node}"));
    let ns = |seconds: f64| (seconds.max(0.0) * 1e9) as u64;
    let until = failure.at_s + failure.halt_s.unwrap_or(0.0) + failure.recover_s.unwrap_or(0.0);
    let mut said = vec![text("what", &failure.what), text("detected", &failure.detected)];
    said.extend(failure.version.map(|version| number("version", version)));
    said.extend(failure.steps_redone.map(|steps| number("steps_redone", steps)));
    let begins =
        TrackEvent { name: Some(format!("{LOSS}{who}")), debug_annotations: said, ..of_type(SLICE_BEGIN) };
    [job_packet(ns(failure.at_s), begins), job_packet(ns(until), of_type(SLICE_END))]
}

fn text(name: &str, value: &str) -> Annotation {
    let (name, string_value) = (Some(name.into()), Some(value.into()));
    Annotation { name, string_value, ..Annotation::default() }
}

fn number(name: &str, value: u64) -> Annotation {
    Annotation { name: Some(name.into()), uint_value: Some(value), ..Annotation::default() }
}
