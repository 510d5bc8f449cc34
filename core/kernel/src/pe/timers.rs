//! What a PE does later: timers, and work for when it is idle.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use super::Pe;
use super::services::ServiceTimer;
use crate::route::Route;
use crate::witness::{self, Seen};
use talisman_observe::mutations::mutated;
use talisman_pup::Packed;
use talisman_sched::timer;

/// A PE's timers and idle work.
#[derive(Default)]
pub struct Timers {
    set: RefCell<timer::Timers<Duration, Route>>,
    /// How many are set: looked at between messages.
    count: Cell<usize>,
    when_idle: RefCell<Vec<Route>>,
    /// When load balancing wants to be looked after. Nothing in the program waits for that, so it counts as no timer.
    pub balance: Cell<Option<Duration>>,
    /// The same for checkpoints.
    pub checkpoint: Cell<Option<Duration>>,
    /// When it is looked at whether parts of checkpoints have been written.
    pub disk: Cell<Option<Duration>>,
    /// The program's are not due, whatever the time.
    stopped: Cell<bool>,
}

impl Timers {
    fn set(&self, at: Duration, route: Route) {
        self.set.borrow_mut().insert(at, route);
        self.count.set(self.count.get() + 1);
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    /// Whether there is one at all.
    #[inline]
    fn has_any(&self) -> bool {
        let for_services = [&self.balance, &self.checkpoint, &self.disk];
        !self.is_empty() || for_services.iter().any(|timer| timer.get().is_some())
    }

    /// When the next one is due.
    pub fn next(&self) -> Option<Duration> {
        [self.next_for_progress(), self.checkpoint.get(), self.disk.get()].into_iter().flatten().min()
    }

    /// The same of those after which the program may have got further: a checkpoint changes nothing.
    pub fn next_for_progress(&self) -> Option<Duration> {
        let set = match self.stopped.get() {
            true => None,
            false => self.set.borrow().next_deadline().copied(),
        };
        [set, self.balance.get()].into_iter().flatten().min()
    }

    pub fn when_idle(&self, route: Route) {
        self.when_idle.borrow_mut().push(route);
    }

    /// From now on the program's are not due; or are again.
    pub fn stop(&self, stopped: bool) {
        self.stopped.set(stopped);
    }

    /// Those of the program, the first one first.
    pub fn all(&self) -> Vec<(Duration, Route)> {
        self.set.borrow().in_order().into_iter().map(|(at, route)| (*at, route.clone())).collect()
    }

    /// What waits for an idle moment.
    pub fn idle_work(&self) -> Vec<Route> {
        self.when_idle.borrow().clone()
    }

    pub fn clear(&self) {
        drop(self.set.take());
        drop(self.when_idle.take());
    }
}

impl Pe {
    /// At this time something is sent off.
    pub fn set_timer(&self, at: Duration, route: Route) {
        witness::see(|| Seen::TimerSet { pe: self.id });
        self.timers.set(at, route);
    }

    /// Sends off what is due; whether anything was.
    #[inline]
    pub fn run_timers(&self) -> bool {
        self.timers.has_any() && self.run_those_due()
    }

    fn run_those_due(&self) -> bool {
        let mut any = self.timers.balance.get().is_some() && self.run_balance_timer();
        any |= self.timers.checkpoint.get().is_some() && self.run_checkpoint_timer();
        any |= self.timers.disk.get().is_some() && self.run_disk_timer();
        let stopped = self.timers.stopped.get() && !mutated("timers-fire-while-frozen");
        if self.timers.is_empty() || stopped {
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
            self.services.on_timer(self, ServiceTimer::Balance);
        }
        due
    }

    #[cold]
    fn run_checkpoint_timer(&self) -> bool {
        let due = self.timers.checkpoint.get().is_some_and(|due| due <= self.clock.now());
        if due {
            self.timers.checkpoint.set(None);
            self.services.on_timer(self, ServiceTimer::Checkpoint);
        }
        due
    }

    #[cold]
    fn run_disk_timer(&self) -> bool {
        let due = self.timers.disk.get().is_some_and(|due| due <= self.clock.now());
        if due {
            self.timers.disk.set(None);
            self.services.on_timer(self, ServiceTimer::Disk);
        }
        due
    }

    /// Sends off what waits for an idle moment; whether anything did.
    pub fn run_idle_work(&self) -> bool {
        let waiting = self.timers.when_idle.take();
        waiting.iter().for_each(|route| self.route(route, Packed::default()));
        !waiting.is_empty()
    }
}
