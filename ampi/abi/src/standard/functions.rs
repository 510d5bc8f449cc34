//! Functions that MPI-4.1 and MPI-5.0 have added.

use std::ffi::c_int;

use talisman_ampi::objects::Kind;

use super::Standard;
use crate::abi::{Abi, NULL, Told};
use crate::common::call::{done_anywhere, put};

/// `MPI_Abi_get_version`.
unsafe extern "C" fn abi_get_version(version: *mut c_int, subversion: *mut c_int) -> c_int {
    // SAFETY: places for results are the program's.
    let outcome = unsafe { put(version, 1).and_then(|()| put(subversion, 0)) };
    done_anywhere::<Standard>("MPI_Abi_get_version", outcome)
}

macro_rules! fields {
    ($($get:ident $set:ident $field:ident;)*) => {$(
        unsafe extern "C" fn $get(status: usize, value: *mut c_int) -> c_int {
            // SAFETY: both are the program's.
            let outcome = unsafe { put(value, Standard::read_status(status).$field) };
            done_anywhere::<Standard>("MPI_Status_get", outcome)
        }

        unsafe extern "C" fn $set(status: usize, value: c_int) -> c_int {
            // SAFETY: the status is the program's.
            unsafe {
                let told = Standard::read_status(status);
                Standard::write_status(status, Told { $field: value, ..told });
            }
            0
        }
    )*};
}

fields! {
    status_get_source status_set_source source;
    status_get_tag status_set_tag tag;
}

unsafe extern "C" fn status_get_error(status: usize, value: *mut c_int) -> c_int {
    // SAFETY: both are the program's.
    let outcome = unsafe { put(value, Standard::error_of(status).read_unaligned()) };
    done_anywhere::<Standard>("MPI_Status_get_error", outcome)
}

unsafe extern "C" fn status_set_error(status: usize, value: c_int) -> c_int {
    // SAFETY: the status is the program's.
    unsafe { Standard::error_of(status).write_unaligned(value) };
    0
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
                ("MPI_Status_get_source", status_get_source as *const () as usize),
                ("MPI_Status_get_tag", status_get_tag as *const () as usize),
                ("MPI_Status_get_error", status_get_error as *const () as usize),
                ("MPI_Status_set_source", status_set_source as *const () as usize),
                ("MPI_Status_set_tag", status_set_tag as *const () as usize),
                ("MPI_Status_set_error", status_set_error as *const () as usize),
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
    Win win_toint "MPI_Win_toint" win_fromint "MPI_Win_fromint";
    File file_toint "MPI_File_toint" file_fromint "MPI_File_fromint";
}
