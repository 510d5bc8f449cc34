//! A twin of a node: it shows that a node's image and its log are all that the node goes on from.
//!
//! ```text
//! node   image i ──► its PEs do what they do in this line ──────────► image i + 1 ─┐
//!           │              └► their logs, and the frames that they take             ├ the same bytes
//! twin      └────────────► fresh PEs, given those by the code of a recovery ► image ┘
//! ```
//!
//! What its PEs send is held against what the node has sent, frame by frame, and goes nowhere; neither does what they say.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::image::{Beginning, Image};
use super::letter::Letter;
use super::member::{Member, Numbered, Sent as OfLane};
use super::recorder::Record;
use super::replay::{Replayed, step};
use super::words::Said;
use crate::checkpoint::cut::CutOnPe;
use crate::checkpoint::difference::difference;
use talisman_ft::logging::{Guide, Lane};
use talisman_ft::{NodeId, Version};
use talisman_kernel::pe::input_log::InputLog;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{Parcel, Port};
use talisman_kernel::witness::Why;

/// Frames as a node has taken them since its line began, by sender and rank.
pub(super) type Fed = BTreeMap<(NodeId, u32), Vec<Letter>>;

/// A node once more, beside the one that it is a twin of.
struct Twin<'a> {
    of: &'a Member,
    member: Member,
    pes: &'a [Pe],
    clock: &'a Cell<u64>,
    /// Lines of all its PEs.
    said: usize,
    /// Makes the program's first message.
    program: &'a dyn Fn(&Pe),
}

impl Member {
    /// The same, which keeps what it takes, for its twin. To be told before anything else.
    pub fn with_twin(self) -> Member {
        Member { fed: Some(Fed::new()), ..self }
    }

    /// Its PEs have taken their parts of the cut of this version: fresh PEs of another process, whose clock is this, do what these have
    /// done since the line began, and take the same parts. `program` makes the program's first message. Whether there was anything to compare.
    ///
    /// # Errors
    /// What is not the same.
    pub fn compare_with_twin(
        &mut self,
        version: Version,
        pes: &mut [Pe],
        clock: &Cell<u64>,
        program: &dyn Fn(&Pe),
    ) -> Result<bool, String> {
        self.absorb();
        let of = &*self;
        let next = of.own_next().filter(|next| next.line == version);
        let (Some(from), Some(to), Some(fed)) = (of.own_image(), next, &of.fed) else { return Ok(false) };
        let member = of.twin(fed);
        for (rank, pe) in (0..).zip(pes.iter_mut()) {
            member.record(rank).was_at(from.made_at);
            pe.input_log = InputLog::Told(member.record(rank).recorder());
        }
        let mut twin = Twin { of, member, pes, clock, said: 0, program };
        let compared = twin.begin(from).and_then(|()| twin.run()).and_then(|()| twin.compare(to));
        twin.end();
        compared.map(|()| true).map_err(|what| {
            format!(
                "the twin of node {} is another than the node: {what}. It begins with the image of line {} and is given what the node was, \
                 up to that of line {}",
                of.node, of.line, to.line
            )
        })
    }

    /// It is to do what this one has done since its line began.
    fn twin(&self, fed: &Fed) -> Member {
        let logs = self.spread.held_of(|node| node == self.node);
        let record = |log| {
            let entries = logs.iter().find(|batch| batch.log == log).map(|batch| batch.entries.iter());
            let guide = Guide::new(entries.into_iter().flatten(), self.reach(log.rank));
            Record::guided(guide.ticketed(self.is_ticketed()))
        };
        let blank = Member::blank(self.node, self.shape, self.incarnation).in_line(self.line);
        let mut twin = Member {
            records: self.shape.logs_of(self.node).map(record).collect(),
            ..blank.among(self.membership.clone()).ticketed(self.is_ticketed())
        };
        match self.is_ticketed() {
            true => twin.feed_in_order(fed),
            false => {
                twin.waiting = fed.iter().map(|(lane, letters)| (*lane, letters.clone().into())).collect()
            }
        }
        twin
    }

    /// What was sent on a lane as its so-manieth; none of what has been forgotten since, or was not sent.
    fn sent(&self, lane: Lane, number: u64) -> Option<&OfLane> {
        self.retained.get(&(lane.to, lane.rank))?.get(number)
    }

    /// Whether it has sent so much on a lane.
    fn has_sent(&self, lane: Lane, number: u64) -> bool {
        self.retained.get(&(lane.to, lane.rank)).is_some_and(|retained| number < retained.end())
    }
}

impl Twin<'_> {
    fn begin(&mut self, image: &Image) -> Result<(), String> {
        let job = &self.pes[0].node.job;
        image.reported().iter().for_each(|(name, value)| job.record(name, value.clone()));
        for (rank, pe) in (0..).zip(self.pes) {
            self.clock.set(image.made_at);
            image.begin(pe, rank, self.program)?;
            self.compare_sent(rank)?;
        }
        Ok(())
    }

    /// Until all have done what they had done.
    fn run(&mut self) -> Result<(), String> {
        loop {
            let (mut has_done, mut waits) = (false, false);
            for rank in 0..self.pes.len() as u32 {
                waits |= loop {
                    match self.step(rank)? {
                        Replayed::Did => has_done = true,
                        Replayed::Waits => break true,
                        Replayed::AtHorizon => break false,
                    }
                };
            }
            match (has_done, waits) {
                (true, _) => {}
                (false, true) => return Err("it waits for what nobody has sent".into()),
                (false, false) => return Ok(()),
            }
        }
    }

    fn step(&mut self, rank: u32) -> Result<Replayed, String> {
        let pe = &self.pes[rank as usize];
        self.member.record(rank).time().into_iter().for_each(|time| self.clock.set(time));
        let done = step(&mut self.member, rank, pe, |time| self.clock.set(time))?;
        self.compare_sent(rank)?;
        if self.member.record(rank).run() > self.of.record(rank).run() {
            return Err(format!("PE {} runs more messages than it did, and has not sent what it had", pe.id));
        }
        Ok(done)
    }

    /// What the PE of this rank has sent by now is what it had sent.
    fn compare_sent(&mut self, rank: u32) -> Result<(), String> {
        let pe = &self.pes[rank as usize];
        let Port::Simulated(outbox) = &pe.port else { return Err("its PEs send by themselves".into()) };
        let mut wrong = None;
        for sent in outbox.take() {
            let to = sent.to;
            let Some(Numbered { lane, number, .. }) = self.member.send(rank, sent) else { continue };
            let (now, before) = (self.member.sent(lane, number), self.of.sent(lane, number));
            let is_same = match (now, before) {
                (Some(now), Some(before)) => now.to == before.to && now.frame == before.frame,
                _ => self.of.has_sent(lane, number),
            };
            if !is_same {
                let describe =
                    |sent: Option<&OfLane>| sent.map_or("nothing".into(), |sent| sent.frame.describe(pe));
                let what = format!(
                    "PE {} sends PE {to} as message {number} of its lane {}, where it had sent {}",
                    pe.id,
                    describe(now),
                    describe(before)
                );
                wrong = wrong.or(Some(what));
            }
        }
        self.member.outbox.clear();
        self.say(rank);
        wrong.map_or(Ok(()), Err)
    }

    /// What its program has said since this was last asked.
    fn say(&mut self, rank: u32) {
        let lines = self.pes[rank as usize].node.job.output.captured().split_off(self.said);
        self.said += lines.len();
        lines.into_iter().for_each(|line| self.member.say(rank, Said::Line(line)));
    }

    /// The parts are the same, and so is what its program has reported.
    fn compare(&self, image: &Image) -> Result<(), String> {
        for (pe, state) in self.pes.iter().zip(&image.states) {
            if let Some(end) = pe.node.job.how_it_ended() {
                return Err(format!("its job ends: {:?}", end.message));
            }
            let Beginning::Parts(before) = state else { continue };
            let now =
                pe.part_of_cut(image.line).map_err(|_| format!("PE {} has no part of the cut", pe.id))?;
            if let Some(what) = difference(before, &now, pe.measuring.loads) {
                return Err(format!("in the part of PE {}, {what}", pe.id));
            }
        }
        let results = self.pes[0].node.job.results();
        match results == image.results {
            true => Ok(()),
            false => Err(format!("it has reported {results:?}, where it had reported {:?}", image.results)),
        }
    }

    /// What has gone between its PEs is dropped with it.
    fn end(mut self) {
        let pe = &self.pes[0];
        let _here = Here::enter(pe);
        for parcel in self.member.take_rings() {
            if let Parcel::Message(envelope) = parcel {
                pe.discard(envelope, Why::Over);
            }
        }
    }
}
