//! Rare paths: whether a sweep comes to all of them.
//!
//! The runtime marks its rare paths (`sometimes`). What the storms of a sweep never come to is not tested by it, whatever
//! else it says; so a sweep counts the marks, and CI fails when one that has to be reached is not.

use std::collections::{BTreeMap, BTreeSet};

/// A mark of the runtime.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// What happened there, as the runtime says it.
    pub name: &'static str,
    /// Whether CI's sweep has to come there.
    pub reach: Reach,
}

/// How surely a mark is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// By the bounded sweep of CI.
    Must,
    /// By a long one, perhaps.
    May,
}

/// Counts of marks over many runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    runs: u64,
    reached: BTreeMap<&'static str, Reached>,
}

/// How often a mark was reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Runs in which it was.
    pub runs: u64,
    /// Times in all of them.
    pub times: u64,
}

impl Coverage {
    /// Adds the marks of one run, as `talisman::sometimes::take_marks` gives them.
    pub fn add_run(&mut self, marks: &BTreeMap<&'static str, u64>) {
        self.runs += 1;
        for (name, times) in marks {
            let reached = self.reached.entry(name).or_default();
            reached.runs += 1;
            reached.times += times;
        }
    }

    /// Adds what another part of the sweep has counted.
    pub fn merge(&mut self, other: &Coverage) {
        self.runs += other.runs;
        for (name, more) in &other.reached {
            let reached = self.reached.entry(name).or_default();
            reached.runs += more.runs;
            reached.times += more.times;
        }
    }

    /// Runs that were counted.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// How often a mark was reached.
    pub fn of(&self, name: &str) -> Reached {
        self.reached.get(name).copied().unwrap_or_default()
    }

    /// Whether a mark was reached whose name has this in it.
    pub fn has(&self, part: &str) -> bool {
        self.reached.keys().any(|name| name.contains(part))
    }

    /// The marks that were never reached, in the order of [`MARKS`].
    pub fn never(&self) -> Vec<&'static str> {
        self.unreached(MARKS).map(|mark| mark.name).collect()
    }

    /// Those of them that had to be.
    pub fn missed(&self) -> Vec<&'static str> {
        self.unreached(MARKS).filter(|mark| mark.reach == Reach::Must).map(|mark| mark.name).collect()
    }

    /// Marks that were reached and are on no list.
    pub fn unknown(&self) -> Vec<&'static str> {
        let known: BTreeSet<_> = MARKS.iter().map(|mark| mark.name).collect();
        self.reached.keys().copied().filter(|name| !known.contains(name)).collect()
    }

    fn unreached<'a>(&self, marks: &'a [Mark]) -> impl Iterator<Item = &'a Mark> {
        marks.iter().filter(|mark| !self.reached.contains_key(mark.name))
    }
}

/// Every mark of the runtime. Of several disjoint ranges of 2,000 seeds, each takes a path that must be taken in ten runs or more:
/// that none of as many does by chance happens once in 20,000 times.
#[rustfmt::skip]
pub const MARKS: &[Mark] = &[
    // Where objects are.
    must("a message waited for an object on its way"),
    must("an object came while a marker for it was under way"),
    must("older news of a place came after newer"),
    must("an object was back before the news of where it had been"),
    must("news of a place came while another was awaited"),
    must("news of a place came when the object was gone"),
    must("a sender learns that an object moved"),
    must("a marker was answered when nobody waited for it any more"),
    may("a marker was answered by the PE that had sent it"),
    must("a message waited for a marker"),
    must("an element left its order to its home"),
    may("a home forgot that objects were gone"),
    may("a PE asked for all places that it knew"),
    may("a PE forgot the place of an object that was gone, or at its home"),
    may("a home asked the partners of those that are gone for their counts"),
    may("an order could not end yet, or had ended on one side"),
    may("an order ended whose element was gone"),
    may("an element waited until the order of its former one had ended, or not"),
    may("two that were gone asked each other for their counts"),
    must("an element that had moved was removed at its home"),
    must("an element was removed away from its home"),
    must("an element could be made because its former one was gone"),
    // Ends of collections and shared values: no workload destroys any yet.
    may("an array was destroyed whose insertions had not been said to be over"),
    may("an element was inserted into an array that was being destroyed"),
    may("a message came for a collection that was destroyed"),
    may("a shared value was destroyed before it could be read"),
    may("a sender was gone with its collection, and its receiver was nowhere"),
    may("the last message came of one that was gone with its collection"),
    // Ordered collections.
    must("a message of an ordered collection came early"),
    must("it was the turn of a message that had come early"),
    // Moves.
    may("an object lent its memory to the link by which it moved"),
    must("an object asked to move to where it is"),
    must("an object moved while a reduction was open"),
    must("a broadcast waited for an element that could not be read"),
    may("an object wanted to move on, or to go, when it had arrived"),
    may("an object was packed and built anew"),
    must("an object moved before it had announced what it inserted"),
    must("an object moved between reductions of a section"),
    must("a message that had come early moved with its receiver"),
    // Broadcasts.
    must("an element was removed before it had caught up with the broadcasts"),
    must("an element came before a shared value in it"),
    must("a broadcast waited for the first elements"),
    must("a broadcast overtook another"),
    must("a broadcast came before a shared value in it"),
    may("an element left while those before it received a broadcast"),
    must("an element had received a broadcast on another PE"),
    may("a part of a multicast waited for a shared value"),
    must("a broadcast was sent after an element that moved"),
    must("a broadcast's receivers could not be counted at once"),
    must("an element arrived where more broadcasts had passed"),
    must("a broadcast came after an element that was removed"),
    must("a broadcast was sent after an element that had moved on"),
    must("a broadcast was sent after an element that had received it"),
    must("a broadcast waited for those that an element had missed"),
    may("an element was removed before a broadcast that waited for those that it had missed"),
    must("an element that was catching up had wanted to move"),
    must("an element arrived behind the broadcasts"),
    may("a broadcast was sent after an element that was not made yet"),
    may("a broadcast was sent after an element that was made"),
    may("an element waited to be made for broadcasts that it had missed"),
    may("an element waited to be made for a shared value in a broadcast"),
    may("an element received broadcasts that had passed before it was made"),
    // Sections.
    may("a multicast had no receivers"),
    must("a member of a section was not where its root believed"),
    // Reductions.
    may("an element contributed before it was announced"),
    must("an element was inserted from outside into an array that was complete"),
    must("the receivers of a broadcast were counted before all had answered"),
    must("answers to a broadcast waited for PEs below"),
    must("all PEs below had told of a broadcast before all here had answered"),
    must("a partial result was sent on before every element here had contributed"),
    must("a contribution came for a reduction whose former one was open"),
    must("a reduction was complete because everybody went"),
    // Quiescence.
    must("a PE suspected that the job was stuck"),
    may("a suspicion that the job was stuck was wrong, or has to be raised again"),
    may("an answer to an older count came"),
    must("messages were on their way when every PE had been idle"),
    must("messages came and went between two counts"),
    may("a job was stuck"),
    may("a job ended well, and an element had not come that had messages"),
    // Load balancing.
    must("a note of a balancing step came before its beginning"),
    may("a note came after the end of its balancing step"),
    must("an object that was to be balanced had left"),
    may("an object that was to be balanced had a move of its own before it"),
    may("an object that was to be balanced had to catch up first"),
    must("a balancing step was wanted while one was under way"),
    must("loads were looked at, and no balancing step followed"),
    may("a balancing step was refused"),
    // Checkpoints.
    must("a broadcast waited for the end of a checkpoint"),
    must("a broadcast that an element had missed waited for the end of a checkpoint"),
    must("a multicast waited for the end of a checkpoint"),
    must("messages came to a frozen PE from others that were not any more"),
    must("messages were on their way when every frozen PE had been at rest"),
    must("a checkpoint was wanted while one was under way"),
    must("a checkpoint waited for the end of a balancing step"),
    may("a balancing step waited for the end of a checkpoint"),
    may("a checkpoint began before a PE had thawed after the one before"),
    may("a part of a checkpoint had nobody to keep its copy"),
    may("a part of a checkpoint was read where it was"),
    may("a part of a checkpoint could not be read where it was"),
    may("a part of a checkpoint could not be kept"),
    may("there was no memory for a part of a checkpoint"),
    // Going back to one.
    may("an object was on its way home, or gone, before the news of where it was restored"),
    may("an object that was to be made on a lost PE is made by its home"),
    may("the first elements of an array are counted anew after going back to a checkpoint"),
    may("an object of a checkpoint waited for a shared value"),
    may("an object of a checkpoint waited for two shared values"),
    may("a reduction of a checkpoint waited for a shared value"),
    may("a lost member of a group left what it had to another"),
    may("a section has lost a member of its group"),
    may("a section asked for the contributions of a lost member before that had gone"),
    may("a member that was made again contributed to a section that was made before it"),
    may("a lost member owed an answer to a reduction"),
    may("a lost member owed an answer that somebody waited for"),
    may("a lost member owed an answer to a lost one"),
    may("a lost node was replaced"),
    may("a lost node could not be replaced"),
    may("a job went on without a replacement for a lost node"),
    may("a process that waited took a node's place"),
    may("a process was started on another host than the one before it"),
    may("a new process found what the one before it had left on disk"),
    may("a new process had a disk without anything on it"),
    may("a connection came with a process that was yet to be met"),
    may("what is for a newcomer's store came before that looked for it"),
    may("a job halted again before a newcomer had its part"),
    may("nodes that were to be added were not"),
    may("nodes that were to be added were given up while a checkpoint was taken"),
    may("a spare process was lost"),
    may("a node was let go while the job ran"),
    may("a node was added while the job ran"),
    may("an object that was to be made is made by a home that is new"),
    may("a checkpoint that was asked for was overtaken by a loss"),
    may("a balancing step that was asked for was overtaken by a loss"),
    may("a message for the member of a lost PE was dropped"),
    may("a message for the member of a lost PE went to another's"),
    // Shared values.
    may("a shared value came before another one in it"),
    must("a message came before a shared value in it"),
    // Async entries.
    must("an object was packed with messages that no async entry had received"),
    may("an answer came that nobody waited for"),
    must("an object was packed while an async entry waited"),
    // How elements come and go.
    may("the end of an insertion was said twice"),
    must("the first elements of an array had to be counted again"),
    must("an element takes over the order of a former one"),
    may("a single chare came back to the PE that it is named after"),
    may("a single chare went back to a PE that had been lost"),
    may("an element was inserted before its collection was known"),
    must("an element was made again after it had moved and gone"),
    must("an element was inserted before its former one was known to be gone"),
    must("an element was made away from its home"),
    must("an element was inserted by way of the root"),
    may("an insertion was sent on to the root"),
    may("an element was inserted into an array that was not known there"),
    may("a PE heard of an insertion that had not come to its root"),
    may("a broadcast waited for an insertion that its sender had heard of"),
    may("an insertion waited behind a broadcast that waited for another"),
    must("an element was removed before the turn of messages that had come early"),
    // Members of groups that come late: in the sweep, nobody does.
    may("a new PE was lost before there was a checkpoint with it"),
    may("the member of a nodegroup went on on another PE, as its node had more or fewer than before"),
    may("a late member of a group took part in a reduction"),
    may("a late member of a group was not waited for when nothing was left to do"),
    may("a late member of a group was lost before it took part in a reduction"),
    may("a late member of a group contributed to what was complete"),
    may("what a late member contributed while it was made was for nothing"),
    // Messages on a PE.
    must("a message came to an object before its collection was known"),
    must("a message came to a PE before its collection was known there"),
    may("a message lacked its collection and a shared value"),
    must("a message was forwarded twice"),
    must("an object left before a queued message"),
    must("an object wanted to move and to go"),
    must("a PE sent to a collection that it did not know"),
    must("a marker came for an object that is nowhere"),
    may("an answer with a number came for an object that was gone"),
    may("an answer came for an object that was gone"),
    must("a message came for an element that was removed"),
    must("a message came for an element that was not made yet"),
    // Rings.
    must("a ring between two PEs was full"),
    must("a message from within the node was put aside while a sender waited"),
    // Links of a PE.
    must("a new connection came before its PE knew that the former one was broken"),
    must("a link was far behind where its sender could not wait"),
    must("a sender waited for room on a link"),
    may("the job was over while a sender waited for room"),
    may("a connection came while a sender waited for room"),
    must("a link lost its connection"),
    may("a link was given up"),
    must("a message from another node was put aside while a sender waited"),
    may("a PE took in less than it ran, for it had much"),
    must("an obsolete message was dropped"),
    may("a node was in the next epoch before this one"),
    may("a PE had a turn while another of its node waited in the midst of going back"),
    may("a message of a later epoch waited until its receiver was there"),
    may("what had been put aside was dropped with its epoch"),
    // Connections.
    must("a peer sent again what had arrived"),
    may("what had arrived was acknowledged because nothing more came"),
    must("a damaged frame was noticed"),
    may("a frame was damaged each time that it came"),
    must("a connection broke after one goodbye of two"),
    must("a connection broke in the middle of a large frame"),
    must("a connection broke in the middle of a small frame"),
    must("a connection broke before its first frame"),
    must("an acknowledgement went out by itself"),
    must("a socket took no more"),
    must("a peer acknowledged what was about to be written again"),
    must("what had been written was written again"),
    may("a large frame that was written in part began again"),
    // Handshakes.
    must("an earlier life of a node dialled"),
    may("a node dialled that cannot be, or looked for another"),
    must("a stranger dialled"),
    may("a node that dialled could not prove what it claimed"),
    may("a node was replaced while it shook hands"),
    must("a node was refused by the one that it dialled"),
    must("a node that was dialled could not prove what it claimed"),
    may("an earlier life of a node was dialled"),
    // Who dials whom.
    may("a connection broke that was missing already"),
    must("a connection came that was not missing"),
    may("a dial failed when the other node had been faster"),
    may("a connection was given up"),
    may("a node that had been away did not count that time against another"),
    must("a node was dialled again that had refused"),
    may("a node had not connected in time"),
    must("a node dialled that had been dialled before"),
    // Life and end of a job.
    must("a job was over before its program began"),
    may("a node lost its launcher"),
    must("a simulated job went on without its launcher"),
    may("a node that was to lead said nothing, and was killed"),
    may("a node that was missed by the one that was to lead was killed"),
    may("a node that was to lead died before all had come"),
    may("a node that looked for a launcher waited until strangers had gone"),
    may("a node complained of another to the next launcher, too"),
    must("a simulated job of several hosts went on without its launcher"),
    may("a host that had lost its launcher was told that the job goes on without it"),
    may("a host that looked for a launcher found another one dead"),
    may("a host that said nothing was passed over by one that looked for a launcher"),
    may("an agent that looked for a launcher lost its place at a door to strangers"),
    may("a process that was to lead ended before it did"),
    may("a process that was to lead ended before its word had come"),
    may("a host was tried at which nobody let anybody in"),
    may("a process that was to lead ended before its own agent had found it"),
    may("too few hosts were left to go on without their launcher"),
    may("a node that did not introduce itself to the next launcher was killed"),
    may("a node complained of another when nobody needed that one any more"),
    must("a simulated job was started again from its disks"),
    may("a launcher was lost when the nodes were about to leave"),
    must("the launcher was silent for too long"),
    may("a job was asked to end early"),
    must("a node came further when the job was over"),
    may("a step waited until a node was gone"),
    may("a node that was to be killed was gone"),
    may("a node ended a job that was over"),
    may("what a node said could not be understood"),
    may("a node could not be started"),
    must("a node was lost with its host"),
    may("the end of a node was the reason for what others complained of"),
    must("a node was lost after the program had ended well"),
    must("a node was lost while the job was ending"),
    must("a node was lost while the program ran"),
    must("a node was lost before the program began"),
    must("the nodes were left less time to stop than they had been"),
    must("a node was silent for too long"),
    may("a node was killed that had said all and did not end"),
    may("a node that was killed did not end for long"),
    may("a piece of a copy was not what it was"),
    may("a job ended since it would have been lost again and again"),
    must("a node was killed that did not stop in time"),
    may("a node was killed at random"),
    may("a complaint was overruled by its reason"),
    must("a failure was heard over a success"),
    must("something was said after the failure that counts"),
    // Losses that are survived.
    may("a node was told to halt that had not resumed yet"),
    may("a node was lost while the others halted"),
    may("a node was lost while the others resumed"),
    may("an answer was for an epoch that was over"),
    may("a newer version than the one gone back to was incomplete"),
    may("a version was gone back to that nobody knew to be committed"),
    may("the program began anew after a loss"),
    may("nothing could be restored"),
    may("lines were said again"),
    may("more lines of a node were printed than are known one by one"),
    may("a program that had ended went back"),
    may("a job that was ending well went back"),
    may("an end was overtaken by a loss"),
    may("a node was lost after it had said all"),
    may("a node complained of another"),
    may("a node found that it cannot reach another, when it was asked"),
    may("a node did not say in time whom it can reach"),
    may("a node had tried its connections for longer than it was waited for"),
    may("several nodes had to go at once, as others could not reach them"),
    // Message logging, which the tests of `talisman-ft` run.
    may("entries of a log rode that its node had never been fed"),
    may("a node was lost during a recovery"),
    may("a survivor answered for a recovery that was over"),
    may("an entry was left out since it depended on one that nobody knows"),
    may("a ticket was void, since nobody had it any more"),
    may("a node goes back since it has not kept what another asks for"),
    // The same in jobs, which `tests/logging_processes` runs.
    may("a node of a job that logs was lost"),
    may("a restored node said what had been printed"),
    may("a job that logs ended since it would have been lost again and again"),
    may("a job that logs lost more than can be restored"),
    may("a job that logs went back to a checkpoint on disk"),
    may("a line began while the disks had not written the one before it"),
    may("a node was lost while its line was written"),
    may("a node held its part of a cut before a loss of which it had not heard"),
    may("a node heard of others in the next line before it was told that this has begun"),
    may("a leader was lost while a node went back"),
    may("a leader was lost when not all had heard of the next line"),
    may("something was said to whoever leads next before what had been said to the former one"),
    may("a node of a job that logs complained of one that was lost"),
    may("a job that logs went on without nodes that were released"),
    may("a node was lost that had handed over its part as it was to be released"),
    may("nodes were not released since there was no checkpoint in time"),
    may("a leader was lost while nodes were to be released"),
    may("a job that logs went on with nodes that were added"),
    may("nodes were not added since there was no checkpoint in time"),
    may("nodes were to have other keepers, as some had come to other hosts"),
];

const fn must(name: &'static str) -> Mark {
    Mark { name, reach: Reach::Must }
}

const fn may(name: &'static str) -> Mark {
    Mark { name, reach: Reach::May }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::calls_with_texts;

    #[test]
    fn every_mark_of_the_runtime_is_on_the_list_once() {
        let mut listed: Vec<_> = MARKS.iter().map(|mark| mark.name.to_owned()).collect();
        let mut marked: Vec<_> = calls_with_texts("sometimes").into_iter().map(|call| call.text).collect();
        listed.sort();
        marked.sort();
        assert_eq!(listed, marked, "the list, and the marks in core/src");
        marked.dedup();
        assert_eq!(listed, marked, "each names one path");
    }

    #[test]
    fn runs_add_up_and_what_is_missing_is_told() {
        let (one, two) = (MARKS[0].name, MARKS[1].name);
        let mut first = Coverage::default();
        first.add_run(&BTreeMap::from([(one, 3)]));
        first.add_run(&BTreeMap::from([(one, 1), ("nowhere", 1)]));
        let mut all = Coverage::default();
        all.add_run(&BTreeMap::from([(two, 7)]));
        all.merge(&first);
        assert_eq!((all.runs(), all.of(one)), (3, Reached { runs: 2, times: 4 }));
        assert_eq!((all.of(two).times, all.of("never heard of")), (7, Reached::default()));
        assert_eq!(all.never().len(), MARKS.len() - 2);
        assert_eq!(all.unknown(), ["nowhere"]);
    }

    #[test]
    fn of_what_was_not_reached_some_had_to_be() {
        let marks =
            [Mark { name: "a", reach: Reach::Must }, may("b"), Mark { name: "c", reach: Reach::Must }];
        let mut coverage = Coverage::default();
        coverage.add_run(&BTreeMap::from([("a", 1)]));
        let unreached: Vec<_> = coverage.unreached(&marks).map(|mark| (mark.name, mark.reach)).collect();
        assert_eq!(unreached, [("b", Reach::May), ("c", Reach::Must)]);
    }
}
