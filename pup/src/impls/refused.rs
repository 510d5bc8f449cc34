//! `Rc`, `Arc` and references: refused, with the reason.

use std::{rc, sync};

use crate::{Packer, Pup, PupError, Unpacker};

/// Asked for by the impls below and implemented for nothing, so that the compiler's message is about sharing.
///
/// The refused type is a parameter: were it `Self`, the compiler would show the message of `Pup` instead.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{T}` cannot be sent or checkpointed: sharing would not survive the trip",
    label = "shared or borrowed, not owned",
    note = "on arrival every holder would have a copy of its own, and changes to one would be lost to the others",
    note = "own the value (`T`, `Box<T>`, `Vec<T>`, `String`), or use `talisman::Shared<T>` for data that everyone reads; `#[pup(skip)]` leaves a field out"
)]
pub trait Carries<T> {}

/// What would have to carry them.
#[doc(hidden)]
#[derive(Debug)]
pub struct Trip;

macro_rules! refused {
    ($([$($params:tt)*] $type:ty;)+) => {$(
        impl<$($params)*> Pup for $type
        where
            Trip: Carries<$type>,
        {
            fn pack(&self, _: &mut Packer) {
                unreachable!("a trip carries nothing that is shared")
            }
            fn unpack(_: &mut Unpacker<'_>) -> Result<Self, PupError> {
                unreachable!("a trip carries nothing that is shared")
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
