//! Functions with texts: Fortran's have blanks at their ends, and their lengths are the last arguments.

use std::ffi::c_int;

use super::Fortran;
use super::convert::{buffer, put_error};
use crate::common::window::state;
use crate::common::{communicator, described, environment, errhandler, info, io, pack, ports, session};

/// The longest text that a function gives, with a zero.
const ROOM: usize = 8192;

/// A text without blanks at its ends, as C has it.
pub unsafe fn for_c(text: *const u8, len: usize) -> Vec<u8> {
    // SAFETY: the caller's promise.
    let text = unsafe { std::slice::from_raw_parts(text, len) };
    let text = text.trim_ascii();
    [text, &[0]].concat()
}

/// Calls a function of C that gives a text, and writes that with blanks behind it.
unsafe fn with_text(to: *mut u8, len: usize, give: impl FnOnce(*mut u8) -> c_int) -> c_int {
    let mut text = [0u8; ROOM];
    let code = give(text.as_mut_ptr());
    if code == 0 {
        let n = text.iter().position(|byte| *byte == 0).unwrap_or(0).min(len);
        // SAFETY: the caller's promise.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), to, n);
            to.add(n).write_bytes(b' ', len - n);
        }
    }
    code
}

/// Functions that are called with an address for each argument but lengths, which stand behind.
macro_rules! texts {
    ($($name:ident($($argument:ident: $type:ty),* ; $($len:ident),*) => $body:expr;)*) => {
        $(
            unsafe extern "C" fn $name<A: Fortran>($($argument: $type,)* error: *mut c_int $(, $len: usize)*) {
                // SAFETY: addresses and lengths are the program's, by its promise.
                unsafe {
                    let code = $body;
                    put_error(error, code);
                }
            }
        )*

        /// Names and addresses.
        pub fn functions<A: Fortran>() -> Vec<(&'static str, usize)> {
            vec![$((stringify!($name), $name::<A> as *const () as usize)),*]
        }
    };
}

texts! {
    mpi_add_error_string(code: *const c_int, text: *const u8; len) => {
        errhandler::add_error_string::<A>(code.read_unaligned(), for_c(text, len).as_ptr())
    };
    mpi_get_processor_name(name: *mut u8, n: *mut c_int; len) => {
        with_text(name, len, |text| environment::get_processor_name::<A>(text, n))
    };
    mpi_get_library_version(name: *mut u8, n: *mut c_int; len) => {
        with_text(name, len, |text| environment::get_library_version::<A>(text, n))
    };
    mpi_error_string(code: *const c_int, name: *mut u8, n: *mut c_int; len) => {
        with_text(name, len, |text| errhandler::error_string::<A>(code.read_unaligned(), text, n))
    };
    mpi_session_get_nth_pset(
        handle: *const c_int, hints: *const c_int, n: *const c_int, room: *mut c_int, name: *mut u8; len
    ) => {
        // Its length has no zero at the end.
        let (wants_length, mut with_zero) = (room.read_unaligned() == 0, ROOM as c_int);
        let (handle, hints, n) = (handle.read_unaligned(), hints.read_unaligned(), n.read_unaligned());
        let mut give = |text| session::session_get_nth_pset::<A>(handle, hints, n, &raw mut with_zero, text);
        let code = if wants_length { give([0u8; ROOM].as_mut_ptr()) } else { with_text(name, len, give) };
        room.write_unaligned(with_zero - 1);
        code
    };
    mpi_session_get_pset_info(handle: *const c_int, name: *const u8, to: *mut c_int; len) => {
        session::session_get_pset_info::<A>(handle.read_unaligned(), for_c(name, len).as_ptr(), to)
    };
    mpi_group_from_session_pset(handle: *const c_int, name: *const u8, to: *mut c_int; len) => {
        session::group_from_session_pset::<A>(handle.read_unaligned(), for_c(name, len).as_ptr(), to)
    };
    mpi_comm_create_from_group(
        group: *const c_int, text: *const u8, hints: *const c_int, handler: *const c_int, to: *mut c_int; len
    ) => {
        let (group, hints, handler) = (group.read_unaligned(), hints.read_unaligned(), handler.read_unaligned());
        session::comm_create_from_group::<A>(group, for_c(text, len).as_ptr(), hints, handler, to)
    };
    mpi_intercomm_create_from_groups(
        group: *const c_int, leader: *const c_int, others: *const c_int, other_leader: *const c_int,
        text: *const u8, hints: *const c_int, handler: *const c_int, to: *mut c_int; len
    ) => {
        let (group, leader, hints) = (group.read_unaligned(), leader.read_unaligned(), hints.read_unaligned());
        let (others, other_leader) = (others.read_unaligned(), other_leader.read_unaligned());
        let (text, handler) = (for_c(text, len), handler.read_unaligned());
        session::intercomm_create_from_groups::<A>(
            group, leader, others, other_leader, text.as_ptr(), hints, handler, to,
        )
    };
    mpi_open_port(hints: *const c_int, name: *mut u8; len) => {
        with_text(name, len, |text| ports::open_port::<A>(hints.read_unaligned(), text))
    };
    mpi_close_port(name: *const u8; len) => ports::close_port::<A>(for_c(name, len).as_ptr());
    mpi_comm_accept(
        port: *const u8, hints: *const c_int, root: *const c_int, handle: *const c_int, to: *mut c_int; len
    ) => {
        let (port, hints, root) = (for_c(port, len), hints.read_unaligned(), root.read_unaligned());
        ports::comm_accept::<A>(port.as_ptr(), hints, root, handle.read_unaligned(), to)
    };
    mpi_comm_connect(
        port: *const u8, hints: *const c_int, root: *const c_int, handle: *const c_int, to: *mut c_int; len
    ) => {
        let (port, hints, root) = (for_c(port, len), hints.read_unaligned(), root.read_unaligned());
        ports::comm_connect::<A>(port.as_ptr(), hints, root, handle.read_unaligned(), to)
    };
    mpi_publish_name(service: *const u8, hints: *const c_int, port: *const u8; service_len, port_len) => {
        let (service, port) = (for_c(service, service_len), for_c(port, port_len));
        ports::publish_name::<A>(service.as_ptr(), hints.read_unaligned(), port.as_ptr())
    };
    mpi_lookup_name(service: *const u8, hints: *const c_int, port: *mut u8; service_len, port_len) => {
        let service = for_c(service, service_len);
        with_text(port, port_len, |text| ports::lookup_name::<A>(service.as_ptr(), hints.read_unaligned(), text))
    };
    mpi_unpublish_name(service: *const u8, hints: *const c_int, port: *const u8; service_len, port_len) => {
        let (service, port) = (for_c(service, service_len), for_c(port, port_len));
        ports::unpublish_name::<A>(service.as_ptr(), hints.read_unaligned(), port.as_ptr())
    };
    mpi_comm_set_name(handle: *const c_int, name: *const u8; len) => {
        communicator::comm_set_name::<A>(handle.read_unaligned(), for_c(name, len).as_ptr())
    };
    mpi_comm_get_name(handle: *const c_int, name: *mut u8, n: *mut c_int; len) => {
        with_text(name, len, |text| communicator::comm_get_name::<A>(handle.read_unaligned(), text, n))
    };
    mpi_win_set_name(handle: *const c_int, name: *const u8; len) => {
        state::win_set_name::<A>(handle.read_unaligned(), for_c(name, len).as_ptr())
    };
    mpi_win_get_name(handle: *const c_int, name: *mut u8, n: *mut c_int; len) => {
        with_text(name, len, |text| state::win_get_name::<A>(handle.read_unaligned(), text, n))
    };
    mpi_type_set_name(handle: *const c_int, name: *const u8; len) => {
        described::type_set_name::<A>(handle.read_unaligned(), for_c(name, len).as_ptr())
    };
    mpi_type_get_name(handle: *const c_int, name: *mut u8, n: *mut c_int; len) => {
        with_text(name, len, |text| described::type_get_name::<A>(handle.read_unaligned(), text, n))
    };
    mpi_info_set(hints: *const c_int, key: *const u8, value: *const u8; key_len, value_len) => {
        let (key, value) = (for_c(key, key_len), for_c(value, value_len));
        info::info_set::<A>(hints.read_unaligned(), key.as_ptr(), value.as_ptr())
    };
    mpi_info_get(
        hints: *const c_int, key: *const u8, room: *const c_int, value: *mut u8, flag: *mut c_int; key_len, value_len
    ) => {
        let (key, hints, mut found) = (for_c(key, key_len), hints.read_unaligned(), [0u8; ROOM]);
        let room = room.read_unaligned().clamp(0, 1024);
        let code = info::info_get::<A>(hints, key.as_ptr(), room, found.as_mut_ptr(), flag);
        if code == 0 && flag.read_unaligned() != 0 {
            with_text(value, value_len, |text| {
                text.copy_from_nonoverlapping(found.as_ptr(), ROOM);
                0
            })
        } else {
            code
        }
    };
    mpi_info_get_string(
        hints: *const c_int, key: *const u8, room: *mut c_int, value: *mut u8, flag: *mut c_int; key_len, value_len
    ) => {
        let (key, hints, mut found) = (for_c(key, key_len), hints.read_unaligned(), [0u8; ROOM]);
        // Its length has no zero at the end.
        let given = room.read_unaligned().clamp(0, ROOM as c_int - 1);
        let mut with_zero = if given == 0 { 0 } else { given + 1 };
        let code =
            info::info_get_string::<A>(hints, key.as_ptr(), &raw mut with_zero, found.as_mut_ptr(), flag);
        if code == 0 && flag.read_unaligned() != 0 {
            room.write_unaligned(with_zero - 1);
            if given > 0 {
                with_text(value, value_len, |text| {
                    text.copy_from_nonoverlapping(found.as_ptr(), ROOM);
                    0
                });
            }
        }
        code
    };
    mpi_info_get_valuelen(hints: *const c_int, key: *const u8, n: *mut c_int, flag: *mut c_int; key_len) => {
        info::info_get_valuelen::<A>(hints.read_unaligned(), for_c(key, key_len).as_ptr(), n, flag)
    };
    mpi_info_delete(hints: *const c_int, key: *const u8; key_len) => {
        info::info_delete::<A>(hints.read_unaligned(), for_c(key, key_len).as_ptr())
    };
    mpi_info_get_nthkey(hints: *const c_int, at: *const c_int, key: *mut u8; key_len) => {
        with_text(key, key_len, |text| info::info_get_nthkey::<A>(hints.read_unaligned(), at.read_unaligned(), text))
    };
    mpi_pack_external(
        form: *const u8, at: *mut std::ffi::c_void, count: *const c_int, datatype: *const c_int,
        to: *mut std::ffi::c_void, room: *const i64, position: *mut i64; form_len
    ) => {
        let (form, count, datatype) = (for_c(form, form_len), count.read_unaligned(), datatype.read_unaligned());
        let (at, to) = (buffer::<A>(at), to as usize);
        pack::pack_external::<A, c_int>(form.as_ptr(), at, count, datatype, to, room.read_unaligned(), position)
    };
    mpi_unpack_external(
        form: *const u8, from: *mut std::ffi::c_void, room: *const i64, position: *mut i64,
        at: *mut std::ffi::c_void, count: *const c_int, datatype: *const c_int; form_len
    ) => {
        let (form, count, datatype) = (for_c(form, form_len), count.read_unaligned(), datatype.read_unaligned());
        let (at, from, room) = (buffer::<A>(at), from as usize, room.read_unaligned());
        pack::unpack_external::<A, c_int>(form.as_ptr(), from, room, position, at, count, datatype)
    };
    mpi_pack_external_size(
        form: *const u8, count: *const c_int, datatype: *const c_int, size: *mut i64; form_len
    ) => {
        let (count, datatype) = (count.read_unaligned(), datatype.read_unaligned());
        pack::pack_external_size::<A, c_int>(for_c(form, form_len).as_ptr(), count, datatype, size)
    };
    mpi_file_open(
        comm: *const c_int, path: *const u8, mode: *const c_int, hints: *const c_int, to: *mut c_int; path_len
    ) => {
        let path = for_c(path, path_len);
        io::open::file_open::<A>(
            comm.read_unaligned(), path.as_ptr(), mode.read_unaligned(), hints.read_unaligned(), to,
        )
    };
    mpi_file_delete(path: *const u8, hints: *const c_int; path_len) => {
        io::open::file_delete::<A>(for_c(path, path_len).as_ptr(), hints.read_unaligned())
    };
    mpi_file_set_view(
        file: *const c_int, displacement: *const i64, etype: *const c_int, filetype: *const c_int,
        representation: *const u8, hints: *const c_int; representation_len
    ) => {
        let representation = for_c(representation, representation_len);
        let (etype, filetype) = (etype.read_unaligned(), filetype.read_unaligned());
        let (file, displacement, hints) =
            (file.read_unaligned(), displacement.read_unaligned(), hints.read_unaligned());
        io::view::file_set_view::<A>(file, displacement, etype, filetype, representation.as_ptr(), hints)
    };
    mpi_file_get_view(
        file: *const c_int, displacement: *mut i64, etype: *mut c_int, filetype: *mut c_int,
        representation: *mut u8; representation_len
    ) => {
        with_text(representation, representation_len, |text| {
            io::view::file_get_view::<A>(file.read_unaligned(), displacement, etype, filetype, text)
        })
    };
}
