//! A PE of a node that logs, with its clock.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use talisman_base::clock::Clock;
use talisman_base::ids::PeId;
use talisman_core::checkpoint::cut::CutOnPe;
use talisman_core::leftovers::LeftoversOnPe;
use talisman_core::logging::image::Image;
use talisman_core::logging::replay::may_run;
use talisman_core::services::SERVICES;
use talisman_ft::Version;
use talisman_kernel::node::Node;
use talisman_kernel::panics::caught;
use talisman_kernel::pe::input_log::InputLog;
use talisman_kernel::pe::recorder::Recorder;
use talisman_kernel::pe::turn::{Command, Feed};
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{Outbox, Parcel, Port, Sent};
use talisman_kernel::witness::Why;
use talisman_observe::stats::{Totals, count};

/// A PE, by its rank in its node. It sends into an outbox, and its clock stands still in a turn.
pub(super) struct Hosted {
    rank: u32,
    /// None before its image has come.
    pub(super) pe: Option<Pe>,
    /// In nanoseconds.
    clock: Rc<Cell<u64>>,
    /// Turns in a row in which it has done nothing, and nothing had come.
    pub(super) idle_turns: u32,
    /// What the PEs before this one have counted.
    totals: Totals,
}

impl Hosted {
    pub(super) fn new(rank: u32) -> Self {
        Hosted { rank, pe: None, clock: Rc::default(), idle_turns: 0, totals: Totals::default() }
    }

    /// A fresh one begins with what an image has.
    ///
    /// # Errors
    /// It cannot.
    pub(super) fn begin(
        &mut self,
        id: PeId,
        node: Arc<Node>,
        image: &Image,
        (clock, recorder): (impl FnOnce(Rc<Cell<u64>>) -> Clock, Box<dyn Recorder>),
        program: impl Fn(&Pe),
    ) -> Result<(), String> {
        self.clock.set(image.made_at);
        self.idle_turns = 0;
        let clock = clock(self.clock.clone());
        let mut pe = Pe::new(id, node, clock, Port::Simulated(Outbox::default()), SERVICES);
        pe.begin_measuring();
        pe.input_log = InputLog::Told(recorder);
        let mut begun = Ok(());
        caught(&pe, || begun = image.begin(&pe, self.rank, program));
        self.pe = Some(pe);
        begun
    }

    /// The time of the job, which does not go back.
    pub(super) fn set_clock(&self, now: Duration) {
        self.clock.set(self.clock.get().max(now.as_nanos() as u64));
    }

    /// What its clock says, and how that is set.
    pub(super) fn clock(&self) -> &Rc<Cell<u64>> {
        &self.clock
    }

    /// Whether anything was done in a turn.
    pub(super) fn turn(&self, feed: impl Feed) -> bool {
        let Some(pe) = &self.pe else { return false };
        let mut did = false;
        let _here = Here::enter(pe);
        let _seen = pe.node.windows[self.rank as usize].open(pe);
        caught(pe, || did = pe.turn(feed));
        did
    }

    /// Somebody beside the PEs asks for something.
    pub(super) fn command(&mut self, command: Command) {
        self.idle_turns = 0;
        self.with(|pe| pe.command(command));
    }

    /// Its program's code may run in this.
    pub(super) fn with(&self, run: impl FnOnce(&Pe)) {
        if let Some(pe) = &self.pe {
            let _here = Here::enter(pe);
            caught(pe, || run(pe));
        }
    }

    /// What it has sent since this was last asked.
    pub(super) fn take_sent(&self) -> Vec<Sent> {
        match &self.pe {
            Some(Pe { port: Port::Simulated(outbox), .. }) => outbox.take(),
            _ => Vec::new(),
        }
    }

    /// Whether it has a message to run.
    pub(super) fn may_run(&self) -> bool {
        self.pe.as_ref().is_some_and(may_run)
    }

    /// The version of which it has taken its part.
    pub(super) fn cut(&self) -> Option<Version> {
        self.pe.as_ref()?.has_cut()
    }

    pub(super) fn count_idleness(&self, idle: Duration, released: Duration) {
        if let Some(pe) = &self.pe {
            count(&pe.stats.idle_ns, idle.as_nanos() as u64);
            count(&pe.stats.released_ns, released.as_nanos() as u64);
        }
    }

    /// It goes, with all that is in it: the next line has begun.
    pub(super) fn end_in_line(&mut self) {
        if let Some(pe) = self.pe.take() {
            pe.end_cut();
            self.totals.add(&pe.stats.totals());
        }
    }

    /// The job is over, which took so long. What its PEs have counted.
    pub(super) fn end(mut self, wall: Duration) -> Totals {
        if let Some(pe) = self.pe.take() {
            pe.stats.wall_ns.set(wall.as_nanos() as u64);
            let here = Here::enter(&pe);
            pe.tell_of_undelivered();
            drop(here);
            self.totals.add(&pe.stats.totals());
        }
        self.totals
    }

    /// Messages between the PEs of the node that nobody takes any more.
    pub(super) fn discard(&self, parcels: Vec<Parcel>) {
        let Some(pe) = &self.pe else { return };
        let _here = Here::enter(pe);
        for parcel in parcels {
            if let Parcel::Message(envelope) = parcel {
                pe.discard(envelope, Why::Over);
            }
        }
    }
}
