//! One step of a PE that runs again: what its log says, and then on to its horizon.

use super::given::Given;
use super::member::{Member, Taken};
use talisman_ft::NodeId;
use talisman_ft::logging::{Input, Step};
use talisman_kernel::panics::caught;
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::Parcel;

/// What a PE does next that runs again, for the thread that it is on: it is given an input, or runs a message.
pub struct Again {
    /// What its clock says first, if that is in no entry of its own.
    time: Option<u64>,
    input: Option<Input>,
    taken: Vec<Taken>,
}

/// What is next for a PE that runs again.
pub enum Next {
    /// This.
    Do(Again),
    /// Frames that have not come yet.
    Wait,
    /// Nothing: it has sent all that anybody took of it.
    AtHorizon,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// It did what was next.
    Did,
    /// Frames that are next have not come yet.
    Waits,
    /// It has sent all that anybody took of it.
    AtHorizon,
}

/// The PE of this rank does what is next in its log. Its clock is set by `set_clock`. What it sends is then in its port.
///
/// # Errors
/// It did not do what it had done before, or something is not what it was.
pub fn step(member: &mut Member, rank: u32, pe: &Pe, set_clock: impl Fn(u64)) -> Result<Replayed, String> {
    match member.next_again(rank, may_run(pe))? {
        Next::Do(again) => again.perform(pe, set_clock).map(|()| Replayed::Did),
        Next::Wait => Ok(Replayed::Waits),
        Next::AtHorizon => Ok(Replayed::AtHorizon),
    }
}

impl Again {
    /// It takes this in, at that time.
    pub(super) fn at(time: u64, input: Input, taken: Vec<Taken>) -> Self {
        Again { time: Some(time), input: Some(input), taken }
    }

    /// The PE does it, on its thread. Its clock is set by `set_clock`.
    ///
    /// # Errors
    /// Something is not what it was.
    pub fn perform(self, pe: &Pe, set_clock: impl Fn(u64)) -> Result<(), String> {
        let _here = Here::enter(pe);
        let mut done = Ok(());
        self.time.into_iter().for_each(&set_clock);
        caught(pe, || done = give(pe, self.input, self.taken, set_clock));
        done
    }
}

/// A PE runs one message again.
pub fn run_again(pe: &Pe) {
    let _here = Here::enter(pe);
    caught(pe, || _ = pe.turn(OneMessage));
}

/// Whether there is a message that it could run.
pub fn may_run(pe: &Pe) -> bool {
    !pe.is_queue_empty() && !pe.stopped.get()
}

fn give(pe: &Pe, input: Option<Input>, taken: Vec<Taken>, set_clock: impl Fn(u64)) -> Result<(), String> {
    match input {
        None => _ = pe.turn(OneMessage),
        Some(Input::Lane { .. } | Input::Ring { .. }) => {
            taken.into_iter().try_for_each(|taken| take_in(pe, taken))?;
        }
        Some(Input::Timer(_)) => _ = pe.fire_timers(),
        Some(Input::Chore(_)) => _ = pe.rest(),
        Some(Input::Command(packed)) => {
            Given::read(&packed).map_err(|error| error.to_string())?.give(pe, set_clock);
        }
        Some(other) => return Err(format!("its log has what no PE is given: {other:?}")),
    }
    Ok(())
}

/// A PE takes in what came on a lane or by a ring. Nothing runs in here: messages wait for their turn, also between the PEs of a node.
///
/// # Errors
/// It cannot be read.
pub fn take_in(pe: &Pe, taken: Taken) -> Result<(), String> {
    let origin = pe.trace_comes(taken.from);
    match taken.parcel {
        Parcel::Message(envelope) => {
            pe.trace_keep(envelope, origin);
            pe.accept(envelope);
        }
        Parcel::Frame { head, segments } => {
            pe.note_taken_frame(taken.from, &head, &segments);
            pe.take_in_frame_of(taken.from, &head, segments, origin).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

impl Member {
    /// What the PE of this rank does next, which runs again; whether it has a message to run.
    ///
    /// # Errors
    /// It did not do what it had done before, or something is not what it was.
    pub fn next_again(&mut self, rank: u32, has_messages: bool) -> Result<Next, String> {
        let input = match self.next_step(rank, has_messages)? {
            None | Some(Step::AtHorizon) => return Ok(Next::AtHorizon),
            Some(Step::Run) => None,
            Some(Step::TakeNext) => return self.take_next_again(rank),
            Some(Step::Take(input)) => Some(input),
        };
        let taken = match &input {
            Some(Input::Lane { from, .. }) if self.is_ticketed() => self.take_early_again(rank, *from)?,
            Some(Input::Lane { from, frames, .. }) => self.take_again(*from, rank, *frames as usize)?,
            Some(Input::Ring { rank: from, slots, .. }) => {
                self.rings.take((*from, rank), Some(*slots as usize))
            }
            _ => Some(Vec::new()),
        };
        let Some(taken) = taken else { return Ok(Next::Wait) };
        if let Some(Input::Command(packed)) = &input
            && let Ok(Given::Time(now)) = Given::read(packed)
        {
            self.record(rank).was_at(now);
        }
        if input.is_some() {
            // First: it may read values that are next.
            self.record(rank).took();
        }
        Ok(Next::Do(Again { time: None, input, taken }))
    }

    /// The next frames of a lane that are for the PE of its rank, if so many have come; the others go on by rings.
    fn take_again(&mut self, from: NodeId, rank: u32, count: usize) -> Result<Option<Vec<Taken>>, String> {
        let Some(waiting) = self.waiting.get_mut(&(from, rank)).filter(|waiting| waiting.len() >= count)
        else {
            return Ok(None);
        };
        let letters: Vec<_> = waiting.drain(..count).collect();
        let (mut all, mut came) = (Vec::new(), Vec::new());
        for letter in letters {
            self.take_one(from, rank, letter, &mut all, &mut came, &mut Vec::new())?;
        }
        Ok(Some(all))
    }
}

/// One message runs.
struct OneMessage;

impl Feed for OneMessage {
    fn most(&self) -> usize {
        1
    }
}
