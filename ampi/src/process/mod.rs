//! An MPI process without its thread and memory: engine, collectives, datatypes and operations of one rank together.
//!
//! Who drives it gives it frames and calls, its memory as a [`Host`], and sends the frames that come out.

mod access;
mod combine;
mod incoming;
mod memory;
mod near_access;
mod pairs;
mod parts;
mod perform;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxBuildHasher;
use talisman_pup::Pup;

use crate::collective::{Call, Collectives, Schedule};
use crate::comm::{Attributes, Communicators, ContextPair, World};
use crate::datatype::Datatypes;
use crate::engine::{
    Actions, Body, Engine, Frame, FrameError, Head, Loan, Owner, Payload, Rank, StartError, Token,
    UnknownRequest, Whole,
};
use crate::objects::Objects;
use crate::op::Ops;
use crate::partitioned::Partitioned;
use crate::ports::{Answer, Ask, Asker, Ports};
use crate::window::Windows;

pub use combine::{Operands, Place};
pub use incoming::Incoming;
pub use perform::{Outcome, PerformError};

/// The program of a rank, as far as messages need it.
pub trait Host {
    /// Memory of the program from this address on.
    ///
    /// # Errors
    /// If it has none there.
    fn read(&self, at: u64, len: u64) -> Result<&[u8], PerformError>;

    /// The same, to be written to.
    ///
    /// # Errors
    /// If it has none there.
    fn write(&mut self, at: u64, len: u64) -> Result<&mut [u8], PerformError>;

    /// Copies bytes of its memory, or of another rank's that is in its process, to other such ones; both may overlap.
    ///
    /// # Errors
    /// If there is no such memory.
    fn copy(&mut self, from: u64, to: u64, len: u64) -> Result<(), PerformError> {
        let bytes = self.read(from, len)?.to_vec();
        self.write(to, len)?.copy_from_slice(&bytes);
        Ok(())
    }

    /// Whether it lends what is announced.
    fn lends(&self) -> bool {
        false
    }

    /// An announced message lies in this memory until its request has ended: other ranks of this process may read it
    /// there, and those of other processes by what is returned.
    fn lend(&mut self, send: Token, at: u64, len: u64) -> Option<Loan> {
        let _ = (send, at, len);
        None
    }

    /// Gives a whole message to another rank of this PE whose receive waits for it, so that it is copied once and no frame
    /// is made of it. False if it is to be sent.
    fn give(&self, to: Rank, head: &Head, bytes: &[u8]) -> bool {
        let _ = (to, head, bytes);
        false
    }

    /// Sends a whole message from where its bytes are, without a frame. False if one is to be made of it.
    fn send_at_once(&self, to: Rank, whole: &Whole<'_>) -> bool {
        let _ = (to, whole);
        false
    }

    /// Copies an announced message from the memory of another rank of this process, or from where its announcement says that it lies,
    /// as much of it as `len` bytes at this address have room for: how much; none if it is not to be had there.
    ///
    /// # Errors
    /// If the program has no such memory.
    fn take_lent(
        &mut self,
        announced: (Rank, Token, Option<Loan>),
        at: u64,
        len: u64,
    ) -> Result<Option<u64>, PerformError> {
        let _ = (announced, at, len);
        Ok(None)
    }
}

/// A call of an operation of the program: `right[i] = left[i] op right[i]`.
#[derive(Debug)]
pub struct UserCombine<'a> {
    /// Names the operation.
    pub function: u64,
    /// What the operation was made with besides: the program's function, where `function` is one of a binary interface.
    pub argument: u64,
    /// The left operands.
    pub left: &'a [u8],
    /// The right operands and the results.
    pub right: &'a mut [u8],
    /// Where in both displacement 0 is; before them, it is a negative number that has wrapped around.
    pub origin: usize,
    /// How many values.
    pub count: u64,
    /// The datatype, by its handle.
    pub datatype: u32,
}

/// Memory of collectives under way, by their numbers.
type Scratch = HashMap<u32, Vec<u8>, FxBuildHasher>;

/// All of MPI's own state of a rank.
#[derive(Debug, PartialEq, Pup)]
pub struct Process {
    /// Messages.
    pub engine: Engine,
    /// Communicators.
    pub comms: Communicators,
    /// Collectives under way.
    pub collectives: Collectives,
    /// Messages in parts.
    pub partitioned: Partitioned,
    /// Datatypes.
    pub datatypes: Datatypes,
    /// Operations.
    pub ops: Ops,
    /// Objects that programs in C and Fortran have handles of.
    pub objects: Objects,
    /// Memory that other ranks read and write.
    pub windows: Windows,
    /// Ports that it has opened, and names that it keeps.
    pub ports: Ports,
    /// How often the program has looked for something that was not there, since it waited or found something.
    pub fruitless_looks: u32,
    scratch: Scratch,
    /// Where messages lie that were announced and not matched yet, by their senders and their requests.
    loans: BTreeMap<(Rank, Token), Loan>,
    /// Announced messages that have gaps in the program's memory, packed to be lent.
    #[pup(skip)]
    packed: BTreeMap<Token, Vec<u8>>,
    /// Persistent collectives.
    kept: BTreeMap<Token, (Schedule, Call)>,
}

impl Process {
    /// Of a rank that has done nothing, in this world.
    pub fn new(engine: Engine, world: &World) -> Process {
        Process {
            comms: Communicators::new(world, engine.rank()),
            engine,
            collectives: Collectives::default(),
            partitioned: Partitioned::default(),
            datatypes: Datatypes::default(),
            ops: Ops::default(),
            objects: Objects::default(),
            windows: Windows::default(),
            ports: Ports::new(world.ranks, world.more),
            fruitless_looks: 0,
            scratch: Scratch::default(),
            loans: BTreeMap::new(),
            packed: BTreeMap::new(),
            kept: BTreeMap::new(),
        }
    }

    /// A frame has come. The actions are to be [performed](Process::perform).
    ///
    /// # Errors
    /// If no peer would send it.
    pub fn on_frame(&mut self, frame: Frame<Payload>, out: &mut Actions) -> Result<(), FrameError> {
        match frame.body {
            Body::Announce { send, loan: Some(loan), .. } => {
                self.loans.insert((frame.head.source, send), loan);
            }
            // Its sender leaves, or would have it back.
            Body::Paid { send, .. } | Body::CancelAsk { send } => {
                self.loans.remove(&(frame.head.source, send));
            }
            _ => {}
        }
        self.engine.on_frame(frame, out)?;
        self.advance(out);
        self.forget_packed();
        Ok(())
    }

    /// Goes on with what consists of messages that the engine has ended.
    pub(super) fn advance(&mut self, out: &mut Actions) {
        self.collectives.advance(&mut self.engine, out);
        self.partitioned.advance(&mut self.engine, out);
    }

    /// Messages that are not announced any more need not be packed any more.
    fn forget_packed(&mut self) {
        if !self.packed.is_empty() {
            self.packed.retain(|send, _| self.engine.announces(*send).is_some());
        }
    }

    /// The bytes that a receive waits for were copied from the sender's memory.
    pub(crate) fn took(&mut self, receive: Token, out: &mut Actions) {
        self.engine.took(receive, out);
        self.advance(out);
    }

    /// A message that was announced was [given](Host::give) to its receiver.
    pub(crate) fn gave(&mut self, send: Token, out: &mut Actions) {
        self.engine.gave(send, out);
        self.advance(out);
    }

    /// Frees a key of attributes; whether there was such a key. Those that were freed are forgotten when there are many of which nothing
    /// has a value.
    pub fn free_key(&mut self, key: u32) -> bool {
        if !self.comms.keyvals.free(key) {
            return false;
        }
        if self.comms.keyvals.has_many_freed() {
            let of_communicators = self.comms.all().map(|communicator| &communicator.attributes);
            let of_windows = self.windows.all().map(|window| &window.attributes);
            let all = of_communicators.chain(self.datatypes.attributes()).chain(of_windows);
            let used = all.flat_map(Attributes::keys).collect();
            self.comms.keyvals.keep_used(&used);
        }
        true
    }

    /// A rank asks something of the ports of this one, or of the names that it keeps: what is to be answered, and to whom.
    fn answers(&mut self, by: Rank, ask: &Ask) -> Vec<(Rank, Frame<Payload>)> {
        let told = self.ports.on_ask(by, ask);
        let context = ContextPair::PORTS.collective;
        let message = |((to, tag), answer): (Asker, Answer)| {
            self.engine.answer((to, context), tag, Payload::of(&answer.to_bytes()))
        };
        told.into_iter().map(message).collect()
    }

    /// The rank leaves for another place: what it has announced goes to the receivers now. Collectives go on with what that
    /// ends, and what they announce then goes as well.
    pub fn pay(&mut self, out: &mut Actions) {
        while self.engine.pay(out) {
            self.advance(out);
        }
        // Nobody reads them where the rank was.
        self.packed.clear();
    }

    /// Begins a collective among these ranks. `call.request` is replaced by a request that ends when the collective
    /// does; it is returned.
    pub fn begin(&mut self, schedule: Schedule, call: Call, members: &[Rank], out: &mut Actions) -> Token {
        self.begin_among_ranks(schedule.among(|member| members[member as usize]), call, out)
    }

    /// The same with a schedule that names ranks of the world.
    pub(crate) fn begin_among_ranks(&mut self, schedule: Schedule, call: Call, out: &mut Actions) -> Token {
        let request = self.engine.open(Owner::User);
        self.collectives.start(schedule, Call { request, ..call }, &mut self.engine, out);
        request
    }

    /// A collective that is begun by [`Process::start`], again and again (`MPI_Bcast_init` and its kin of MPI-4).
    pub fn keep(&mut self, schedule: Schedule, call: Call, members: &[Rank]) -> Token {
        let request = self.engine.open_init(Owner::User);
        let schedule = schedule.among(|member| members[member as usize]);
        self.kept.insert(request, (schedule, Call { request, ..call }));
        request
    }

    /// Starts a persistent request (`MPI_Start`).
    ///
    /// # Errors
    /// If it is not there, not persistent or active.
    pub fn start(&mut self, request: Token, out: &mut Actions) -> Result<(), StartError> {
        if !self.engine.start(request, out)? {
            return Ok(());
        }
        match self.kept.get(&request) {
            Some((schedule, call)) => {
                self.collectives.start(schedule.clone(), *call, &mut self.engine, out);
            }
            None => self.begin_parts(request, out),
        }
        Ok(())
    }

    /// Nobody will wait for this request any more (`MPI_Request_free`).
    ///
    /// # Errors
    /// If it is not there.
    pub fn free(&mut self, request: Token) -> Result<(), UnknownRequest> {
        self.kept.remove(&request);
        self.partitioned.free(request);
        self.engine.free(request)
    }

    /// Whether the program finds no message now, whatever there is: see [`collective::immediate_barrier`](crate::collective::immediate_barrier).
    pub fn finds_nothing(&self) -> bool {
        self.collectives.is_ending()
    }

    /// Removes datatypes that the program has freed, if nothing is under way that may have them.
    pub fn sweep_datatypes(&mut self) {
        if self.datatypes.has_freed() && self.collectives.under_way() == 0 && self.engine.is_idle() {
            self.datatypes.sweep();
        }
    }

    /// Bytes of scratch memory of collectives under way.
    pub fn scratch(&self) -> usize {
        self.scratch.values().map(Vec::len).sum()
    }
}
