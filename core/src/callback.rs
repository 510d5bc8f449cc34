//! Callbacks: where a value goes when it is ready (Charm++ manual: "callbacks").

use std::fmt;
use std::marker::PhantomData;

use crate::function::Function;
use talisman_base::ids::PeId;
use talisman_kernel::pe::current;
use talisman_kernel::refusal;
use talisman_kernel::route::Route;
use talisman_pup::{Lender, Packed, Packer, Pup, PupError, Unpacker};

/// Where a value of type `V` goes when it is ready: an entry of a chare, a broadcast, a section, a function on a
/// PE, or the end of the job. It can be sent, stored and checkpointed.
pub struct Callback<V = ()> {
    route: Route,
    types: PhantomData<fn(V)>,
}

impl<V> Callback<V> {
    pub(crate) fn to(route: Route) -> Self {
        Callback { route, types: PhantomData }
    }

    pub(crate) fn into_route(self) -> Route {
        self.route
    }

    /// Drops the value.
    pub fn ignore() -> Self {
        Self::to(Route::Ignore)
    }

    /// Ends the job, successfully.
    pub fn exit() -> Self {
        Self::to(Route::Exit(0))
    }

    /// Calls a registered function on a PE: [`Function`].
    pub fn function<F: Function<Value = V>>(pe: PeId) -> Self {
        Self::to(Route::Function(pe, F::KEY))
    }

    /// Sends a value there.
    pub fn send(&self, value: V)
    where
        V: Pup,
    {
        let value = refusal::seen(Packed::of(&value), || "the value of a callback".into());
        current(|pe| pe.route(&self.route, value));
    }
}

impl<V> Clone for Callback<V> {
    fn clone(&self) -> Self {
        Self::to(self.route.clone())
    }
}

impl<V> PartialEq for Callback<V> {
    fn eq(&self, other: &Self) -> bool {
        self.route == other.route
    }
}

impl<V> fmt::Debug for Callback<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Callback({:?})", self.route)
    }
}

impl<V> Pup for Callback<V> {
    const MIN_SIZE: usize = Route::MIN_SIZE;

    fn pack(&self, p: &mut Packer) {
        self.route.pack(p);
    }

    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        self.route.lend(l);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(Self::to(Route::unpack(u)?))
    }
}

impl<V: Pup> Callback<V> {
    /// Fills in the value now, all of it: `cx.after(second, cx.callback(Self::timeout).with_value(attempt))`.
    pub fn with_value(self, value: V) -> Callback {
        Callback::to(Route::Prefixed(Box::new(self.route), kept_for_later(&value)))
    }
}

/// A value that goes with a callback, wherever that is sent.
fn kept_for_later<V: Pup>(value: &V) -> Packed {
    refusal::seen(Packed::of(value), || "the value that a callback is given".into())
}

/// Fills in the first of several arguments now.
macro_rules! fill_in_the_first {
    ($(($($rest:ident)+) => $left:ty;)*) => { $(
        impl<First: Pup, $($rest),+> Callback<(First, $($rest),+)> {
            /// Fills in the first argument now: `cx.callback(Self::residual).with(self.iter)`.
            pub fn with(self, first: First) -> Callback<$left> {
                Callback::to(Route::Prefixed(Box::new(self.route), kept_for_later(&first)))
            }
        }
    )* };
}
fill_in_the_first! {
    (A) => A;
    (A B) => (A, B);
    (A B C) => (A, B, C);
    (A B C D) => (A, B, C, D);
    (A B C D E) => (A, B, C, D, E);
    (A B C D E F) => (A, B, C, D, E, F);
    (A B C D E F G) => (A, B, C, D, E, F, G);
}
