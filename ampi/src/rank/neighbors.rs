//! Ranks that wait on this PE: another rank of it gives them its frames at once, without a message, and messages that they
//! wait for without a frame.
//!
//! One rank of a PE runs at a time, so all others are suspended, and nobody else uses them. What is taken in here may leave
//! its rank ready: then that is called as if it had let others run, by a message, so that all that the runtime does with
//! messages is done with that one. It is called when the entry of the rank that gave has run.
//!
//! Which way a frame goes makes no difference for its receiver: frames are numbered, and one that overtakes another waits
//! for it (`engine/order.rs`). Several nodes in one process would find each other's ranks here, whose memory is not in
//! place: there nobody is noted (see [`Cx::shares_process`](talisman_core::cx::Cx::shares_process)).

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use talisman_core::cx::Seat;

use super::{Outgoing, Rank};
use crate::engine::{Head, Rank as Number};

thread_local! {
    /// By their numbers; those that are elsewhere, or may not be given anything, have no address here.
    static HERE: RefCell<Vec<Option<Neighbor>>> = const { RefCell::new(Vec::new()) };
    /// What the rank that runs has given first to another: mostly it gives once before it waits.
    static FIRST: Cell<Option<Given>> = const { Cell::new(None) };
    /// Whether there is more than that.
    static HAS_MORE: Cell<bool> = const { Cell::new(false) };
    /// What it has given to others since.
    static GIVEN: RefCell<Vec<Given>> = const { RefCell::new(Vec::new()) };
    /// What that has led to.
    static LED_TO: RefCell<Vec<Outgoing>> = const { RefCell::new(Vec::new()) };
}

/// A rank that waits on this PE, and its element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbor {
    pub rank: NonNull<Rank>,
    pub seat: Seat,
}

/// The place of a rank among those of its PE. It is not found any more when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Place {
    number: Option<Number>,
}

impl Place {
    /// From now on the rank at this address is found; or none is.
    ///
    /// # Safety
    /// Until the next call, or the end of this: the rank stays at its address, and is not used while another rank of this
    /// thread may [look for it](look_for), which is while the entry of another one runs.
    pub unsafe fn set(&mut self, rank: Option<(Number, Neighbor)>) {
        let number = rank.map(|(number, _)| number);
        if self.number != number {
            self.leave();
            self.number = number;
        }
        if let Some((number, rank)) = rank {
            note(number, Some(rank));
        }
    }

    /// Whether it is found.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.number.is_some()
    }

    /// It is not found any more.
    pub fn leave(&mut self) {
        self.number.take().into_iter().for_each(|number| note(number, None));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}

fn note(number: Number, rank: Option<Neighbor>) {
    let number = number as usize;
    // A thread that ends has no ranks any more, and no table.
    let _at_its_end = HERE.try_with(|here| {
        let mut here = here.borrow_mut();
        if here.len() <= number {
            here.resize(number + 1, None);
        }
        here[number] = rank;
    });
}

/// A rank that waits on this PE; none if it is not there. Nobody uses it but entries of its own, of which none runs while
/// another rank's does.
#[inline]
pub(super) fn look_for(number: Number) -> Option<Neighbor> {
    HERE.with_borrow(|here| here.get(number as usize).copied().flatten())
}

/// A message that a rank has got without a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    pub to: Number,
    pub bytes: u64,
    /// Who has got it.
    pub receiver: Neighbor,
    /// It is ready by that, and to be called.
    pub is_to_be_called: bool,
}

/// Gives a whole message of the rank that runs to one that waits on its PE for it. False if none does.
///
/// # Safety
/// The rank that gives runs, and it is another one.
pub(super) unsafe fn give(to: Number, head: &Head, bytes: &[u8]) -> bool {
    let Some(mut receiver) = look_for(to) else { return false };
    // SAFETY: it waits, so nobody uses it but entries of its own, of which none runs now.
    let rank = unsafe { receiver.rank.as_mut() };
    let mut led_to = Vec::new();
    let Some(is_to_be_called) = rank.takes(head, bytes, &mut led_to) else { return false };
    let given = Given { to, bytes: bytes.len() as u64, receiver, is_to_be_called };
    if FIRST.get().is_none() && !HAS_MORE.get() && led_to.is_empty() {
        FIRST.set(Some(given));
    } else {
        HAS_MORE.set(true);
        GIVEN.with_borrow_mut(|all| all.push(given));
        LED_TO.with_borrow_mut(|all| all.append(&mut led_to));
    }
    true
}

/// Whether the rank that runs has given something to others, which wait for their turns. Not inlined, as it is asked between two
/// suspensions: no address of a thread-local is to be kept over one.
#[inline(never)]
pub(super) fn has_given() -> bool {
    FIRST.get().is_some() || HAS_MORE.get()
}

/// The only message that the rank which runs has given, if its receiver is to be called.
pub(super) fn only_ready() -> Option<Given> {
    FIRST.get().filter(|given| given.is_to_be_called && !HAS_MORE.get())
}

/// It is not told any more: its receiver is called otherwise.
pub(super) fn take_only() {
    FIRST.set(None);
}

/// The only message that the rank which has run has given, if its receiver is to be called. It is not told any more.
pub(super) fn take_only_ready() -> Option<Given> {
    let only = only_ready();
    if only.is_some() {
        take_only();
    }
    only
}

/// What the rank has given that has run: each is told to `tell`. Frames that this has led to come to those that it sends.
pub(super) fn end_of_run(sent: &mut Vec<Outgoing>, mut tell: impl FnMut(Given)) {
    FIRST.take().into_iter().for_each(&mut tell);
    if HAS_MORE.take() {
        GIVEN.with_borrow_mut(|given| given.drain(..).for_each(tell));
        LED_TO.with_borrow_mut(|led_to| sent.append(led_to));
    }
}
