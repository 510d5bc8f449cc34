//! Runs a PE again from its record: alone, with the output of its program, and comparing what it sends.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use super::expected::Expectations;
use super::file::RecordError;
use super::item::{Begins, Item};
use super::steps::{Step, Steps};
use crate::logging::image::{Beginning, Image};
use crate::logging::member::Taken;
use crate::logging::replay::{may_run, take_in};
use crate::services::SERVICES;
use talisman_base::clock::Clock;
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_ft::logging;
use talisman_job::job::{End, Job};
use talisman_kernel::node::{Config, Node};
use talisman_kernel::panics::caught;
use talisman_kernel::pe::input_log::{Frame, InputLog};
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{Outbox, Port};

/// How far a PE has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Messages that it has run: its steps.
    pub steps: u64,
    /// Messages to other PEs that were the same.
    pub compared: u64,
}

/// How it came to its end.
#[derive(Debug)]
pub enum Replayed {
    /// There was no more; if its process had died, that is said.
    ToEnd(Option<&'static str>),
    /// It has run as many messages as were asked for.
    Stopped,
    /// The job ended here, with what the program said or did wrong. If that is behind the end of the record, it is said why there is no more:
    /// something may be missing then.
    JobEnded(End, Option<&'static str>),
}

/// It did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The record cannot be read any further.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// It does not do the same when it is given the same: what, where, and after how many messages.
    #[error("PE {pe} {DIFFERS}: {what}. That is in step {step} of it, at {at_ns} ns")]
    Differs {
        /// Which.
        pe: PeId,
        /// What is not as it was, with the chare, index and entry.
        what: String,
        /// Messages that it has run, this one included.
        step: u64,
        /// What its clock says.
        at_ns: u64,
    },
}

/// What the message of a difference has in it, and no other.
pub const DIFFERS: &str = "does not do the same when it is given the same";

/// Makes a PE of a record, as often as that begins anew.
pub struct Replayer<'a> {
    /// The PE.
    pub pe: PeId,
    /// The job's nodes and PEs.
    pub shape: Shape,
    /// How the program was run.
    pub config: Config,
    /// What its output and its end go to.
    pub job: Arc<Job>,
    /// Makes the program's first message.
    pub program: &'a dyn Fn(&Pe),
    /// Messages after which it is enough.
    pub until: Option<u64>,
}

impl Replayer<'_> {
    /// Runs it to the end of its record, or as far as is asked for; how far it has come too.
    ///
    /// # Errors
    /// The record is damaged, or the PE does something else than it did.
    pub fn replay(&self, mut steps: Steps) -> (Result<Replayed, ReplayError>, Progress) {
        let (mut progress, mut running) = (Progress::default(), None);
        let replayed = self.replay_on(&mut steps, &mut running, &mut progress);
        (replayed, progress)
    }

    fn replay_on(
        &self,
        steps: &mut Steps,
        running: &mut Option<RunningAgain>,
        progress: &mut Progress,
    ) -> Result<Replayed, ReplayError> {
        while let Some(step) = steps.next_step()? {
            if step.input == Item::Ran {
                if self.until == Some(progress.steps) {
                    return Ok(Replayed::Stopped);
                }
                progress.steps += 1;
            }
            let (at_ns, what) = match self.step(running, step) {
                Ok(compared) => {
                    progress.compared = compared;
                    match self.job.how_it_ended() {
                        Some(end) if end.status != 0 => return Ok(Replayed::JobEnded(end, None)),
                        _ => continue,
                    }
                }
                Err(what) => (running.as_ref().map_or(0, |running_pe| running_pe.clock.get()), what),
            };
            return Err(ReplayError::Differs { pe: self.pe, what, step: progress.steps, at_ns });
        }
        match steps.cut_off() {
            Some(why) => Ok(self.run_on(why, running, progress)),
            None => Ok(Replayed::ToEnd(None)),
        }
    }

    /// The process died: what waited for its turn then runs, which may be what it died of.
    fn run_on(&self, why: &'static str, running: &Option<RunningAgain>, progress: &mut Progress) -> Replayed {
        let Some(running_pe) = running else { return Replayed::ToEnd(Some(why)) };
        for _ in 0..RUN_ON {
            if !may_run(&running_pe.pe) || self.until == Some(progress.steps) {
                break;
            }
            progress.steps += 1;
            running_pe.expected.expect(Default::default(), Default::default(), true);
            let _here = Here::enter(&running_pe.pe);
            caught(&running_pe.pe, || _ = running_pe.pe.turn(OneMessage));
            if let Some(end) = self.job.how_it_ended().filter(|end| end.status != 0) {
                return Replayed::JobEnded(end, Some(why));
            }
        }
        Replayed::ToEnd(Some(why))
    }

    /// How many messages were compared so far.
    fn step(&self, running: &mut Option<RunningAgain>, step: Step) -> Result<u64, String> {
        let Step { input, values, sent, shared, is_last } = step;
        if let Item::Begins { made_at, line, with } = input {
            let before = running.take().map(|running_pe| running_pe.expected);
            let running_pe = running.insert(self.make(made_at, before.unwrap_or_default()));
            running_pe.expected.expect(values, sent, is_last);
            running_pe.pe.node.shared.lend_library(shared);
            return running_pe.begin(self, line, with);
        }
        let running_pe = running.as_ref().ok_or("it is given something before it begins")?;
        running_pe.expected.expect(values, sent, is_last);
        running_pe.pe.node.shared.lend_library(shared);
        running_pe.take(input)
    }

    fn make(&self, made_at: u64, expected: Expectations) -> RunningAgain {
        let number = self.shape.node_of(self.pe);
        let node = Node::new(self.shape, number, self.config.clone(), self.job.clone());
        let clock = Rc::new(Cell::new(made_at));
        let port = Port::Simulated(Outbox::default());
        // As it was: what shows the machine's time is told nobody.
        let time = Clock::set_in_turns(clock.clone(), Instant::now());
        let mut pe = Pe::new(self.pe, node, time, port, SERVICES);
        pe.begin_measuring();
        pe.input_log = InputLog::Told(expected.recorder());
        RunningAgain { pe, clock, expected }
    }
}

/// After the end of a record of a process that died, so many messages are run at most: those of its last turn.
const RUN_ON: usize = 64;

/// A PE that runs again.
struct RunningAgain {
    pe: Pe,
    clock: Rc<Cell<u64>>,
    expected: Expectations,
}

impl RunningAgain {
    fn begin(&self, replayer: &Replayer<'_>, line: u64, with: Begins) -> Result<u64, String> {
        let state = match with {
            Begins::Nothing => Beginning::Nothing,
            Begins::Program => Beginning::Program,
            Begins::Parts(parts) => Beginning::Parts(parts),
        };
        let Shape { nodes, pes_per_node } = replayer.shape;
        let (of, rank) = (self.pe.node.number, self.pe.id - self.pe.first_pe);
        let mut states = vec![Beginning::Nothing; pes_per_node as usize];
        states[rank as usize] = state;
        let image = Image::first(of, logging::Shape { nodes, pes_per_node }, self.clock.get(), states);
        let image = image.of_cut(line, Default::default());
        let mut begun = Ok(());
        caught(&self.pe, || begun = image.begin(&self.pe, rank, replayer.program));
        begun?;
        self.check("what it begins with")
    }

    fn take(&self, input: Item) -> Result<u64, String> {
        let pe = &self.pe;
        let who = self.about(&input);
        let mut taken = Ok(());
        let _here = Here::enter(pe);
        caught(pe, || taken = self.give(input));
        taken?;
        self.check(&who)
    }

    fn check(&self, who: &str) -> Result<u64, String> {
        if let Port::Simulated(outbox) = &self.pe.port {
            drop(outbox.take());
        }
        self.expected.check(&self.pe, who)
    }

    /// What does something in a step, for people.
    fn about(&self, input: &Item) -> String {
        match input {
            Item::Ran => self.pe.who_runs_next().unwrap_or_else(|| "a message that ran".into()),
            Item::Timers => "a timer".into(),
            Item::Rested => "its idle work".into(),
            _ => "the runtime".into(),
        }
    }

    fn give(&self, input: Item) -> Result<(), String> {
        let pe = &self.pe;
        match input {
            Item::Given(given) => given.give(pe, |time| self.clock.set(time)),
            Item::Taken { from, frame } => {
                let (head, segments) = frame.into_parts();
                let parcel = Frame::with_head(&head, segments).into_parcel();
                take_in(pe, Taken { from, parcel })?;
            }
            Item::Ran => {
                if !pe.turn(OneMessage) {
                    return Err("a message ran here, and none waits now".into());
                }
            }
            Item::Timers => _ = pe.fire_timers(),
            Item::Rested => _ = pe.rest(),
            Item::Begins { .. } | Item::Value(_) | Item::Sent(_) | Item::Shared { .. } | Item::Ends => {}
        }
        Ok(())
    }
}

/// One message runs.
struct OneMessage;

impl Feed for OneMessage {
    fn most(&self) -> usize {
        1
    }
}
