//! Collectives between the two groups of an intercommunicator (MPI-3.1, 5.2.2).
//!
//! Members are numbered through: those of this side first, then those of the other. What a side gives is brought
//! together at its first member, which gives it to the other side.

use super::reduce::to_first;
use super::{Blocks, Member, Place, Schedule, Span, Values, barrier, bcast};

/// The two groups, as a member of one sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides {
    /// This member in its group.
    pub me: Member,
    /// How many members the other group has.
    pub remote: u32,
}

/// Where the root of a collective is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// This member is it (`MPI_ROOT`).
    Me,
    /// Another one of this side (`MPI_PROC_NULL`): nothing to do.
    Here,
    /// The member of this number on the other side.
    There(u32),
}

impl Sides {
    /// A member of the other side, numbered through.
    fn there(&self, number: u32) -> u32 {
        self.me.size + number
    }

    /// The members of the other side, numbered through.
    fn all_there(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let first = self.me.size;
        (0..self.remote).map(move |number| (number, first + number))
    }
}

/// Nobody leaves before all of the other side have come.
pub fn inter_barrier(sides: Sides) -> Schedule {
    let exchange = |schedule: &mut Schedule| {
        schedule.send(sides.there(0), Span::EMPTY);
        schedule.receive(sides.there(0), Span::EMPTY);
    };
    let told = bcast(sides.me, 0, 0, &Values::BYTES);
    barrier(sides.me).then(by_first(sides, exchange)).then(told)
}

/// The values in the root's receive buffer come to everybody's on the other side.
pub fn inter_bcast(sides: Sides, root: Root, count: u64, values: &Values) -> Schedule {
    let span = values.span(Place::Receive, 0, count);
    match root {
        Root::Me => by_this(|schedule| schedule.send(sides.there(0), span)),
        Root::Here => Schedule::new(),
        Root::There(root) => {
            let received = by_first(sides, |schedule| schedule.receive(sides.there(root), span));
            received.then(bcast(sides.me, 0, count, values))
        }
    }
}

/// What the first member of this side has in its receive buffer, if it `is_ours`, or else that of the other side, comes to everybody's on
/// both.
pub fn inter_from_first(sides: Sides, is_ours: bool, count: u64, values: &Values) -> Schedule {
    let (span, there) = (values.span(Place::Receive, 0, count), sides.there(0));
    let between = by_first(sides, |schedule| match is_ours {
        true => schedule.send(there, span),
        false => schedule.receive(there, span),
    });
    between.then(bcast(sides.me, 0, count, values))
}

/// What the other side has, combined, comes to the root's receive buffer.
pub fn inter_reduce(sides: Sides, root: Root, count: u64, values: &Values) -> Schedule {
    match root {
        Root::Me => {
            by_this(|schedule| schedule.receive(sides.there(0), values.span(Place::Receive, 0, count)))
        }
        Root::Here => Schedule::new(),
        Root::There(root) => {
            let mut schedule = Schedule::new();
            let combined = to_first(&mut schedule, sides.me, values.span(Place::Send, 0, count), values);
            if sides.me.rank == 0 {
                schedule.send(sides.there(root), combined);
            }
            schedule
        }
    }
}

/// What each side has, combined, comes to everybody's receive buffer on the other.
pub fn inter_allreduce(sides: Sides, count: u64, values: &Values) -> Schedule {
    let (own, result) = (values.span(Place::Send, 0, count), values.span(Place::Receive, 0, count));
    let exchanged = by_this(|schedule| exchange(schedule, sides, own, result, values));
    exchanged.then(bcast(sides.me, 0, count, values))
}

/// As [`inter_allreduce`], but each member gets its block, which follow each other. Both sides have as many values in
/// all.
pub fn inter_reduce_scatter(sides: Sides, counts: &[u64], values: &Values) -> Schedule {
    let total = counts.iter().sum();
    let mut schedule = Schedule::new();
    let all = schedule.temporary(values, total);
    exchange(&mut schedule, sides, values.span(Place::Send, 0, total), all, values);
    let (mut first, result) = (0, values.span(Place::Receive, 0, counts[sides.me.rank as usize]));
    for (member, count) in (0..).zip(counts) {
        let block = values.part(all, first, first + count);
        match (sides.me.rank, member) {
            (0, 0) => schedule.copy(block, result),
            (0, _) => schedule.send(member, block),
            _ => {}
        }
        first += count;
    }
    if sides.me.rank > 0 {
        schedule.receive(0, result);
    }
    schedule
}

/// Every block of the other side comes to the root; also with blocks of different lengths.
pub fn inter_gather(sides: Sides, root: Root, own: Span, blocks: &Blocks) -> Schedule {
    by_this(|schedule| match root {
        Root::Me => sides
            .all_there()
            .for_each(|(number, member)| schedule.receive(member, blocks.of(Place::Receive, number))),
        Root::Here => {}
        Root::There(root) => schedule.send(sides.there(root), own),
    })
}

/// Each member of the other side gets its block from the root; also with blocks of different lengths.
pub fn inter_scatter(sides: Sides, root: Root, own: Span, blocks: &Blocks) -> Schedule {
    by_this(|schedule| match root {
        Root::Me => sides
            .all_there()
            .for_each(|(number, member)| schedule.send(member, blocks.of(Place::Send, number))),
        Root::Here => {}
        Root::There(root) => schedule.receive(sides.there(root), own),
    })
}

/// Every block of the other side comes to everybody; also with blocks of different lengths.
pub fn inter_allgather(sides: Sides, own: Span, blocks: &Blocks) -> Schedule {
    by_this(|schedule| {
        for (number, member) in sides.all_there() {
            schedule.receive(member, blocks.of(Place::Receive, number));
            schedule.send(member, own);
        }
    })
}

/// Each member of one side sends something else to each of the other.
pub fn inter_alltoall(sides: Sides, send: &[Span], receive: &[Span]) -> Schedule {
    by_this(|schedule| {
        for (number, member) in sides.all_there() {
            schedule.receive(member, receive[number as usize]);
            schedule.send(member, send[number as usize]);
        }
    })
}

/// The other side's values, combined, come to `result` of the first member.
fn exchange(schedule: &mut Schedule, sides: Sides, own: Span, result: Span, values: &Values) {
    let combined = to_first(schedule, sides.me, own, values);
    if sides.me.rank == 0 {
        schedule.send(sides.there(0), combined);
        schedule.receive(sides.there(0), result);
    }
    schedule.wait();
}

fn by_first(sides: Sides, steps: impl FnOnce(&mut Schedule)) -> Schedule {
    if sides.me.rank == 0 { by_this(steps) } else { Schedule::new() }
}

fn by_this(steps: impl FnOnce(&mut Schedule)) -> Schedule {
    let mut schedule = Schedule::new();
    steps(&mut schedule);
    schedule
}
