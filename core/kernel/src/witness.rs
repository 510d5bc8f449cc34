//! What oracles see of a simulated run: every message and object, as they come and go.
//!
//! Without the feature `oracles` nothing here costs anything: a `Shadow` has no size, and what would be told is never
//! made. With it, nothing is seen unless a thread has a witness.
//!
//! With a witness every message has a number, its shadow, wherever it is: in memory in its envelope, and between nodes
//! in front of its bytes (`wire.rs`). A node without a witness takes such bytes for none of a message.

mod seen;

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

pub use seen::{Kind, Reduction, Seen, Until, Why, collection, section};

use crate::message::envelope::{Body, Envelope};
use crate::object::Head;
use crate::pe::{Pe, try_current};
use talisman_base::ids::PeId;

/// Who is told: what, and in which epoch the PE is on which it happens, if it happens on one.
pub type Witness = Box<dyn FnMut(Option<u32>, &Seen)>;

thread_local! {
    static WITNESS: RefCell<Option<Witness>> = const { RefCell::new(None) };
    static PRESENT: Cell<bool> = const { Cell::new(false) };
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// From now on, what happens in this thread is told to `witness`; the former one is given back. Messages are counted anew.
pub fn call(witness: Option<Witness>) -> Option<Witness> {
    LAST.set(0);
    PRESENT.set(witness.is_some());
    WITNESS.replace(witness)
}

/// Whether this thread has a witness.
#[inline(always)]
pub fn is_present() -> bool {
    cfg!(feature = "oracles") && PRESENT.get()
}

/// Tells the witness, if there is one.
#[inline(always)]
pub fn see(what: impl FnOnce() -> Seen) {
    if is_present() {
        tell(&what());
    }
}

#[cold]
fn tell(what: &Seen) {
    let epoch = epoch();
    // A thread that is ending has no witness any more.
    let _ = WITNESS.try_with(|witness| {
        if let Some(witness) = &mut *witness.borrow_mut() {
            witness(epoch, what);
        }
    });
}

/// The epoch that the PE is in which this thread runs right now.
pub fn epoch() -> Option<u32> {
    try_current(Pe::epoch)
}

/// Memory for an object was taken.
#[inline(always)]
pub fn see_allocated(head: NonNull<Head>) {
    see(|| Seen::Allocated { at: head.as_ptr().addr() });
}

/// The memory of an object is about to be given back.
#[inline(always)]
pub fn see_freed(head: NonNull<Head>) {
    see(|| Seen::Freed { at: head.as_ptr().addr() });
}

/// The number by which a witness knows a message. Nothing at all without the feature `oracles`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shadow(#[cfg(feature = "oracles")] u64);

impl Shadow {
    /// None: nobody watches.
    pub const NONE: Shadow = Shadow::of(0);

    /// That of a message that came with this number.
    #[inline(always)]
    pub const fn of(number: u64) -> Self {
        #[cfg(not(feature = "oracles"))]
        let _ = number;
        Shadow(
            #[cfg(feature = "oracles")]
            number,
        )
    }

    /// The number; 0 is none.
    #[inline(always)]
    pub const fn number(self) -> u64 {
        #[cfg(feature = "oracles")]
        return self.0;
        #[cfg(not(feature = "oracles"))]
        0
    }

    fn next() -> Self {
        LAST.set(LAST.get() + 1);
        Shadow::of(LAST.get())
    }
}

impl Pe {
    /// A message is made here, and about to be sent or kept: from now on it has a shadow.
    #[inline(always)]
    pub fn see_sent(&self, message: &mut Envelope) {
        if cfg!(feature = "oracles") {
            self.cast_shadow(message);
        }
    }

    #[cold]
    fn cast_shadow(&self, message: &mut Envelope) {
        if !is_present() {
            return message.shadow = Shadow::NONE;
        }
        message.shadow = Shadow::next();
        let sent = Seen::Sent {
            message: message.shadow.number(),
            pe: self.id,
            sender: self.running().map(|head| head.id()),
            to: (!matches!(message.body, Body::Pe)).then(|| message.to()),
            kind: Kind::of(message),
            in_line: message.priority == 0
                && message.extra.as_ref().is_none_or(|extra| !extra.expedited && extra.priority.is_none()),
        };
        tell(&sent);
    }

    /// A message is kept here.
    #[inline(always)]
    pub fn see_kept(&self, envelope: NonNull<Envelope>, until: Until) {
        // SAFETY: whoever keeps an envelope owns it.
        let shadow = || unsafe { envelope.as_ref() }.shadow;
        self.see_message(shadow(), |message, pe| Seen::Kept { message, pe, until });
    }

    /// Something happens to a message here.
    #[inline(always)]
    pub fn see_message(&self, shadow: Shadow, what: impl FnOnce(u64, PeId) -> Seen) {
        if cfg!(feature = "oracles") && shadow != Shadow::NONE {
            see(|| what(shadow.number(), self.id));
        }
    }
}
