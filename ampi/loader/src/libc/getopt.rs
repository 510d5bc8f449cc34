//! `getopt`, `getopt_long` and `getopt_long_only`, as the GNU C library does them: arguments that are no options are
//! moved to the end, unless the program or `POSIXLY_CORRECT` says otherwise.

mod arguments;
mod long;
mod messages;
mod short;

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use super::{State, current, functions};
use arguments::{Arguments, Order};
use long::{LongOptions, Spelling};

/// Where a scan is.
#[repr(C)]
pub struct Getopt {
    /// What is left of an argument with several short options.
    rest: *mut c_char,
    /// Arguments that were passed over: `first..last`, before `optind`.
    first: c_int,
    last: c_int,
    /// What `optopt` is after each call: the last option that was wrong.
    wrong: c_int,
    begun: bool,
}

impl Getopt {
    pub const fn new() -> Getopt {
        Getopt { rest: null_mut(), first: 0, last: 0, wrong: 0, begun: false }
    }
}

functions! {
    "getopt" => getopt,
    "__posix_getopt" => posix_getopt,
    "getopt_long" => getopt_long,
    "getopt_long_only" => getopt_long_only,
}

/// A long option (`struct option`).
#[repr(C)]
pub struct LongOption {
    name: *const c_char,
    argument: c_int,
    flag: *mut c_int,
    value: c_int,
}

unsafe extern "C" fn getopt(argc: c_int, argv: *mut *mut c_char, short: *const c_char) -> c_int {
    // SAFETY: called as C's function is.
    unsafe { Scan::new(argc, argv, short, LongOptions::none()) }.next(false)
}

unsafe extern "C" fn posix_getopt(argc: c_int, argv: *mut *mut c_char, short: *const c_char) -> c_int {
    // SAFETY: called as C's function is.
    unsafe { Scan::new(argc, argv, short, LongOptions::none()) }.next(true)
}

unsafe extern "C" fn getopt_long(
    argc: c_int,
    argv: *mut *mut c_char,
    short: *const c_char,
    long: *const LongOption,
    index: *mut c_int,
) -> c_int {
    // SAFETY: called as C's function is.
    unsafe { Scan::new(argc, argv, short, LongOptions::new(long, index, false)) }.next(false)
}

unsafe extern "C" fn getopt_long_only(
    argc: c_int,
    argv: *mut *mut c_char,
    short: *const c_char,
    long: *const LongOption,
    index: *mut c_int,
) -> c_int {
    // SAFETY: called as C's function is.
    unsafe { Scan::new(argc, argv, short, LongOptions::new(long, index, true)) }.next(false)
}

/// One call.
pub(super) struct Scan {
    state: *mut State,
    arguments: Arguments,
    /// What the program says of short options, without the signs at the beginning.
    short: *const c_char,
    /// `+` or `-` at its beginning.
    sign: u8,
    /// `:` at its beginning: a missing argument is told by `:`, and nothing is printed.
    quiet: bool,
    long: LongOptions,
}

/// There is nothing more.
const END: c_int = -1;
/// Something that is no option.
const WRONG: c_int = '?' as c_int;

impl Scan {
    /// # Safety
    /// As for C's functions.
    unsafe fn new(argc: c_int, argv: *mut *mut c_char, short: *const c_char, long: LongOptions) -> Scan {
        let state = current();
        // SAFETY: the caller's promise: a string.
        let (sign, short) = unsafe {
            let sign = *short as u8;
            if sign == b'+' || sign == b'-' { (sign, short.add(1)) } else { (0, short) }
        };
        // SAFETY: as above.
        let quiet = unsafe { *short as u8 } == b':';
        // SAFETY: the running rank's state; its program's arguments.
        let arguments = unsafe { Arguments::new(argc, argv, state) };
        Scan { state, arguments, short, sign, quiet, long }
    }

    fn next(mut self, posix: bool) -> c_int {
        let result = self.scan(posix);
        // SAFETY: the running rank's state and variable.
        unsafe { *(*self.state).variables.optopt = (*self.state).getopt.wrong };
        result
    }

    fn scan(&mut self, posix: bool) -> c_int {
        if self.arguments.count() < 1 {
            return END;
        }
        self.set_argument(null_mut());
        let order = self.order(posix);
        self.begin();
        if self.rest().is_null() || self.byte(0) == 0 {
            match self.next_argument(order) {
                Some(result) => return result,
                None => {
                    if let Some(result) = self.long_option() {
                        return result;
                    }
                }
            }
        }
        self.short_option()
    }

    fn order(&self, posix: bool) -> Order {
        match self.sign {
            b'-' => Order::Return,
            b'+' => Order::Stop,
            _ if posix || super::environment::has("POSIXLY_CORRECT") => Order::Stop,
            _ => Order::Permute,
        }
    }

    /// The first call, or the first one of another scan.
    fn begin(&mut self) {
        // SAFETY: the running rank's state and variables.
        let (getopt, index) = unsafe { (&mut (*self.state).getopt, (*self.state).variables.optind) };
        // SAFETY: as above.
        let now = unsafe { *index };
        if now == 0 || !getopt.begun {
            let start = now.max(1);
            // SAFETY: as above.
            unsafe { *index = start };
            *getopt =
                Getopt { rest: null_mut(), first: start, last: start, wrong: getopt.wrong, begun: true };
        }
    }

    /// Goes to the next argument with an option; else what to return.
    fn next_argument(&mut self, order: Order) -> Option<c_int> {
        match self.arguments.advance(order) {
            arguments::Next::End => Some(END),
            arguments::Next::Plain(text) => {
                self.set_argument(text);
                Some(1)
            }
            arguments::Next::Option => None,
        }
    }

    /// Whether the argument is a long option, and what it means.
    fn long_option(&mut self) -> Option<c_int> {
        let text = self.arguments.now();
        // SAFETY: the argument begins with `-` and has another byte.
        let second = unsafe { *text.add(1) as u8 };
        if self.long.is_given() {
            if second == b'-' {
                // SAFETY: as above.
                self.set_rest(unsafe { text.add(2) });
                return Some(self.take_long(Spelling::TwoDashes));
            }
            // SAFETY: as above.
            let third = unsafe { *text.add(2) };
            if self.long.only && (third != 0 || !self.mentions(second)) {
                // SAFETY: as above.
                self.set_rest(unsafe { text.add(1) });
                if self.long.finds(self.rest()) || !self.mentions(second) {
                    return Some(self.take_long(Spelling::OneDash));
                }
            }
        }
        // SAFETY: as above.
        self.set_rest(unsafe { text.add(1) });
        None
    }

    fn rest(&self) -> *mut c_char {
        // SAFETY: the running rank's state.
        unsafe { (*self.state).getopt.rest }
    }

    fn set_rest(&self, rest: *mut c_char) {
        // SAFETY: as above.
        unsafe { (*self.state).getopt.rest = rest }
    }

    /// A byte of what is left of the argument.
    fn byte(&self, at: usize) -> u8 {
        // SAFETY: not beyond the string's zero, where callers stop.
        unsafe { *self.rest().add(at) as u8 }
    }

    fn set_argument(&self, text: *mut c_char) {
        // SAFETY: the running rank's variable.
        unsafe { *(*self.state).variables.optarg = text }
    }

    fn set_option(&self, option: u8) {
        // SAFETY: the running rank's state.
        unsafe { (*self.state).getopt.wrong = c_int::from(option) }
    }

    /// Whether to print what is wrong.
    fn speaks(&self) -> bool {
        // SAFETY: the running rank's variable.
        !self.quiet && unsafe { *(*self.state).variables.opterr } != 0
    }
}
