//! The async entries of an object that are running, each waiting for something.

use talisman_observe::sometimes::sometimes;
use talisman_pup::{Lender, Packer, Pup, PupError, Unpacker};

/// How far a running entry has come.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<R> {
    /// It waits. `moved`: for something else than before.
    Wait {
        /// Whether anything happened at all.
        moved: bool,
    },
    /// It has ended, with its result.
    Done(R),
}

/// One running async entry: the state it waits in, and where its result goes. `T` is the route of an answer.
#[derive(Debug)]
pub struct Running<S, T = talisman_kernel::route::Route> {
    /// Where it waits, and its local variables.
    pub state: S,
    /// Who called it, if anyone wants the result.
    pub reply: Option<T>,
}

/// The running ones of one entry, in the order they were started. A state stays where it is while it waits.
#[derive(Debug)]
pub struct RunningList<S, T = talisman_kernel::route::Route> {
    all: Vec<Running<S, T>>,
}

impl<S, T> Default for RunningList<S, T> {
    fn default() -> Self {
        RunningList { all: Vec::new() }
    }
}

impl<S, T> RunningList<S, T> {
    /// Adds one in its first state; [`poll`](Self::poll) then runs it.
    #[inline]
    pub fn start(&mut self, state: S, reply: Option<T>) {
        self.all.push(Running { state, reply });
    }

    /// Steps each in turn until one has moved, and tells whether one has. One that ends leaves the list, and `answer`
    /// sends its result.
    #[inline]
    pub fn poll<R>(&mut self, mut step: impl FnMut(&mut S) -> Step<R>, answer: impl FnOnce(&T, &R)) -> bool {
        for at in 0..self.all.len() {
            match step(&mut self.all[at].state) {
                Step::Wait { moved: false } => {}
                Step::Wait { moved: true } => return true,
                Step::Done(result) => {
                    if let Some(to) = self.all.remove(at).reply {
                        answer(&to, &result);
                    }
                    return true;
                }
            }
        }
        false
    }

    /// Where results of those go for whose sake somebody may wait.
    pub fn owed(&self) -> impl Iterator<Item = &T> {
        self.all.iter().filter_map(|running| running.reply.as_ref())
    }

    /// The states, for telling what they wait for.
    pub fn states(&self) -> impl Iterator<Item = &S> {
        self.all.iter().map(|running| &running.state)
    }
}

impl<S: Pup, T: Pup> Pup for Running<S, T> {
    fn pack(&self, p: &mut Packer) {
        self.state.pack(p);
        self.reply.pack(p);
    }

    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        self.state.lend(l);
        self.reply.lend(l);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(Running { state: Pup::unpack(u)?, reply: Pup::unpack(u)? })
    }
}

impl<S: Pup, T: Pup> Pup for RunningList<S, T> {
    fn pack(&self, p: &mut Packer) {
        self.all.pack(p);
    }

    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        if !self.all.is_empty() {
            sometimes("an object was packed while an async entry waited");
        }
        self.all.lend(l);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(RunningList { all: Pup::unpack(u)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each state counts down at every poll it may move in, and ends at zero.
    fn poll(list: &mut RunningList<u32, &'static str>, may: impl Fn(u32) -> bool) -> (bool, Vec<String>) {
        let mut answers = vec![];
        let step = |state: &mut u32| match *state {
            state if !may(state) => Step::Wait { moved: false },
            0 => Step::Done("end"),
            _ => {
                *state -= 1;
                Step::Wait { moved: true }
            }
        };
        let moved = list.poll(step, |to, result| answers.push(format!("{to} {result}")));
        (moved, answers)
    }

    #[test]
    fn the_first_that_can_moves_alone() {
        let mut list = RunningList::default();
        list.start(3, None);
        list.start(7, Some("b"));
        list.start(9, None);
        assert_eq!(poll(&mut list, |state| state > 5), (true, vec![]));
        assert_eq!(list.states().copied().collect::<Vec<_>>(), [3, 6, 9]);
        assert_eq!(poll(&mut list, |_| false), (false, vec![]));
    }

    #[test]
    fn one_that_ends_is_answered_and_the_order_stays() {
        let mut list = RunningList::default();
        list.start(1, None);
        list.start(0, Some("b"));
        list.start(2, None);
        assert_eq!(poll(&mut list, |state| state == 0), (true, vec!["b end".to_string()]));
        assert_eq!(list.states().copied().collect::<Vec<_>>(), [1, 2]);
    }
}
