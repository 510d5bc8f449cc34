//! What comes for collections and sections that were destroyed.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use tracing::warn;

use crate::message::control::ObjectMessage;
use crate::message::envelope::{Body, Envelope};
use crate::object::Head;
use crate::pe::Pe;
use crate::registry::Registry;
use crate::witness::Why;
use talisman_base::ids::SectionId;
use talisman_job::diagnostics::{say, subjects::COLLECTION};
use talisman_observe::sometimes::sometimes;
use talisman_observe::stats::count;

/// What came for collections and sections that were destroyed.
#[derive(Default)]
pub struct TooLate {
    count: Cell<u64>,
    last: RefCell<String>,
}

impl TooLate {
    /// For the report of a job that is stuck: whoever waits for an answer to it waits in vain.
    pub fn said(&self) -> Option<String> {
        let (count, last) = (self.count.get(), self.last.borrow());
        (count > 0)
            .then(|| format!("{count} messages came too late and were dropped, the last of them {last}"))
    }

    /// What a checkpoint keeps of it.
    pub fn saved(&self) -> Option<(u64, String)> {
        (self.count.get() > 0).then(|| (self.count.get(), self.last.borrow().clone()))
    }

    pub fn go_on_from(&self, saved: Option<&(u64, String)>) {
        if let Some((before, last)) = saved {
            count(&self.count, *before);
            self.last.replace(last.clone());
        }
    }

    /// At the end, where only the first was said.
    pub fn sum_up(&self, pe: u32) {
        if self.count.get() > 1 {
            let count = self.count.get();
            say(|| warn!(target: COLLECTION, "talisman: PE {pe}: {count} messages in all came too late"));
        }
    }
}

impl Pe {
    /// A member has nothing to do with a section any more.
    pub fn forget_section(&self, head: NonNull<Head>, section: SectionId) {
        // SAFETY: the object is live.
        let object = unsafe { head.as_ref() };
        if let Some(mut extras) = object.take_extras() {
            extras.sections.remove(&section);
            object.put_extras(Some(extras));
        }
    }

    /// A message for what was destroyed.
    #[cold]
    pub fn drop_too_late(&self, envelope: NonNull<Envelope>) {
        // SAFETY: the caller gives the envelope away.
        let message = unsafe { envelope.as_ref() };
        sometimes("a message came for a collection that was destroyed");
        if let Some(what) = what_is_missed(message) {
            self.note_too_late(what);
        }
        self.reconcile_too_late(message);
        self.discard(envelope, Why::Destroyed);
    }

    /// What the program may miss. The first on each PE is said at once.
    pub fn note_too_late(&self, what: String) {
        if self.too_late.count.get() == 0 {
            let pe = self.id;
            say(|| warn!(target: COLLECTION, "talisman: PE {pe}: dropped, since it came too late: {what}"));
        }
        count(&self.too_late.count, 1);
        self.too_late.last.replace(what);
    }
}

/// What of a message for a collection that was destroyed the program may miss; of the runtime's own, nothing.
fn what_is_missed(message: &Envelope) -> Option<String> {
    if let Body::Invoke(entry) = message.body {
        return Some(format!("a message to `{}` of a destroyed `{}`", entry.name, name_of(entry.chare)));
    }
    if let Some(control) = message.pe_message() {
        return control.missed().map(str::to_owned);
    }
    let (id, index) = (message.to().collection, message.to().index);
    match message.object_message() {
        _ if message.is_creation() => Some(format!("an insertion into a destroyed array ({id:?})")),
        Some(ObjectMessage::Invoke { entry, .. }) => Some(format!(
            "a message to entry number {entry} of element {index:x} of a destroyed collection ({id:?})"
        )),
        Some(ObjectMessage::Reply { wait, .. }) if *wait != 0 => {
            Some(format!("an answer to element {index:x} of a destroyed collection ({id:?})"))
        }
        _ => None,
    }
}

fn name_of(chare: u64) -> String {
    Registry::get().find(chare).map_or_else(String::new, |(_, chare)| (chare.name)())
}
