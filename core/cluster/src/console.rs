//! What every process that leads a job has beside it: the signals of people, what it prints, and the runtime in which it waits for both.

use std::future::Future;
use std::io;

use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::conclude::conclude;
use crate::descriptors;
use crate::printer::{Lines, Printer, Written};
use crate::standby::{Prepared, Standby};
use talisman_control::outcome::{ClusterOutcome, Ended, merge};
use talisman_job::{Interrupts, Progress, RunArgs, Signal};
use talisman_store::restart::CheckpointDirs;

/// It outlives what leads the job.
pub struct Console {
    /// Until the job has ended: not longer than signals are listened to.
    standby: Option<Standby>,
    interrupts: Interrupts,
    printer: Printer,
    runtime: Runtime,
}

/// What comes to the desk and goes from it. All that is to be printed is, once nobody has this any more.
pub struct Wires {
    pub lines: Lines,
    pub signalled: mpsc::UnboundedReceiver<Signal>,
    pub written: Written,
}

impl Console {
    /// From now on signals do not end this process. If somebody is to stand by for it, that process is started then, and hears of signals.
    ///
    /// # Errors
    /// What the system says: too many descriptors or threads.
    pub fn open(options: &RunArgs, prepared: Option<Prepared>) -> io::Result<(Console, Wires)> {
        let (signals, signalled) = mpsc::unbounded_channel();
        let pledge = prepared.as_ref().map(|prepared| prepared.pledge.clone());
        let on_first = move |signal| {
            pledge.iter().for_each(|pledge| pledge.is_ending());
            // Nobody listens any more once the job is over.
            let _ = signals.send(signal);
        };
        let interrupts = Interrupts::install(on_first).map_err(io::Error::other)?;
        let progress = if options.progress { Progress::stderr() } else { Progress::off() };
        let (printer, lines, written) = Printer::start(options.label_output, progress)?;
        let runtime = descriptors::runtime()?;
        let standby = prepared.map(Prepared::start).transpose()?;
        Ok((Console { standby, interrupts, printer, runtime }, Wires { lines, signalled, written }))
    }

    /// Waits for what has to be before the job can be led.
    pub fn wait<T>(&self, what: impl Future<Output = T>) -> T {
        self.runtime.block_on(what)
    }

    /// Waits for the end of the job, with so many PEs on each node, which is led meanwhile, and until all is printed.
    pub fn conclude(
        self,
        job: impl Future<Output = Ended>,
        pes: usize,
        checkpoint_dirs: Option<&CheckpointDirs>,
    ) -> ClusterOutcome {
        let ended = self.runtime.block_on(job);
        drop((self.runtime, self.standby));
        let mut outcome = merge(ended, pes);
        outcome.interrupted = self.interrupts.received();
        conclude(&mut outcome, checkpoint_dirs, self.printer);
        outcome
    }
}
