//! `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`.

use super::reduce::{LONG, to_first};
use super::{Blocks, Member, Place, Schedule, Span, Values};

/// What all have is combined in the order of ranks; each member gets its block, which follow each other in the
/// operands. `in_place`: the operands are in the receive buffer, and the block goes to its beginning.
pub fn reduce_scatter(me: Member, counts: &[u64], values: &Values, in_place: bool) -> Schedule {
    let place = if in_place { Place::Receive } else { Place::Send };
    let blocks = Blocks::following(counts, *values);
    let total: u64 = counts.iter().sum();
    let result = values.span(Place::Receive, 0, counts[me.rank as usize]);
    let mut schedule = Schedule::new();
    if total * values.size >= LONG {
        exchange(&mut schedule, me, &blocks, place, result);
    } else {
        let combined = to_first(&mut schedule, me, values.span(place, 0, total), values);
        hand_out(&mut schedule, me, counts, combined, result, values);
    }
    schedule
}

/// Member 0 has all and gives each its block.
fn hand_out(schedule: &mut Schedule, me: Member, counts: &[u64], all: Span, result: Span, values: &Values) {
    if me.rank > 0 {
        return schedule.receive(0, result);
    }
    let mut first = 0;
    for (member, count) in (0..).zip(counts) {
        let block = values.part(all, first, first + count);
        if member == 0 {
            schedule.copy(block, result);
        } else {
            schedule.send(member, block);
        }
        first += count;
    }
}

/// Everybody sends each member its block, and combines those that come, from the last rank on. Each byte is sent once.
fn exchange(schedule: &mut Schedule, me: Member, blocks: &Blocks, place: Place, result: Span) {
    let (values, count) = (&blocks.values, result.count);
    let come: Vec<Span> = (0..me.size).map(|_| schedule.temporary(values, count)).collect();
    for distance in 1..me.size {
        let (to, from) = (me.after(distance), me.before(distance));
        schedule.receive(from, come[from as usize]);
        schedule.send(to, blocks.of(place, to));
    }
    schedule.copy(blocks.of(place, me.rank), come[me.rank as usize]);
    schedule.wait();
    let last = come[come.len() - 1];
    for block in come[..come.len() - 1].iter().rev() {
        schedule.combine(*block, last);
    }
    schedule.copy(last, result);
}
