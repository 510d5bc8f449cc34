//! Systems that refuse a fixed layout: processes under a filter of system calls, as containers have one.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JUMP, BPF_K, BPF_LD, BPF_RET, BPF_STMT, BPF_W};

/// `personality` with this argument only tells, which all allow.
const ONLY_ASKED: u32 = 0xffff_ffff;

/// Has every change of the personality end so in this command's process and those that it starts: with an error, or as
/// if it were done (0).
pub fn answering_personality(mut command: Command, errno: u32) -> Command {
    let (load, equal, give) =
        ((BPF_LD | BPF_W | BPF_ABS) as u16, (BPF_JMP | BPF_JEQ | BPF_K) as u16, (BPF_RET | BPF_K) as u16);
    // SAFETY: these only make values of their arguments.
    let mut filter = unsafe {
        [
            BPF_STMT(load, 0),
            BPF_JUMP(equal, libc::SYS_personality as u32, 0, 3),
            BPF_STMT(load, FIRST_ARGUMENT),
            BPF_JUMP(equal, ONLY_ASKED, 1, 0),
            BPF_STMT(give, libc::SECCOMP_RET_ERRNO | errno),
            BPF_STMT(give, libc::SECCOMP_RET_ALLOW),
        ]
    };
    let install = move || {
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        // SAFETY: only system calls are made, and the program is there until they have returned.
        let status = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
                | libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
        };
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec it makes system calls only.
    unsafe { command.pre_exec(install) };
    command
}

/// Where a filter finds the lower half of a call's first argument.
const FIRST_ARGUMENT: u32 = if cfg!(target_endian = "little") { 16 } else { 20 };
