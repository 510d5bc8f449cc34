//! The arguments of a program, with those that are no options moved to the end.

use std::ffi::{CStr, c_char, c_int};

use crate::libc::State;

/// What becomes of arguments that are no options.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// They are moved behind all options.
    Permute,
    /// The first one ends the options.
    Stop,
    /// Each is returned as the argument of an option 1.
    Return,
}

/// What comes next.
pub enum Next {
    End,
    /// An argument that is no option, for [`Order::Return`].
    Plain(*mut c_char),
    Option,
}

/// A program's arguments and how far they were read.
pub struct Arguments {
    count: c_int,
    array: *mut *mut c_char,
    state: *mut State,
}

impl Arguments {
    /// # Safety
    /// `array` has `count` strings, and the state is the running rank's.
    pub unsafe fn new(count: c_int, array: *mut *mut c_char, state: *mut State) -> Arguments {
        Arguments { count, array, state }
    }

    pub fn count(&self) -> c_int {
        self.count
    }

    fn index(&self) -> c_int {
        // SAFETY: the running rank's variable.
        unsafe { *(*self.state).variables.optind }
    }

    fn set_index(&self, index: c_int) {
        // SAFETY: as above.
        unsafe { *(*self.state).variables.optind = index }
    }

    fn at(&self, index: c_int) -> *mut c_char {
        // SAFETY: callers stay below `count`.
        unsafe { *self.array.add(index as usize) }
    }

    /// The program's name.
    pub fn program(&self) -> &CStr {
        // SAFETY: there is at least one string.
        unsafe { CStr::from_ptr(self.at(0)) }
    }

    /// The argument that is read.
    pub fn now(&self) -> *mut c_char {
        self.at(self.index())
    }

    /// Goes to the next one.
    pub fn step(&self) {
        self.set_index(self.index() + 1);
    }

    /// The next argument as that of an option.
    pub fn take(&self) -> Option<*mut c_char> {
        let index = self.index();
        (index < self.count).then(|| {
            self.step();
            self.at(index)
        })
    }

    fn is_plain(&self, index: c_int) -> bool {
        // SAFETY: a string.
        let text = unsafe { CStr::from_ptr(self.at(index)) }.to_bytes();
        text.len() < 2 || text[0] != b'-'
    }

    fn is_end(&self, index: c_int) -> bool {
        // SAFETY: a string.
        unsafe { CStr::from_ptr(self.at(index)) }.to_bytes() == b"--"
    }

    /// Goes to the next argument that has an option.
    pub fn advance(&mut self, order: Order) -> Next {
        self.forget_beyond();
        if order == Order::Permute {
            self.move_back();
            while self.index() < self.count && self.is_plain(self.index()) {
                self.step();
            }
            self.set_last(self.index());
        }
        if self.index() < self.count && self.is_end(self.index()) {
            self.step();
            if self.passed().0 == self.passed().1 {
                self.set_first(self.index());
            } else {
                self.move_back();
            }
            self.set_last(self.count);
            self.set_index(self.count);
        }
        if self.index() >= self.count {
            let (first, last) = self.passed();
            if first != last {
                self.set_index(first);
            }
            return Next::End;
        }
        if self.is_plain(self.index()) {
            return match order {
                Order::Return => Next::Plain(self.take().unwrap_or(std::ptr::null_mut())),
                _ => Next::End,
            };
        }
        Next::Option
    }

    /// Programs set `optind` back.
    fn forget_beyond(&self) {
        let index = self.index();
        let (first, last) = self.passed();
        if last > index {
            self.set_last(index);
        }
        if first > index {
            self.set_first(index);
        }
    }

    /// Options that were read since the passed arguments go before them.
    fn move_back(&self) {
        let (first, last) = self.passed();
        let index = self.index();
        if first == last {
            if last != index {
                self.set_first(index);
            }
        } else if last != index {
            // SAFETY: `first <= last <= index <= count`, and nobody else has the array.
            let part = unsafe {
                std::slice::from_raw_parts_mut(self.array.add(first as usize), (index - first) as usize)
            };
            part.rotate_left((last - first) as usize);
            self.set_first(first + (index - last));
        }
        self.set_last(index);
    }

    fn passed(&self) -> (c_int, c_int) {
        // SAFETY: the running rank's state.
        unsafe { ((*self.state).getopt.first, (*self.state).getopt.last) }
    }

    fn set_first(&self, first: c_int) {
        // SAFETY: as above.
        unsafe { (*self.state).getopt.first = first }
    }

    fn set_last(&self, last: c_int) {
        // SAFETY: as above.
        unsafe { (*self.state).getopt.last = last }
    }
}
