//! A node as it is driven: its PEs take, run and send, and what is logged of that.

use std::collections::{BTreeMap, BTreeSet};

use talisman_ft::NodeId;
use talisman_ft::logging::{
    Batch, Cuts, Entry, Gate, Guide, Images, Incarnation, Input, Lane, LogId, Output, Position, Reach,
    Restore, Retained, Session, Shape, Spread, Step,
};

use crate::image::{Image, Rings};
use crate::mail::{Frame, Mail, Network, Report, Word};
use crate::program::{Message, Outside, PeState, first_messages};
use crate::random::Random;
use crate::shadow::Shadow;

/// What a process can reach.
pub struct World<'a> {
    pub net: &'a mut Network,
    pub shadow: &'a mut Shadow,
    pub random: &'a mut Random,
}

#[derive(Clone, Debug)]
pub enum Stage {
    /// It has nothing, and waits to be told.
    Blank,
    /// It has asked for its image.
    Fetching {
        incarnations: Vec<Incarnation>,
        cuts: Cuts,
        restore: Box<Restore>,
    },
    /// Its PEs are led; whether it has told that they are at their horizons.
    Guided {
        guides: Vec<Guide>,
        has_told: bool,
    },
    Live,
}

#[derive(Clone, Debug)]
pub struct Process {
    pub node: NodeId,
    pub shape: Shape,
    pub incarnation: Incarnation,
    pub stage: Stage,
    pub session: Session,
    pub pes: Vec<PeState>,
    pub rings: Rings,
    pub slots_taken: BTreeMap<(u32, u32), u64>,
    pub taken: BTreeMap<Lane, u64>,
    pub retained: BTreeMap<Lane, Retained<Message>>,
    pub spread: Spread,
    pub output: Vec<Output<u64>>,
    pub images: Images<Image>,
    /// Links that are up: to a process of this incarnation, which had taken so many frames, by rank, when they began.
    pub up: BTreeMap<NodeId, (Incarnation, Vec<u64>)>,
    /// `logging:strict`: frames that wait until all that they depend on is stable.
    pub gate: Option<Gate<(Lane, u64)>>,
    /// How long its logs were when it was restored and fed.
    pub fed: Vec<u64>,
    /// The keeper's process that has all of this one's images, or is being sent them.
    pub covered_by: Incarnation,
}

impl Process {
    /// Of a job that begins. All links are up.
    pub fn first(node: NodeId, shape: Shape, seed: u64, left: u32) -> Self {
        let pes = shape
            .logs_of(node)
            .map(|log| PeState { queue: first_messages(log, seed, left), ..PeState::default() });
        let none = vec![0; shape.pes_per_node as usize];
        let mut process =
            Process { pes: pes.collect(), stage: Stage::Live, ..Process::blank(node, shape, 0) };
        process.up = shape.others(node).map(|to| (to, (0, none.clone()))).collect();
        let image = process.image(0);
        process.images = Images::starting_with(image.position.clone(), image);
        process
    }

    /// Of a process that was started in a lost one's place.
    pub fn blank(node: NodeId, shape: Shape, incarnation: Incarnation) -> Self {
        let lanes = shape
            .others(node)
            .flat_map(|to| (0..shape.pes_per_node).map(move |rank| Lane { from: node, to, rank }));
        Process {
            node,
            shape,
            incarnation,
            stage: Stage::Blank,
            session: 0,
            pes: Vec::new(),
            rings: Rings::new(),
            slots_taken: BTreeMap::new(),
            taken: BTreeMap::new(),
            retained: lanes.map(|lane| (lane, Retained::starting_at(0))).collect(),
            spread: Spread::new(node, shape.next_around(node), shape),
            output: shape.logs_of(node).map(|_| Output::default()).collect(),
            images: Images::default(),
            up: BTreeMap::new(),
            gate: None,
            fed: Vec::new(),
            covered_by: 0,
        }
    }

    pub fn is_live(&self) -> bool {
        matches!(self.stage, Stage::Live)
    }

    /// Whether its PEs have a state.
    pub fn has_state(&self) -> bool {
        matches!(self.stage, Stage::Live | Stage::Guided { .. })
    }

    pub fn keeper(&self) -> NodeId {
        self.shape.next_around(self.node)
    }

    pub fn log(&self, rank: u32) -> LogId {
        LogId { node: self.node, rank }
    }

    pub fn mail(&self, world: &mut World<'_>, to: NodeId, word: Word) {
        let between = (self.incarnation, self.spread.incarnation(to));
        world.net.mail.entry((self.node, to)).or_default().push_back(Mail { between, word });
    }

    pub fn report(&self, world: &mut World<'_>, report: Report) {
        world.net.reports.entry(self.node).or_default().push_back(report);
    }

    fn append(&mut self, rank: u32, input: Input) {
        let at = self.pes[rank as usize].run;
        self.spread.append(rank, &Entry { at, input });
    }

    // What a PE does.

    /// Runs the next message of a PE.
    pub fn run(&mut self, world: &mut World<'_>, rank: u32) {
        let is_again = self.is_guided();
        let mut state = std::mem::take(&mut self.pes[rank as usize]);
        let (shape, log) = (self.shape, self.log(rank));
        let mut running = Running { process: self, world, rank, to_itself: Vec::new(), reads_anew: false };
        state.run(shape, &mut running);
        let Running { to_itself, reads_anew, .. } = running;
        state.queue.extend(to_itself);
        match is_again && !reads_anew && !self.has_read_anew(rank) {
            true => world.shadow.run_again(log, state.run, state.hash),
            false => world.shadow.run(log, state.run, state.hash),
        }
        self.pes[rank as usize] = state;
    }

    /// Whether a guided PE has read a value that the one before it had not, as far as anybody knows: from there on it
    /// is free.
    fn has_read_anew(&self, rank: u32) -> bool {
        let Stage::Guided { guides, .. } = &self.stage else { return false };
        guides[rank as usize].is_fed() && self.spread.lengths()[rank as usize] > self.fed[rank as usize]
    }

    pub fn is_guided(&self) -> bool {
        matches!(self.stage, Stage::Guided { .. })
    }

    /// Takes frames of a lane, as many as this if there are so many; whether there were. What is not for this
    /// process, or from another one than it has been told of, is dropped, or waits.
    pub fn take_frames(&mut self, world: &mut World<'_>, lane: Lane, count: usize, is_logged: bool) -> bool {
        let expected = (self.spread.incarnation(lane.from), self.incarnation);
        let waiting = world.net.frames.entry(lane).or_default();
        waiting.retain(|frame| frame.between.0 >= expected.0 && frame.between.1 >= expected.1);
        let ready = waiting.iter().take_while(|frame| frame.between == expected).count();
        if ready < count || count == 0 {
            return false;
        }
        let frames: Vec<_> = waiting.drain(..count).collect();
        let mut told = Vec::new();
        for frame in &frames {
            let heard = self.spread.hear_written(lane.from, &frame.ride, &mut told);
            heard.expect("written by the same code");
        }
        if is_logged {
            self.append(lane.rank, Input::Lane { from: lane.from, frames: count as u32, told });
        }
        frames.into_iter().for_each(|frame| self.accept(world, lane, frame));
        true
    }

    fn accept(&mut self, world: &mut World<'_>, lane: Lane, frame: Frame) {
        let taken = self.taken.entry(lane).or_default();
        assert_eq!(*taken, frame.number, "frames of {lane:?}: a gap, or one that comes twice");
        world.shadow.take(lane, frame.number, &frame.message);
        *taken += 1;
        let rank = frame.message.to.rank;
        match rank == lane.rank {
            true => self.pes[rank as usize].queue.push_back(frame.message),
            false => self.rings.entry((lane.rank, rank)).or_default().push_back(frame.message),
        }
    }

    /// Takes slots of a ring, as many as this if there are so many; whether there were.
    pub fn take_slots(&mut self, ring: (u32, u32), count: usize, is_logged: bool) -> bool {
        let waiting = self.rings.entry(ring).or_default();
        if waiting.len() < count || count == 0 {
            return false;
        }
        let messages: Vec<_> = waiting.drain(..count).collect();
        if is_logged {
            let told = self.spread.lengths()[ring.0 as usize];
            self.append(ring.1, Input::Ring { rank: ring.0, slots: count as u32, told });
        }
        *self.slots_taken.entry(ring).or_default() += count as u64;
        self.pes[ring.1 as usize].queue.extend(messages);
        true
    }

    /// A timer fires.
    pub fn fire(&mut self, rank: u32, serial: u64) {
        self.append(rank, Input::Timer(serial));
        self.pes[rank as usize].note(serial);
    }

    fn emit(&mut self, world: &mut World<'_>, lane: Lane, number: u64) {
        let Some((incarnation, _)) = self.up.get(&lane.to) else { return };
        let between = (self.incarnation, *incarnation);
        let mut ride = Vec::new();
        match &self.gate {
            Some(_) => self.spread.strict_ride().write(&mut ride, self.shape.pes_per_node),
            None => self.spread.write_ride(lane.to, lane.rank, &mut ride),
        }
        let message = self.retained[&lane].get(number).expect("what is sent is retained").clone();
        world.net.frames.entry(lane).or_default().push_back(Frame { number, message, ride, between });
    }

    // What leaves beside frames.

    /// Sends the keeper what it has not been sent.
    pub fn flush(&mut self, world: &mut World<'_>) {
        let batches = self.spread.flush();
        if !batches.is_empty() {
            self.mail(world, self.keeper(), Word::Flush(batches));
        }
        let waits_for = self
            .output
            .iter()
            .flat_map(|output| output.waits_for(self.spread.stable()).iter().collect::<Vec<_>>());
        let asked: BTreeSet<_> =
            waits_for.map(|(log, _)| log.node).filter(|node| *node != self.node).collect();
        for node in asked {
            let waiting = world.net.mail.get(&(self.node, node)).into_iter().flatten();
            if !waiting.into_iter().any(|mail| matches!(mail.word, Word::AskStable)) {
                self.mail(world, node, Word::AskStable);
            }
        }
    }

    /// Lets frames go that depend on nothing any more that could be lost.
    pub fn open_gate(&mut self, world: &mut World<'_>) {
        let stable = self.spread.stable_lengths();
        let ready = self.gate.as_mut().map_or(Vec::new(), |gate| gate.release(&stable));
        for (lane, number) in ready {
            let taken = self.up.get(&lane.to).map_or(0, |(_, taken)| taken[lane.rank as usize]);
            if number >= taken {
                self.emit(world, lane, number);
            }
        }
    }

    /// Lets output go that cannot be taken back.
    pub fn release(&mut self, world: &mut World<'_>) {
        let mut ready = Vec::new();
        for (rank, output) in (0..).zip(&mut self.output) {
            let lines = output.release(self.spread.stable());
            ready.extend(lines.into_iter().map(|(number, line)| (rank, number, line)));
        }
        for (rank, number, line) in ready {
            self.report(world, Report::Printed(self.log(rank), number, line));
        }
    }

    // Images.

    pub fn position(&self, image: u64) -> Position {
        Position {
            image,
            taken: self.taken.clone(),
            sent: self.retained.iter().map(|(lane, retained)| (*lane, retained.end())).collect(),
            retained: self.retained.iter().map(|(lane, retained)| (*lane, vec![retained.range()])).collect(),
            rings: self.slots_taken.clone(),
            logs: self.spread.lengths(),
            told: self.spread.told().clone(),
        }
    }

    fn image(&self, number: u64) -> Image {
        let mut position = self.position(number);
        let mut retained = self.retained.clone();
        if talisman_observe::mutations::mutated("image-without-retained") {
            retained =
                retained.iter().map(|(lane, kept)| (*lane, Retained::starting_at(kept.end()))).collect();
            position.retained.clear();
        }
        let (pes, rings, output) = (self.pes.clone(), self.rings.clone(), self.output.clone());
        Image { of: self.node, position, pes, rings, retained, output }
    }

    /// Takes an image: rings are drained before, and it goes to the keeper with all that it depends on.
    pub fn take_image(&mut self, world: &mut World<'_>) {
        if self.images.is_under_way() || !self.is_live() {
            return;
        }
        let rings: Vec<_> = self.rings.keys().copied().collect();
        for ring in rings {
            let count = self.rings[&ring].len();
            self.take_slots(ring, count, true);
        }
        (0..self.shape.pes_per_node).for_each(|rank| self.append(rank, Input::Cut));
        let image = self.image(self.images.next());
        self.send_copy(world, &image);
        if let Some(position) = self.images.send(image.position.clone(), image).cloned() {
            self.report(world, Report::Imaged(position));
        }
    }

    fn send_copy(&mut self, world: &mut World<'_>, image: &Image) {
        let mutated = talisman_observe::mutations::mutated;
        if !mutated("image-without-own-log") {
            self.flush(world);
        }
        let others = if mutated("image-without-others-log") { Vec::new() } else { self.spread.others() };
        self.mail(world, self.keeper(), Word::Copy(Box::new(image.clone()), others));
    }

    /// The keeper has a new process: it is sent everything again.
    pub fn cover_again(&mut self, world: &mut World<'_>) {
        self.spread.flush_again();
        self.flush(world);
        let all: Vec<_> = self.images.to_send().map(|(_, image)| image.clone()).collect();
        all.iter().for_each(|image| self.send_copy(world, image));
    }

    // Recovery.

    /// A link begins anew, to a process that has taken so many frames of each lane.
    pub fn begin_link(
        &mut self,
        world: &mut World<'_>,
        to: NodeId,
        incarnation: Incarnation,
        taken: Vec<u64>,
    ) {
        if self.up.get(&to).is_some_and(|(up, _)| *up == incarnation) {
            return;
        }
        self.up.insert(to, (incarnation, taken.clone()));
        for (rank, taken) in (0..).zip(taken) {
            let lane = Lane { from: self.node, to, rank };
            let retained = &self.retained[&lane];
            assert!(retained.first() <= taken, "frames of {lane:?} from {taken} on are asked for");
            let again = retained.from(0).take_while(|(number, _)| *number < taken);
            again.for_each(|(number, message)| world.shadow.make_again(lane, number, message));
            let gate = self.gate.iter().flat_map(Gate::waiting).filter(|(of, _)| *of == lane);
            let end = gate.map(|(_, number)| *number).min().unwrap_or(retained.end());
            (taken..end).for_each(|number| self.emit(world, lane, number));
        }
    }

    pub fn taken_from(&self, node: NodeId) -> Vec<u64> {
        let taken = |rank| self.taken.get(&Lane { from: node, to: self.node, rank }).copied().unwrap_or(0);
        (0..self.shape.pes_per_node).map(taken).collect()
    }

    /// Its image has come.
    pub fn restore(&mut self, world: &mut World<'_>, image: Image) {
        let Stage::Fetching { incarnations, cuts, restore } = self.stage.clone() else { return };
        let position = image.position.clone();
        self.spread = Spread::restored(
            (self.node, self.keeper(), self.shape),
            (incarnations, cuts),
            (&position.logs, position.told.clone()),
            &restore.fed,
        );
        restore.unstable.into_iter().for_each(|batch: Batch| self.spread.learn(batch));
        self.fed = self.spread.lengths();
        self.covered_by = self.spread.incarnation(self.keeper());
        self.pes.clone_from(&image.pes);
        self.rings.clone_from(&image.rings);
        self.slots_taken = position.rings;
        self.taken = position.taken;
        self.retained.clone_from(&image.retained);
        self.output.clone_from(&image.output);
        self.output.iter_mut().for_each(Output::send_again);
        self.images = Images::starting_with(image.position.clone(), image);
        let fed = restore.fed.into_iter().map(|batch| batch.entries);
        let guides =
            fed.zip(restore.horizons).map(|(entries, horizon)| Guide::new(entries.iter(), horizon)).collect();
        self.stage = Stage::Guided { guides, has_told: false };
        for to in self.shape.others(self.node) {
            let taken = self.taken_from(to);
            self.mail(world, to, Word::From { taken, answer: true });
        }
    }

    fn reach(&self, rank: u32) -> Reach {
        let frames = self
            .shape
            .others(self.node)
            .map(|to| (to, self.retained[&Lane { from: self.node, to, rank }].end()));
        let slots = |to: u32| {
            let taken = self.slots_taken.get(&(rank, to)).copied().unwrap_or(0);
            taken + self.rings.get(&(rank, to)).map_or(0, |ring| ring.len() as u64)
        };
        Reach {
            frames: frames.collect(),
            slots: (0..self.shape.pes_per_node).filter(|to| *to != rank).map(|to| (to, slots(to))).collect(),
            lines: self.output[rank as usize].said(),
        }
    }

    /// One step of a guided PE; whether it did anything.
    pub fn follow(&mut self, world: &mut World<'_>, rank: u32) -> bool {
        let Stage::Guided { guides, .. } = &self.stage else { return false };
        let pe = &self.pes[rank as usize];
        let step = guides[rank as usize].next(pe.run, &self.reach(rank), !pe.queue.is_empty());
        let done = match step.unwrap_or_else(|diverged| panic!("PE {:?}: {diverged:?}", self.log(rank))) {
            Step::AtHorizon => return false,
            Step::Run => {
                self.run(world, rank);
                return true;
            }
            Step::Take(Input::Lane { from, frames, .. }) => {
                self.take_frames(world, Lane { from, to: self.node, rank }, frames as usize, false)
            }
            Step::Take(Input::Ring { rank: from, slots, .. }) => {
                self.take_slots((from, rank), slots as usize, false)
            }
            Step::Take(Input::Timer(serial)) => {
                self.pes[rank as usize].note(serial);
                true
            }
            Step::Take(_) => true,
            Step::TakeNext => unreachable!("nobody gives tickets here"),
        };
        if done && let Stage::Guided { guides, .. } = &mut self.stage {
            guides[rank as usize].took();
        }
        done
    }

    /// Tells that all is sent again that was taken, and that the keeper has the log again.
    pub fn tell_if_at_horizon(&mut self, world: &mut World<'_>) {
        let Stage::Guided { guides, has_told: false } = &self.stage else { return };
        let is_at_horizon = |(rank, guide): (u32, &Guide)| {
            let pe = &self.pes[rank as usize];
            guide.next(pe.run, &self.reach(rank), !pe.queue.is_empty()) == Ok(Step::AtHorizon)
        };
        let own = self.shape.logs_of(self.node).zip(self.spread.lengths()).collect();
        if (0..).zip(guides).all(is_at_horizon) && self.spread.stable().covers(&own) {
            self.report(world, Report::AtHorizon(self.session));
            if let Stage::Guided { has_told, .. } = &mut self.stage {
                *has_told = true;
            }
        }
    }
}

/// A PE that runs a message.
struct Running<'a, 'b> {
    process: &'a mut Process,
    world: &'a mut World<'b>,
    rank: u32,
    to_itself: Vec<Message>,
    reads_anew: bool,
}

impl Outside for Running<'_, '_> {
    fn send(&mut self, message: Message) {
        let (process, rank) = (&mut *self.process, self.rank);
        if message.to == process.log(rank) {
            return self.to_itself.push(message);
        }
        if message.to.node == process.node {
            return process.rings.entry((rank, message.to.rank)).or_default().push_back(message);
        }
        let lane = Lane { from: process.node, to: message.to.node, rank };
        let number = process.retained.get_mut(&lane).expect("a lane to each node").push(message.clone(), 40);
        match process.up.get(&lane.to) {
            Some((_, taken)) if number < taken[rank as usize] => {
                self.world.shadow.make_again(lane, number, &message)
            }
            Some(_) if process.gate.is_none() => process.emit(self.world, lane, number),
            _ => {}
        }
        if let Some(gate) = &mut process.gate {
            gate.push((lane, number), process.spread.lengths());
        }
    }

    fn value(&mut self, run: u64) -> u64 {
        if let Stage::Guided { guides, .. } = &mut self.process.stage {
            let value = guides[self.rank as usize].value(run).expect("it reads what was read before");
            if let Some((_, bytes)) = value {
                return u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            }
            self.reads_anew = true;
        }
        let value = self.world.random.next();
        let entry = Entry { at: run, input: Input::Value { kind: 0, bytes: value.to_le_bytes().to_vec() } };
        self.process.spread.append(self.rank, &entry);
        value
    }

    fn say(&mut self, line: u64) {
        let depends_on = self.process.spread.unstable();
        self.process.output[self.rank as usize].say(line, depends_on);
    }
}
