//! The loop of a PE whose inputs are recorded (`--record`), on a thread of its own.
//!
//! It differs from that of other PEs in that its clock stands still in a turn, so that all that it reads of time is in
//! its record, and that values are dropped as soon as they can be. What comes from other PEs of its node is taken in as
//! it would come from other nodes, packed.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::node_record::{end_record, record_writer_of};
use super::worker::{BATCH, Pace, Suspicion, end, sleep, turn};
use talisman_base::clock::Clock;
use talisman_base::ids::PeId;
use talisman_core::record::item::Begins;
use talisman_core::record::writer::RecordWriter;
use talisman_kernel::net::Net;
use talisman_kernel::node::Node;
use talisman_kernel::panics::caught;
use talisman_kernel::pe::input_log::InputLog;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{Port, Threads};
use talisman_sched::idle::Idle;

/// What records a PE.
pub(super) struct Recording {
    writer: RecordWriter,
    start: Instant,
    /// The time of the turn, in nanoseconds since the job's start.
    now: Rc<Cell<u64>>,
}

impl Recording {
    /// Of a PE of this node, in a job that began then; none if it is not recorded.
    pub(super) fn of(node: &Node, pe: PeId, start: Instant) -> Option<Recording> {
        let writer = record_writer_of(node, pe, 0)?;
        let now = Rc::new(Cell::new(start.elapsed().as_nanos() as u64));
        Some(Recording { writer, start, now })
    }

    /// That of the PE. Beside it is the processor's counter, for traces and loads: what follows from it is a value of the world.
    pub(super) fn clock(&self) -> Clock {
        Clock::set_in_turns(self.now.clone(), self.start)
    }

    /// Before the fresh PE is given anything.
    pub(super) fn begin(&self, pe: &mut Pe) {
        let with = if pe.is_first() { Begins::Program } else { Begins::Nothing };
        self.writer.begins(self.now.get(), 0, with);
        pe.input_log = InputLog::Told(self.writer.recorder(None));
    }

    /// Runs the PE until the job is over.
    pub(super) fn work(&self, pe: &Pe) {
        let _here = Here::enter(pe);
        let _seen = pe.node.windows[(pe.id - pe.first_pe) as usize].open(pe);
        let Port::Threads(port) = &pe.port else { unreachable!("a PE on a thread has rings") };
        let (mut suspicion, mut pace) = (Suspicion::default(), Pace::default());
        let mut idle = Idle::sharing_cores(pe.node.shares_cores());
        pe.begin_measuring();
        caught(pe, || {
            while !pe.node.job.is_over() {
                self.set_clock();
                pe.tell_figures(|| 0);
                let received = pe.port.receive_told(pe);
                if !turn(pe, port, BATCH, &mut pace, received) {
                    self.rest(pe, port, &mut idle, &mut suspicion);
                }
            }
        });
        end(pe, port);
        end_record(&self.writer, &pe.node.job);
    }

    fn set_clock(&self) {
        self.now.set(self.start.elapsed().as_nanos() as u64);
    }

    /// Waits until there may be something to do.
    fn rest(&self, pe: &Pe, port: &Threads, idle: &mut Idle, suspicion: &mut Suspicion) {
        if port.has_unsent() {
            // Another PE's ring is full: let it run, on this core if need be.
            return std::thread::yield_now();
        }
        let (since, given) = (Instant::now(), idle.given());
        let is_due = || pe.timers.next().is_some_and(|due| due <= self.start.elapsed());
        let came = |net: &Net| {
            let wrote = net.has_unsent() && net.flush(pe);
            wrote || net.is_on_sockets() && net.receive(pe)
        };
        let may_go_on = || port.net.as_ref().is_some_and(came) || port.has_work();
        let mut asleep = Duration::ZERO;
        let park = || {
            let since = Instant::now();
            self.set_clock();
            sleep(pe, port, suspicion);
            asleep = since.elapsed();
        };
        idle.idle(
            || may_go_on() || pe.node.job.is_over() || is_due() || pe.figures_window().is_asked(),
            park,
        );
        self.set_clock();
        let released = idle.given() - given + asleep;
        pe.was_idle(since.elapsed().as_nanos() as u64, released.as_nanos() as u64);
    }
}
