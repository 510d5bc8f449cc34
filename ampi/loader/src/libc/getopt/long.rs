//! Long options: their names may be shortened as long as one is meant.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::{null, null_mut};

use super::{LongOption, Scan, WRONG};

/// The long options of a program.
pub struct LongOptions {
    first: *const LongOption,
    index: *mut c_int,
    /// They may begin with one dash, too.
    pub only: bool,
}

/// How a long option was written.
#[derive(Clone, Copy)]
pub enum Spelling {
    OneDash,
    TwoDashes,
}

impl Spelling {
    pub fn dashes(self) -> &'static str {
        match self {
            Spelling::OneDash => "-",
            Spelling::TwoDashes => "--",
        }
    }
}

/// Which option a name means.
enum Meant {
    This(usize),
    Several,
    None,
}

impl LongOptions {
    pub fn none() -> LongOptions {
        LongOptions { first: null(), index: null_mut(), only: false }
    }

    /// # Safety
    /// `first` is null or an array that ends with an option without a name; `index` is null or can be written to.
    pub unsafe fn new(first: *const LongOption, index: *mut c_int, only: bool) -> LongOptions {
        LongOptions { first, index, only }
    }

    pub fn is_given(&self) -> bool {
        !self.first.is_null()
    }

    fn option(&self, number: usize) -> Option<&LongOption> {
        // SAFETY: callers go up to the one without a name, and no further.
        let option = unsafe { &*self.first.add(number) };
        (!option.name.is_null()).then_some(option)
    }

    fn all(&self) -> impl Iterator<Item = &LongOption> {
        (0..).map_while(|number| self.option(number))
    }

    /// Whether a text is the name of an option, or a part of one.
    pub fn finds(&self, text: *const c_char) -> bool {
        // SAFETY: a string of the program's.
        let name = name_in(unsafe { CStr::from_ptr(text) }.to_bytes());
        !matches!(self.meant(name), Meant::None)
    }

    /// The exact name first; several shortened ones that do the same are one.
    fn meant(&self, name: &[u8]) -> Meant {
        if let Some(exact) = self.all().position(|option| option.name() == name) {
            return Meant::This(exact);
        }
        let mut shortened = self.all().enumerate().filter(|(_, option)| option.name().starts_with(name));
        let Some((number, first)) = shortened.next() else { return Meant::None };
        let other = shortened.any(|(_, option)| self.only || !option.does_the_same(first));
        if other { Meant::Several } else { Meant::This(number) }
    }

    /// The names that a shortened one may mean.
    fn possibilities<'a>(&'a self, name: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        self.all().map(LongOption::name).filter(move |own| own.starts_with(name))
    }
}

impl LongOption {
    fn name(&self) -> &[u8] {
        // SAFETY: a string of the program's, which is not null: `LongOptions::option`.
        unsafe { CStr::from_ptr(self.name) }.to_bytes()
    }

    fn does_the_same(&self, other: &LongOption) -> bool {
        (self.argument, self.flag, self.value) == (other.argument, other.flag, other.value)
    }
}

/// Up to `=`.
fn name_in(text: &[u8]) -> &[u8] {
    let len = text.iter().position(|byte| *byte == b'=').unwrap_or(text.len());
    &text[..len]
}

impl Scan {
    /// The long option that the rest of the argument is.
    pub(super) fn take_long(&mut self, spelling: Spelling) -> c_int {
        let rest = self.rest();
        // SAFETY: a string of the program's, which stays there.
        let text = unsafe { CStr::from_ptr(rest) }.to_bytes();
        let name = name_in(text);
        self.set_rest(null_mut());
        self.arguments.step();
        match self.long.meant(name) {
            Meant::This(number) => {
                let value = (name.len() < text.len()).then(|| rest.wrapping_add(name.len() + 1));
                self.found_long(number, value, spelling)
            }
            Meant::Several => {
                let possible: Vec<u8> = self
                    .long
                    .possibilities(name)
                    .flat_map(|own| [b" '", spelling.dashes().as_bytes(), own, b"'"].concat())
                    .collect();
                self.say_ambiguous(spelling, text, &possible);
                self.set_option(0);
                WRONG
            }
            Meant::None => {
                self.say_long("unrecognized option", spelling, text, "");
                self.set_option(0);
                WRONG
            }
        }
    }

    fn found_long(&mut self, number: usize, value: Option<*mut c_char>, spelling: Spelling) -> c_int {
        let Some(option) = self.long.option(number) else { return WRONG };
        let (name, wants) = (option.name(), option.argument);
        let (flag, result) = (option.flag, option.value);
        match value {
            Some(value) if wants != 0 => self.set_argument(value),
            Some(_) => {
                self.say_long("option", spelling, name, " doesn't allow an argument");
                self.set_option(result as u8);
                return WRONG;
            }
            None if wants == 1 => match self.arguments.take() {
                Some(value) => self.set_argument(value),
                None => {
                    self.say_long("option", spelling, name, " requires an argument");
                    self.set_option(result as u8);
                    return if self.quiet { c_int::from(b':') } else { WRONG };
                }
            },
            None => {}
        }
        // SAFETY: places that the program has given, or null.
        unsafe {
            if !self.long.index.is_null() {
                *self.long.index = number as c_int;
            }
            if flag.is_null() {
                return result;
            }
            *flag = result;
        }
        0
    }
}
