//! A chare in memory: the runtime's head, the user's state, the states of its async entries.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::chare::Chare;
use talisman_kernel::object::{Head, flag};
use talisman_kernel::pe::running::before_free;

/// A chare of type `C` in memory. `repr(C)`: a pointer to it is one to its [`Head`].
#[repr(C)]
pub struct Object<C: Chare> {
    head: Head,
    state: MaybeUninit<C>,
    flows: MaybeUninit<C::Flows>,
}

impl<C: Chare> Object<C> {
    /// Memory for an object whose state comes with [`Object::initialise`].
    pub fn allocate(head: Head) -> NonNull<Head> {
        let object =
            Box::new(Object::<C> { head, state: MaybeUninit::uninit(), flows: MaybeUninit::uninit() });
        NonNull::from(Box::leak(object)).cast()
    }

    /// # Safety
    /// `head` came from [`Object::<C>::allocate`] and is not initialised.
    pub unsafe fn initialise(head: NonNull<Head>, state: C, flows: C::Flows) {
        let object = head.cast::<Self>().as_ptr();
        // SAFETY: the caller's promise; the fields are written, not read.
        unsafe {
            (&raw mut (*object).state).write(MaybeUninit::new(state));
            (&raw mut (*object).flows).write(MaybeUninit::new(flows));
            (*object).head.set(flag::LIVE);
        }
    }

    /// The user's state and that of the async entries.
    ///
    /// # Safety
    /// `head` is that of an initialised `Object<C>`, and nobody else borrows these parts for `'a`. The head itself
    /// may be in use: its fields are cells.
    pub unsafe fn parts<'a>(head: NonNull<Head>) -> (&'a mut C, &'a mut C::Flows) {
        let object = head.cast::<Self>().as_ptr();
        // SAFETY: the caller's promise.
        unsafe {
            let (state, flows) = (&raw mut (*object).state, &raw mut (*object).flows);
            ((*state).assume_init_mut(), (*flows).assume_init_mut())
        }
    }

    /// Where the user's state is.
    ///
    /// # Safety
    /// `head` is that of an `Object<C>`.
    pub unsafe fn state(head: NonNull<Head>) -> NonNull<C> {
        // SAFETY: the caller's promise; a part of an object is not at address 0.
        unsafe { NonNull::new_unchecked((&raw mut (*head.cast::<Self>().as_ptr()).state).cast()) }
    }

    /// Frees an object, with its state if it has one.
    ///
    /// # Safety
    /// `head` came from [`Object::<C>::allocate`], and nothing uses it any more.
    pub unsafe fn free(head: NonNull<Head>) {
        before_free();
        // SAFETY: the caller's promise.
        unsafe {
            let mut object = Box::from_raw(head.cast::<Self>().as_ptr());
            if object.head.has(flag::LIVE) {
                object.state.assume_init_drop();
                object.flows.assume_init_drop();
            }
        }
    }
}
