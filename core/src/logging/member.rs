//! A node of a job that logs: what it has sent and taken, what it knows of logs, what its program has said.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::cut::{HandedOver, Next};
use super::image::Image;
use super::letter::Letter;
use super::mark::Mark;
use super::recorder::{Lent, Record};
use super::ring::Rings;
use super::ticketed::Ticketing;
use super::twin::Fed;
use super::words::{Out, Said, Word};
use talisman_ft::event::Event;
use talisman_ft::logging::{
    Cuts, Gate, Images, Incarnation, Input, Lane, Lengths, Membership, Output, Restore, Retained, Session,
    Shape, Spread,
};
use talisman_ft::{NodeId, Version};
use talisman_kernel::pe::input_log::Frame;
use talisman_kernel::port::Parcel;
use talisman_observe::mutations::mutated;

/// More room is not kept for what comes next on a lane.
const ROOM_MAX: usize = 1 << 10;

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
    /// Its image has come, and PEs are to be made from it.
    Beginning,
    /// Its PEs run again; whether it has said that they are at their horizons.
    Guided {
        /// It has.
        has_told: bool,
    },
    /// Its PEs are like all others.
    Live,
}

/// Something that a PE takes in.
pub struct Taken {
    /// The PE that had sent it.
    pub from: u32,
    /// It.
    pub parcel: Parcel,
}

/// A frame that came on a lane, for whoever watches.
#[derive(Clone, Debug)]
pub struct Came {
    /// Which lane.
    pub lane: Lane,
    /// Its number there.
    pub number: u64,
    /// It.
    pub frame: Frame,
    /// Whether all of it has to be the same when it is made again.
    pub is_determined: bool,
}

/// What has become of a frame for another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// The lane that it goes.
    pub lane: Lane,
    /// Its number there.
    pub number: u64,
    /// Its receiver has taken it already.
    pub is_taken: bool,
}

/// A frame as it stays with its sender: for the PE of this rank.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) to: u32,
    pub(super) frame: Frame,
    /// Whether all of it has to be the same when it is made again.
    pub(super) is_determined: bool,
}

/// A node.
pub struct Member {
    pub(super) node: NodeId,
    pub(super) shape: Shape,
    /// Who is there in its line, and who has its images and log. Others are sent nothing.
    pub(super) membership: Membership,
    /// Who is to be there in the next line, if it was told that these are others.
    pub(super) coming: Option<Membership>,
    pub(super) incarnation: Incarnation,
    pub(super) line: Version,
    pub(super) stage: Stage,
    pub(super) session: Session,
    /// By rank.
    pub(super) records: Vec<Record>,
    /// Frames taken of the lane of this rank from another node.
    pub(super) taken: BTreeMap<(NodeId, u32), u64>,
    /// What each of those was.
    pub(super) marks: BTreeMap<(NodeId, u32), Vec<Mark>>,
    /// What others have taken on the lane of this rank of a former process, as far as this one has not made it again.
    pub(super) to_make_again: BTreeMap<(NodeId, u32), Vec<Mark>>,
    /// What was sent on the lane of this rank to another node.
    pub(super) retained: BTreeMap<(NodeId, u32), Retained<Sent>>,
    /// With `logging:strict`: frames that may leave when what the node was given until then is stable, by receiver, rank and number.
    pub(super) gate: Option<Gate<(NodeId, u32, u64)>>,
    /// With `logging:ticket`: what it has handed out, and was.
    pub(super) ticketing: Option<Box<Ticketing>>,
    pub(super) rings: Rings,
    pub(super) spread: Spread,
    /// By rank.
    pub(super) output: Vec<Output<Said>>,
    /// How much is printed of what was said on nodes whose keeper it is, in case that they are lost with whoever prints.
    pub(super) printed_of_wards: Lengths,
    /// Another leads, which may not have heard what was said here and is not known to be printed.
    pub(super) says_again: bool,
    pub(super) images: Images<Image>,
    /// What it begins the next line with, if its PEs have taken their parts.
    pub(super) next: Option<Next>,
    /// What others do whose keeper it is.
    pub(super) next_kept: BTreeMap<NodeId, Box<Image>>,
    /// What those have handed over for the next line that are released, and for which this node will act.
    pub(super) handed_over: BTreeMap<NodeId, HandedOver>,
    /// The last cut that was given up.
    pub(super) given_up: Version,
    /// Links that are up: to a process of this incarnation, which had taken so many frames when they began, by rank.
    pub(super) up: BTreeMap<NodeId, (Incarnation, Vec<u64>)>,
    /// The keeper's process that has this one's image.
    pub(super) covered_by: Incarnation,
    /// What has come on lanes and is not taken in yet, by sender and rank.
    pub(super) waiting: BTreeMap<(NodeId, u32), VecDeque<Letter>>,
    /// Lost nodes of whose former processes nothing is taken in any more: it has been said how much was.
    pub(super) closed: BTreeSet<NodeId>,
    /// Its logs have entries that the keeper has not been sent.
    pub(super) has_new: bool,
    /// Somebody wants to see all frames that it takes.
    pub(super) is_watched: bool,
    /// What it takes, if there is to be a twin.
    pub(super) fed: Option<Fed>,
    /// How often it has looked for what has come: each time it begins with another source.
    pub(super) looks: u32,
    pub(super) outbox: Vec<Out>,
    /// Where the next ride is written, and how long logs are said to be: room of what was before.
    pub(super) ride: Vec<u8>,
    pub(super) told: Vec<u64>,
}

impl Member {
    /// One of a job that begins, or has been cut. All links are up, and the keepers have the images.
    pub fn first(image: Image, shape: Shape, kept: &[Image]) -> Member {
        let mut member = Member { stage: Stage::Live, ..Member::blank(image.of, shape, 0) };
        let none = vec![0; shape.pes_per_node as usize];
        member.up = shape.others(member.node).map(|to| (to, (0, none.clone()))).collect();
        member.images = Images::starting_with(image.position.clone(), image);
        for image in kept {
            member.images.keep(image.of, image.position.clone(), image.clone());
        }
        member
    }

    /// A process that was started in a lost one's place.
    pub fn blank(node: NodeId, shape: Shape, incarnation: Incarnation) -> Member {
        let lanes = shape.others(node).flat_map(|to| (0..shape.pes_per_node).map(move |rank| (to, rank)));
        Member {
            node,
            shape,
            membership: Membership::around(shape.nodes),
            coming: None,
            incarnation,
            line: 0,
            stage: Stage::Blank,
            session: 0,
            records: shape.logs_of(node).map(|_| Record::default()).collect(),
            taken: BTreeMap::new(),
            marks: BTreeMap::new(),
            to_make_again: BTreeMap::new(),
            retained: lanes.map(|lane| (lane, Retained::starting_at(0))).collect(),
            gate: None,
            ticketing: None,
            rings: Rings::default(),
            spread: Spread::new(node, shape.next_around(node), shape),
            output: shape.logs_of(node).map(|_| Output::default()).collect(),
            printed_of_wards: Lengths::default(),
            says_again: false,
            images: Images::default(),
            next: None,
            next_kept: BTreeMap::new(),
            handed_over: BTreeMap::new(),
            given_up: 0,
            up: BTreeMap::new(),
            covered_by: 0,
            waiting: BTreeMap::new(),
            closed: BTreeSet::new(),
            has_new: false,
            is_watched: false,
            fed: None,
            looks: 0,
            outbox: Vec::new(),
            ride: Vec::new(),
            told: Vec::new(),
        }
    }

    /// The same where these are there, and keep what others have. To be told before anything else.
    pub fn among(self, membership: Membership) -> Member {
        let keeper = membership.keeper(self.node);
        Member { membership, spread: self.spread.kept_by(keeper), ..self }
    }

    /// Who is there in its line.
    pub fn membership(&self) -> &Membership {
        &self.membership
    }

    /// The same, from which nothing leaves before its log is stable, if so. To be told before anything is sent.
    pub fn strict(self, is_strict: bool) -> Member {
        Member { gate: is_strict.then(Gate::default), ..self }
    }

    /// Whether a frame waits for its keeper.
    pub fn holds_frames(&self) -> bool {
        self.gate.as_ref().is_some_and(|gate| !gate.is_empty())
    }

    /// The same in this line.
    pub fn in_line(self, line: Version) -> Member {
        Member { line, ..self }
    }

    /// The same, of which somebody wants to see all frames that it takes.
    pub fn watched(self) -> Member {
        Member { is_watched: true, ..self }
    }

    /// Its node.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Which process of its node it is.
    pub fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// Whether its PEs are like all others.
    pub fn is_live(&self) -> bool {
        matches!(self.stage, Stage::Live)
    }

    /// Whether it has nothing, and has not been told how it goes on.
    pub fn is_blank(&self) -> bool {
        matches!(self.stage, Stage::Blank)
    }

    /// Whether its PEs run again.
    pub fn is_guided(&self) -> bool {
        matches!(self.stage, Stage::Guided { .. })
    }

    /// Whether it does not know yet who the others are.
    pub(super) fn knows_nobody(&self) -> bool {
        matches!(self.stage, Stage::Blank | Stage::Fetching { .. })
    }

    /// What it is restored from.
    pub fn own_image(&self) -> Option<&Image> {
        self.images.to_send().next().map(|(_, image)| image)
    }

    /// PEs were made from its image.
    pub fn has_begun(&mut self) {
        self.stage = Stage::Guided { has_told: false };
    }

    /// What the PE of this rank is told with.
    pub fn record(&self, rank: u32) -> &Record {
        &self.records[rank as usize]
    }

    /// Whether anything that its program has said is not known to be printed.
    pub fn has_unprinted(&self) -> bool {
        self.output.iter().any(|output| output.kept() > 0)
    }

    /// The memory that messages and logs take that it keeps, in bytes.
    pub fn kept_bytes(&self) -> usize {
        let marks: usize = self.marks.values().map(Vec::len).sum();
        self.retained.values().map(Retained::bytes).sum::<usize>()
            + self.spread.bytes()
            + self.ticketing.as_ref().map_or(0, |ticketing| ticketing.bytes())
            + marks * size_of::<Mark>()
    }

    /// Frames that it keeps, for all others.
    pub fn kept_frames(&self) -> u64 {
        self.retained.values().map(|retained| retained.end() - retained.first()).sum()
    }

    /// The bytes of those that it keeps for another node.
    pub fn kept_for(&self, to: NodeId) -> usize {
        let lanes = self.retained.range((to, 0)..=(to, u32::MAX));
        lanes.map(|(_, retained)| retained.bytes()).sum()
    }

    /// What it has for others since this was last asked, in order.
    pub fn take_out(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.outbox)
    }

    /// The same, into a vector that is empty, whose room is for what comes next.
    pub fn swap_out(&mut self, out: &mut Vec<Out>) {
        debug_assert!(out.is_empty(), "what it holds would be sent");
        std::mem::swap(&mut self.outbox, out);
    }

    /// Whether it has anything for others.
    pub fn has_out(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// A letter has left: its ride's memory is for the next one's.
    pub fn has_left(&mut self, letter: Letter) {
        self.ride = letter.ride;
    }

    /// Messages between its PEs that nobody has taken, when it ends.
    pub fn take_rings(&mut self) -> Vec<Parcel> {
        self.rings.drain()
    }

    /// Who has its images and log.
    pub fn keeper(&self) -> NodeId {
        self.membership.keeper(self.node)
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

    // What its PEs do.

    /// A PE has had a turn, or a part of one: it was given this.
    pub fn absorb(&mut self) {
        for (rank, record) in (0..).zip(&self.records) {
            record.drain_fresh(|entry| {
                self.spread.append(rank, &entry);
                self.has_new = true;
                if let Input::Lane { told, .. } = entry.input {
                    self.told = told;
                }
            });
        }
    }

    /// The PE of this rank, which may be on another thread, is about to do something: what it is told with. Until that is
    /// [back](Member::take_back) nothing else is to be given to it. What it takes in is in its log from now on.
    pub fn lend(&mut self, rank: u32) -> Lent {
        self.absorb();
        self.record(rank).lend()
    }

    /// That has come of it. Before anything leaves that the PE has sent: whoever takes that depends on what it was given.
    pub fn take_back(&mut self, rank: u32, lent: Lent) {
        self.record(rank).take_back(lent);
        if !mutated("log-behind-what-was-sent") {
            self.absorb();
        }
    }

    /// Its program has said something on the PE of this rank.
    pub fn say(&mut self, rank: u32, said: Said) {
        let depends_on = self.spread.unstable();
        self.output[rank as usize].say(said, depends_on);
    }

    /// A frame has come on the lane of this rank.
    pub fn receive(&mut self, from: NodeId, rank: u32, letter: Letter) {
        let expected = (self.spread.incarnation(from), self.incarnation);
        let is_meant = letter.to < self.shape.pes_per_node && letter.between == expected;
        if is_meant && !self.knows_nobody() && !self.closed.contains(&from) {
            if self.is_ticketed() {
                return self.receive_ticketed(from, rank, letter);
            }
            self.waiting.entry((from, rank)).or_default().push_back(letter);
        }
    }

    /// Whether anything waits for the PE of this rank on lanes from these nodes.
    pub fn has_mail(&self, rank: u32, is_asked_for: impl Fn(NodeId) -> bool) -> bool {
        let of_rank = self.waiting.iter().filter(|((from, lane), _)| *lane == rank && is_asked_for(*from));
        of_rank.into_iter().any(|(_, waiting)| !waiting.is_empty())
    }

    /// Whether there is anything for the PE of this rank to take in.
    pub fn has_any_for(&self, rank: u32) -> bool {
        self.rings.has_any_for(rank)
            || self.has_mail(rank, |_| true)
            || self.ticketing.as_ref().is_some_and(|ticketing| ticketing.has_next(rank))
    }

    /// What has come for the PE of this rank from one source, a lane from one of these nodes or, if so, a ring, and is taken in now: the
    /// PE is about to be given it, and logs that. What is for others goes on by rings. Of one source only: between two of them comes
    /// what the PE sends when it takes in the first, as when it runs again. Nothing if nothing has come.
    ///
    /// # Errors
    /// A frame is missing on a lane, or comes twice, or what rides on it is nonsense.
    pub fn take(
        &mut self,
        rank: u32,
        now: u64,
        is_asked_for: impl Fn(NodeId) -> bool,
        with_rings: bool,
    ) -> Result<(Vec<Taken>, Vec<Came>), String> {
        self.absorb();
        let nodes = self.shape.nodes;
        let sources = nodes + self.shape.pes_per_node;
        self.looks = self.looks.wrapping_add(1);
        for source in (0..sources).map(|nth| (self.looks.wrapping_add(nth)) % sources) {
            let is_lane = source < nodes;
            if is_lane && source != self.node && is_asked_for(source) {
                let waits = |letters: &&mut VecDeque<Letter>| !letters.is_empty();
                if let Some(letters) = self.waiting.get_mut(&(source, rank)).filter(waits) {
                    let letters = std::mem::take(letters);
                    return self.take_letters(source, rank, now, letters);
                }
            }
            if !is_lane && with_rings && source - nodes != rank {
                let slots = self.rings.take((source - nodes, rank), None).unwrap_or_default();
                if !slots.is_empty() {
                    return Ok((self.take_slots(source - nodes, rank, now, slots), Vec::new()));
                }
            }
        }
        Ok((Vec::new(), Vec::new()))
    }

    fn take_letters(
        &mut self,
        from: NodeId,
        rank: u32,
        now: u64,
        mut letters: VecDeque<Letter>,
    ) -> Result<(Vec<Taken>, Vec<Came>), String> {
        let (mut all, mut came) = (Vec::with_capacity(letters.len()), Vec::new());
        let (frames, mut told) = (letters.len() as u32, std::mem::take(&mut self.told));
        told.clear();
        for letter in letters.drain(..) {
            self.take_one(from, rank, letter, &mut all, &mut came, &mut told)?;
        }
        if !mutated("frame-taken-not-logged") {
            self.record(rank).takes(now, Input::Lane { from, frames, told });
        }
        // With the room that it has, for those that come next.
        if letters.capacity() <= ROOM_MAX {
            self.waiting.insert((from, rank), letters);
        }
        Ok((all, came))
    }

    /// What has come by one of the rings to the PE of this rank.
    pub(super) fn take_ring(&mut self, rank: u32, now: u64) -> Vec<Taken> {
        let pes = self.shape.pes_per_node;
        for from in (0..pes).map(|nth| self.looks.wrapping_add(nth) % pes).filter(|from| *from != rank) {
            let slots = self.rings.take((from, rank), None).unwrap_or_default();
            if !slots.is_empty() {
                return self.take_slots(from, rank, now, slots);
            }
        }
        Vec::new()
    }

    fn take_slots(&mut self, from: u32, rank: u32, now: u64, slots: Vec<Taken>) -> Vec<Taken> {
        let told = self.spread.lengths()[from as usize];
        if !mutated("slot-taken-not-logged") {
            self.record(rank).takes(now, Input::Ring { rank: from, slots: slots.len() as u32, told });
        }
        slots
    }

    /// A frame is taken: it is among all that the PE is given, or goes on by a ring. `told` comes to be how long the logs of its sender
    /// were.
    pub(super) fn take_one(
        &mut self,
        from: NodeId,
        rank: u32,
        letter: Letter,
        all: &mut Vec<Taken>,
        came: &mut Vec<Came>,
        told: &mut Vec<u64>,
    ) -> Result<(), String> {
        if let Some(fed) = &mut self.fed {
            fed.entry((from, rank)).or_default().push(letter.clone());
        }
        let Letter { number, to, ride, frame, is_determined, .. } = letter;
        let taken = self.taken.entry((from, rank)).or_default();
        if number != *taken {
            return Err(format!("node {from} sends frame {number} where {taken} is to come"));
        }
        *taken += 1;
        self.spread
            .hear_written(from, &ride, told)
            .map_err(|error| format!("what rides on a frame of node {from} is malformed: {error:?}"))?;
        self.marks.entry((from, rank)).or_default().push(Mark::of(&frame, is_determined));
        if self.is_watched {
            let lane = Lane { from, to: self.node, rank };
            came.push(Came { lane, number, frame: frame.clone(), is_determined });
        }
        let sender = from * self.shape.pes_per_node + rank;
        let taken = Taken { from: sender, parcel: frame.into_parcel() };
        match to == rank {
            true => all.push(taken),
            false => self.pass((rank, to), taken),
        }
        Ok(())
    }

    pub(super) fn taken_from(&self, node: NodeId) -> Vec<u64> {
        let taken = |rank| self.taken.get(&(node, rank)).copied().unwrap_or(0);
        (0..self.shape.pes_per_node).map(taken).collect()
    }

    /// What was taken from a node was this.
    pub(super) fn marks_of(&self, node: NodeId) -> Vec<Vec<Mark>> {
        let marks = |rank| self.marks.get(&(node, rank)).cloned().unwrap_or_default();
        (0..self.shape.pes_per_node).map(marks).collect()
    }

    // What leaves beside frames.

    /// Whether there is something to flush: entries that are new, or questions on which what its program has said waits.
    pub fn wants_flush(&self) -> bool {
        let waits = |output: &Output<Said>| output.waits_for(self.spread.stable()).iter().next().is_some();
        self.has_new || self.output.iter().any(waits)
    }

    /// Sends the keeper what it has not been sent, and asks others how much is stable of what its program's output waits for.
    pub fn flush(&mut self) {
        self.absorb();
        self.has_new = false;
        let batches = self.spread.flush();
        if !batches.is_empty() {
            self.tell(self.keeper(), Word::Flush(batches));
        }
        let waits_for = self.output.iter().map(|output| output.waits_for(self.spread.stable()));
        let asked: BTreeSet<_> =
            waits_for.flat_map(|logs| logs.iter().map(|(log, _)| log.node).collect::<Vec<_>>()).collect();
        let others = asked.into_iter().filter(|node| *node != self.node).collect::<Vec<_>>();
        others.into_iter().for_each(|node| self.tell(node, Word::AskStable));
    }

    /// Lets go what its program has said and cannot be taken back, and frames that have waited.
    pub fn release(&mut self) {
        self.open_gate();
        for rank in 0..self.shape.pes_per_node {
            let output = &mut self.output[rank as usize];
            // Mostly: it is asked for each message.
            if output.kept() == 0 {
                continue;
            }
            for (number, said) in output.release(self.spread.stable()) {
                self.put(Out::Say(rank, number, said));
            }
        }
    }
}
