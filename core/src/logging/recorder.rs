//! What a PE is given, as entries of its input log; and for one that runs again, what it was given before.

use std::cell::RefCell;
use std::rc::Rc;

use super::given::Given;
use talisman_ft::logging::{Diverged, Entry, Guide, Input, Reach, Step};
use talisman_kernel::pe::recorder::Recorder;
use talisman_kernel::pe::turn::Command;
use talisman_observe::mutations::mutated;

/// The only kind of value of the world: what [`talisman_kernel::pe::turn::world`] reads.
const WORLD: u32 = 0;
/// All timers that were due.
const DUE_TIMERS: u64 = 0;
/// All that is done when no message waits.
const IDLE_WORK: u32 = 0;

/// Shared by a PE, which tells it what it is given, and its node.
#[derive(Clone, Default)]
pub struct Record(Rc<RefCell<Kept>>);

/// What is in a [`Record`], on its way between the thread of a PE and that of its node.
#[derive(Default)]
pub struct Lent(Kept);

#[derive(Default)]
struct Kept {
    /// Messages that the PE has run.
    run: u64,
    /// What its clock said when that was last logged.
    time: Option<u64>,
    /// What it was given before, while it runs again. By reference: all else goes between threads at each turn.
    guide: Option<Box<Guide>>,
    /// It did not do what it had done before.
    diverged: Option<Diverged>,
    /// Entries that its node has not taken yet.
    fresh: Vec<Entry>,
    /// Frames that it has taken in in the order of tickets since the last entry that counts them.
    in_order: u32,
}

impl Kept {
    /// One more entry, behind what it has taken in in the order of tickets.
    fn push(&mut self, input: Input) {
        let (at, in_order) = (self.run, std::mem::take(&mut self.in_order));
        if in_order > 0 && !mutated("ticketed-frames-not-counted") {
            self.fresh.push(Entry { at, input: Input::InOrder(in_order) });
        }
        self.fresh.push(Entry { at, input });
    }
}

impl Record {
    /// That of a PE that is fed these entries first.
    pub fn guided(guide: Guide) -> Record {
        Record(Rc::new(RefCell::new(Kept { guide: Some(Box::new(guide)), ..Kept::default() })))
    }

    /// What the PE is to be given, for it to tell what it is given.
    pub fn recorder(&self) -> Box<dyn Recorder> {
        Box::new(self.clone())
    }

    /// All that is in it goes to another thread, where the PE is. Until it comes back nothing is to be asked or told here.
    pub fn lend(&self) -> Lent {
        Lent(self.0.take())
    }

    /// What was lent is here.
    pub fn take_back(&self, lent: Lent) {
        self.0.replace(lent.0);
    }

    /// Entries since this was last asked.
    pub fn drain_fresh(&self, take: impl FnMut(Entry)) {
        self.0.borrow_mut().fresh.drain(..).for_each(take);
    }

    /// All of them.
    #[cfg(test)]
    pub(super) fn take_fresh(&self) -> Vec<Entry> {
        std::mem::take(&mut self.0.borrow_mut().fresh)
    }

    /// It is about to be given this, at that time.
    pub fn takes(&self, now: u64, input: Input) {
        Recorder::time(self, now);
        self.log(|| input);
    }

    /// It is about to be given the next frame in the order of tickets, of which its log has no entry: what its clock says then, which is the
    /// time of the ticket, or later.
    pub fn takes_in_order(&self, time: u64) -> u64 {
        let mut kept = self.0.borrow_mut();
        let time = kept.time.unwrap_or(0).max(time);
        kept.time = Some(time);
        let is_counted = kept.guide.as_deref_mut().is_some_and(Guide::took_next);
        kept.in_order += u32::from(!is_counted);
        time
    }

    /// What the PE does next, if it runs again; it has come so far by now, and has messages or none.
    ///
    /// # Errors
    /// It did not do what it had done before.
    pub fn next(&self, own: &Reach, has_messages: bool) -> Result<Option<Step>, Diverged> {
        let mut kept = self.0.borrow_mut();
        if let Some(diverged) = kept.diverged.take() {
            return Err(diverged);
        }
        let run = kept.run;
        kept.guide.as_ref().map(|guide| guide.next(run, own, has_messages)).transpose()
    }

    /// Whether it runs a message next if it runs again, however much it has sent by now.
    pub fn runs_on(&self) -> bool {
        let kept = self.0.borrow();
        kept.diverged.is_none() && kept.guide.as_ref().is_some_and(|guide| guide.runs_on(kept.run))
    }

    /// It is about to be given what the last step said.
    pub fn took(&self) {
        self.0.borrow_mut().guide.as_deref_mut().into_iter().for_each(Guide::took);
    }

    /// Its clock was set to what it had been.
    pub fn was_at(&self, time: u64) {
        self.0.borrow_mut().time = Some(time);
    }

    /// What its clock said last, as far as that was logged or set.
    pub fn time(&self) -> Option<u64> {
        self.0.borrow().time
    }

    /// It has come as far as anybody depends on, and is like all others from here on.
    pub fn go_live(&self) {
        self.0.borrow_mut().guide = None;
    }

    /// How many messages it has run.
    pub fn run(&self) -> u64 {
        self.0.borrow().run
    }

    fn log(&self, input: impl FnOnce() -> Input) {
        let mut kept = self.0.borrow_mut();
        if kept.guide.is_none() {
            kept.push(input());
        }
    }
}

impl Recorder for Record {
    fn time(&self, now: u64) {
        let is_known = {
            let mut kept = self.0.borrow_mut();
            kept.guide.is_some() || kept.time.replace(now) == Some(now)
        };
        if !is_known && !mutated("time-not-logged") {
            self.log(|| Given::Time(now).input());
        }
    }

    fn runs(&self) {
        self.0.borrow_mut().run += 1;
    }

    fn timers(&self) {
        if !mutated("timer-not-logged") {
            self.log(|| Input::Timer(DUE_TIMERS));
        }
    }

    fn rests(&self) {
        if !mutated("chore-not-logged") {
            self.log(|| Input::Chore(IDLE_WORK));
        }
    }

    fn idle(&self, idle_ns: u64, released_ns: u64) {
        self.log(|| Given::Idle { idle_ns, released_ns }.input());
    }

    fn asked(&self, command: &Command) {
        if !mutated("command-not-logged") {
            self.log(|| Given::from(command).input());
        }
    }

    /// Also of a PE that runs again and is past its log: nobody depends on what it had read there.
    fn value(&self, packed: Vec<u8>) {
        if mutated("value-not-logged") {
            return;
        }
        self.0.borrow_mut().push(Input::Value { kind: WORLD, bytes: packed });
    }

    fn value_again(&self) -> Option<Vec<u8>> {
        let kept = &mut *self.0.borrow_mut();
        match kept.guide.as_mut()?.value(kept.run) {
            Ok(value) => value.map(|(_, bytes)| bytes),
            Err(diverged) => {
                kept.diverged = Some(diverged);
                None
            }
        }
    }

    fn runs_again(&self) -> bool {
        self.0.borrow().guide.is_some()
    }
}
