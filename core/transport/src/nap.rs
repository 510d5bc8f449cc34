//! What a sender that waits for room does in a simulation, where the thread is not its own to sleep in.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::rc::Rc;

use talisman_base::ids::PeId;
use talisman_pup::PutOff;

/// Takes the rest of the world forward while this PE waits, which is not the thread's PE meanwhile, and returns when something may have changed for it. Whether
/// its process still lives.
pub type Nap = Rc<dyn Fn(PeId) -> bool>;

thread_local! {
    static NAP: RefCell<Option<Nap>> = const { RefCell::new(None) };
}

/// While it lives, this is how senders of this thread wait.
pub struct Napping(Option<Nap>);

impl Napping {
    /// From now on. See [`Nap`].
    pub fn by(nap: Nap) -> Self {
        Napping(NAP.replace(Some(nap)))
    }
}

impl Drop for Napping {
    fn drop(&mut self) {
        NAP.set(self.0.take());
    }
}

/// The process of a waiting PE was killed: its stack is unwound with this, and nothing that it would have done happens.
pub struct Killed;

/// Lets the rest of the world go on.
///
/// # Panics
/// With [`Killed`] if the PE's process does not live any more, and if nobody said how to wait.
pub fn nap(pe: PeId) {
    let nap = NAP.with_borrow(Clone::clone).expect("a simulated world says how senders wait");
    let _at_once = PutOff::pause();
    if !nap(pe) {
        resume_unwind(Box::new(Killed));
    }
}
