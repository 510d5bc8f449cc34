use super::*;
use crate::engine::{Buffer, Condition, Envelope, Mode, Owner, Token};
use crate::testing::{BASE, World};

fn name(context: Context) -> String {
    format!("communicator {}", context / 2)
}

/// What a rank of a world waits for.
fn waiting(world: &World, rank: Rank, call: &str) -> Waiting {
    let engine = &world.processes[rank as usize].engine;
    let (doing, kept) = (engine.blocked_on(), engine.unexpected().copied().collect());
    let (call, place) = (call.into(), format!("hang.rs:{}", 10 + rank));
    Waiting { rank, call, place, any: false, is_ready: false, doing, kept }
}

fn send(world: &mut World, from: Rank, to: Envelope, bytes: u64) -> Token {
    let buffer = Buffer::of_bytes(BASE, bytes);
    world.call(from, |process, out| process.engine.send(Mode::Standard, to, buffer, Owner::User, out))
}

fn receive(world: &mut World, at: Rank, source: Option<Rank>, tag: i32) -> Token {
    let (pattern, buffer) = (Pattern { context: 0, source, tag: Some(tag) }, Buffer::of_bytes(BASE, 64));
    world.call(at, |process, out| process.engine.receive(pattern, buffer, Owner::User, out))
}

fn block(world: &mut World, rank: Rank, requests: &[Token]) {
    world.run();
    let engine = &mut world.processes[rank as usize].engine;
    assert!(!engine.block_on(Condition::All(requests.to_vec())));
}

#[test]
fn a_receive_that_never_matches_is_set_beside_what_was_sent() {
    let mut world = World::new(4, 20_000, 0);
    send(&mut world, 2, Envelope { context: 0, to: 3, tag: 7 }, 8);
    send(&mut world, 2, Envelope { context: 4, to: 3, tag: 8 }, 8);
    send(&mut world, 1, Envelope { context: 0, to: 3, tag: 9 }, 8);
    let wanted = receive(&mut world, 3, Some(2), 8);
    block(&mut world, 3, &[wanted]);
    let barrier = world.call(2, |process, _| process.engine.open(Owner::User));
    block(&mut world, 2, &[barrier]);
    let all = [waiting(&world, 2, "MPI_Barrier"), waiting(&world, 3, "MPI_Recv")];
    assert_eq!(
        explain(&all, name),
        [
            "rank 3 in MPI_Recv (hang.rs:13) waits for tag 8 from 2 in communicator 0; 2 has sent it tag 7, \
             2 has sent it tag 8 in communicator 2, and waits in MPI_Barrier (hang.rs:12)",
            "rank 2 in MPI_Barrier (hang.rs:12) waits for the others",
        ]
    );
}

#[test]
fn two_that_send_to_each_other_wait_for_each_other() {
    let mut world = World::new(2, 20_000, 0);
    for rank in 0..2 {
        let long = send(&mut world, rank, Envelope { context: 0, to: 1 - rank, tag: 3 }, 9_000);
        block(&mut world, rank, &[long]);
    }
    let all = [waiting(&world, 0, "MPI_Send"), waiting(&world, 1, "MPI_Ssend")];
    assert_eq!(
        explain(&all, name)[0],
        "rank 0 in MPI_Send (hang.rs:10) waits until 1 receives 9000 bytes with tag 3 in communicator 0; \
         1 waits in MPI_Ssend (hang.rs:11)"
    );
}

#[test]
fn several_requests_and_probes() {
    let mut world = World::new(3, 20_000, 0);
    let requests = [receive(&mut world, 0, None, 1), receive(&mut world, 0, Some(2), 2)];
    block(&mut world, 0, &requests);
    let probe = Pattern { context: 0, source: Some(0), tag: None };
    assert!(!world.processes[1].engine.block_on(Condition::Message(probe)));
    let all = [waiting(&world, 0, "MPI_Waitall"), waiting(&world, 1, "MPI_Probe")];
    assert_eq!(
        explain(&all, name),
        [
            "rank 0 in MPI_Waitall (hang.rs:10) waits for tag 1 from anybody in communicator 0, \
             and waits for tag 2 from 2 in communicator 0; 2 has ended",
            "rank 1 in MPI_Probe (hang.rs:11) waits for any tag from 0 in communicator 0; \
             0 waits in MPI_Waitall (hang.rs:10)",
        ]
    );
}
