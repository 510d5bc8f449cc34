//! Doing what other ranks ask for with the rank's windows.

use super::combine::{pair_of, pairs, values};
use super::memory::{Extent, read, write};
use super::{Host, PerformError, Process};
use crate::datatype::Datatype;
use crate::engine::{Area, Buffer, Context, Frame, Payload, Rank};
use crate::op::{Op, Unfit, UnknownOp};
use crate::window::{Access, Deed, Window};

impl Process {
    /// Does what a rank asks for with the window that is accessed in this context. Returns what is to be answered, and to whom.
    pub(super) fn access(
        &mut self,
        (by, context): (Rank, Context),
        access: &Access,
        payload: &Payload,
        host: &mut impl Host,
    ) -> Result<Vec<(Rank, Frame<Payload>)>, PerformError> {
        let window = self.windows.of_context(context).ok_or(PerformError::NoWindow { by })?;
        let nothing = || Payload::of(&[]);
        let told = match access {
            Access::Lock { is_exclusive, answer } => window.lock.ask(by, *is_exclusive, *answer),
            Access::Unlock { answer } => {
                let mut told = window.lock.give_back(by);
                told.push((by, *answer));
                told
            }
            Access::Flush { answer } => vec![(by, *answer)],
            Access::Values { at, datatype, count, deed, answer } => {
                let buffer = buffer_in(window, by, *at, (datatype, *count))?;
                let former = match answer {
                    Some(_) => Some(self.values_of(datatype, &buffer, host)?),
                    None => None,
                };
                self.do_with(deed, datatype, &buffer, payload.bytes(), host)?;
                let answered = answer.zip(former);
                let answered = answered.map(|(tag, bytes)| self.engine.answer((by, context), tag, bytes));
                return Ok(answered.into_iter().collect());
            }
        };
        Ok(told.into_iter().map(|(to, tag)| self.engine.answer((to, context), tag, nothing())).collect())
    }

    fn values_of(
        &self,
        datatype: &Datatype,
        buffer: &Buffer,
        host: &impl Host,
    ) -> Result<Payload, PerformError> {
        let Extent { area, at, len, origin } = Extent::of(buffer, datatype);
        let memory = read(self, host, area, at, len)?;
        if datatype.is_contiguous() {
            return Ok(Payload::of(memory));
        }
        let mut packed = Vec::new();
        datatype.pack(buffer.count, memory, origin, &mut packed)?;
        Ok(Payload::Copied(packed))
    }

    /// Writes, combines or swaps values of the program's memory.
    fn do_with(
        &mut self,
        deed: &Deed,
        datatype: &Datatype,
        buffer: &Buffer,
        brought: &[u8],
        host: &mut impl Host,
    ) -> Result<(), PerformError> {
        let Extent { area, at, len, origin } = Extent::of(buffer, datatype);
        let count = buffer.count;
        let op = match deed {
            Deed::Get => return Ok(()),
            Deed::Put => None,
            Deed::Swap { compare } => {
                let memory = write(&mut self.scratch, host, area, at, len)?;
                if memory == compare.bytes() && brought.len() == memory.len() {
                    memory.copy_from_slice(brought);
                }
                return Ok(());
            }
            Deed::Combine { op } => Some((*op, self.ops.get(*op)?)),
        };
        let memory = write(&mut self.scratch, host, area, at, len)?;
        let Some((number, op)) = op else {
            return Ok(datatype.unpack(count, brought, memory, origin)?);
        };
        // They lie as those do that they are combined with.
        let mut left = vec![0; memory.len()];
        datatype.unpack(count, brought, &mut left, origin)?;
        match op {
            Op::Predefined(op) => values(op, datatype, count, &left, memory, origin),
            Op::Location(op) => pairs(op, datatype, count, &left, memory, origin),
            Op::User { .. } => Err(UnknownOp(number).into()),
        }
    }
}

/// Where values of a window are.
fn buffer_in(
    window: &Window,
    by: Rank,
    displacement: i64,
    (datatype, count): (&Datatype, u64),
) -> Result<Buffer, PerformError> {
    let span = datatype.span(count).unwrap_or_default();
    let at = window.region.address(displacement, span);
    let at = at.ok_or(PerformError::OutOfWindow { by, at: displacement })?;
    Ok(Buffer { area: Area::Memory, at, count, datatype: 0, bytes: count.saturating_mul(datatype.size()) })
}

impl Process {
    /// Whether values that lie so can be combined with this operation where another rank has them: by one that MPI brings along.
    ///
    /// # Errors
    /// If they cannot.
    pub fn combines(&self, op: u32, datatype: &Datatype) -> Result<(), PerformError> {
        match self.ops.get(op)? {
            Op::User { .. } => Err(UnknownOp(op).into()),
            Op::Location(_) if pair_of(datatype).is_none() => Err(PerformError::NoPairs),
            Op::Location(_) => Ok(()),
            Op::Predefined(op) => {
                let mut fits = Ok(());
                datatype.map().each_run(0, &mut |_, basic, _| {
                    if !op.fits(basic) {
                        fits = Err(PerformError::Unfit(Unfit { op, basic }));
                    }
                });
                fits
            }
        }
    }
}
