//! Ports and names of services.

use std::ffi::{CStr, c_int};

use crate::Rank;
use crate::library::{Library, code_of, mpi};

/// Room for the name of a port under each interface.
const ROOM: usize = 1024;

pub fn check<L: Library>(rank: Rank) {
    let mut former = L::object("ERRORS_RETURN");
    mpi!(L, "MPI_Comm_get_errhandler", L::world(), &mut former);
    mpi!(L, "MPI_Comm_set_errhandler", L::world(), L::object("ERRORS_RETURN"));
    names::<L>(rank);
    clients::<L>(rank);
    nobody::<L>(rank);
    nobody_is_started::<L>(rank);
    mpi!(L, "MPI_Comm_set_errhandler", L::world(), former);
}

/// The last rank's port, told to all.
fn opened<L: Library>(rank: Rank) -> [u8; ROOM] {
    let mut port = [0u8; ROOM];
    if rank.number == rank.size - 1 {
        mpi!(L, "MPI_Open_port", L::object("INFO_NULL"), &mut port);
    }
    mpi!(L, "MPI_Bcast", &mut port, ROOM as c_int, L::object("BYTE"), rank.size - 1, L::world());
    port
}

fn text(port: &[u8; ROOM]) -> &CStr {
    CStr::from_bytes_until_nul(port).expect("it ends")
}

/// The class that a code is of.
fn class<L: Library>(code: c_int) -> c_int {
    let mut class = -1;
    mpi!(L, "MPI_Error_class", code, &mut class);
    class
}

/// Known to all when its publisher comes out of the call, and until it is taken back.
fn names<L: Library>(rank: Rank) {
    let (port, mut found, no_info) = (opened::<L>(rank), [7u8; ROOM], L::object("INFO_NULL"));
    let service = c"checks".as_ptr();
    let look_up = |found: &mut [u8; ROOM]| code_of!(L, "MPI_Lookup_name", service, no_info, found);
    let unknown = look_up(&mut found);
    assert!(unknown != 0 && found == [7; ROOM]);
    mpi!(L, "MPI_Barrier", L::world());
    if rank.number == 0 {
        mpi!(L, "MPI_Publish_name", service, no_info, port.as_ptr());
        assert_ne!(code_of!(L, "MPI_Publish_name", service, no_info, port.as_ptr()), 0, "it has one");
    }
    mpi!(L, "MPI_Barrier", L::world());
    rank.hop();
    assert_eq!(look_up(&mut found), 0);
    assert_eq!(text(&found), text(&port));
    mpi!(L, "MPI_Barrier", L::world());
    // Whoever it is that takes it back.
    if rank.number == rank.size - 1 {
        mpi!(L, "MPI_Unpublish_name", service, no_info, port.as_ptr());
        assert_ne!(code_of!(L, "MPI_Unpublish_name", service, no_info, port.as_ptr()), 0, "it is gone");
    }
    mpi!(L, "MPI_Barrier", L::world());
    assert_eq!(class::<L>(look_up(&mut found)), class::<L>(unknown));
    if rank.number == 0 {
        mpi!(L, "MPI_Close_port", port.as_ptr());
        assert_ne!(code_of!(L, "MPI_Close_port", port.as_ptr()), 0, "it is closed");
    }
    mpi!(L, "MPI_Barrier", L::world());
}

/// All but the first come to one port, one after the other; only the first accepts.
fn clients<L: Library>(rank: Rank) {
    let (port, no_info, own) = (opened::<L>(rank), L::object("INFO_NULL"), L::object("COMM_SELF"));
    let (mut between, mut n, mut sum) = (L::object("COMM_NULL"), -1, 0);
    if rank.number > 0 {
        mpi!(L, "MPI_Comm_connect", port.as_ptr(), no_info, 0, own, &mut between);
        mpi!(L, "MPI_Send", &rank.number, 1, L::int(), 0, 3, between);
        rank.hop();
        mpi!(L, "MPI_Recv", &mut n, 1, L::int(), 0, 4, between, L::IGNORE);
        assert_eq!(n, 2 * rank.number);
        mpi!(L, "MPI_Comm_disconnect", &mut between);
        assert!(between == L::object("COMM_NULL"));
        return;
    }
    for _ in 1..rank.size {
        mpi!(L, "MPI_Comm_accept", port.as_ptr(), no_info, 0, own, &mut between);
        mpi!(L, "MPI_Comm_remote_size", between, &mut n);
        assert_eq!(n, 1);
        mpi!(L, "MPI_Recv", &mut n, 1, L::int(), 0, 3, between, L::IGNORE);
        sum += n;
        n *= 2;
        rank.hop();
        mpi!(L, "MPI_Send", &n, 1, L::int(), 0, 4, between);
        mpi!(L, "MPI_Comm_disconnect", &mut between);
    }
    assert_eq!(sum, (0..rank.size).sum::<c_int>());
}

/// Each of a communicator hears what went wrong at its root; and whoever waits at a port, that it was closed.
fn nobody<L: Library>(rank: Rank) {
    let (port, no_info, own) = (opened::<L>(rank), L::object("INFO_NULL"), L::object("COMM_SELF"));
    let (mut between, wrong) = (L::object("COMM_NULL"), c"nowhere".as_ptr());
    for root in 0..rank.size {
        // At the others it means nothing.
        let port = if root == rank.number { wrong } else { std::ptr::null() };
        let code = code_of!(L, "MPI_Comm_connect", port, no_info, root, L::world(), &mut between);
        let of_close = code_of!(L, "MPI_Close_port", wrong);
        assert_eq!(class::<L>(code), class::<L>(of_close));
    }
    assert_ne!(
        code_of!(L, "MPI_Comm_accept", port.as_ptr(), no_info, rank.size, L::world(), &mut between),
        0
    );
    let mut former = L::object("ERRORS_RETURN");
    mpi!(L, "MPI_Comm_get_errhandler", own, &mut former);
    mpi!(L, "MPI_Comm_set_errhandler", own, L::object("ERRORS_RETURN"));
    let is_last = rank.number == rank.size - 1;
    if rank.number == 0 && !is_last {
        mpi!(L, "MPI_Send", &rank.number, 0, L::int(), rank.size - 1, 8, L::world());
        assert_ne!(
            code_of!(L, "MPI_Comm_accept", port.as_ptr(), no_info, 0, own, &mut between),
            0,
            "in vain"
        );
    }
    if is_last {
        if rank.number > 0 {
            // It may come before or after: both are told the same.
            mpi!(L, "MPI_Recv", std::ptr::null::<c_int>(), 0, L::int(), 0, 8, L::world(), L::IGNORE);
        }
        mpi!(L, "MPI_Close_port", port.as_ptr());
    }
    mpi!(L, "MPI_Comm_set_errhandler", own, former);
    assert!(between == L::object("COMM_NULL"));
}

/// Programs of the runtime's own start no ranks, and nobody has started these.
fn nobody_is_started<L: Library>(rank: Rank) {
    let (no_info, none) = (L::object("INFO_NULL"), L::object("COMM_NULL"));
    let (mut parent, mut children, mut codes) = (L::world(), none, [0 as c_int; 2]);
    mpi!(L, "MPI_Comm_get_parent", &mut parent);
    assert!(parent == none);
    let (program, root) = (c"anything".as_ptr(), rank.size - 1);
    let code = code_of!(
        L,
        "MPI_Comm_spawn",
        program,
        0usize,
        2,
        no_info,
        root,
        L::world(),
        &mut children,
        codes.as_mut_ptr()
    );
    assert!(code != 0 && children == none && codes == [code; 2], "{code} {codes:?}");
}
