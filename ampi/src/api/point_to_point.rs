//! Messages between two ranks (MPI-3.1, chapter 3).

use std::panic::Location;

use super::communicator::{AnyProcess, Communicator, Process};
use super::datatype::{Buffer, BufferMut, Equivalence, bytes_of, bytes_of_mut};
use super::request::{Request, Scope};
use super::{Error, Rank, Tag};
use crate::engine::{self, Begun, Condition, Held, Mode, Owner, Pattern, Token};
use crate::process::Process as State;
use crate::rank::{self, Caller, call, state, wait_for};

/// The tag of messages that are sent without one.
const DEFAULT_TAG: Tag = 0;

/// What is known of a message (MPI-3.1, 3.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    source: Option<Rank>,
    tag: Option<Tag>,
    bytes: u64,
    is_cancelled: bool,
}

impl Status {
    /// Who has sent it; -1 if nobody has.
    pub fn source_rank(&self) -> Rank {
        self.source.unwrap_or(-1)
    }

    /// Its tag; -1 if it has none.
    pub fn tag(&self) -> Tag {
        self.tag.unwrap_or(-1)
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many values of this kind it is.
    ///
    /// # Errors
    /// If its length is no multiple of theirs.
    pub fn count<T: Equivalence>(&self) -> Result<usize, Error> {
        let (bytes, size) = (self.bytes, size_of::<T>());
        match size as u64 {
            0 => Ok(0),
            of_one if bytes.is_multiple_of(of_one) => Ok((bytes / of_one) as usize),
            _ => Err(Error::Type { bytes, size }),
        }
    }

    /// Whether the operation was taken back.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }

    pub(super) fn of(status: &engine::Status, communicator: Communicator) -> Result<Status, Error> {
        // SAFETY: no buffer is given.
        unsafe { call(|state, _| Status::known(state, status, communicator)) }?
    }

    /// The same for who is in a call already.
    pub(super) fn known(
        state: &State,
        status: &engine::Status,
        communicator: Communicator,
    ) -> Result<Status, Error> {
        if let Some(truncated) = status.truncated {
            return Err(truncated.into());
        }
        Ok(Status {
            source: status.source.and_then(|source| communicator.number_of(state, source)),
            tag: status.tag,
            bytes: status.bytes,
            is_cancelled: status.cancelled,
        })
    }
}

/// Where messages go: a [`Process`].
pub trait Destination {
    /// Sends, and returns when the buffer may be used again (`MPI_Send`).
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    fn send<B: Buffer + ?Sized>(&self, buffer: &B) -> Result<(), Error> {
        self.send_with_tag(buffer, DEFAULT_TAG)
    }

    /// The same with a tag.
    ///
    /// # Errors
    /// If there is no such rank, or the tag is negative.
    #[track_caller]
    fn send_with_tag<B: Buffer + ?Sized>(&self, buffer: &B, tag: Tag) -> Result<(), Error> {
        self.send_in_mode(Mode::Standard, buffer, tag)
    }

    /// Sends, and returns when the receive was matched (`MPI_Ssend`).
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    fn synchronous_send<B: Buffer + ?Sized>(&self, buffer: &B) -> Result<(), Error> {
        self.send_in_mode(Mode::Synchronous, buffer, DEFAULT_TAG)
    }

    /// Sends, and never waits for the receiver (`MPI_Bsend`; no buffer has to be attached).
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    fn buffered_send<B: Buffer + ?Sized>(&self, buffer: &B) -> Result<(), Error> {
        self.send_in_mode(Mode::Buffered, buffer, DEFAULT_TAG)
    }

    /// Sends to a receive that is posted already (`MPI_Rsend`).
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    fn ready_send<B: Buffer + ?Sized>(&self, buffer: &B) -> Result<(), Error> {
        self.send_in_mode(Mode::Ready, buffer, DEFAULT_TAG)
    }

    /// Sends in any mode.
    ///
    /// # Errors
    /// If there is no such rank, or the tag is negative.
    #[track_caller]
    fn send_in_mode<B: Buffer + ?Sized>(&self, mode: Mode, buffer: &B, tag: Tag) -> Result<(), Error>;

    /// Begins to send (`MPI_Isend`).
    ///
    /// # Errors
    /// If there is no such rank.
    fn immediate_send<'a, 's, B: Buffer + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        buffer: &'a B,
    ) -> Result<Request<'s>, Error> {
        self.immediate_send_in_mode(scope, Mode::Standard, buffer, DEFAULT_TAG)
    }

    /// The same with a tag.
    ///
    /// # Errors
    /// If there is no such rank, or the tag is negative.
    fn immediate_send_with_tag<'a, 's, B: Buffer + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        buffer: &'a B,
        tag: Tag,
    ) -> Result<Request<'s>, Error> {
        self.immediate_send_in_mode(scope, Mode::Standard, buffer, tag)
    }

    /// Begins to send in any mode (`MPI_Issend`, `MPI_Ibsend`, `MPI_Irsend`).
    ///
    /// # Errors
    /// If there is no such rank, or the tag is negative.
    fn immediate_send_in_mode<'a, 's, B: Buffer + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        mode: Mode,
        buffer: &'a B,
        tag: Tag,
    ) -> Result<Request<'s>, Error>;
}

impl Destination for Process {
    #[track_caller]
    fn send_in_mode<B: Buffer + ?Sized>(&self, mode: Mode, buffer: &B, tag: Tag) -> Result<(), Error> {
        let (to, bytes) = (*self, bytes_of(buffer.values()));
        // SAFETY: the buffer is borrowed until the request has ended.
        let pending = unsafe {
            rank::send(Caller::Any, mode, |state| Ok::<_, Error>(Some((to.envelope(state, tag)?, bytes))))
        }??;
        pending.map_or(Ok(()), |token| wait(token, "send", Location::caller()).map(|_| ()))
    }

    fn immediate_send_in_mode<'a, 's, B: Buffer + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        mode: Mode,
        buffer: &'a B,
        tag: Tag,
    ) -> Result<Request<'s>, Error> {
        let (to, bytes) = (*self, bytes_of(buffer.values()));
        // SAFETY: the buffer is borrowed for longer than the scope, which waits for its requests.
        let token = unsafe {
            call(|state, out| {
                let envelope = to.envelope(state, tag)?;
                Ok::<_, Error>(state.engine.send(mode, envelope, bytes, Owner::User, out))
            })
        }??;
        Ok(scope.add(token, self.communicator()))
    }
}

/// Where messages come from: a [`Process`], or [any](AnyProcess).
pub trait Source {
    /// What a receive from here accepts.
    ///
    /// # Errors
    /// If there is no such rank.
    fn accepts(&self, tag: Option<Tag>) -> Result<Pattern, Error> {
        // SAFETY: no buffer is given.
        unsafe { call(|state, _| self.accepts_in(state, tag)) }?
    }

    #[doc(hidden)]
    fn accepts_in(&self, state: &State, tag: Option<Tag>) -> Result<Pattern, Error>;

    /// Where.
    fn of_communicator(&self) -> Communicator;

    /// Receives a value (`MPI_Recv`).
    ///
    /// # Errors
    /// If there is no such rank, or the message is not one value.
    #[track_caller]
    fn receive<T: Equivalence>(&self) -> Result<(T, Status), Error> {
        receive_one(self, None, Location::caller())
    }

    /// The same with a tag.
    ///
    /// # Errors
    /// If there is no such rank, or the message is not one value.
    #[track_caller]
    fn receive_with_tag<T: Equivalence>(&self, tag: Tag) -> Result<(T, Status), Error> {
        receive_one(self, Some(tag), Location::caller())
    }

    /// Receives as many values as there are (`MPI_Mprobe`, `MPI_Mrecv`).
    ///
    /// # Errors
    /// If there is no such rank, or the message is of other values.
    #[track_caller]
    fn receive_vec<T: Equivalence>(&self) -> Result<(Vec<T>, Status), Error> {
        receive_vec(self.accepts(None)?, self.of_communicator(), Location::caller())
    }

    /// The same with a tag.
    ///
    /// # Errors
    /// If there is no such rank, or the message is of other values.
    #[track_caller]
    fn receive_vec_with_tag<T: Equivalence>(&self, tag: Tag) -> Result<(Vec<T>, Status), Error> {
        receive_vec(self.accepts(Some(tag))?, self.of_communicator(), Location::caller())
    }

    /// Receives into a buffer (`MPI_Recv`); the message may be shorter.
    ///
    /// # Errors
    /// If there is no such rank, or the message is longer than the buffer.
    #[track_caller]
    fn receive_into<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<Status, Error> {
        receive_into(self, None, buffer, Location::caller())
    }

    /// The same with a tag.
    ///
    /// # Errors
    /// If there is no such rank, or the message is longer than the buffer.
    #[track_caller]
    fn receive_into_with_tag<B: BufferMut + ?Sized>(
        &self,
        buffer: &mut B,
        tag: Tag,
    ) -> Result<Status, Error> {
        receive_into(self, Some(tag), buffer, Location::caller())
    }

    /// Begins to receive into a buffer (`MPI_Irecv`).
    ///
    /// # Errors
    /// If there is no such rank.
    fn immediate_receive_into<'a, 's, B: BufferMut + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        buffer: &'a mut B,
    ) -> Result<Request<'s>, Error> {
        immediate_receive(self, None, scope, buffer)
    }

    /// The same with a tag.
    ///
    /// # Errors
    /// If there is no such rank.
    fn immediate_receive_into_with_tag<'a, 's, B: BufferMut + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        buffer: &'a mut B,
        tag: Tag,
    ) -> Result<Request<'s>, Error> {
        immediate_receive(self, Some(tag), scope, buffer)
    }

    /// Waits for a message, which is not received (`MPI_Probe`).
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    fn probe(&self) -> Result<Status, Error> {
        self.probe_for(None, Location::caller())
    }

    /// The same with a tag.
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    fn probe_with_tag(&self, tag: Tag) -> Result<Status, Error> {
        self.probe_for(Some(tag), Location::caller())
    }

    /// A message that is there, which is not received (`MPI_Iprobe`).
    ///
    /// # Errors
    /// If there is no such rank.
    fn immediate_probe(&self) -> Result<Option<Status>, Error> {
        let (pattern, communicator) = (self.accepts(None)?, self.of_communicator());
        // SAFETY: no buffer is given.
        let look = || unsafe {
            call(|process, _| if process.finds_nothing() { None } else { process.engine.probe(&pattern) })
        };
        let mut found = look()?;
        if super::request::count_probe(found.is_some()) {
            found = look()?;
        }
        found.map(|status| Status::of(&status, communicator)).transpose()
    }

    /// Waits for a message, which only [`Message::receive_into`] gets (`MPI_Mprobe`).
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    fn matched_probe(&self) -> Result<(Message, Status), Error> {
        matched_probe(self.accepts(None)?, self.of_communicator(), Location::caller())
    }

    /// The same with a tag.
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    fn matched_probe_with_tag(&self, tag: Tag) -> Result<(Message, Status), Error> {
        matched_probe(self.accepts(Some(tag))?, self.of_communicator(), Location::caller())
    }

    /// A message that is there, which only [`Message::receive_into`] gets (`MPI_Improbe`).
    ///
    /// # Errors
    /// If there is no such rank.
    fn immediate_matched_probe(&self) -> Result<Option<(Message, Status)>, Error> {
        let look = || match state(|process| process.finds_nothing())? {
            true => Ok(None),
            false => take_message(self.accepts(None)?, self.of_communicator()),
        };
        let found = look()?;
        if super::request::count_probe(found.is_some()) { look() } else { Ok(found) }
    }

    #[doc(hidden)]
    fn probe_for(&self, tag: Option<Tag>, place: &'static Location<'static>) -> Result<Status, Error> {
        let pattern = self.accepts(tag)?;
        // What was there may have been taken back by its sender before the rank had its turn.
        loop {
            wait_for(|| Condition::Message(pattern), "probe", place)?;
            // SAFETY: no buffer is given.
            if let Some(found) = unsafe { call(|process, _| process.engine.probe(&pattern)) }? {
                return Status::of(&found, self.of_communicator());
            }
        }
    }
}

impl Source for Process {
    fn accepts_in(&self, state: &State, tag: Option<Tag>) -> Result<Pattern, Error> {
        checked(tag)?;
        self.communicator().pattern(state, Some(self.rank()), tag)
    }

    fn of_communicator(&self) -> Communicator {
        self.communicator()
    }
}

impl Source for AnyProcess {
    fn accepts_in(&self, state: &State, tag: Option<Tag>) -> Result<Pattern, Error> {
        checked(tag)?;
        self.communicator().pattern(state, None, tag)
    }

    fn of_communicator(&self) -> Communicator {
        self.communicator()
    }
}

fn checked(tag: Option<Tag>) -> Result<(), Error> {
    match tag {
        Some(tag) if tag < 0 => Err(Error::Tag(tag)),
        _ => Ok(()),
    }
}

/// A message that a matched probe has taken out.
#[must_use = "nobody else can receive it"]
#[derive(Debug)]
pub struct Message {
    held: Held,
    communicator: Communicator,
}

impl Message {
    /// Receives it (`MPI_Mrecv`).
    ///
    /// # Errors
    /// If it is longer than the buffer.
    #[track_caller]
    pub fn receive_into<B: BufferMut + ?Sized>(self, buffer: &mut B) -> Result<Status, Error> {
        let (held, into) = (self.held, bytes_of_mut(buffer.values_mut()));
        // SAFETY: the buffer is borrowed until the request has ended.
        let token =
            unsafe { call(|process, out| process.engine.receive_held(held, into, Owner::User, out)) }?;
        let status = finish(Begun::Pending(token.ok_or(Error::Request)?), "receive", Location::caller())?;
        Status::of(&status, self.communicator)
    }
}

/// Sends and receives at once (`MPI_Sendrecv`).
///
/// # Errors
/// If there is no such rank, or the message is longer than the buffer.
#[track_caller]
pub fn send_receive_into<S, R>(
    send: &S,
    to: &impl Destination,
    receive: &mut R,
    from: &impl Source,
) -> Result<Status, Error>
where
    S: Buffer + ?Sized,
    R: BufferMut + ?Sized,
{
    let place = Location::caller();
    super::scope(|scope| {
        let received = from.immediate_receive_into(scope, receive)?;
        let sent = to.immediate_send(scope, send)?;
        sent.wait_at("send_receive", place)?;
        received.wait_at("send_receive", place)
    })
}

/// Waits for what has begun, in this call of the program.
pub(super) fn finish(
    begun: Begun,
    name: &'static str,
    place: &'static Location<'static>,
) -> Result<engine::Status, Error> {
    match begun {
        Begun::Done(status) => Ok(status),
        Begun::Pending(token) => wait(token, name, place),
    }
}

/// Waits for a request.
pub(super) fn wait(
    token: Token,
    name: &'static str,
    place: &'static Location<'static>,
) -> Result<engine::Status, Error> {
    wait_for(|| Condition::One(token), name, place)?;
    // SAFETY: no buffer is given.
    let status = unsafe { call(|process, _| process.engine.test(token)) }??;
    status.ok_or(Error::Request)
}

fn receive_into<B: BufferMut + ?Sized>(
    from: &(impl Source + ?Sized),
    tag: Option<Tag>,
    buffer: &mut B,
    place: &'static Location<'static>,
) -> Result<Status, Error> {
    let (into, communicator) = (bytes_of_mut(buffer.values_mut()), from.of_communicator());
    // SAFETY: the buffer is borrowed until the request has ended.
    let received = unsafe {
        rank::receive(
            Caller::Any,
            |state| Ok(Some((from.accepts_in(state, tag)?, into))),
            |state, status| Status::known(state, status, communicator),
            "receive",
            place,
        )
    }??;
    received.ok_or(Error::Request)
}

fn receive_one<T: Equivalence>(
    from: &(impl Source + ?Sized),
    tag: Option<Tag>,
    place: &'static Location<'static>,
) -> Result<(T, Status), Error> {
    // SAFETY: every bit pattern is a value.
    let mut value = unsafe { std::mem::zeroed::<T>() };
    let status = receive_into(from, tag, &mut value, place)?;
    match status.count::<T>()? {
        1 => Ok((value, status)),
        here => Err(Error::Count { buffer: "sent", here, wanted: 1 }),
    }
}

fn receive_vec<T: Equivalence>(
    from: Pattern,
    communicator: Communicator,
    place: &'static Location<'static>,
) -> Result<(Vec<T>, Status), Error> {
    let (message, status) = matched_probe(from, communicator, place)?;
    // SAFETY: every bit pattern is a value.
    let mut values = vec![unsafe { std::mem::zeroed::<T>() }; status.count::<T>()?];
    let status = message.receive_into(&mut values)?;
    Ok((values, status))
}

fn immediate_receive<'a, 's, B: BufferMut + ?Sized>(
    from: &(impl Source + ?Sized),
    tag: Option<Tag>,
    scope: &'s Scope<'a>,
    buffer: &'a mut B,
) -> Result<Request<'s>, Error> {
    let into = bytes_of_mut(buffer.values_mut());
    // SAFETY: the buffer is borrowed for longer than the scope, which waits for its requests.
    let token = unsafe {
        call(|state, out| {
            let pattern = from.accepts_in(state, tag)?;
            Ok::<_, Error>(state.engine.receive(pattern, into, Owner::User, out))
        })
    }??;
    Ok(scope.add(token, from.of_communicator()))
}

fn matched_probe(
    from: Pattern,
    communicator: Communicator,
    place: &'static Location<'static>,
) -> Result<(Message, Status), Error> {
    // As in `probe_for`.
    loop {
        wait_for(|| Condition::Message(from), "matched_probe", place)?;
        if let Some(found) = take_message(from, communicator)? {
            return Ok(found);
        }
    }
}

fn take_message(from: Pattern, communicator: Communicator) -> Result<Option<(Message, Status)>, Error> {
    // SAFETY: no buffer is given.
    let found = unsafe { call(|process, _| process.engine.matched_probe(&from)) }?;
    let Some((held, status)) = found else { return Ok(None) };
    Ok(Some((Message { held, communicator }, Status::of(&status, communicator)?)))
}
