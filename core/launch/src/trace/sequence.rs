//! Records of one PE as packets of a trace.
//!
//! All packets of a PE are one sequence, which tells each name once and then refers to it by a number.

use std::collections::{HashMap, HashSet};

use super::packets::{beginning, descriptor_of, event, mixed, name_of, named, on_track, sequence_id, write};
use super::perfetto::{
    Annotation, INSTANT, InternedData, NEEDS_STATE, Named, Packet, SLICE_BEGIN, SLICE_END, TrackEvent,
    with_float, with_number, with_text,
};
use super::tracks::Track;
use super::vocabulary::{ENTRY, IDLE, MESSAGE, MPI, RUNTIME, annotation, names};
use talisman_node::trace::part_file::ChareNames;
use talisman_observe::trace::{Kind, Record, seconds_in};

/// Names of ranks' calls that are told by number: MPI has fewer functions.
const CALLS_MAX: usize = 1 << 12;

/// The first number of a name of a rank's call: there are no more entries than this.
const CALLS_FROM: u64 = 1 << 33;

/// Indices that are told by number: as many take a megabyte or so.
const INDICES_MAX: usize = 1 << 14;

/// Shows the index of a chare of this number.
pub type ShowIndex<'a> = &'a dyn Fn(u32, u128) -> String;

/// What all PEs of a program have in common.
pub struct Program<'a> {
    pub chares: &'a [ChareNames],
    pub show_index: ShowIndex<'a>,
}

/// The packets of one PE.
#[derive(Default)]
pub struct Sequence {
    pe: u32,
    epoch: u32,
    part: u64,
    has_begun: bool,
    entries: HashMap<(u32, u16), u64>,
    indices: HashMap<(u32, u128), u64>,
    /// Names of ranks' calls.
    calls: HashMap<String, u64>,
    /// Tracks of ranks that were told.
    ranks: HashSet<u32>,
    /// A rank's call whose name may go on.
    rank_call: Option<(u64, Record)>,
    /// Whether an entry runs.
    runs: bool,
    is_frozen: bool,
    /// It does again what a lost PE did; it has done so before.
    replays: bool,
    has_replayed: bool,
    checkpoints: bool,
    steps: bool,
    /// The way that the next entry's message has come.
    cause: Option<u64>,
    relayed: Option<u64>,
    last_ns: u64,
    /// When an entry, or being idle, last ended.
    ended_ns: u64,
    dropped: u64,
}

impl Sequence {
    pub fn of(pe: u32) -> Sequence {
        Sequence { pe, ..Sequence::default() }
    }

    /// Another life of the PE begins, perhaps: what was open in the former one has ended.
    pub fn live(&mut self, epoch: u32, out: &mut Vec<u8>) {
        if self.epoch != epoch {
            self.begin_process(out);
            self.epoch = epoch;
        }
    }

    /// It is another PE from now on: what was open in the one before it has ended.
    pub fn begin_process(&mut self, out: &mut Vec<u8>) {
        self.close(out);
        self.dropped = 0;
    }

    /// What follows is in this part of the job, as far as not all of it is traced.
    pub fn go_to(&mut self, part: u64, out: &mut Vec<u8>) {
        if self.part != part {
            self.close(out);
            self.part = part;
        }
    }

    /// Nothing follows: what is open ends at the last moment.
    pub fn close(&mut self, out: &mut Vec<u8>) {
        let at = self.last_ns;
        if let Some((since, call)) = self.rank_call.take() {
            self.rank_calls(since, &call, None, out);
        }
        if std::mem::take(&mut self.runs) {
            self.put(at, event(SLICE_END), out);
        }
        if std::mem::take(&mut self.is_frozen) {
            self.put(at, on_track(Track::Frozen(self.pe), event(SLICE_END)), out);
        }
        if std::mem::take(&mut self.replays) {
            self.put(at, on_track(Track::Replay(self.pe), event(SLICE_END)), out);
        }
        if std::mem::take(&mut self.checkpoints) {
            self.put(at, on_track(Track::Checkpoints, event(SLICE_END)), out);
        }
        if std::mem::take(&mut self.steps) {
            self.put(at, on_track(Track::Steps, event(SLICE_END)), out);
        }
        (self.cause, self.relayed) = (None, None);
    }

    /// So many records of this PE were dropped until now.
    pub fn drop_records(&mut self, dropped: u64, out: &mut Vec<u8>) {
        if dropped > self.dropped {
            let more = with_number(annotation("dropped"), dropped - self.dropped);
            self.put(self.last_ns, named(INSTANT, RUNTIME, names::DROPPED, vec![more]), out);
            self.dropped = dropped;
        }
    }

    /// A record from this moment, in nanoseconds. Those of a PE are in order.
    pub fn record(&mut self, at: u64, record: &Record, program: &Program<'_>, out: &mut Vec<u8>) {
        let at = at.max(self.last_ns);
        self.last_ns = at;
        let Some(kind) = Kind::of(record.kind) else { return };
        let on = (kind == Kind::RankCallsOn).then_some(record);
        if let Some((since, call)) = self.rank_call.take() {
            self.rank_calls(since, &call, on, out);
        }
        match kind {
            Kind::Begins => self.begin_entry(at, record, program, out),
            Kind::Ends => {
                if std::mem::take(&mut self.runs) {
                    self.put(at, event(SLICE_END), out);
                }
                self.ended_ns = at;
            }
            // What was sent once has called once: its arrow goes to where it was lost.
            Kind::Caused if self.replays && record.wide != self.pe => {}
            Kind::Caused => self.cause = Some(self.arrow(record.wide, self.pe, record.low)),
            Kind::Relayed => self.relayed = Some(self.arrow(record.wide, self.pe, record.low)),
            Kind::Sent => self.send(at, record, out),
            Kind::Idle => self.idle(at, record, out),
            Kind::Frozen | Kind::Thawed => self.freeze(at, kind == Kind::Frozen, out),
            Kind::CheckpointBegins | Kind::CheckpointTaken | Kind::CheckpointCommitted => {
                self.checkpoint(at, kind, record, out);
            }
            Kind::GoesBack => {
                let version = with_number(annotation("version"), record.low);
                let epoch = with_number(annotation("epoch"), self.epoch.into());
                self.put(at, named(INSTANT, RUNTIME, names::GOES_BACK, vec![version, epoch]), out);
            }
            Kind::StepBegins | Kind::StepEnds | Kind::StepGain => self.step(at, kind, record, out),
            Kind::Moves => self.move_away(at, record, program, out),
            Kind::Step => {
                let step = with_number(annotation("step"), record.low);
                let event = named(INSTANT, RUNTIME, names::PROGRAM_STEP, vec![step]);
                self.put(at, on_track(Track::Program, event), out);
            }
            Kind::RankCalls => self.rank_call = Some((at, *record)),
            Kind::RankCallsOn => {}
            Kind::Replays => self.replay(at, record.low, out),
            Kind::ReplayEnds => {
                if std::mem::take(&mut self.replays) {
                    self.put(at, on_track(Track::Replay(self.pe), event(SLICE_END)), out);
                }
            }
            Kind::RankGoesOn => self.put(at, on_track(Track::Rank(record.wide), event(SLICE_END)), out),
        }
    }

    /// A rank has called MPI at this moment.
    fn rank_calls(&mut self, at: u64, call: &Record, on: Option<&Record>, out: &mut Vec<u8>) {
        let (track, name, mut told) =
            (Track::Rank(call.wide), call.name_of_rank_call(on), InternedData::default());
        if self.ranks.insert(call.wide) {
            write(&descriptor_of(self.pe, track, None), out);
        }
        // Behind the numbers of entries: those are fewer than there are of them in a program.
        let next = CALLS_FROM + self.calls.len() as u64;
        let mut event = TrackEvent { category_iids: vec![MPI], ..event(SLICE_BEGIN) };
        match self.calls.get(&name) {
            Some(iid) => event.name_iid = Some(*iid),
            None if self.calls.len() < CALLS_MAX => {
                event.name_iid = Some(next);
                told.event_names.push(Named { iid: next, name: name.clone() });
                self.calls.insert(name, next);
            }
            None => event.name = Some(name),
        }
        let told = (!told.event_names.is_empty()).then_some(told);
        self.put_with(at, on_track(track, event), told, out);
    }

    fn begin_entry(&mut self, at: u64, record: &Record, program: &Program<'_>, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.runs, true) {
            // The end of the one before was dropped.
            self.put(at, event(SLICE_END), out);
        }
        let (chare, call, index) = (record.wide, record.small, record.index());
        let (mut told, mut data) = (InternedData::default(), false);
        let next = names::ALL.len() as u64 + 1 + self.entries.len() as u64;
        let name_iid = *self.entries.entry((chare, call)).or_insert_with(|| {
            data = true;
            told.event_names.push(Named { iid: next, name: name_of(chare, call, program.chares) });
            next
        });
        let shown = self.index(chare, index, program, &mut told);
        data |= !told.debug_annotation_string_values.is_empty();
        let terminating_flow_ids = self.cause.take().into_iter().collect();
        let event = TrackEvent {
            category_iids: vec![ENTRY],
            name_iid: Some(name_iid),
            debug_annotations: vec![shown],
            terminating_flow_ids,
            ..event(SLICE_BEGIN)
        };
        self.put_with(at, event, data.then_some(told), out);
    }

    /// The annotation of an index, by its number if it has one or can have one.
    fn index(
        &mut self,
        chare: u32,
        index: u128,
        program: &Program<'_>,
        told: &mut InternedData,
    ) -> Annotation {
        let name = annotation("index");
        let by_number =
            |iid| Annotation { name_iid: Some(name), string_value_iid: Some(iid), ..Annotation::default() };
        if let Some(iid) = self.indices.get(&(chare, index)) {
            return by_number(*iid);
        }
        let shown = (program.show_index)(chare, index);
        if self.indices.len() >= INDICES_MAX {
            return with_text(name, shown);
        }
        let iid = self.indices.len() as u64 + 1;
        self.indices.insert((chare, index), iid);
        told.debug_annotation_string_values.push(Named { iid, name: shown });
        by_number(iid)
    }

    fn send(&mut self, at: u64, record: &Record, out: &mut Vec<u8>) {
        let arrow = self.arrow(self.pe, record.wide, record.low);
        let mut said = vec![with_number(annotation("to"), record.wide.into())];
        if record.high > 0 {
            said.push(with_number(annotation("bytes"), record.high));
        }
        let relayed = self.relayed.take();
        let name = if relayed.is_some() { names::PASS_ON } else { names::SEND };
        let mut event = named(INSTANT, MESSAGE, name, said);
        event.flow_ids = vec![arrow];
        event.terminating_flow_ids = relayed.into_iter().collect();
        self.put(at, event, out);
    }

    fn idle(&mut self, at: u64, record: &Record, out: &mut Vec<u8>) {
        let asleep = with_number(annotation("asleep_ns"), record.high);
        let begins = named(SLICE_BEGIN, IDLE, names::IDLE, vec![asleep]);
        // By another clock than entries: it does not begin before they end.
        self.put(at.saturating_sub(record.low).max(self.ended_ns), begins, out);
        self.put(at, event(SLICE_END), out);
        self.ended_ns = at;
    }

    fn freeze(&mut self, at: u64, begins: bool, out: &mut Vec<u8>) {
        let event = match (begins, std::mem::replace(&mut self.is_frozen, begins)) {
            (true, false) => named(SLICE_BEGIN, RUNTIME, names::FROZEN, Vec::new()),
            (false, true) => event(SLICE_END),
            _ => return,
        };
        self.put(at, on_track(Track::Frozen(self.pe), event), out);
    }

    fn replay(&mut self, at: u64, line: u64, out: &mut Vec<u8>) {
        let track = Track::Replay(self.pe);
        if !std::mem::replace(&mut self.has_replayed, true) {
            write(&descriptor_of(self.pe, track, Some(Track::Pe(self.pe))), out);
        }
        let version = with_number(annotation("version"), line);
        if !std::mem::replace(&mut self.replays, true) {
            self.put(at, on_track(track, named(SLICE_BEGIN, RUNTIME, names::REPLAY, vec![version])), out);
        }
    }

    fn checkpoint(&mut self, at: u64, kind: Kind, record: &Record, out: &mut Vec<u8>) {
        let version = with_number(annotation("version"), record.low);
        let is_open = self.checkpoints;
        if is_open && kind != Kind::CheckpointTaken {
            self.put(at, on_track(Track::Checkpoints, event(SLICE_END)), out);
        }
        self.checkpoints = match kind {
            Kind::CheckpointBegins => true,
            Kind::CheckpointCommitted => false,
            _ => is_open,
        };
        let event = match kind {
            Kind::CheckpointBegins => named(SLICE_BEGIN, RUNTIME, names::CHECKPOINT, vec![version]),
            Kind::CheckpointTaken => {
                let objects = with_number(annotation("objects"), record.wide.into());
                let bytes = with_number(annotation("bytes"), record.high);
                named(INSTANT, RUNTIME, names::TAKEN, vec![version, objects, bytes])
            }
            _ => return,
        };
        self.put(at, on_track(Track::Checkpoints, event), out);
    }

    /// What a step was good for is known at its end: an instant tells it.
    fn step(&mut self, at: u64, kind: Kind, record: &Record, out: &mut Vec<u8>) {
        let (lower, upper) = seconds_in(if kind == Kind::StepEnds { record.high } else { record.low });
        let float = |name, value: f32| with_float(annotation(name), value.into());
        let is_open = self.steps;
        if is_open && kind != Kind::StepGain {
            self.put(at, on_track(Track::Steps, event(SLICE_END)), out);
        }
        self.steps = kind == Kind::StepBegins;
        let event = match kind {
            Kind::StepBegins => {
                let step = with_number(annotation("step"), record.low);
                named(SLICE_BEGIN, RUNTIME, names::STEP, vec![step])
            }
            Kind::StepEnds => {
                let step = with_number(annotation("step"), record.low);
                let moves = with_number(annotation("moves"), record.wide.into());
                let loads = [float("max_before_s", lower), float("average_before_s", upper)];
                named(INSTANT, RUNTIME, names::STEP, [step, moves].into_iter().chain(loads).collect())
            }
            _ => {
                let gain = vec![float("max_predicted_s", lower), float("step_s", upper)];
                named(INSTANT, RUNTIME, names::STEP, gain)
            }
        };
        self.put(at, on_track(Track::Steps, event), out);
    }

    fn move_away(&mut self, at: u64, record: &Record, program: &Program<'_>, out: &mut Vec<u8>) {
        let chare = record.small.into();
        let name =
            program.chares.get(record.small as usize).map_or_else(String::new, |chare| chare.name.clone());
        let said = vec![
            with_text(annotation("chare"), name),
            with_text(annotation("index"), (program.show_index)(chare, record.index())),
            with_number(annotation("to"), record.wide.into()),
        ];
        self.put(at, named(INSTANT, RUNTIME, names::MOVES, said), out);
    }

    /// The number of the arrow of a message, by its way.
    fn arrow(&self, from: u32, to: u32, number: u64) -> u64 {
        let way = u64::from(from) << 32 | u64::from(to);
        mixed(mixed(way ^ u64::from(self.epoch) << 24) ^ number)
    }

    fn put(&mut self, at: u64, event: TrackEvent, out: &mut Vec<u8>) {
        self.put_with(at, event, None, out);
    }

    fn put_with(&mut self, at: u64, event: TrackEvent, told: Option<InternedData>, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_begun, true) {
            write(&beginning(self.pe), out);
        }
        let packet = Packet {
            timestamp: Some(at),
            trusted_packet_sequence_id: sequence_id(self.pe),
            track_event: Some(event),
            interned_data: told,
            sequence_flags: Some(NEEDS_STATE),
            ..Packet::default()
        };
        write(&packet, out);
    }
}
