//! A PE's part in a balancing step.

use std::collections::BTreeMap;

use easy_ext::ext;

use super::Balancer;
use super::message::{Balance, Branch, Seen};
use super::settings::member;
use crate::balance::root::BalancingRootOnPe;
use talisman_base::ids::{ObjId, PeId};
use talisman_base::view::FIRST;
use talisman_kernel::kind::Kind;
use talisman_kernel::measure::object_of;
use talisman_kernel::object::flag;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::turn::world;
use talisman_lb::member::{Action, Decided, Event, Local, Member};
use talisman_lb::snapshot::{Key, Node};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// A PE's part in the steps, and in looks at the loads.
#[derive(Default)]
pub struct Part {
    /// The last step that has begun here.
    step: u32,
    member: Option<Box<dyn Member>>,
    open: Option<Open>,
    /// Notes that came before the beginning of their step.
    early: Vec<(u32, PeId, Vec<u8>)>,
    look: Option<Look>,
    /// Entries that had run here at the last look or step.
    run: u64,
    /// Seconds that objects here had computed at the last look, since the last step.
    load: f64,
}

/// A step that this PE has not reported on.
struct Open {
    /// PEs below in the tree whose branches have not decided.
    missing: u32,
    decided: bool,
    branch: Branch,
    /// What the objects here take, packed.
    sizes: BTreeMap<Key, u64>,
}

/// A look that this PE has not reported on.
struct Look {
    number: u32,
    missing: u32,
    seen: Seen,
}

#[ext(BalancingPartOnPe)]
pub impl Pe {
    /// A step begins: on to the PEs below, and then here.
    fn on_begin(&self, balancer: &Balancer, step: u32) {
        if step <= balancer.part.borrow().step {
            // Only a peer that makes things up begins a step again.
            return;
        }
        let missing = match mutated("step-not-passed-on") {
            true => 0,
            false => self.tell_below(|| Balance::Begin(step)),
        };
        let why = balancer.root.borrow().why();
        let member = member(&balancer.settings, self, step, why);
        let early = {
            let mut part = balancer.part.borrow_mut();
            part.step = step;
            part.open =
                Some(Open { missing, decided: false, branch: Branch::default(), sizes: BTreeMap::new() });
            part.member = Some(member);
            let (now, later) = std::mem::take(&mut part.early).into_iter().partition(|note| note.0 == step);
            part.early = later;
            let now: Vec<(u32, PeId, Vec<u8>)> = now;
            now
        };
        let local = self.measure(balancer);
        self.with_member(balancer, Event::Begin(Box::new(local)));
        for (_, from, note) in early {
            sometimes("a note of a balancing step came before its beginning");
            self.with_member(balancer, Event::Note { from: self.view().rank(from), note });
        }
    }

    /// To the PEs below in the tree; how many those are.
    fn tell_below(&self, message: impl Fn() -> Balance) -> u32 {
        let mut below = 0;
        for child in self.view().children(self.id, FIRST) {
            self.tell(child, message());
            below += 1;
        }
        below
    }

    /// What this PE knows at the beginning of a step.
    fn measure(&self, balancer: &Balancer) -> Local {
        let settings = &balancer.settings;
        // A period ends here also where this is done again, and then counts as it did.
        let measured = self.local(settings.wants());
        let measured = if mutated("loads-not-logged") { measured } else { world(|| measured) };
        let mut local = self.numbered_without_gaps(measured);
        local.pe.speed = self.speed();
        local.node = Node { host: self.node.config.host, memory: settings.node_memory };
        let mut part = balancer.part.borrow_mut();
        let run = self.entries_since(&mut part);
        part.load = 0.0;
        if let Some(open) = &mut part.open {
            open.branch.seen = seen_in(&local, run);
            open.branch.objects = local.objects.len() as u64;
            open.branch.uncounted = self.take_uncounted();
            open.sizes = local.objects.iter().map(|object| (object.key, object.bytes)).collect();
        }
        local
    }

    /// To strategies there are no others than those that are there.
    fn numbered_without_gaps(&self, mut local: Local) -> Local {
        let view = self.view();
        if !view.is_whole() {
            local.number = view.rank(self.id);
            local.pes = view.pes();
            local.pe.node = view.rank_of_node(self.node.number);
            local.objects.iter_mut().for_each(|object| object.pe = local.number);
        }
        local
    }

    /// Entries that ran here since the last time.
    fn entries_since(&self, part: &mut Part) -> u64 {
        let now = self.stats.run.get();
        now.saturating_sub(std::mem::replace(&mut part.run, now))
    }

    /// A note for the member here.
    fn on_note(&self, balancer: &Balancer, from: PeId, step: u32, note: Vec<u8>) {
        let current = balancer.part.borrow().step;
        if step > current && !mutated("early-note-read-at-once") {
            return balancer.part.borrow_mut().early.push((step, from, note));
        }
        if step < current {
            return sometimes("a note came after the end of its balancing step");
        }
        self.with_member(balancer, Event::Note { from: self.view().rank(from), note });
    }

    /// Something happens to the member here, and what it wants is done.
    fn with_member(&self, balancer: &Balancer, event: Event) {
        // A strategy is code of the program's, perhaps, so nothing is borrowed while it runs.
        let Some(mut member) = balancer.part.borrow_mut().member.take() else { return };
        let (start, mut actions) = (self.clock.measured(), Vec::new());
        member.step(event, &mut actions);
        let took = world(|| self.clock.measured().saturating_sub(start).as_secs_f64());
        let step = {
            let mut part = balancer.part.borrow_mut();
            part.member = Some(member);
            part.open.iter_mut().for_each(|open| open.branch.deciding += took);
            part.step
        };
        actions.into_iter().for_each(|action| self.act(balancer, step, action));
        self.report_if_decided(balancer);
    }

    fn act(&self, balancer: &Balancer, step: u32, action: Action) {
        match action {
            Action::Send { to, note } if to < self.view().pes() => {
                self.tell(self.view().at(to), Balance::Note { step, note });
            }
            Action::Send { .. } => {}
            Action::Move { object, to } => {
                let moved = to < self.view().pes() && self.move_to(object_of(object), self.view().at(to));
                let mut part = balancer.part.borrow_mut();
                let Some(open) = &mut part.open else { return };
                match moved {
                    true => {
                        open.branch.moves += 1;
                        open.branch.bytes += open.sizes.get(&object).copied().unwrap_or(0);
                    }
                    false => open.branch.outdated += 1,
                }
            }
            Action::Decided(Decided { predicted, refused }) => {
                let mut part = balancer.part.borrow_mut();
                let Some(open) = &mut part.open else { return };
                open.decided = true;
                open.branch.predicted = open.branch.predicted.max(predicted);
                open.branch.refused = open.branch.refused.take().or(refused);
            }
        }
    }

    /// Sends an object off, if that can be done: a plan may be older than what it speaks of.
    fn move_to(&self, id: ObjId, to: PeId) -> bool {
        let Some(head) = self.find_here(id) else {
            sometimes("an object that was to be balanced had left");
            return false;
        };
        // SAFETY: an object in a slot is live.
        let object = unsafe { head.as_ref() };
        let can = object.collection().chare.kind == Kind::Array;
        let stays = object.given().is_some_and(|given| given.stays);
        if !can || stays || !object.has(flag::LIVE) || object.has(flag::DESTROY | flag::HELD) {
            return false;
        }
        if object.has(flag::MIGRATE) {
            sometimes("an object that was to be balanced had a move of its own before it");
            return false;
        }
        object.extras(|extras| extras.destination = to);
        object.set(flag::MIGRATE);
        if object.has(flag::CATCHING_UP) {
            // It goes when it has caught up.
            sometimes("an object that was to be balanced had to catch up first");
            if mutated("balancing-does-not-wait-for-broadcasts") {
                self.migrate_out(head);
                return true;
            }
        }
        self.after_entry(head);
        true
    }

    /// Tells the PE above when all here and below have decided.
    fn report_if_decided(&self, balancer: &Balancer) {
        let done = {
            let mut part = balancer.part.borrow_mut();
            let step = part.step;
            part.open.take_if(|open| open.decided && open.missing == 0).map(|open| (step, open.branch))
        };
        let Some((step, branch)) = done else { return };
        match self.view().parent(self.id, FIRST) {
            Some(parent) => self.tell(parent, Balance::Decided { step, branch }),
            None => self.on_step_over(balancer, step, branch),
        }
    }

    /// A branch below has decided.
    fn on_decided(&self, balancer: &Balancer, step: u32, branch: Branch) {
        {
            let mut part = balancer.part.borrow_mut();
            let current = part.step;
            let Some(open) = part.open.as_mut().filter(|open| step == current && open.missing > 0) else {
                return;
            };
            open.missing -= 1;
            open.branch.add(branch);
        }
        self.report_if_decided(balancer);
    }

    /// A look at the loads: on to the PEs below, and up again.
    fn on_look(&self, balancer: &Balancer, number: u32) {
        let missing = self.tell_below(|| Balance::Look(number));
        {
            let mut part = balancer.part.borrow_mut();
            let entries = self.entries_since(&mut part);
            let speed = self.speed();
            let load = self.load_so_far();
            let load = if mutated("load-of-a-look-not-logged") { load } else { world(|| load) };
            let time = (load - std::mem::replace(&mut part.load, load)).max(0.0);
            let seen = Seen { entries, max: time, work: time * speed, speed };
            part.look = Some(Look { number, missing, seen });
        }
        self.report_if_looked(balancer);
    }

    /// What a branch below has seen.
    fn on_looked(&self, balancer: &Balancer, number: u32, seen: Seen) {
        {
            let mut part = balancer.part.borrow_mut();
            let Some(look) = part.look.as_mut().filter(|look| look.number == number && look.missing > 0)
            else {
                return;
            };
            look.missing -= 1;
            look.seen.add(&seen);
        }
        self.report_if_looked(balancer);
    }

    fn report_if_looked(&self, balancer: &Balancer) {
        let done = balancer.part.borrow_mut().look.take_if(|look| look.missing == 0);
        let Some(Look { number, seen, .. }) = done else { return };
        match self.view().parent(self.id, FIRST) {
            Some(parent) => {
                self.tell(parent, Balance::Looked { look: number, seen });
            }
            None => self.on_look_over(balancer, seen),
        }
    }
}

/// What the PE had to compute, as measured.
fn seen_in(local: &Local, entries: u64) -> Seen {
    let (speed, background) = (local.pe.speed, local.pe.background);
    let load: f64 = local.objects.iter().map(|object| object.load).sum();
    Seen { entries, max: load / speed + background, work: load + background * speed, speed }
}
