//! The loop of a node that logs: it hears the launcher and the other nodes, gives its PEs turns or has them run again, and carries away
//! what the node has for others. The only PE of a node has its turns on this thread, several have theirs each on its own
//! ([`Task`](super::task::Task)); all else is done here, so that it is of one moment.

mod handing;
mod hearing;
mod idle;
mod leaving;
mod lines;
mod turns;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::kept::Kept;
use super::links::{Came, Links};
use super::part_lending::Lending;
use super::pe_thread::Returns;
use super::seat::Seat;
use super::task::{Answer, Task};
use super::writing::Writing;
use super::{Left, LoggedNode};
use crate::worker::Suspicion;
use talisman_control::protocol::{PeerInLife, Stop};
use talisman_core::logging::image::{Beginning, Image};
use talisman_core::logging::line_door::LineDoor;
use talisman_core::logging::member::Member;
use talisman_core::logging::words::Out;
use talisman_ft::double::Contents;
use talisman_ft::logging::{Membership, Shape};
use talisman_job::CheckpointTaken;
use talisman_job::checkpoints::FaultTolerance;
use talisman_kernel::node::Node;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::turn::Command;
use talisman_observe::stats::Totals;
use talisman_sched::idle::Idle;
use talisman_store::restart::Restart;

/// The rank of the PE that is asked for what somebody outside wants, and in whose place its node sleeps.
const FIRST: u32 = 0;
/// The keeper is sent what is new so often, and sooner if its PEs have nothing to do.
const FLUSH_EVERY: Duration = Duration::from_millis(1);
const FLUSH_IDLE: Duration = Duration::from_micros(200);
/// People are told when so many bytes are kept, and each time of twice as many.
const MUCH_KEPT: usize = 1 << 30;

/// A node that logs.
pub(super) struct Driver<'a> {
    pub(super) of: &'a LoggedNode,
    shape: Shape,
    pub(super) member: Member,
    links: Links,
    /// What its PEs are of.
    pub(super) node: Arc<Node>,
    /// Makes the program's first message.
    pub(super) program: &'a (dyn Fn(&Pe) + Sync),
    /// Its PEs, by rank, and what those on other threads have done.
    seats: Vec<Seat<'a>>,
    returns: Arc<Returns>,
    /// What somebody outside wants of the first of them.
    asked: VecDeque<Command>,
    /// What writes the parts of a line.
    writing: Writing,
    /// New processes of others that are not linked with this one yet.
    newcomers: Vec<PeerInLife>,
    came: Vec<Came>,
    /// What the node has for others, while it is carried away.
    outs: Vec<Out>,
    /// When this round of the loop began: clocks are read once in it where it makes no difference.
    at: Instant,
    /// What has come goes by it.
    door: LineDoor<Came>,
    flushed: Instant,
    /// When it was last looked how much is kept, and of how much people are told next.
    looked: Instant,
    tell_from: usize,
    kept: Kept,
    lending: Lending,
    /// A checkpoint is to be asked for, as so much is kept.
    wants_cut: bool,
    /// How many objects of which collections its parts of the last cut have.
    contents: Contents,
    /// Since when there has been nothing to do.
    idle_since: Option<Instant>,
    idle: Idle,
    suspicion: Suspicion,
    /// The job ends as soon as all is printed; whether that is so here, and has been said.
    finishing: Option<Stop>,
    has_finished: bool,
    /// Cuts of which the launcher was told what they had cost: another may take its place.
    took: Vec<CheckpointTaken>,
    /// Something was wrong, and the launcher knows.
    has_failed: bool,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        of: &'a LoggedNode,
        links: Links,
        seats: Vec<Seat<'a>>,
        returns: Arc<Returns>,
        program: &'a (dyn Fn(&Pe) + Sync),
    ) -> Self {
        let (number, shape) = (of.task.number, Shape { nodes: of.task.nodes, pes_per_node: of.task.pes });
        let mut driver = Driver {
            of,
            shape,
            member: Member::blank(number, shape, 0),
            links,
            node: of.node(),
            program,
            seats,
            returns,
            asked: VecDeque::new(),
            writing: Writing::default(),
            newcomers: Vec::new(),
            came: Vec::new(),
            outs: Vec::new(),
            at: Instant::now(),
            door: LineDoor::default(),
            flushed: Instant::now(),
            looked: Instant::now(),
            tell_from: MUCH_KEPT,
            kept: Kept::new(number, shape, of.log_budget),
            lending: Lending::default(),
            wants_cut: false,
            contents: Contents::default(),
            idle_since: None,
            idle: of.idle(),
            suspicion: Suspicion::default(),
            finishing: None,
            has_finished: false,
            took: Vec::new(),
            has_failed: false,
        };
        driver.member = driver.placed(Member::blank(number, shape, 0), of.membership.clone());
        if of.task.life == 0 {
            let first = |node| first_image(node, shape, of.task.restart.as_ref());
            let kept: Vec<_> = of.membership.keepers.wards(number).map(first).collect();
            let own = first(number);
            let member = Member::first(own.clone(), shape, &kept).in_line(own.line);
            driver.member = driver.placed(member, of.membership.clone());
            driver.enter(own.line);
            driver.begin(own);
        }
        driver
    }

    /// Where these are there.
    fn placed(&self, member: Member, membership: Membership) -> Member {
        let (is_strict, is_ticketed) =
            (self.of.ft == FaultTolerance::LoggingStrict, self.of.ft == FaultTolerance::LoggingTicket);
        let member = member.among(membership).strict(is_strict).ticketed(is_ticketed);
        if self.of.checks { member.with_twin() } else { member }
    }

    /// Until the job is over; what its PEs have counted.
    pub(super) fn run(mut self) -> Left {
        while !self.of.commands.is_over() {
            self.at = Instant::now();
            self.seats.iter().for_each(|seat| seat.end_turn(self.at));
            let heard = self.hear_launcher() | self.hear_others() | self.meet_newcomers();
            let heard = heard | self.take_back_some();
            let worked = self.work() | self.see_to_cut();
            self.look_at_kept();
            self.tell_figures();
            self.flush_log(FLUSH_EVERY);
            self.tell_of_memory();
            self.finish();
            self.flush_links();
            match heard | worked {
                true => self.end_idleness(),
                false => self.rest(),
            }
        }
        self.end()
    }

    /// Before all that it may keep is full, a checkpoint is asked for.
    fn look_at_kept(&mut self) {
        let seats = &self.seats;
        self.wants_cut |= self.kept.look(&self.member, || spare_of(seats));
        if self.wants_cut && self.runs() {
            self.wants_cut = false;
            self.ask_for_cut(false);
        }
    }

    /// To who looks at the job.
    fn tell_figures(&mut self) {
        for rank in self.ranks().filter(|rank| self.is_asked_for_figures(*rank)).collect::<Vec<_>>() {
            // What the node keeps is told once.
            if rank == FIRST {
                self.kept.count(&self.member, spare_of(&self.seats));
            }
            let kept = if rank == FIRST { self.kept.bytes() } else { 0 };
            self.hand(rank, self.now(), Task::Figures { kept });
        }
    }

    /// Whether a PE is wanted for that which could tell.
    fn is_asked_for_figures(&self, rank: u32) -> bool {
        self.seat(rank).is_ready() && self.node.figures[rank as usize].is_asked()
    }

    fn fail(&mut self, why: String) {
        if !std::mem::replace(&mut self.has_failed, true) {
            let node = self.of.task.number;
            self.of.control.ended(1, Some(format!("node {node}: {why}")));
        }
    }

    // How PEs begin.

    pub(super) fn ranks(&self) -> std::ops::Range<u32> {
        0..self.shape.pes_per_node
    }

    fn seat(&self, rank: u32) -> &Seat<'a> {
        &self.seats[rank as usize]
    }

    /// The time of the job, in nanoseconds.
    fn now(&self) -> u64 {
        self.of.start.elapsed().as_nanos() as u64
    }

    fn begin(&mut self, image: Image) {
        let image = Arc::new(image);
        for rank in self.ranks() {
            let id = self.of.task.number * self.shape.pes_per_node + rank;
            let (node, image) = (self.node.clone(), image.clone());
            self.seats[rank as usize].idle_turns = 0;
            self.hand(rank, 0, Task::Begin { id, node, image });
        }
        self.gather();
        // That takes long: their first turns, in which periods begin, are not before it.
        self.at = Instant::now();
    }

    fn begin_again(&mut self, image: Image) {
        self.of.runs_again.store(true, Ordering::Relaxed);
        image.reported().iter().for_each(|(name, value)| self.of.job.record(name, value.clone()));
        self.ranks().for_each(|rank| self.member.record(rank).was_at(image.made_at));
        self.begin(image);
        self.member.has_begun();
    }

    // The end.

    fn end(mut self) -> Left {
        self.gather();
        self.links.goodbye();
        _ = self.links.flush();
        self.writing.finish();
        // Others may be writing what they have mapped of this process.
        self.of.store.leave();
        let kept = self.kept.report(&self.member, spare_of(&self.seats));
        self.discard_rings();
        if self.of.commands.is_released() {
            // What its PEs had is with another, and so is what waited for them.
            self.ranks().for_each(|rank| _ = self.ask(rank, Task::EndInLine { shelf: None }));
        }
        let wall = self.of.start.elapsed();
        let totals = self.ranks().map(|rank| match self.ask(rank, Task::End(wall)) {
            Answer::Totals(totals) => totals,
            _ => Totals::default(),
        });
        (totals.collect(), kept)
    }

    /// What went between its PEs, and nobody takes any more.
    fn discard_rings(&mut self) {
        let parcels = self.member.take_rings();
        if !parcels.is_empty() {
            self.ask(FIRST, Task::Discard(parcels));
        }
    }
}

/// Bytes of shelves in which nothing lies that the member counts.
fn spare_of(seats: &[Seat<'_>]) -> u64 {
    seats.iter().map(|seat| seat.stand.spare).sum()
}

/// What a node of a job begins with.
fn first_image(node: u32, shape: Shape, restart: Option<&Restart>) -> Image {
    if let Some(restart) = restart {
        return Image::of_former(node, shape, restart.version);
    }
    let state = |rank| if node == 0 && rank == 0 { Beginning::Program } else { Beginning::Nothing };
    Image::first(node, shape, 0, (0..shape.pes_per_node).map(state).collect())
}
