//! A PE's part in a step.

use std::collections::BTreeMap;

use super::Diffusion;
use super::exchange::{Rounds, Side};
use crate::distributed::census::{Census, Known, Odd, Word};
use crate::distributed::holding::{Holding, Token};
use crate::distributed::level::Own;
use crate::distributed::stepping::Step;
use crate::member::{Action, Local};
use talisman_pup::{Pup, to_bytes};

#[derive(Debug, Pup)]
pub(crate) enum Note {
    Census(Word),
    /// To the neighbour of a round.
    Exchange {
        round: u32,
        what: Exchange,
    },
    /// To the owner of objects: these shall come.
    Wanted {
        numbers: Vec<u32>,
    },
}

#[derive(Clone, Debug, PartialEq, Pup)]
pub(crate) enum Exchange {
    /// What I have to do.
    Side(Side),
    /// From who is to be given objects: how many bytes may come.
    Room { bytes: i64 },
    /// The objects.
    Tokens(Vec<Token>),
}

/// A step that has begun.
pub(crate) struct DiffusionStep {
    strategy: Diffusion,
    pe: u32,
    rounds: Rounds,
    holding: Holding,
    census: Census,
    known: Option<Known>,
    /// The round that goes on, of all passes.
    round: u32,
    /// How it would be after the flows so far.
    side: Side,
    /// By dimension: load that should go to the neighbour there.
    flows: Vec<f64>,
    /// What neighbours said for this round and later ones. One says something in a round, or nobody.
    heard: BTreeMap<u32, Exchange>,
    finished: bool,
}

impl Step for DiffusionStep {
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
            Note::Exchange { round, what } => self.hear(from, round, what, actions),
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

impl DiffusionStep {
    pub(crate) fn new(strategy: Diffusion, pe: u32, pes: u32, local: &Local) -> Self {
        let own = Own::new(local);
        let rounds = Rounds::new(pes);
        let holding = Holding::new(local, &own);
        DiffusionStep {
            strategy,
            pe,
            rounds,
            census: Census::new(own, pe, pes),
            known: None,
            round: 0,
            side: Side::of(&holding),
            holding,
            flows: vec![0.0; rounds.dimensions() as usize],
            heard: BTreeMap::new(),
            finished: false,
        }
    }

    fn say(&mut self, words: Vec<(u32, Word)>, known: Option<Known>, actions: &mut Vec<Action>) {
        words.into_iter().for_each(|(to, word)| send(to, Note::Census(word), actions));
        if let Some(known) = known {
            self.known = Some(known);
            self.holding.limit(known.room);
            if known.is_calm(self.strategy.tolerance) || self.last() == 0 {
                self.finish(actions);
            } else {
                self.open(actions);
                self.go_on(actions);
            }
        }
    }

    /// Rounds of all passes.
    fn last(&self) -> u32 {
        self.rounds.count().saturating_mul(self.strategy.passes)
    }

    fn hear(&mut self, from: u32, round: u32, what: Exchange, actions: &mut Vec<Action>) -> Result<(), Odd> {
        let neighbour = if round < self.last() { self.rounds.neighbour(self.pe, round) } else { None };
        if neighbour != Some(from) || round < self.round || self.finished || self.heard.contains_key(&round) {
            return Err("that exchange is not due");
        }
        let fits = match &what {
            Exchange::Side(side) => side.is_sound() && !self.rounds.is_of_objects(round),
            Exchange::Room { .. } | Exchange::Tokens(_) => self.rounds.is_of_objects(round),
        };
        if !fits {
            return Err("that is not what is exchanged in this round");
        }
        self.heard.insert(round, what);
        if self.known.is_some() {
            self.go_on(actions);
        }
        Ok(())
    }

    /// Says what is to be said at the beginning of a round.
    fn open(&mut self, actions: &mut Vec<Action>) {
        if self.round.is_multiple_of(self.rounds.count()) {
            self.side = Side::of(&self.holding);
            self.flows.fill(0.0);
        }
        let Some(to) = self.rounds.neighbour(self.pe, self.round) else { return };
        if !self.rounds.is_of_objects(self.round) {
            self.exchange(to, Exchange::Side(self.side), actions);
        } else if self.flow() < 0.0 {
            self.exchange(to, Exchange::Room { bytes: self.holding.room() }, actions);
        }
    }

    /// Ends rounds for which all is there.
    fn go_on(&mut self, actions: &mut Vec<Action>) {
        while self.round < self.last() && self.close(actions) {
            self.round += 1;
            if self.round < self.last() {
                self.open(actions);
            }
        }
        if self.round == self.last() && !self.finished {
            self.finish(actions);
        }
    }

    /// Whether the round is over.
    fn close(&mut self, actions: &mut Vec<Action>) -> bool {
        let Some(to) = self.rounds.neighbour(self.pe, self.round) else { return true };
        let of_objects = self.rounds.is_of_objects(self.round);
        if of_objects && self.flow() == 0.0 {
            return true;
        }
        match self.heard.remove(&self.round) {
            None => return false,
            Some(Exchange::Side(other)) => {
                let flow = self.flow_to(to, &other);
                self.side.gives(flow);
                self.flows[self.rounds.dimension(self.round) as usize] += flow;
            }
            Some(Exchange::Room { bytes }) => {
                let tokens = self.chosen(bytes);
                tokens.iter().for_each(|token| self.holding.left(token));
                self.exchange(to, Exchange::Tokens(tokens), actions);
            }
            Some(Exchange::Tokens(tokens)) => tokens.into_iter().for_each(|token| {
                // A token that makes no sense stands for no object, so nothing is lost with it.
                let _ = self.holding.comes(token);
            }),
        }
        true
    }

    /// Reckoned from the side of the lower number by both, so that they come to the same to the bit.
    fn flow_to(&self, to: u32, other: &Side) -> f64 {
        if self.pe < to { self.side.flow_to(other) } else { -other.flow_to(&self.side) }
    }

    /// What should flow in this round, unless it is too little.
    fn flow(&self) -> f64 {
        let flow = self.flows[self.rounds.dimension(self.round) as usize];
        // Both neighbours know the same level and the same flow, so both leave out the same.
        let least = self.known.map_or(0.0, |known| known.level) * self.strategy.tolerance / 4.0;
        if flow.abs() <= least && self.known.is_some_and(|known| known.homeless == 0) { 0.0 } else { flow }
    }

    /// Objects that match the flow.
    fn chosen(&mut self, mut room: i64) -> Vec<Token> {
        let available = self.holding.place.available;
        let mut left = self.flow();
        self.holding.take(|token| {
            // One that overshoots by less than it leaves is the better match.
            let matches =
                token.load <= left || (token.load - left < left && token.load - left < token.load / 4.0);
            let fits = i64::try_from(token.bytes).is_ok_and(|bytes| bytes <= room);
            let goes = fits && (!available || left > 0.0 && matches);
            if goes {
                left -= token.load;
                room -= token.bytes as i64;
            }
            goes
        })
    }

    fn exchange(&self, to: u32, what: Exchange, actions: &mut Vec<Action>) {
        send(to, Note::Exchange { round: self.round, what }, actions);
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
    use crate::strategies::Diffusion;

    #[test]
    fn steps_end_with_a_valid_plan_in_any_order() {
        for seed in 0..300 {
            let snapshot = machine(1 + seed as u32 % 40, 200, seed);
            let jumbled = jumbled(&Diffusion::default(), &snapshot, seed, Strangers::None);
            assert_eq!(jumbled.refused(), None);
        }
    }

    #[test]
    fn the_plan_does_not_depend_on_the_order() {
        for seed in 0..30 {
            let snapshot = machine(20, 200, seed);
            let plans =
                [1, 2].map(|order| jumbled(&Diffusion::default(), &snapshot, order, Strangers::None).plan);
            assert_eq!(plans[0], plans[1]);
        }
    }

    #[test]
    fn notes_of_strangers_are_left_out_and_told_of() {
        let mut told = 0;
        for seed in 0..100 {
            let snapshot = machine(12, 100, seed);
            let jumbled = jumbled(&Diffusion::default(), &snapshot, seed, Strangers::Garbage);
            told += usize::from(jumbled.refused().is_some());
            crate::distributed::jumble::jumbled(&Diffusion::default(), &snapshot, seed, Strangers::Copies);
        }
        assert!(told > 50, "{told}");
    }
}
