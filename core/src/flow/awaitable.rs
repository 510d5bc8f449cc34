//! What `.await` takes in an async entry.

use talisman_base::ids::ObjId;

/// Something whose value arrives later, in a message: a call of an entry that returns a value, a reduction, a barrier.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be awaited in an async entry",
    note = "it takes `cx.when(Self::entry)`, a call that returns a value, `cx.all_reduce(…)`, `cx.barrier()`, another async method of this chare, …",
    note = "a call of one chare's entry that returns nothing can be awaited where that is declared `#[entry(ack)]`; a broadcast that returns values where they are reduced: `all.values().reduce(Sum).await`"
)]
pub trait Awaitable {
    /// The value that arrives.
    type Output;

    /// Sets it going, and returns the number under which the value will arrive: `at.fresh()`, unless the value goes to
    /// many objects that have to agree on a number by other means.
    #[doc(hidden)]
    fn begin(self, at: Begin) -> u64;
}

/// Where the value is to go: to which object, and under which number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    object: ObjId,
    fresh: u64,
}

impl Begin {
    /// The value goes to `object`, which has not used the number `fresh` before.
    pub fn new(object: ObjId, fresh: u64) -> Self {
        Begin { object, fresh }
    }

    /// The object that waits.
    pub fn object(&self) -> ObjId {
        self.object
    }

    /// A number that is not used again in the life of the object, and is below 2^63.
    pub fn fresh(&self) -> u64 {
        self.fresh
    }
}
