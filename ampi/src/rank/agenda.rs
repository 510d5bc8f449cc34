//! What a rank has to do before it goes on: what its engine has said, and operations of the program among it.
//!
//! Functions of the program are called on the rank's own stack alone, while nothing of MPI's state is lent, so that they
//! may call MPI. An operation that is due waits until its rank runs, and what comes after it waits with it. Its operands
//! are in the rank's memory meanwhile: a rank that is suspended within an operation may move.

use talisman_pup::Pup;

use super::Outgoing;
use crate::engine::Actions;
use crate::process::{Host, Operands, Outcome, PerformError, Place, Process, UserCombine};

/// Things to do, in their order.
#[derive(Debug, Default, Pup)]
pub(super) struct Agenda {
    /// Empty between calls, unless an operation is due or called. Kept so that it is allocated once.
    pub actions: Actions,
    operation: Operation,
}

/// An operation of the program that comes before the actions.
#[derive(Debug, Default, Pup)]
enum Operation {
    #[default]
    None,
    /// It is to be called.
    Due(Operands),
    /// The rank is in it; where its result goes.
    Called(Place),
}

/// An operation that is called; its operands are elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Called {
    function: u64,
    argument: u64,
    origin: u64,
    count: u64,
    datatype: u32,
}

impl Called {
    /// By which function, and with what.
    pub fn with<'a>(self, left: &'a [u8], right: &'a mut [u8]) -> UserCombine<'a> {
        let Called { function, argument, origin, count, datatype } = self;
        UserCombine { function, argument, left, right, origin: origin as usize, count, datatype }
    }
}

impl Agenda {
    /// Does what can be done where the rank does not run: all, or up to an operation of the program. Returns whether the
    /// rank is woken by it.
    pub fn perform(
        &mut self,
        process: &mut Process,
        host: &mut impl Host,
        sent: &mut Vec<Outgoing>,
    ) -> Result<bool, PerformError> {
        if self.actions.is_empty() || !self.is_without_operation() {
            return Ok(false);
        }
        let done = self.perform_in_order(process, host, sent);
        if done.is_err() {
            self.actions.clear();
        }
        done
    }

    /// Does them one after the other. What they lead to comes behind all that there are.
    fn perform_in_order(
        &mut self,
        process: &mut Process,
        host: &mut impl Host,
        sent: &mut Vec<Outgoing>,
    ) -> Result<bool, PerformError> {
        let (mut is_woken, mut at) = (false, 0);
        while let Some(action) = self.actions.get(at) {
            at += 1;
            match process.perform(action, host)? {
                Outcome::Done => {}
                Outcome::Send { to, frame } => sent.push((to, frame)),
                Outcome::Took { receive, to, frame } => {
                    sent.push((to, frame));
                    process.took(receive, &mut self.actions);
                }
                Outcome::Gave { send } => process.gave(send, &mut self.actions),
                Outcome::Answer(answers) => sent.extend(answers),
                Outcome::Wake => is_woken = true,
                Outcome::Call(operands) => {
                    self.operation = Operation::Due(operands);
                    break;
                }
            }
        }
        self.actions.drain(..at);
        Ok(is_woken)
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty() && self.is_without_operation()
    }

    /// Whether none is due or called.
    pub fn is_without_operation(&self) -> bool {
        matches!(self.operation, Operation::None)
    }

    /// Whether an operation waits for its rank to run.
    pub fn has_due(&self) -> bool {
        matches!(self.operation, Operation::Due(_))
    }

    /// Whether the rank is in an operation.
    pub fn is_in_operation(&self) -> bool {
        matches!(self.operation, Operation::Called(_))
    }

    /// How many bytes each of the operands of the operation that is due takes.
    pub fn lengths(&self) -> Option<(usize, usize)> {
        match &self.operation {
            Operation::Due(operands) => Some((operands.left.len(), operands.right.len())),
            _ => None,
        }
    }

    /// The operation that is due is called, with its operands here from now on.
    pub fn begin(&mut self, left: &mut [u8], right: &mut [u8]) -> Option<Called> {
        let Operation::Due(operands) = std::mem::take(&mut self.operation) else { return None };
        left.copy_from_slice(&operands.left);
        right.copy_from_slice(&operands.right);
        self.operation = Operation::Called(operands.into);
        let Operands { function, argument, origin, count, datatype, .. } = operands;
        Some(Called { function, argument, origin, count, datatype })
    }

    /// It has returned, with this result.
    pub fn end(
        &mut self,
        result: &[u8],
        process: &mut Process,
        host: &mut impl Host,
    ) -> Result<(), PerformError> {
        match std::mem::take(&mut self.operation) {
            Operation::Called(into) => process.write_result(into, result, host),
            other => {
                self.operation = other;
                Ok(())
            }
        }
    }
}
