//! A processing element: its objects, its queue, its view of every collection.
//!
//! All of the runtime's logic is here and in the `impl Pe` blocks of the modules named for it. A PE belongs to one
//! thread and is shared by reference inside it; what changes is in cells, because user code that the PE calls calls
//! back into it. It knows no clock, network or random source but the ones it is given, so a simulation can run
//! thousands of PEs in one thread.

pub mod deliver;
pub mod execute;
pub mod figures;
pub mod heard;
pub mod in_place;
pub mod input_log;
pub mod names;
mod queue;
pub mod recorder;
pub mod running;
pub mod send;
pub mod services;
pub mod slots;
pub mod states;
pub mod timers;
pub mod turn;

use std::cell::{Cell, RefCell};
use std::ptr::{NonNull, null};
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::collection::expected_chare::ExpectedChare;
use crate::collection::table::Collections;
use crate::collection::too_late::TooLate;
use crate::measure::Measuring;
use crate::message::envelope::{Body, Envelope, SpareExtra};
use crate::message::pool::Pool;
use crate::message::queue::Queue;
use crate::node::Node;
use crate::object::Head;
use crate::port::Port;
use crate::trace::Tracer;
use crate::undelivered::Callers;
use crate::witness::{self, Seen, Until, Why};
use heard::SharedHeard;
use in_place::NextCall;
use input_log::InputLog;
use names::Names;
use running::Running;
use services::{Idle, Services};
use slots::Slots;
use states::ServiceStates;
use talisman_base::clock::Clock;
use talisman_base::ids::{CollectionId, PeId, set_known_pes};
use talisman_base::view::View;
use talisman_job::diagnostics::Diagnostics;
use talisman_observe::event::{Event, Sink};
use talisman_observe::mutations::mutated;
use talisman_observe::stats::Stats;
use talisman_pup::{Purpose, ScratchPacker};
use talisman_sched::queue::PriorityQueue;
use timers::Timers;

/// One processing element.
pub struct Pe {
    pub id: PeId,
    /// The first PE of its node.
    pub first_pe: PeId,
    /// The process it runs in.
    pub node: Arc<Node>,
    pub clock: Clock,
    /// The way to the other PEs.
    pub port: Port,
    pub pool: Pool,
    /// Messages of default priority.
    queue: Queue,
    /// Messages that wait for nothing.
    expedited: Queue,
    /// Messages in the two beside the common queue.
    non_fifo: Cell<u32>,
    /// Messages of other priorities.
    ranked: RefCell<PriorityQueue<NonNull<Envelope>>>,
    pub slots: Slots,
    /// The last chare that it was asked to make by another PE.
    pub expected_chare: ExpectedChare,
    pub collections: Collections,
    /// Messages to collections that this PE has not heard of yet.
    orphans: RefCell<HashMap<CollectionId, Vec<NonNull<Envelope>>, FxBuildHasher>>,
    /// What it is given, if that is kept.
    pub input_log: InputLog,
    /// Where messages to other nodes are packed.
    pub scratch: Cell<Vec<u8>>,
    /// Where those of them are packed that need no envelope.
    pub packer: RefCell<ScratchPacker>,
    /// Memory for what few messages need beside their arguments.
    pub spare_extra: SpareExtra,
    /// Messages that wait for a shared value.
    pub awaiting_readonly: RefCell<HashMap<u64, Vec<NonNull<Envelope>>, FxBuildHasher>>,
    /// Of which shared values it has heard.
    pub shared_heard: SharedHeard,
    /// There may be insertions that have not come to their root: see [`Services::before_message`].
    pub admissions_open: Cell<bool>,
    /// Who calls what may never come.
    pub callers: Callers,
    pub too_late: TooLate,
    /// There may be something to do when no message waits: reductions to send on, idle work, a wave to answer.
    pub chores: Cell<bool>,
    /// Collections with reductions to send on when there is nothing else to do.
    pub unflushed: RefCell<Vec<CollectionId>>,
    pub timers: Timers,
    /// The services above it.
    pub services: &'static dyn Services,
    /// What they keep here.
    states: ServiceStates,
    pub stats: Stats,
    pub measuring: Measuring,
    /// What writes down what it does, if that is traced.
    pub tracer: Option<Box<Tracer>>,
    /// Counts for names that this PE gives out.
    names: Names,
    /// The object and the entry that runs.
    pub running: Running,
    /// `Config::repack`, looked at after each entry.
    pub repacks: bool,
    /// It runs no further message: it ended the job, or is frozen for a checkpoint. (When another ended the job, it stops at the
    /// end of its batch.)
    pub stopped: Cell<bool>,
    /// What runs here waits for others, without saying for what: its turn ends, so that it is heard what has come.
    pub ends_turn: Cell<bool>,
    /// What is called when the entry that runs has ended.
    next_call: NextCall,
    /// In ticks, when it was last thought that something may have come ([`Pe::may_have_come`]).
    pub(super) looked: Cell<u64>,
    /// Others were seen to want its core.
    pub is_crowded: Cell<bool>,
    /// A checkpoint is being taken: entries wait, and so does what else the program has asked for.
    pub frozen: Cell<bool>,
    /// Frozen, and counted: it says nothing until it is asked again, and what comes waits unread.
    pub still: Cell<bool>,
}

impl Pe {
    pub fn new(id: PeId, node: Arc<Node>, clock: Clock, port: Port, services: &'static dyn Services) -> Self {
        let pe = Pe {
            id,
            first_pe: node.shape.first_pe(node.number),
            measuring: Measuring::new(&node.config, &clock),
            tracer: node.config.trace.as_ref().map(|sink| sink.tracer(id, node.view.of_nodes().epoch)),
            input_log: InputLog::of(node.config.replays, node.config.trace.is_some(), &clock),
            clock,
            port,
            pool: Pool::new(node.depot.clone()),
            queue: Queue::new(),
            expedited: Queue::new(),
            non_fifo: Cell::new(0),
            ranked: RefCell::default(),
            slots: Slots::default(),
            expected_chare: ExpectedChare::default(),
            collections: Collections::default(),
            orphans: RefCell::default(),
            scratch: Cell::default(),
            packer: RefCell::new(ScratchPacker::new(Purpose::Message)),
            spare_extra: SpareExtra::default(),
            awaiting_readonly: RefCell::default(),
            shared_heard: SharedHeard::default(),
            admissions_open: Cell::new(false),
            callers: Callers::default(),
            too_late: TooLate::default(),
            chores: Cell::new(false),
            unflushed: RefCell::default(),
            timers: Timers::default(),
            services,
            states: ServiceStates::default(),
            stats: Stats::default(),
            names: Names::default(),
            running: Running::default(),
            repacks: node.config.repack,
            stopped: Cell::new(false),
            ends_turn: Cell::new(false),
            next_call: NextCall::default(),
            looked: Cell::new(0),
            is_crowded: Cell::new(false),
            frozen: Cell::new(false),
            still: Cell::new(false),
            node,
        };
        pe.create_singles();
        services.on_begin(&pe);
        pe
    }

    /// PEs of the job, lost ones included: their numbers are below this.
    pub fn pes(&self) -> u32 {
        self.node.shape.pes()
    }

    /// The period between two failures that it lives in.
    pub fn epoch(&self) -> u32 {
        self.view().of_nodes().epoch
    }

    /// Who of them is there.
    #[inline]
    pub fn view(&self) -> &View {
        &self.node.view
    }

    /// Whether this PE is the root of whatever concerns the whole job: PE 0, or the one that acts for it.
    pub fn is_first(&self) -> bool {
        self.id == self.view().first()
    }

    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Whether anybody looks at events.
    pub fn is_observed(&self) -> bool {
        Diagnostics.is_wanted()
    }

    /// Tells people of an event, if any look. Not for a message's way.
    pub fn observe<'a>(&self, event: impl FnOnce() -> Event<'a>) {
        if self.is_observed() || self.tracer.is_some() {
            let event = event();
            self.trace_event(&event);
            if self.is_observed() {
                Diagnostics.take(self.id, &event);
            }
        }
    }

    /// The head of the object whose entry runs.
    pub fn running(&self) -> Option<&Head> {
        // SAFETY: set for the time of an entry only, and an object is freed after its entry.
        self.running.get().map(|head| unsafe { head.as_ref() })
    }

    /// What is done when no message waits; whether anything was.
    pub fn do_chores(&self) -> bool {
        if self.frozen.get() {
            return self.services.on_frozen_idle(self);
        }
        let Idle { done, again } = self.services.on_idle(self);
        self.chores.set(again);
        done
    }

    /// Keeps a message until its collection is known here, unless that was destroyed.
    pub fn keep_orphan(&self, id: CollectionId, envelope: NonNull<Envelope>) {
        if self.collections.is_gone(id) {
            return self.drop_too_late(envelope);
        }
        if mutated("unknown-collection-forgets") {
            return self.release(envelope);
        }
        self.see_kept(envelope, Until::Collection);
        self.orphans.borrow_mut().entry(id).or_default().push(envelope);
    }

    pub fn take_orphans(&self, id: CollectionId) -> Vec<NonNull<Envelope>> {
        self.orphans.borrow_mut().remove(&id).unwrap_or_default()
    }

    /// What is kept for collections and shared values that have not come, in the same order in every run.
    pub fn kept_for_others(&self) -> Vec<NonNull<Envelope>> {
        let (orphans, lacking) = (self.orphans.borrow(), self.awaiting_readonly.borrow());
        let mut for_collections: Vec<_> = orphans.iter().collect();
        for_collections.sort_unstable_by_key(|(id, _)| **id);
        let mut for_values: Vec<_> = lacking.iter().collect();
        for_values.sort_unstable_by_key(|(id, _)| **id);
        let for_values = for_values.into_iter().flat_map(|(_, kept)| kept);
        for_collections.into_iter().flat_map(|(_, kept)| kept).chain(for_values).copied().collect()
    }

    /// Messages for collections that never came, for the report of a job that is stuck.
    pub fn orphan_count(&self) -> usize {
        self.orphans.borrow().values().map(Vec::len).sum()
    }

    /// Gives up a message: drops what it carries, keeps its memory.
    pub fn discard(&self, envelope: NonNull<Envelope>, why: Why) {
        // SAFETY: the caller owns the envelope.
        let shadow = unsafe { envelope.as_ref() }.shadow;
        self.see_message(shadow, |message, pe| Seen::Dropped { message, pe, why });
        self.release(envelope);
    }

    /// The same when the message has been read, or goes on as bytes.
    pub fn release(&self, mut envelope: NonNull<Envelope>) {
        self.trace_gone(envelope);
        // SAFETY: the caller owns the envelope.
        let message = unsafe { envelope.as_mut() };
        if mutated("arguments-not-dropped") {
            message.body = Body::Empty;
        }
        message.clear();
        self.pool.put(envelope);
    }

    /// Messages that go on, each when the one before it has. Some may have to wait for room: whoever ends there drops the rest.
    pub fn one_by_one(&self, envelopes: Vec<NonNull<Envelope>>) -> OneByOne<'_> {
        OneByOne { pe: self, left: envelopes.into_iter() }
    }

    /// What is left after everything was dropped: nothing, or the witness hears of it.
    fn see_end(&self) {
        witness::see(|| {
            let kept =
                self.orphan_count() + self.awaiting_readonly.borrow().values().map(Vec::len).sum::<usize>();
            let queued = self.queue.waiting() + self.expedited.waiting() + self.ranked.borrow().len();
            let messages = queued + kept;
            Seen::Ended { pe: self.id, objects: self.slots.iter().count(), messages }
        });
    }

    fn drop_messages(&self) {
        let mut kept: Vec<_> = self.queue.drain().chain(self.expedited.drain()).collect();
        kept.extend(std::iter::from_fn(|| self.ranked.borrow_mut().pop_urgent()));
        kept.extend(std::iter::from_fn(|| self.ranked.borrow_mut().pop_background()));
        kept.extend(self.services.take_kept(self));
        kept.extend(self.orphans.take().into_values().flatten());
        kept.extend(self.awaiting_readonly.take().into_values().flatten());
        kept.extend(self.collections.iter().flat_map(|collection| collection.take_kept()));
        kept.extend(self.port.take_unsent(self));
        kept.into_iter().for_each(|envelope| self.discard(envelope, Why::Over));
    }
}

/// See [`Pe::one_by_one`].
pub struct OneByOne<'a> {
    pe: &'a Pe,
    left: std::vec::IntoIter<NonNull<Envelope>>,
}

impl Iterator for OneByOne<'_> {
    type Item = NonNull<Envelope>;

    fn next(&mut self) -> Option<NonNull<Envelope>> {
        self.left.next()
    }
}

impl Drop for OneByOne<'_> {
    fn drop(&mut self) {
        self.left.by_ref().for_each(|envelope| self.pe.discard(envelope, Why::Over));
    }
}

impl Drop for Pe {
    /// Every object and message is dropped, user values included, while their PE can still be reached.
    fn drop(&mut self) {
        let _here = Here::enter(self);
        self.drop_messages();
        for head in self.slots.drain() {
            self.free_object(head);
        }
        self.timers.clear();
        self.drop_messages();
        self.too_late.sum_up(self.id);
        self.see_end();
    }
}

thread_local! {
    /// The PE that this thread runs right now.
    static CURRENT: Cell<*const Pe> = const { Cell::new(null()) };
}

/// Runs with the PE of this thread. Proxies are plain values, so this is how a call on one finds its way.
///
/// # Panics
/// Outside a running program.
#[inline(always)]
#[track_caller]
pub fn current<R>(f: impl FnOnce(&Pe) -> R) -> R {
    match try_current(f) {
        Some(result) => result,
        None => outside(),
    }
}

/// The same for the message path, by reference: a closure would pass the arguments of a message through memory.
///
/// # Safety
/// The reference is not used after the caller returns to the runtime.
#[inline(always)]
#[track_caller]
pub unsafe fn current_ref<'a>() -> &'a Pe {
    // SAFETY: `Here` sets the pointer for as long as it borrows the PE, and resets it.
    match CURRENT.with(|current| unsafe { current.get().as_ref() }) {
        Some(pe) => pe,
        None => outside(),
    }
}

/// The same where there may be none.
#[inline(always)]
pub fn try_current<R>(f: impl FnOnce(&Pe) -> R) -> Option<R> {
    // SAFETY: `Here` sets the pointer for as long as it borrows the PE, and resets it.
    CURRENT.with(|current| unsafe { current.get().as_ref() }).map(f)
}

/// The program named a PE.
///
/// # Panics
/// If there is none of this number.
#[track_caller]
pub fn check_pe(pe: PeId) {
    check_place("PE", pe, current(Pe::pes));
}

/// The program named a node.
///
/// # Panics
/// If there is none of this number.
#[track_caller]
pub fn check_node(node: u32) {
    check_place("node", node, current(|pe| pe.node.shape.nodes));
}

#[track_caller]
fn check_place(what: &str, place: u32, places: u32) {
    if place >= places {
        panic!("there is no {what} {place}: this job has the {what}s 0 to {}", places - 1);
    }
}

#[cold]
#[track_caller]
fn outside() -> ! {
    panic!("proxies, callbacks and shared values only work inside a running Talisman program")
}

/// While it lives, the thread has no current PE, whatever it was running.
pub struct Nobody {
    before: *const Pe,
    known_pes: PeId,
}

impl Nobody {
    pub fn enter() -> Self {
        Nobody { before: CURRENT.replace(null()), known_pes: set_known_pes(PeId::MAX) }
    }
}

impl Drop for Nobody {
    fn drop(&mut self) {
        CURRENT.set(self.before);
        set_known_pes(self.known_pes);
    }
}

/// While it lives, the PE is the thread's current one.
pub struct Here<'a> {
    before: *const Pe,
    known_pes: PeId,
    _pe: &'a Pe,
}

impl<'a> Here<'a> {
    pub fn enter(pe: &'a Pe) -> Self {
        Here { before: CURRENT.replace(pe), known_pes: set_known_pes(pe.pes()), _pe: pe }
    }
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        CURRENT.set(self.before);
        set_known_pes(self.known_pes);
    }
}
