//! Communicators, groups, attributes.

use std::ffi::c_int;

use crate::Rank;
use crate::library::{Library, code_of, mpi};

pub fn check<L: Library>(rank: Rank) {
    twins::<L>(rank);
    parts::<L>(rank);
    groups::<L>(rank);
    attributes::<L>(rank);
    between::<L>(rank);
}

fn comm<L: Library>(make: impl FnOnce(&mut L::Handle)) -> L::Handle {
    let mut made = L::object("COMM_NULL");
    make(&mut made);
    made
}

pub fn rank_and_size<L: Library>(communicator: L::Handle) -> (c_int, c_int) {
    let (mut rank, mut size) = (-1, -1);
    mpi!(L, "MPI_Comm_rank", communicator, &mut rank);
    mpi!(L, "MPI_Comm_size", communicator, &mut size);
    (rank, size)
}

fn sum<L: Library>(communicator: L::Handle, mine: i32) -> i32 {
    let mut sum = -1;
    mpi!(L, "MPI_Allreduce", &mine, &mut sum, 1, L::int(), L::object("SUM"), communicator);
    sum
}

fn twins<L: Library>(rank: Rank) {
    let mut twin = comm::<L>(|to| mpi!(L, "MPI_Comm_dup", L::world(), to));
    assert_ne!(twin, L::world());
    for (value, communicator) in [(1, L::world()), (2, twin)] {
        mpi!(L, "MPI_Bsend", &value, 1, L::int(), rank.after(), 4, communicator);
    }
    let (mut in_twin, mut in_world, mut alike) = (0, 0, -1);
    mpi!(L, "MPI_Recv", &mut in_twin, 1, L::int(), rank.before(), 4, twin, L::IGNORE);
    mpi!(L, "MPI_Recv", &mut in_world, 1, L::int(), rank.before(), 4, L::world(), L::IGNORE);
    assert_eq!((in_world, in_twin), (1, 2));
    mpi!(L, "MPI_Comm_compare", L::world(), twin, &mut alike);
    assert_eq!(alike, L::IDENT + 1);
    let (mut name, mut len) = ([0u8; 128], 0);
    mpi!(L, "MPI_Comm_set_name", twin, c"the twin".as_ptr());
    rank.hop();
    mpi!(L, "MPI_Comm_get_name", twin, name.as_mut_ptr(), &mut len);
    assert_eq!((&name[..len as usize], name[len as usize]), (&b"the twin"[..], 0));
    // A request outlives its communicator.
    let (mut request, mut status, mut value) = (L::no_request(), [0; 8], 0);
    mpi!(L, "MPI_Irecv", &mut value, 1, L::int(), L::ANY_SOURCE, 1, twin, &mut request);
    mpi!(L, "MPI_Send", &rank.number, 1, L::int(), rank.after(), 1, twin);
    mpi!(L, "MPI_Comm_free", &mut twin);
    assert_eq!(twin, L::object("COMM_NULL"));
    mpi!(L, "MPI_Wait", &mut request, &mut status);
    assert_eq!((value, crate::library::source::<L>(&status)), (rank.before(), rank.before()));
    assert_eq!(rank_and_size::<L>(L::object("COMM_SELF")), (0, 1));
}

fn parts<L: Library>(rank: Rank) {
    let color = if rank.number == 0 { L::UNDEFINED } else { rank.number % 2 };
    let mut part = comm::<L>(|to| mpi!(L, "MPI_Comm_split", L::world(), color, -rank.number, to));
    assert_eq!(part == L::object("COMM_NULL"), rank.number == 0);
    if rank.number > 0 {
        let others: Vec<i32> = (1..rank.size).filter(|other| other % 2 == rank.number % 2).collect();
        assert_eq!(sum::<L>(part, rank.number), others.iter().sum::<i32>());
        let before = others.iter().filter(|other| **other > rank.number).count() as c_int;
        assert_eq!(rank_and_size::<L>(part), (before, others.len() as c_int), "by key");
        rank.hop();
        mpi!(L, "MPI_Comm_free", &mut part);
    }
    let mut all = comm::<L>(|to| {
        mpi!(L, "MPI_Comm_split_type", L::world(), L::SHARED, 0, L::object("INFO_NULL"), to);
    });
    assert_eq!(rank_and_size::<L>(all), (rank.number, rank.size));
    mpi!(L, "MPI_Comm_free", &mut all);
}

fn groups<L: Library>(rank: Rank) {
    let (mut all, mut evens, mut odds) =
        (L::object("GROUP_NULL"), L::object("GROUP_NULL"), L::object("GROUP_NULL"));
    mpi!(L, "MPI_Comm_group", L::world(), &mut all);
    let range = [[0 as c_int, rank.size - 1, 2]];
    mpi!(L, "MPI_Group_range_incl", all, 1, &range, &mut evens);
    mpi!(L, "MPI_Group_difference", all, evens, &mut odds);
    let (mut size, mut number) = (-1, -1);
    mpi!(L, "MPI_Group_size", odds, &mut size);
    mpi!(L, "MPI_Group_rank", evens, &mut number);
    assert_eq!(size, rank.size / 2);
    assert_eq!(number, if rank.number % 2 == 0 { rank.number / 2 } else { L::UNDEFINED });
    assert_eq!(odds == L::object("GROUP_EMPTY"), rank.size == 1);
    let (ranks, mut translated) = ([0 as c_int, L::PROC_NULL], [-7; 2]);
    mpi!(L, "MPI_Group_translate_ranks", evens, 2, &ranks, odds, &mut translated);
    assert_eq!(translated, [L::UNDEFINED, L::PROC_NULL]);
    // All call the one, members only the other.
    let mut made = comm::<L>(|to| mpi!(L, "MPI_Comm_create", L::world(), evens, to));
    assert_eq!(made == L::object("COMM_NULL"), rank.number % 2 == 1);
    if rank.number % 2 == 0 {
        let mut again = comm::<L>(|to| mpi!(L, "MPI_Comm_create_group", L::world(), evens, 3, to));
        rank.hop();
        let (mut alike, members) = (-1, (rank.size + 1) / 2);
        mpi!(L, "MPI_Comm_compare", made, again, &mut alike);
        assert_eq!((alike, sum::<L>(again, 1)), (L::IDENT + 1, members));
        mpi!(L, "MPI_Comm_free", &mut again);
        mpi!(L, "MPI_Comm_free", &mut made);
    }
    for group in [&mut all, &mut evens, &mut odds] {
        mpi!(L, "MPI_Group_free", group);
    }
    assert_eq!(all, L::object("GROUP_NULL"));
}

/// Copies twice the value, and counts in the extra state.
unsafe extern "C" fn copied(
    _: usize,
    _: c_int,
    calls: *mut i32,
    value: usize,
    to: *mut usize,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: MPI's promise, and the rank's own number.
    unsafe {
        (*calls, *to, *flag) = (*calls + 1, 2 * value, 1);
    }
    0
}

unsafe extern "C" fn deleted(_: usize, _: c_int, value: usize, calls: *mut i32) -> c_int {
    // SAFETY: the rank's own number.
    unsafe { *calls += 100 * value as i32 };
    0
}

fn attributes<L: Library>(rank: Rank) {
    let (mut key, mut other, mut calls, mut value, mut flag) = (0, 0, 0i32, 0usize, 0);
    let (copy, delete) = (copied as *const () as usize, deleted as *const () as usize);
    mpi!(L, "MPI_Comm_create_keyval", copy, delete, &mut key, &mut calls);
    mpi!(L, "MPI_Comm_create_keyval", L::NULL_COPY(), delete, &mut other, &mut calls);
    let mut one = comm::<L>(|to| mpi!(L, "MPI_Comm_dup", L::world(), to));
    mpi!(L, "MPI_Comm_set_attr", one, key, 3usize);
    mpi!(L, "MPI_Comm_set_attr", one, other, 5usize);
    rank.hop();
    let mut twin = comm::<L>(|to| mpi!(L, "MPI_Comm_dup", one, to));
    mpi!(L, "MPI_Comm_get_attr", twin, key, &mut value, &mut flag);
    assert_eq!((value, flag, calls), (6, 1, 1));
    mpi!(L, "MPI_Comm_get_attr", twin, other, &mut value, &mut flag);
    assert_eq!(flag, 0);
    mpi!(L, "MPI_Comm_delete_attr", one, other);
    assert_eq!(calls, 501);
    mpi!(L, "MPI_Comm_free", &mut twin);
    mpi!(L, "MPI_Comm_free", &mut one);
    assert_eq!(calls, 1_401);
    mpi!(L, "MPI_Comm_free_keyval", &mut key);
    mpi!(L, "MPI_Comm_free_keyval", &mut other);
    assert_ne!(code_of!(L, "MPI_Comm_set_attr", L::world(), key, 1usize), 0);
    let mut largest: *const c_int = std::ptr::null();
    mpi!(L, "MPI_Comm_get_attr", L::world(), L::TAG_UB, &mut largest, &mut flag);
    // SAFETY: MPI gives the address of an int.
    assert_eq!((flag, unsafe { *largest }), (1, c_int::MAX));
}

/// Two halves of the world, which know each other by their first members.
fn between<L: Library>(rank: Rank) {
    if rank.size < 2 {
        return;
    }
    let side = c_int::from(rank.number >= rank.size / 2);
    let mut half = comm::<L>(|to| mpi!(L, "MPI_Comm_split", L::world(), side, 0, to));
    let leader = if side == 0 { rank.size / 2 } else { 0 };
    let mut both = comm::<L>(|to| mpi!(L, "MPI_Intercomm_create", half, 0, L::world(), leader, 9, to));
    let (mut flag, mut remote) = (0, 0);
    mpi!(L, "MPI_Comm_test_inter", both, &mut flag);
    mpi!(L, "MPI_Comm_remote_size", both, &mut remote);
    let (_, local) = rank_and_size::<L>(both);
    assert_eq!((flag, remote), (1, rank.size - local));
    rank.hop();
    // Each side gets the sum of the other.
    let theirs: i32 = (0..rank.size).filter(|other| c_int::from(*other >= rank.size / 2) != side).sum();
    assert_eq!(sum::<L>(both, rank.number), theirs);
    let mut value = if rank.number == 0 { 42 } else { 0 };
    let root = match (side, rank.number) {
        (0, 0) => L::ROOT,
        (0, _) => L::PROC_NULL,
        _ => 0,
    };
    mpi!(L, "MPI_Bcast", &mut value, 1, L::int(), root, both);
    assert_eq!(value, if side == 1 || rank.number == 0 { 42 } else { 0 });
    let mut twin = comm::<L>(|to| mpi!(L, "MPI_Comm_dup", both, to));
    assert_eq!(sum::<L>(twin, 1), remote);
    let mut merged = comm::<L>(|to| mpi!(L, "MPI_Intercomm_merge", twin, 1 - side, to));
    let (number, size) = rank_and_size::<L>(merged);
    let expected =
        if side == 1 { rank.number - rank.size / 2 } else { rank.number + rank.size - rank.size / 2 };
    assert_eq!((number, size), (expected, rank.size));
    for communicator in [&mut half, &mut both, &mut twin, &mut merged] {
        mpi!(L, "MPI_Comm_free", communicator);
    }
}
