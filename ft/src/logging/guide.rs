//! Leads a restarted PE: what it does next, as its log says, and then up to its horizon.
//!
//! ```text
//!           an entry is left                     none is                    has sent all that was taken
//! Guided ───────────────────► Guided ...  ─────────────────► running on ─────────────────────────────────► at the
//! horizon
//!   │ run, or take in, or wait for frames           │ run, and take nothing in
//! ```

use std::collections::VecDeque;
use std::fmt;

use super::entry::{Entry, Input};
use super::horizon::Reach;

/// What a restarted PE does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It runs the next message of its queue.
    Run,
    /// It is given this. What comes from others may have to be waited for.
    Take(Input),
    /// It takes in the next frame in the order of tickets, if there is one that the PE before may have run.
    TakeNext,
    /// Nothing: it has sent all that anybody took of it.
    AtHorizon,
}

/// It did not do what the PE before it had done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Diverged {
    /// It has run so many messages, and was to be given something after fewer.
    RanPast {
        /// How many it has run.
        run: u64,
        /// What it was to be given, and when.
        entry: Entry,
    },
    /// It read a value of the world, and the one before it did not.
    ReadMore {
        /// How many messages it has run.
        run: u64,
    },
    /// It has nothing to run, and has not sent what was taken.
    RanDry {
        /// How many messages it has run.
        run: u64,
    },
}

impl fmt::Display for Diverged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Diverged::RanPast { run, entry } => {
                write!(
                    f,
                    "it has run {run} messages, and was given something after {} of them then",
                    entry.at
                )
            }
            Diverged::ReadMore { run } => write!(
                f,
                "after {run} messages it asks for a value from outside, such as a time, where it asked for none then"
            ),
            Diverged::RanDry { run } => {
                write!(f, "after {run} messages it has nothing more to do, and had sent more then")
            }
        }
    }
}

/// The log of a PE that is restarted, as far as it has not been fed.
#[derive(Clone, Debug)]
pub struct Guide {
    left: VecDeque<Entry>,
    horizon: Reach,
    /// With `logging:ticket`: frames are in no log of their receiver, and come in the order of their tickets.
    is_ticketed: bool,
}

impl Guide {
    /// It is fed these entries, in order, and then runs on up to here.
    #[must_use]
    pub fn new(entries: impl IntoIterator<Item = Entry>, horizon: Reach) -> Self {
        Guide { left: entries.into_iter().collect(), horizon, is_ticketed: false }
    }

    /// The same where frames come in the order of their tickets, if so, each when no message is left to run.
    #[must_use]
    pub fn ticketed(self, is_ticketed: bool) -> Self {
        Guide { is_ticketed, ..self }
    }

    /// What to do next, after it has run so many messages and has come so far. Doing what it says is to be told with
    /// [`Guide::took`].
    ///
    /// # Errors
    /// If the PE is not where it was.
    pub fn next(&self, run: u64, own: &Reach, has_messages: bool) -> Result<Step, Diverged> {
        match self.left.front() {
            Some(entry) if entry.at < run => Err(Diverged::RanPast { run, entry: entry.clone() }),
            // The value is read by the last message before that.
            Some(Entry { at, input: Input::Value { .. } }) if *at == run => {
                Err(Diverged::RanPast { run, entry: self.left[0].clone() })
            }
            Some(Entry { input: Input::InOrder(_), .. }) if has_messages => Ok(Step::Run),
            Some(Entry { input: Input::InOrder(_), .. }) => Ok(Step::TakeNext),
            Some(entry) if entry.at == run => Ok(Step::Take(entry.input.clone())),
            None if self.horizon.is_reached_by(own) => Ok(Step::AtHorizon),
            _ if has_messages => Ok(Step::Run),
            None if self.is_ticketed => Ok(Step::TakeNext),
            _ => Err(Diverged::RanDry { run }),
        }
    }

    /// Whether a message runs next, after so many, however much it has sent by now: its log has more, and that comes later.
    #[must_use]
    pub fn runs_on(&self, run: u64) -> bool {
        self.left.front().is_some_and(|entry| entry.at > run)
    }

    /// It was given what the last step said.
    pub fn took(&mut self) {
        self.left.pop_front();
    }

    /// It has taken in the next frame in the order of tickets; whether its log counts that.
    pub fn took_next(&mut self) -> bool {
        let Some(Entry { input: Input::InOrder(frames), .. }) = self.left.front_mut() else { return false };
        *frames = frames.saturating_sub(1);
        if *frames == 0 {
            self.left.pop_front();
        }
        true
    }

    /// The value that the PE is to read, which runs its so-manieth message. None if it is past its log: what it sent
    /// before that may have been taken, and nobody depends on what follows, so it reads the world.
    ///
    /// # Errors
    /// If its log has something else there.
    pub fn value(&mut self, run: u64) -> Result<Option<(u32, Vec<u8>)>, Diverged> {
        match self.left.front() {
            None => Ok(None),
            Some(Entry { at, input: Input::Value { kind, bytes } }) if *at == run => {
                let value = (*kind, bytes.clone());
                self.left.pop_front();
                Ok(Some(value))
            }
            Some(_) => Err(Diverged::ReadMore { run }),
        }
    }

    /// Whether all of the log was fed.
    #[must_use]
    pub fn is_fed(&self) -> bool {
        self.left.is_empty()
    }
}
