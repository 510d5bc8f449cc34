//! What members of all distributed strategies do alike: they begin once, take notes, and decide when they have finished and nothing is
//! on its way to or from them.

use super::alone::with_own_notes;
use super::census::Odd;
use super::holding::Holding;
use crate::member::{Action, Decided, Event, Local, Member};
use talisman_pup::{Pup, from_bytes};

/// A step of one strategy on a PE, once it has begun.
pub(crate) trait Step: Send {
    /// What its members tell each other.
    type Note: Pup;

    /// The first event.
    fn begin(&mut self, actions: &mut Vec<Action>);

    /// A note of another member.
    ///
    /// # Errors
    /// No member would say that now.
    fn note(&mut self, from: u32, note: Self::Note, actions: &mut Vec<Action>) -> Result<(), Odd>;

    /// Whether there is nothing more to decide.
    fn is_finished(&self) -> bool;

    /// Its objects.
    fn holding(&self) -> &Holding;
}

/// A member, which makes its step of what its PE knows when that begins.
pub(crate) struct Stepping<S, M> {
    pe: u32,
    make: M,
    /// In place: a job has very many members in simulation, and each place in memory takes a while to come.
    step: Option<S>,
    decided: bool,
    refused: Option<String>,
}

impl<S: Step, M: Fn(&Local) -> S> Stepping<S, M> {
    pub(crate) fn new(pe: u32, make: M) -> Self {
        Stepping { pe, make, step: None, decided: false, refused: None }
    }

    /// What is known at the beginning takes memory, which is free before the step goes on.
    fn begin(&mut self, local: Box<Local>, actions: &mut Vec<Action>) {
        if self.step.is_some() {
            return self.complain("a step began twice");
        }
        let step = self.step.insert((self.make)(&local));
        drop(local);
        step.begin(actions);
    }

    fn note(&mut self, from: u32, note: &[u8], actions: &mut Vec<Action>) {
        let Some(step) = &mut self.step else { return self.complain("a note came before the step began") };
        let taken = match from_bytes(note) {
            Ok(note) => step.note(from, note, actions).map_err(str::to_owned),
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = taken {
            self.complain(&format!("a note of PE {from}: {why}"));
        }
    }

    fn decide(&mut self, actions: &mut Vec<Action>) {
        let is_ready = |step: &&S| step.is_finished() && step.holding().is_settled();
        let Some(step) = self.step.as_ref().filter(is_ready).filter(|_| !self.decided) else { return };
        self.decided = true;
        let decided = Decided { predicted: step.holding().seconds(), refused: self.refused.take() };
        actions.push(Action::Decided(decided));
    }

    fn complain(&mut self, why: &str) {
        self.refused.get_or_insert_with(|| why.to_owned());
    }
}

impl<S: Step, M: Fn(&Local) -> S + Send> Member for Stepping<S, M> {
    fn step(&mut self, event: Event, actions: &mut Vec<Action>) {
        with_own_notes(self.pe, event, actions, |event, actions| match event {
            Event::Begin(local) => self.begin(local, actions),
            Event::Note { from, note } => self.note(from, &note, actions),
        });
        self.decide(actions);
    }

    fn held(&self) -> usize {
        self.step.as_ref().map_or(0, |step| step.holding().held())
    }
}
