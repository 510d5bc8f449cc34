//! Universe, communicators, and processes in them (MPI-3.1, chapter 6).

use std::panic::Location;

use super::collective::gather_numbers;
use super::{Error, Rank, Tag};
use crate::comm::{self, Choice, Group};
use crate::engine::{Envelope, Pattern};
use crate::process::Process as State;
use crate::rank::call;

/// Ranks that communicate with each other. A handle: copies are the same communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Communicator {
    handle: u32,
}

/// Which part of a split a member is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color(Option<i32>);

impl Color {
    /// With the others of this value, which is not negative.
    pub fn with_value(value: i32) -> Color {
        Color(Some(value))
    }

    /// In no part (`MPI_UNDEFINED`).
    pub fn undefined() -> Color {
        Color(None)
    }
}

/// A member of a communicator: where messages go and come from, and the root of collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    communicator: Communicator,
    rank: Rank,
}

/// Any member of a communicator: where a message comes from (`MPI_ANY_SOURCE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnyProcess {
    communicator: Communicator,
}

impl Communicator {
    pub(super) fn of(handle: u32) -> Communicator {
        Communicator { handle }
    }

    /// How many members it has (`MPI_Comm_size`).
    ///
    /// # Panics
    /// If it was freed, or no rank calls.
    pub fn size(&self) -> Rank {
        self.look(|communicator| communicator.size() as Rank).expect("a communicator that is there")
    }

    /// The number of the rank that calls (`MPI_Comm_rank`).
    ///
    /// # Panics
    /// If it was freed, or no rank calls.
    pub fn rank(&self) -> Rank {
        let rank = self.look(|communicator| communicator.rank()).expect("a communicator that is there");
        rank.expect("a rank has communicators that it is in") as Rank
    }

    /// A member, by its number. Calls with a number that no member has are errors.
    pub fn process_at_rank(&self, rank: Rank) -> Process {
        Process { communicator: *self, rank }
    }

    /// The rank that calls.
    pub fn this_process(&self) -> Process {
        self.process_at_rank(self.rank())
    }

    /// Any member: to receive from.
    pub fn any_process(&self) -> AnyProcess {
        AnyProcess { communicator: *self }
    }

    /// The same members, whose messages are kept apart from those of this one (`MPI_Comm_dup`). All members call it.
    ///
    /// # Errors
    /// If it was freed, or too many were made.
    #[track_caller]
    pub fn duplicate(&self) -> Result<Communicator, Error> {
        let mine = [self.new_number()?];
        let [number] = gather_numbers(*self, mine, Location::caller())?[0];
        // SAFETY: no buffer is given, and what is made is made in the call.
        let made = unsafe {
            call(|process, _| {
                let found = process.comms.get(self.handle)?;
                let (attributes, _) = found.attributes.copied(&process.comms.keyvals);
                let made = found.duplicate(number as u32, attributes);
                Ok(Communicator::of(process.comms.insert(made)))
            })
        };
        made?
    }

    /// The members of the same colour, in the order of their numbers here (`MPI_Comm_split`). All members call it.
    ///
    /// # Errors
    /// If it was freed, or too many were made.
    #[track_caller]
    pub fn split_by_color(&self, color: Color) -> Result<Option<Communicator>, Error> {
        self.split(color, 0, Location::caller())
    }

    /// The members of the same colour, in the order of keys, and of their numbers here where those are the same.
    ///
    /// # Errors
    /// If it was freed, or too many were made.
    #[track_caller]
    pub fn split_by_color_with_key(&self, color: Color, key: i32) -> Result<Option<Communicator>, Error> {
        self.split(color, key, Location::caller())
    }

    /// Those of a group, which all members name alike (`MPI_Comm_create`). All members call it.
    ///
    /// # Errors
    /// If it was freed, or too many were made.
    #[track_caller]
    pub fn split_by_subgroup(&self, group: &Group) -> Result<Option<Communicator>, Error> {
        let mine = [self.new_number()?];
        let [number] = gather_numbers(*self, mine, Location::caller())?[0];
        let members = group.members();
        self.make(|communicator| communicator.create(number as u32, &Group::of(&members)))
    }

    /// Its members.
    ///
    /// # Errors
    /// If it was freed, or no rank calls.
    pub fn group(&self) -> Result<Group, Error> {
        let size = self.look(|communicator| communicator.size())?;
        let mut members = vec![0; size as usize];
        self.look(|communicator| {
            members.iter_mut().zip(0..).for_each(|(member, number)| {
                *member = communicator.world_rank(number).unwrap_or_default();
            });
        })?;
        Ok(Group::of(&members))
    }

    /// Frees it (`MPI_Comm_free`). What is under way in it goes on.
    ///
    /// # Errors
    /// If it was freed before, or is the world or the rank alone.
    pub fn free(self) -> Result<(), Error> {
        // SAFETY: no buffer is given; what is freed was allocated by such a call.
        Ok(unsafe { call(|process, _| process.comms.free(self.handle).map(drop)) }??)
    }

    #[track_caller]
    fn split(
        &self,
        color: Color,
        key: i32,
        place: &'static Location<'static>,
    ) -> Result<Option<Communicator>, Error> {
        const NONE: i64 = i64::MIN;
        let mine = [self.new_number()?, color.0.map_or(NONE, i64::from), i64::from(key)];
        let all = gather_numbers(*self, mine, place)?;
        let choice = |[_, color, key]: &[i64; 3]| Choice {
            color: (*color != NONE).then_some(*color as i32),
            key: *key as i32,
        };
        let choices: Vec<Choice> = all.iter().map(choice).collect();
        self.make(|communicator| communicator.split(all[0][0] as u32, &choices))
    }

    /// The number of a new communicator, given by the first member; the others' are not used.
    pub(super) fn new_number(&self) -> Result<i64, Error> {
        // SAFETY: no buffer is given.
        let number = unsafe {
            call(|process, _| match process.comms.get(self.handle)?.rank() {
                Some(0) => Ok(i64::from(process.comms.contexts.give()?)),
                _ => Ok(0),
            })
        };
        number?
    }

    /// Adds a communicator that is made of this one.
    pub(super) fn make(
        &self,
        from: impl FnOnce(&comm::Communicator) -> Option<comm::Communicator>,
    ) -> Result<Option<Communicator>, Error> {
        // SAFETY: no buffer is given, and what is made is made in the call.
        let made = unsafe {
            call(|process, _| {
                let made = from(process.comms.get(self.handle)?);
                Ok(made.map(|made| Communicator::of(process.comms.insert(made))))
            })
        };
        made?
    }

    pub(super) fn look<T: Copy>(&self, at: impl FnOnce(&comm::Communicator) -> T) -> Result<T, Error> {
        // SAFETY: no buffer is given.
        Ok(unsafe { call(|process, _| process.comms.get(self.handle).map(at)) }??)
    }

    pub(super) fn change(&self, work: impl FnOnce(&mut comm::Communicator)) -> Result<(), Error> {
        // SAFETY: no buffer is given, and what is kept is made in the call.
        Ok(unsafe { call(|process, _| process.comms.get_mut(self.handle).map(work)) }??)
    }

    pub(super) fn handle(&self) -> u32 {
        self.handle
    }

    /// What a receive from this rank, or from any, accepts.
    pub(super) fn pattern(
        &self,
        state: &State,
        source: Option<Rank>,
        tag: Option<Tag>,
    ) -> Result<Pattern, Error> {
        let communicator = state.comms.get(self.handle)?;
        let pattern = match source.map(u32::try_from) {
            None => communicator.pattern(None, tag),
            Some(Ok(number)) => communicator.pattern(Some(number), tag),
            Some(Err(_)) => None,
        };
        let (rank, size) = (source.unwrap_or_default(), communicator.size() as Rank);
        pattern.ok_or(Error::Rank { rank, size })
    }

    /// The number that a rank of the world has here.
    pub(super) fn number_of(&self, state: &State, world_rank: u32) -> Option<Rank> {
        let number = state.comms.get(self.handle).ok()?.number_of(world_rank);
        number.map(|number| number as Rank)
    }
}

impl Process {
    /// Its number.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// Where.
    pub fn communicator(&self) -> Communicator {
        self.communicator
    }

    /// Where a message to it goes.
    pub(super) fn envelope(&self, state: &State, tag: Tag) -> Result<Envelope, Error> {
        if tag < 0 {
            return Err(Error::Tag(tag));
        }
        let communicator = state.comms.get(self.communicator.handle)?;
        let to = u32::try_from(self.rank).ok().and_then(|number| communicator.world_rank(number));
        let (context, size) = (communicator.contexts().user, communicator.size() as Rank);
        to.map(|to| Envelope { context, to, tag }).ok_or(Error::Rank { rank: self.rank, size })
    }
}

impl AnyProcess {
    /// Where.
    pub fn communicator(&self) -> Communicator {
        self.communicator
    }
}
