//! A whole job: its nodes, its leader, what is on its way; what happens next is drawn.

use std::collections::{BTreeSet, VecDeque};

use talisman_ft::NodeId;
use talisman_ft::logging::{Gate, Lane, Leader, LogId, Loss, Order, Shape};

use crate::mail::{Command, Network, Report};
use crate::process::{Process, Stage, World};
use crate::program::{first_messages, sum_of_tokens};
use crate::random::Random;
use crate::shadow::Shadow;

#[derive(Clone, Debug)]
pub struct Job {
    pub shape: Shape,
    pub nodes: Vec<Option<Process>>,
    pub net: Network,
    pub shadow: Shadow,
    pub random: Random,
    pub leader: Leader,
    pub given_up: Option<Loss>,
    expected: u64,
    /// Whether a loss happened that nobody promises to repair: of a node with its keeper.
    beyond_promise: bool,
    pub losses: u32,
    is_strict: bool,
}

impl Job {
    pub fn new(shape: Shape, seed: u64, left: u32) -> Self {
        let mut nodes: Vec<_> =
            (0..shape.nodes).map(|node| Process::first(node, shape, seed, left)).collect();
        let images: Vec<_> =
            nodes.iter().flat_map(|node| node.images.to_send()).map(|(_, image)| image.clone()).collect();
        for image in &images {
            let keeper = shape.next_around(image.of);
            nodes[keeper as usize].images.keep(image.of, image.position.clone(), image.clone());
        }
        let logs = (0..shape.nodes).flat_map(|node| shape.logs_of(node));
        let first = logs.flat_map(|log| first_messages(log, seed, left));
        Job {
            shape,
            nodes: nodes.into_iter().map(Some).collect(),
            net: Network::default(),
            shadow: Shadow::default(),
            random: Random::new(seed),
            leader: Leader::new(shape, images.into_iter().map(|image| image.position).collect()),
            given_up: None,
            expected: sum_of_tokens(first, shape),
            beyond_promise: false,
            losses: 0,
            is_strict: false,
        }
    }

    /// The same with `logging:strict`.
    pub fn strict(shape: Shape, seed: u64, left: u32) -> Self {
        let mut job = Job { is_strict: true, ..Job::new(shape, seed, left) };
        job.nodes.iter_mut().flatten().for_each(|process| process.gate = Some(Gate::default()));
        job
    }

    /// With a node and what it can reach; nothing if it is not there.
    fn with<T>(&mut self, node: NodeId, act: impl FnOnce(&mut Process, &mut World<'_>) -> T) -> Option<T> {
        let Job { nodes, net, shadow, random, .. } = self;
        let process = nodes[node as usize].as_mut()?;
        Some(act(process, &mut World { net, shadow, random }))
    }

    // What may happen.

    /// Anything.
    pub fn step(&mut self) {
        let node = self.random.below(self.shape.nodes as usize) as NodeId;
        let rank = self.random.below(self.shape.pes_per_node as usize) as u32;
        match self.random.below(100) {
            0..30 => self.run_or_follow(node, rank),
            30..50 => self.take_some(node, rank),
            50..58 => self.drain_a_ring(node, rank),
            58..60 => self.fire(node, rank),
            60..66 => self.flush(node),
            66..80 => self.deliver_mail(node),
            80..82 => self.take_image(node),
            82..91 => self.obey(node),
            _ => self.lead(node),
        }
        self.with(node, |process, world| {
            process.open_gate(world);
            process.release(world);
            process.tell_if_at_horizon(world);
        });
    }

    fn run_or_follow(&mut self, node: NodeId, rank: u32) {
        self.with(node, |process, world| match process.stage {
            Stage::Live if !process.pes[rank as usize].queue.is_empty() => process.run(world, rank),
            Stage::Guided { .. } => {
                process.follow(world, rank);
            }
            _ => {}
        });
    }

    fn take_some(&mut self, node: NodeId, rank: u32) {
        let from = self.random.below(self.shape.nodes as usize) as NodeId;
        let most = 1 + self.random.below(3);
        let lane = Lane { from, to: node, rank };
        self.with(node, |process, world| {
            let count = (1..=most)
                .rev()
                .find(|count| world.net.frames.get(&lane).is_some_and(|all| all.len() >= *count));
            if process.is_live() && from != node {
                process.take_frames(world, lane, count.unwrap_or(0), true);
            }
        });
    }

    fn drain_a_ring(&mut self, node: NodeId, rank: u32) {
        let from = self.random.below(self.shape.pes_per_node as usize) as u32;
        let most = 1 + self.random.below(3);
        self.with(node, |process, _| {
            if process.is_live() && from != rank {
                let there = process.rings.get(&(from, rank)).map_or(0, |ring| ring.len());
                process.take_slots((from, rank), most.min(there), true);
            }
        });
    }

    fn fire(&mut self, node: NodeId, rank: u32) {
        self.with(node, |process, world| {
            let serial = world.random.next() >> 32;
            if process.is_live() {
                process.fire(rank, serial);
            }
        });
    }

    fn flush(&mut self, node: NodeId) {
        self.with(node, |process, world| {
            if process.has_state() {
                process.flush(world);
            }
        });
    }

    fn take_image(&mut self, node: NodeId) {
        self.with(node, |process, world| process.take_image(world));
    }

    fn deliver_mail(&mut self, node: NodeId) {
        let from = self.random.below(self.shape.nodes as usize) as NodeId;
        if self.nodes[node as usize].is_some()
            && let Some(mail) = self.net.mail.get_mut(&(from, node)).and_then(|waiting| waiting.pop_front())
        {
            self.with(node, |process, world| process.read(world, from, mail));
        }
    }

    fn obey(&mut self, node: NodeId) {
        if self.nodes[node as usize].is_some()
            && let Some(command) = self.net.commands.get_mut(&node).and_then(|waiting| waiting.pop_front())
        {
            self.with(node, |process, world| process.obey(world, command));
        }
    }

    fn lead(&mut self, node: NodeId) {
        if self.random.one_in(4)
            && let Some((node, incarnation)) = self.net.starts.pop_front()
        {
            let mut process = Process::blank(node, self.shape, incarnation);
            process.gate = self.is_strict.then(Gate::default);
            self.nodes[node as usize] = Some(process);
            self.with(node, |process, world| process.report(world, Report::Arrived(incarnation)));
        }
        if let Some(report) = self.net.reports.get_mut(&node).and_then(|waiting| waiting.pop_front()) {
            self.on_report(node, report);
        }
    }

    fn on_report(&mut self, node: NodeId, report: Report) {
        let orders = match report {
            Report::Arrived(incarnation) => self.leader.on_arrived(node, incarnation),
            Report::Held(session, holdings) => self.leader.on_held(node, session, *holdings),
            Report::Announced(session) => self.leader.on_announced(node, session),
            Report::AtHorizon(session) => self.leader.on_at_horizon(node, session),
            Report::Covered(ward, session) => self.leader.on_covered(ward, session),
            Report::Imaged(position) => self.leader.on_imaged(node, position),
            Report::Printed(log, number, line) => {
                self.shadow.print(log, number, line);
                self.leader.on_printed(log, number + 1);
                let printed = Command::Printed(log.rank, self.leader.printed(log));
                self.net.commands.entry(node).or_default().push_back(printed);
                Vec::new()
            }
        };
        self.carry_out(orders);
    }

    fn carry_out(&mut self, orders: Vec<Order>) {
        for order in orders {
            match order {
                Order::Forget { kept } => {
                    for node in 0..self.shape.nodes {
                        let command = Command::Forget(kept.clone());
                        self.net.commands.entry(node).or_default().push_back(command);
                    }
                }
                Order::GiveUp(loss) => {
                    assert!(self.beyond_promise, "given up without need: {loss:?}");
                    self.given_up = Some(loss);
                }
                order => self.net.order(order),
            }
        }
    }

    // Losses.

    /// These nodes are lost. Some of what they had sent is on its way and arrives.
    pub fn lose(&mut self, lost: &BTreeSet<NodeId>) {
        if self.given_up.is_some() {
            return;
        }
        self.losses += 1;
        for node in lost {
            let reports = self.cut_off(*node);
            reports.into_iter().for_each(|report| self.on_report(*node, report));
        }
        self.beyond_promise |= !self.is_within_promise(lost);
        let orders = self.leader.on_lost(lost.iter().copied());
        let gone: Vec<_> = (0..self.shape.nodes).filter(|node| self.leader.is_lost(*node)).collect();
        // Whoever was not live yet begins once more, as another process. What was on its way to the former ones goes
        // with the connections.
        gone.iter().filter(|node| !lost.contains(node)).for_each(|node| drop(self.cut_off(*node)));
        self.net.starts.clear();
        gone.iter().for_each(|node| drop(self.net.commands.remove(node)));
        self.carry_out(orders);
    }

    /// Whether no node is lost with its keeper, if these are now, and none of those is that are not live yet.
    pub fn is_within_promise(&self, lost: &BTreeSet<NodeId>) -> bool {
        let is_gone = |node: NodeId| lost.contains(&node) || self.leader.is_lost(node);
        !(0..self.shape.nodes).any(|node| is_gone(node) && is_gone(self.shape.next_around(node)))
    }

    /// Returns what it had reported and has arrived.
    fn cut_off(&mut self, node: NodeId) -> VecDeque<Report> {
        self.nodes[node as usize] = None;
        self.net.commands.remove(&node);
        let random = &mut self.random;
        let cut = |lanes: usize, random: &mut Random| random.below(lanes + 1);
        for (lane, frames) in &mut self.net.frames {
            if lane.to == node {
                frames.clear();
            } else if lane.from == node {
                frames.truncate(cut(frames.len(), random));
            }
        }
        for ((from, to), mail) in &mut self.net.mail {
            if *to == node {
                mail.clear();
            } else if *from == node {
                mail.truncate(cut(mail.len(), random));
            }
        }
        let mut reports = self.net.reports.remove(&node).unwrap_or_default();
        reports.truncate(cut(reports.len(), random));
        reports
    }

    // The end.

    /// Everything that can happen without anybody's doing happens, until nothing can any more.
    pub fn settle(&mut self) {
        for _ in 0..20_000 {
            if self.given_up.is_some() || self.is_at_rest() {
                return;
            }
            (0..20).for_each(|_| self.step_to_rest());
        }
        panic!("it does not come to an end:\n{}", self.describe());
    }

    fn step_to_rest(&mut self) {
        for node in 0..self.shape.nodes {
            for rank in 0..self.shape.pes_per_node {
                self.run_or_follow(node, rank);
                self.take_some(node, rank);
                self.drain_a_ring(node, rank);
            }
            self.flush(node);
            self.deliver_mail(node);
            self.obey(node);
            self.lead(node);
            self.with(node, |process, world| {
                process.open_gate(world);
                process.release(world);
                process.tell_if_at_horizon(world);
            });
        }
    }

    fn is_at_rest(&self) -> bool {
        let rests = |process: &Process| {
            process.is_live()
                && process.pes.iter().all(|pe| pe.queue.is_empty())
                && process.rings.values().all(|ring| ring.is_empty())
                && !process.images.is_under_way()
                && process.output.iter().all(|output| output.kept() == 0)
        };
        self.leader.is_running()
            && self.net.is_empty()
            && self.nodes.iter().all(|node| node.as_ref().is_some_and(rests))
    }

    fn describe(&self) -> String {
        let mut lines = String::new();
        for process in self.nodes.iter().flatten() {
            let (stage, spread) = (&process.stage, &process.spread);
            let queues: Vec<_> = process.pes.iter().map(|pe| (pe.run, pe.queue.len())).collect();
            let said: Vec<_> = process.output.iter().map(|output| (output.said(), output.kept())).collect();
            lines +=
                &format!("node {}: {stage:?}, run and queued {queues:?}, lines {said:?}\n", process.node);
            lines += &format!("    logs {:?}, stable {:?}\n", spread.lengths(), spread.stable());
            lines += &format!("    sent {:?}\n", process.position(0).sent);
        }
        format!("{lines}on its way: {:?}\n{:?}", self.net, self.leader)
    }

    /// The result is the one that there is to be, all lines are printed, and nothing is kept that nobody will ask for.
    pub fn check_end(&mut self) {
        if self.given_up.is_some() {
            return;
        }
        let processes = || self.nodes.iter().flatten();
        let sum =
            processes().flat_map(|process| &process.pes).fold(0_u64, |sum, pe| sum.wrapping_add(pe.tokens));
        assert_eq!(sum, self.expected, "the result is another one");
        for log in (0..self.shape.nodes).flat_map(|node| self.shape.logs_of(node)) {
            self.check_lines(log);
        }
        for _ in 0..2 {
            (0..self.shape.nodes).for_each(|node| self.take_image(node));
            self.settle();
        }
        for process in self.nodes.iter().flatten() {
            let left: u64 = process.retained.values().map(|kept| kept.end() - kept.first()).sum();
            assert_eq!(left, 0, "node {} keeps frames that all have images of", process.node);
            assert_eq!(process.images.positions().count(), 1, "node {} keeps old images", process.node);
        }
    }

    fn check_lines(&self, log: LogId) {
        let said = self.nodes[log.node as usize]
            .as_ref()
            .map_or(0, |process| process.output[log.rank as usize].said());
        assert_eq!(self.leader.printed(log), said, "lines of {log:?} were not printed");
    }
}
