//! One-sided communication: what ranks do with each other's memory, while all of them move.

use std::ffi::c_int;

use talisman_abi::Interface;

use crate::Rank;
use crate::library::{Library, code_of, mpi};

/// Numbers of the header.
struct Numbers {
    null: &'static str,
    exclusive: c_int,
    shared: c_int,
    no_succeed: c_int,
    base: c_int,
    unit: c_int,
    /// `MPI_ERR_RMA_SYNC`, `MPI_ERR_RMA_ATTACH`.
    errors: [c_int; 2],
}

fn numbers<L: Library>() -> Numbers {
    let null = "WIN_NULL";
    match L::INTERFACE {
        Interface::Mpich => Numbers {
            null,
            exclusive: 234,
            shared: 235,
            no_succeed: 16_384,
            base: 0x6600_0001,
            unit: 0x6600_0005,
            errors: [50, 56],
        },
        Interface::OpenMpi => {
            Numbers { null, exclusive: 1, shared: 2, no_succeed: 16, base: 7, unit: 9, errors: [47, 69] }
        }
        Interface::Standard => Numbers {
            null,
            exclusive: 301,
            shared: 302,
            no_succeed: 16_384,
            base: 601,
            unit: 602,
            errors: [50, 46],
        },
    }
}

pub fn check<L: Library>(rank: Rank) {
    fences::<L>(rank);
    locks::<L>(rank);
    groups::<L>(rank);
    errors::<L>(rank);
}

fn window_of<L: Library>(rank: Rank, memory: &mut [c_int]) -> L::Handle {
    let mut window = L::object(numbers::<L>().null);
    let (at, bytes, none) = (memory.as_mut_ptr(), size_of_val(memory) as i64, L::object("INFO_NULL"));
    mpi!(L, "MPI_Win_create", at, bytes, 4, none, L::world(), &mut window);
    rank.hop();
    window
}

fn free<L: Library>(mut window: L::Handle) {
    mpi!(L, "MPI_Win_free", &mut window);
    assert_eq!(window, L::object(numbers::<L>().null));
}

fn fences<L: Library>(rank: Rank) {
    let Numbers { no_succeed, base, unit, .. } = numbers::<L>();
    let (mut memory, mine, mut got) = ([-1; 8], [rank.number, 70 + rank.number], [0; 2]);
    let at = memory.as_ptr() as usize;
    let window = window_of::<L>(rank, &mut memory);
    let (mut place, mut flag) = (0usize, 0);
    mpi!(L, "MPI_Win_get_attr", window, base, &mut place, &mut flag);
    assert_eq!((place, flag), (at, 1));
    mpi!(L, "MPI_Win_get_attr", window, unit, &mut place, &mut flag);
    // SAFETY: the address of a number, by what MPI says.
    assert_eq!(unsafe { (place as *const c_int).read() }, 4);
    mpi!(L, "MPI_Win_fence", 0, window);
    mpi!(L, "MPI_Put", &mine, 2, L::int(), rank.after(), 3i64, 2, L::int(), window);
    rank.hop();
    mpi!(L, "MPI_Win_fence", 0, window);
    mpi!(L, "MPI_Get_c", &mut got, 2i64, L::int(), rank.after(), 3i64, 2i64, L::int(), window);
    let one = [1, 2];
    mpi!(L, "MPI_Accumulate", &one, 2, L::int(), 0, 6i64, 2, L::int(), L::object("SUM"), window);
    rank.hop();
    mpi!(L, "MPI_Win_fence", no_succeed, window);
    assert_eq!(got, mine);
    free::<L>(window);
    let sums = if rank.number == 0 { [rank.size - 1, 2 * rank.size - 1] } else { [-1; 2] };
    let before = rank.before();
    assert_eq!(memory, [-1, -1, -1, before, 70 + before, -1, sums[0], sums[1]]);
}

fn locks<L: Library>(rank: Rank) {
    let Numbers { exclusive, shared, .. } = numbers::<L>();
    let mut memory = [0; 4];
    let window = window_of::<L>(rank, &mut memory);
    for _ in 0..3 {
        let mut count = 0;
        mpi!(L, "MPI_Win_lock", exclusive, 0, 0, window);
        mpi!(L, "MPI_Get", &mut count, 1, L::int(), 0, 0i64, 1, L::int(), window);
        mpi!(L, "MPI_Win_flush", 0, window);
        rank.hop();
        count += 1;
        mpi!(L, "MPI_Put", &count, 1, L::int(), 0, 0i64, 1, L::int(), window);
        mpi!(L, "MPI_Win_unlock", 0, window);
    }
    let (one, mut before, mut request) = (rank.number + 1, -1, L::no_request());
    mpi!(L, "MPI_Win_lock_all", 0, window);
    mpi!(L, "MPI_Fetch_and_op", &one, &mut before, L::int(), rank.after(), 1i64, L::object("MAX"), window);
    rank.hop();
    mpi!(L, "MPI_Win_flush_all", window);
    assert_eq!(before, 0);
    let seen = before;
    mpi!(L, "MPI_Compare_and_swap", &one, &seen, &mut before, L::int(), rank.after(), 2i64, window);
    mpi!(L, "MPI_Win_flush_local", rank.after(), window);
    assert_eq!(before, 0);
    mpi!(L, "MPI_Rput", &one, 1, L::int(), rank.after(), 3i64, 1, L::int(), window, &mut request);
    mpi!(L, "MPI_Wait", &mut request, L::IGNORE);
    mpi!(L, "MPI_Win_unlock_all", window);
    mpi!(L, "MPI_Barrier", L::world());
    let mut total = 0;
    mpi!(L, "MPI_Win_lock", shared, 0, 0, window);
    mpi!(L, "MPI_Rget", &mut total, 1, L::int(), 0, 0i64, 1, L::int(), window, &mut request);
    rank.hop();
    mpi!(L, "MPI_Wait", &mut request, L::IGNORE);
    mpi!(L, "MPI_Win_unlock", 0, window);
    assert_eq!(total, 3 * rank.size);
    free::<L>(window);
    assert_eq!(memory[1..], [rank.before() + 1; 3]);
}

/// The window of the first rank is accessed by all others.
fn groups<L: Library>(rank: Rank) {
    let mut memory = vec![0; rank.size as usize];
    let window = window_of::<L>(rank, &mut memory);
    let [mut all, mut first, mut rest] = [L::object("GROUP_NULL"); 3];
    mpi!(L, "MPI_Win_get_group", window, &mut all);
    mpi!(L, "MPI_Group_incl", all, 1, &0, &mut first);
    mpi!(L, "MPI_Group_excl", all, 1, &0, &mut rest);
    if rank.number == 0 {
        let mut flag = 0;
        mpi!(L, "MPI_Win_post", rest, 0, window);
        rank.hop();
        while flag == 0 {
            mpi!(L, "MPI_Win_test", window, &mut flag);
        }
        let expected: Vec<c_int> = (0..rank.size).collect();
        assert_eq!(memory, expected);
    } else {
        mpi!(L, "MPI_Win_start", first, 0, window);
        rank.hop();
        let at = i64::from(rank.number);
        mpi!(L, "MPI_Put", &rank.number, 1, L::int(), 0, at, 1, L::int(), window);
        mpi!(L, "MPI_Win_complete", window);
    }
    free::<L>(window);
    for group in [&mut all, &mut first, &mut rest] {
        if *group != L::object("GROUP_EMPTY") {
            mpi!(L, "MPI_Group_free", group);
        }
    }
}

fn errors<L: Library>(rank: Rank) {
    let Numbers { null, shared, errors: [sync, attach], .. } = numbers::<L>();
    let (mut memory, value) = ([0; 2], 1);
    let window = window_of::<L>(rank, &mut memory);
    mpi!(L, "MPI_Win_set_errhandler", window, L::object("ERRORS_RETURN"));
    let put = || code_of!(L, "MPI_Put", &value, 1, L::int(), 0, 0i64, 1, L::int(), window);
    assert_eq!(put(), sync, "nothing allows it");
    assert_eq!(code_of!(L, "MPI_Win_unlock", 0, window), sync);
    assert_eq!(code_of!(L, "MPI_Win_flush", 0, window), sync);
    assert_eq!(code_of!(L, "MPI_Win_complete", window), sync);
    assert_eq!(code_of!(L, "MPI_Win_wait", window), sync);
    mpi!(L, "MPI_Win_lock", shared, 0, 0, window);
    assert_eq!(code_of!(L, "MPI_Win_lock", shared, 0, 0, window), sync, "it has it");
    assert_eq!(code_of!(L, "MPI_Win_free", &mut { window }), sync, "it is locked");
    mpi!(L, "MPI_Put", &value, 1, L::int(), L::PROC_NULL, 0i64, 1, L::int(), window);
    assert_ne!(code_of!(L, "MPI_Put", &value, 1, L::int(), rank.size, 0i64, 1, L::int(), window), 0);
    let (two, other) = (2, L::double());
    assert_ne!(code_of!(L, "MPI_Put", &value, 1, L::int(), 0, 0i64, two, L::int(), window), 0, "not as many");
    let bits = L::object("BOR");
    assert_ne!(
        code_of!(L, "MPI_Accumulate", &value, 1, other, 0, 0i64, 1, other, bits, window),
        0,
        "no bits"
    );
    mpi!(L, "MPI_Win_unlock", 0, window);
    assert_eq!(code_of!(L, "MPI_Win_attach", window, &value, 4i64), attach, "it has memory of its own");
    free::<L>(window);
    let mut dynamic = L::object(null);
    mpi!(L, "MPI_Win_create_dynamic", L::object("INFO_NULL"), L::world(), &mut dynamic);
    mpi!(L, "MPI_Win_set_errhandler", dynamic, L::object("ERRORS_RETURN"));
    mpi!(L, "MPI_Win_attach", dynamic, memory.as_mut_ptr(), 8i64);
    assert_eq!(code_of!(L, "MPI_Win_attach", dynamic, memory.as_mut_ptr(), 4i64), attach, "it is attached");
    mpi!(L, "MPI_Win_detach", dynamic, memory.as_mut_ptr());
    assert_eq!(code_of!(L, "MPI_Win_detach", dynamic, memory.as_mut_ptr()), attach, "it is detached");
    free::<L>(dynamic);
    assert_eq!(memory, [0; 2]);
}
