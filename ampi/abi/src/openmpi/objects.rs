//! The data symbols of libmpi.so.40.

use talisman_ampi::datatype::NAMED;
use talisman_ampi::objects::Kind;

use super::datatypes::DATATYPES;
use crate::abi::NULL;
use crate::common::message::NO_PROC;
use crate::data::{Content, Data};

const fn object(name: &'static str, kind: Kind, number: u32, of_bytes: usize) -> Data {
    Data { name, content: Content::Object(kind, number), of_bytes }
}

const fn cell(name: &'static str, of_bytes: usize) -> Data {
    Data { name, content: Content::Zeroes, of_bytes }
}

/// All but datatypes. Those that are looked for most come first.
const OTHERS: &[Data] = &[
    object("ompi_request_null", Kind::Request, NULL, 256),
    object("ompi_mpi_comm_world", Kind::Comm, 0, 512),
    object("ompi_mpi_comm_self", Kind::Comm, 1, 512),
    object("ompi_mpi_comm_null", Kind::Comm, NULL, 512),
    object("ompi_mpi_group_empty", Kind::Group, 0, 256),
    object("ompi_mpi_group_null", Kind::Group, NULL, 256),
    object("ompi_message_null", Kind::Message, NULL, 256),
    object("ompi_message_no_proc", Kind::Message, NO_PROC, 256),
    object("ompi_mpi_op_max", Kind::Op, 0, 2048),
    object("ompi_mpi_op_min", Kind::Op, 1, 2048),
    object("ompi_mpi_op_sum", Kind::Op, 2, 2048),
    object("ompi_mpi_op_prod", Kind::Op, 3, 2048),
    object("ompi_mpi_op_land", Kind::Op, 4, 2048),
    object("ompi_mpi_op_lor", Kind::Op, 5, 2048),
    object("ompi_mpi_op_lxor", Kind::Op, 6, 2048),
    object("ompi_mpi_op_band", Kind::Op, 7, 2048),
    object("ompi_mpi_op_bor", Kind::Op, 8, 2048),
    object("ompi_mpi_op_bxor", Kind::Op, 9, 2048),
    object("ompi_mpi_op_replace", Kind::Op, 10, 2048),
    object("ompi_mpi_op_no_op", Kind::Op, 11, 2048),
    object("ompi_mpi_op_maxloc", Kind::Op, 12, 2048),
    object("ompi_mpi_op_minloc", Kind::Op, 13, 2048),
    object("ompi_mpi_op_null", Kind::Op, NULL, 2048),
    object("ompi_mpi_errors_are_fatal", Kind::Errhandler, 0, 1024),
    object("ompi_mpi_errors_return", Kind::Errhandler, 1, 1024),
    object("ompi_mpi_errors_throw_exceptions", Kind::Errhandler, 2, 1024),
    object("ompi_mpi_errhandler_null", Kind::Errhandler, NULL, 1024),
    object("ompi_mpi_info_env", Kind::Info, 0, 256),
    object("ompi_mpi_info_null", Kind::Info, NULL, 256),
    object("ompi_mpi_win_null", Kind::Win, NULL, 512),
    object("ompi_mpi_file_null", Kind::File, NULL, 1536),
    object("ompi_mpi_datatype_null", Kind::Datatype, NULL, 512),
    cell("mpi_fortran_bottom_", 4),
    cell("mpi_fortran_in_place_", 4),
    cell("mpi_fortran_status_ignore_", 8),
    cell("mpi_fortran_statuses_ignore_", 8),
    cell("mpi_fortran_unweighted_", 4),
    cell("mpi_fortran_weights_empty_", 4),
    cell("mpi_fortran_errcodes_ignore_", 4),
    cell("mpi_fortran_argv_null_", 1),
    cell("mpi_fortran_argvs_null_", 1),
    Data { name: "MPI_F_STATUS_IGNORE", content: Content::PointerTo(34), of_bytes: 8 },
    Data { name: "MPI_F_STATUSES_IGNORE", content: Content::PointerTo(35), of_bytes: 8 },
    // What the library's own interface for C++ (libmpi_cxx.so.40) wants of its inside.
    cell("ompi_errcode_intern_lastused", 4),
    cell("ompi_errcodes_intern", 120),
    cell("ompi_registered_datareps", 64),
    object("ompi_mpi_c_complex", Kind::Datatype, number_of("MPI_C_COMPLEX"), 512),
    // Of Open MPI 5.
    object("ompi_mpi_instance_null", Kind::Session, NULL, 512),
    object("ompi_mpi_ldblcplex", Kind::Datatype, number_of("MPI_C_LONG_DOUBLE_COMPLEX"), 512),
];

/// The number of the first special value of Fortran in [`DATA`].
pub const FIRST_SENTINEL: u32 = 32;

/// All symbols.
pub const DATA: &[Data] = &{
    let mut all = [OTHERS[0]; OTHERS.len() + DATATYPES.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = match at < OTHERS.len() {
            true => OTHERS[at],
            false => {
                let (symbol, _, name) = DATATYPES[at - OTHERS.len()];
                object(symbol, Kind::Datatype, number_of(name), 512)
            }
        };
        at += 1;
    }
    all
};

/// The symbol of each predefined datatype.
const OF_DATATYPES: [Option<u32>; NAMED.len()] = {
    let mut all = [None; NAMED.len()];
    let mut at = 0;
    while at < DATATYPES.len() {
        all[number_of(DATATYPES[at].2) as usize] = Some((OTHERS.len() + at) as u32);
        at += 1;
    }
    all
};

/// The symbol of a predefined object, or of the null handle of a kind.
pub fn symbol_of(kind: Kind, number: u32) -> Option<u32> {
    if kind == Kind::Datatype && number != NULL {
        return OF_DATATYPES.get(number as usize).copied().flatten();
    }
    let object = Content::Object(kind, number);
    OTHERS.iter().position(|data| data.content == object).map(|at| at as u32)
}

const fn number_of(name: &str) -> u32 {
    let mut at = 0;
    while !is_same(NAMED[at].name, name) {
        at += 1;
    }
    at as u32
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while one.len() == other.len() && at < one.len() && one[at] == other[at] {
        at += 1;
    }
    one.len() == other.len() && at == one.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_values_stand_where_their_number_says() {
        let name = |symbol: u32| DATA[symbol as usize].name;
        assert_eq!(name(FIRST_SENTINEL), "mpi_fortran_bottom_");
        assert_eq!((name(34), name(35)), ("mpi_fortran_status_ignore_", "mpi_fortran_statuses_ignore_"));
    }

    #[test]
    fn each_object_has_room_in_its_cell() {
        assert!(DATA.iter().all(|data| data.of_bytes <= 2048));
    }
}
