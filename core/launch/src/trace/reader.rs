//! A trace, packet by packet, in memory that does not grow with it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use prost::Message as _;
use rustc_hash::FxBuildHasher;

use super::perfetto::{Annotation, INSTANT, Named, PACKET_TAG, Packet, SLICE_BEGIN, SLICE_END, TrackEvent};
use super::tracks::Track;
use super::vocabulary::ENTRY;

/// No packet of ours is longer.
const PACKET_MAX: u64 = 16 << 20;
/// Names, of entries and of what else there is, in a whole trace.
const NAMES_MAX: usize = 1 << 20;
/// A PE has one, and the job.
const SEQUENCES_MAX: usize = 1 << 21;

/// A trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refuses.
    #[error("{} cannot be read: {why}", file.display())]
    Refused {
        /// Which file.
        file: PathBuf,
        /// What it says.
        why: io::Error,
    },
    /// It is damaged, or something else.
    #[error("{} is no trace: {why}, at byte {at}", file.display())]
    NoTrace {
        /// Which file.
        file: PathBuf,
        /// Where the packet begins.
        at: u64,
        /// What is wrong.
        why: String,
    },
    /// It is empty, or somebody else's.
    #[error("{} has nothing in it that a Talisman program wrote with --trace", .0.display())]
    OfAnother(PathBuf),
}

type Map<T> = HashMap<u64, T, FxBuildHasher>;

/// What one sequence has told so far.
#[derive(Default)]
pub struct Told {
    track: Option<u64>,
    /// By their numbers in the sequence: those among all names.
    names: Map<u32>,
    annotations: Map<String>,
    strings: Map<String>,
}

/// What an event does on its track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Begins,
    Ends,
    Happens,
}

/// One event.
pub struct Event<'a> {
    /// In nanoseconds since the program's start.
    pub at: u64,
    pub track: Track,
    pub what: What,
    /// Its number among the names of the trace; none of an end.
    pub name: Option<u32>,
    pub is_entry: bool,
    event: &'a TrackEvent,
    told: &'a Told,
}

/// A text of an event, for later: by number, or as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    Numbered(u64),
    Plain(String),
}

impl<'a> Event<'a> {
    fn said(&self, name: &str) -> Option<&'a Annotation> {
        let is_it = |said: &&Annotation| match (&said.name, said.name_iid) {
            (Some(own), _) => own == name,
            (None, Some(iid)) => self.told.annotations.get(&iid).is_some_and(|told| told == name),
            (None, None) => false,
        };
        self.event.debug_annotations.iter().find(is_it)
    }

    /// A number that it says.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.said(name)?.uint_value
    }

    /// A floating-point number that it says.
    pub fn float(&self, name: &str) -> Option<f64> {
        self.said(name)?.double_value
    }

    /// A text that it says.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let said = self.said(name)?;
        said.string_value.as_deref().or_else(|| Some(self.told.strings.get(&said.string_value_iid?)?))
    }

    /// The first text that it says, to be looked up later in its sequence.
    pub fn first_text(&self) -> Option<Text> {
        let said = self.event.debug_annotations.first()?;
        let plain = || said.string_value.clone().map(Text::Plain);
        said.string_value_iid.map(Text::Numbered).or_else(plain)
    }

    /// What such a text is.
    pub fn look_up(&self, text: &Text) -> String {
        match text {
            Text::Plain(text) => text.clone(),
            Text::Numbered(iid) => self.told.strings.get(iid).cloned().unwrap_or_default(),
        }
    }

    /// Arrows that go out of it.
    pub fn arrows_out(&self) -> &'a [u64] {
        &self.event.flow_ids
    }

    /// Arrows that end in it.
    pub fn arrows_in(&self) -> &'a [u64] {
        &self.event.terminating_flow_ids
    }
}

/// All names of a trace.
#[derive(Default)]
pub struct Names {
    numbers: HashMap<String, u32, FxBuildHasher>,
    names: Vec<String>,
}

impl Names {
    fn number_of(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }

    pub fn get(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }
}

/// Reads a trace, and shows each event of our tracks.
pub struct TraceReader<R = BufReader<File>> {
    file: PathBuf,
    from: R,
    at: u64,
    names: Names,
    sequences: HashMap<u32, Told, FxBuildHasher>,
}

impl TraceReader {
    /// That of a file.
    pub fn open(file: &Path) -> Result<TraceReader, ReadError> {
        let opened = File::open(file).map_err(|why| ReadError::Refused { file: file.to_owned(), why })?;
        Ok(TraceReader::of(file, BufReader::with_capacity(1 << 20, opened)))
    }
}

impl<R: BufRead> TraceReader<R> {
    /// Reads what is called so in errors.
    pub fn of(file: &Path, from: R) -> TraceReader<R> {
        let (names, sequences) = (Names::default(), HashMap::default());
        TraceReader { file: file.to_owned(), from, at: 0, names, sequences }
    }

    /// Shows all events, in the order of the file; the names that they have.
    pub fn read(mut self, mut see: impl FnMut(&Event<'_>, &Names)) -> Result<Names, ReadError> {
        let mut bytes = Vec::new();
        let mut packet = Packet::default();
        loop {
            let begins = self.at;
            if !self.next_packet(&mut bytes)? {
                return Ok(self.names);
            }
            packet.clear();
            let merged = packet.merge(&bytes[..]);
            merged.map_err(|why| self.no_trace(begins, why.to_string()))?;
            self.see_packet(&packet, begins, &mut see)?;
        }
    }

    fn see_packet(
        &mut self,
        packet: &Packet,
        begins: u64,
        see: &mut impl FnMut(&Event<'_>, &Names),
    ) -> Result<(), ReadError> {
        let id = packet.trusted_packet_sequence_id;
        if self.sequences.len() >= SEQUENCES_MAX && !self.sequences.contains_key(&id) {
            return Err(self.no_trace(begins, "it has too many sequences".into()));
        }
        let told = self.sequences.entry(id).or_default();
        let defaults = packet.trace_packet_defaults.as_ref();
        if let Some(track) = defaults.and_then(|defaults| defaults.track_event_defaults.as_ref()?.track_uuid)
        {
            told.track = Some(track);
        }
        if let Some(data) = &packet.interned_data {
            for named in &data.event_names {
                told.names.insert(named.iid, self.names.number_of(&named.name));
            }
            let texts =
                |all: &[Named]| all.iter().map(|named| (named.iid, named.name.clone())).collect::<Vec<_>>();
            told.annotations.extend(texts(&data.debug_annotation_names));
            told.strings.extend(texts(&data.debug_annotation_string_values));
        }
        let Some(event) = &packet.track_event else { return Ok(()) };
        let what = match event.r#type {
            SLICE_BEGIN => What::Begins,
            SLICE_END => What::Ends,
            INSTANT => What::Happens,
            _ => return Ok(()),
        };
        let Some(track) = event.track_uuid.or(told.track).and_then(Track::of) else { return Ok(()) };
        let plain = event.name.as_ref().map(|name| self.names.number_of(name));
        let name = plain.or_else(|| told.names.get(&event.name_iid?).copied());
        let is_entry = event.category_iids.first() == Some(&ENTRY);
        if self.names.names.len() > NAMES_MAX {
            return Err(self.no_trace(begins, "it has too many names".into()));
        }
        let at = packet.timestamp.unwrap_or(0);
        let told = &self.sequences[&id];
        see(&Event { at, track, what, name, is_entry, event, told }, &self.names);
        Ok(())
    }

    /// The next packet's bytes; `false` at the end.
    fn next_packet(&mut self, bytes: &mut Vec<u8>) -> Result<bool, ReadError> {
        let begins = self.at;
        let Some(tag) = self.byte()? else { return Ok(false) };
        if tag != PACKET_TAG {
            return Err(self.no_trace(begins, "no packet begins there".into()));
        }
        let length = self.varint(begins)?;
        if length > PACKET_MAX {
            return Err(self.no_trace(begins, format!("a packet of {length} bytes")));
        }
        bytes.clear();
        let read = (&mut self.from).take(length).read_to_end(bytes);
        read.map_err(|why| ReadError::Refused { file: self.file.clone(), why })?;
        self.at += bytes.len() as u64;
        match bytes.len() as u64 == length {
            true => Ok(true),
            false => Err(self.no_trace(begins, "it ends within a packet".into())),
        }
    }

    fn varint(&mut self, begins: u64) -> Result<u64, ReadError> {
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let Some(byte) = self.byte()? else { break };
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.no_trace(begins, "a packet has no length".into()))
    }

    fn byte(&mut self) -> Result<Option<u8>, ReadError> {
        let buffered = self.from.fill_buf();
        let buffered = buffered.map_err(|why| ReadError::Refused { file: self.file.clone(), why })?;
        let byte = buffered.first().copied();
        if byte.is_some() {
            self.from.consume(1);
            self.at += 1;
        }
        Ok(byte)
    }

    fn no_trace(&self, at: u64, why: String) -> ReadError {
        ReadError::NoTrace { file: self.file.clone(), at, why }
    }
}
