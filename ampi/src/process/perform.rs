//! Doing what the engine says.

use std::borrow::Cow;

use thiserror::Error;

use super::memory::copy;
use super::{Host, Incoming, Operands, Process};
use crate::datatype::{OutOfBounds, UnknownDatatype};
use crate::engine::{
    Action, Actions, Area, Body, Buffer, Envelope, Frame, Head, Loan, Mode, Pattern, Payload, Rank, Status,
    Token, Whole,
};
use crate::op::{Unfit, UnknownOp};

/// What an action leaves to who drives the process.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Nothing.
    Done,
    /// A frame to be sent.
    Send {
        /// The receiver.
        to: Rank,
        /// What.
        frame: Frame<Payload>,
    },
    /// The same, after the bytes of a message were copied from where this rank, its sender, has them.
    Took {
        /// The receive that has them.
        receive: Token,
        /// The sender.
        to: Rank,
        /// Says so.
        frame: Frame<Payload>,
    },
    /// A message that was announced was given to its receiver: nothing is to be sent.
    Gave {
        /// The send.
        send: Token,
    },
    /// Answers to an access to a window, or to what was asked of ports, to be sent.
    Answer(Vec<(Rank, Frame<Payload>)>),
    /// An operation of the program is to be called with these operands. What follows waits until its result is
    /// [written](Process::write_result).
    Call(Operands),
    /// The rank is to be resumed.
    Wake,
}

/// Why an action cannot be done: what the program has given to a call is not there, or not fit for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PerformError {
    /// A datatype.
    #[error(transparent)]
    Datatype(#[from] UnknownDatatype),
    /// An operation.
    #[error(transparent)]
    Op(#[from] UnknownOp),
    /// An operation that these values do not have.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// Values outside of their memory.
    #[error(transparent)]
    OutOfBounds(#[from] OutOfBounds),
    /// `MPI_MAXLOC` or `MPI_MINLOC` of something else than pairs.
    #[error("values are no pairs of a value and an index")]
    NoPairs,
    /// Memory that the program does not have.
    #[error("the program has no memory of {len} bytes at {at:#x}")]
    NoMemory {
        /// The address.
        at: u64,
        /// How many bytes.
        len: u64,
    },
    /// A collective that is not under way.
    #[error("collective {scratch} has no scratch memory")]
    NoScratch {
        /// Its number.
        scratch: u32,
    },
    /// A window that the program does not have.
    #[error("rank {by} accesses a window that this rank does not have, or has freed")]
    NoWindow {
        /// Who accesses it.
        by: Rank,
    },
    /// Values outside of a window.
    #[error(
        "rank {by} accesses values from displacement {at} on that are not all in this rank's memory of the window"
    )]
    OutOfWindow {
        /// Who accesses it.
        by: Rank,
        /// The displacement, in units of the window.
        at: i64,
    },
    /// A frame that says of more or fewer values than it brings, or of more than there is memory for.
    #[error(
        "rank {by} accesses {bytes} bytes of a window, which it has not brought, or which nobody has room for"
    )]
    NotAsMany {
        /// Who accesses it.
        by: Rank,
        /// How many it says.
        bytes: u64,
    },
    /// An operation that the program does not have.
    #[error("the program has no operation {function:#x}")]
    NoFunction {
        /// Names it.
        function: u64,
    },
}

impl Process {
    /// Does one action. All of a list have to be done in its order before the program goes on.
    ///
    /// # Errors
    /// If it cannot be done, by the program's fault.
    pub fn perform(&mut self, action: &Action, host: &mut impl Host) -> Result<Outcome, PerformError> {
        match action {
            Action::Send { to, frame } => return self.send(*to, frame, host),
            Action::Wake => return Ok(Outcome::Wake),
            Action::Deliver { payload, into } => self.unpack(payload.bytes(), into, host)?,
            Action::Copy { from, into } => {
                let copied = Payload::of(&self.packed(from, host)?);
                self.unpack(copied.bytes(), into, host)?;
            }
            Action::Combine { op, left, into } => {
                if let Some(operands) = self.combine(*op, left, into, host)? {
                    return Ok(Outcome::Call(operands));
                }
            }
            Action::Access { source, context, access, payload } => {
                return self.access((*source, *context), access, payload, host).map(Outcome::Answer);
            }
            Action::Ask { source, ask } => return Ok(Outcome::Answer(self.answers(*source, ask))),
            Action::Allocate { scratch, bytes } if *bytes > 0 => {
                self.scratch.insert(*scratch, vec![0; *bytes as usize]);
            }
            Action::Allocate { .. } => {}
            Action::Free { scratch } => {
                self.scratch.remove(scratch);
            }
        }
        Ok(Outcome::Done)
    }

    /// A frame that has come in [is due](crate::engine::Engine::meet) for a receive that waits for it: its bytes go there at
    /// once, without being kept. False if it is to be given to [`Process::on_frame`].
    ///
    /// # Errors
    /// If the program has no such memory.
    pub fn receive_at_once(
        &mut self,
        frame: &Frame<Payload>,
        host: &mut impl Host,
        out: &mut Actions,
    ) -> Result<bool, PerformError> {
        match &frame.body {
            Body::Eager(payload) => self.receive_whole(Incoming::of(&frame.head, payload.bytes()), host, out),
            _ => Ok(false),
        }
    }

    /// The same with a message that comes as a whole.
    ///
    /// # Errors
    /// If the program has no such memory.
    pub fn receive_whole(
        &mut self,
        incoming: Incoming<'_>,
        host: &mut impl Host,
        out: &mut Actions,
    ) -> Result<bool, PerformError> {
        let head = &incoming.whole.head;
        let Some((receive, into)) = self.engine.meet(head, incoming.len()) else { return Ok(false) };
        self.unpack_incoming(&incoming, &into, host)?;
        self.engine.met(head, receive, &into, out);
        self.advance(out);
        Ok(true)
    }

    /// A whole message has come, whose bytes may go as they are to where the rank waits for them: they are there then. False if it is to be
    /// [received](Process::receive_whole) otherwise.
    ///
    /// # Errors
    /// If the program has no such memory.
    #[inline]
    pub fn receive_awaited(
        &mut self,
        head: &Head,
        bytes: &[u8],
        host: &mut impl Host,
    ) -> Result<bool, PerformError> {
        let Some(into) = self.engine.awaits_whole(head, bytes.len() as u64) else { return Ok(false) };
        if self.address(&into).is_none() || bytes.len() as u64 > into.bytes {
            return Ok(false);
        }
        let memory = host.write(into.at, bytes.len() as u64)?;
        Ok(self.engine.got_awaited(head, &into, || copy(bytes, memory)))
    }

    /// The same for a [receive that is not posted](crate::engine::Engine::meet_unposted): its status, if it gets the message.
    ///
    /// # Errors
    /// If the program has no such memory.
    pub fn receive_unposted(
        &mut self,
        (pattern, into): (&Pattern, &Buffer),
        incoming: Incoming<'_>,
        host: &mut impl Host,
    ) -> Result<Option<Status>, PerformError> {
        let status = self.engine.meet_unposted((pattern, into), &incoming.whole.head, incoming.len());
        if status.is_some() {
            self.unpack_incoming(&incoming, into, host)?;
        }
        Ok(status)
    }

    /// Begins a blocking send before which nothing is to be done. What leaves at once does so from where its bytes are, if it can; of
    /// other ones the request.
    ///
    /// # Errors
    /// If the program has no such memory.
    pub fn begin_blocking_send(
        &mut self,
        mode: Mode,
        (to, buffer): (Envelope, Buffer),
        host: &mut impl Host,
        out: &mut Actions,
    ) -> Result<Option<Token>, PerformError> {
        let Some(head) = self.engine.head_of_short(mode, to, buffer.bytes) else {
            return Ok(self.engine.begin_blocking_send(mode, to, buffer, out).pending());
        };
        let to = to.to;
        // Mostly they are in one piece.
        let has_left = match self.address(&buffer) {
            Some(at) => Self::has_left(to, &head, host.read(at, buffer.bytes)?, host),
            None => Self::has_left(to, &head, &self.bytes_of(&buffer, host)?, host),
        };
        if !has_left {
            out.push(Action::Send { to, frame: Frame { head, body: Body::Eager(buffer) } });
        }
        Ok(None)
    }

    /// Whether a message could leave without a frame.
    fn has_left(to: Rank, head: &Head, bytes: &[u8], host: &impl Host) -> bool {
        host.give(to, head, bytes) || host.send_at_once(to, &Whole { head: *head, bytes })
    }

    fn send(
        &mut self,
        to: Rank,
        frame: &Frame<Buffer>,
        host: &mut impl Host,
    ) -> Result<Outcome, PerformError> {
        let head = frame.head;
        let body = match &frame.body {
            Body::Eager(buffer) => {
                let bytes = self.bytes_of(buffer, host)?;
                if Self::has_left(to, &head, &bytes, host) {
                    return Ok(Outcome::Done);
                }
                Body::Eager(Payload::of(&bytes))
            }
            Body::Announce { send, .. } if self.gives_announced(to, &head, *send, host)? => {
                return Ok(Outcome::Gave { send: *send });
            }
            Body::Pull { send, receive } if self.take(to, *send, *receive, host)? => {
                let frame = Frame { head, body: Body::Taken { send: *send } };
                return Ok(Outcome::Took { receive: *receive, to, frame });
            }
            Body::Announce { send, synchronous, .. } => {
                Body::Announce { send: *send, synchronous: *synchronous, loan: self.lend(*send, host)? }
            }
            other => self.filled(other, host)?,
        };
        Ok(Outcome::Send { to, frame: Frame { head, body } })
    }

    /// Whether a message was given to its receiver instead of being announced.
    fn gives_announced(
        &self,
        to: Rank,
        head: &Head,
        send: Token,
        host: &impl Host,
    ) -> Result<bool, PerformError> {
        match self.engine.announces(send).filter(|buffer| self.address(buffer).is_some()) {
            Some(buffer) => Ok(host.give(to, head, &self.bytes_of(&buffer, host)?)),
            None => Ok(false),
        }
    }

    /// What is announced may be read where it is; if it has gaps there, from a copy without. So its receiver has it also while the
    /// program computes.
    fn lend(&mut self, send: Token, host: &mut impl Host) -> Result<Option<Loan>, PerformError> {
        let Some(buffer) = self.engine.announces(send).filter(|_| host.lends()) else { return Ok(None) };
        let at = match self.address(&buffer) {
            Some(at) => at,
            None => {
                let bytes = self.packed(&buffer, host)?.into_owned();
                let at = bytes.as_ptr() as u64;
                self.packed.insert(send, bytes);
                at
            }
        };
        Ok(host.lend(send, at, buffer.bytes))
    }

    /// Copies the bytes of an announced message from the sender's memory, if that is in this process or can be read from it. One copy
    /// where they go to one piece of memory, where asking for them takes two or more.
    fn take(
        &mut self,
        from: Rank,
        send: Token,
        receive: Token,
        host: &mut impl Host,
    ) -> Result<bool, PerformError> {
        let loan = self.loans.remove(&(from, send));
        let Some(into) = self.engine.pulls_into(receive).filter(|_| host.lends()) else { return Ok(false) };
        if let Some(at) = self.address(&into) {
            return Ok(host.take_lent((from, send, loan), at, into.bytes)?.is_some());
        }
        let mut packed = vec![0; into.bytes as usize];
        let taken = host.take_lent((from, send, loan), packed.as_mut_ptr() as u64, into.bytes)?;
        let Some(len) = taken else { return Ok(false) };
        self.unpack(&packed[..len as usize], &into, host)?;
        Ok(true)
    }

    /// Where a buffer is, if it is bytes that follow each other.
    #[inline]
    fn address(&self, buffer: &Buffer) -> Option<u64> {
        let is_one_piece =
            self.datatypes.get(buffer.datatype).is_ok_and(crate::datatype::Datatype::is_contiguous);
        match buffer.area {
            Area::Memory if is_one_piece => Some(buffer.at),
            _ => None,
        }
    }

    /// What a frame is for, with its bytes.
    fn filled(&self, body: &Body<Buffer>, host: &impl Host) -> Result<Body<Payload>, PerformError> {
        let payload = match body {
            Body::Paid { payload, .. } | Body::Data { payload, .. } | Body::Access { payload, .. } => {
                self.payload(payload, host)?
            }
            _ => Payload::of(&[]),
        };
        Ok(body.clone().map(|_| payload))
    }

    fn payload(&self, buffer: &Buffer, host: &impl Host) -> Result<Payload, PerformError> {
        Ok(Payload::of(&self.bytes_of(buffer, host)?))
    }

    fn bytes_of<'a>(&'a self, buffer: &Buffer, host: &'a impl Host) -> Result<Cow<'a, [u8]>, PerformError> {
        if buffer.bytes == 0 { Ok(Cow::Borrowed(&[])) } else { self.packed(buffer, host) }
    }
}
