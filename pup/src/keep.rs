//! Values that are only there for their memory, which segments lend, and where they end.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::rc::Rc;

type List = Rc<RefCell<Vec<Box<dyn Any>>>>;

thread_local! {
    /// Where values go whose end this thread puts off, if it does.
    static PUT_OFF: RefCell<Option<List>> = const { RefCell::new(None) };
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
            if let Some(list) = &*list.borrow()
                && let Some(value) = value.take()
            {
                list.borrow_mut().push(Box::new(value));
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

/// Values whose end is put off: those whose segments are given up while a [`PuttingOff`] of it lives.
#[derive(Debug, Default)]
pub struct PutOff(List);

/// While it lives, this thread puts off the end of values whose segments it gives up, or does not. They may be nested: the last one
/// counts.
#[derive(Debug)]
pub struct PuttingOff<'a> {
    before: Option<List>,
    values: PhantomData<&'a PutOff>,
}

impl PutOff {
    /// None yet.
    pub fn new() -> Self {
        PutOff::default()
    }

    /// From now on they go here.
    pub fn begin(&self) -> PuttingOff<'_> {
        PuttingOff { before: PUT_OFF.replace(Some(self.0.clone())), values: PhantomData }
    }

    /// Nothing is put off while this lives.
    pub fn pause() -> PuttingOff<'static> {
        PuttingOff { before: PUT_OFF.take(), values: PhantomData }
    }

    /// Drops what has been put off: where code of the program may run.
    #[inline]
    pub fn drop_all(&self) {
        drop_all(&self.0);
    }

    /// Whether so many values have been put off on this thread that their memory counts.
    #[inline]
    pub fn has_many() -> bool {
        PUT_OFF.with_borrow(|list| list.as_ref().is_some_and(|list| list.borrow().len() >= MANY))
    }

    /// [`PutOff::drop_all`] where it is not at hand.
    #[inline]
    pub fn drop_all_of_thread() {
        PUT_OFF.with_borrow(Clone::clone).iter().for_each(drop_all);
    }
}

impl Drop for PuttingOff<'_> {
    fn drop(&mut self) {
        PUT_OFF.set(self.before.take());
    }
}

#[inline]
fn drop_all(list: &List) {
    if !list.borrow().is_empty() {
        // Not borrowed meanwhile: what the values do may put off the end of others.
        let values = list.take();
        drop(values);
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
        let off = PutOff::new();
        let putting_off = off.begin();
        drop((kept(), kept()));
        assert_eq!(Rc::strong_count(&witness), 3);
        off.drop_all();
        assert_eq!(Rc::strong_count(&witness), 1);
        drop((kept(), putting_off));
        drop(kept());
        assert_eq!(Rc::strong_count(&witness), 2);
        drop(off);
        assert_eq!(Rc::strong_count(&witness), 1);
    }

    #[test]
    fn each_list_has_its_own_values() {
        let (outer, inner) = (PutOff::new(), PutOff::new());
        let (one, other) = (Rc::new(()), Rc::new(()));
        // SAFETY: they stay on this thread.
        let kept = |value: &Rc<()>| unsafe { Kept::new(value.clone()) };
        let _outer = outer.begin();
        {
            let _inner = inner.begin();
            drop(kept(&one));
        }
        drop(kept(&other));
        inner.drop_all();
        assert_eq!((Rc::strong_count(&one), Rc::strong_count(&other)), (1, 2));
        PutOff::drop_all_of_thread();
        assert_eq!(Rc::strong_count(&other), 1);
    }
}
