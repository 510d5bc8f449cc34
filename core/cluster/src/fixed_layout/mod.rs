//! Node processes whose addresses are the same everywhere ([`talisman_base::layout`]): without randomization, and with
//! one limit on the main thread's stack, by which the system decides where everything else goes.
//!
//! Both are properties of a process that count when its program begins. So whoever starts a node sets them between
//! `fork` and `exec` ([`set`]), and a process that nobody starts sets them and starts itself anew, once ([`renew`]).
//! Each looks whether it has them ([`check`]), since a system may refuse them or take no notice. The thread that is to
//! be at the same place is in [`thread`].

mod mapped;
pub mod thread;

pub use mapped::own_layout;

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::naming;
use talisman_base::layout;
use talisman_job::variables::LAYOUT_VARIABLE;

/// What a main thread's stack may grow to. It is also what the system leaves free below it.
pub const STACK: u64 = 8 << 20;

/// `personality(2)`: given this, it changes nothing.
const ONLY_ASKED: libc::c_ulong = 0xffff_ffff;
const NO_RANDOMIZATION: libc::c_int = libc::ADDR_NO_RANDOMIZE;

/// Whether [`check`] has found that this process has a fixed layout.
static IS_HERE: AtomicBool = AtomicBool::new(false);

/// Why a process has no fixed layout.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The system does not allow it.
    #[error(
        "{by} need addresses that are not randomized, which the host {host} refuses (personality with \
         ADDR_NO_RANDOMIZE: {error}); allow the system call `personality` there, in a container by another seccomp \
         profile (`--security-opt seccomp=…`)"
    )]
    Personality { by: &'static str, host: String, error: io::Error },
    /// The system says that it allows it, and does not do it.
    #[error(
        "{by} need addresses that are not randomized, and the host {host} takes no notice of that (personality with \
         ADDR_NO_RANDOMIZE): run on a Linux kernel that does, without an emulator between"
    )]
    Ignored { by: &'static str, host: String },
    /// The hard limit is too low.
    #[error(
        "{by} need a limit of {} KiB on the stack, and the host {host} allows {} KiB at most: raise the hard limit \
         (`ulimit -Hs`)",
        STACK >> 10, hard >> 10
    )]
    Stack { by: &'static str, host: String, hard: u64 },
    /// The limit is not what was asked for.
    #[error("{by} need a limit of {} KiB on the stack, and the host {host} takes no notice of that", STACK >> 10)]
    StackIgnored { by: &'static str, host: String },
    /// The program's file cannot be run once more.
    #[error("{by} need the program to start itself anew, which the host {host} refuses: {error}")]
    Exec { by: &'static str, host: String, error: io::Error },
}

/// Sets what counts from the next `exec` of this process on, if the program needs it. Only system calls are made. What
/// is refused is seen by [`check`].
pub fn set() {
    if layout::needed_by().is_some() {
        let _ = set_personality();
        let hard = getrlimit(Resource::Stack).maximum;
        let _ = setrlimit(Resource::Stack, Rlimit { current: Some(STACK), maximum: hard });
    }
}

/// Looks whether this process has what its program needs.
///
/// # Errors
/// What the system refuses, and what to do about that.
pub fn check() -> Result<(), Refused> {
    let Some(by) = layout::needed_by() else { return Ok(()) };
    if !has_no_randomization() {
        // Whoever started this process met with the same.
        return Err(match set_personality() {
            Err(error) => Refused::Personality { by, host: host(), error },
            Ok(()) => Refused::Ignored { by, host: host() },
        });
    }
    let limit = getrlimit(Resource::Stack);
    match limit.maximum {
        _ if limit.current == Some(STACK) => {}
        Some(hard) if hard < STACK => return Err(Refused::Stack { by, host: host(), hard }),
        _ => return Err(Refused::StackIgnored { by, host: host() }),
    }
    IS_HERE.store(true, Ordering::Relaxed);
    Ok(())
}

/// Whether this process has a fixed layout because its program needs it.
pub fn is_here() -> bool {
    IS_HERE.load(Ordering::Relaxed)
}

/// Whether this process has started itself anew.
///
/// Has to be called before any other thread is started: it changes the environment, so that what this process starts is
/// not taken for it.
pub fn is_anew() -> bool {
    if std::env::var_os(LAYOUT_VARIABLE).is_none() {
        return false;
    }
    // SAFETY: no other thread reads the environment, by this function's contract.
    unsafe { std::env::remove_var(LAYOUT_VARIABLE) };
    // It was run by a link to its file, by which the system calls it.
    let name = std::env::args_os().next();
    let name = name.as_deref().map(Path::new).and_then(Path::file_name);
    name.iter().for_each(|name| naming::call(&name.to_string_lossy()));
    true
}

/// Sees to it that this process, which no launcher has started, has what its program needs: it starts itself anew
/// unless it has it, or `is_anew`.
///
/// # Errors
/// As [`check`]; the program's file cannot be run.
pub fn renew(is_anew: bool) -> Result<(), Refused> {
    let Some(by) = layout::needed_by() else { return Ok(()) };
    if is_anew || check().is_ok() {
        return check();
    }
    set();
    if !has_no_randomization() {
        return check();
    }
    let mut args = std::env::args_os();
    let mut command = Command::new("/proc/self/exe");
    command.arg0(args.next().unwrap_or_default()).args(args).env(LAYOUT_VARIABLE, "1");
    Err(Refused::Exec { by, host: host(), error: command.exec() })
}

fn set_personality() -> io::Result<()> {
    let with = personality() | NO_RANDOMIZATION;
    // SAFETY: it changes how this process's next program is laid out, and no memory.
    match unsafe { libc::personality(with as libc::c_ulong) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn has_no_randomization() -> bool {
    personality() & NO_RANDOMIZATION != 0
}

/// That of this process; where it cannot be asked for, the usual one.
fn personality() -> libc::c_int {
    // SAFETY: with this argument it only tells.
    unsafe { libc::personality(ONLY_ASKED) }.max(0)
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_without_a_row_are_left_alone() {
        let before = (personality(), getrlimit(Resource::Stack));
        set();
        assert_eq!((personality(), getrlimit(Resource::Stack)), before);
        assert!(check().is_ok() && renew(false).is_ok() && !is_here());
    }

    #[test]
    fn a_refusal_says_where_and_what_to_allow() {
        let (by, host) = ("ranks", "h7".to_owned());
        let error = io::Error::from_raw_os_error(libc::EPERM);
        let text = Refused::Personality { by, host: host.clone(), error }.to_string();
        for part in ["ranks need", "host h7", "ADDR_NO_RANDOMIZE", "Operation not permitted", "seccomp"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let text = Refused::Stack { by, host, hard: 1 << 20 }.to_string();
        assert!(text.contains("8192 KiB") && text.contains("h7 allows 1024 KiB"), "{text}");
    }
}
