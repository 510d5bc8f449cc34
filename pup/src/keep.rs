//! Values that are only there for their memory, which segments lend, and where they end.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::mem::ManuallyDrop;

thread_local! {
    /// Values whose end this thread puts off, if it does.
    static PUT_OFF: RefCell<Option<Vec<Box<dyn Any>>>> = const { RefCell::new(None) };
}

/// Values that are put off have large slices; so many of them are worth an early end.
const MANY: usize = 8;

/// A value that is kept for its memory.
///
/// The last segment of it is given up wherever a link has sent it. Dropping it runs code of the program, which may send
/// something on the same link: so a thread can put that off ([`PutOff`]).
pub struct Kept<T: 'static>(ManuallyDrop<T>);

// SAFETY: whoever makes one promises that the value may change threads.
unsafe impl<T> Send for Kept<T> {}
// SAFETY: nobody reaches the value through a shared reference but to lend it; segments have pointers to plain bytes.
unsafe impl<T> Sync for Kept<T> {}

impl<T> Kept<T> {
    /// Takes a value.
    ///
    /// # Safety
    /// It may change threads.
    pub unsafe fn new(value: T) -> Self {
        Kept(ManuallyDrop::new(value))
    }

    pub(crate) fn value(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        // SAFETY: taken once, here.
        let value = unsafe { ManuallyDrop::take(&mut self.0) };
        let mut value = Some(value);
        // A thread that ends has no list any more, and drops at once.
        let _ = PUT_OFF.try_with(|list| {
            if let Some(list) = &mut *list.borrow_mut()
                && let Some(value) = value.take()
            {
                list.push(Box::new(value));
            }
        });
        drop(value);
    }
}

impl<T> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({})", std::any::type_name::<T>())
    }
}

/// While it lives, this thread puts off the end of values whose segments it gives up.
#[derive(Debug)]
pub struct PutOff(());

impl PutOff {
    /// From now on.
    pub fn begin() -> Self {
        PUT_OFF.with(|list| {
            list.borrow_mut().get_or_insert_default();
        });
        PutOff(())
    }

    /// Drops what has been put off: where code of the program may run.
    #[inline]
    pub fn drop_all(&self) {
        PutOff::drop_all_of_thread();
    }

    /// Whether so many values have been put off on this thread that their memory counts.
    #[inline]
    pub fn has_many() -> bool {
        PUT_OFF.with(|list| list.borrow().as_ref().is_some_and(|list| list.len() >= MANY))
    }

    /// The same where it is not at hand.
    #[inline]
    pub fn drop_all_of_thread() {
        let some = PUT_OFF.with(|list| list.borrow().as_ref().is_some_and(|list| !list.is_empty()));
        if some {
            let values = PUT_OFF.with(|list| list.borrow_mut().as_mut().map(std::mem::take));
            drop(values);
        }
    }
}

impl Drop for PutOff {
    fn drop(&mut self) {
        drop(PUT_OFF.take());
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn the_end_is_put_off_until_asked_for() {
        let witness = Rc::new(());
        // SAFETY: it stays on this thread.
        let kept = || unsafe { Kept::new(witness.clone()) };
        drop(kept());
        assert_eq!(Rc::strong_count(&witness), 1);
        let off = PutOff::begin();
        drop((kept(), kept()));
        assert_eq!(Rc::strong_count(&witness), 3);
        off.drop_all();
        assert_eq!(Rc::strong_count(&witness), 1);
        drop(kept());
        drop(off);
        assert_eq!(Rc::strong_count(&witness), 1);
    }
}
