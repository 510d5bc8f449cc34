//! The chare that a rank is: an element of an array, which the runtime places, moves, balances and checkpoints.
//!
//! What other ranks send are calls of [`RankElement::frame`]. Each runs the rank as far as it gets; then it is suspended,
//! the entry ends, and whatever the runtime does with objects between their entries is done with the rank.

mod calls;

use std::ptr::NonNull;

use talisman_core::callback::Callback;
use talisman_core::chare::{Restored, Waiting};
use talisman_core::cx::{Cx, Hearing};
use talisman_core::proxy::{Array, Proxy};
use talisman_core::record::world as of_world;
use talisman_core_macros::chare;
use talisman_pup::Pup;
use talisman_reduce::Concat;

use self::calls::Calls;
use super::neighbors;
use super::rollback::Together;
use super::sending::{self, send};
use super::world_launch::Launch;
use super::{Memory, Outgoing, Outside, Program, Rank, RankError, held, program, traced};
use crate::comm::World;
use crate::engine::{Frame, Payload};
use crate::process_state;
use crate::report;
use crate::slot::{Held, ImagesError, Slot, SlotError};
use crate::thread::Resumed;

/// What a rank returns, and how much it has said.
pub(super) type Ended<P> = (<P as Program>::Output, u64);

/// A rank of a world, as an element of an array.
#[derive(Pup)]
pub struct RankElement<P: Program> {
    /// First, so that there are addresses for the slot that follows when this is unpacked, and what is mapped there.
    memory: Memory<P>,
    pub(super) rank: Rank,
    pub(super) ranks: Array<RankElement<P>>,
    /// Where its result goes, with those of the others.
    done: Option<Callback<Vec<Ended<P>>>>,
    /// Who hears what it says, and how much it has said.
    pub(super) launch: Option<Proxy<Launch<P>>>,
    said: u64,
    /// It goes to the next PE whenever it waits.
    moves_always: bool,
    pub(super) has_ended: bool,
    /// Why it has to stay where it is. A copy of it is not whole then: nobody can go on from it.
    held: Option<String>,
    /// It stays where it is as it has locked a file, or has written to one: what it had written elsewhere would be cut off when
    /// it does that again.
    stays_for_files: bool,
    /// It has come back from a checkpoint, and does not go on before all have.
    pub(super) regroups: bool,
    /// It has been asked for what it has noted, this time.
    asked: Option<u32>,
    /// It was started by another one while the job ran: it is gone when it has ended.
    is_born: bool,
    /// It gave way, and goes on behind what its PE hears next.
    hears_first: bool,
    /// Room for frames that an entry sends: empty between entries.
    #[pup(skip)]
    room: Vec<Outgoing>,
}

/// Room for so many frames is kept between entries: more than most of them send.
const ROOM_KEPT: usize = 8;

/// How far a rank has run in an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ran {
    Not,
    UpToAWait,
    ToItsEnd,
}

#[chare(array1d)]
impl<P: Program> RankElement<P> {
    /// Of the world that the job begins with. It does not run yet.
    #[init]
    pub(super) fn new(cx: &mut Cx<Self>, world: World, memory: Memory<P>, moves_always: bool) -> Self {
        let number = cx.index();
        let mut made = Self::made(cx, world, memory, moves_always);
        if made.memory.has_images() {
            made.load(cx).unwrap_or_else(|error| panic!("rank {number} cannot begin: {error}"));
        }
        give_way(cx, &mut made.rank);
        made
    }

    /// Of a world that another rank has started. It has no program yet.
    #[init]
    fn born(cx: &mut Cx<Self>, world: World, memory: Memory<P>, moves_always: bool) -> Self {
        let mut made = Self::made(cx, world, memory, moves_always);
        made.is_born = true;
        give_way(cx, &mut made.rank);
        made
    }

    /// It prepares its program, and tells who has started it whether it can begin. One whose addresses another one has here
    /// looks elsewhere; it has been on so many other PEs.
    #[entry]
    fn settle(&mut self, cx: &mut Cx<Self>, asker: u32, others: u32) {
        process_state::prepare();
        let loaded = self.memory.prepare().and_then(|()| {
            self.rank.slot_mut().put_back_in_turn()?;
            if self.memory.has_images() { self.load(cx) } else { Ok(()) }
        });
        let number = self.rank.process().engine.rank();
        if let Err(ImagesError::Slot(SlotError::FixedTwice { .. })) = loaded
            && others + 1 < cx.pes()
        {
            cx.migrate_to((cx.pe() + 1) % cx.pes());
            return self.ranks.at(number as i32).settle(asker, others + 1);
        }
        give_way(cx, &mut self.rank);
        let said: Result<(), String> = loaded.map_err(|error| error.to_string());
        self.ranks.at(asker as i32).post(talisman_pup::to_bytes(&said));
    }

    /// Not all that were to begin with it can.
    #[entry]
    fn vanish(&mut self, cx: &mut Cx<Self>, launch: Proxy<Launch<P>>) {
        self.has_ended = true;
        launch.goes();
        cx.destroy();
    }

    /// Without a program yet, on this PE.
    fn made(cx: &mut Cx<Self>, world: World, memory: Memory<P>, moves_always: bool) -> Self {
        process_state::prepare();
        traced::set(cx.is_traced());
        let number = cx.index() as u32;
        let slot = match cx.shares_process() {
            true => Slot::new_in_turn(number),
            false => Slot::new(number),
        };
        let slot = slot.unwrap_or_else(|error| panic!("rank {number} has no memory: {error}"));
        let mut rank = Rank::of_world(slot, number, &world, program::enter::<P>)
            .with_arguments(talisman_pup::to_bytes(memory.program()));
        if !cx.shares_process() {
            rank.show(cx.node());
        }
        let ranks = cx.array();
        RankElement {
            memory,
            rank,
            ranks,
            done: None,
            launch: None,
            said: 0,
            moves_always,
            has_ended: false,
            held: None,
            stays_for_files: false,
            regroups: false,
            asked: None,
            is_born: false,
            hears_first: false,
            room: Vec::new(),
        }
    }

    /// The program begins. The callback gets what all ranks return, in their order.
    #[entry]
    pub(super) fn start(
        &mut self,
        cx: &mut Cx<Self>,
        launch: Proxy<Launch<P>>,
        done: Callback<Vec<Ended<P>>>,
        mark: u64,
    ) {
        (self.launch, self.done) = (Some(launch), Some(done));
        self.rank.process.ports.set_mark(mark);
        self.advance(cx, None);
    }

    /// Another rank has sent this.
    #[entry]
    pub(super) fn frame(&mut self, cx: &mut Cx<Self>, frame: Frame<Payload>) {
        self.advance(cx, Some(frame));
    }

    /// It has let others run, or has got what it waits for from a rank of its PE, and goes on.
    #[entry]
    pub(super) fn go_on(&mut self, cx: &mut Cx<Self>) {
        if std::mem::take(&mut self.hears_first) {
            // This call was queued before its PE heard anything: what has come since waits behind it.
            return self.call_itself();
        }
        self.rank.is_called = false;
        match self.has_ended && self.is_born {
            true => self.go_if_spent(cx),
            false => self.advance(cx, None),
        }
    }

    /// A chare has sent a value, packed: the program gets it by [`Universe::next_post`](crate::api::Universe::next_post).
    #[entry]
    pub fn post(&mut self, cx: &mut Cx<Self>, value: Vec<u8>) {
        self.rank.post(value);
        self.advance(cx, None);
    }

    /// What it has paused for is done.
    #[entry]
    fn release(&mut self, cx: &mut Cx<Self>) {
        self.rank.release();
        self.advance(cx, None);
    }

    #[restored]
    fn restored(&mut self, cx: &mut Cx<Self>, why: Restored) {
        process_state::prepare();
        traced::set(cx.is_traced());
        if !cx.shares_process() {
            self.rank.show(cx.node());
        }
        if why == Restored::AfterMigration {
            // What it has open is opened again at once: a copy of it notes how long its files are, also before it runs.
            if self.memory.has_images() && !cx.shares_process() {
                self.put_in_place(cx);
            }
            return;
        }
        self.rank.restored();
        if let Some(held) = &self.held {
            held::refuse_to_go_on(cx, held);
            self.has_ended = true;
        }
        // What it has open is opened again, and must not leave before it is cut.
        (self.regroups, self.asked) = (self.memory.has_images(), None);
        cx.hold(self.regroups);
        if self.regroups {
            self.put_in_place(cx);
        }
    }

    /// The job has gone back, for the time of this number: what has it noted when it was copied?
    #[entry]
    pub(super) fn say_noted(&mut self, cx: &mut Cx<Self>, launch: Proxy<Launch<P>>, time: u32) {
        self.asked = Some(time);
        launch.is_back(time, cx.pe(), self.rank.slot_mut().noted());
    }

    /// All are back, and have noted this.
    #[entry]
    pub(super) fn cut(&mut self, cx: &mut Cx<Self>, launch: Proxy<Launch<P>>, time: u32, noted: Together) {
        if self.asked == Some(time) {
            if let Err(why) = self.rank.slot_mut().restored(&noted.lengths()) {
                return cx.fail(format!("rank {} cannot go on from a checkpoint: {why}", cx.index()));
            }
            self.stays_for_files = self.has_files_that_stay(cx);
            launch.has_cut(time);
        }
    }

    /// All have cut their files.
    #[entry]
    pub(super) fn go_on_together(&mut self, cx: &mut Cx<Self>, time: u32) {
        if self.asked == Some(time) {
            self.rank.slot_mut().go_on();
            (self.regroups, self.asked) = (false, None);
            cx.hold(self.is_held());
            self.advance(cx, None);
        }
    }

    #[departs]
    fn departs(&mut self) {
        let mut sent = Vec::new();
        self.rank.depart(&mut sent).unwrap_or_else(|error| panic!("it cannot leave: {error}"));
        sent.drain(..).for_each(|(to, frame)| send(self.ranks, to, frame));
        // What was sent may have been what it waited for.
        _ = self.yield_if_ready();
    }

    #[waits]
    fn waits(&self) -> Vec<Waiting> {
        if self.has_ended { Vec::new() } else { report::of_rank(&self.rank) }
    }
}

impl<P: Program> RankElement<P> {
    /// Maps its program.
    fn load(&mut self, cx: &mut Cx<Self>) -> Result<(), ImagesError> {
        self.rank.slot_mut().load_images()?;
        cx.hold(self.rank.slot_mut().is_fixed());
        Ok(())
    }

    /// Takes a frame in, and runs the rank as far as it gets.
    fn advance(&mut self, cx: &mut Cx<Self>, frame: Option<Frame<Payload>>) {
        process_state::prepare();
        let mut sent = std::mem::take(&mut self.room);
        let (ran, mut at) = self.run(cx, frame, &mut sent);
        // SAFETY: this element, or the one that has its turn now, whose context this is.
        unsafe { at.as_mut() }.end_turn(cx, ran, sent);
    }

    /// Its rank has run in the entry that runs, whose turn it has, and has sent this.
    fn end_turn(&mut self, cx: &mut Cx<Self>, mut ran: Result<Ran, RankError>, mut sent: Vec<Outgoing>) {
        self.note_held(cx);
        if let Ok(Ran::UpToAWait) = ran
            && sent.is_empty()
            && self.only_waits(cx)
            && let Some(given) = neighbors::take_only_ready()
        {
            self.room = sent;
            return self.hand_over(cx, given);
        }
        give_way(cx, &mut self.rank);
        if let Err(error) = self.send(cx, &mut sent) {
            ran = ran.and(Err(error));
        }
        if sent.capacity() <= ROOM_KEPT {
            sent.clear();
            self.room = sent;
        }
        self.end_entry(cx, ran);
        self.be_found(cx);
    }

    /// Whether nothing is to be done at the end of an entry in which its rank has run up to a wait: others find it, and nothing keeps it
    /// from waiting for them.
    fn only_waits(&self, cx: &Cx<Self>) -> bool {
        self.rank.is_found_waiting() && !self.moves_always && !cx.shares_process()
    }

    /// What its rank has come to.
    fn end_entry(&mut self, cx: &mut Cx<Self>, ran: Result<Ran, RankError>) {
        if let Some(why) = self.rank.take_failure() {
            return self.fail(cx, &format!("cannot go on: {why}"));
        }
        match ran {
            Ok(Ran::Not) => _ = self.yield_if_ready(),
            Ok(Ran::UpToAWait) => {
                if self.yield_if_ready() {
                    // It may look for what nobody has heard yet.
                    self.hears_first = true;
                    cx.end_turn();
                }
                if self.moves_always {
                    cx.migrate_to((cx.pe() + 1) % cx.pes());
                }
            }
            Ok(Ran::ToItsEnd) => self.end_program(cx),
            Err(error) => self.fail(cx, &format!("cannot go on: {error}")),
        }
    }

    /// Its memory is at its addresses from here on, and its files are open.
    fn put_in_place(&mut self, cx: &mut Cx<Self>) {
        if let Err(error) = self.rank.slot_mut().put_back() {
            cx.fail(format!("rank {} cannot go on: {error}", cx.index()));
        }
    }

    /// Its program is over.
    fn end_program(&mut self, cx: &mut Cx<Self>) {
        match self.rank.outcome() {
            Resumed::Suspended => {}
            Resumed::Ended => self.end(cx),
            Resumed::Panicked { message, place } => {
                self.fail(cx, &format!("panicked at {place}: {message}"));
            }
            Resumed::Faulted { status, message } => {
                let why = format!("{}: {message}", cx.index());
                self.fail_with(cx, status, &why);
            }
            Resumed::Unwinding { message, place } => {
                self.fail(cx, &format!("waits while it unwinds; it panicked at {place}: {message}"));
            }
        }
    }

    fn run(
        &mut self,
        cx: &mut Cx<Self>,
        frame: Option<Frame<Payload>>,
        sent: &mut Vec<Outgoing>,
    ) -> (Result<Ran, RankError>, NonNull<Self>) {
        let mut at = NonNull::from(&mut *self);
        let ran = self.run_from(cx, frame, sent, &mut at);
        (ran, at)
    }

    fn run_from(
        &mut self,
        cx: &mut Cx<Self>,
        frame: Option<Frame<Payload>>,
        sent: &mut Vec<Outgoing>,
        at: &mut NonNull<Self>,
    ) -> Result<Ran, RankError> {
        let (lends, also_abroad) = (!goes_by_messages(cx), cx.nodes() > 1 && !cx.runs_again());
        self.rank.set_lending(lends, also_abroad);
        match cx.shares_process() {
            true => self.rank.slot_mut().put_back_in_turn()?,
            false => self.rank.show(cx.node()),
        }
        if let Some(frame) = frame {
            self.rank.on_frame(frame, sent)?;
        }
        let may_run = !self.has_ended && !self.regroups && self.launch.is_some();
        if !may_run || self.rank.has_failed() || !self.rank.is_ready() {
            return Ok(Ran::Not);
        }
        // What the frame has led to leaves first: the program may compute.
        if !sent.is_empty() {
            sending::send_now(cx, sent);
        }
        let (launch, said) = (self.launch, &mut self.said);
        // A rank that is to move whenever it waits is not to go on in its place.
        let hearing = (!self.moves_always && !cx.shares_process()).then(Hearing::default);
        let is_suspended = self.rank.run_in(&mut Calls { cx, at, launch, said, hearing }, sent)?;
        Ok(if is_suspended { Ran::UpToAWait } else { Ran::ToItsEnd })
    }

    /// A rank that lets others run goes on behind what waits on its PE. Whether it does.
    fn yield_if_ready(&mut self) -> bool {
        let goes_on = !self.has_ended && !self.regroups && self.rank.is_to_be_called();
        if goes_on {
            self.call_itself();
        }
        goes_on
    }

    fn call_itself(&self) {
        self.ranks.at(self.rank.process().engine.rank() as i32).go_on();
    }

    fn end(&mut self, cx: &mut Cx<Self>) {
        self.has_ended = true;
        let Some(done) = self.done.take() else { return };
        match talisman_pup::from_bytes::<P::Output>(self.rank.result()) {
            Ok(result) => {
                cx.contribute((result, self.said), Concat, done);
                self.go_if_spent(cx);
            }
            Err(error) => self.fail(cx, &format!("has returned what cannot be read: {error}")),
        }
    }

    /// One that was started while the job ran, and has ended, gives back what it has. If it was called before that, it is gone
    /// then.
    fn go_if_spent(&mut self, cx: &mut Cx<Self>) {
        if self.is_born && !self.rank.is_called {
            self.launch.iter().for_each(|launch| launch.goes());
            cx.destroy();
        }
    }

    fn fail(&mut self, cx: &mut Cx<Self>, why: &str) {
        let why = format!("{} {why}", cx.index());
        self.fail_with(cx, 1, &why);
    }

    /// Ends the job with what has happened to a rank, which begins with its number.
    fn fail_with(&mut self, cx: &mut Cx<Self>, status: u8, why: &str) {
        self.has_ended = true;
        let at = &mut NonNull::from(&mut *self);
        Calls { launch: self.launch, said: &mut self.said, cx, at, hearing: None }
            .end_job(status, &format!("rank {why}"));
    }

    /// It waits: may it be moved?
    fn note_held(&mut self, cx: &mut Cx<Self>) {
        let held = match self.rank.slot_mut().held() {
            Held::AsBefore => return,
            Held::No => None,
            Held::Yes(why) => Some(why),
        };
        // What became of a file is in no message: somebody else may delete it.
        self.held = of_world(|| held);
        self.held.iter().for_each(|why| held::say_once(cx, why));
        cx.set_partial(self.held.is_some());
        self.stays_for_files = self.has_files_that_stay(cx);
        cx.hold(self.is_held());
    }

    fn has_files_that_stay(&mut self, cx: &Cx<Self>) -> bool {
        let slot = self.rank.slot_mut();
        slot.locks() || cx.goes_back_alone() && slot.writes()
    }

    fn is_held(&mut self) -> bool {
        self.held.is_some() || self.stays_for_files || self.rank.slot_mut().is_fixed()
    }
}

/// Whether ranks of a PE give each other nothing but messages: where another node may have their addresses, and where all messages
/// are looked at.
pub(super) fn goes_by_messages<P: Program>(cx: &Cx<RankElement<P>>) -> bool {
    cx.shares_process() || cx.packs_all()
}

/// Where several nodes are in one process, another one's idea of the same rank has the addresses while it runs.
fn give_way<P: Program>(cx: &mut Cx<RankElement<P>>, rank: &mut Rank) {
    if cx.shares_process()
        && let Err(error) = rank.give_way()
    {
        cx.fail(format!("rank {} cannot be put aside: {error}", cx.index()));
    }
}
