//! Functions of MPI that are not here: calling one ends the job, with its name. A program may have them without calling
//! them.

use crate::common::call::fatal;

/// Makes a function for each name, so that each knows its own. Before names stands why they are not here.
macro_rules! refused {
    ($($why:literal: $($name:ident)*;)*) => {
        /// Names and addresses.
        pub fn functions() -> Vec<(&'static str, usize)> {
            $($(
                extern "C" fn $name() -> std::ffi::c_int {
                    refuse(stringify!($name), $why)
                }
            )*)*
            vec![$($((stringify!($name), $name as *const () as usize)),*),*]
        }
    };
}

fn refuse(name: &str, why: &str) -> ! {
    fatal(1, &format!("{name} is not supported: {why}"))
}

#[allow(non_snake_case)]
mod names {
    use super::refuse;

    refused! {
        "handles of this interface are numbers in both languages":
            MPI_Win_c2f MPI_Win_f2c;
        "files are written as values are in memory":
            MPI_Register_datarep MPI_Register_datarep_c;
        "ranks that fail come back by themselves, with --ft":
            MPIX_Comm_agree MPIX_Comm_failure_ack MPIX_Comm_failure_get_acked MPIX_Comm_revoke
            MPIX_Comm_shrink;
        "it is of the inside of Open MPI, for its interface for C++":
            ompi_attr_create_keyval ompi_errhandler_create ompi_errhandler_invoke ompi_op_set_cxx_callback;
        "the standard has no interface for Fortran here":
            MPI_Abi_get_fortran_booleans MPI_Abi_get_fortran_info MPI_Abi_set_fortran_booleans
            MPI_Abi_set_fortran_info;
    }
}

pub use names::functions;
