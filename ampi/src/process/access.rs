//! Doing what other ranks ask for with the rank's windows.

use super::combine::values;
use super::memory::{Extent, read};
use super::pairs::{has_pairs, pairs};
use super::{Host, PerformError, Process};
use crate::datatype::Datatype;
use crate::engine::{Area, Buffer, Context, Frame, Payload, Rank};
use crate::op::{Op, Ops, Predefined, Unfit, UnknownOp};
use crate::window::{Access, Deed, Window};

/// What is to be answered, and to whom.
type Answers = Vec<(Rank, Frame<Payload>)>;

impl Process {
    /// Does what a rank asks for with the window that is accessed in this context, or keeps it until the rank has the lock for which it
    /// waits. Returns what is to be answered, and to whom.
    pub(super) fn access(
        &mut self,
        (by, context): (Rank, Context),
        access: &Access,
        payload: &Payload,
        host: &mut impl Host,
    ) -> Result<Answers, PerformError> {
        let window = self.windows.of_context(context).ok_or(PerformError::NoWindow { by })?;
        let mut answers = Answers::new();
        if window.defer(by, access, payload) {
            return Ok(answers);
        }
        let mut granted = self.access_now((by, context), (access, payload), host, &mut answers)?;
        // Who has the lock now may have asked for more, and be through with it.
        while let Some(next) = granted.pop() {
            while let Some((access, payload)) =
                self.windows.of_context(context).and_then(|window| window.next_deferred(next))
            {
                granted.extend(self.access_now((next, context), (&access, &payload), host, &mut answers)?);
            }
        }
        Ok(answers)
    }

    /// Returns those who have the lock by this.
    fn access_now(
        &mut self,
        (by, context): (Rank, Context),
        (access, payload): (&Access, &Payload),
        host: &mut impl Host,
        answers: &mut Answers,
    ) -> Result<Vec<Rank>, PerformError> {
        let window = self.windows.of_context(context).ok_or(PerformError::NoWindow { by })?;
        let (told, granted) = match access {
            Access::Lock { is_exclusive, answer } => (None, window.lock.ask(by, *is_exclusive, *answer)),
            Access::Unlock { answer } => (Some((by, *answer)), window.lock.give_back(by)),
            Access::Flush { answer } => (Some((by, *answer)), Vec::new()),
            Access::Values { at, datatype, count, deed, answer } => {
                let buffer = buffer_in(window, by, *at, (datatype, *count))?;
                let brings = !matches!(deed, Deed::Get) && !is_no_operation(deed);
                if brings && payload.len() != buffer.bytes {
                    return Err(PerformError::NotAsMany { by, bytes: buffer.bytes });
                }
                let former = match answer {
                    Some(_) => Some(self.values_of(by, datatype, &buffer, host)?),
                    None => None,
                };
                if brings {
                    do_with(&self.ops, deed, datatype, &buffer, payload.bytes(), host)?;
                }
                let answered = answer.zip(former);
                answers.extend(answered.map(|(tag, bytes)| self.engine.answer((by, context), tag, bytes)));
                return Ok(Vec::new());
            }
        };
        let owners = granted.iter().filter_map(|(rank, answer)| Some((*rank, (*answer)?)));
        for (to, tag) in told.into_iter().chain(owners) {
            answers.push(self.engine.answer((to, context), tag, Payload::of(&[])));
        }
        Ok(granted.into_iter().map(|(rank, _)| rank).collect())
    }

    fn values_of(
        &self,
        by: Rank,
        datatype: &Datatype,
        buffer: &Buffer,
        host: &impl Host,
    ) -> Result<Payload, PerformError> {
        let Extent { area, at, len, origin } = Extent::of(buffer, datatype);
        let memory = read(self, host, area, at, len)?;
        if datatype.is_contiguous() {
            return Ok(Payload::of(memory));
        }
        // Values that lie on top of each other may be more than the window has bytes.
        let (bytes, mut packed) = (buffer.bytes, Vec::new());
        let has_room = usize::try_from(bytes).is_ok_and(|bytes| packed.try_reserve_exact(bytes).is_ok());
        if !has_room {
            return Err(PerformError::NotAsMany { by, bytes });
        }
        datatype.pack(buffer.count, memory, origin, &mut packed)?;
        Ok(Payload::Copied(packed))
    }
}

/// Writes, combines or swaps values of the memory of a program.
pub(super) fn do_with(
    ops: &Ops,
    deed: &Deed,
    datatype: &Datatype,
    buffer: &Buffer,
    brought: &[u8],
    host: &mut impl Host,
) -> Result<(), PerformError> {
    let Extent { at, len, origin, .. } = Extent::of(buffer, datatype);
    let count = buffer.count;
    let op = match deed {
        // Nothing is done.
        Deed::Get => return Ok(()),
        Deed::Put => None,
        Deed::Swap { compare } => {
            let memory = host.write(at, len)?;
            if memory == compare.bytes() && brought.len() == memory.len() {
                memory.copy_from_slice(brought);
            }
            return Ok(());
        }
        Deed::Combine { op } => Some((*op, ops.get(*op)?)),
    };
    let memory = host.write(at, len)?;
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

/// Whether this is `MPI_NO_OP`, which brings nothing.
pub(super) fn is_no_operation(deed: &Deed) -> bool {
    matches!(deed, Deed::Combine { op } if *op == Ops::handle_of(Predefined::NoOp))
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
            Op::Location(_) if !has_pairs(datatype) => Err(PerformError::NoPairs),
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

#[cfg(test)]
mod tests {
    use crate::datatype::{Basic, Datatype, Named};
    use crate::engine::{Actions, Buffer, Inline, Owner, Pattern, Payload, Rank, Tag, Token};
    use crate::op::{Location, Ops, Predefined};
    use crate::process::{PerformError, Process};
    use crate::testing::{BASE, World};
    use crate::window::{Access, Deed, Flavor, Region, Window};

    const CONTEXT: u32 = 8;
    /// Each rank has a counter in its window, and two places for values beside it.
    const ROOM: usize = 32;
    const COUNTER: u64 = BASE;
    const MINE: u64 = BASE + 8;
    const GOT: u64 = BASE + 16;

    fn world(ranks: u32, seed: u64) -> World {
        let mut world = World::new(ranks, ROOM, seed).with_moves(20);
        for process in &mut world.processes {
            let region = Region::new(Flavor::Create, COUNTER, 8, 8);
            process.windows.insert(CONTEXT, Window::new(0, region, Default::default()));
        }
        world
    }

    fn number(at: u64) -> Buffer {
        let named = Named::handle("MPI_INT64_T").expect("it is one of MPI's");
        Buffer { datatype: named, ..Buffer::of_bytes(at, 8) }
    }

    fn values(at: i64, deed: Deed, answer: Option<Tag>) -> Access {
        Access::Values { at, datatype: Datatype::of(Basic::I64), count: 1, deed, answer }
    }

    fn asks(
        process: &mut Process,
        out: &mut Actions,
        to: Rank,
        (needs, into): (Buffer, Buffer),
        what: impl FnOnce(Tag) -> Access,
    ) -> Token {
        let tag = process.windows.of_context(CONTEXT).expect("it has one").next_answer();
        let pattern = Pattern { context: CONTEXT, source: Some(to), tag: Some(tag) };
        let token = process.engine.receive(pattern, into, Owner::User, out);
        process.engine.access((to, CONTEXT), what(tag), needs, out);
        token
    }

    /// What a rank is at.
    enum Step {
        Rests,
        /// It has the counter of this rank locked, or will have, and reads it.
        Reads(Rank, Token),
        /// It has written it, and gives it back.
        Ends(Token),
    }

    fn value_at(world: &World, rank: Rank, at: u64) -> i64 {
        let start = (at - BASE) as usize;
        let bytes = &world.memories[rank as usize].bytes[start..start + 8];
        i64::from_ne_bytes(bytes.try_into().expect("eight"))
    }

    /// Does what comes next on a rank, if that can be done. Whether it has come to the end of it.
    fn goes_on(world: &mut World, rank: Rank, step: &mut Step, is_exclusive: bool) -> bool {
        let ended = |world: &mut World, token| {
            world.call(rank, |process, _| process.engine.test(token).expect("it is there").is_some())
        };
        match *step {
            Step::Rests => {
                let to = world.below(world.processes.len() as u64) as Rank;
                *step = world.call(rank, |process, out| {
                    let lock = Access::Lock { is_exclusive, answer: None };
                    process.engine.access((to, CONTEXT), lock, Buffer::EMPTY, out);
                    let read = |tag| values(0, Deed::Get, Some(tag));
                    Step::Reads(to, asks(process, out, to, (Buffer::EMPTY, number(GOT)), read))
                });
            }
            Step::Reads(to, token) if ended(world, token) => {
                let next = value_at(world, rank, GOT) + 1;
                let start = (MINE - BASE) as usize;
                world.memories[rank as usize].bytes[start..start + 8].copy_from_slice(&next.to_ne_bytes());
                *step = world.call(rank, |process, out| {
                    process.engine.access((to, CONTEXT), values(0, Deed::Put, None), number(MINE), out);
                    let unlock = |answer| Access::Unlock { answer };
                    Step::Ends(asks(process, out, to, (Buffer::EMPTY, Buffer::EMPTY), unlock))
                });
            }
            Step::Ends(token) if ended(world, token) => {
                *step = Step::Rests;
                return true;
            }
            Step::Reads(..) | Step::Ends(_) => {}
        }
        false
    }

    /// All count up each other's counters, while frames come in any order and ranks move. How far counters come.
    fn counted(seed: u64, is_exclusive: bool) -> i64 {
        const RANKS: u32 = 4;
        const TIMES: u32 = 12;
        let mut world = world(RANKS, seed);
        let mut steps: Vec<(Step, u32)> = (0..RANKS).map(|_| (Step::Rests, TIMES)).collect();
        while steps.iter().any(|(_, left)| *left > 0) {
            let rank = world.below(RANKS.into()) as Rank;
            let (step, left) = &mut steps[rank as usize];
            if *left > 0 && goes_on(&mut world, rank, step, is_exclusive) {
                *left -= 1;
            }
            world.step();
        }
        world.run();
        for process in &mut world.processes {
            assert!(process.windows.of_context(CONTEXT).expect("it has one").lock.is_free());
        }
        (0..RANKS).map(|rank| value_at(&world, rank, COUNTER)).sum()
    }

    #[test]
    fn nobody_comes_between_what_is_done_under_a_lock() {
        assert!((0..100).all(|seed| counted(seed, true) == 48));
    }

    #[test]
    fn who_shares_a_lock_is_not_kept_out() {
        assert!((0..20).any(|seed| counted(seed, false) < 48));
    }

    #[test]
    fn values_are_combined_and_swapped_in_one_piece() {
        let mut world = world(2, 1);
        world.memories[0].bytes[8..16].copy_from_slice(&5i64.to_ne_bytes());
        let sum = Deed::Combine { op: Ops::handle_of(Predefined::Sum) };
        let swap = |from: i64| Deed::Swap { compare: Inline::of(&from.to_ne_bytes()).expect("eight bytes") };
        for (deed, before, after) in [(sum.clone(), 0, 5), (sum, 5, 10), (swap(7), 10, 10), (swap(10), 10, 5)]
        {
            let token = world.call(0, |process, out| {
                asks(process, out, 1, (number(MINE), number(GOT)), |tag| values(0, deed, Some(tag)))
            });
            world.run();
            world.call(0, |process, _| assert!(process.engine.test(token).expect("it is there").is_some()));
            assert_eq!((value_at(&world, 0, GOT), value_at(&world, 1, COUNTER)), (before, after));
        }
    }

    #[test]
    fn who_accesses_what_is_not_there_is_named() {
        let mut world = world(2, 1);
        let memory = &mut world.memories[0];
        let process = &mut world.processes[0];
        let access = |at| values(at, Deed::Get, Some(3));
        let none = Payload::of(&[]);
        for at in [1, -1, i64::MAX] {
            let done = process.access((1, CONTEXT), &access(at), &none, memory);
            assert_eq!(done, Err(PerformError::OutOfWindow { by: 1, at }));
        }
        let done = process.access((1, CONTEXT + 1), &access(0), &none, memory);
        assert_eq!(done, Err(PerformError::NoWindow { by: 1 }));
    }

    #[test]
    fn who_says_of_more_than_it_brings_is_named() {
        let mut world = world(2, 1);
        let (memory, process) = (&mut world.memories[0], &mut world.processes[0]);
        let ask = |process: &mut Process, memory: &mut _, datatype, count, deed, brought: &[u8]| {
            let access = Access::Values { at: 0, datatype, count, deed, answer: Some(3) };
            process.access((1, CONTEXT), &access, &Payload::of(brought), memory).map(|answers| answers.len())
        };
        let number = || Datatype::of(Basic::I64);
        let not_as_many = |bytes| Err(PerformError::NotAsMany { by: 1, bytes });
        assert_eq!(ask(process, memory, number(), 1, Deed::Put, &[1; 7]), not_as_many(8));
        assert_eq!(ask(process, memory, number(), 1, Deed::Put, &[]), not_as_many(8));
        // The same value again and again, and nothing so often.
        let piled = number().hvector(1 << 40, 1, 0).expect("it is one").resized(0, 0);
        assert_eq!(ask(process, memory, piled.clone(), 1 << 20, Deed::Put, &[1; 8]), not_as_many(1 << 63));
        assert_eq!(ask(process, memory, piled, 1 << 20, Deed::Get, &[]), not_as_many(1 << 63));
        let nothing = number().vector(0, 1, 1).expect("it is one");
        assert_eq!(ask(process, memory, nothing, u64::MAX >> 1, Deed::Put, &[]), Ok(1));
        let no_operation = Deed::Combine { op: Ops::handle_of(Predefined::NoOp) };
        assert_eq!(ask(process, memory, number(), 1, no_operation, &[]), Ok(1));
    }

    #[test]
    fn operations_of_the_program_combine_nothing_elsewhere() {
        let mut world = world(1, 1);
        let process = &mut world.processes[0];
        let own = process.ops.insert(1, true);
        let whole = Datatype::of(Basic::F64);
        assert!(matches!(process.combines(own, &whole), Err(PerformError::Op(_))));
        assert!(matches!(
            process.combines(Ops::handle_of(Predefined::BitOr), &whole),
            Err(PerformError::Unfit(_))
        ));
        assert_eq!(process.combines(Ops::location(Location::Max), &whole), Err(PerformError::NoPairs));
        assert_eq!(process.combines(Ops::handle_of(Predefined::Replace), &whole), Ok(()));
    }
}
