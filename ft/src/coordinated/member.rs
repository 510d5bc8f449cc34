//! One member of a coordinated checkpoint. That without anybody above it is the root.

use super::root::{End, Root};
use super::word::Word;
use crate::Version;
use crate::action::Action;
use crate::event::{Event, Member};
use crate::protocol::Protocol;
use talisman_observe::mutations::mutated;

/// Where a member is among the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Its number.
    pub member: Member,
    /// How many there are.
    pub members: u32,
    /// The next one towards the root, which has none.
    pub above: Option<Member>,
    /// Those whose next one it is.
    pub below: Vec<Member>,
    /// Who keep copies of its part; nobody if it is alone.
    pub keepers: Vec<Member>,
}

/// A member's state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coordinated {
    place: Place,
    /// The last version that was begun here.
    version: Version,
    state: State,
    safety: Safety,
    root: Root,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum State {
    /// Entries run.
    Runs,
    /// To be counted when it is at rest, and branches have been: with what these have sent and taken.
    Counts { wave: u32, missing: usize, sent: u64, received: u64, own: Option<(u64, u64)> },
    /// Counted: it holds still.
    IsStill,
    /// It takes its part, and so do branches.
    Takes { missing: usize, has_taken: bool },
    /// It waits for the thaw.
    HasTaken,
}

/// What has become of this member's part.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Safety {
    here: Option<Result<(), String>>,
    /// Keepers that have not answered.
    missing: usize,
    wrong: Option<String>,
    has_told: bool,
}

impl Coordinated {
    /// A member of a job in which this version was the last to be begun.
    #[must_use]
    pub fn new(place: Place, version: Version) -> Self {
        Coordinated { place, version, state: State::Runs, safety: Safety::default(), root: Root::default() }
    }

    /// Whether no entry runs here.
    #[must_use]
    pub fn is_frozen(&self) -> bool {
        self.state != State::Runs
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
            Word::Counted { sent, received, .. } if sent == received || mutated("image-before-drained") => {
                self.on_order(Word::Take)
            }
            Word::Counted { wave, .. } => self.on_order(Word::Ask(wave + 1)),
            Word::Taken => self.on_order(Word::Thaw),
            _ => Vec::new(),
        }
    }

    fn begin_if_wanted(&mut self) -> Vec<Action> {
        let begins = self.place.above.is_none() && self.root.want(self.version + 1, self.place.members);
        if begins { self.on_order(Word::Freeze(self.version + 1)) } else { Vec::new() }
    }

    /// As long as the root is frozen it says nothing to the program and begins nothing.
    fn end_if_over(&mut self) -> Vec<Action> {
        let end = if self.is_frozen() { None } else { self.root.end() };
        let mut actions = match end {
            None => return Vec::new(),
            Some(End::Committed(version)) => {
                let actions = self.on_order(Word::Commit(version));
                [actions, vec![Action::Answer(Ok(version))]].concat()
            }
            Some(End::GivenUp(version, wrong)) => {
                let actions = self.on_order(Word::Abort(version));
                [actions, vec![Action::Answer(Err(wrong))]].concat()
            }
        };
        if self.root.is_wanted() {
            actions.extend(self.begin_if_wanted());
        }
        actions
    }

    // Down the tree.

    fn on_order(&mut self, word: Word) -> Vec<Action> {
        let missing = self.place.below.len();
        let counts = |wave| State::Counts { wave, missing, sent: 0, received: 0, own: None };
        let own = match &word {
            // Only a peer that makes things up says it twice.
            Word::Freeze(version) if *version <= self.version || self.is_frozen() => return Vec::new(),
            Word::Freeze(version) => {
                self.version = *version;
                self.safety = Safety { missing: self.place.keepers.len(), ..Safety::default() };
                self.state = counts(0);
                vec![Action::Freeze]
            }
            Word::Ask(wave) if self.is_frozen() => {
                self.state = counts(*wave);
                vec![Action::GoOnFrozen]
            }
            Word::Take if self.is_frozen() => {
                self.state = State::Takes { missing, has_taken: false };
                vec![Action::Capture(self.version)]
            }
            Word::Thaw if self.is_frozen() => {
                self.state = State::Runs;
                let copy = Action::Copy { version: self.version, to: self.place.keepers.clone() };
                vec![Action::Thaw, copy]
            }
            Word::Commit(version) => vec![Action::Commit(*version)],
            Word::Abort(version) => vec![Action::Abort(*version)],
            _ => return Vec::new(),
        };
        [self.tell_below(&word), own, self.end_if_over()].concat()
    }

    // Up the tree.

    fn on_counted(&mut self, of: u32, more_sent: u64, more_received: u64) -> Vec<Action> {
        if let State::Counts { wave, missing, sent, received, .. } = &mut self.state
            && *wave == of
            && *missing > 0
        {
            *missing -= 1;
            *sent = sent.wrapping_add(more_sent);
            *received = received.wrapping_add(more_received);
        }
        self.report_count()
    }

    fn on_rest(&mut self, sent: u64, received: u64) -> Vec<Action> {
        let State::Counts { own: own @ None, .. } = &mut self.state else { return Vec::new() };
        *own = Some((sent, received));
        let still = if mutated("counted-goes-on") { Vec::new() } else { vec![Action::HoldStill] };
        [still, self.report_count()].concat()
    }

    fn report_count(&mut self) -> Vec<Action> {
        let State::Counts { wave, missing: 0, sent, received, own: Some(own) } = self.state else {
            return Vec::new();
        };
        self.state = State::IsStill;
        let (sent, received) = (sent.wrapping_add(own.0), received.wrapping_add(own.1));
        self.report(Word::Counted { wave, sent, received })
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

    // What is kept.

    fn on_kept(&mut self, version: Version, of: Member, kept: Result<(), String>) -> Vec<Action> {
        if of != self.place.member {
            return vec![Action::Tell { to: of, word: Word::Stored(version, kept) }];
        }
        if version == self.version {
            self.safety.here = Some(kept);
        }
        self.tell_if_known()
    }

    fn on_stored(&mut self, version: Version, kept: Result<(), String>) -> Vec<Action> {
        if version != self.version || self.safety.missing == 0 {
            return Vec::new();
        }
        self.safety.missing -= 1;
        if let Err(wrong) = kept {
            self.safety.wrong.get_or_insert(wrong);
        }
        self.tell_if_known()
    }

    /// Each member says once of each version what has become of its part.
    fn tell_if_known(&mut self) -> Vec<Action> {
        let safety = &mut self.safety;
        let is_known = safety.missing == 0 || mutated("safe-without-a-copy");
        let Some(here) = safety.here.clone().filter(|_| is_known && !safety.has_told) else {
            return Vec::new();
        };
        safety.has_told = true;
        let kept = here.and(safety.wrong.clone().map_or(Ok(()), Err));
        match self.place.above {
            Some(_) => vec![Action::Tell { to: ROOT, word: Word::Safe(self.version, kept) }],
            None => self.on_safe(ROOT, self.version, kept),
        }
    }

    fn on_safe(&mut self, from: Member, version: Version, kept: Result<(), String>) -> Vec<Action> {
        self.root.on_safe(from, version, kept);
        self.end_if_over()
    }

    fn on_word(&mut self, from: Member, word: Word) -> Vec<Action> {
        match word {
            Word::Counted { wave, sent, received } => self.on_counted(wave, sent, received),
            Word::Taken => self.on_taken(false),
            Word::Stored(version, kept) => self.on_stored(version, kept),
            Word::Safe(version, kept) => self.on_safe(from, version, kept),
            order => self.on_order(order),
        }
    }
}

/// Whom members tell what has become of their parts.
const ROOT: Member = 0;

impl Protocol for Coordinated {
    fn on_event(&mut self, event: Event) -> Vec<Action> {
        match event {
            Event::Wanted => self.begin_if_wanted(),
            Event::AtRest { sent, received } => self.on_rest(sent, received),
            Event::Captured(version) if version == self.version => self.on_taken(true),
            Event::Kept { version, of, kept } => self.on_kept(version, of, kept),
            Event::Heard { from, word } => self.on_word(from, word),
            // After a loss all members are made anew.
            _ => Vec::new(),
        }
    }
}
