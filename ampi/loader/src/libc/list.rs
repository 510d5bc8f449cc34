//! A list in the rank's own memory: `malloc` gives the rank's while it runs.

use std::mem::size_of;
use std::ptr::null_mut;

/// Values of C, one after the other.
#[repr(C)]
pub struct List<T: Copy> {
    first: *mut T,
    len: usize,
    room: usize,
}

impl<T: Copy> List<T> {
    pub const fn new() -> List<T> {
        List { first: null_mut(), len: 0, room: 0 }
    }

    /// False if there is no memory.
    pub fn push(&mut self, value: T) -> bool {
        if self.len == self.room && !self.grow() {
            return false;
        }
        // SAFETY: there is room for it.
        unsafe { self.first.add(self.len).write(value) };
        self.len += 1;
        true
    }

    pub fn get(&self, index: usize) -> Option<T> {
        // SAFETY: it was written.
        (index < self.len).then(|| unsafe { self.first.add(index).read() })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Sets a value, or adds it at the end. What is the same already is not written to. False if there is no memory, or
    /// the place is behind the end.
    pub fn set(&mut self, index: usize, value: T) -> bool
    where
        T: PartialEq,
    {
        match self.get(index) {
            Some(known) if known == value => true,
            // SAFETY: a place that was written before.
            Some(_) => unsafe {
                self.first.add(index).write(value);
                true
            },
            None => index == self.len && self.push(value),
        }
    }

    /// Forgets the values from here on.
    pub fn shorten(&mut self, len: usize) {
        if len < self.len {
            self.len = len;
        }
    }

    /// Takes the last value that is meant.
    pub fn take_last(&mut self, meant: impl Fn(&T) -> bool) -> Option<T> {
        let found = (0..self.len).rev().find(|index| self.get(*index).is_some_and(|value| meant(&value)))?;
        let value = self.get(found)?;
        // SAFETY: the values after it move down by one.
        unsafe {
            let place = self.first.add(found);
            std::ptr::copy(place.add(1), place, self.len - found - 1);
        }
        self.len -= 1;
        Some(value)
    }

    /// Gives the memory back, with nothing in it: the program may get it next, and send it without having written to it.
    pub fn clear(&mut self) {
        // SAFETY: it came from `calloc` with so much room, or is null.
        unsafe {
            if !self.first.is_null() {
                self.first.cast::<u8>().write_bytes(0, self.room * size_of::<T>());
            }
            ::libc::free(self.first.cast());
        }
        *self = List::new();
    }

    fn grow(&mut self) -> bool {
        let room = (self.room * 2).max(8);
        // SAFETY: takes numbers.
        let more = unsafe { ::libc::calloc(room, size_of::<T>()) }.cast::<T>();
        if more.is_null() {
            return false;
        }
        let len = self.len;
        if len > 0 {
            // SAFETY: there is room for more than there were.
            unsafe { more.copy_from_nonoverlapping(self.first, len) };
        }
        self.clear();
        *self = List { first: more, len, room };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_that_is_meant_is_taken() {
        let mut list = List::new();
        for value in 0..20 {
            assert!(list.push(value));
        }
        assert_eq!(list.take_last(|value| value % 7 == 0), Some(14));
        assert_eq!(list.take_last(|_| true), Some(19));
        assert_eq!((list.len(), list.get(14), list.get(18)), (18, Some(15), None));
        assert!(list.set(3, 30) && list.set(18, 40) && !list.set(20, 0));
        assert_eq!((list.len(), list.get(3), list.get(18)), (19, Some(30), Some(40)));
        list.shorten(4);
        assert_eq!((list.len(), list.get(4)), (4, None));
        list.clear();
        assert_eq!(list.take_last(|_| true), None);
    }
}
