//! Programs that a rank starts: `posix_spawn`, `vfork` and `exec`, and waiting for them.
//!
//! A child has the rank's folder, mask, environment and descriptors, which are real ones with numbers of the rank's range.
//! `vfork` makes a copy of the process in which the rank alone goes on, until it becomes another program: functions of the
//! C library are the system's own there, and nobody takes turns. A rank cannot become another program itself, which would
//! take the place of all ranks of the process.
//!
//! Children are the process's, so a rank that has one that runs stays where it is; and it waits for its own only.

use std::arch::naked_asm;
use std::ffi::{c_char, c_int};
use std::mem::zeroed;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ::libc::{pid_t, posix_spawn_file_actions_t, posix_spawnattr_t};

use super::child_waits::{wait_alone, wait_for};
use super::files::adopt_stream;
use super::pause::{self, give_way};
use super::time_stamp_counter::{TimeStamps, allowed};
use super::{current, functions, set_errno, signals};

/// A rank has no more children at once that it has not waited for.
const MANY: usize = 64;
/// A place that is given to a child which is being started: no process has this number.
const STARTING: u64 = u32::MAX as u64;
/// In the upper half of a place: the child has ended, with the status in the bits below.
const ENDED: u64 = 1 << 63;

/// Children that a rank has not waited for: in each place nothing, or a process and how it has ended.
#[repr(C)]
pub struct Children {
    places: [AtomicU64; MANY],
    /// One was started since it was looked and none ran.
    may_run: AtomicBool,
}

/// The process is the copy of one, in which a rank becomes another program.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Whether this process is a rank's child that has not become another program.
pub fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

/// From now on programs that ranks start end at `SIGPIPE` as others do. Those of Rust ignore it, and what is ignored stays
/// so in programs that they start; what is handled does not.
pub fn prepare_children() {
    extern "C" fn pass_over(_signal: c_int) {}
    // SAFETY: zeroes are a value of it; the function does nothing, and writers are told of the error.
    unsafe {
        let mut action: ::libc::sigaction = zeroed();
        action.sa_sigaction = pass_over as *const () as usize;
        action.sa_flags = ::libc::SA_RESTART;
        ::libc::sigaction(::libc::SIGPIPE, &raw const action, null_mut());
    }
}

/// The process that a place is of, if it is one's.
fn process_of(place: u64) -> Option<pid_t> {
    pid_t::try_from(place & u64::from(u32::MAX)).ok().filter(|process| *process > 0)
}

/// How that has ended, if it has: as `waitpid` says it.
fn status_of(place: u64) -> Option<c_int> {
    (place & ENDED != 0).then_some((place >> 32) as c_int & c_int::MAX)
}

/// Whether a child is one of those for which `waitpid` is to wait.
fn is_meant(meant: pid_t, process: pid_t) -> bool {
    // SAFETY: asks about processes.
    let group = |of| unsafe { ::libc::getpgid(of) };
    match meant {
        -1 => true,
        0 => group(process) == group(0),
        ..0 => group(process) == -meant,
        _ => process == meant,
    }
}

impl Children {
    pub const fn new() -> Children {
        Children { places: [const { AtomicU64::new(0) }; MANY], may_run: AtomicBool::new(false) }
    }

    /// A child that runs, if there is one. How others have ended is noted: that can be told anywhere.
    pub fn running(&self) -> Option<pid_t> {
        let running = self.places.iter().find_map(|place| {
            let known = place.load(Ordering::Acquire);
            let process = process_of(known).filter(|_| status_of(known).is_none())?;
            let mut status = 0;
            // SAFETY: a place for a status.
            if unsafe { ::libc::waitpid(process, &raw mut status, ::libc::WNOHANG) } == 0 {
                return Some(process);
            }
            place.store(ENDED | u64::from(status.cast_unsigned()) << 32 | known, Ordering::Release);
            None
        });
        self.may_run.store(running.is_some(), Ordering::Release);
        running
    }

    /// Whether that may be another answer than the last one.
    pub fn may_run(&self) -> bool {
        self.may_run.load(Ordering::Acquire)
    }

    /// The rank has come from another process, or was copied there: what ran is no child of this one.
    pub fn arrive(&self) {
        let running = self.places.iter().filter(|place| status_of(place.load(Ordering::Acquire)).is_none());
        running.for_each(|place| place.store(0, Ordering::Release));
    }

    /// A place for one more.
    fn reserve(&self) -> Option<&AtomicU64> {
        let is_free = |place: &&AtomicU64| {
            place.compare_exchange(0, STARTING, Ordering::AcqRel, Ordering::Acquire).is_ok()
        };
        self.may_run.store(true, Ordering::Release);
        self.places.iter().find(is_free)
    }

    /// Those that are meant, in places that become free when one is waited for.
    pub fn meant(&self, meant: pid_t) -> impl Iterator<Item = (&AtomicU64, pid_t, Option<c_int>)> {
        self.places.iter().filter_map(move |place| {
            let known = place.load(Ordering::Acquire);
            let process = process_of(known).filter(|process| is_meant(meant, *process))?;
            Some((place, process, status_of(known)))
        })
    }
}

functions! {
    "vfork" => copy,
    "__vfork" => copy,
    "posix_spawn" => spawn::<false>,
    "posix_spawnp" => spawn::<true>,
    "system" => run_by_shell,
    "popen" => open_by_shell,
}

pub(super) fn children<'a>() -> &'a Children {
    // SAFETY: the running rank's state, of which threads of it look at this part, too.
    unsafe { &(*current()).children }
}

pub(super) fn fail(error: c_int) -> c_int {
    set_errno(error);
    -1
}

/// The C library's `vfork` lets the child use its parent's memory; but then what functions of ours note there would be noted in
/// the rank.
unsafe extern "C" fn copy() -> pid_t {
    let Some(place) = children().reserve() else { return fail(::libc::EAGAIN) };
    // SAFETY: the child goes on with a copy of this stack, and calls what was meant for a child.
    let process = unsafe { ::libc::fork() };
    match process {
        0 => begin_child(),
        _ => place.store(u64::from(process.max(0).unsigned_abs()), Ordering::Release),
    }
    process
}

/// The rank is alone in this process, which is a copy: descriptors and signals are the system's from now on.
fn begin_child() {
    IS_CHILD.store(true, Ordering::Relaxed);
    TimeStamps::leave();
    pause::begin_child();
    // SAFETY: the running rank's state; zeroes are a value of an action.
    unsafe {
        let descriptors = &mut (*current()).descriptors;
        descriptors.close_others();
        descriptors.set_range(0..0);
    }
    signals::leave_to_system();
}

type Text = *const c_char;
type Texts = *const *mut c_char;
type Files = *const posix_spawn_file_actions_t;
type Attributes = *const posix_spawnattr_t;
type Spawn = unsafe extern "C" fn(*mut pid_t, Text, Files, Attributes, Texts, Texts) -> c_int;

/// A name is looked for in `PATH`. The descriptors that `files` are about are real ones.
unsafe extern "C" fn spawn<const BY_NAME: bool>(
    to: *mut pid_t,
    path: Text,
    files: Files,
    how: Attributes,
    words: Texts,
    all: Texts,
) -> c_int {
    let Some(place) = children().reserve() else { return ::libc::EAGAIN };
    let function: Spawn = if BY_NAME { ::libc::posix_spawnp } else { ::libc::posix_spawn };
    let mut process = 0;
    // SAFETY: called as C's function is; then a place of the program's.
    let error = unsafe {
        let error = allowed(|| function(&raw mut process, path, files, how, words, all));
        if error == 0 && !to.is_null() {
            to.write(process);
        }
        error
    };
    place.store(if error == 0 { u64::from(process.unsigned_abs()) } else { 0 }, Ordering::Release);
    error
}

// By the shell.

/// Others run meanwhile, if it takes long. The C library's would ignore signals for the whole process.
unsafe extern "C" fn run_by_shell(command: Text) -> c_int {
    if command.is_null() {
        return 1;
    }
    let words = [c"sh".as_ptr(), c"-c".as_ptr(), command, null()].map(<Text>::cast_mut);
    let (mut process, mut status) = (0, 0);
    // SAFETY: texts of C, of which the last is null; the rank's own variables; places for a process and a status.
    unsafe {
        let all = *(*current()).variables.environ;
        let error =
            spawn::<false>(&raw mut process, c"/bin/sh".as_ptr(), null(), null(), words.as_ptr(), all);
        if error != 0 {
            return fail(error);
        }
        wait_alone(process);
        match wait_for(process, &raw mut status, 0) {
            -1 => -1,
            _ => status,
        }
    }
}

/// The C library's has the child know the process's variables: these are the rank's meanwhile.
unsafe extern "C" fn open_by_shell(command: Text, mode: Text) -> usize {
    static ALONE: Mutex<()> = Mutex::new(());
    // SAFETY: takes nothing.
    unsafe { give_way() };
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: called as C's function is. Threads that look for a variable meanwhile find the rank's.
    let file = unsafe {
        let of_process = environ;
        environ = *(*current()).variables.environ;
        let file = allowed(|| ::libc::popen(command, mode));
        environ = of_process;
        file
    };
    drop(alone);
    adopt_stream(file as usize)
}

// Becoming another program.

/// Whether the caller may become another program: what it has then is prepared.
extern "C" fn may_replace() -> c_int {
    if !is_child() {
        // Programs know this error from systems that cannot run what is asked for.
        set_errno(::libc::ENOSYS);
        return 0;
    }
    signals::pass_on();
    // SAFETY: the rank's state; the C library's own environment, which is this process's alone.
    unsafe { environ = *(*current()).variables.environ };
    1
}

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

/// Of any number of arguments: all that these are in is kept.
macro_rules! replacing {
    ($($name:literal => $function:ident,)*) => {
        $crate::libc::passed_on!(pub(super) replaces: $($name => $function,)*);
        $(
            #[unsafe(naked)]
            unsafe extern "C" fn $function() {
                naked_asm!(
                    $crate::libc::save_arguments!(),
                    "call {may_replace}",
                    "mov r11d, eax",
                    $crate::libc::restore_arguments!(),
                    "test r11d, r11d",
                    "jz 2f",
                    "jmp [rip + {real}@GOTPCREL]",
                    "2:",
                    "mov eax, -1",
                    "ret",
                    may_replace = sym may_replace,
                    real = sym real::$function,
                )
            }
        )*
    };
}

replacing! {
    "execve" => execve,
    "execv" => execv,
    "execvp" => execvp,
    "execvpe" => execvpe,
    "execl" => execl,
    "execlp" => execlp,
    "execle" => execle,
    "fexecve" => fexecve,
    "execveat" => execveat,
}
