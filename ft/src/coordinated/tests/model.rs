//! Members that do as their machines want, what is on its way between them, and what must hold whatever comes first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::super::{At, Coordinated, Place, Word};
use crate::Version;
use crate::action::Action;
use crate::event::{Event, Member};
use crate::protocol::Protocol;

/// A small job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Model {
    members: Vec<Node>,
    words: BTreeMap<(Member, Member), VecDeque<Word>>,
    /// The program's messages: each makes two others, so many times in turn.
    messages: BTreeMap<(Member, Member), VecDeque<u32>>,
    /// An image is under way, as the root knows; others wait for its end.
    is_running: bool,
    /// Images that are still to be asked for, messages that are still to be sent by the program, refusals that may
    /// happen.
    left: (u32, u32, u32),
    refused: u32,
    answers: Vec<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    machine: Coordinated,
    is_frozen: bool,
    is_still: bool,
    /// Waves that it was asked for after the first.
    asked: u32,
    sent: u64,
    received: u64,
    capturing: Option<Version>,
    is_thawing: bool,
    /// Parts that come here, and have not been kept yet.
    coming: BTreeSet<(Version, Member)>,
    held: BTreeSet<(Version, Member)>,
    committed: Version,
}

impl Model {
    pub(super) fn new(members: u32, images: u32, messages: u32, refusals: u32) -> Self {
        let node = |member: u32| Node {
            machine: Coordinated::new(
                Place {
                    root: 0,
                    above: (member > 0).then(|| (member - 1) / 2),
                    below: (1..members).filter(|one| (one - 1) / 2 == member).collect(),
                },
                0,
            ),
            is_frozen: false,
            is_still: false,
            asked: 0,
            sent: 0,
            received: 0,
            capturing: None,
            is_thawing: false,
            coming: BTreeSet::new(),
            held: BTreeSet::from([(0, member), (0, (member + members - 1) % members)]),
            committed: 0,
        };
        Model {
            members: (0..members).map(node).collect(),
            words: BTreeMap::new(),
            messages: BTreeMap::new(),
            is_running: false,
            left: (images, messages, refusals),
            refused: 0,
            answers: Vec::new(),
        }
    }

    /// Whatever may happen next.
    pub(super) fn next(&self) -> Vec<Model> {
        let mut next = Vec::new();
        for member in 0..self.members.len() as Member {
            next.extend(self.after_words(member));
            next.extend(self.after_messages(member));
            next.extend(self.after_rest(member));
            next.extend(self.after_keeping(member));
        }
        if self.left.0 > 0 && !self.is_running {
            let mut after = self.clone();
            (after.left.0, after.is_running) = (after.left.0 - 1, true);
            after.give(0, Event::Wanted { words: self.members.len() as u32 });
            next.push(after);
        }
        next
    }

    fn after_words(&self, to: Member) -> Vec<Model> {
        let waiting = self.words.iter().filter(|((_, one), words)| *one == to && !words.is_empty());
        let read = |((from, _), _): (&(Member, Member), &VecDeque<Word>)| {
            let mut after = self.clone();
            let word = after.words.get_mut(&(*from, to)).and_then(VecDeque::pop_front).expect("it waits");
            after.give(to, Event::Heard(word));
            after
        };
        waiting.map(read).collect()
    }

    /// The program sends a message while it runs; one that is taken makes others also where no entry runs.
    fn after_messages(&self, member: Member) -> Vec<Model> {
        let node = &self.members[member as usize];
        let mut next = Vec::new();
        if !node.is_frozen && self.left.1 > 0 && self.members.len() > 1 {
            let mut after = self.clone();
            after.left.1 -= 1;
            after.send(member, 1);
            next.push(after);
        }
        let waiting =
            self.messages.iter().filter(|((_, to), all)| *to == member && !all.is_empty() && !node.is_still);
        next.extend(waiting.map(|(link, _)| {
            let mut after = self.clone();
            let makes = after.messages.get_mut(link).and_then(VecDeque::pop_front).expect("it waits");
            after.members[member as usize].received += 1;
            (0..2 * makes).for_each(|_| after.send(member, makes - 1));
            after
        }));
        next
    }

    fn send(&mut self, from: Member, makes: u32) {
        let to = (from + 1) % self.members.len() as Member;
        self.members[from as usize].sent += 1;
        self.messages.entry((from, to)).or_default().push_back(makes);
    }

    fn after_rest(&self, member: Member) -> Option<Model> {
        let node = &self.members[member as usize];
        let mut after = self.clone();
        if let Some(version) = node.capturing {
            assert!(
                self.messages.values().all(VecDeque::is_empty),
                "a part is taken while messages are on their way"
            );
            after.members[member as usize].capturing = None;
            after.give(member, Event::Captured(version));
            return Some(after);
        }
        if node.is_thawing {
            let thawed = &mut after.members[member as usize];
            (thawed.is_frozen, thawed.is_still, thawed.is_thawing) = (false, false, false);
            after.give(member, Event::Thawed);
            return Some(after);
        }
        // A message may arrive after the count; not in every wave, or they never end.
        let waits = self.messages.iter().any(|((_, to), all)| *to == member && !all.is_empty());
        if !node.machine.is_counted_at_rest() || (waits && node.asked > 0) {
            return None;
        }
        after.give(member, Event::AtRest { sent: node.sent, received: node.received });
        (after != *self).then_some(after)
    }

    fn after_keeping(&self, member: Member) -> Vec<Model> {
        let mut next = Vec::new();
        for part @ (version, of) in self.members[member as usize].coming.iter().copied() {
            let at = if of == member { At::Here } else { At::Keepers };
            let mut after = self.clone();
            after.members[member as usize].coming.remove(&part);
            let mut refused = after.clone();
            after.members[member as usize].held.insert(part);
            after.give(of, Event::Kept { version, at, kept: Ok(()) });
            next.push(after);
            if self.left.2 > 0 {
                refused.left.2 -= 1;
                refused.refused += 1;
                refused.give(of, Event::Kept { version, at, kept: Err("full".into()) });
                next.push(refused);
            }
        }
        next
    }

    fn give(&mut self, member: Member, event: Event) {
        let actions = self.members[member as usize].machine.on_event(event);
        actions.into_iter().for_each(|action| self.carry_out(member, action));
    }

    fn carry_out(&mut self, member: Member, action: Action) {
        let node = &mut self.members[member as usize];
        match action {
            Action::Freeze(_) => (node.is_frozen, node.asked) = (true, 0),
            Action::HoldStill => node.is_still = true,
            Action::GoOnFrozen => (node.is_still, node.asked) = (false, node.asked + 1),
            Action::Capture(version) => node.capturing = Some(version),
            Action::Thaw => node.is_thawing = true,
            Action::Copy(version) => self.copy(member, version),
            Action::Commit(version) => {
                node.committed = version;
                node.held.retain(|(one, _)| *one >= version);
            }
            Action::Abort(version) => node.held.retain(|(one, _)| *one != version),
            Action::Answer(answer) => {
                self.is_running = false;
                self.answers.push(answer.is_ok());
            }
            Action::Tell { to, word } => self.words.entry((member, to)).or_default().push_back(word),
            Action::Order(_) => unreachable!("another protocol"),
        }
    }

    /// A part comes to its owner's memory and to its keeper's; one that is alone has no keeper.
    fn copy(&mut self, member: Member, version: Version) {
        self.members[member as usize].coming.insert((version, member));
        match (member + 1) % self.members.len() as Member {
            keeper if keeper != member => {
                self.members[keeper as usize].coming.insert((version, member));
            }
            _ => self.give(member, Event::Kept { version, at: At::Keepers, kept: Ok(()) }),
        }
    }

    /// Whoever is lost: what was committed, as any of the others knows, can be gone back to.
    pub(super) fn check_losses(&self) {
        let members = self.members.len() as Member;
        for lost in (0..members).filter(|_| members > 1) {
            let left =
                || self.members.iter().zip(0..).filter(|(_, member)| *member != lost).map(|(node, _)| node);
            let committed = self.members.iter().map(|node| node.committed).max().unwrap_or(0);
            let is_whole =
                |version| (0..members).all(|part| left().any(|node| node.held.contains(&(version, part))));
            assert!(is_whole(committed), "version {committed} is committed, and gone with {lost}");
        }
    }

    /// Nothing can happen any more.
    pub(super) fn check_rest(&self) {
        assert!(
            self.members.iter().all(|node| !node.is_frozen && node.coming.is_empty()),
            "some wait for ever: {self:#?}"
        );
        let committed = self.members[0].committed;
        assert!(self.members.iter().all(|node| node.committed == committed), "all know what is committed");
        assert!(!self.answers.is_empty(), "nobody was answered");
        let given_up = self.answers.iter().filter(|is_committed| !**is_committed).count() as u32;
        assert_eq!(
            given_up,
            self.refused.min(given_up.max(1)),
            "what could not be kept was given up, and nothing else"
        );
        let versions: BTreeSet<_> =
            self.members.iter().flat_map(|node| &node.held).map(|(version, _)| *version).collect();
        assert_eq!(versions, BTreeSet::from([committed]), "only what is committed is kept");
    }
}
