//! What MPI-4 has added: messages in parts, sessions.

use std::ffi::c_int;

use crate::Rank;
use crate::library::{Library, Status, code_of, count, mpi, source, tag};

pub fn check<L: Library>(rank: Rank) {
    in_parts::<L>(rank);
    short_and_long::<L>(rank);
    sessions::<L>(rank);
}

/// Four parts of three values are received as six of two, started twice.
fn in_parts<L: Library>(rank: Rank) {
    let (mut mine, mut theirs, mut requests) = ([0; 12], [-1; 12], [L::no_request(); 2]);
    let (mut flag, mut status, no_info): (c_int, Status, _) = (7, [0; 8], L::object("INFO_NULL"));
    let (mine_at, theirs_at) = (mine.as_ptr(), theirs.as_mut_ptr());
    let [send, receive] = &mut requests;
    mpi!(L, "MPI_Psend_init", mine_at, 4, 3i64, L::int(), rank.after(), 5, L::world(), no_info, send);
    mpi!(L, "MPI_Precv_init", theirs_at, 6, 2i64, L::int(), rank.before(), 5, L::world(), no_info, receive);
    assert_ne!(code_of_part::<L>(0, requests[0]), 0, "it was not started");
    for round in 0..2 {
        mine.iter_mut().zip(0..).for_each(|(value, at)| *value = 1_000 * round + 100 * rank.number + at);
        theirs.fill(-1);
        mpi!(L, "MPI_Startall", 2, &mut requests);
        mpi!(L, "MPI_Parrived", requests[1], 0, &mut flag);
        assert_eq!(flag, 0);
        mpi!(L, "MPI_Barrier", L::world());
        mpi!(L, "MPI_Pready_list", 2, &[3, 1], requests[0]);
        rank.hop();
        mpi!(L, "MPI_Pready", 0, requests[0]);
        assert_ne!(code_of_part::<L>(0, requests[0]), 0, "it is ready");
        flag = 0;
        while flag == 0 {
            mpi!(L, "MPI_Parrived", requests[1], 2, &mut flag);
        }
        let value = |at: i32| 1_000 * round + 100 * rank.before() + at;
        assert_eq!(theirs[4..6], [value(4), value(5)]);
        mpi!(L, "MPI_Test", &mut requests[1], &mut flag, &mut status);
        assert_eq!(flag, 0, "a part is missing everywhere");
        mpi!(L, "MPI_Barrier", L::world());
        mpi!(L, "MPI_Pready_range", 2, 2, requests[0]);
        rank.hop();
        mpi!(L, "MPI_Wait", &mut requests[1], &mut status);
        let told = (source::<L>(&status), tag::<L>(&status), count::<L>(&status, L::int()));
        assert_eq!(told, (rank.before(), 5, 12));
        assert_eq!(theirs, std::array::from_fn::<i32, 12, _>(|at| value(at as i32)));
        mpi!(L, "MPI_Wait", &mut requests[0], &mut status);
        assert_eq!(count::<L>(&status, L::int()), 0);
    }
    mpi!(L, "MPI_Parrived", requests[1], 5, &mut flag);
    assert_eq!(flag, 1, "it is inactive");
    requests.iter_mut().for_each(|request| mpi!(L, "MPI_Request_free", request));
    assert_eq!(requests, [L::no_request(); 2]);
}

/// What is returned for a part that may not be ready.
fn code_of_part<L: Library>(part: c_int, request: L::Handle) -> c_int {
    code_of!(L, "MPI_Pready", part, request)
}

/// A part that is announced, and one that is empty.
fn short_and_long<L: Library>(rank: Rank) {
    let (mine, mut theirs, mut requests) = (vec![rank.number; 8_000], vec![-1; 8_000], [L::no_request(); 4]);
    let no_info = L::object("INFO_NULL");
    for (at, values) in [(0, 4_000i64), (2, 0)] {
        let (from, into) = (mine.as_ptr(), theirs.as_mut_ptr());
        let to = &mut requests[at];
        mpi!(L, "MPI_Psend_init", from, 2, values, L::int(), rank.after(), 0, L::world(), no_info, to);
        let to = &mut requests[at + 1];
        mpi!(L, "MPI_Precv_init", into, 2, values, L::int(), rank.before(), 0, L::world(), no_info, to);
    }
    mpi!(L, "MPI_Startall", 4, &mut requests);
    [requests[0], requests[2]].into_iter().for_each(|send| mpi!(L, "MPI_Pready_range", 0, 1, send));
    rank.hop();
    mpi!(L, "MPI_Waitall", 4, &mut requests, L::IGNORE);
    assert!(theirs.iter().all(|value| *value == rank.before()));
    requests.iter_mut().for_each(|request| mpi!(L, "MPI_Request_free", request));
}

/// Two sessions at once: one has a communicator of all, and one of the ranks in the opposite order, by sets and tags alone.
fn sessions<L: Library>(rank: Rank) {
    let (no_info, returned, none) =
        (L::object("INFO_NULL"), L::object("ERRORS_RETURN"), L::object("SESSION_NULL"));
    let (mut first, mut second, mut group, mut turned) = (none, none, none, none);
    mpi!(L, "MPI_Session_init", no_info, returned, &mut first);
    mpi!(L, "MPI_Session_init", no_info, returned, &mut second);
    assert!(first != none && second != none && first != second);
    let (mut n, mut room, mut name) = (0, 0, [7u8; 16]);
    mpi!(L, "MPI_Session_get_num_psets", first, no_info, &mut n);
    mpi!(L, "MPI_Session_get_nth_pset", first, no_info, 1, &mut room, &mut name);
    assert_eq!((n, room, name[0]), (2, 11, 7), "the length alone");
    mpi!(L, "MPI_Session_get_nth_pset", first, no_info, 1, &mut room, &mut name);
    assert_eq!((room, &name[..11]), (11, &b"mpi://SELF\0"[..]));
    assert_ne!(code_of!(L, "MPI_Session_get_nth_pset", first, no_info, 2, &mut room, &mut name), 0);
    mpi!(L, "MPI_Group_from_session_pset", first, c"mpi://WORLD".as_ptr(), &mut group);
    let order: Vec<c_int> = (0..rank.size).rev().collect();
    mpi!(L, "MPI_Group_incl", group, rank.size, order.as_ptr(), &mut turned);
    let (mut all, mut back, mut code) = (none, none, 0);
    for (of, to, tag) in [(group, &mut all, c"all"), (turned, &mut back, c"back")] {
        mpi!(L, "MPI_Comm_create_from_group", of, tag.as_ptr(), no_info, returned, to);
        rank.hop();
    }
    let (mut me, mut sum, mut theirs) = (-1, 0, -1);
    mpi!(L, "MPI_Comm_rank", back, &mut me);
    assert_eq!(me, rank.size - 1 - rank.number);
    mpi!(L, "MPI_Allreduce", &me, &mut sum, 1, L::int(), L::object("SUM"), all);
    assert_eq!(sum, (0..rank.size).sum::<c_int>());
    mpi!(L, "MPI_Bcast", &mut me, 1, L::int(), 0, back);
    assert_eq!(me, 0, "its first is the last of all");
    mpi!(
        L,
        "MPI_Sendrecv",
        &rank.number,
        1,
        L::int(),
        rank.after(),
        1,
        &mut theirs,
        1,
        L::int(),
        rank.before(),
        1,
        all,
        L::IGNORE
    );
    assert_eq!(theirs, rank.before());
    mpi!(L, "MPI_Session_finalize", &mut first);
    assert_eq!(first, none);
    assert_ne!(code_of!(L, "MPI_Session_get_num_psets", first, no_info, &mut n), 0, "it has ended");
    code += code_of!(L, "MPI_Session_get_num_psets", second, no_info, &mut n);
    assert_eq!(code, 0, "the other has not");
    between::<L>(rank, group);
    [all, back].iter_mut().for_each(|comm| mpi!(L, "MPI_Comm_free", comm));
    [group, turned].iter_mut().for_each(|group| mpi!(L, "MPI_Group_free", group));
    mpi!(L, "MPI_Session_finalize", &mut second);
}

/// Of the last rank and all others.
fn between<L: Library>(rank: Rank, group: L::Handle) {
    if rank.size == 1 {
        return;
    }
    let (mut last, mut others, mut made, mut n) = (group, group, L::object("COMM_NULL"), -1);
    mpi!(L, "MPI_Group_incl", group, 1, &[rank.size - 1], &mut last);
    mpi!(L, "MPI_Group_excl", group, 1, &[rank.size - 1], &mut others);
    let is_last = rank.number == rank.size - 1;
    let (mine, mine_leads, theirs, theirs_leads) =
        if is_last { (last, 0, others, rank.size - 2) } else { (others, rank.size - 2, last, 0) };
    let (text, no_info, returned) = (c"between".as_ptr(), L::object("INFO_NULL"), L::object("ERRORS_RETURN"));
    mpi!(
        L,
        "MPI_Intercomm_create_from_groups",
        mine,
        mine_leads,
        theirs,
        theirs_leads,
        text,
        no_info,
        returned,
        &mut made
    );
    rank.hop();
    mpi!(L, "MPI_Comm_remote_size", made, &mut n);
    assert_eq!(n, if is_last { rank.size - 1 } else { 1 });
    let mut sum = -1;
    mpi!(L, "MPI_Allreduce", &rank.number, &mut sum, 1, L::int(), L::object("SUM"), made);
    assert_eq!(sum, if is_last { (0..rank.size - 1).sum() } else { rank.size - 1 });
    mpi!(L, "MPI_Comm_free", &mut made);
    [last, others].iter_mut().for_each(|group| mpi!(L, "MPI_Group_free", group));
}
