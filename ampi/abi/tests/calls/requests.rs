//! Requests: waiting, testing, taking back, starting again.

use std::ffi::c_int;

use crate::Rank;
use crate::library::{Library, Status, code_of, count, mpi, source, tag};

pub fn check<L: Library>(rank: Rank) {
    several::<L>(rank);
    one_by_one::<L>(rank);
    given_up::<L>(rank);
    persistent::<L>(rank);
    own::<L>(rank);
    looked_at::<L>(rank);
}

/// Statuses of requests that stay.
fn looked_at<L: Library>(rank: Rank) {
    let (mut values, mut requests) = ([[-1; 2]; 2], [L::no_request(); 3]);
    let (mut index, mut flag, mut status, mut statuses) = (7, -1, [0 as c_int; 8], [0 as c_int; 3 * 8]);
    let (mut n, mut indices) = (-1, [-1; 3]);
    mpi!(L, "MPI_Request_get_status_any", 3, &requests, &mut index, &mut flag, &mut status);
    assert_eq!((index, flag, count::<L>(&status, L::int())), (L::UNDEFINED, 1, 0), "nothing is waited for");
    mpi!(L, "MPI_Request_get_status_some", 3, &requests, &mut n, &mut indices, L::IGNORE);
    assert_eq!(n, L::UNDEFINED);
    for (at, value) in values.iter_mut().enumerate() {
        let to = &mut requests[1 + at];
        mpi!(L, "MPI_Irecv", value, 2, L::int(), rank.before(), 90 + at as c_int, L::world(), to);
    }
    mpi!(L, "MPI_Request_get_status_any", 3, &requests, &mut index, &mut flag, &mut status);
    assert_eq!((index, flag), (L::UNDEFINED, 0));
    mpi!(L, "MPI_Request_get_status_some", 3, &requests, &mut n, &mut indices, L::IGNORE);
    assert_eq!(n, 0);
    mpi!(L, "MPI_Barrier", L::world());
    mpi!(L, "MPI_Send", &[5, 6], 2, L::int(), rank.after(), 91, L::world());
    flag = 0;
    while flag == 0 {
        mpi!(L, "MPI_Request_get_status_any", 3, &requests, &mut index, &mut flag, &mut status);
    }
    assert_eq!((index, tag::<L>(&status), count::<L>(&status, L::int())), (2, 91, 2));
    mpi!(L, "MPI_Request_get_status_all", 3, &requests, &mut flag, &mut statuses);
    assert_eq!(flag, 0);
    mpi!(L, "MPI_Request_get_status_some", 3, &requests, &mut n, &mut indices, &mut statuses);
    assert_eq!((n, indices[0], statuses[L::STATUS[1]]), (1, 2, 91));
    mpi!(L, "MPI_Barrier", L::world());
    mpi!(L, "MPI_Send", &[7], 1, L::int(), rank.after(), 90, L::world());
    rank.hop();
    flag = 0;
    while flag == 0 {
        mpi!(L, "MPI_Request_get_status_all", 3, &requests, &mut flag, &mut statuses);
    }
    let tags = [0, 1, 2].map(|at| statuses[at * L::INTS + L::STATUS[1]]);
    assert_eq!(tags, [L::ANY_TAG, 90, 91]);
    assert!(requests[1..].iter().all(|request| *request != L::no_request()), "they stay");
    mpi!(L, "MPI_Waitall", 3, &mut requests, L::IGNORE);
    assert_eq!((requests, values), ([L::no_request(); 3], [[7, -1], [5, 6]]));
    // Too long a message is an error of its request.
    mpi!(L, "MPI_Irecv", &mut values[0], 1, L::int(), rank.before(), 92, L::world(), &mut requests[0]);
    mpi!(
        L,
        "MPI_Sendrecv",
        &[8, 9],
        2,
        L::int(),
        rank.after(),
        92,
        &mut n,
        0,
        L::int(),
        L::PROC_NULL,
        0,
        L::world(),
        L::IGNORE
    );
    flag = 0;
    let mut code = 0;
    while flag == 0 {
        code = code_of!(L, "MPI_Request_get_status_all", 1, &requests, &mut flag, &mut statuses);
    }
    assert_eq!((code, statuses[L::STATUS[2]]), (L::ERRORS[2], L::ERRORS[0]));
    assert_eq!(code_of!(L, "MPI_Wait", &mut requests[0], L::IGNORE), L::ERRORS[0]);
}

/// Receives with tags 0 to 3 from the one before, and sends to the one after.
fn begin<L: Library>(rank: Rank, values: &mut [[i32; 2]; 4], mine: &[i32; 4]) -> [L::Handle; 8] {
    let mut requests = [L::no_request(); 8];
    for (at, value) in values.iter_mut().enumerate() {
        let (tag, to) = (at as c_int, &mut requests[at]);
        mpi!(L, "MPI_Irecv", value, 2, L::int(), rank.before(), tag, L::world(), to);
    }
    for at in 0..4 {
        let to = &mut requests[4 + at];
        mpi!(L, "MPI_Isend", &mine[at], 1, L::int(), rank.after(), at as c_int, L::world(), to);
    }
    requests
}

fn several<L: Library>(rank: Rank) {
    let (mut values, mine, mut statuses) = ([[-1; 2]; 4], [10, 11, 12, 13], [0 as c_int; 8 * 8]);
    let mut requests = begin::<L>(rank, &mut values, &mine);
    rank.hop();
    mpi!(L, "MPI_Waitall", 8, &mut requests, &mut statuses);
    assert_eq!(requests, [L::no_request(); 8]);
    assert_eq!(values, [[10, -1], [11, -1], [12, -1], [13, -1]]);
    let third: Status = std::array::from_fn(|at| statuses[2 * L::INTS + at]);
    assert_eq!((source::<L>(&third), tag::<L>(&third), count::<L>(&third, L::int())), (rank.before(), 2, 1));
    let mut requests = begin::<L>(rank, &mut values, &mine);
    let mut flag = 0;
    while flag == 0 {
        mpi!(L, "MPI_Testall", 8, &mut requests, &mut flag, L::IGNORE);
    }
    assert_eq!(requests, [L::no_request(); 8]);
    truncated::<L>(rank);
}

fn truncated<L: Library>(rank: Rank) {
    let (mut requests, mut statuses, mut value) = ([L::no_request(); 2], [0 as c_int; 16], 0);
    mpi!(L, "MPI_Irecv", &mut value, 1, L::int(), rank.before(), 3, L::world(), &mut requests[0]);
    mpi!(L, "MPI_Isend", &[4, 5], 2, L::int(), rank.after(), 3, L::world(), &mut requests[1]);
    let code = code_of!(L, "MPI_Waitall", 2, &mut requests, &mut statuses);
    assert_eq!((code, statuses[L::STATUS[2]], value), (L::ERRORS[2], L::ERRORS[0], 4));
}

fn one_by_one<L: Library>(rank: Rank) {
    let (mut values, mine) = ([[-1; 2]; 4], [20, 21, 22, 23]);
    let mut requests = begin::<L>(rank, &mut values, &mine);
    let (mut index, mut status, mut seen): (c_int, Status, u32) = (0, [0; 8], 0);
    for _ in 0..4 {
        mpi!(L, "MPI_Waitany", 8, &mut requests, &mut index, &mut status);
        seen |= 1 << index;
        assert_eq!(requests[index as usize], L::no_request());
    }
    rank.hop();
    let (mut n, mut indices) = (0, [0; 8]);
    while seen != 255 {
        mpi!(L, "MPI_Waitsome", 8, &mut requests, &mut n, &mut indices, L::IGNORE);
        assert!(n > 0);
        indices[..n as usize].iter().for_each(|index| seen |= 1 << index);
    }
    mpi!(L, "MPI_Waitany", 8, &mut requests, &mut index, &mut status);
    assert_eq!(index, L::UNDEFINED);
    let mut flag = 0;
    mpi!(L, "MPI_Testany", 8, &mut requests, &mut index, &mut flag, L::IGNORE);
    assert_eq!((index, flag), (L::UNDEFINED, 1));
    mpi!(L, "MPI_Testsome", 8, &mut requests, &mut n, &mut indices, L::IGNORE);
    assert_eq!((n, values[3][0]), (L::UNDEFINED, 23));
}

fn given_up<L: Library>(rank: Rank) {
    let (mut request, mut value, mut status, mut flag): (_, _, Status, _) = (L::no_request(), 0, [0; 8], 5);
    mpi!(L, "MPI_Irecv", &mut value, 1, L::int(), rank.before(), 77, L::world(), &mut request);
    mpi!(L, "MPI_Test", &mut request, &mut flag, &mut status);
    assert_eq!(flag, 0);
    assert_ne!(request, L::no_request());
    mpi!(L, "MPI_Cancel", &mut request);
    rank.hop();
    mpi!(L, "MPI_Wait", &mut request, &mut status);
    mpi!(L, "MPI_Test_cancelled", &status, &mut flag);
    assert_eq!((flag, request), (1, L::no_request()));
    mpi!(L, "MPI_Isend", &3, 1, L::int(), rank.after(), 78, L::world(), &mut request);
    mpi!(L, "MPI_Request_free", &mut request);
    assert_eq!(request, L::no_request());
    mpi!(L, "MPI_Recv", &mut value, 1, L::int(), rank.before(), 78, L::world(), L::IGNORE);
    assert_eq!(value, 3);
    mpi!(L, "MPI_Wait", &mut request, &mut status);
    mpi!(L, "MPI_Test", &mut request, &mut flag, L::IGNORE);
    assert_eq!((flag, count::<L>(&status, L::int())), (1, 0));
}

fn persistent<L: Library>(rank: Rank) {
    let (mut mine, mut theirs, mut requests) = (vec![0; 3_000], vec![0; 3_000], [L::no_request(); 3]);
    mpi!(
        L,
        "MPI_Recv_init",
        theirs.as_mut_ptr(),
        3_000,
        L::int(),
        L::ANY_SOURCE,
        6,
        L::world(),
        &mut requests[0]
    );
    mpi!(L, "MPI_Send_init", mine.as_ptr(), 3_000, L::int(), rank.after(), 6, L::world(), &mut requests[1]);
    mpi!(L, "MPI_Send_init", mine.as_ptr(), 3_000, L::int(), L::PROC_NULL, 6, L::world(), &mut requests[2]);
    let kept = requests;
    for round in 0..3 {
        mine.fill(100 * round + rank.number);
        mpi!(L, "MPI_Startall", 3, &mut requests);
        rank.hop();
        mpi!(L, "MPI_Waitall", 3, &mut requests, L::IGNORE);
        assert_eq!((requests, theirs[2_999]), (kept, 100 * round + rank.before()));
        // The next message must not come before all have looked at this one.
        mpi!(L, "MPI_Barrier", L::world());
    }
    for request in &mut requests {
        mpi!(L, "MPI_Request_free", request);
    }
}

fn own<L: Library>(rank: Rank) {
    unsafe extern "C" fn query<L: Library>(extra: *mut i32, status: *mut Status) -> c_int {
        mpi!(L, "MPI_Status_set_elements", status, L::int(), 3);
        mpi!(L, "MPI_Status_set_cancelled", status, 0);
        // SAFETY: the rank's own number.
        unsafe { *extra += 1 };
        0
    }
    unsafe extern "C" fn free(extra: *mut i32) -> c_int {
        // SAFETY: as above.
        unsafe { *extra += 10 };
        0
    }
    unsafe extern "C" fn cancel(_: *mut i32, _: c_int) -> c_int {
        0
    }
    let (mut request, mut status, mut flag, mut calls): (_, Status, _, _) =
        (L::no_request(), [0; 8], 0, 0i32);
    mpi!(
        L,
        "MPI_Grequest_start",
        query::<L> as *const () as usize,
        free as *const () as usize,
        cancel as *const () as usize,
        &mut calls,
        &mut request
    );
    mpi!(L, "MPI_Test", &mut request, &mut flag, &mut status);
    assert_eq!(flag, 0);
    mpi!(L, "MPI_Grequest_complete", request);
    rank.hop();
    mpi!(L, "MPI_Wait", &mut request, &mut status);
    assert_eq!((count::<L>(&status, L::int()), calls), (3, 11));
}
