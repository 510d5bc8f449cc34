//! Who has which object while members still pass them on, before any really moves.
//!
//! What is passed on are tokens. When its member has decided, a PE tells the owners of the tokens it has that it wants their objects;
//! an owner has decided when it knows that of all tokens it gave away. So an object moves once, however often its token did.

use super::census::Odd;
use super::level::Own;
use crate::member::place::Place;
use crate::member::{Action, Local};
use crate::snapshot::Key;
use talisman_pup::Pup;

/// Stands for an object that may move.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub(crate) struct Token {
    /// The PE where the object is.
    pub origin: u32,
    /// Its number there.
    pub number: u32,
    /// Its load.
    pub load: f64,
    /// Bytes that it takes.
    pub bytes: u64,
}

/// What a PE has, tokens for objects.
#[derive(Debug)]
pub(crate) struct Holding {
    pe: u32,
    pes: u32,
    pub place: Place,
    /// Load of objects that stay.
    fixed: f64,
    /// Those of its own objects, by number.
    keys: Vec<Key>,
    /// By number: whether others have its token.
    away: Vec<bool>,
    away_count: usize,
    tokens: Vec<Token>,
    /// Tokens of other PEs among these.
    guests: usize,
    load: f64,
    /// Bytes that may still come.
    room: i64,
}

/// Objects that have to leave their PE are never so light that nobody notices them.
const LEAST: f64 = 1e-12;

impl Holding {
    /// A PE with its own objects. How much room it has is known later.
    pub fn new(local: &Local, own: &Own) -> Self {
        let movable = (0..).zip(&local.objects).filter(|(_, object)| object.migratable);
        let tokens = movable.map(|(number, object)| Token {
            origin: local.number,
            number,
            load: if own.place.available { object.work() } else { object.work().max(LEAST) },
            bytes: object.bytes,
        });
        let mut holding = Holding {
            pe: local.number,
            pes: local.pes,
            place: own.place,
            fixed: own.fixed,
            keys: local.objects.iter().map(|object| object.key).collect(),
            away: vec![false; local.objects.len()],
            away_count: 0,
            guests: 0,
            tokens: tokens.collect(),
            load: 0.0,
            room: i64::MAX,
        };
        holding.load = holding.tokens.iter().map(|token| token.load).sum();
        holding
    }

    /// From now on, no more than so many bytes come in than go.
    pub fn limit(&mut self, room: i64) {
        self.room = room;
    }

    /// Bytes that may still come.
    pub fn room(&self) -> i64 {
        self.room
    }

    /// Load of all objects here.
    pub fn load(&self) -> f64 {
        self.fixed + self.load
    }

    /// Load of objects here that may go.
    pub fn movable(&self) -> f64 {
        self.load
    }

    /// Seconds that it would take as it is now.
    pub fn seconds(&self) -> f64 {
        self.place.seconds(self.load())
    }

    /// How many objects it has descriptions of.
    pub fn held(&self) -> usize {
        self.keys.len() + self.guests
    }

    /// How many objects are here that may go.
    pub fn count(&self) -> usize {
        self.tokens.len()
    }

    /// Takes out the tokens that `choose` wants; it is shown all, those of the most load first.
    pub fn take(&mut self, mut choose: impl FnMut(&Token) -> bool) -> Vec<Token> {
        self.tokens.sort_unstable_by(|a, b| {
            b.load.total_cmp(&a.load).then((a.origin, a.number).cmp(&(b.origin, b.number)))
        });
        let mut taken = Vec::new();
        self.tokens.retain(|token| {
            let wanted = choose(token);
            taken.extend(wanted.then_some(*token));
            !wanted
        });
        taken.iter().for_each(|token| self.gone(token));
        self.load = self.tokens.iter().map(|token| token.load).sum();
        taken
    }

    fn gone(&mut self, token: &Token) {
        self.room = self.room.saturating_add_unsigned(token.bytes);
        if token.origin == self.pe {
            self.away[token.number as usize] = true;
            self.away_count += 1;
        } else {
            self.guests -= 1;
        }
    }

    /// Whether a token may come in.
    pub fn fits(&self, token: &Token) -> bool {
        self.place.available && i64::try_from(token.bytes).is_ok_and(|bytes| bytes <= self.room)
    }

    /// A token comes in, or one that had gone comes back.
    pub fn comes(&mut self, token: Token) -> Result<(), Odd> {
        if token.origin >= self.pes || !token.load.is_finite() || token.load < 0.0 {
            return Err("there is no such object");
        }
        if token.origin == self.pe {
            self.is_back(token.number)?;
        } else {
            self.guests += 1;
        }
        self.load += token.load;
        self.room = self.room.saturating_sub_unsigned(token.bytes);
        self.tokens.push(token);
        Ok(())
    }

    /// By origin, the numbers of the tokens of others that are here: these objects shall come.
    pub fn wanted(&mut self) -> Vec<(u32, Vec<u32>)> {
        let pe = self.pe;
        let mut wanted: Vec<(u32, Vec<u32>)> = Vec::new();
        self.guests = 0;
        self.tokens.retain(|token| token.origin != pe);
        self.tokens.sort_unstable_by_key(|token| (token.origin, token.number));
        for token in std::mem::take(&mut self.tokens) {
            match wanted.last_mut() {
                Some((origin, numbers)) if *origin == token.origin => numbers.push(token.number),
                _ => wanted.push((token.origin, vec![token.number])),
            }
        }
        wanted
    }

    /// Objects of this PE shall go to another.
    pub fn settle(&mut self, numbers: &[u32], to: u32, actions: &mut Vec<Action>) -> Result<(), Odd> {
        if to == self.pe {
            return Err("an object is wanted where it is");
        }
        for number in numbers {
            self.is_back(*number)?;
            actions.push(Action::Move { object: self.keys[*number as usize], to });
        }
        Ok(())
    }

    /// Whether the place of all its objects is known.
    pub fn is_settled(&self) -> bool {
        self.away_count == 0
    }

    fn is_back(&mut self, number: u32) -> Result<(), Odd> {
        let away = self.away.get_mut(number as usize).filter(|away| **away);
        *away.ok_or("that object was not given away")? = false;
        self.away_count -= 1;
        Ok(())
    }
}
