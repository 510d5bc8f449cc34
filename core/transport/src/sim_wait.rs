//! How a sender waits for room in a simulated world, where its thread is not its own to sleep in.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::rc::Rc;

use talisman_base::ids::PeId;
use talisman_pup::PutOff;

/// Takes the rest of the world forward while this PE waits, which is not the thread's PE meanwhile, and returns when
/// something may have changed for it. Whether its process still lives.
pub type SimWait = Rc<dyn Fn(PeId) -> bool>;

thread_local! {
    static SIM_WAIT: RefCell<Option<SimWait>> = const { RefCell::new(None) };
}

/// While it lives, this is how senders of this thread wait.
pub struct SimWaiting(Option<SimWait>);

impl SimWaiting {
    /// From now on. See [`SimWait`].
    pub fn by(wait: SimWait) -> Self {
        SimWaiting(SIM_WAIT.replace(Some(wait)))
    }
}

impl Drop for SimWaiting {
    fn drop(&mut self) {
        SIM_WAIT.set(self.0.take());
    }
}

/// The process of a waiting PE was killed: its stack is unwound with this, and nothing that it would have done happens.
pub struct Killed;

/// Lets the rest of the world go on.
///
/// # Panics
/// With [`Killed`] if the PE's process does not live any more, and if nobody said how to wait.
pub fn sim_wait(pe: PeId) {
    let wait = SIM_WAIT.with_borrow(Clone::clone).expect("a simulated world says how senders wait");
    let _at_once = PutOff::pause();
    if !wait(pe) {
        resume_unwind(Box::new(Killed));
    }
}
