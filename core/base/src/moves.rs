//! Proofs that values may move between threads, demanded once where the user can see why.

use std::marker::PhantomData;

/// Proof that values of type `T` may move between threads.
///
/// `Send` is neither a supertrait of `Chare` nor of `Args`: each of the many
/// places that need those traits would then repeat the one complaint about a type that is not `Send`. Instead nobody
/// has a `ChareType`, without which no object is made, or an
/// `Entry`, without which nothing is sent, but by such a proof.
#[doc(hidden)]
// Invariant: a proof for a type is none for its subtypes and supertypes.
pub struct Moves<T>(PhantomData<fn(T) -> T>);

impl<T> Moves<T> {
    /// The compiler has it.
    pub const fn between_threads() -> Self
    where
        T: Send,
    {
        Moves(PhantomData)
    }
}

macro_rules! moves_of_tuples {
    ($(($($part:ident)*))*) => { $(
        impl<$($part),*> Moves<($($part,)*)> {
            /// A tuple of what moves between threads does.
            pub const fn all(_: ($(Moves<$part>,)*)) -> Self {
                Moves(PhantomData)
            }
        }
    )* };
}
moves_of_tuples!(() (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H));

// A proof is of nothing but its type.
impl<T> Clone for Moves<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Moves<T> {}
