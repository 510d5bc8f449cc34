//! Quiescence: no message in flight, nothing queued, no timer set (Charm++ manual: "quiescence detection").
//!
//! PE 0, or the PE that acts for it, asks in waves, down a tree and up again. A PE answers when it is idle, with how many messages it has sent to
//! other PEs and received from them. When two waves in a row give the same sums, and what was sent equals what was
//! received, nothing was on its way in between (Mattern 1987, the four-counter method).
//!
//! Whoever asks is told as soon as may be: one wave follows another until they find quiet.
//!
//! The same waves find a job that is stuck: nothing is left to do, nobody asked for quiescence, and the program has
//! not ended. Then every PE tells what its objects wait for. That it may be stuck is a mere suspicion of PE 0, which others that are held up raise
//! as well: each costs one wave, and the next comes with the next suspicion, for which PE 0 waits longer each time.

pub mod message;

use std::cell::{Cell, RefCell};

use easy_ext::ext;

use crate::balance::root::BalancingRootOnPe;
use crate::broadcast::BroadcastsOfCollection;
use crate::quiescence::message::QuiescenceMessage;
use crate::reduction::ReductionsOfCollection;
use crate::reduction::late::LateElementsOnPe;
use crate::section::SectionsOnPe;
use talisman_base::ids::PeId;
use talisman_base::view::FIRST;
use talisman_kernel::message::service::Service;
use talisman_kernel::node::Node;
use talisman_kernel::object::flag;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::states::ServiceState;
use talisman_kernel::route::Route;
use talisman_kernel::waiting::{Note, explained};
use talisman_kernel::witness::{self, Seen};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::{Packed, Pup};

/// A message of the detection.
#[derive(Debug, Pup)]
pub enum Wave {
    /// Down: count.
    Ask(u32),
    /// Up: messages sent and received, of a whole branch, and whether reductions there may wait in vain for late members of groups.
    Count { wave: u32, sent: u64, received: u64, late: bool },
    /// Down: nothing is left to do, so they do.
    AskLate,
    /// Down: the job is stuck; what does everybody wait for?
    Examine,
    /// Straight to the root: this.
    Examined(Waits),
}

/// What objects wait for: lines, and notes that are explained together with those of other PEs.
#[derive(Debug, Default, Pup)]
pub struct Waits {
    lines: Vec<String>,
    notes: Vec<Note>,
}

/// A PE's part in the detection.
#[derive(Default)]
pub struct Detector {
    /// The wave that this PE has to answer, and what its branch has answered.
    open: Cell<Option<Branch>>,
    root: RefCell<RootState>,
}

#[derive(Clone, Copy)]
struct Branch {
    wave: u32,
    missing: u32,
    sent: u64,
    received: u64,
    late: bool,
}

#[derive(Default)]
struct RootState {
    /// Who wants to be told.
    asked: Vec<Route>,
    wave: u32,
    running: bool,
    /// The sums of the wave before.
    last: Option<(u64, u64)>,
    /// What PEs wait for, and how many have told.
    examined: (u32, Waits),
}

impl Detector {
    /// Somebody wants to know. What was counted before is old, as it may be that of a suspicion of long ago.
    pub fn ask(&self, route: Route) {
        let mut root = self.root.borrow_mut();
        root.last = None;
        root.asked.push(route);
    }

    /// Whether a wave is under way, as far as this PE knows.
    pub fn is_counting(&self) -> bool {
        self.root.borrow().running || self.open.get().is_some()
    }

    /// Who waits to be told.
    pub fn asked(&self) -> Vec<Route> {
        self.root.borrow().asked.clone()
    }

    /// Whether somebody waits to be told.
    pub fn is_asked(&self) -> bool {
        !self.root.borrow().asked.is_empty()
    }
}

impl ServiceState for Detector {
    const SERVICE: Service = Service::Quiescence;

    fn new(_: &Node) -> Self {
        Detector::default()
    }
}

#[ext(QuiescenceOnPe)]
pub impl Pe {
    /// Tells the receiver when nothing is in flight.
    fn when_quiet(&self, to: Route) {
        self.tell(self.view().first(), QuiescenceMessage::WhenQuiet(to));
    }

    /// What it knows for the detection of quiescence.
    fn detector(&self) -> &Detector {
        self.state()
    }

    /// When there is nothing else to do: answers a wave, or begins one that is wanted. Whether anything was done.
    fn detect_quiescence(&self) -> bool {
        if self.answer_wave() {
            return true;
        }
        let wanted = self.is_first() && self.detector().is_asked() && !self.detector().root.borrow().running;
        if wanted {
            self.begin_wave();
        }
        wanted
    }

    /// PE 0 has had nothing to do for long: perhaps nobody will have, ever again.
    fn suspect_stuck(&self) {
        let rests = !self.frozen.get() && self.timers.is_empty();
        if self.is_first() && rests && !self.detector().is_counting() {
            sometimes("a PE suspected that the job was stuck");
            self.begin_wave();
        }
    }

    fn begin_wave(&self) {
        let wave = {
            let mut root = self.detector().root.borrow_mut();
            root.running = true;
            root.wave += 1;
            root.wave
        };
        self.on_ask(wave);
    }

    fn on_wave(&self, from: PeId, wave: Wave) {
        match wave {
            Wave::Ask(wave) => self.on_ask(wave),
            Wave::Count { wave, sent, received, late } => self.on_count(wave, sent, received, late),
            Wave::AskLate => self.on_ask_late(),
            Wave::Examine => self.on_examine(),
            Wave::Examined(waits) => self.on_examined(from, waits),
        }
    }

    fn on_ask(&self, wave: u32) {
        let mut missing = 0;
        for child in self.view().children(self.id, FIRST) {
            self.tell(child, QuiescenceMessage::Wave(Wave::Ask(wave)));
            missing += 1;
        }
        self.detector().open.set(Some(Branch { wave, missing, sent: 0, received: 0, late: false }));
        self.chores.set(true);
    }

    fn on_count(&self, wave: u32, sent: u64, received: u64, late: bool) {
        let open = self.detector().open.get().filter(|branch| branch.wave == wave && branch.missing > 0);
        let Some(mut branch) = open else { return sometimes("an answer to an older count came") };
        branch.missing -= 1;
        branch.sent = branch.sent.wrapping_add(sent);
        branch.received = branch.received.wrapping_add(received);
        branch.late |= late;
        self.detector().open.set(Some(branch));
    }

    /// Answers the open wave, if the branch has and this PE is idle.
    fn answer_wave(&self) -> bool {
        let Some(branch) = self.detector().open.get() else { return false };
        if branch.missing > 0 || !self.is_idle() {
            return false;
        }
        self.detector().open.set(None);
        let sent = branch.sent.wrapping_add(self.stats.sent.get());
        let received = branch.received.wrapping_add(self.stats.received.get());
        let late = branch.late || self.may_wait_for_late();
        match self.view().parent(self.id, FIRST) {
            Some(parent) => {
                let count = Wave::Count { wave: branch.wave, sent, received, late };
                self.tell(parent, QuiescenceMessage::Wave(count));
            }
            None => self.on_sums(sent, received, late),
        }
        true
    }

    /// Nothing queued, nothing unsent, no timer.
    fn is_idle(&self) -> bool {
        self.is_queue_empty()
            && (self.timers.is_empty() || mutated("timers-not-waited-for"))
            && self.unflushed.borrow().is_empty()
            && !self.is_balancing_waited_for()
            && !self.services.is_checkpoint_awaited(self)
            && !self.has_unsent()
    }

    fn on_sums(&self, sent: u64, received: u64, late: bool) {
        let quiet = {
            let mut root = self.detector().root.borrow_mut();
            root.running = false;
            let last = root.last.replace((sent, received));
            let same = last == Some((sent, received));
            if sent != received {
                sometimes("messages were on their way when every PE had been idle");
            } else if last.is_some() && !same {
                sometimes("messages came and went between two counts");
            }
            (same || mutated("one-count-is-enough"))
                && (sent == received || mutated("equal-counts-are-enough"))
        };
        if !quiet {
            // Unless somebody waits for it, another wave may wait until PE 0 has had nothing to do for long again: in a job that was held up once,
            // all its idle moments would have waves else.
            if self.detector().is_asked() {
                self.begin_wave();
            } else {
                sometimes("a suspicion that the job was stuck was wrong, or has to be raised again");
            }
            return;
        }
        if late {
            self.detector().root.borrow_mut().last = None;
            return self.on_ask_late();
        }
        witness::see(|| Seen::Quiet);
        let asked = {
            let mut root = self.detector().root.borrow_mut();
            root.last = None;
            std::mem::take(&mut root.asked)
        };
        if asked.is_empty() {
            return self.examine();
        }
        asked.iter().for_each(|route| self.route(route, Packed::default()));
    }

    /// Nothing is left to do, but perhaps to complete reductions without late members of groups, which have nothing to contribute. It is
    /// looked for quiescence again after that.
    fn on_ask_late(&self) {
        for child in self.view().children(self.id, FIRST) {
            self.tell(child, QuiescenceMessage::Wave(Wave::AskLate));
        }
        self.ask_late();
        self.chores.set(true);
    }

    /// Nothing is left to do, and the program has not ended: what does everybody wait for?
    fn examine(&self) {
        sometimes("a job was stuck");
        self.detector().root.borrow_mut().running = true;
        for pe in self.view().there() {
            self.tell(pe, QuiescenceMessage::Wave(Wave::Examine));
        }
    }

    fn on_examine(&self) {
        let waits = self.waits();
        self.tell(self.view().first(), QuiescenceMessage::Wave(Wave::Examined(waits)));
    }

    fn on_examined(&self, _: PeId, waits: Waits) {
        let all = {
            let mut root = self.detector().root.borrow_mut();
            root.examined.0 += 1;
            root.examined.1.lines.extend(waits.lines);
            root.examined.1.notes.extend(waits.notes);
            if root.examined.0 < self.view().pes() {
                return;
            }
            std::mem::take(&mut root.examined.1)
        };
        self.node.job.end(1, Some(stuck_message(all)));
    }

    /// What the objects of this PE wait for, and the messages that wait for objects.
    fn waits(&self) -> Waits {
        let (mut waits, mut notes) = (Vec::new(), Vec::new());
        for head in self.slots.iter() {
            // SAFETY: an object in a slot is live.
            let object = unsafe { head.as_ref() };
            let collection = object.collection();
            if object.has(flag::LIVE) {
                // SAFETY: live, of this type, and between its entries.
                let of = unsafe { (collection.chare.waiting)(head) };
                for wait in of {
                    match wait.note {
                        Some(note) => notes.push(note),
                        None => waits.push(format!("{}::{wait}", collection.label(object.index()))),
                    }
                }
            }
        }
        for collection in self.collections.iter() {
            waits.extend(self.waits_of_collection(collection));
        }
        for (of, count, all) in self.sections().waiting() {
            let name = self.collections.get(of).map_or_else(String::new, |of| (of.chare.name)());
            waits.push(format!("a reduction over a section of `{name}` has {count} of {all} contributions"));
        }
        waits.extend(self.too_late.said());
        match self.orphan_count() {
            0 => {}
            kept => waits
                .push(format!("{kept} messages wait on PE {} for collections that were never made", self.id)),
        }
        Waits { lines: waits, notes }
    }

    fn waits_of_collection(&self, collection: &talisman_kernel::collection::Collection) -> Vec<String> {
        let mut waits = Vec::new();
        for (index, count) in collection.switches.waiting() {
            let who = collection.label(index);
            let here = self.id;
            waits.push(format!("{count} messages wait on PE {here} until it is known where {who} is"));
        }
        for (index, count) in collection.awaited() {
            let who = collection.label(index);
            waits.push(format!("{count} messages wait for {who}, which does not exist"));
        }
        for index in collection.unborn() {
            waits.push(format!("{} is inserted, but it exists already", collection.label(index)));
        }
        let name = (collection.chare.name)();
        if collection.casts().held() > 0 {
            waits.push(format!(
                "{} broadcasts to `{name}` wait for `done_inserting()`",
                collection.casts().held()
            ));
        }
        if let Some(root) = collection.root() {
            let root = root.borrow();
            for (_, count) in root.waiting().filter(|(_, count)| *count > 0) {
                waits.push(match root.elements() {
                    Some(all) => format!("a reduction over `{name}` has {count} of {all} contributions"),
                    None => format!(
                        "a reduction over `{name}` has {count} contributions, and waits for `done_inserting()`"
                    ),
                });
            }
        }
        waits
    }
}

/// Waits that are shown; a job of a million objects has too many to read.
const SHOWN: usize = 10;

/// The same of what is explained: a line says more there.
const EXPLAINED: usize = 64;

fn stuck_message(Waits { lines, notes }: Waits) -> String {
    let mut message =
        String::from("nothing is left to do, and the program has not said it is done (`cx.exit()`)");
    for (lines, shown) in [(explained(notes), EXPLAINED), (lines, SHOWN)] {
        for line in lines.iter().take(shown) {
            message += &format!("\n  {line}");
        }
        if lines.len() > shown {
            message += &format!("\n  … and {} more", lines.len() - shown);
        }
    }
    message
}

#[cfg(test)]
mod tests;
