//! Walking a stack that nobody runs on.

use std::ffi::CStr;
use std::path::{Path, PathBuf};

use super::debug_file;
use crate::libc::object_at;
use crate::linker::loaded;

/// The number of the stack pointer, and the one that stands for where a call returns to (System V ABI for x86-64, figure
/// 3.36).
pub const STACK_POINTER: u16 = 7;
pub const RETURN_ADDRESS: u16 = 16;

/// A stack of more frames is not walked to its end.
const FRAMES_MAX: usize = 256;

/// Registers by the numbers that tables for unwinding have for them; unknown ones have no value.
#[derive(Clone, Debug, Default)]
pub struct Registers([Option<usize>; RETURN_ADDRESS as usize + 1]);

impl Registers {
    /// Of a thread that goes on at this address, with these values of registers besides.
    pub fn new(goes_on_at: usize, others: &[(u16, usize)]) -> Registers {
        let mut registers = Registers::default();
        registers.set(RETURN_ADDRESS, Some(goes_on_at));
        others.iter().for_each(|(number, value)| registers.set(*number, Some(*value)));
        registers
    }

    pub(super) fn get(&self, number: u16) -> Option<usize> {
        self.0.get(usize::from(number)).copied().flatten()
    }

    pub(super) fn set(&mut self, number: u16, value: Option<usize>) {
        if let Some(register) = self.0.get_mut(usize::from(number)) {
            *register = value;
        }
    }
}

/// The addresses of a stack.
#[derive(Debug)]
pub struct Stack<'a> {
    bytes: &'a [u8],
}

impl<'a> Stack<'a> {
    /// Whose bytes are these, at their addresses.
    pub fn new(bytes: &'a [u8]) -> Stack<'a> {
        Stack { bytes }
    }

    pub(super) fn word(&self, at: usize) -> Option<usize> {
        let at = at.checked_sub(self.bytes.as_ptr().addr())?;
        let bytes = self.bytes.get(at..at.checked_add(size_of::<usize>())?)?;
        Some(usize::from_ne_bytes(bytes.try_into().ok()?))
    }
}

/// Addresses in the copy at `base` of the calls that have not returned, the innermost first.
pub fn calls(base: usize, registers: &Registers, stack: &Stack<'_>) -> Vec<usize> {
    let is_of_copy = |call: &usize| loaded::at(*call).is_some_and(|copy| copy.base == base);
    frames(registers, stack).filter(is_of_copy).collect()
}

/// Addresses that calls return to, the innermost first, up to the process's own code, which has called the program.
pub fn returns(registers: &Registers, stack: &Stack<'_>) -> Vec<usize> {
    frames(registers, stack).take_while(|call| !is_of_process(*call)).map(|call| call + 1).collect()
}

/// Addresses of all calls that have not returned, the innermost first.
fn frames(registers: &Registers, stack: &Stack<'_>) -> impl Iterator<Item = usize> {
    let caller = |registers: &Registers| {
        let caller = caller_of(call_of(registers)?, registers, stack)?;
        // A frame that does not grow would be walked forever.
        (caller.get(STACK_POINTER) > registers.get(STACK_POINTER)).then_some(caller)
    };
    let all = std::iter::successors(Some(registers.clone()), caller);
    all.map_while(|registers| call_of(&registers)).take(FRAMES_MAX)
}

/// A call returns to what follows it, which may be another function.
fn call_of(registers: &Registers) -> Option<usize> {
    registers.get(RETURN_ADDRESS)?.checked_sub(1)
}

/// Whether code is of this executable.
fn is_of_process(code: usize) -> bool {
    let base = |at: usize| object_at(at).map(|found| found.dli_fbase.addr());
    loaded::at(code).is_none() && base(code) == base(is_of_process as *const () as usize)
}

fn caller_of(call: usize, registers: &Registers, stack: &Stack<'_>) -> Option<Registers> {
    let Place { path, loaded_at } = place_of(call)?;
    debug_file(&path).frames()?.caller(call.wrapping_sub(loaded_at) as u64, registers, stack)
}

/// The file that has code, and what is added to its addresses.
struct Place {
    path: PathBuf,
    loaded_at: usize,
}

fn place_of(code: usize) -> Option<Place> {
    if let Some(copy) = loaded::at(code) {
        let object = copy.object_at(code)?;
        let loaded_at = (copy.base + object.offset).wrapping_sub(object.start);
        return Some(Place { path: object.path.clone(), loaded_at });
    }
    let found = object_at(code)?;
    let own = object_at(place_of as *const () as usize)?;
    let loaded_at = found.dli_fbase.addr();
    if loaded_at == own.dli_fbase.addr() {
        return Some(Place { path: "/proc/self/exe".into(), loaded_at });
    }
    if found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a string that lives as long as the library.
    let path = unsafe { CStr::from_ptr(found.dli_fname) }.to_str().ok()?;
    Some(Place { path: Path::new(path).to_owned(), loaded_at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_ends_at_its_ends() {
        let words = [7usize, 9];
        let at = words.as_ptr().addr();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let stack = Stack::new(&bytes);
        let begin = bytes.as_ptr().addr();
        assert_eq!((stack.word(begin), stack.word(begin + 8)), (Some(7), Some(9)));
        for outside in [begin - 1, begin + 9, usize::MAX, at.wrapping_add(1 << 40)] {
            assert_eq!(stack.word(outside), None);
        }
    }

    #[test]
    fn own_functions_are_walked() {
        // Nothing of it is a copy of a program, so nothing is found; but the file is, and its tables.
        let place = place_of(own_functions_are_walked as *const () as usize).expect("this executable");
        assert!(debug_file(&place.path).frames().is_some());
        let registers = Registers::new(own_functions_are_walked as *const () as usize + 1, &[]);
        assert_eq!(calls(0, &registers, &Stack::new(&[])), [0usize; 0]);
    }
}
