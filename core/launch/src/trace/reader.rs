//! A trace, packet by packet, in memory that does not grow with it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use prost::Message as _;
use rustc_hash::FxBuildHasher;

use super::perfetto::{INSTANT, Named, PACKET_TAG, Packet, SLICE_BEGIN, SLICE_END};
use super::scan::{Parts, Said, Scanned};
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

impl Told {
    /// Names and defaults that a packet tells.
    fn hear(&mut self, packet: &Packet, names: &mut Names) {
        let defaults = packet.trace_packet_defaults.as_ref();
        let track = defaults.and_then(|defaults| defaults.track_event_defaults.as_ref()?.track_uuid);
        self.track = track.or(self.track);
        let Some(data) = &packet.interned_data else { return };
        for named in &data.event_names {
            self.names.insert(named.iid, names.number_of(&named.name));
        }
        let texts =
            |all: &[Named]| all.iter().map(|named| (named.iid, named.name.clone())).collect::<Vec<_>>();
        self.annotations.extend(texts(&data.debug_annotation_names));
        self.strings.extend(texts(&data.debug_annotation_string_values));
    }
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
    scanned: &'a Scanned,
    /// Its bytes.
    event: &'a [u8],
    told: &'a Told,
}

/// A text of an event, for later: by number, or as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    Numbered(u64),
    Plain(String),
}

impl<'a> Event<'a> {
    fn said(&self, name: &str) -> Option<Said<'a>> {
        let is_it = |said: &Said<'a>| match (said.name, said.name_iid) {
            (Some(own), _) => own == name,
            (None, Some(iid)) => self.told.annotations.get(&iid).is_some_and(|told| told == name),
            (None, None) => false,
        };
        self.scanned.annotations(self.event).find(is_it)
    }

    /// A number that it says.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.said(name)?.number
    }

    /// A floating-point number that it says.
    pub fn float(&self, name: &str) -> Option<f64> {
        self.said(name)?.float
    }

    /// A text that it says.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let said = self.said(name)?;
        said.text.or_else(|| Some(self.told.strings.get(&said.text_iid?)?))
    }

    /// The first text that it says, to be looked up later in its sequence.
    pub fn first_text(&self) -> Option<Text> {
        let said = self.scanned.annotations(self.event).next()?;
        let plain = || said.text.map(|text| Text::Plain(text.to_owned()));
        said.text_iid.map(Text::Numbered).or_else(plain)
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
        &self.scanned.arrows_out
    }

    /// Arrows that end in it.
    pub fn arrows_in(&self) -> &'a [u64] {
        &self.scanned.arrows_in
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
        let (mut bytes, mut scanned) = (Vec::new(), Scanned::default());
        loop {
            let begins = self.at;
            if !self.next_packet(&mut bytes)? {
                return Ok(self.names);
            }
            let seen = self.see_packet(&bytes, &mut scanned, &mut see);
            seen.map_err(|why| self.no_trace(begins, why))?;
        }
    }

    fn see_packet(
        &mut self,
        bytes: &[u8],
        scanned: &mut Scanned,
        see: &mut impl FnMut(&Event<'_>, &Names),
    ) -> Result<(), String> {
        let parts = Parts::of(bytes).map_err(|why| why.to_string())?;
        if self.sequences.len() >= SEQUENCES_MAX && !self.sequences.contains_key(&parts.sequence) {
            return Err("it has too many sequences".into());
        }
        let told = self.sequences.entry(parts.sequence).or_default();
        if parts.tells {
            told.hear(&Packet::decode(bytes).map_err(|why| why.to_string())?, &mut self.names);
        }
        let Some(event) = parts.event else { return Ok(()) };
        scanned.read(event).map_err(|why| why.to_string())?;
        let what = match scanned.kind {
            SLICE_BEGIN => What::Begins,
            SLICE_END => What::Ends,
            INSTANT => What::Happens,
            _ => return Ok(()),
        };
        let Some(track) = scanned.track.or(told.track).and_then(Track::of) else { return Ok(()) };
        let plain = scanned.name(event).map(|name| self.names.number_of(name));
        let name = plain.or_else(|| told.names.get(&scanned.name_iid?).copied());
        if self.names.names.len() > NAMES_MAX {
            return Err("it has too many names".into());
        }
        let is_entry = scanned.category == Some(ENTRY);
        see(&Event { at: parts.at, track, what, name, is_entry, scanned, event, told }, &self.names);
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
        // As much as there is: a length alone takes no memory.
        while bytes.len() < length as usize {
            let buffered = refused(&self.file, self.from.fill_buf())?;
            if buffered.is_empty() {
                return Err(self.no_trace(begins, "it ends within a packet".into()));
            }
            let count = buffered.len().min(length as usize - bytes.len());
            bytes.extend_from_slice(&buffered[..count]);
            self.from.consume(count);
        }
        self.at += length;
        Ok(true)
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
        let buffered = refused(&self.file, self.from.fill_buf())?;
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

/// What the system says, of this file.
fn refused<T>(file: &Path, result: io::Result<T>) -> Result<T, ReadError> {
    result.map_err(|why| ReadError::Refused { file: file.to_owned(), why })
}
