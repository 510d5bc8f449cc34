//! One step of a PE that runs again: what its log says, and then on to its horizon.

use super::given::Given;
use super::member::{Member, Taken};
use talisman_ft::NodeId;
use talisman_ft::logging::{Input, Step};
use talisman_kernel::panics::caught;
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::Parcel;
use talisman_kernel::wire;

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
    let next = match member.next_step(rank, may_run(pe))? {
        None | Some(Step::AtHorizon) => return Ok(Replayed::AtHorizon),
        Some(Step::Run) => None,
        Some(Step::Take(input)) => Some(input),
    };
    let taken = match &next {
        Some(Input::Lane { from, frames, .. }) => member.take_again(*from, rank, *frames as usize)?,
        Some(Input::Ring { rank: from, slots, .. }) => {
            member.rings.take((*from, rank), Some(*slots as usize))
        }
        _ => Some(Vec::new()),
    };
    let Some(taken) = taken else { return Ok(Replayed::Waits) };
    if let Some(Input::Command(packed)) = &next
        && let Ok(Given::Time(now)) = Given::read(packed)
    {
        member.record(rank).was_at(now);
    }
    if next.is_some() {
        // First: it may read values that are next.
        member.record(rank).took();
    }
    let _here = Here::enter(pe);
    let mut done = Ok(());
    caught(pe, || done = give(pe, next, taken, set_clock));
    done.map(|()| Replayed::Did)
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
    let envelope = match taken.parcel {
        Parcel::Message(envelope) => envelope,
        Parcel::Frame { head, segments } => {
            pe.note_taken_frame(taken.from, &head, &segments);
            wire::receive(pe, &head, segments).map_err(|error| error.to_string())?
        }
    };
    pe.accept(envelope);
    Ok(())
}

impl Member {
    /// The next frames of a lane that are for the PE of its rank, if so many have come; the others go on by rings.
    fn take_again(&mut self, from: NodeId, rank: u32, count: usize) -> Result<Option<Vec<Taken>>, String> {
        let Some(waiting) = self.waiting.get_mut(&(from, rank)).filter(|waiting| waiting.len() >= count)
        else {
            return Ok(None);
        };
        let letters: Vec<_> = waiting.drain(..count).collect();
        let (mut all, mut came) = (Vec::new(), Vec::new());
        for letter in letters {
            self.take_one(from, rank, letter, &mut all, &mut came)?;
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
