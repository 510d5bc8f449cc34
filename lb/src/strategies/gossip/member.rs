//! A PE's part in a step.

use super::Gossip;
use super::give::{Gift, gifts};
use super::rumour::{Peer, Rumours};
use crate::distributed::census::{Census, Known, Odd, Word};
use crate::distributed::holding::{Holding, Token};
use crate::distributed::level::{Gather, Own, Totals};
use crate::distributed::stepping::Step;
use crate::member::{Action, Local, tree};
use crate::rng::{Rng, scattered};
use talisman_pup::{Pup, to_bytes};

#[derive(Debug, Pup)]
pub(crate) enum Note {
    Census(Word),
    /// To the next one of a round: PEs with room.
    Rumour {
        pass: u32,
        round: u32,
        known: Vec<Peer>,
    },
    /// To a PE with room: objects for it.
    Offer {
        pass: u32,
        limit: f64,
        tokens: Vec<Token>,
    },
    /// Back: those that it does not take, by their places in the offer, and what it has to do now.
    Answer {
        pass: u32,
        refused: Vec<u32>,
        work: f32,
        room: i64,
    },
    /// Up the tree: a pass is over there. How it is now.
    Up {
        pass: u32,
        totals: Totals,
    },
    /// Down the tree: the next pass begins, or none.
    Next {
        pass: u32,
        last: bool,
    },
    /// To the owner of objects: these shall come.
    Wanted {
        numbers: Vec<u32>,
    },
}

/// A step that has begun.
pub(crate) struct GossipStep {
    strategy: Gossip,
    pe: u32,
    pes: u32,
    host: u32,
    holding: Holding,
    census: Census,
    /// What it ended with.
    known: Option<Known>,
    /// The passes begun, none while the census goes on.
    passes: u32,
    /// Notes of the next pass that were faster than its beginning.
    early: Vec<(u32, Note)>,
    rumours: Rumours,
    /// Other PEs with room, as far as heard of in this pass.
    peers: Vec<Peer>,
    /// Times that it offered in this pass.
    attempts: u32,
    /// Seconds of the slowest PE among those that took something from this one in this pass, then.
    longest_taker: f64,
    /// Offers that are not answered.
    offers: Vec<(u32, Vec<Token>)>,
    gather: Gather,
    progress: Progress,
    finished: bool,
}

/// At PE 0: whether passes still help.
#[derive(Debug)]
struct Progress {
    longest: f64,
    stalled: u32,
}

/// A pass helps if the slowest PE is faster by this part.
const WORTH_IT: f64 = 0.005;

/// Passes in a row that may help nobody: by chance one does.
const STALLED_MAX: u32 = 2;

/// Many may offer to the same PE at once. Who is refused knows better then, and tries others so many times in all before the next pass.
const ATTEMPTS_MAX: u32 = 5;

/// From this one on, objects that nobody lacks go to who has the least to do. Sooner, all would turn to the same few.
const ATTEMPT_ANYHOW: u32 = 3;

impl Step for GossipStep {
    type Note = Note;

    fn begin(&mut self, actions: &mut Vec<Action>) {
        let mut say = Vec::new();
        let known = self.census.begin(&mut say);
        self.say(say, known, actions);
    }

    fn note(&mut self, from: u32, note: Note, actions: &mut Vec<Action>) -> Result<(), Odd> {
        match note {
            Note::Census(word) => {
                let mut say = Vec::new();
                let known = self.census.hear(from, word, &mut say)?;
                self.say(say, known, actions);
                Ok(())
            }
            Note::Rumour { pass, .. } | Note::Offer { pass, .. } if pass == self.passes && !self.finished => {
                self.early.push((from, note));
                Ok(())
            }
            Note::Rumour { pass, .. }
            | Note::Offer { pass, .. }
            | Note::Answer { pass, .. }
            | Note::Up { pass, .. }
                if pass.checked_add(1) != Some(self.passes) || self.finished =>
            {
                Err("that pass is not now")
            }
            Note::Rumour { round, known, .. } => self.rumour(from, round, known, actions),
            Note::Offer { limit, tokens, .. } => self.offer(from, limit, tokens, actions),
            Note::Answer { refused, work, room, .. } => {
                let waited = !self.offers.is_empty();
                let taken = self.answer(from, &refused, work, room);
                if waited && self.offers.is_empty() {
                    self.attempt(actions);
                }
                taken
            }
            Note::Up { totals, .. } => {
                self.gather.child(from, totals)?;
                self.pass_on(actions);
                Ok(())
            }
            Note::Next { pass, last } => self.next(from, pass, last, actions),
            Note::Wanted { numbers } => self.holding.settle(&numbers, from, actions),
        }
    }

    fn is_finished(&self) -> bool {
        self.finished
    }

    fn holding(&self) -> &Holding {
        &self.holding
    }
}

impl GossipStep {
    pub(crate) fn new(strategy: Gossip, pe: u32, pes: u32, local: &Local) -> Self {
        let own = Own::new(local);
        GossipStep {
            strategy,
            pe,
            pes,
            host: local.node.host,
            holding: Holding::new(local, &own),
            census: Census::new(own, pe, pes),
            known: None,
            passes: 0,
            early: Vec::new(),
            rumours: Rumours::default(),
            peers: Vec::new(),
            attempts: 0,
            longest_taker: 0.0,
            offers: Vec::new(),
            gather: Gather::new(pe, pes),
            progress: Progress { longest: f64::INFINITY, stalled: 0 },
            finished: false,
        }
    }

    fn say(&mut self, words: Vec<(u32, Word)>, known: Option<Known>, actions: &mut Vec<Action>) {
        words.into_iter().for_each(|(to, word)| send(to, Note::Census(word), actions));
        if let Some(known) = known {
            self.known = Some(known);
            self.holding.limit(known.room);
            let calm = known.is_calm(self.strategy.tolerance) || self.pes == 1 || self.strategy.passes == 0;
            if calm { self.finish(actions) } else { self.pass(actions) }
        }
    }

    fn level(&self) -> f64 {
        self.known.map_or(0.0, |known| known.level)
    }

    /// Begins the next pass.
    fn pass(&mut self, actions: &mut Vec<Action>) {
        let seed = self.known.map_or(0, |known| known.seed);
        self.rumours = Rumours::new(seed, self.passes, self.pes, self.own_rumour());
        self.longest_taker = 0.0;
        self.passes += 1;
        self.tell(actions);
        for (from, note) in std::mem::take(&mut self.early) {
            // What was let in early made sense then; what does not now came from a stranger.
            let _ = self.note(from, note, actions);
        }
    }

    fn own_rumour(&self) -> Option<Peer> {
        let place = self.holding.place;
        let has_room = place.available && self.holding.seconds() <= self.level();
        has_room.then(|| Peer {
            pe: self.pe,
            host: self.host,
            work: (self.holding.seconds() * place.speed) as f32,
            speed: place.speed as f32,
            room: self.holding.room(),
        })
    }

    /// How it is at the end of a pass. A PE may still take something after it has told this; who gives it tells that then.
    fn totals(&self) -> Totals {
        let seconds = if self.holding.movable() > 0.0 { self.holding.seconds() } else { 0.0 };
        let (longest, homeless) = match self.holding.place.available {
            true => (seconds.max(self.longest_taker), 0),
            false => (self.longest_taker, self.holding.count() as u64),
        };
        Totals { longest, homeless, ..Totals::default() }
    }

    fn tell(&mut self, actions: &mut Vec<Action>) {
        match self.rumours.to(self.pe, self.pes) {
            Some((round, to)) => {
                let (pass, known) = (self.passes - 1, self.rumours.known.clone());
                send(to, Note::Rumour { pass, round, known }, actions);
            }
            None => self.give(actions),
        }
    }

    fn rumour(
        &mut self,
        from: u32,
        round: u32,
        known: Vec<Peer>,
        actions: &mut Vec<Action>,
    ) -> Result<(), Odd> {
        if !self.rumours.is_due(from, self.pe, self.pes, round) {
            return Err("that rumour is not due");
        }
        if known.iter().any(|peer| peer.pe >= self.pes || !(peer.speed > 0.0 && peer.work >= 0.0)) {
            return Err("that rumour is of no PE");
        }
        self.rumours.hear(round, known);
        while self.rumours.go_on() {
            self.tell(actions);
        }
        Ok(())
    }

    /// All is heard: offers objects to others.
    fn give(&mut self, actions: &mut Vec<Action>) {
        let pe = self.pe;
        self.peers = std::mem::take(&mut self.rumours.known);
        self.peers.retain(|peer| peer.pe != pe);
        self.attempts = 0;
        self.attempt(actions);
    }

    fn attempt(&mut self, actions: &mut Vec<Action>) {
        self.attempts += 1;
        if self.has_too_much() && !self.peers.is_empty() && self.attempts <= ATTEMPTS_MAX {
            let (seed, level) = (self.known.map_or(0, |known| known.seed), self.level());
            let attempt = self.passes.wrapping_mul(ATTEMPTS_MAX + 1) + self.attempts;
            let mut rng = Rng::new(seed ^ scattered(u64::from(self.pe) << 32 | u64::from(attempt)));
            let gifts = gifts(
                &mut self.holding,
                self.host,
                level,
                &self.peers,
                self.attempts >= ATTEMPT_ANYHOW,
                &mut rng,
            );
            // Passes end when all are within the tolerance, so what is well within it is taken.
            let enough = level * (1.0 + self.strategy.tolerance * 0.75);
            for Gift { to, limit, tokens } in gifts {
                let limit = limit.max(enough);
                send(to, Note::Offer { pass: self.passes - 1, limit, tokens: tokens.clone() }, actions);
                self.offers.push((to, tokens));
            }
        }
        if self.offers.is_empty() {
            self.peers = Vec::new();
            self.gather.own(self.totals());
            self.pass_on(actions);
        }
    }

    /// More than half of what is tolerated above the level, so that passes end soon.
    fn has_too_much(&self) -> bool {
        let enough = self.level() * (1.0 + self.strategy.tolerance / 2.0);
        if self.holding.place.available { self.holding.seconds() > enough } else { self.holding.count() > 0 }
    }

    fn offer(
        &mut self,
        from: u32,
        limit: f64,
        tokens: Vec<Token>,
        actions: &mut Vec<Action>,
    ) -> Result<(), Odd> {
        let mut refused = Vec::new();
        for (place, token) in (0..).zip(tokens) {
            let seconds = self.holding.place.seconds(self.holding.load() + token.load);
            let takes = seconds <= limit && self.holding.fits(&token);
            if !takes || self.holding.comes(token).is_err() {
                refused.push(place);
            }
        }
        let work = (self.holding.seconds() * self.holding.place.speed) as f32;
        send(from, Note::Answer { pass: self.passes - 1, refused, work, room: self.holding.room() }, actions);
        Ok(())
    }

    fn answer(&mut self, from: u32, refused: &[u32], work: f32, room: i64) -> Result<(), Odd> {
        let offer = self.offers.iter().position(|(to, _)| *to == from).ok_or("nothing was offered")?;
        let (_, tokens) = self.offers.swap_remove(offer);
        if let Some(peer) = self.peers.iter_mut().find(|peer| peer.pe == from) {
            peer.work = if work >= 0.0 { work } else { f32::MAX };
            peer.room = room;
            self.longest_taker = self.longest_taker.max(f64::from(peer.work / peer.speed));
        }
        // What is refused comes back, and needs the bytes again that it had.
        tokens.iter().for_each(|token| self.holding.left(token));
        let mut last = None;
        for place in refused {
            let token = tokens.get(*place as usize).filter(|_| last < Some(place));
            last = Some(place);
            self.holding.comes(*token.ok_or("that was not offered")?)?;
        }
        Ok(())
    }

    fn pass_on(&mut self, actions: &mut Vec<Action>) {
        let Some(totals) = self.gather.complete() else { return };
        let pass = self.passes - 1;
        match tree::parent(self.pe) {
            Some(parent) => send(parent, Note::Up { pass, totals }, actions),
            None => {
                let last = !self.helps(&totals) || self.passes >= self.strategy.passes;
                self.go_on(last, actions);
            }
        }
    }

    /// At PE 0: whether there should be another pass, from how it is after the last one.
    fn helps(&mut self, after: &Totals) -> bool {
        let helped = after.longest < self.progress.longest * (1.0 - WORTH_IT);
        self.progress.stalled = if helped { 0 } else { self.progress.stalled + 1 };
        self.progress.longest = self.progress.longest.min(after.longest);
        let even = after.longest <= self.level() * (1.0 + self.strategy.tolerance);
        (after.homeless > 0 || !even) && self.progress.stalled < STALLED_MAX
    }

    fn next(&mut self, from: u32, pass: u32, last: bool, actions: &mut Vec<Action>) -> Result<(), Odd> {
        let due = pass == self.passes && self.passes > 0 && self.gather.is_waiting_above() && !self.finished;
        if tree::parent(self.pe) != Some(from) || !due {
            return Err("that PE begins no pass now");
        }
        self.go_on(last, actions);
        Ok(())
    }

    fn go_on(&mut self, last: bool, actions: &mut Vec<Action>) {
        for child in tree::children(self.pe, self.pes) {
            send(child, Note::Next { pass: self.passes, last }, actions);
        }
        if last { self.finish(actions) } else { self.pass(actions) }
    }

    /// No token moves any more: tells whose objects are to come.
    fn finish(&mut self, actions: &mut Vec<Action>) {
        self.finished = true;
        for (to, numbers) in self.holding.wanted() {
            send(to, Note::Wanted { numbers }, actions);
        }
    }
}

fn send(to: u32, note: Note, actions: &mut Vec<Action>) {
    actions.push(Action::Send { to, note: to_bytes(&note) });
}

#[cfg(test)]
mod tests {
    use crate::distributed::jumble::{Strangers, jumbled, machine};
    use crate::strategies::Gossip;

    #[test]
    fn steps_end_with_a_valid_plan_in_any_order() {
        for seed in 0..300 {
            let snapshot = machine(1 + seed as u32 % 40, 200, seed);
            let jumbled = jumbled(&Gossip::default(), &snapshot, seed, Strangers::None);
            assert_eq!(jumbled.refused(), None);
        }
    }

    #[test]
    fn notes_of_strangers_are_left_out_and_told_of() {
        let mut told = 0;
        for seed in 0..100 {
            let snapshot = machine(12, 100, seed);
            told += usize::from(
                jumbled(&Gossip::default(), &snapshot, seed, Strangers::Garbage).refused().is_some(),
            );
            jumbled(&Gossip::default(), &snapshot, seed, Strangers::Copies);
        }
        assert!(told > 50, "{told}");
    }
}
