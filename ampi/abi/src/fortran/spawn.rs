//! Starting ranks: lists of texts, whose ends are blank ones.

use std::ffi::{c_char, c_int};

use super::Fortran;
use super::convert::{arguments, codes, put_error};
use super::texts::for_c;
use crate::common::spawn;

/// Texts of this length, each `step` behind the former, up to a blank one; as C has them.
unsafe fn texts(mut at: *const u8, len: usize, step: usize) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        // SAFETY: the caller's promise.
        let text = unsafe { for_c(at, len) };
        if text.len() == 1 || len == 0 {
            return all;
        }
        all.push(text);
        // SAFETY: another one follows, as the end has not come.
        at = unsafe { at.add(step) };
    }
}

/// Their addresses, with a null one behind.
fn addresses(texts: &[Vec<u8>]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr().cast()).chain([std::ptr::null()]).collect()
}

/// `MPI_COMM_SPAWN`.
unsafe extern "C" fn mpi_comm_spawn<A: Fortran>(
    command: *const u8,
    argv: *const u8,
    ranks: *const c_int,
    hints: *const c_int,
    root: *const c_int,
    handle: *const c_int,
    to: *mut c_int,
    errors: *mut c_int,
    error: *mut c_int,
    command_len: usize,
    argv_len: usize,
) {
    // SAFETY: addresses and lengths are the program's, by its promise.
    unsafe {
        let command = for_c(command, command_len);
        let all = arguments::<A>(argv).map_or(Vec::new(), |argv| texts(argv, argv_len, argv_len));
        let code = spawn::comm_spawn::<A>(
            command.as_ptr().cast(),
            addresses(&all).as_ptr(),
            ranks.read_unaligned(),
            hints.read_unaligned(),
            root.read_unaligned(),
            handle.read_unaligned(),
            to,
            codes::<A>(errors),
        );
        put_error(error, code);
    }
}

/// `MPI_COMM_SPAWN_MULTIPLE`: arguments are a matrix with a row for each command.
unsafe extern "C" fn mpi_comm_spawn_multiple<A: Fortran>(
    count: *const c_int,
    commands: *const u8,
    argvs: *const u8,
    ranks: *const c_int,
    hints: *const c_int,
    root: *const c_int,
    handle: *const c_int,
    to: *mut c_int,
    errors: *mut c_int,
    error: *mut c_int,
    command_len: usize,
    argv_len: usize,
) {
    // SAFETY: addresses and lengths are the program's, by its promise.
    unsafe {
        let count = count.read_unaligned();
        let rows = usize::try_from(count).unwrap_or(0);
        let names: Vec<_> = (0..rows).map(|at| for_c(commands.add(at * command_len), command_len)).collect();
        let row = |argvs: *const u8, at: usize| texts(argvs.add(at * argv_len), argv_len, rows * argv_len);
        let all: Vec<Vec<Vec<u8>>> =
            (0..rows).map(|at| arguments::<A>(argvs).map_or(Vec::new(), |argvs| row(argvs, at))).collect();
        let lists: Vec<_> = all.iter().map(|texts| addresses(texts)).collect();
        let lists: Vec<_> = lists.iter().map(Vec::as_ptr).collect();
        let code = spawn::comm_spawn_multiple::<A>(
            count,
            addresses(&names).as_ptr(),
            lists.as_ptr(),
            ranks,
            hints,
            root.read_unaligned(),
            handle.read_unaligned(),
            to,
            codes::<A>(errors),
        );
        put_error(error, code);
    }
}

/// Names and addresses.
pub fn functions<A: Fortran>() -> Vec<(&'static str, usize)> {
    vec![
        ("mpi_comm_spawn", mpi_comm_spawn::<A> as *const () as usize),
        ("mpi_comm_spawn_multiple", mpi_comm_spawn_multiple::<A> as *const () as usize),
    ]
}
