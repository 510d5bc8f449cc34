//! Sending, receiving, probing.

use crate::Rank;
use crate::library::{Library, Status, code_of, count, mpi, source, tag};

pub fn check<L: Library>(rank: Rank) {
    ring::<L>(rank);
    exchanges::<L>(rank);
    probes::<L>(rank);
    nobody::<L>(rank);
    errors::<L>(rank);
}

fn ring<L: Library>(rank: Rank) {
    let (mine, mut theirs, mut status) = ([rank.number, 7], [0; 3], [0; 8]);
    mpi!(L, "MPI_Bsend", &mine, 2, L::int(), rank.after(), 5, L::world());
    rank.hop();
    mpi!(L, "MPI_Recv", &mut theirs, 3, L::int(), L::ANY_SOURCE, L::ANY_TAG, L::world(), &mut status);
    assert_eq!(theirs, [rank.before(), 7, 0]);
    assert_eq!(
        (source::<L>(&status), tag::<L>(&status), count::<L>(&status, L::int())),
        (rank.before(), 5, 2)
    );
    assert_eq!(count::<L>(&status, L::double()), 1);
    // Announced, as it is long: by turns, so that nobody waits for ever.
    let (long, mut come) = (vec![f64::from(rank.number); 4_000], vec![0.0; 4_000]);
    let send = || mpi!(L, "MPI_Ssend", long.as_ptr(), 4_000, L::double(), rank.after(), 6, L::world());
    let mut receive = || {
        mpi!(L, "MPI_Recv", come.as_mut_ptr(), 4_000, L::double(), rank.before(), 6, L::world(), L::IGNORE);
    };
    if rank.size > 1 && rank.number == 0 {
        receive();
        send();
    } else if rank.size > 1 {
        send();
        receive();
    }
    assert!(rank.size == 1 || come[3_999] == f64::from(rank.before()));
}

fn exchanges<L: Library>(rank: Rank) {
    let (mine, mut theirs, mut status) = (rank.number, -1, [0; 8]);
    mpi!(
        L,
        "MPI_Sendrecv",
        &mine,
        1,
        L::int(),
        rank.after(),
        1,
        &mut theirs,
        1,
        L::int(),
        rank.before(),
        1,
        L::world(),
        &mut status
    );
    assert_eq!((theirs, source::<L>(&status)), (rank.before(), rank.before()));
    let mut both = vec![rank.number; 5_000];
    mpi!(
        L,
        "MPI_Sendrecv_replace",
        both.as_mut_ptr(),
        5_000,
        L::int(),
        rank.after(),
        2,
        rank.before(),
        2,
        L::world(),
        L::IGNORE
    );
    assert_eq!(both, vec![rank.before(); 5_000]);
    exchanged_later::<L>(rank);
}

/// Long values too: none of them is the one that comes in its place.
fn exchanged_later<L: Library>(rank: Rank) {
    for count in [1, 5_000, 50_000] {
        let (own, mut got) = (vec![rank.number; count], vec![-1; count]);
        let mut both = own.clone();
        let mut requests = [L::int(); 2];
        let place = requests.as_mut_ptr();
        let (count, int, after, before) = (count as i32, L::int(), rank.after(), rank.before());
        mpi!(
            L,
            "MPI_Isendrecv",
            own.as_ptr(),
            count,
            int,
            after,
            3,
            got.as_mut_ptr(),
            count,
            int,
            before,
            3,
            L::world(),
            place
        );
        let (at, second) = (both.as_mut_ptr(), place.wrapping_add(1));
        mpi!(L, "MPI_Isendrecv_replace", at, count, int, before, 4, after, 4, L::world(), second);
        mpi!(L, "MPI_Waitall", 2, place, L::IGNORE);
        assert!(got.iter().all(|value| *value == before), "{count}: {:?}", got.first());
        assert!(both.iter().all(|value| *value == after), "{count}: {:?}", both.first());
    }
}

fn probes<L: Library>(rank: Rank) {
    for (n, tag) in [(3, 9), (2, 10)] {
        mpi!(L, "MPI_Bsend", &[tag; 3], n, L::int(), rank.after(), tag, L::world());
    }
    let (mut status, mut flag, mut theirs): (Status, _, _) = ([0; 8], 0, [0; 3]);
    mpi!(L, "MPI_Probe", rank.before(), 10, L::world(), &mut status);
    assert_eq!(count::<L>(&status, L::int()), 2);
    mpi!(L, "MPI_Iprobe", L::ANY_SOURCE, 9, L::world(), &mut flag, L::IGNORE);
    assert_eq!(flag, 1, "the first came before the second");
    let mut message = L::object("MESSAGE_NULL");
    mpi!(L, "MPI_Mprobe", rank.before(), L::ANY_TAG, L::world(), &mut message, &mut status);
    assert_eq!((tag::<L>(&status), count::<L>(&status, L::int())), (9, 3));
    rank.hop();
    mpi!(L, "MPI_Recv", &mut theirs, 3, L::int(), rank.before(), L::ANY_TAG, L::world(), &mut status);
    assert_eq!((tag::<L>(&status), theirs), (10, [10, 10, 0]));
    mpi!(L, "MPI_Mrecv", &mut theirs, 3, L::int(), &mut message, L::IGNORE);
    assert_eq!((message, theirs), (L::object("MESSAGE_NULL"), [9; 3]));
    mpi!(L, "MPI_Barrier", L::world());
    mpi!(L, "MPI_Improbe", L::ANY_SOURCE, 9, L::world(), &mut flag, &mut message, L::IGNORE);
    assert_eq!(flag, 0);
    mpi!(L, "MPI_Barrier", L::world());
}

fn nobody<L: Library>(rank: Rank) {
    let (mut value, mut status): (i32, Status) = (5, [0; 8]);
    mpi!(L, "MPI_Send", &value, 1, L::int(), L::PROC_NULL, 1, L::world());
    mpi!(L, "MPI_Recv", &mut value, 1, L::int(), L::PROC_NULL, 1, L::world(), &mut status);
    assert_eq!((value, source::<L>(&status), tag::<L>(&status)), (5, L::PROC_NULL, L::ANY_TAG));
    let mut request = L::no_request();
    mpi!(L, "MPI_Irecv", &mut value, 1, L::int(), L::PROC_NULL, 1, L::world(), &mut request);
    rank.hop();
    mpi!(L, "MPI_Wait", &mut request, &mut status);
    assert_eq!(
        (request, source::<L>(&status), count::<L>(&status, L::int())),
        (L::no_request(), L::PROC_NULL, 0)
    );
    let mut message = L::object("MESSAGE_NULL");
    mpi!(L, "MPI_Mprobe", L::PROC_NULL, 1, L::world(), &mut message, L::IGNORE);
    assert_eq!(message, L::object("MESSAGE_NO_PROC"));
    mpi!(L, "MPI_Mrecv", &mut value, 1, L::int(), &mut message, &mut status);
    assert_eq!(source::<L>(&status), L::PROC_NULL);
}

fn errors<L: Library>(rank: Rank) {
    let [truncate, no_rank, _] = L::ERRORS;
    mpi!(L, "MPI_Comm_set_errhandler", L::world(), L::object("ERRORS_RETURN"));
    assert_eq!(code_of!(L, "MPI_Send", &1, 1, L::int(), rank.size, 1, L::world()), no_rank);
    mpi!(L, "MPI_Bsend", &[1, 2, 3], 3, L::int(), rank.after(), 1, L::world());
    let mut value = [0; 2];
    let code = code_of!(L, "MPI_Recv", &mut value, 2, L::int(), rank.before(), 1, L::world(), L::IGNORE);
    assert_eq!((code, value), (truncate, [1, 2]));
    let (mut class, mut text, mut len) = (0, [0u8; 512], 0);
    mpi!(L, "MPI_Error_class", code, &mut class);
    assert_eq!(class, truncate);
    mpi!(L, "MPI_Error_string", code, text.as_mut_ptr(), &mut len);
    assert!(text.starts_with(b"MPI_ERR_TRUNCATE") && text[len as usize] == 0);
}
