//! What every member has to know of the whole before it decides: how long all would take if the load were spread evenly, and how
//! many bytes its PE may take in. Only sums go through the job.

use crate::member::tree;
use crate::rng::scattered;
use talisman_pup::Pup;

use super::level::{Gather, Own, Totals};

/// What is known when it is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Known {
    /// Seconds that every PE would take with the load spread evenly, except those that take longer with what cannot leave them.
    pub level: f64,
    /// Seconds that the slowest PE takes now.
    pub longest: f64,
    /// Objects that have to leave their PEs, and may.
    pub homeless: u64,
    /// Bytes that objects may take on this PE beside those here; below zero if some have to go.
    pub room: i64,
    /// Another number in each step, and the same for all PEs.
    pub seed: u64,
}

impl Known {
    /// Whether it is not worth while to move anything.
    pub fn is_calm(&self, tolerance: f64) -> bool {
        self.homeless == 0 && self.longest <= self.level * (1.0 + tolerance)
    }
}

/// What members tell each other about it.
#[derive(Clone, Debug, PartialEq, Pup)]
pub(crate) enum Word {
    /// To the home of a node with a limit: what a PE of it holds.
    Holds { node: u32, memory: u64, bytes: u64 },
    /// From the home: it knows that.
    Noted,
    /// Up the tree.
    Up(Totals),
    /// Down the tree: count again with this level.
    Again { level: f64 },
    /// Down the tree: that is all.
    Known { level: f64, longest: f64, homeless: u64, seed: u64 },
    /// To the home of a node: how much room is left for this PE?
    Ask { node: u32 },
    /// From the home.
    Room { bytes: i64 },
}

/// A member's part in it.
#[derive(Debug)]
pub(crate) struct Census {
    pe: u32,
    pes: u32,
    own: Own,
    gather: Gather,
    rounds: u32,
    phase: Phase,
    /// At the home of a node: who holds how much of which. PEs of other nodes may have the same home.
    holders: Vec<Holder>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Registering,
    Counting,
    Asking(Known),
    Over,
}

#[derive(Clone, Copy, Debug)]
struct Holder {
    pe: u32,
    node: u32,
    memory: u64,
    bytes: u64,
}

/// Rounds of counting: each takes out PEs whose own work alone is above the level, which falls by that.
const ROUNDS_MAX: u32 = 5;

/// Why a word makes no sense here and now.
pub(crate) type Odd = &'static str;

impl Census {
    pub fn new(own: Own, pe: u32, pes: u32) -> Self {
        let gather = Gather::new(pe, pes);
        Census { pe, pes, own, gather, rounds: 0, phase: Phase::Registering, holders: Vec::new() }
    }

    /// Says the first words.
    pub fn begin(&mut self, say: &mut Vec<(u32, Word)>) -> Option<Known> {
        match self.own.limit {
            Some((node, memory)) => {
                say.push((self.home(node), Word::Holds { node, memory, bytes: self.own.bytes }));
                None
            }
            None => self.count(f64::INFINITY, say),
        }
    }

    /// Takes a word; what is known, as soon as it is.
    pub fn hear(&mut self, from: u32, word: Word, say: &mut Vec<(u32, Word)>) -> Result<Option<Known>, Odd> {
        match word {
            Word::Holds { node, memory, bytes } => {
                self.note(Holder { pe: from, node, memory, bytes })?;
                say.push((from, Word::Noted));
                Ok(None)
            }
            Word::Noted => match (self.phase, self.own.limit) {
                (Phase::Registering, Some((node, _))) if from == self.home(node) => {
                    Ok(self.count(f64::INFINITY, say))
                }
                _ => Err("nothing was to be noted"),
            },
            Word::Up(totals) => {
                self.gather.child(from, totals)?;
                Ok(self.pass_on(say))
            }
            Word::Again { level } => {
                self.check_from_above(from)?;
                self.tell_below(Word::Again { level }, say);
                Ok(self.count(level, say))
            }
            Word::Known { level, longest, homeless, seed } => {
                self.check_from_above(from)?;
                Ok(self.known(Known { level, longest, homeless, seed, room: i64::MAX }, say))
            }
            Word::Ask { node } => {
                say.push((from, Word::Room { bytes: self.room(node)? }));
                Ok(None)
            }
            Word::Room { bytes } => self.has_room(from, bytes).map(Some),
        }
    }

    /// The PE that counts what a node holds.
    fn home(&self, node: u32) -> u32 {
        node % self.pes
    }

    fn note(&mut self, holder: Holder) -> Result<(), Odd> {
        if self.home(holder.node) != self.pe || self.holders.iter().any(|known| known.pe == holder.pe) {
            return Err("this is not to be noted here, or not again");
        }
        self.holders.push(holder);
        Ok(())
    }

    /// An equal part of what is left in a node.
    fn room(&self, node: u32) -> Result<i64, Odd> {
        let of_node = || self.holders.iter().filter(|holder| holder.node == node);
        let memory = of_node().map(|holder| holder.memory).min().ok_or("nobody of this node is known")?;
        let held: u128 = of_node().map(|holder| u128::from(holder.bytes)).sum();
        let left = i128::from(memory) - i128::try_from(held).unwrap_or(i128::MAX);
        let share = left.div_euclid(of_node().count() as i128);
        Ok(share.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }

    fn count(&mut self, level: f64, say: &mut Vec<(u32, Word)>) -> Option<Known> {
        self.phase = Phase::Counting;
        self.rounds += 1;
        self.gather.own(self.own.totals(level));
        self.pass_on(say)
    }

    fn pass_on(&mut self, say: &mut Vec<(u32, Word)>) -> Option<Known> {
        let totals = self.gather.complete()?;
        if let Some(parent) = tree::parent(self.pe) {
            say.push((parent, Word::Up(totals)));
            return None;
        }
        let level = totals.level();
        if totals.floor > level && self.rounds < ROUNDS_MAX {
            self.tell_below(Word::Again { level }, say);
            return self.count(level, say);
        }
        let seed = scattered(level.to_bits() ^ scattered(totals.longest.to_bits()));
        let Totals { longest, homeless, .. } = totals;
        self.known(Known { level, longest, homeless, seed, room: i64::MAX }, say)
    }

    fn known(&mut self, known: Known, say: &mut Vec<(u32, Word)>) -> Option<Known> {
        let Known { level, longest, homeless, seed, .. } = known;
        self.tell_below(Word::Known { level, longest, homeless, seed }, say);
        match self.own.limit {
            Some((node, _)) => {
                self.phase = Phase::Asking(known);
                say.push((self.home(node), Word::Ask { node }));
                None
            }
            None => {
                self.phase = Phase::Over;
                Some(known)
            }
        }
    }

    fn has_room(&mut self, from: u32, bytes: i64) -> Result<Known, Odd> {
        match (self.phase, self.own.limit) {
            (Phase::Asking(known), Some((node, _))) if from == self.home(node) => {
                self.phase = Phase::Over;
                Ok(Known { room: bytes, ..known })
            }
            _ => Err("no room was asked for"),
        }
    }

    fn check_from_above(&self, from: u32) -> Result<(), Odd> {
        let counted = self.phase == Phase::Counting && self.gather.is_waiting_above();
        if tree::parent(self.pe) == Some(from) && counted {
            Ok(())
        } else {
            Err("that PE counts nothing here now")
        }
    }

    fn tell_below(&self, word: Word, say: &mut Vec<(u32, Word)>) {
        say.extend(tree::children(self.pe, self.pes).map(|child| (child, word.clone())));
    }
}
