//! What was measured, and its medians.

use std::collections::BTreeMap;

use talisman::prelude::*;

/// What two PEs took for messages, one way (ns).
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub struct Ours {
    /// A small one, to and fro.
    pub to_and_fro: f64,
    /// A large one of a stream.
    pub block: f64,
}

impl Ours {
    /// What could not be measured.
    pub const UNKNOWN: Ours = Ours { to_and_fro: f64::NAN, block: f64::NAN };
}

/// What all rounds measured.
#[derive(Default, Pup)]
pub struct Figures {
    /// Steps in a microsecond, of one PE while the others have nothing to do.
    alone: Vec<f64>,
    /// The same while all compute, by PE.
    at_once: BTreeMap<u32, Vec<f64>>,
    /// Bytes in a nanosecond that PEs copy, all at once, by PE.
    copied: BTreeMap<u32, Vec<f64>>,
    /// Ours and the limit's, by pair.
    pairs: BTreeMap<usize, Vec<(Ours, Ours)>>,
    /// Why there is no limit of a pair.
    refused: BTreeMap<usize, String>,
    /// Broadcasts and reductions (ns).
    pub broadcasts: Vec<f64>,
    /// Checkpoints (ns).
    pub checkpoints: Vec<f64>,
}

impl Figures {
    pub fn of_processors(&mut self, alone: f64, at_once: Vec<(u32, f64)>, copied: Vec<(u32, f64)>) {
        self.alone.push(alone);
        at_once.into_iter().for_each(|(pe, speed)| self.at_once.entry(pe).or_default().push(speed));
        copied.into_iter().for_each(|(pe, speed)| self.copied.entry(pe).or_default().push(speed));
    }

    pub fn of_pair(&mut self, number: usize, ours: Ours, limit: Ours) {
        self.pairs.entry(number).or_default().push((ours, limit));
    }

    /// Why a pair has no limit, if there is a reason.
    pub fn of_refused(&mut self, number: usize, why: String) {
        if !why.is_empty() {
            self.refused.insert(number, why);
        }
    }

    pub fn speed_alone(&self) -> f64 {
        median(self.alone.iter().copied())
    }

    /// Of each PE while all compute.
    pub fn speeds(&self) -> Vec<(u32, f64)> {
        self.at_once.iter().map(|(pe, speeds)| (*pe, median(speeds.iter().copied()))).collect()
    }

    /// Of these PEs together.
    pub fn copied(&self, pes: &[u32]) -> f64 {
        pes.iter().filter_map(|pe| self.copied.get(pe)).map(|all| median(all.iter().copied())).sum()
    }

    /// A pair's messages, and the limit.
    pub fn pair(&self, number: usize) -> (Ours, Ours) {
        let all = self.pairs.get(&number).map_or(&[][..], Vec::as_slice);
        let of = |which: fn(&(Ours, Ours)) -> f64| median(all.iter().map(which));
        (
            Ours { to_and_fro: of(|(ours, _)| ours.to_and_fro), block: of(|(ours, _)| ours.block) },
            Ours { to_and_fro: of(|(_, limit)| limit.to_and_fro), block: of(|(_, limit)| limit.block) },
        )
    }

    pub fn refused(&self) -> impl Iterator<Item = (usize, &str)> {
        self.refused.iter().map(|(pair, why)| (*pair, why.as_str()))
    }
}

/// The one in the middle; not a number if there is none, or any is none.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = values.collect();
    if all.is_empty() || all.iter().any(|value| value.is_nan()) {
        return f64::NAN;
    }
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}
