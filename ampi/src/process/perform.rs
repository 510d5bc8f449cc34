//! Doing what the engine says.

use thiserror::Error;

use super::{Host, Operands, Process};
use crate::datatype::{OutOfBounds, UnknownDatatype};
use crate::engine::{Action, Body, Frame, Payload, Rank};
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
    pub fn perform(&mut self, action: Action, host: &mut impl Host) -> Result<Outcome, PerformError> {
        match action {
            Action::Send { to, frame } => return self.fill(to, frame, host),
            Action::Wake => return Ok(Outcome::Wake),
            Action::Deliver { payload, into } => self.unpack(payload.bytes(), &into, host)?,
            Action::Copy { from, into } => {
                let bytes = self.packed(&from, host)?.into_owned();
                self.unpack(&bytes, &into, host)?;
            }
            Action::Combine { op, left, into } => {
                if let Some(operands) = self.combine(op, &left, &into, host)? {
                    return Ok(Outcome::Call(operands));
                }
            }
            Action::Allocate { scratch, bytes } if bytes > 0 => {
                self.scratch.insert(scratch, vec![0; bytes as usize]);
            }
            Action::Allocate { .. } => {}
            Action::Free { scratch } => {
                self.scratch.remove(&scratch);
            }
        }
        Ok(Outcome::Done)
    }

    /// Puts the bytes into a frame.
    fn fill(
        &self,
        to: Rank,
        frame: Frame<crate::engine::Buffer>,
        host: &impl Host,
    ) -> Result<Outcome, PerformError> {
        let buffer = match &frame.body {
            Body::Eager(buffer) => Some(*buffer),
            Body::Paid { payload, .. } | Body::Data { payload, .. } => Some(*payload),
            _ => None,
        };
        let payload = match buffer {
            Some(buffer) if buffer.bytes > 0 => Payload::of(&self.packed(&buffer, host)?),
            _ => Payload::of(&[]),
        };
        Ok(Outcome::Send { to, frame: frame.map(|_| payload) })
    }
}
