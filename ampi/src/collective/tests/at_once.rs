//! Barriers, collectives at the same time, and what they cost.

use super::*;
use crate::engine::{Buffer, Envelope, Owner, Pattern};

#[test]
fn nobody_leaves_a_barrier_before_all_have_come() {
    for ranks in RANKS {
        for late in [0, ranks / 2, ranks - 1] {
            let mut bench = Bench::new(ranks, 1, u64::from(ranks));
            let schedule = |rank| barrier(Member { rank, size: ranks });
            let mut requests: Vec<_> = (0..ranks)
                .filter(|rank| *rank != late)
                .map(|rank| (rank, bench.begin(rank, schedule(rank))))
                .collect();
            bench.world.run();
            for (rank, request) in &requests {
                let ended = bench.world.processes[*rank as usize].engine.status(*request).unwrap();
                assert_eq!(ended, None, "{rank} of {ranks} has left without {late}");
            }
            requests.push((late, bench.begin(late, schedule(late))));
            bench.world.run();
            for (rank, request) in requests {
                assert!(bench.world.processes[rank as usize].engine.test(request).unwrap().is_some());
            }
        }
    }
}

#[test]
fn collectives_and_messages_under_way_at_once_are_kept_apart() {
    for ranks in SOME_RANKS {
        let mut bench = Bench::new(ranks, 3, u64::from(ranks));
        let values = bench.values;
        bench.fill(Place::Send, 3, operand);
        let mut requests = Vec::new();
        for rank in 0..ranks {
            let me = Member { rank, size: ranks };
            // Both are begun before the first has ended, and each has its own tag.
            bench.tag = 0;
            requests.push((rank, bench.begin(rank, allreduce(me, 1, &values, false, false))));
            bench.tag = 1;
            requests.push((rank, bench.begin(rank, reduce_to_second(me, &values))));
            let to = Envelope { context: 0, to: (rank + 1) % ranks, tag: 0 };
            let (buffer, owner) = (Buffer::of_bytes(BASE, 4), Owner::User);
            bench
                .world
                .call(rank, |process, out| process.engine.send(Mode::Standard, to, buffer, owner, out));
        }
        bench.world.run();
        for (rank, request) in requests {
            assert!(bench.world.processes[rank as usize].engine.test(request).unwrap().is_some());
            assert_eq!(bench.received(rank, 0), combined(0..ranks, 0));
            assert_eq!(bench.received(rank, 2), combined(0..ranks, 2));
            let wanted = Pattern { context: 0, source: None, tag: None };
            assert!(bench.world.processes[rank as usize].engine.probe(&wanted).is_some());
        }
    }
}

/// An allreduce of the value at 2, to where the receive buffer has its value 2.
fn reduce_to_second(me: Member, values: &Values) -> Schedule {
    let mut schedule = Schedule::new();
    let span = |place| values.span(place, 2 * EXTENT as i64, 1);
    schedule.copy(span(Place::Send), span(Place::Receive));
    halving::Halving::new(me).double(&mut schedule, span(Place::Receive), values);
    schedule
}

#[test]
fn a_truncated_message_ends_the_collective_with_the_error() {
    let mut bench = Bench::new(2, 4, 0);
    let values = bench.values;
    let schedule = |rank: u32| bcast(Member { rank, size: 2 }, 0, if rank == 0 { 4 } else { 2 }, &values);
    bench.begin(0, schedule(0));
    let request = bench.begin(1, schedule(1));
    bench.world.run();
    let status = bench.world.processes[1].engine.test(request).unwrap().unwrap();
    assert_eq!(
        status.truncated.unwrap().to_string(),
        "a message of 32 bytes does not fit into a buffer of 16 bytes"
    );
}

#[test]
fn short_collectives_need_few_messages() {
    let frames = |ranks, schedule: &dyn Fn(Member, &Values) -> Schedule| {
        let mut bench = Bench::new(ranks, 64, 0);
        let values = bench.values;
        bench.run(|me| schedule(me, &values));
        bench.world.frames
    };
    assert_eq!(frames(64, &|me, values| bcast(me, 5, 1, values)), 63);
    assert_eq!(frames(64, &|me, values| reduce(me, 0, 1, values, true, false)), 63);
    assert_eq!(frames(64, &|me, values| allreduce(me, 1, values, true, false)), 2 * 63);
    assert_eq!(frames(64, &|me, _| barrier(me)), 64 * 6);
    let blocks = |values: &Values| Blocks::even(64, 1, *values);
    assert_eq!(frames(64, &|me, values| alltoall(me, None, &blocks(values))), 64 * 6);
    assert_eq!(frames(64, &|me, values| allgather(me, None, &blocks(values))), 64 * 6);
    assert_eq!(
        frames(64, &|me, values| gather(me, 9, Some(values.span(Place::Send, 0, 1)), &blocks(values))),
        63
    );
}

#[test]
fn persistent_collectives_are_started_again_and_again() {
    let ranks = 5;
    let mut bench = Bench::new(ranks, 2, 3);
    let (values, members) = (bench.values, [0, 1, 2, 3, 4]);
    let request = Token { index: 0, generation: 0 };
    let call =
        Call { context: 1, tag: 4, send: BASE, receive: BASE + 2 * EXTENT as u64, op: bench.op, request };
    let kept: Vec<Token> = (0..ranks)
        .map(|rank| {
            let schedule = allreduce(Member { rank, size: ranks }, 2, &values, false, false);
            bench.world.call(rank, |process, _| process.keep(schedule, call, &members))
        })
        .collect();
    for round in 0..3 {
        bench.fill(Place::Send, 2, |rank, index| operand(rank, index + round));
        for (rank, request) in (0..ranks).zip(&kept) {
            bench.world.call(rank, |process, out| process.start(*request, out)).unwrap();
        }
        bench.world.run();
        for (rank, request) in (0..ranks).zip(&kept) {
            assert!(bench.world.processes[rank as usize].engine.test(*request).unwrap().is_some());
            assert_eq!(bench.received(rank, 1), combined(0..ranks, 1 + round));
        }
    }
    let process = &mut bench.world.processes[0];
    process.free(kept[0]).unwrap();
    assert!(process.start(kept[0], &mut Vec::new()).is_err());
}
