//! One step of a PE that runs again: what its log says, and then on to its horizon.

use super::given::Given;
use super::member::Member;
use talisman_ft::NodeId;
use talisman_ft::logging::{Input, Step};
use talisman_kernel::panics::caught;
use talisman_kernel::pe::input_log::Frame;
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};
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

/// The node's PE does what is next in its log. Its clock is set by `set_clock`. What it sends is then in its port.
///
/// # Errors
/// It did not do what it had done before, or something is not what it was.
pub fn step(member: &mut Member, pe: &Pe, set_clock: impl Fn(u64)) -> Result<Replayed, String> {
    let next = match member.next_step(may_run(pe))? {
        None | Some(Step::AtHorizon) => return Ok(Replayed::AtHorizon),
        Some(Step::Run) => None,
        Some(Step::Take(input)) => Some(input),
    };
    let frames = match &next {
        Some(Input::Lane { from, frames, .. }) => match member.take_again(*from, *frames as usize)? {
            Some(frames) => frames,
            None => return Ok(Replayed::Waits),
        },
        _ => Vec::new(),
    };
    if let Some(Input::Command(packed)) = &next
        && let Ok(Given::Time(now)) = Given::read(packed)
    {
        member.record().was_at(now);
    }
    if next.is_some() {
        // First: it may read values that are next.
        member.record().took();
    }
    let _here = Here::enter(pe);
    let mut done = Ok(());
    caught(pe, || done = give(pe, next, frames, set_clock));
    done.map(|()| Replayed::Did)
}

/// Whether there is a message that it could run.
pub fn may_run(pe: &Pe) -> bool {
    !pe.is_queue_empty() && !pe.stopped.get()
}

fn give(pe: &Pe, input: Option<Input>, frames: Vec<Frame>, set_clock: impl Fn(u64)) -> Result<(), String> {
    match input {
        None => _ = pe.turn(OneMessage),
        Some(Input::Lane { .. }) => {
            for frame in frames {
                let read = wire::receive(pe, &frame.head, frame.segments);
                pe.accept(read.map_err(|error| error.to_string())?);
            }
        }
        Some(Input::Timer(_)) => _ = pe.run_timers(),
        Some(Input::Chore(_)) => _ = pe.do_chores(),
        Some(Input::Command(packed)) => {
            Given::read(&packed).map_err(|error| error.to_string())?.give(pe, set_clock);
        }
        Some(other) => return Err(format!("its log has what no PE is given: {other:?}")),
    }
    Ok(())
}

impl Member {
    /// The next frames of a lane, if so many have come.
    fn take_again(&mut self, from: NodeId, count: usize) -> Result<Option<Vec<Frame>>, String> {
        let Some(waiting) = self.waiting.get_mut(&from).filter(|waiting| waiting.len() >= count) else {
            return Ok(None);
        };
        let letters: Vec<_> = waiting.drain(..count).collect();
        let frames = letters.into_iter().map(|letter| Ok(self.take_one(from, letter)?.0));
        frames.collect::<Result<_, String>>().map(Some)
    }
}

/// One message runs.
struct OneMessage;

impl Feed for OneMessage {
    fn most(&self) -> usize {
        1
    }
}
