//! What a rank's state has to do with libraries that the rank loads later.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use super::current;
use super::list::List;
use super::start::Main;

/// Longer messages are cut.
const MESSAGE: usize = 1024;

/// Plain data.
#[repr(C)]
pub struct Late {
    /// To be called at the end, the last one first.
    finalizers: List<usize>,
    /// Of the program.
    count: c_int,
    arguments: *mut *mut c_char,
    /// What `dlerror` says.
    message: [c_char; MESSAGE],
}

impl Late {
    pub const fn new() -> Late {
        Late { finalizers: List::new(), count: 0, arguments: null_mut(), message: [0; MESSAGE] }
    }

    pub fn set_arguments(&mut self, count: c_int, arguments: *mut *mut c_char) {
        (self.count, self.arguments) = (count, arguments);
    }

    pub fn arguments(&self) -> *mut *mut c_char {
        self.arguments
    }
}

fn late<'a>() -> &'a mut Late {
    // SAFETY: the running rank's state. The reference is not kept while a function is called.
    unsafe { &mut (*current()).late }
}

/// Calls the initializers of a library, with the program's arguments.
pub fn call_initializers(mut functions: List<usize>) {
    // SAFETY: the running rank's variable.
    let environment = unsafe { *(*current()).variables.environ };
    for number in 0..functions.len() {
        let Some(function) = functions.get(number) else { break };
        // SAFETY: a function of this type, by the library's own table.
        let function: Main = unsafe { std::mem::transmute(function) };
        let (count, arguments) = (late().count, late().arguments);
        function(count, arguments, environment);
    }
    functions.clear();
}

/// In the order in which they are to be called; those of libraries that came before are called after them. False if
/// there is no memory.
pub fn add_finalizers(functions: &[usize]) -> bool {
    functions.iter().rev().all(|function| late().finalizers.push(*function))
}

pub(super) fn next_finalizer() -> Option<usize> {
    late().finalizers.take_last(|_| true)
}

/// Keeps a message for the program, until the next one.
pub fn keep_error(text: &str) -> *const c_char {
    let message = &mut late().message;
    let text = text.bytes().filter(|byte| *byte != 0).take(MESSAGE - 1).chain([0]);
    message.iter_mut().zip(text).for_each(|(place, byte)| *place = byte as c_char);
    message.as_ptr()
}
