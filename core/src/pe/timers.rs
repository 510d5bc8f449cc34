//! What a PE does later: timers, and work for when it is idle.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use super::Pe;
use crate::pup::Packed;
use crate::route::Route;
use crate::scheduler::timer;
use crate::witness::{self, Seen};

/// A PE's timers and idle work.
#[derive(Default)]
pub(crate) struct Timers {
    set: RefCell<timer::Timers<Duration, Route>>,
    /// How many are set: looked at between messages.
    count: Cell<usize>,
    when_idle: RefCell<Vec<Route>>,
    /// When load balancing wants to be looked after. Nothing in the program waits for that, so it counts as no timer.
    pub(crate) balance: Cell<Option<Duration>>,
}

impl Timers {
    fn set(&self, at: Duration, route: Route) {
        self.set.borrow_mut().insert(at, route);
        self.count.set(self.count.get() + 1);
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<Duration> {
        let set = self.set.borrow().next_deadline().copied();
        [set, self.balance.get()].into_iter().flatten().min()
    }

    pub(crate) fn when_idle(&self, route: Route) {
        self.when_idle.borrow_mut().push(route);
    }

    pub(crate) fn clear(&self) {
        drop(self.set.take());
        drop(self.when_idle.take());
    }
}

impl Pe {
    /// At this time something is sent off.
    pub(crate) fn set_timer(&self, at: Duration, route: Route) {
        witness::see(|| Seen::TimerSet { pe: self.id });
        self.timers.set(at, route);
    }

    /// Sends off what is due; whether anything was.
    pub(crate) fn run_timers(&self) -> bool {
        let mut any = self.timers.balance.get().is_some() && self.run_balance_timer();
        if self.timers.is_empty() {
            return any;
        }
        let now = self.clock.now();
        loop {
            let due = self.timers.set.borrow_mut().pop_due(&now);
            let Some(route) = due else { break };
            self.timers.count.set(self.timers.count.get() - 1);
            witness::see(|| Seen::TimerDue { pe: self.id });
            self.route(&route, Packed::default());
            any = true;
        }
        any
    }

    #[cold]
    fn run_balance_timer(&self) -> bool {
        let due = self.timers.balance.get().is_some_and(|due| due <= self.clock.now());
        if due {
            self.timers.balance.set(None);
            self.on_balance_timer();
        }
        due
    }

    /// Sends off what waits for an idle moment; whether anything did.
    pub(crate) fn run_idle_work(&self) -> bool {
        let waiting = self.timers.when_idle.take();
        waiting.iter().for_each(|route| self.route(route, Packed::default()));
        !waiting.is_empty()
    }
}
