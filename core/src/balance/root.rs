//! When a step begins, and what follows from its end: at PE 0.

use std::time::Duration;

use easy_ext::ext;
use tracing::{info, warn};

use super::Balancer;
use super::message::{Balance, Branch, Seen, Why};
use crate::balance::BalancingOnPe;
use crate::balance::part::BalancingPartOnPe;
use crate::quiescence::QuiescenceOnPe;
use talisman_job::BalancingStep;
use talisman_job::balancing::Every;
use talisman_kernel::pe::Pe;
use talisman_kernel::route::Route;
use talisman_lb::trigger::{Interval, Trigger};
use talisman_observe::event::Event;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_observe::subjects::BALANCE;
use talisman_pup::Packed;

/// With `--lb-every auto`, loads are looked at so often where no array is ever at `cx.at_sync()`.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What the root knows.
#[derive(Default)]
pub struct Root {
    /// Steps begun.
    step: u32,
    /// Looks begun.
    look: u32,
    /// The step or look under way.
    running: Option<Running>,
    /// Wanted since that began.
    wanted: Vec<(Why, Option<Route>)>,
    trigger: Trigger,
    /// An array was at `cx.at_sync()` at some time.
    synced: bool,
    /// The last refusal that was told to the user, who need not hear it at every step.
    told: Option<String>,
}

/// A step or look under way, and whoever waits for its end.
pub struct Running {
    why: Why,
    begun: Duration,
    then: Vec<Route>,
    /// Requests from outside that its end answers.
    asked: u32,
}

impl Root {
    /// Whether somebody waits for a step.
    fn is_waited_for(&self) -> bool {
        let running = self.running.as_ref().is_some_and(|running| !running.then.is_empty());
        running || !self.wanted.is_empty()
    }

    /// Who waits for a step.
    pub fn waiting(&self) -> Vec<(Why, Route)> {
        let running = self
            .running
            .iter()
            .flat_map(|running| running.then.iter().map(|then| (running.why, then.clone())));
        let wanted = self.wanted.iter().filter_map(|(why, then)| Some((*why, then.clone()?)));
        running.chain(wanted).collect()
    }

    /// Why there is the step or look that is under way.
    pub fn why(&self) -> Option<Why> {
        self.running.as_ref().map(|running| running.why)
    }

    fn next_step(&mut self) -> u32 {
        self.step += 1;
        self.step
    }

    fn next_look(&mut self) -> u32 {
        self.look += 1;
        self.look
    }
}

#[ext(BalancingRootOnPe)]
pub impl Pe {
    /// Every element of an array is at `cx.at_sync()`; `then` is to be told when they may go on.
    fn at_sync(&self, then: &Route, value: Packed) {
        let balances = self.balancer().is_some_and(|balancer| balancer.settings.balances_at_sync());
        if !balances {
            return self.route(then, value);
        }
        self.want_balance(Why::Sync, Some(then.clone()));
    }

    /// Whether somebody waits here for a step: the job is not quiet then, whatever goes on elsewhere. (Waves of the detection come
    /// behind a look on every link, and so after its end, and messages of a step are counted. That would do as long as it is so.)
    fn is_balancing_waited_for(&self) -> bool {
        self.balancer().is_some_and(|balancer| balancer.root.borrow().is_waited_for())
    }

    /// A step is wanted; whoever waits for it is told when it is over. Where nothing is balanced, that is at once: the program may have come
    /// to it in a former job, where something was.
    fn want_balance(&self, why: Why, then: Option<Route>) {
        if self.balancer().is_none() {
            return then.iter().for_each(|then| self.route(then, Packed::default()));
        }
        self.tell(self.view().first(), Balance::Request { why, then });
    }

    /// Somebody outside asks for a step.
    fn want_balance_from_outside(&self) {
        if self.balancer().is_none() {
            let why = "nothing is balanced: start the job with --balancer, such as --balancer auto";
            return self.node.job.answer_balance(1, Err(why.into()));
        }
        self.want_balance(Why::Asked, None);
    }

    /// The first period begins.
    fn begin_balancing(&self) {
        if let Some(balancer) = self.balancer().filter(|_| self.is_first()) {
            self.set_balance_timer(balancer);
        }
    }

    fn set_balance_timer(&self, balancer: &Balancer) {
        let period = match balancer.settings.every {
            Every::Time(period) => Some(period),
            Every::Auto if !balancer.root.borrow().synced => Some(LOOK_EVERY),
            Every::Auto | Every::Sync => None,
        };
        self.timers.balance.set(period.map(|period| self.clock.now() + period));
    }

    /// A period is over.
    fn on_balance_timer(&self) {
        if let Some(balancer) = self.balancer() {
            self.on_balance_request(balancer, Why::Period, None);
        }
    }

    /// A step is wanted: it begins, or waits for the end of the one under way.
    fn on_balance_request(&self, balancer: &Balancer, why: Why, then: Option<Route>) {
        {
            let mut root = balancer.root.borrow_mut();
            root.synced |= why == Why::Sync;
            root.wanted.push((why, then));
        }
        self.balance_if_wanted(balancer);
    }

    /// Whether a step or look is under way, as far as the root knows.
    fn is_balancing(&self) -> bool {
        self.balancer().is_some_and(|balancer| balancer.root.borrow().running.is_some())
    }

    /// A checkpoint is over: a step that waited for that begins.
    fn balance_if_waiting(&self) {
        if let Some(balancer) = self.balancer() {
            self.balance_if_wanted(balancer);
        }
    }

    fn balance_if_wanted(&self, balancer: &Balancer) {
        if self.frozen.get() {
            return sometimes("a balancing step waited for the end of a checkpoint");
        }
        let why = {
            let mut root = balancer.root.borrow_mut();
            let Some(why) = root.wanted.iter().map(|(why, _)| *why).max() else { return };
            if root.running.is_some() {
                sometimes("a balancing step was wanted while one was under way");
                if !mutated("balancing-steps-overlap") {
                    return;
                }
            }
            let wanted = std::mem::take(&mut root.wanted);
            let asked = wanted.iter().filter(|(why, _)| *why == Why::Asked).count() as u32;
            let then = wanted.into_iter().filter_map(|(_, then)| then).collect();
            root.running = Some(Running { why, begun: self.clock.now(), then, asked });
            why
        };
        if why.looks_first(&balancer.settings) {
            let look = balancer.root.borrow_mut().next_look();
            self.on_look(balancer, look);
        } else {
            self.begin_step(balancer);
        }
    }

    fn begin_step(&self, balancer: &Balancer) {
        let step = balancer.root.borrow_mut().next_step();
        let trigger = balancer.root.borrow().why().map_or("", |why| why.name(&balancer.settings));
        self.observe(|| Event::StepBegins { step: step.into(), trigger });
        self.on_begin(balancer, step);
    }

    /// All PEs have told what they had to compute: is a step worth it?
    fn on_look_over(&self, balancer: &Balancer, seen: Seen) {
        let Some(why) = balancer.root.borrow().why() else { return };
        let (entries, max_s, average_s) = (seen.entries, seen.max, seen.average());
        self.observe(|| Event::LoadsSeen { entries, max_s, average_s });
        if seen.entries > 0 && self.is_worth_it(balancer, seen) {
            return self.begin_step(balancer);
        }
        sometimes("loads were looked at, and no balancing step followed");
        self.end_balancing(balancer);
        if seen.entries == 0 && why == Why::Period {
            // Nobody has done anything for a whole period, which is more than PE 0 having nothing to do.
            self.suspect_stuck();
        }
    }

    fn is_worth_it(&self, balancer: &Balancer, seen: Seen) -> bool {
        match balancer.settings.every {
            Every::Auto => {
                let interval = Interval { max: seen.max, average: seen.average() };
                balancer.root.borrow_mut().trigger.look(interval)
            }
            Every::Sync | Every::Time(_) => true,
        }
    }

    /// All PEs have decided.
    fn on_step_over(&self, balancer: &Balancer, step: u32, branch: Branch) {
        let Some((why, begun)) =
            balancer.root.borrow().running.as_ref().map(|running| (running.why, running.begun))
        else {
            return;
        };
        let took = self.clock.now().saturating_sub(begun).as_secs_f64();
        balancer.root.borrow_mut().trigger.balanced(took);
        let step = BalancingStep {
            number: step,
            at_s: begun.as_secs_f64(),
            trigger: why.name(&balancer.settings).into(),
            strategy: balancer.settings.balancer.clone(),
            objects: branch.objects,
            pes: self.view().pes(),
            max_before: branch.seen.max,
            average_before: branch.seen.average(),
            max_predicted: branch.predicted,
            moves: branch.moves,
            bytes_moved: branch.bytes,
            out_of_date: branch.outdated,
            uncounted_messages: branch.uncounted,
            strategy_s: branch.deciding,
            step_s: took,
            refused: branch.refused,
            ..BalancingStep::default()
        };
        self.observe(|| Event::StepEnds {
            step: step.number.into(),
            objects: step.objects,
            moves: step.moves,
            max_before_s: step.max_before,
            average_before_s: step.average_before,
            max_predicted_s: step.max_predicted,
            step_s: step.step_s,
        });
        self.answer_asked(balancer, &step);
        self.account_for(balancer, step);
        self.end_balancing(balancer);
    }

    /// Tells those outside who asked for a step what it did.
    fn answer_asked(&self, balancer: &Balancer, step: &BalancingStep) {
        let asked = balancer.root.borrow().running.as_ref().map_or(0, |running| running.asked);
        if asked > 0 {
            let answer = step.refused.clone().map_or_else(|| Ok(step.to_string()), Err);
            self.node.job.answer_balance(asked, answer);
        }
    }

    /// Tells the user of a step.
    fn account_for(&self, balancer: &Balancer, step: BalancingStep) {
        let job = &self.node.job;
        if let Some(why) = &step.refused {
            sometimes("a balancing step was refused");
            if balancer.root.borrow_mut().told.replace(why.clone()).as_ref() != Some(why) {
                let number = step.number;
                let unbalanced = "the program goes on unbalanced";
                job.say(
                    || warn!(target: BALANCE, "balancing step {number} was refused: {why}; {unbalanced}"),
                );
            }
        } else if balancer.settings.logs {
            job.say(|| info!(target: BALANCE, "{step}"));
        }
        job.balanced(step);
    }

    /// Whoever waited goes on, and what was wanted meanwhile begins.
    fn end_balancing(&self, balancer: &Balancer) {
        let Some(running) = balancer.root.borrow_mut().running.take() else { return };
        self.set_balance_timer(balancer);
        let told = running.then.iter().skip(usize::from(mutated("one-at-sync-not-told")));
        told.for_each(|then| self.route(then, Packed::default()));
        if mutated("at-sync-told-again") {
            running.then.iter().for_each(|then| self.route(then, Packed::default()));
        }
        self.services.after_balancing(self);
        if !mutated("wanted-step-forgotten") {
            self.balance_if_wanted(balancer);
        }
    }
}
