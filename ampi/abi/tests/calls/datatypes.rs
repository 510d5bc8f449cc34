//! Datatypes: made, told of, packed.

use std::ffi::c_int;

use crate::Rank;
use crate::library::{Library, code_of, count, mpi};

pub fn check<L: Library>(rank: Rank) {
    columns::<L>(rank);
    structures::<L>(rank);
    arrays::<L>(rank);
    told::<L>(rank);
    told_largely::<L>(rank);
    packed::<L>(rank);
    freed_while_under_way::<L>(rank);
}

fn made<L: Library>(make: impl FnOnce(&mut L::Handle)) -> L::Handle {
    let mut datatype = L::object("DATATYPE_NULL");
    make(&mut datatype);
    mpi!(L, "MPI_Type_commit", &mut datatype);
    datatype
}

fn size_and_extent<L: Library>(datatype: L::Handle) -> (c_int, i64, i64) {
    let (mut size, mut lower, mut extent) = (-1, -1, -1);
    mpi!(L, "MPI_Type_size", datatype, &mut size);
    mpi!(L, "MPI_Type_get_extent", datatype, &mut lower, &mut extent);
    (size, lower, extent)
}

/// A column of a matrix of four rows goes to a row.
fn columns<L: Library>(rank: Rank) {
    let matrix: Vec<f64> = (0..12).map(|cell| f64::from(cell + 100 * rank.number)).collect();
    let mut column = made::<L>(|to| mpi!(L, "MPI_Type_vector", 4, 1, 3, L::double(), to));
    assert_eq!(size_and_extent::<L>(column), (32, 0, 80));
    let (mut row, mut status) = ([0.0; 4], [0; 8]);
    mpi!(
        L,
        "MPI_Sendrecv",
        &matrix[1],
        1,
        column,
        rank.after(),
        1,
        &mut row,
        4,
        L::double(),
        rank.before(),
        1,
        L::world(),
        &mut status
    );
    assert_eq!(row, [1.0, 4.0, 7.0, 10.0].map(|cell| cell + 100.0 * f64::from(rank.before())));
    rank.hop();
    assert_eq!((count::<L>(&status, column), count::<L>(&status, L::double())), (1, 4));
    let mut elements = -1;
    mpi!(L, "MPI_Get_elements", &status, column, &mut elements);
    assert_eq!(elements, 4);
    mpi!(L, "MPI_Type_free", &mut column);
}

/// Values at addresses: the buffer begins at address 0.
fn structures<L: Library>(rank: Rank) {
    let (mut number, mut values, mut places) = (rank.number, [f64::from(rank.number); 2], [0i64; 2]);
    mpi!(L, "MPI_Get_address", &number, &mut places[0]);
    mpi!(L, "MPI_Get_address", &values, &mut places[1]);
    let types = [L::int(), L::double()];
    let mut both = made::<L>(|to| {
        mpi!(L, "MPI_Type_create_struct", 2, &[1 as c_int, 2], &places, &types, to);
    });
    mpi!(
        L,
        "MPI_Sendrecv_replace",
        0usize,
        1,
        both,
        rank.after(),
        1,
        rank.before(),
        1,
        L::world(),
        L::IGNORE
    );
    assert_eq!((std::hint::black_box(number), values), (rank.before(), [f64::from(rank.before()); 2]));
    (number, values) = (rank.number, [1.5; 2]);
    rank.hop();
    mpi!(L, "MPI_Bcast", 0usize, 1, both, 0, L::world());
    assert_eq!((std::hint::black_box(number), std::hint::black_box(values)), (0, [1.5; 2]));
    mpi!(L, "MPI_Type_free", &mut both);
    let mut narrow = made::<L>(|to| mpi!(L, "MPI_Type_create_resized", L::int(), -4i64, 12i64, to));
    assert_eq!(size_and_extent::<L>(narrow), (4, -4, 12));
    let (mine, mut theirs) = ([1, 0, 0, 2, 0, 0], [0; 2]);
    mpi!(
        L,
        "MPI_Sendrecv",
        &mine,
        2,
        narrow,
        rank.after(),
        1,
        &mut theirs,
        2,
        L::int(),
        rank.before(),
        1,
        L::world(),
        L::IGNORE
    );
    assert_eq!(theirs, [1, 2]);
    mpi!(L, "MPI_Type_free", &mut narrow);
}

/// The middle of an array of 4 by 4.
fn arrays<L: Library>(rank: Rank) {
    let mut middle = made::<L>(|to| {
        let [wholes, parts, starts] = [[4 as c_int; 2], [2; 2], [1; 2]];
        mpi!(L, "MPI_Type_create_subarray", 2, &wholes, &parts, &starts, L::ORDER_C, L::int(), to);
    });
    assert_eq!(size_and_extent::<L>(middle), (16, 0, 64));
    let cells: [c_int; 16] = std::array::from_fn(|cell| cell as c_int + rank.number);
    let mut theirs = [-1; 16];
    mpi!(
        L,
        "MPI_Sendrecv",
        &cells,
        1,
        middle,
        rank.after(),
        1,
        &mut theirs,
        1,
        middle,
        rank.before(),
        1,
        L::world(),
        L::IGNORE
    );
    let expected: [c_int; 16] =
        std::array::from_fn(
            |cell| {
                if [5, 6, 9, 10].contains(&cell) { cell as c_int + rank.before() } else { -1 }
            },
        );
    assert_eq!(theirs, expected);
    mpi!(L, "MPI_Type_free", &mut middle);
}

fn told<L: Library>(rank: Rank) {
    let [named, vector, structure] = L::COMBINERS;
    let envelope = |datatype: L::Handle| {
        let (mut integers, mut addresses, mut datatypes, mut combiner) = (-1, -1, -1, -1);
        mpi!(
            L,
            "MPI_Type_get_envelope",
            datatype,
            &mut integers,
            &mut addresses,
            &mut datatypes,
            &mut combiner
        );
        (integers, addresses, datatypes, combiner)
    };
    assert_eq!(envelope(L::double()), (0, 0, 0, named));
    let mut inner = made::<L>(|to| mpi!(L, "MPI_Type_vector", 2, 1, 3, L::double(), to));
    let mut outer = made::<L>(|to| {
        mpi!(L, "MPI_Type_create_struct", 2, &[1 as c_int, 4], &[0i64, 64], &[inner, L::int()], to);
    });
    mpi!(L, "MPI_Type_free", &mut inner);
    rank.hop();
    assert_eq!(envelope(outer), (3, 2, 2, structure));
    let (mut integers, mut addresses, mut datatypes) = ([0 as c_int; 3], [0i64; 2], [L::int(); 2]);
    mpi!(L, "MPI_Type_get_contents", outer, 3, 2, 2, &mut integers, &mut addresses, &mut datatypes);
    assert_eq!((integers, addresses, datatypes[1]), ([2, 1, 4], [0, 64], L::int()));
    mpi!(L, "MPI_Type_free", &mut outer);
    assert_eq!(envelope(datatypes[0]), (3, 0, 1, vector));
    mpi!(L, "MPI_Type_free", &mut datatypes[0]);
    let (mut name, mut len) = ([0u8; 128], 0);
    mpi!(L, "MPI_Type_get_name", L::double(), name.as_mut_ptr(), &mut len);
    assert_eq!(&name[..len as usize], b"MPI_DOUBLE");
}

fn packed<L: Library>(rank: Rank) {
    let (mut bytes, mut position, mut room) = ([0u8; 64], 0, 0);
    mpi!(L, "MPI_Pack_size", 2, L::double(), L::world(), &mut room);
    assert_eq!(room, 16);
    mpi!(L, "MPI_Pack", &rank.number, 1, L::int(), &mut bytes, 64, &mut position, L::world());
    mpi!(L, "MPI_Pack", &[1.5, 2.5], 2, L::double(), &mut bytes, 64, &mut position, L::world());
    assert_eq!(position, 20);
    let mut theirs = [0u8; 64];
    mpi!(
        L,
        "MPI_Sendrecv",
        &bytes,
        position,
        L::object("PACKED"),
        rank.after(),
        1,
        &mut theirs,
        64,
        L::object("PACKED"),
        rank.before(),
        1,
        L::world(),
        L::IGNORE
    );
    let (mut number, mut values) = (0, [0.0; 2]);
    position = 0;
    mpi!(L, "MPI_Unpack", &theirs, 20, &mut position, &mut number, 1, L::int(), L::world());
    mpi!(L, "MPI_Unpack", &theirs, 20, &mut position, &mut values, 2, L::double(), L::world());
    assert_eq!((number, values, position), (rank.before(), [1.5, 2.5], 20));
    let (mut end, mut back) = (0i64, 0);
    mpi!(
        L,
        "MPI_Pack_external",
        c"external32".as_ptr(),
        &0x0102_0304,
        1,
        L::int(),
        &mut bytes,
        64i64,
        &mut end
    );
    assert_eq!((end, &bytes[..4]), (4, &[1u8, 2, 3, 4][..]));
    end = 0;
    mpi!(L, "MPI_Unpack_external", c"external32".as_ptr(), &bytes, 64i64, &mut end, &mut back, 1, L::int());
    assert_eq!((end, back, &bytes[..4]), (4, 0x0102_0304, &[1u8, 2, 3, 4][..]));
    longs::<L>();
}

/// In external32 a `long` has four bytes.
fn longs<L: Library>() {
    let (name, mut bytes, mut end, mut back) = (c"external32".as_ptr(), [0xeeu8; 16], 0i64, [0i64; 2]);
    mpi!(L, "MPI_Pack_external_size", name, 2, L::object("LONG"), &mut end);
    assert_eq!(end, 8);
    end = 0;
    mpi!(L, "MPI_Pack_external", name, &[1i64, -2], 2, L::object("LONG"), &mut bytes, 8i64, &mut end);
    assert_eq!((end, bytes[..9].as_ref()), (8, &[0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe, 0xee][..]));
    end = 0;
    mpi!(L, "MPI_Unpack_external", name, &bytes, 8i64, &mut end, &mut back, 2, L::object("LONG"));
    assert_eq!((end, back), (8, [1, -2]));
}

/// How datatypes were made, by functions with counts of 64 bits.
fn told_largely<L: Library>(rank: Rank) {
    let [named, vector, structure] = L::COMBINERS;
    let envelope = |datatype: L::Handle| {
        let (mut sizes, mut combiner) = ([-1i64; 4], -1);
        let [integers, addresses, counts, datatypes] = &mut sizes;
        mpi!(L, "MPI_Type_get_envelope_c", datatype, integers, addresses, counts, datatypes, &mut combiner);
        (sizes, combiner)
    };
    let (mut integers, mut addresses, mut counts, mut datatypes) =
        ([-1 as c_int; 8], [-1i64; 4], [-1i64; 8], [L::int(); 2]);
    assert_eq!(envelope(L::double()), ([0; 4], named));
    let mut small = made::<L>(|to| mpi!(L, "MPI_Type_vector", 2, 1, 3, L::double(), to));
    assert_eq!(envelope(small), ([3, 0, 0, 1], vector));
    mpi!(
        L,
        "MPI_Type_get_contents_c",
        small,
        8i64,
        4i64,
        8i64,
        2i64,
        &mut integers,
        &mut addresses,
        &mut counts,
        &mut datatypes
    );
    assert_eq!((&integers[..4], counts[0], datatypes[0]), (&[2, 1, 3, -1][..], -1, L::double()));
    let mut large = made::<L>(|to| {
        mpi!(L, "MPI_Type_create_struct_c", 2i64, &[1i64, 4], &[0i64, 64], &[small, L::int()], to);
    });
    rank.hop();
    assert_eq!(envelope(large), ([0, 0, 5, 2], structure));
    mpi!(
        L,
        "MPI_Type_get_contents_c",
        large,
        0i64,
        0i64,
        5i64,
        2i64,
        &mut integers,
        &mut addresses,
        &mut counts,
        &mut datatypes
    );
    assert_eq!((&counts[..6], datatypes[1]), (&[2, 1, 4, 0, 64, -1][..], L::int()));
    mpi!(L, "MPI_Type_free", &mut datatypes[0]);
    let [ints, longs, types, by] = &mut [0 as c_int; 4];
    let code = code_of!(L, "MPI_Type_get_envelope", large, ints, longs, types, by);
    assert_ne!(code, 0, "counts may not fit");
    let starts = (&[6i64, 8], &[2i64, 3], &[1i64, 2]);
    let mut part = made::<L>(|to| {
        mpi!(L, "MPI_Type_create_subarray_c", 2, starts.0, starts.1, starts.2, L::ORDER_C, L::int(), to);
    });
    let (sizes, _) = envelope(part);
    assert_eq!(sizes, [2, 0, 6, 1]);
    mpi!(
        L,
        "MPI_Type_get_contents_c",
        part,
        2i64,
        0i64,
        6i64,
        1i64,
        &mut integers,
        &mut addresses,
        &mut counts,
        &mut datatypes
    );
    assert_eq!((&integers[..2], &counts[..6]), (&[2, L::ORDER_C][..], &[6, 8, 2, 3, 1, 2][..]));
    for datatype in [&mut small, &mut large, &mut part] {
        mpi!(L, "MPI_Type_free", datatype);
    }
    let mut pair = L::int();
    mpi!(L, "MPI_Type_get_value_index", L::double(), L::int(), &mut pair);
    assert_eq!(pair, L::object("DOUBLE_INT"));
    mpi!(L, "MPI_Type_get_value_index", L::int(), L::double(), &mut pair);
    assert_eq!(pair, L::object("DATATYPE_NULL"));
}

/// A datatype is freed at once; the messages that have it still know it.
fn freed_while_under_way<L: Library>(rank: Rank) {
    let (cells, mut theirs, mut requests) = ([rank.number; 2_000], vec![-1; 4_000], [L::no_request(); 2]);
    let mut every_other = made::<L>(|to| mpi!(L, "MPI_Type_vector", 2_000, 1, 2, L::int(), to));
    mpi!(L, "MPI_Irecv", theirs.as_mut_ptr(), 1, every_other, rank.before(), 1, L::world(), &mut requests[0]);
    mpi!(L, "MPI_Type_free", &mut every_other);
    mpi!(L, "MPI_Barrier", L::world());
    mpi!(L, "MPI_Isend", &cells, 2_000, L::int(), rank.after(), 1, L::world(), &mut requests[1]);
    rank.hop();
    mpi!(L, "MPI_Waitall", 2, &mut requests, L::IGNORE);
    assert!(theirs.chunks(2).all(|pair| pair == [rank.before(), -1]));
}
