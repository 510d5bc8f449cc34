//! A job of two nodes of two PEs each, taken forward by hand, whose frames are seen: for tests of the runtime itself.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use crate::chare::MainChare;
#[cfg(test)]
use crate::checkpoint::part::Part;
#[cfg(test)]
use crate::checkpoint::restore::RestoreOnPe;
use crate::services::SERVICES;
use talisman_base::clock::Clock;
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_job::job::Job;
use talisman_job::{Output, RunArgs};
use talisman_kernel::message::send_options::SendOptions;
use talisman_kernel::message::service::Service;
use talisman_kernel::node::{Config, Node};
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{Outbox, Parcel, Port, Sent};
use talisman_kernel::registry::main_chare_of;
use talisman_pup::Segment;

/// What one PE sent to one of another node.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Who gets it.
    pub to: PeId,
    /// Its bytes.
    pub head: Vec<u8>,
    /// The slices beside them.
    pub segments: Vec<Segment>,
}

impl Frame {
    /// The tag, and of a message from PE to PE its service, and which of that service's messages it is.
    pub fn kind(&self) -> (u8, u8, u8) {
        match self.head[0] {
            2 => (2, self.head[5], self.head.get(6).copied().unwrap_or(0)),
            tag => (tag, 0, 0),
        }
    }

    /// Whether it is a message from PE to PE of this service.
    pub fn is_of(&self, service: Service) -> bool {
        self.head[0] == 2 && self.head[5] == service as u8
    }
}

/// The job.
pub struct Lab {
    pub pes: Vec<Pe>,
    job: Arc<Job>,
    clock: Rc<Cell<u64>>,
    frames: Vec<Frame>,
}

impl std::fmt::Debug for Lab {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lab({} frames)", self.frames.len())
    }
}

/// A turn: one message.
struct Round;

impl Feed for Round {
    fn most(&self) -> usize {
        1
    }

    fn looks_at_timers(&self) -> bool {
        true
    }

    fn may_rest(&self, _: &Pe) -> bool {
        true
    }
}

impl Lab {
    /// About to run this program.
    pub fn new<C: MainChare>() -> Self {
        Lab::with::<C>(&RunArgs::default())
    }

    /// The same, as these options say. No others are looked at than those that PEs know of.
    pub fn with<C: MainChare>(options: &RunArgs) -> Self {
        let lab = Lab::of(options);
        {
            let _here = Here::enter(&lab.pes[0]);
            lab.pes[0].send_create(main_chare_of(C::KEY), 0, &C::INITS[0], (), SendOptions::default());
        }
        lab
    }

    /// About to go on from a checkpoint that has a part of each PE.
    #[cfg(test)]
    pub fn going_on(options: &RunArgs, parts: Vec<Part>) -> Self {
        let lab = Lab::of(options);
        for (pe, part) in lab.pes.iter().zip(parts) {
            assert!(pe.restore(vec![part]), "nothing panics");
        }
        lab
    }

    fn of(options: &RunArgs) -> Self {
        let (shape, config) = (Shape { nodes: 2, pes_per_node: 2 }, Config::of(options));
        let (job, clock) = (Job::new(Output::capture()), Rc::new(Cell::new(0)));
        let nodes: Vec<_> =
            (0..2).map(|number| Node::new(shape, number, config.clone(), job.clone())).collect();
        let pe = |id: PeId| {
            let node = nodes[shape.node_of(id) as usize].clone();
            Pe::new(id, node, Clock::simulated(clock.clone()), Port::Simulated(Outbox::default()), SERVICES)
        };
        let pes = (0..shape.pes()).map(pe).collect();
        Lab { pes, job, clock, frames: Vec::new() }
    }

    /// So many rounds, in each of which every PE has a turn, or until the job ends.
    pub fn run(&mut self, rounds: usize) {
        for _ in 0..rounds {
            if self.job.is_over() {
                return;
            }
            self.clock.set(self.clock.get() + 1000);
            (0..self.pes.len()).for_each(|pe| self.turn(pe));
        }
    }

    /// A turn of one PE.
    pub fn turn(&mut self, id: usize) {
        let pe = &self.pes[id];
        {
            let _here = Here::enter(pe);
            pe.turn(Round);
        }
        self.send(id);
    }

    /// Delivers what a PE has sent: what it said when it got messages goes even if it has no turn.
    pub fn send(&mut self, id: usize) {
        let Port::Simulated(outbox) = &self.pes[id].port else { unreachable!("made above") };
        for Sent { to, parcel, .. } in outbox.take() {
            match parcel {
                Parcel::Message(envelope) => {
                    let pe = &self.pes[to as usize];
                    let _here = Here::enter(pe);
                    pe.accept(envelope);
                }
                Parcel::Frame { head, segments } => {
                    let frame = Frame { to, head: head.to_vec(), segments };
                    self.frames.push(frame.clone());
                    self.inject(frame);
                }
            }
        }
    }

    /// What was sent between the nodes so far.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// A frame comes.
    pub fn inject(&mut self, frame: Frame) {
        let pe = &self.pes[frame.to as usize];
        let _here = Here::enter(pe);
        if let Err(error) = pe.take_in_frame(&frame.head, frame.segments, None) {
            drop(error.to_string());
        }
    }

    /// The exit status, -1 while it goes on, and what went wrong.
    pub fn how_it_ended(&self) -> (i32, Option<String>) {
        self.job.how_it_ended().map_or((-1, None), |end| (end.status, end.message))
    }
}
