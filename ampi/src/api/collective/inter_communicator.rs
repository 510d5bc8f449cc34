//! Two groups of ranks that communicate with each other (MPI-3.1, 6.6).
//!
//! ```
//! # extern crate talisman_core as talisman;
//! use talisman_ampi::api::{Color, Error, SystemOperation, Universe, traits::*};
//!
//! /// Even and odd ranks; their leaders are ranks 0 and 1 of the world.
//! fn program(universe: Universe) -> Result<(), Error> {
//!     let (world, rank) = (universe.world(), universe.world().rank());
//!     let side = world.split_by_color(Color::with_value(rank % 2))?.expect("each has a colour");
//!     let both = side.inter_communicator(0, &world, 1 - rank % 2, 5)?;
//!     let mut sum = 0;
//!     both.all_reduce_into(&rank, &mut sum, SystemOperation::sum())?;
//!     assert_eq!(sum, if rank % 2 == 0 { 1 + 3 } else { 0 + 2 + 4 }, "of the other side");
//!     let peer = both.process_at_rank(0); // the first of the other side
//!     if side.rank() == 0 {
//!         peer.send(&rank)?;
//!         assert_eq!(peer.receive::<i32>()?.0, 1 - rank);
//!     }
//!     let all = both.merge(rank % 2 == 1)?;
//!     assert_eq!((all.size(), all.rank()), (5, if rank % 2 == 0 { rank / 2 } else { 3 + rank / 2 }));
//!     Ok(())
//! }
//! # talisman_ampi::api::run_alone(5, program);
//! ```

mod begin;
mod collectives;

use std::panic::Location;

use super::super::communicator::{AnyProcess, Communicator, Process};
use super::super::datatype::{address_of, address_of_mut};
use super::super::point_to_point::{Destination, Source};
use super::super::{Error, Rank, Tag, scope};
use super::Root as _;
use super::begin::Memory;
use super::calls::Members;
use super::end;
use crate::collective::{self as schedules, Place, Schedule, Sides, Values};
use crate::comm::{self, ContextPair, Group};
use crate::engine::Token;
use crate::process::Process as State;
use crate::rank::call;

pub use crate::collective::Root as Sided;

/// Two groups without a common member: messages and collectives go to the other one (`MPI_Intercomm_create`). A handle:
/// copies are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterCommunicator(Communicator);

impl Communicator {
    /// Connects the members of this one with those of another, which call it, too. Each side's `leader` knows the other's as
    /// a member of `peer`, and sends it a message with this tag there; the others may give any communicator that is
    /// theirs.
    ///
    /// # Errors
    /// If there is no such leader, or too many communicators were made.
    #[track_caller]
    pub fn inter_communicator(
        &self,
        leader: Rank,
        peer: &Communicator,
        remote_leader: Rank,
        tag: Tag,
    ) -> Result<InterCommunicator, Error> {
        let mut length = 0usize;
        let mut told = Vec::new();
        if self.rank() == leader {
            told = self.exchange(peer, remote_leader, tag)?;
            length = told.len();
        }
        let leader = self.process_at_rank(leader);
        let mut counted = length as u64;
        leader.broadcast_into(&mut counted)?;
        told.resize(counted as usize, 0u64);
        leader.broadcast_into(&mut told)?;
        let made = self.make(|local| {
            let (number, remote) = told.split_first()?;
            let remote: Vec<u32> = remote.iter().map(|member| *member as u32).collect();
            let me = local.group().member(local.rank()?)?;
            let (contexts, remote) = (ContextPair::of(*number as u32), Group::of(&remote));
            Some(comm::Communicator::between(local.group().clone(), remote, contexts, me))
        })?;
        made.map(InterCommunicator).ok_or(Error::Request)
    }

    /// Between leaders: the number of the new communicator, and the other side's members in the world. The side with the
    /// lower leader gives the number.
    fn exchange(&self, peer: &Communicator, remote: Rank, tag: Tag) -> Result<Vec<u64>, Error> {
        let mut mine = vec![self.given_number()?];
        mine.extend(self.group()?.members().iter().map(|member| u64::from(*member)));
        let other = peer.process_at_rank(remote);
        let (mut theirs, _) = scope(|scope| {
            let sent = other.immediate_send_with_tag(scope, &mine, tag)?;
            let received = other.receive_vec_with_tag::<u64>(tag)?;
            sent.wait()?;
            Ok::<_, Error>(received)
        })?;
        let is_ours = peer.look(|communicator| {
            let number =
                |rank: Rank| u32::try_from(rank).ok().and_then(|number| communicator.world_rank(number));
            communicator.rank().and_then(|me| communicator.world_rank(me)) < number(remote)
        })?;
        if is_ours {
            theirs[0] = mine[0];
        }
        Ok(theirs)
    }

    /// A number for a new communicator, given by this rank.
    fn given_number(&self) -> Result<u64, Error> {
        // SAFETY: no buffer is given.
        Ok(u64::from(unsafe { call(|process, _| process.comms.contexts.give()) }??))
    }
}

impl InterCommunicator {
    /// Members of the caller's side.
    ///
    /// # Panics
    /// If it was freed, or no rank calls.
    pub fn size(&self) -> Rank {
        self.0.size()
    }

    /// The number of the caller on its side.
    ///
    /// # Panics
    /// If it was freed, or no rank calls.
    pub fn rank(&self) -> Rank {
        self.0.rank()
    }

    /// Members of the other side (`MPI_Comm_remote_size`).
    ///
    /// # Errors
    /// If it was freed.
    pub fn remote_size(&self) -> Result<Rank, Error> {
        self.sides().map(|sides| sides.remote as Rank)
    }

    /// A member of the other side, to send to and to receive from.
    pub fn process_at_rank(&self, rank: Rank) -> Process {
        self.0.process_at_rank(rank)
    }

    /// Any member of the other side.
    pub fn any_process(&self) -> AnyProcess {
        self.0.any_process()
    }

    /// Frees it (`MPI_Comm_free`).
    ///
    /// # Errors
    /// If it was freed before.
    pub fn free(self) -> Result<(), Error> {
        self.0.free()
    }

    /// Both sides as one: those that are not `high` first (`MPI_Intercomm_merge`). All call it.
    ///
    /// # Errors
    /// If it was freed, or too many communicators were made.
    #[track_caller]
    pub fn merge(&self, high: bool) -> Result<Communicator, Error> {
        let place = Location::caller();
        let mine = [self.0.given_number()? as i64, i64::from(high)];
        let ours = self.of_first(mine, place)?;
        let theirs = self.of_other_side(ours, place)?;
        let made = self.0.make(|communicator| {
            let is_ours = communicator.group().member(0) < communicator.remote_group()?.member(0);
            let [number, _] = if is_ours { ours } else { theirs };
            communicator.merge(number as u32, ours[1] != 0, theirs[1] != 0)
        })?;
        made.ok_or(Error::Request)
    }

    /// The numbers of the first of this side, for all of it.
    fn of_first(&self, mine: [i64; 2], place: &'static Location<'static>) -> Result<[i64; 2], Error> {
        let mut numbers = mine;
        let memory = Memory { receive: address_of_mut(&mut numbers), ..Memory::default() };
        let bytes = size_of_val(&numbers) as u64;
        end(
            self.begin(memory, |sides| schedules::bcast(sides.me, 0, bytes, &Values::BYTES))?,
            "merge",
            place,
        )?;
        Ok(numbers)
    }

    /// The numbers of the other side.
    fn of_other_side(&self, mine: [i64; 2], place: &'static Location<'static>) -> Result<[i64; 2], Error> {
        let mut theirs = vec![[0i64; 2]; self.sides()?.remote as usize];
        let memory = Memory { send: address_of(&mine), receive: address_of_mut(&mut theirs), op: 0 };
        let bytes = size_of_val(&mine) as u64;
        let begun = self.begin(memory, |sides| {
            let own = Values::BYTES.span(Place::Send, 0, bytes);
            let blocks = schedules::Blocks::even(sides.remote, bytes, Values::BYTES);
            schedules::inter_allgather(sides, own, &blocks)
        })?;
        end(begun, "merge", place)?;
        theirs.first().copied().ok_or(Error::Request)
    }

    fn sides(&self) -> Result<Sides, Error> {
        self.0.look(sides_of)?.ok_or(Error::Request)
    }

    fn begin(&self, memory: Memory, schedule: impl FnOnce(Sides) -> Schedule) -> Result<Token, Error> {
        self.begin_with(memory, |_, sides| Ok(schedule(sides)))
    }

    /// The same where the schedule depends on more than who calls.
    fn begin_with(
        &self,
        memory: Memory,
        schedule: impl FnOnce(&mut State, Sides) -> Result<Schedule, Error>,
    ) -> Result<Token, Error> {
        let handle = self.0.handle();
        // SAFETY: callers wait for the request while the buffers are borrowed. What is kept is made in the call.
        let begun = unsafe {
            call(|process, out| {
                let communicator = process.comms.get(handle)?;
                let sides = sides_of(communicator).ok_or(Error::Request)?;
                let remote = communicator.remote_group().ok_or(Error::Request)?;
                let members = [communicator.group().members(), remote.members()].concat();
                let context = communicator.contexts().collective;
                let schedule = schedule(process, sides)?;
                let tag = process.comms.get_mut(handle)?.next_collective();
                let Memory { send, receive, op } = memory;
                // Replaced by that of the collective.
                let request = Token { index: 0, generation: 0 };
                let call = schedules::Call { context, tag, send, receive, op, request };
                Ok(process.begin(schedule, call, &members, out))
            })
        };
        begun?
    }
}

impl Members for InterCommunicator {
    fn communicator(self) -> Communicator {
        self.0
    }
}

fn sides_of(communicator: &comm::Communicator) -> Option<Sides> {
    Some(Sides { me: communicator.member()?, remote: communicator.remote_group()?.size() })
}
