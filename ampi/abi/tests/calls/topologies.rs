//! Grids, graphs, and collectives of neighbours.

use std::ffi::c_int;

use crate::Rank;
use crate::communicators::rank_and_size;
use crate::library::{Library, mpi};

pub fn check<L: Library>(rank: Rank) {
    grids::<L>(rank);
    neighbors::<L>(rank);
    graphs::<L>(rank);
}

fn grids<L: Library>(rank: Rank) {
    let mut lengths = [0 as c_int, 0];
    mpi!(L, "MPI_Dims_create", 12, 2, &mut lengths);
    assert_eq!(lengths, [4, 3]);
    // Two rows if there are enough.
    let rows = if rank.size >= 4 { 2 } else { 1 };
    let (lengths, periods) = ([rows, rank.size / rows], [0 as c_int, 1]);
    let mut grid = L::object("COMM_NULL");
    mpi!(L, "MPI_Cart_create", L::world(), 2, &lengths, &periods, 0, &mut grid);
    if grid == L::object("COMM_NULL") {
        return;
    }
    let (number, _) = rank_and_size::<L>(grid);
    let (mut place, mut back, mut kind, mut dimensions) = ([-1; 2], -1, -1, -1);
    mpi!(L, "MPI_Cart_coords", grid, number, 2, &mut place);
    assert_eq!(place, [number / lengths[1], number % lengths[1]]);
    rank.hop();
    mpi!(L, "MPI_Cart_rank", grid, &[place[0], place[1] + lengths[1]], &mut back);
    mpi!(L, "MPI_Topo_test", grid, &mut kind);
    mpi!(L, "MPI_Cartdim_get", grid, &mut dimensions);
    assert_eq!((back, kind, dimensions), (number, L::TOPOLOGIES[1], 2));
    let (mut from, mut to) = (-7, -7);
    mpi!(L, "MPI_Cart_shift", grid, 0, 1, &mut from, &mut to);
    let beyond = place[0] + 1 == rows;
    assert_eq!(to, if beyond { L::PROC_NULL } else { number + lengths[1] });
    assert_eq!(from, if place[0] == 0 { L::PROC_NULL } else { number - lengths[1] });
    let (mut given, mut around, mut own) = ([0; 2], [0; 2], [0; 2]);
    mpi!(L, "MPI_Cart_get", grid, 2, &mut given, &mut around, &mut own);
    assert_eq!((given, around, own), (lengths, periods, place));
    let mut row = L::object("COMM_NULL");
    mpi!(L, "MPI_Cart_sub", grid, &[0 as c_int, 1], &mut row);
    assert_eq!(rank_and_size::<L>(row), (place[1], lengths[1]));
    mpi!(L, "MPI_Comm_free", &mut row);
    mpi!(L, "MPI_Comm_free", &mut grid);
}

/// A ring, of which each tells its own edges.
fn neighbors<L: Library>(rank: Rank) {
    let (mut ring, me) = (L::object("COMM_NULL"), rank.number);
    let (sources, destinations) = ([rank.before()], [rank.after()]);
    mpi!(
        L,
        "MPI_Dist_graph_create_adjacent",
        L::world(),
        1,
        &sources,
        L::UNWEIGHTED(),
        1,
        &destinations,
        L::UNWEIGHTED(),
        L::object("INFO_NULL"),
        0,
        &mut ring
    );
    let (mut ins, mut outs, mut weighted) = (0, 0, 7);
    mpi!(L, "MPI_Dist_graph_neighbors_count", ring, &mut ins, &mut outs, &mut weighted);
    assert_eq!((ins, outs, weighted), (1, 1, 0));
    let (mine, mut theirs) = ([me, 10 * me], [-1; 2]);
    mpi!(L, "MPI_Neighbor_alltoall", &mine, 2, L::int(), &mut theirs, 2, L::int(), ring);
    assert_eq!(theirs, [rank.before(), 10 * rank.before()]);
    let mut request = L::no_request();
    mpi!(L, "MPI_Ineighbor_allgather", &me, 1, L::int(), &mut theirs, 1, L::int(), ring, &mut request);
    rank.hop();
    mpi!(L, "MPI_Wait", &mut request, L::IGNORE);
    assert_eq!(theirs[0], rank.before());
    mpi!(L, "MPI_Comm_free", &mut ring);
    // Rank 0 tells all edges: the same ring the other way round, with weights.
    let (froms, tos): (Vec<c_int>, Vec<c_int>) =
        (0..rank.size).map(|from| (from, (from + rank.size - 1) % rank.size)).unzip();
    let (ones, weights) = (vec![1 as c_int; froms.len()], (0..rank.size).collect::<Vec<c_int>>());
    let n = if me == 0 { rank.size } else { 0 };
    mpi!(
        L,
        "MPI_Dist_graph_create",
        L::world(),
        n,
        froms.as_ptr(),
        ones.as_ptr(),
        tos.as_ptr(),
        weights.as_ptr(),
        L::object("INFO_NULL"),
        0,
        &mut ring
    );
    let (mut from, mut from_weight, mut to, mut to_weight) = (-1, -1, -1, -1);
    mpi!(L, "MPI_Dist_graph_neighbors", ring, 1, &mut from, &mut from_weight, 1, &mut to, &mut to_weight);
    assert_eq!((from, from_weight, to, to_weight), (rank.after(), rank.after(), rank.before(), me));
    mpi!(L, "MPI_Comm_free", &mut ring);
}

/// A star around rank 0.
fn graphs<L: Library>(rank: Rank) {
    let (size, mut star) = (rank.size, L::object("COMM_NULL"));
    let index: Vec<c_int> = (0..size).map(|member| size - 1 + member).collect();
    let edges: Vec<c_int> = (1..size).chain((1..size).map(|_| 0)).collect();
    mpi!(L, "MPI_Graph_create", L::world(), size, index.as_ptr(), edges.as_ptr(), 0, &mut star);
    let (mut members, mut all, mut mine) = (0, 0, 0);
    mpi!(L, "MPI_Graphdims_get", star, &mut members, &mut all);
    mpi!(L, "MPI_Graph_neighbors_count", star, rank.number, &mut mine);
    assert_eq!((members, all), (size, 2 * (size - 1)));
    assert_eq!(mine, if rank.number == 0 { size - 1 } else { 1 });
    let mut theirs = vec![-1; size as usize];
    mpi!(L, "MPI_Neighbor_allgather", &rank.number, 1, L::int(), theirs.as_mut_ptr(), 1, L::int(), star);
    let expected: Vec<i32> = if rank.number == 0 { (1..size).collect() } else { vec![0] };
    assert_eq!(theirs[..mine as usize], expected[..]);
    mpi!(L, "MPI_Comm_free", &mut star);
}
