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
        "the interface for tools is not there yet":
            MPI_T_init_thread MPI_T_finalize MPI_T_cvar_get_num MPI_T_cvar_get_info MPI_T_cvar_get_index
            MPI_T_cvar_handle_alloc MPI_T_cvar_handle_free MPI_T_cvar_read MPI_T_cvar_write MPI_T_pvar_get_num
            MPI_T_pvar_get_info MPI_T_pvar_get_index MPI_T_pvar_session_create MPI_T_pvar_session_free
            MPI_T_pvar_handle_alloc MPI_T_pvar_handle_free MPI_T_pvar_start MPI_T_pvar_stop MPI_T_pvar_read
            MPI_T_pvar_readreset MPI_T_pvar_reset MPI_T_pvar_write MPI_T_category_get_num
            MPI_T_category_get_info MPI_T_category_get_index MPI_T_category_get_cvars MPI_T_category_get_pvars
            MPI_T_category_get_categories MPI_T_category_changed MPI_T_enum_get_info MPI_T_enum_get_item
            MPI_T_category_get_events MPI_T_category_get_num_events MPI_T_event_callback_get_info
            MPI_T_event_callback_set_info MPI_T_event_copy MPI_T_event_get_index MPI_T_event_get_info
            MPI_T_event_get_num MPI_T_event_get_source MPI_T_event_get_timestamp MPI_T_event_handle_alloc
            MPI_T_event_handle_free MPI_T_event_handle_get_info MPI_T_event_handle_set_info MPI_T_event_read
            MPI_T_event_register_callback MPI_T_event_set_dropped_handler MPI_T_source_get_info
            MPI_T_source_get_num MPI_T_source_get_timestamp;
        "processes are not started while the job runs, and jobs are not connected":
            MPI_Close_port MPI_Comm_accept MPI_Comm_connect MPI_Comm_join MPI_Comm_spawn
            MPI_Comm_spawn_multiple MPI_Lookup_name MPI_Open_port MPI_Publish_name MPI_Unpublish_name;
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
