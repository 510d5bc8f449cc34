//! One member of a coordinated checkpoint. That without anybody above it is the root.

use super::part::Part;
use super::root::{End, Root};
use super::word::Word;
use crate::Version;
use crate::action::Action;
use crate::event::{Event, Member};
use crate::protocol::Protocol;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// Where a member is among the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Whom members tell what has become of their parts.
    pub root: Member,
    /// The next one towards the root, which has none.
    pub above: Option<Member>,
    /// Those whose next one it is.
    pub below: Vec<Member>,
}

/// A member's state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coordinated {
    place: Place,
    /// The last version that was begun here.
    version: Version,
    state: State,
    part: Part,
    root: Root,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum State {
    /// Entries run.
    Runs,
    /// To be counted when it is at rest and all branches have been: with what these have sent and taken.
    Counts { wave: u32, missing: usize, sent: u64, received: u64 },
    /// Counted: it holds still.
    IsStill,
    /// It takes its part, and so do branches.
    Takes { missing: usize, has_taken: bool },
    /// It waits for the thaw.
    HasTaken,
    /// Entries are about to run again. Who has its part may have told that it is safe, so the next image may have begun by then.
    Thaws { next: Option<Version> },
}

impl Coordinated {
    /// A member of a job in which this version was the last to be begun.
    #[must_use]
    pub fn new(place: Place, version: Version) -> Self {
        Coordinated { place, version, state: State::Runs, part: Part::of(version), root: Root::default() }
    }

    /// Whether no entry runs here.
    #[must_use]
    pub fn is_frozen(&self) -> bool {
        self.state != State::Runs
    }

    /// Whether it is to be counted as soon as it is at rest ([`Event::AtRest`]): all branches have been.
    #[must_use]
    pub fn is_counted_at_rest(&self) -> bool {
        matches!(self.state, State::Counts { missing: 0, .. })
    }

    /// Whether branches have yet to say that they have taken their parts.
    #[must_use]
    pub fn awaits_branches(&self) -> bool {
        matches!(self.state, State::Takes { missing: 1.., .. })
    }

    /// Whether it has taken its part.
    #[must_use]
    pub fn has_taken(&self) -> bool {
        matches!(self.state, State::HasTaken | State::Thaws { .. } | State::Takes { has_taken: true, .. })
    }

    /// Whether it has told the one above it that its branch has taken its parts; the root, that all have.
    #[must_use]
    pub fn has_reported(&self) -> bool {
        matches!(self.state, State::HasTaken | State::Thaws { .. })
    }

    /// Whether all have taken their parts, and it has only to thaw.
    #[must_use]
    pub fn is_about_to_thaw(&self) -> bool {
        matches!(self.state, State::Thaws { .. })
    }

    /// At the root: whether a member has said that the image under way cannot be kept.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.root.is_refused()
    }

    fn tell_below(&self, word: &Word) -> Vec<Action> {
        self.place.below.iter().map(|to| Action::Tell { to: *to, word: word.clone() }).collect()
    }

    /// What the root does itself, and every other member tells the one above it.
    fn report(&mut self, word: Word) -> Vec<Action> {
        match self.place.above {
            Some(to) => vec![Action::Tell { to, word }],
            None => self.decide(word),
        }
    }

    // At the root.

    fn decide(&mut self, word: Word) -> Vec<Action> {
        match word {
            Word::Counted { sent, received, .. } if sent == received || mutated("taken-before-drained") => {
                self.on_order(Word::Take)
            }
            Word::Counted { wave, .. } => {
                sometimes("messages were on their way when every frozen PE had been at rest");
                self.on_order(Word::Ask(wave + 1))
            }
            Word::Taken => self.on_order(Word::Thaw),
            _ => Vec::new(),
        }
    }

    fn on_wanted(&mut self, words: u32) -> Vec<Action> {
        if self.place.above.is_some() || self.is_frozen() || self.root.is_running() {
            return Vec::new();
        }
        self.root.begin(self.version + 1, words);
        self.on_order(Word::Freeze(self.version + 1))
    }

    /// As long as the root is frozen it says nothing to the program and begins nothing. Others that thawed earlier may have had the
    /// time to take all the copies.
    fn end_if_over(&mut self) -> Vec<Action> {
        let end = if self.is_frozen() { None } else { self.root.end() };
        match end {
            None => Vec::new(),
            Some(End::Committed(version)) => {
                [self.on_order(Word::Commit(version)), vec![Action::Answer(Ok(version))]].concat()
            }
            Some(End::GivenUp(version, wrong)) => {
                [self.on_order(Word::Abort(version)), vec![Action::Answer(Err(wrong))]].concat()
            }
        }
    }

    // Down the tree.

    fn on_order(&mut self, word: Word) -> Vec<Action> {
        let missing = self.place.below.len();
        let counts = |wave| State::Counts { wave, missing, sent: 0, received: 0 };
        let own = match &word {
            // Only a peer that makes things up says it twice.
            Word::Freeze(version) if *version <= self.version => return Vec::new(),
            Word::Freeze(version) if self.is_frozen() => {
                self.put_off(*version);
                return Vec::new();
            }
            Word::Freeze(version) => {
                (self.version, self.part) = (*version, Part::of(*version));
                self.state = counts(0);
                Action::Freeze(*version)
            }
            Word::Ask(wave) if self.is_frozen() => {
                self.state = counts(*wave);
                Action::GoOnFrozen
            }
            Word::Take if self.is_frozen() => {
                self.state = State::Takes { missing, has_taken: false };
                Action::Capture(self.version)
            }
            Word::Thaw if self.is_frozen() => {
                self.state = State::Thaws { next: None };
                Action::Thaw
            }
            Word::Commit(version) => Action::Commit(*version),
            Word::Abort(version) => Action::Abort(*version),
            _ => return Vec::new(),
        };
        [self.tell_below(&word), vec![own]].concat()
    }

    /// The next image begins before this member has thawed.
    fn put_off(&mut self, version: Version) {
        if let State::Thaws { next } = &mut self.state {
            sometimes("a checkpoint began before a PE had thawed after the one before");
            *next = Some(version);
        }
    }

    fn on_thawed(&mut self) -> Vec<Action> {
        let State::Thaws { next } = self.state else { return Vec::new() };
        self.state = State::Runs;
        let mut actions = vec![Action::Copy(self.version)];
        actions.extend(self.end_if_over());
        actions.extend(next.into_iter().flat_map(|version| self.on_order(Word::Freeze(version))));
        actions
    }

    // Up the tree.

    fn on_counted(&mut self, of: u32, more_sent: u64, more_received: u64) {
        if let State::Counts { wave, missing, sent, received } = &mut self.state
            && *wave == of
            && *missing > 0
        {
            *missing -= 1;
            *sent = sent.wrapping_add(more_sent);
            *received = received.wrapping_add(more_received);
        }
    }

    fn on_rest(&mut self, own_sent: u64, own_received: u64) -> Vec<Action> {
        let State::Counts { wave, missing: 0, sent, received } = self.state else { return Vec::new() };
        self.state = State::IsStill;
        let still = if mutated("counted-pe-goes-on") { Vec::new() } else { vec![Action::HoldStill] };
        let (sent, received) = (sent.wrapping_add(own_sent), received.wrapping_add(own_received));
        [still, self.report(Word::Counted { wave, sent, received })].concat()
    }

    fn on_taken(&mut self, is_own: bool) -> Vec<Action> {
        let State::Takes { missing, has_taken } = &mut self.state else { return Vec::new() };
        match is_own {
            true => *has_taken = true,
            false => *missing = missing.saturating_sub(1),
        }
        if *missing > 0 || !*has_taken {
            return Vec::new();
        }
        self.state = State::HasTaken;
        self.report(Word::Taken)
    }

    fn on_safe(&mut self, version: Version, kept: Result<(), String>) -> Vec<Action> {
        self.root.on_safe(version, kept);
        self.end_if_over()
    }

    fn on_word(&mut self, word: Word) -> Vec<Action> {
        match word {
            Word::Counted { wave, sent, received } => {
                self.on_counted(wave, sent, received);
                Vec::new()
            }
            Word::Taken => self.on_taken(false),
            Word::Safe(version, kept) => self.on_safe(version, kept),
            order => self.on_order(order),
        }
    }
}

impl Protocol for Coordinated {
    fn on_event(&mut self, event: Event) -> Vec<Action> {
        match event {
            Event::Wanted { words } => self.on_wanted(words),
            Event::AtRest { sent, received } => self.on_rest(sent, received),
            Event::Captured(version) if version == self.version => self.on_taken(true),
            Event::Thawed => self.on_thawed(),
            Event::Kept { version, at, kept } => {
                let known = self.part.on_kept(version, at, kept).into_iter();
                known
                    .map(|kept| Action::Tell { to: self.place.root, word: Word::Safe(version, kept) })
                    .collect()
            }
            Event::Heard(word) => self.on_word(word),
            // After a loss all members are made anew.
            _ => Vec::new(),
        }
    }
}
