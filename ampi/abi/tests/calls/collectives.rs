//! Collectives: blocking, nonblocking, persistent.

use std::ffi::c_int;

use crate::Rank;
use crate::library::{Library, mpi};

pub fn check<L: Library>(rank: Rank) {
    moving::<L>(rank);
    uneven::<L>(rank);
    to_each::<L>(rank);
    combining::<L>(rank);
    own_operation::<L>(rank);
    at_once::<L>(rank);
    again::<L>(rank);
}

fn sum_of(size: i32) -> i32 {
    size * (size - 1) / 2
}

fn moving<L: Library>(rank: Rank) {
    let (size, me) = (rank.size as usize, rank.number);
    for root in 0..rank.size {
        let mut value = if me == root { [3.5, 4.5] } else { [0.0; 2] };
        mpi!(L, "MPI_Bcast", &mut value, 2, L::double(), root, L::world());
        assert_eq!(value, [3.5, 4.5]);
        let (mut all, mut part) = (vec![-1; size], -1);
        mpi!(L, "MPI_Gather", &me, 1, L::int(), all.as_mut_ptr(), 1, L::int(), root, L::world());
        rank.hop();
        let expected: Vec<i32> = if me == root { (0..rank.size).collect() } else { vec![-1; size] };
        assert_eq!(all, expected);
        mpi!(L, "MPI_Scatter", all.as_ptr(), 1, L::int(), &mut part, 1, L::int(), root, L::world());
        assert_eq!(part, me);
        // The root's own block stays where it is.
        if me == root {
            all.fill(-1);
            all[me as usize] = me;
            mpi!(
                L,
                "MPI_Gather",
                L::IN_PLACE,
                0,
                L::object("DATATYPE_NULL"),
                all.as_mut_ptr(),
                1,
                L::int(),
                root,
                L::world()
            );
            assert_eq!(all, (0..rank.size).collect::<Vec<_>>());
        } else {
            mpi!(L, "MPI_Gather", &me, 1, L::int(), 0usize, 0, L::object("DATATYPE_NULL"), root, L::world());
        }
    }
    let mut all = vec![-1; size];
    all[me as usize] = me;
    mpi!(
        L,
        "MPI_Allgather",
        L::IN_PLACE,
        0,
        L::object("DATATYPE_NULL"),
        all.as_mut_ptr(),
        1,
        L::int(),
        L::world()
    );
    assert_eq!(all, (0..rank.size).collect::<Vec<_>>());
    mpi!(L, "MPI_Barrier", L::world());
}

/// Rank r gives r + 1 values, and gaps of one are between the blocks.
fn uneven<L: Library>(rank: Rank) {
    let (size, me) = (rank.size as usize, rank.number);
    let counts: Vec<c_int> = (1..=rank.size).collect();
    let displacements: Vec<c_int> = (0..rank.size).map(|r| r * (r + 1) / 2 + r).collect();
    let room = (rank.size * (rank.size + 1) / 2 + rank.size) as usize;
    let mut expected = vec![-1; room];
    for r in 0..size {
        let at = displacements[r] as usize;
        expected[at..=at + r].fill(r as i32);
    }
    let (mine, mut all) = (vec![me; me as usize + 1], vec![-1; room]);
    mpi!(
        L,
        "MPI_Allgatherv",
        mine.as_ptr(),
        me + 1,
        L::int(),
        all.as_mut_ptr(),
        counts.as_ptr(),
        displacements.as_ptr(),
        L::int(),
        L::world()
    );
    assert_eq!(all, expected);
    let (mut gathered, root) = (vec![-1; room], rank.size - 1);
    mpi!(
        L,
        "MPI_Gatherv",
        mine.as_ptr(),
        me + 1,
        L::int(),
        gathered.as_mut_ptr(),
        counts.as_ptr(),
        displacements.as_ptr(),
        L::int(),
        root,
        L::world()
    );
    rank.hop();
    assert!(me != root || gathered == expected);
    let mut part = vec![-1; me as usize + 1];
    mpi!(
        L,
        "MPI_Scatterv",
        gathered.as_ptr(),
        counts.as_ptr(),
        displacements.as_ptr(),
        L::int(),
        part.as_mut_ptr(),
        me + 1,
        L::int(),
        root,
        L::world()
    );
    assert_eq!(part, mine);
}

fn to_each<L: Library>(rank: Rank) {
    let (size, me) = (rank.size, rank.number);
    let mine: Vec<i32> = (0..size).map(|to| 100 * me + to).collect();
    let expected: Vec<i32> = (0..size).map(|from| 100 * from + me).collect();
    let mut theirs = vec![0; size as usize];
    mpi!(L, "MPI_Alltoall", mine.as_ptr(), 1, L::int(), theirs.as_mut_ptr(), 1, L::int(), L::world());
    assert_eq!(theirs, expected);
    let mut both = mine.clone();
    mpi!(
        L,
        "MPI_Alltoall",
        L::IN_PLACE,
        0,
        L::object("DATATYPE_NULL"),
        both.as_mut_ptr(),
        1,
        L::int(),
        L::world()
    );
    assert_eq!(both, expected);
    let (ones, places): (Vec<c_int>, Vec<c_int>) = (vec![1; size as usize], (0..size).rev().collect());
    theirs.fill(0);
    mpi!(
        L,
        "MPI_Alltoallv",
        mine.as_ptr(),
        ones.as_ptr(),
        places.as_ptr(),
        L::int(),
        theirs.as_mut_ptr(),
        ones.as_ptr(),
        places.as_ptr(),
        L::int(),
        L::world()
    );
    // Blocks were taken from behind and put from behind.
    let expected: Vec<i32> = (0..size).rev().map(|from| 100 * from + (size - 1 - me)).collect();
    assert_eq!(theirs, expected);
    let (bytes, types): (Vec<c_int>, Vec<L::Handle>) =
        (places.iter().map(|place| 4 * place).collect(), vec![L::int(); size as usize]);
    theirs.fill(0);
    mpi!(
        L,
        "MPI_Alltoallw",
        mine.as_ptr(),
        ones.as_ptr(),
        bytes.as_ptr(),
        types.as_ptr(),
        theirs.as_mut_ptr(),
        ones.as_ptr(),
        bytes.as_ptr(),
        types.as_ptr(),
        L::world()
    );
    assert_eq!(theirs, expected);
}

fn combining<L: Library>(rank: Rank) {
    let (size, me, sum) = (rank.size, rank.number, L::object("SUM"));
    let (mut total, mut both) = (-1, [f64::from(me), 1.0]);
    mpi!(L, "MPI_Reduce", &me, &mut total, 1, L::int(), sum, 0, L::world());
    assert_eq!(total, if me == 0 { sum_of(size) } else { -1 });
    mpi!(L, "MPI_Allreduce", L::IN_PLACE, &mut both, 2, L::double(), sum, L::world());
    assert_eq!(both, [f64::from(sum_of(size)), f64::from(size)]);
    rank.hop();
    let (mut up_to, mut before) = (0, 77);
    mpi!(L, "MPI_Scan", &me, &mut up_to, 1, L::int(), sum, L::world());
    mpi!(L, "MPI_Exscan", &me, &mut before, 1, L::int(), sum, L::world());
    assert_eq!((up_to, before), (sum_of(me + 1), if me == 0 { 77 } else { sum_of(me) }));
    let (parts, mut part): (Vec<i32>, _) = ((0..size).map(|to| me + to).collect(), 0);
    mpi!(L, "MPI_Reduce_scatter_block", parts.as_ptr(), &mut part, 1, L::int(), L::object("MAX"), L::world());
    assert_eq!(part, size - 1 + me);
    let counts = vec![1 as c_int; size as usize];
    mpi!(L, "MPI_Reduce_scatter", parts.as_ptr(), &mut part, counts.as_ptr(), L::int(), sum, L::world());
    assert_eq!(part, sum_of(size) + size * me);
    // The largest value and the lowest rank that has it.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Pair(f64, c_int);
    let (mine, mut largest) = (Pair(f64::from(me / 2), me), Pair(0.0, 0));
    mpi!(
        L,
        "MPI_Allreduce",
        &mine,
        &mut largest,
        1,
        L::object("DOUBLE_INT"),
        L::object("MAXLOC"),
        L::world()
    );
    let value = (size - 1) / 2;
    assert_eq!(largest, Pair(f64::from(value), 2 * value));
    let (mut right, bits) = (0b1010, L::object("BOR"));
    mpi!(L, "MPI_Reduce_local", &0b0101, &mut right, 1, L::int(), bits);
    assert_eq!(right, 0b1111);
}

/// x -> a x + b, one after the other: the order counts.
unsafe extern "C" fn then(left: *const [i64; 2], right: *mut [i64; 2], count: *mut c_int, _: usize) {
    // SAFETY: MPI gives so many pairs.
    unsafe {
        for at in 0..*count as usize {
            let ([a, b], [c, d]) = (*left.add(at), *right.add(at));
            *right.add(at) = [a.wrapping_mul(c), c.wrapping_mul(b).wrapping_add(d)];
        }
    }
}

fn own_operation<L: Library>(rank: Rank) {
    let step = |rank: i32| [2 + i64::from(rank), 3 * i64::from(rank) + 1];
    let join = |[a, b]: [i64; 2], [c, d]: [i64; 2]| [a * c, c * b + d];
    let expected = (1..rank.size).fold(step(0), |line, rank| join(line, step(rank)));
    let (mut op, mut pair, mut result) = (L::object("OP_NULL"), L::object("DATATYPE_NULL"), [[0; 2]; 3]);
    mpi!(L, "MPI_Type_contiguous", 16, L::object("BYTE"), &mut pair);
    mpi!(L, "MPI_Type_commit", &mut pair);
    mpi!(L, "MPI_Op_create", then as *const () as usize, 0, &mut op);
    let mine = [step(rank.number); 3];
    mpi!(L, "MPI_Allreduce", &mine, &mut result, 3, pair, op, L::world());
    assert_eq!(result, [expected; 3]);
    rank.hop();
    // Long enough for the algorithms that cut the vector in parts.
    let (many, mut results) = (vec![step(rank.number); 4_000], vec![[0; 2]; 4_000]);
    mpi!(L, "MPI_Reduce", many.as_ptr(), results.as_mut_ptr(), 4_000, pair, op, rank.size - 1, L::world());
    assert!(rank.number < rank.size - 1 || results == vec![expected; 4_000]);
    let mut commutes = 7;
    mpi!(L, "MPI_Op_commutative", op, &mut commutes);
    assert_eq!(commutes, 0);
    mpi!(L, "MPI_Op_free", &mut op);
    mpi!(L, "MPI_Type_free", &mut pair);
    assert_eq!((op, pair), (L::object("OP_NULL"), L::object("DATATYPE_NULL")));
}

fn at_once<L: Library>(rank: Rank) {
    let (me, mut requests) = (rank.number, [L::no_request(); 4]);
    let (mut sum, mut all, mut value) = (0, vec![0; rank.size as usize], if me == 0 { 4 } else { 0 });
    mpi!(L, "MPI_Iallreduce", &me, &mut sum, 1, L::int(), L::object("SUM"), L::world(), &mut requests[0]);
    mpi!(L, "MPI_Iallgather", &me, 1, L::int(), all.as_mut_ptr(), 1, L::int(), L::world(), &mut requests[1]);
    mpi!(L, "MPI_Ibcast", &mut value, 1, L::int(), 0, L::world(), &mut requests[2]);
    mpi!(L, "MPI_Ibarrier", L::world(), &mut requests[3]);
    rank.hop();
    mpi!(L, "MPI_Waitall", 4, &mut requests, L::IGNORE);
    assert_eq!((sum, value, requests), (sum_of(rank.size), 4, [L::no_request(); 4]));
    assert_eq!(all, (0..rank.size).collect::<Vec<_>>());
}

fn again<L: Library>(rank: Rank) {
    let (mut request, mut mine, mut sum) = (L::no_request(), 0, 0);
    mpi!(
        L,
        "MPI_Allreduce_init",
        &mut mine,
        &mut sum,
        1,
        L::int(),
        L::object("SUM"),
        L::world(),
        L::object("INFO_NULL"),
        &mut request
    );
    for round in 1..4 {
        mine = rank.number * round;
        mpi!(L, "MPI_Start", &mut request);
        rank.hop();
        mpi!(L, "MPI_Wait", &mut request, L::IGNORE);
        assert_eq!(sum, sum_of(rank.size) * round);
    }
    mpi!(L, "MPI_Request_free", &mut request);
    // Counts of 64 bits.
    mpi!(L, "MPI_Allreduce_c", &rank.number, &mut sum, 1i64, L::int(), L::object("SUM"), L::world());
    assert_eq!((sum, mine), (sum_of(rank.size), 3 * rank.number));
}
