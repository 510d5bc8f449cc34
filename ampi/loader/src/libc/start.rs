//! From a program's first instruction to its end.

use std::arch::naked_asm;
use std::ffi::{CStr, c_char, c_int};

use super::exit::exit;
use super::state::{ABORTED, Ended, State};
use super::{current, functions};
use crate::linker::loaded;

functions! {
    "__libc_start_main" => start_main,
}

/// Runs a program from its first instruction ([`crate::Program::entry`]) until it ends, on the stack of who calls:
/// that has to be the rank's own if the rank moves. Arguments and environment are copied to memory of `malloc`.
///
/// None if there is no memory for them.
///
/// # Safety
/// The program is loaded and registered ([`crate::Program::register_frames`]), its state was entered, and it has not
/// run before.
pub unsafe fn run(entry: usize, arguments: &[&CStr], environment: &[&CStr]) -> Option<Ended> {
    let state = current();
    let words = first_words(arguments, environment)?;
    // SAFETY: the caller's promise; the words are what a program expects.
    unsafe {
        begin(entry, words.0, words.1, &raw mut (*state).stack);
        match (*state).ended {
            ABORTED => Some(Ended::Aborted),
            _ => Some(Ended::Exited((*state).status)),
        }
    }
}

/// What a program finds on its stack (System V ABI for x86-64, figure 3.9): the number of arguments, their addresses,
/// those of the environment, and an auxiliary vector with nothing in it.
fn first_words(arguments: &[&CStr], environment: &[&CStr]) -> Option<(*const usize, usize)> {
    let count = arguments.len() + environment.len() + 5;
    // SAFETY: plain memory.
    let words = unsafe { ::libc::calloc(count, size_of::<usize>()) }.cast::<usize>();
    if words.is_null() {
        return None;
    }
    let mut at = 0;
    let mut put = |word: usize| {
        // SAFETY: `count` words are written in all.
        unsafe { words.add(at).write(word) };
        at += 1;
    };
    put(arguments.len());
    for list in [arguments, environment] {
        for text in list {
            // SAFETY: a string that lives.
            let copy = unsafe { ::libc::strdup(text.as_ptr()) };
            if copy.is_null() {
                return None;
            }
            put(copy as usize);
        }
        put(0);
    }
    Some((words, count))
}

/// Puts the words onto the stack and jumps to `entry`. [`finish`] returns from here.
#[unsafe(naked)]
unsafe extern "sysv64" fn begin(entry: usize, words: *const usize, count: usize, save: *mut usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rcx], rsp",
        "lea rax, [rdx * 8]",
        "sub rsp, rax",
        "and rsp, -16",
        "mov rax, rdi",
        "mov rdi, rsp",
        "mov rcx, rdx",
        "cld",
        "rep movsq",
        // No function to be registered with `atexit`; the outermost frame.
        "xor edx, edx",
        "xor ebp, ebp",
        "jmp rax",
    )
}

/// Returns from [`begin`].
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn finish(stack: usize) -> ! {
    naked_asm!("mov rsp, rdi", "cld", "pop r15", "pop r14", "pop r13", "pop r12", "pop rbx", "pop rbp", "ret",)
}

pub(super) type Main = extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

/// What the first instructions of a program call. Before glibc 2.34 they hand over functions that initialise the
/// program itself, which its table names, too.
unsafe extern "C" fn start_main(main: Main, argc: c_int, argv: *mut *mut c_char) -> c_int {
    // SAFETY: what the program was given by `begin`: the environment follows the arguments.
    let environment = unsafe { argv.add(argc as usize + 1) };
    // SAFETY: the running rank's state, whose addresses are those of variables in its program.
    unsafe {
        set_variables(&*current(), argv, environment);
        (*current()).late.set_arguments(argc, argv);
    }
    let mut called = 0;
    while let Some(initializer) = initializer(called) {
        // SAFETY: a function of this type, by the program's own table.
        let initializer: Main = unsafe { std::mem::transmute(initializer) };
        initializer(argc, argv, environment);
        called += 1;
    }
    let status = main(argc, argv, environment);
    // SAFETY: the program has begun.
    unsafe { exit(status) }
}

/// Nothing of the process is held while it runs.
fn initializer(number: usize) -> Option<usize> {
    // SAFETY: the running rank's state.
    let copy = loaded::at(unsafe { (*current()).base })?;
    copy.program.initializer(copy.base, number)
}

/// # Safety
/// The state's addresses are right, and `argv` is a list of strings.
unsafe fn set_variables(state: &State, argv: *mut *mut c_char, environment: *mut *mut c_char) {
    let variables = &state.variables;
    // SAFETY: the caller's promise.
    unsafe {
        *variables.environ = environment;
        // The number of arguments is in front of them, and is the first word.
        *variables.stack_end = argv as usize - size_of::<usize>();
        let name = *argv;
        if name.is_null() {
            return;
        }
        *variables.program_name = name;
        let slash = ::libc::strrchr(name, c_int::from(b'/'));
        *variables.program_short_name = if slash.is_null() { name } else { slash.add(1) };
    }
}
