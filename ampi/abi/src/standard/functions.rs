//! Functions that MPI-5.0 has added.

use std::ffi::c_int;

use talisman_ampi::objects::{Info, Kind};
use talisman_ampi::process::Process;

use super::Standard;
use crate::abi::{Abi, NULL};
use crate::common::call::{done_anywhere, put};
use crate::common::info::make;
use crate::common::partitioned;

/// `MPI_Abi_get_version`.
unsafe extern "C" fn abi_get_version(version: *mut c_int, subversion: *mut c_int) -> c_int {
    // SAFETY: places for results are the program's.
    let outcome = unsafe { put(version, 1).and_then(|()| put(subversion, 0)) };
    done_anywhere::<Standard>("MPI_Abi_get_version", outcome)
}

/// `MPI_Abi_get_info`: how many bytes types of the interface have.
unsafe extern "C" fn abi_get_info(to: *mut usize) -> c_int {
    let sizes = |_: &mut Process| {
        let mut sizes = Info::default();
        for name in ["mpi_aint_size", "mpi_count_size", "mpi_offset_size"] {
            sizes.set(name.as_bytes(), b"8");
        }
        Ok(sizes)
    };
    // SAFETY: the place is the program's.
    let outcome = unsafe { make::<Standard>(to, sizes) };
    done_anywhere::<Standard>("MPI_Abi_get_info", outcome)
}

/// Handles as integers: predefined ones are small, so that all fit.
macro_rules! integers {
    ($($kind:ident $to:ident $to_name:literal $from:ident $from_name:literal;)*) => {
        $(
            extern "C" fn $to(handle: usize) -> c_int {
                c_int::try_from(handle).unwrap_or_else(|_| Standard::handle(Kind::$kind, NULL) as c_int)
            }

            extern "C" fn $from(number: c_int) -> usize {
                usize::try_from(number).unwrap_or_else(|_| Standard::handle(Kind::$kind, NULL))
            }
        )*

        /// Names and addresses.
        pub fn functions() -> Vec<(&'static str, usize)> {
            vec![
                ("MPI_Abi_get_version", abi_get_version as *const () as usize),
                ("MPI_Abi_get_info", abi_get_info as *const () as usize),
                // Counts have 64 bits without that, too; some headers have these.
                ("MPI_Psend_init_c", partitioned::psend_init::<Standard> as *const () as usize),
                ("MPI_Precv_init_c", partitioned::precv_init::<Standard> as *const () as usize),
                $(
                    ($to_name, $to as *const () as usize),
                    ($from_name, $from as *const () as usize),
                )*
            ]
        }
    };
}

integers! {
    Comm comm_toint "MPI_Comm_toint" comm_fromint "MPI_Comm_fromint";
    Group group_toint "MPI_Group_toint" group_fromint "MPI_Group_fromint";
    Datatype type_toint "MPI_Type_toint" type_fromint "MPI_Type_fromint";
    Request request_toint "MPI_Request_toint" request_fromint "MPI_Request_fromint";
    Op op_toint "MPI_Op_toint" op_fromint "MPI_Op_fromint";
    Info info_toint "MPI_Info_toint" info_fromint "MPI_Info_fromint";
    Errhandler errhandler_toint "MPI_Errhandler_toint" errhandler_fromint "MPI_Errhandler_fromint";
    Message message_toint "MPI_Message_toint" message_fromint "MPI_Message_fromint";
    Session session_toint "MPI_Session_toint" session_fromint "MPI_Session_fromint";
    Win win_toint "MPI_Win_toint" win_fromint "MPI_Win_fromint";
    File file_toint "MPI_File_toint" file_fromint "MPI_File_fromint";
}
