//! `Rc`, `Arc` and references: refused, with the reason.

use std::{rc, sync};

use crate::{Packer, Pup, PupError, Unpacker};

/// Implemented by nothing. The impls below ask for it, so that the compiler's message is about sharing.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent or checkpointed: sharing would not survive the trip",
    label = "shared or borrowed, not owned",
    note = "on arrival every holder would have a copy of its own, and changes to one would be lost to the others",
    note = "own the value (`T`, `Box<T>`, `Vec<T>`, `String`), or use `talisman::Shared<T>` for data that everyone reads; `#[pup(skip)]` leaves a field out"
)]
pub trait Owned: sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! refused {
    ($([$($params:tt)*] $type:ty;)+) => {$(
        impl<$($params)*> Pup for $type
        where
            $type: Owned,
        {
            fn pack(&self, _: &mut Packer) {
                unreachable!("nothing is `Owned`")
            }
            fn unpack(_: &mut Unpacker<'_>) -> Result<Self, PupError> {
                unreachable!("nothing is `Owned`")
            }
        }
    )+};
}

refused! {
    [T: ?Sized] rc::Rc<T>;
    [T: ?Sized] rc::Weak<T>;
    [T: ?Sized] sync::Arc<T>;
    [T: ?Sized] sync::Weak<T>;
    ['a, T: ?Sized] &'a T;
    ['a, T: ?Sized] &'a mut T;
}
