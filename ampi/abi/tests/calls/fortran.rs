//! Functions of Fortran: addresses of everything, special values by theirs, texts with blanks.

use std::ffi::c_int;

use talisman_abi::{Interface, symbol};

use crate::Rank;
use crate::library::{Library, mpi};

/// Calls a function; its error code is 0. All arguments are addresses, but lengths of texts behind the error code.
macro_rules! call {
    ($library:ty, $name:literal($($argument:expr),* $(; $($len:expr),*)?)) => {{
        let at = symbol(<$library as Library>::INTERFACE, $name).expect($name);
        let mut error: c_int = -1;
        // SAFETY: the function of this name has arguments of such types.
        unsafe {
            let function: unsafe extern "C" fn(
                $(crate::library::any!($argument),)* *mut c_int $($(, crate::library::any!($len))*)?
            ) = std::mem::transmute(at);
            function($($argument,)* &raw mut error $($(, $len)*)?);
        }
        assert_eq!(error, 0, $name);
    }};
}

/// Numbers of `mpif.h`.
struct Numbers {
    world: c_int,
    integer: c_int,
    double: c_int,
    sum: c_int,
    tag_ub: c_int,
    undefined: c_int,
    no_info: c_int,
}

fn numbers<L: Library>() -> Numbers {
    let undefined = -32_766;
    match L::INTERFACE {
        Interface::Mpich => Numbers {
            world: 1_140_850_688,
            integer: 1_275_069_467,
            double: 1_275_070_495,
            sum: 1_476_395_011,
            tag_ub: 1_681_915_906,
            undefined,
            no_info: 469_762_048,
        },
        Interface::OpenMpi | Interface::Standard => {
            Numbers { world: 0, integer: 7, double: 17, sum: 3, tag_ub: 0, undefined, no_info: 0 }
        }
    }
}

/// Where `MPI_BOTTOM`, `MPI_IN_PLACE` and `MPI_STATUS_IGNORE` are.
fn special<L: Library>() -> [usize; 3] {
    let at = |name| symbol(L::INTERFACE, name).unwrap();
    match L::INTERFACE {
        Interface::Mpich => [0, 4, 8].map(|offset| at("mpipriv1_") + offset),
        Interface::OpenMpi | Interface::Standard => {
            ["mpi_fortran_bottom_", "mpi_fortran_in_place_", "mpi_fortran_status_ignore_"].map(at)
        }
    }
}

pub fn check<L: Library>(rank: Rank) {
    if L::INTERFACE == Interface::Standard {
        // It is one of C only.
        return;
    }
    messages::<L>(rank);
    collectives::<L>(rank);
    objects::<L>(rank);
    attributes::<L>(rank);
    languages::<L>(rank);
    values_of_both_languages::<L>(rank);
    own_requests::<L>(rank);
    texts_of_hints::<L>(rank);
}

fn messages<L: Library>(rank: Rank) {
    let Numbers { world, integer, undefined, .. } = numbers::<L>();
    let [_, _, ignored] = special::<L>();
    let (mut number, mut size) = (-1, -1);
    call!(L, "mpi_comm_rank_"(&world, &mut number));
    call!(L, "MPI_COMM_SIZE"(&world, &mut size));
    assert_eq!((number, size), (rank.number, rank.size));
    let (mut requests, mut theirs, mine) = ([-1; 2], -1, 10 * number);
    call!(L, "mpi_irecv_"(&mut theirs, &1, &integer, &rank.before(), &3, &world, &mut requests[0]));
    call!(L, "mpi_isend__"(&mine, &1, &integer, &rank.after(), &3, &world, &mut requests[1]));
    rank.hop();
    let (mut index, mut seen, mut status) = (0, 0, [0 as c_int; 8]);
    for _ in 0..2 {
        call!(L, "mpi_waitany_"(&2, &mut requests, &mut index, &mut status));
        seen += index;
    }
    assert_eq!((seen, theirs), (3, 10 * rank.before()), "places are counted from 1");
    call!(L, "mpi_waitany_"(&2, &mut requests, &mut index, ignored));
    assert_eq!(index, undefined);
    call!(L, "mpi_bsend_"(&mine, &1, &integer, &rank.after(), &4, &world));
    call!(L, "mpi_recv_"(&mut theirs, &1, &integer, &rank.before(), &4, &world, &mut status));
    let mut count = -1;
    call!(L, "mpi_get_count_"(&status, &integer, &mut count));
    assert_eq!((count, status[L::STATUS[0]], status[L::STATUS[1]]), (1, rank.before(), 4));
}

fn collectives<L: Library>(rank: Rank) {
    let Numbers { world, integer, double, sum, .. } = numbers::<L>();
    let [bottom, in_place, _] = special::<L>();
    let mut both = [f64::from(rank.number), 1.0];
    call!(L, "mpi_allreduce_"(in_place, &mut both, &2, &double, &sum, &world));
    assert_eq!(both, [f64::from(rank.size * (rank.size - 1) / 2), f64::from(rank.size)]);
    // A datatype of an address.
    let (value, mut at, mut datatype, mut request) =
        ([if rank.number == 0 { 8 } else { 0 }; 2], 0i64, -1, -1);
    call!(L, "mpi_get_address_"(&value, &mut at));
    call!(L, "mpi_type_create_hindexed_"(&1, &2, &at, &integer, &mut datatype));
    call!(L, "mpi_type_commit_"(&mut datatype));
    call!(L, "mpi_ibcast_"(bottom, &1, &datatype, &0, &world, &mut request));
    rank.hop();
    call!(L, "mpi_wait_"(&mut request, special::<L>()[2]));
    assert_eq!(std::hint::black_box(value), [8; 2]);
    call!(L, "mpi_type_free_"(&mut datatype));
}

fn objects<L: Library>(rank: Rank) {
    let Numbers { world, no_info, .. } = numbers::<L>();
    let (mut twin, mut name, mut len) = (-1, [b'x'; 12], -1);
    call!(L, "mpi_comm_dup_"(&world, &mut twin));
    call!(L, "mpi_comm_set_name_"(&twin, b"a name      ".as_ptr(); 12usize));
    rank.hop();
    call!(L, "mpi_comm_get_name_"(&twin, name.as_mut_ptr(), &mut len; 12usize));
    assert_eq!((&name, len), (b"a name      ", 6));
    let (mut hints, mut value, mut flag) = (no_info, [b'x'; 6], 0);
    call!(L, "mpi_info_create_"(&mut hints));
    call!(L, "mpi_info_set_"(&hints, b"key  ".as_ptr(), b"val ".as_ptr(); 5usize, 4usize));
    call!(L, "mpi_info_get_"(&hints, b"key ".as_ptr(), &6, value.as_mut_ptr(), &mut flag; 4usize, 6usize));
    assert_eq!((&value, flag), (b"val   ", 1));
    call!(L, "mpi_info_free_"(&mut hints));
    assert_eq!(hints, no_info);
    call!(L, "mpi_comm_free_"(&mut twin));
    let at = symbol(L::INTERFACE, "mpi_wtime_").unwrap();
    // SAFETY: the function has this type.
    let time: extern "C" fn() -> f64 = unsafe { std::mem::transmute(at) };
    assert!(time() >= 0.0);
}

/// Copies twice the value.
unsafe extern "C" fn copied(
    _: *const c_int,
    _: *const c_int,
    _: *const i64,
    value: *const i64,
    to: *mut i64,
    flag: *mut c_int,
    error: *mut c_int,
) {
    // SAFETY: MPI's promise.
    unsafe { (*to, *flag, *error) = (2 * *value, 1, 0) };
}

fn attributes<L: Library>(rank: Rank) {
    let Numbers { world, tag_ub, .. } = numbers::<L>();
    let (mut value, mut flag, mut key, mut twin) = (0i64, 0, -1, -1);
    call!(L, "mpi_comm_get_attr_"(&world, &tag_ub, &mut value, &mut flag));
    assert_eq!((value, flag), (i64::from(c_int::MAX), 1));
    let nothing = symbol(L::INTERFACE, "mpi_comm_null_delete_fn_").unwrap();
    call!(L, "mpi_comm_create_keyval_"(copied as *const () as usize, nothing, &mut key, &0i64));
    let mut one = -1;
    call!(L, "mpi_comm_dup_"(&world, &mut one));
    call!(L, "mpi_comm_set_attr_"(&one, &key, &7i64));
    rank.hop();
    call!(L, "mpi_comm_dup_"(&one, &mut twin));
    call!(L, "mpi_comm_get_attr_"(&twin, &key, &mut value, &mut flag));
    assert_eq!((value, flag), (14, 1));
    call!(L, "mpi_comm_free_"(&mut twin));
    call!(L, "mpi_comm_free_"(&mut one));
    call!(L, "mpi_comm_free_keyval_"(&mut key));
}

/// Notes the rank's number in the communicator that it is given, which is a handle of C.
unsafe extern "C" fn noted<L: Library>(
    communicator: L::Handle,
    _: c_int,
    note: *mut c_int,
    _: usize,
    _: *mut usize,
    flag: *mut c_int,
) -> c_int {
    mpi!(L, "MPI_Comm_rank", communicator, note);
    // SAFETY: MPI's promise.
    unsafe { *flag = 0 };
    0
}

/// A key of C is asked in C's way, also if Fortran duplicates the communicator.
fn languages<L: Library>(rank: Rank) {
    let (mut key, mut note, mut one, mut twin) = (0, -1, -1, -1);
    let copy = noted::<L> as *const () as usize;
    mpi!(L, "MPI_Comm_create_keyval", copy, 0usize, &mut key, &mut note);
    call!(L, "mpi_comm_dup_"(&numbers::<L>().world, &mut one));
    call!(L, "mpi_comm_set_attr_"(&one, &key, &7i64));
    rank.hop();
    call!(L, "mpi_comm_dup_"(&one, &mut twin));
    assert_eq!(note, rank.number);
    call!(L, "mpi_comm_free_"(&mut twin));
    call!(L, "mpi_comm_free_"(&mut one));
}

/// Of an integer of Fortran C gets the address, of an address Fortran the integer.
fn values_of_both_languages<L: Library>(rank: Rank) {
    let Numbers { world, .. } = numbers::<L>();
    let (mut key, mut note, mut flag, mut one, mut twin) = (0, -1, 0, -1, -1);
    let (mut seen, mut place): (i64, *const i64) = (0, std::ptr::null());
    let always = symbol(L::INTERFACE, "mpi_comm_dup_fn_").unwrap();
    let nothing = symbol(L::INTERFACE, "mpi_comm_null_delete_fn_").unwrap();
    call!(L, "mpi_comm_create_keyval_"(always, nothing, &mut key, &0i64));
    call!(L, "mpi_comm_set_attr_"(&world, &key, &-5i64));
    for value in [-5, 6] {
        mpi!(L, "MPI_Comm_get_attr", L::world(), key, &mut place, &mut flag);
        rank.hop();
        // SAFETY: where MPI has the integer.
        assert_eq!((flag, unsafe { *place }), (1, value));
        call!(L, "mpi_comm_get_attr_"(&world, &key, &mut seen, &mut flag));
        assert_eq!(seen, value);
        call!(L, "mpi_comm_set_attr_"(&world, &key, &6i64));
    }
    mpi!(L, "MPI_Comm_set_attr", L::world(), key, &raw mut note);
    call!(L, "mpi_comm_get_attr_"(&world, &key, &mut seen, &mut flag));
    assert_eq!((seen, flag), (&raw mut note as i64, 1));
    call!(L, "mpi_comm_delete_attr_"(&world, &key));
    // Duplicates have integers of their own.
    call!(L, "mpi_comm_dup_"(&world, &mut one));
    call!(L, "mpi_comm_set_attr_"(&one, &key, &7i64));
    call!(L, "mpi_comm_dup_"(&one, &mut twin));
    call!(L, "mpi_comm_set_attr_"(&one, &key, &8i64));
    call!(L, "mpi_comm_get_attr_"(&twin, &key, &mut seen, &mut flag));
    assert_eq!((seen, flag), (7, 1));
    call!(L, "mpi_comm_free_"(&mut twin));
    call!(L, "mpi_comm_free_"(&mut one));
    call!(L, "mpi_comm_free_keyval_"(&mut key));
}

/// Functions of a request of the program change the variable that it was made with.
fn own_requests<L: Library>(rank: Rank) {
    unsafe extern "C" fn query(extra: *mut i64, _: *mut c_int, error: *mut c_int) {
        // SAFETY: MPI's promise.
        unsafe { (*extra, *error) = (*extra + 1, 0) };
    }
    unsafe extern "C" fn free(extra: *mut i64, error: *mut c_int) {
        // SAFETY: as above.
        unsafe { (*extra, *error) = (*extra + 10, 0) };
    }
    unsafe extern "C" fn cancel(_: *mut i64, _: *const c_int, _: *mut c_int) {}
    let (mut request, mut extra) = (-1, 100i64);
    let [_, _, ignored] = special::<L>();
    let [query, free, cancel] =
        [query as *const () as usize, free as *const () as usize, cancel as *const () as usize];
    call!(L, "mpi_grequest_start_"(query, free, cancel, &mut extra, &mut request));
    call!(L, "mpi_grequest_complete_"(&request));
    rank.hop();
    call!(L, "mpi_wait_"(&mut request, ignored));
    assert_eq!(std::hint::black_box(extra), 111);
}

/// Lengths have no zero at the end.
fn texts_of_hints<L: Library>(rank: Rank) {
    let (mut hints, mut room, mut value, mut flag) = (-1, 0, [b'x'; 6], 0);
    call!(L, "mpi_info_create_env_"(&mut hints));
    call!(L, "mpi_info_set_"(&hints, b"key  ".as_ptr(), b"val ".as_ptr(); 5usize, 4usize));
    rank.hop();
    call!(L, "mpi_info_get_string_"(&hints, b"key".as_ptr(), &mut room, value.as_mut_ptr(), &mut flag; 3usize, 6usize));
    assert_eq!((flag, room, &value), (1, 3, b"xxxxxx"), "its length alone");
    room = 2;
    call!(L, "mpi_info_get_string_"(&hints, b"key".as_ptr(), &mut room, value.as_mut_ptr(), &mut flag; 3usize, 6usize));
    assert_eq!((flag, room, &value), (1, 3, b"va    "));
    call!(L, "mpi_info_get_string_"(&hints, b"none".as_ptr(), &mut room, value.as_mut_ptr(), &mut flag; 4usize, 6usize));
    assert_eq!((flag, &value), (0, b"va    "));
    call!(L, "mpi_info_free_"(&mut hints));
}
