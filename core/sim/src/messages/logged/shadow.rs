//! What has happened, as nobody in the job knows it: what a restarted node does is held against it.

use std::collections::BTreeMap;

use talisman_core::logging::mark::Mark;
use talisman_core::logging::member::Came;
use talisman_core::logging::words::Said;
use talisman_ft::Version;
use talisman_ft::logging::{Lane, LogId};
use talisman_kernel::pe::input_log::Frame;

/// What has happened, by the line in which it did: all is counted from 0 in each.
#[derive(Default)]
pub(super) struct Shadow {
    /// Frames as they were taken, by lane and number.
    taken: BTreeMap<(Version, Lane, u64), Made>,
    /// What was printed, by PE.
    printed: BTreeMap<(Version, LogId), Vec<Said>>,
}

/// A frame; whether all of it has to be the same when it is made again.
pub(super) struct Made {
    pub(super) frame: Frame,
    pub(super) is_determined: bool,
}

impl Made {
    fn is_same(&self, other: &Made) -> bool {
        match self.is_determined && other.is_determined {
            true => self.frame == other.frame,
            false => {
                let mark = |made: &Made| Mark::of(&made.frame, made.is_determined);
                mark(self) == mark(other)
            }
        }
    }
}

impl Shadow {
    /// A node takes a frame of a lane.
    pub(super) fn take(&mut self, line: Version, came: Came) {
        let Came { lane, number, frame, is_determined } = came;
        self.taken.insert((line, lane, number), Made { frame, is_determined });
    }

    /// A restarted node makes a frame again that its receiver, which was not lost, has taken.
    pub(super) fn make_again(
        &self,
        line: Version,
        lane: Lane,
        number: u64,
        made: &Made,
    ) -> Result<(), String> {
        match self.taken.get(&(line, lane, number)) {
            Some(taken) if taken.is_same(made) => Ok(()),
            Some(_) => {
                Err(format!("frame {number} of {lane:?} in line {line} is another one than was taken"))
            }
            None => Err(format!("frame {number} of {lane:?} in line {line} was never taken")),
        }
    }

    /// Something comes to be printed that a PE said as its so-manieth.
    pub(super) fn print(
        &mut self,
        line: Version,
        log: LogId,
        number: u64,
        said: &Said,
    ) -> Result<(), String> {
        let printed = self.printed.entry((line, log)).or_default();
        match printed.get(number as usize) {
            Some(before) if before == said => Ok(()),
            Some(before) => Err(format!("{log:?} says {said:?} in the place of {before:?}")),
            None if printed.len() as u64 == number => {
                printed.push(said.clone());
                Ok(())
            }
            None => Err(format!("{log:?} says {said:?}, and what it said before that is missing")),
        }
    }
}
