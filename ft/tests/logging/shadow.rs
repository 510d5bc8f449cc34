//! What has happened, as nobody in the job knows it: what a restarted node does is held against it.

use std::collections::BTreeMap;

use talisman_ft::logging::{Lane, LogId};

use crate::program::Message;

#[derive(Clone, Debug, Default)]
pub struct Shadow {
    /// Frames as they were taken.
    taken: BTreeMap<(Lane, u64), Message>,
    /// The hash of a PE after it had run so many messages.
    ran: BTreeMap<LogId, Vec<u64>>,
    /// Lines as they were printed.
    printed: BTreeMap<LogId, Vec<u64>>,
    /// Messages run by nodes that were guided.
    pub guided: u64,
}

impl Shadow {
    /// A PE takes a frame, as the next of its lane.
    pub fn take(&mut self, lane: Lane, number: u64, message: &Message) {
        self.taken.insert((lane, number), message.clone());
    }

    /// A restarted PE makes a frame again that its receiver, which was not lost, has taken.
    pub fn make_again(&self, lane: Lane, number: u64, message: &Message) {
        let first = self.taken.get(&(lane, number)).expect("what was taken was noted");
        assert_eq!(first, message, "frame {number} of {lane:?} is another one than was taken");
    }

    /// A PE has run its so-manieth message.
    pub fn run(&mut self, log: LogId, run: u64, hash: u64) {
        let ran = self.ran.entry(log).or_default();
        ran.truncate(run as usize - 1);
        ran.push(hash);
    }

    /// A restarted PE runs a message as the one before it did.
    pub fn run_again(&mut self, log: LogId, run: u64, hash: u64) {
        self.guided += 1;
        let ran = self.ran.entry(log).or_default();
        let before = ran.get(run as usize - 1).expect("the PE before it had come as far");
        assert_eq!(*before, hash, "message {run} of {log:?} ran otherwise than before");
    }

    /// A line is printed: it is new, or the same as before.
    pub fn print(&mut self, log: LogId, number: u64, line: u64) {
        let lines = self.printed.entry(log).or_default();
        match lines.get(number as usize) {
            Some(before) => assert_eq!(*before, line, "line {number} of {log:?} comes again as another one"),
            None => {
                assert_eq!(lines.len() as u64, number, "a line of {log:?} is missing");
                lines.push(line);
            }
        }
    }
}
