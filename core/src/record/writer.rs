//! A recorder that writes what it is told into a file.
//!
//! What is told is written at the end of each turn, and before the first message of a turn runs: a process that dies in
//! an entry leaves what led to it. No more than `BUFFERED` bytes and one frame wait meanwhile.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::rc::Rc;

use super::file::{begin, name_of, write_block};
use super::item::{Begins, Item, Origin, Sent};
use crate::logging::given::Given;
use talisman_base::ids::PeId;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::recorder::Recorder;
use talisman_kernel::pe::turn::Command;
use talisman_pup::{Packed, Packer, Pup, Purpose, Segment};

/// Bytes from which on what waits is written.
const BUFFERED: usize = 256 << 10;

/// What a PE is given, on its way into a file. Clones are the same writer: a PE that is made anew goes on with it.
#[derive(Clone)]
pub struct RecordWriter(Rc<RefCell<Buffer>>);

struct Buffer {
    file: File,
    /// Items that are not written yet.
    packer: Packer,
    /// What the clock of the PE said when that was last noted, in nanoseconds.
    time: Option<u64>,
    /// A message has run in this turn.
    runs: bool,
    /// The frame that is sent next has bytes that nothing determines.
    is_undetermined: bool,
    /// Nothing could be written from there on.
    failed: Option<io::Error>,
}

impl RecordWriter {
    /// That of the PE and process that the origin says, in this folder, which is made if it is not there.
    ///
    /// # Errors
    /// What the system says. A file of this name that is there already is left as it is.
    pub fn create(folder: &Path, origin: &Origin) -> io::Result<RecordWriter> {
        std::fs::create_dir_all(folder)?;
        // It has all that the program's nodes say to each other.
        let mut private = OpenOptions::new();
        private.write(true).create_new(true).mode(0o600);
        let file = private.open(folder.join(name_of(origin.pe, origin.life)))?;
        begin(&file, origin)?;
        let packer = Packer::new(Purpose::Message);
        Ok(RecordWriter(Rc::new(RefCell::new(Buffer {
            file,
            packer,
            time: None,
            runs: false,
            is_undetermined: false,
            failed: None,
        }))))
    }

    /// For a PE, beside who else is told what it is given.
    pub fn recorder(&self, beside: Option<Box<dyn Recorder>>) -> Box<dyn Recorder> {
        Box::new(WritingRecorder { writer: self.clone(), beside })
    }

    /// A fresh PE begins with this at that time, in nanoseconds, perhaps from the checkpoint of this version.
    pub fn begins(&self, made_at: u64, line: u64, with: Begins) {
        let mut writer = self.0.borrow_mut();
        writer.time = Some(made_at);
        writer.put(&Item::Begins { made_at, line, with });
        writer.flush();
    }

    /// The process comes to its end.
    pub fn end(&self) {
        let mut writer = self.0.borrow_mut();
        writer.put(&Item::Ends);
        writer.flush();
    }

    /// Why nothing more was written from some moment on, if something could not be.
    pub fn failure(&self) -> Option<String> {
        self.0.borrow().failed.as_ref().map(ToString::to_string)
    }
}

impl Buffer {
    fn put(&mut self, item: &Item) {
        if item.is_input() {
            // As where it runs again, what was packed before and not sent counts no more.
            self.is_undetermined = false;
        }
        if self.failed.is_some() {
            return;
        }
        item.pack(&mut self.packer);
        if self.packer.size() >= BUFFERED {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.packer.size() == 0 || self.failed.is_some() {
            return;
        }
        let packer = std::mem::replace(&mut self.packer, Packer::new(Purpose::Message));
        self.failed = write_block(&self.file, &packer.finish()).err();
    }
}

/// What a PE tells.
struct WritingRecorder {
    writer: RecordWriter,
    beside: Option<Box<dyn Recorder>>,
}

impl WritingRecorder {
    fn put(&self, item: &Item) {
        self.writer.0.borrow_mut().put(item);
    }

    fn tell(&self, item: &Item, beside: impl Fn(&dyn Recorder)) {
        self.put(item);
        self.beside.iter().for_each(|other| beside(&**other));
    }
}

impl Recorder for WritingRecorder {
    fn time(&self, now: u64) {
        let is_new = self.writer.0.borrow_mut().time.replace(now) != Some(now);
        if is_new {
            self.put(&Item::Given(Given::Time(now)));
        }
        self.beside.iter().for_each(|other| other.time(now));
    }

    fn runs(&self) {
        self.tell(&Item::Ran, |other| other.runs());
        let writer = &mut *self.writer.0.borrow_mut();
        if !std::mem::replace(&mut writer.runs, true) {
            writer.flush();
        }
    }

    fn timers(&self) {
        self.tell(&Item::Timers, |other| other.timers());
    }

    fn rests(&self) {
        self.tell(&Item::Rested, |other| other.rests());
    }

    fn idle(&self, idle_ns: u64, released_ns: u64) {
        let idle = Given::Idle { idle_ns, released_ns };
        self.tell(&Item::Given(idle), |other| other.idle(idle_ns, released_ns));
    }

    fn asked(&self, command: &Command) {
        self.tell(&Item::Given(command.into()), |other| other.asked(command));
    }

    fn value(&self, packed: Vec<u8>) {
        self.put(&Item::Value(packed.clone()));
        self.beside.iter().for_each(|other| other.value(packed.clone()));
    }

    fn value_again(&self) -> Option<Vec<u8>> {
        let value = self.beside.as_ref()?.value_again()?;
        self.put(&Item::Value(value.clone()));
        Some(value)
    }

    fn runs_again(&self) -> bool {
        self.beside.as_ref().is_some_and(|other| other.runs_again())
    }

    fn takes(&self, from: PeId, head: &[u8], segments: &[Segment]) {
        let frame = Packed::new(head.to_vec().into(), segments.to_vec(), Vec::new());
        self.tell(&Item::Taken { from, frame }, |other| other.takes(from, head, segments));
    }

    fn sends(&self, pe: &Pe, to: PeId, head: &[u8], segments: &[Segment]) {
        let sent = Sent::of(to, head, segments);
        let is_undetermined = std::mem::take(&mut self.writer.0.borrow_mut().is_undetermined);
        let sent = if is_undetermined { sent.undetermined() } else { sent };
        self.tell(&Item::Sent(sent), |other| other.sends(pe, to, head, segments));
    }

    fn packs_undetermined(&self) {
        self.writer.0.borrow_mut().is_undetermined = true;
        self.beside.iter().for_each(|other| other.packs_undetermined());
    }

    fn shared(&self, id: u64, value: &Packed) {
        self.tell(&Item::Shared { id, value: value.clone() }, |other| other.shared(id, value));
    }

    fn turn_is_over(&self) {
        let writer = &mut *self.writer.0.borrow_mut();
        writer.runs = false;
        writer.flush();
    }
}
