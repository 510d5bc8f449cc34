//! A node of a job that logs: what it has sent and taken, what it knows of logs, what its program has said.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::image::Image;
use super::letter::Letter;
use super::recorder::Record;
use super::words::{Out, Said, Word};
use talisman_ft::NodeId;
use talisman_ft::event::Event;
use talisman_ft::logging::{
    Cuts, ImageId, Images, Incarnation, Lane, Output, Position, Reach, Restore, Retained, Ride, Session,
    Shape, Spread,
};
use talisman_kernel::pe::input_log::Frame;
use talisman_observe::mutations::mutated;

/// How far a node is.
#[derive(Clone, Debug)]
pub enum Stage {
    /// It has nothing, and waits to be told.
    Blank,
    /// It has asked for its image.
    Fetching {
        /// Of all nodes.
        incarnations: Vec<Incarnation>,
        /// Where the logs of former ones end.
        cuts: Cuts,
        /// How it is restored.
        restore: Box<Restore>,
    },
    /// Its image has come, and a PE is to be made from it.
    Beginning,
    /// Its PE runs again; whether it has said that it is at its horizon.
    Guided {
        /// It has.
        has_told: bool,
    },
    /// Its PE is like all others.
    Live,
}

/// A frame that is taken in.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Who had sent it.
    pub from: NodeId,
    /// Its number on the lane.
    pub number: u64,
    /// It.
    pub frame: Frame,
}

/// A node.
pub struct Member {
    pub(super) node: NodeId,
    pub(super) shape: Shape,
    pub(super) incarnation: Incarnation,
    pub(super) stage: Stage,
    pub(super) session: Session,
    pub(super) record: Record,
    /// Frames taken, by sender.
    pub(super) taken: BTreeMap<NodeId, u64>,
    pub(super) retained: BTreeMap<NodeId, Retained<Frame>>,
    pub(super) spread: Spread,
    pub(super) output: Output<Said>,
    pub(super) images: Images<Image>,
    /// Links that are up: to a process of this incarnation, which had taken so many frames when they began.
    pub(super) up: BTreeMap<NodeId, (Incarnation, u64)>,
    /// The keeper's process that has this one's image.
    pub(super) covered_by: Incarnation,
    /// What has come and is not taken in yet, by sender.
    pub(super) waiting: BTreeMap<NodeId, VecDeque<Letter>>,
    /// Lost nodes of whose former processes nothing is taken in any more: it has been said how much was.
    pub(super) closed: BTreeSet<NodeId>,
    /// Its log has entries that the keeper has not been sent.
    pub(super) has_new: bool,
    outbox: Vec<Out>,
}

impl Member {
    /// One of a job that begins, or has been cut. All links are up, and the keepers have the images.
    pub fn first(image: Image, shape: Shape, kept: &[Image]) -> Member {
        let mut member = Member { stage: Stage::Live, ..Member::blank(image.of, shape, 0) };
        member.up = shape.others(member.node).map(|to| (to, (0, 0))).collect();
        member.images = Images::starting_with(image.position.clone(), image);
        for image in kept {
            member.images.keep(image.of, image.position.clone(), image.clone());
        }
        member
    }

    /// A process that was started in a lost one's place.
    pub fn blank(node: NodeId, shape: Shape, incarnation: Incarnation) -> Member {
        Member {
            node,
            shape,
            incarnation,
            stage: Stage::Blank,
            session: 0,
            record: Record::default(),
            taken: BTreeMap::new(),
            retained: shape.others(node).map(|to| (to, Retained::starting_at(0))).collect(),
            spread: Spread::new(node, shape.next_around(node), shape),
            output: Output::default(),
            images: Images::default(),
            up: BTreeMap::new(),
            covered_by: 0,
            waiting: BTreeMap::new(),
            closed: BTreeSet::new(),
            has_new: false,
            outbox: Vec::new(),
        }
    }

    /// Which process of its node it is.
    pub fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// Whether its PE is like all others.
    pub fn is_live(&self) -> bool {
        matches!(self.stage, Stage::Live)
    }

    /// Whether its PE runs again.
    pub fn is_guided(&self) -> bool {
        matches!(self.stage, Stage::Guided { .. })
    }

    /// What its PE is told with.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Whether it does not know yet who the others are.
    pub(super) fn knows_nobody(&self) -> bool {
        matches!(self.stage, Stage::Blank | Stage::Fetching { .. })
    }

    /// What it is restored from.
    pub fn own_image(&self) -> Option<&Image> {
        self.images.to_send().next().map(|(_, image)| image)
    }

    /// A PE was made from its image.
    pub fn has_begun(&mut self) {
        self.stage = Stage::Guided { has_told: false };
    }

    /// Whether anything that its program has said is not known to be printed.
    pub fn has_unprinted(&self) -> bool {
        self.output.kept() > 0
    }

    /// What it has for others since this was last asked, in order.
    pub fn take_out(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.outbox)
    }

    pub(super) fn keeper(&self) -> NodeId {
        self.shape.next_around(self.node)
    }

    pub(super) fn put(&mut self, out: Out) {
        self.outbox.push(out);
    }

    pub(super) fn tell(&mut self, to: NodeId, word: Word) {
        let between = (self.incarnation, self.spread.incarnation(to));
        self.put(Out::Word(to, between, word));
    }

    pub(super) fn report(&mut self, event: Event) {
        self.put(Out::Report(event));
    }

    // What its PE does.

    /// Its PE has had a turn, or a part of one: it was given this.
    pub fn absorb(&mut self) {
        for entry in self.record.take_fresh() {
            self.spread.append(0, &entry);
            self.has_new = true;
        }
    }

    /// Its PE has sent a frame. Gives its number, and whether its receiver has taken it already.
    pub fn send(&mut self, to: NodeId, frame: Frame) -> (u64, bool) {
        let beside: usize = frame.segments.iter().map(|segment| segment.bytes().len()).sum();
        let bytes = frame.head.len() + beside;
        let number = self.lane(to).push(frame, bytes);
        let taken = self.up.get(&to).map(|(_, taken)| *taken);
        let is_taken = taken.is_some_and(|taken| number < taken);
        if taken.is_some() && (!is_taken || mutated("sent-again-though-taken")) {
            self.emit(to, number);
        }
        if mutated("frame-not-retained") && number % 4 == 3 {
            self.lane(to).forget(number + 1);
        }
        (number, is_taken)
    }

    fn lane(&mut self, to: NodeId) -> &mut Retained<Frame> {
        self.retained.entry(to).or_insert_with(|| Retained::starting_at(0))
    }

    /// A frame leaves, with what rides on it.
    pub(super) fn emit(&mut self, to: NodeId, number: u64) {
        let Some((incarnation, _)) = self.up.get(&to) else { return };
        let between = (self.incarnation, *incarnation);
        let mut ride = Vec::new();
        self.spread.ride(to, 0).write(&mut ride, self.shape.pes_per_node);
        let frame = self.retained[&to].get(number).expect("what is sent is retained").clone();
        self.put(Out::Letter(to, Letter { between, number, ride, frame }));
    }

    /// Its program has said something.
    pub fn say(&mut self, said: Said) {
        let depends_on = self.spread.unstable();
        self.output.say(said, depends_on);
    }

    /// A frame has come.
    pub fn receive(&mut self, from: NodeId, letter: Letter) {
        let expected = (self.spread.incarnation(from), self.incarnation);
        if letter.between == expected && !self.knows_nobody() && !self.closed.contains(&from) {
            self.waiting.entry(from).or_default().push_back(letter);
        }
    }

    /// Whether anything has come that is not taken in.
    pub fn has_mail(&self) -> bool {
        self.waiting.values().any(|waiting| !waiting.is_empty())
    }

    /// What has come from these nodes and is taken in now, in order; the PE is about to be given it, and logs that.
    ///
    /// # Errors
    /// A frame is missing on a lane, or comes twice, or what rides on it is nonsense.
    pub fn take(&mut self, is_asked_for: impl Fn(NodeId) -> bool) -> Result<Vec<Taken>, String> {
        let mut all = Vec::new();
        let senders: Vec<_> = self.waiting.keys().copied().filter(|from| is_asked_for(*from)).collect();
        for from in senders {
            let letters = std::mem::take(self.waiting.get_mut(&from).expect("one of its keys"));
            for letter in letters {
                let number = letter.number;
                let (frame, told) = self.take_one(from, letter)?;
                self.record.expect(from, told);
                all.push(Taken { from, number, frame });
            }
        }
        Ok(all)
    }

    /// The frame, and how long the logs of its sender were.
    pub(super) fn take_one(&mut self, from: NodeId, letter: Letter) -> Result<(Frame, Vec<u64>), String> {
        let taken = self.taken.entry(from).or_default();
        if letter.number != *taken {
            let number = letter.number;
            return Err(format!("node {from} sends frame {number} where {taken} is to come"));
        }
        *taken += 1;
        let ride = Ride::read(&letter.ride, self.shape)
            .map_err(|error| format!("what rides on a frame of node {from} is malformed: {error:?}"))?;
        let told = ride.lengths.clone();
        self.spread.hear(from, ride);
        Ok((letter.frame, told))
    }

    pub(super) fn taken_from(&self, node: NodeId) -> u64 {
        self.taken.get(&node).copied().unwrap_or(0)
    }

    // What leaves beside frames.

    /// Whether there is something to flush: entries that are new, or questions on which what its program has said waits.
    pub fn wants_flush(&self) -> bool {
        self.has_new || self.output.waits_for(self.spread.stable()).iter().next().is_some()
    }

    /// Sends the keeper what it has not been sent, and asks others how much is stable of what its program's output waits for.
    pub fn flush(&mut self) {
        self.absorb();
        self.has_new = false;
        let batches = self.spread.flush();
        if !batches.is_empty() {
            self.tell(self.keeper(), Word::Flush(batches));
        }
        let waits_for = self.output.waits_for(self.spread.stable());
        let asked: BTreeSet<_> =
            waits_for.iter().map(|(log, _)| log.node).filter(|node| *node != self.node).collect();
        asked.into_iter().for_each(|node| self.tell(node, Word::AskStable));
    }

    /// Lets go what its program has said and cannot be taken back.
    pub fn release(&mut self) {
        for (number, said) in self.output.release(self.spread.stable()) {
            self.put(Out::Say(number, said));
        }
    }

    /// At a cut, before which nobody goes back: all that its program has said and that is not known to be printed.
    pub fn all_said(&mut self) -> Vec<(u64, Said)> {
        let mut all = self.spread.stable().clone();
        all.raise_all(&self.spread.unstable());
        self.output.send_again();
        self.output.release(&all)
    }

    /// So much of what its program has said was printed.
    pub fn on_printed(&mut self, before: u64) {
        self.output.on_printed(before);
    }

    // Where it is.

    pub(super) fn position(&self, image: ImageId) -> Position {
        let to = |node: NodeId| Lane { from: self.node, to: node, rank: 0 };
        let from = |node: NodeId| Lane { from: node, to: self.node, rank: 0 };
        Position {
            image,
            taken: self.taken.iter().map(|(node, taken)| (from(*node), *taken)).collect(),
            sent: self.retained.iter().map(|(node, retained)| (to(*node), retained.end())).collect(),
            retained: self
                .retained
                .iter()
                .map(|(node, retained)| (to(*node), vec![retained.range()]))
                .collect(),
            rings: BTreeMap::new(),
            logs: self.spread.lengths(),
            told: self.spread.told().clone(),
        }
    }

    /// How far its PE has come.
    pub(super) fn reach(&self) -> Reach {
        Reach {
            frames: self.retained.iter().map(|(to, retained)| (*to, retained.end())).collect(),
            slots: BTreeMap::new(),
            lines: self.output.said(),
        }
    }
}
