//! When a step begins, and what follows from its end: at PE 0.

use std::time::Duration;

use super::Balancer;
use super::message::{Balance, Branch, Seen, Why};
use crate::launch::balancing::Every;
use crate::message::control::PeMessage;
use crate::mutations::mutated;
use crate::pe::Pe;
use crate::pup::Packed;
use crate::route::Route;
use crate::sometimes::sometimes;

/// With `--lb-every auto`, loads are looked at so often where no array is at `cx.at_sync()`.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What the root knows.
#[derive(Default)]
pub(crate) struct Root {
    /// Steps begun.
    step: u32,
    /// Looks begun.
    look: u32,
    /// The step or look under way.
    running: Option<Running>,
    /// Wanted since that began.
    wanted: Vec<(Why, Option<Route>)>,
}

/// A step or look under way, and whoever waits for its end.
struct Running {
    why: Why,
    begun: Duration,
    then: Vec<Route>,
}

impl Root {
    /// Whether somebody waits for a step.
    pub(crate) fn is_waited_for(&self) -> bool {
        let running = self.running.as_ref().is_some_and(|running| !running.then.is_empty());
        running || !self.wanted.is_empty()
    }
}

impl Pe {
    /// Every element of an array is at `cx.at_sync()`; `then` is to be told when they may go on.
    pub(crate) fn at_sync(&self, then: &Route, value: Packed) {
        let balances = self.balancer.as_ref().is_some_and(|balancer| balancer.settings.balances_at_sync());
        if !balances {
            return self.route(then, value);
        }
        self.want_balance(Why::Sync, Some(then.clone()));
    }

    /// Whether somebody waits here for a step: the job is not quiet then, whatever goes on elsewhere.
    pub(crate) fn is_balancing_waited_for(&self) -> bool {
        self.balancer.as_ref().is_some_and(|balancer| balancer.root.borrow().is_waited_for())
            && !mutated("quiet-while-balancing")
    }

    /// A step is wanted.
    pub(crate) fn want_balance(&self, why: Why, then: Option<Route>) {
        self.tell(super::ROOT, PeMessage::Balance(Balance::Request { why, then }));
    }

    /// When balancing begins to be looked after: the first period does.
    pub(crate) fn begin_balancing(&self) {
        if let Some(balancer) = self.balancer.as_deref().filter(|_| self.id == super::ROOT) {
            self.set_balance_timer(balancer);
        }
    }

    fn set_balance_timer(&self, balancer: &Balancer) {
        let period = match balancer.settings.every {
            Every::Sync => None,
            Every::Time(period) => Some(period),
            Every::Auto => Some(LOOK_EVERY),
        };
        self.timers.balance.set(period.map(|period| self.clock.now() + period));
    }

    /// A period is over.
    pub(crate) fn on_balance_timer(&self) {
        if let Some(balancer) = self.balancer.as_deref() {
            self.on_balance_request(balancer, Why::Period, None);
        }
    }

    pub(crate) fn on_balance_request(&self, balancer: &Balancer, why: Why, then: Option<Route>) {
        balancer.root.borrow_mut().wanted.push((why, then));
        self.balance_if_wanted(balancer);
    }

    /// Begins what is wanted, unless something is under way.
    fn balance_if_wanted(&self, balancer: &Balancer) {
        let (step, look) = {
            let mut root = balancer.root.borrow_mut();
            if root.wanted.is_empty() {
                return;
            }
            if root.running.is_some() && !mutated("balancing-steps-overlap") {
                return sometimes("a balancing step was wanted while one was under way");
            }
            let wanted = std::mem::take(&mut root.wanted);
            let why = wanted.iter().map(|(why, _)| *why).max().unwrap_or(Why::Period);
            let then = wanted.into_iter().filter_map(|(_, then)| then).collect();
            root.running = Some(Running { why, begun: self.clock.now(), then });
            if balancer.settings.looks_first(why) {
                root.look += 1;
                (None, root.look)
            } else {
                (Some(next_step(&mut root)), 0)
            }
        };
        match step {
            Some(step) => self.on_begin(balancer, step),
            None => self.on_look(balancer, look),
        }
    }

    /// All PEs have told what they had to compute.
    pub(crate) fn on_look_over(&self, balancer: &Balancer, seen: Seen) {
        let (wanted, idle) = {
            let root = balancer.root.borrow();
            let Some(running) = &root.running else { return };
            (seen.entries > 0, seen.entries == 0 && running.why == Why::Period)
        };
        if wanted {
            let step = next_step(&mut balancer.root.borrow_mut());
            return self.on_begin(balancer, step);
        }
        self.end_balancing(balancer);
        if idle {
            // Nobody has done anything for a whole period, which is more than PE 0 having nothing to do.
            self.suspect_stuck();
        }
    }

    /// All PEs have decided.
    pub(crate) fn on_step_over(&self, balancer: &Balancer, _step: u32, _branch: Branch) {
        self.end_balancing(balancer);
    }

    /// Whoever waited goes on, and what was wanted meanwhile begins.
    fn end_balancing(&self, balancer: &Balancer) {
        let Some(running) = balancer.root.borrow_mut().running.take() else { return };
        self.set_balance_timer(balancer);
        running.then.iter().for_each(|then| self.route(then, Packed::default()));
        self.balance_if_wanted(balancer);
    }
}

fn next_step(root: &mut Root) -> u32 {
    root.step += 1;
    root.step
}
