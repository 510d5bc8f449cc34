//! Handles of C and of Fortran (MPI-3.1, 17.2.4). In Open MPI they are functions.

use std::ffi::c_int;

use talisman_ampi::objects::Kind;

use super::{OpenMpi, OpenMpiFortran};
use crate::abi::{Abi, NULL};

macro_rules! conversions {
    ($($kind:ident $to_fortran:ident $to_fortran_name:literal $to_c:ident $to_c_name:literal;)*) => {
        $(
            /// The handle of Fortran.
            unsafe extern "C" fn $to_fortran(handle: usize) -> c_int {
                // SAFETY: the handle is the program's.
                let number = unsafe { OpenMpi::number(Kind::$kind, handle) };
                OpenMpiFortran::handle(Kind::$kind, number.unwrap_or(NULL))
            }

            /// The handle of C.
            unsafe extern "C" fn $to_c(handle: c_int) -> usize {
                // SAFETY: any number may be given.
                let number = unsafe { OpenMpiFortran::number(Kind::$kind, handle) };
                OpenMpi::handle(Kind::$kind, number.unwrap_or(NULL))
            }
        )*

        /// Names and addresses.
        pub fn conversions() -> Vec<(&'static str, usize)> {
            vec![$(
                ($to_fortran_name, $to_fortran as *const () as usize),
                ($to_c_name, $to_c as *const () as usize),
            )*]
        }
    };
}

conversions! {
    Comm comm_c2f "MPI_Comm_c2f" comm_f2c "MPI_Comm_f2c";
    Group group_c2f "MPI_Group_c2f" group_f2c "MPI_Group_f2c";
    Datatype type_c2f "MPI_Type_c2f" type_f2c "MPI_Type_f2c";
    Request request_c2f "MPI_Request_c2f" request_f2c "MPI_Request_f2c";
    Op op_c2f "MPI_Op_c2f" op_f2c "MPI_Op_f2c";
    Info info_c2f "MPI_Info_c2f" info_f2c "MPI_Info_f2c";
    Errhandler errhandler_c2f "MPI_Errhandler_c2f" errhandler_f2c "MPI_Errhandler_f2c";
    File file_c2f "MPI_File_c2f" file_f2c "MPI_File_f2c";
    Win win_c2f "MPI_Win_c2f" win_f2c "MPI_Win_f2c";
    Session session_c2f "MPI_Session_c2f" session_f2c "MPI_Session_f2c";
    Message message_c2f "MPI_Message_c2f" message_f2c "MPI_Message_f2c";
}
