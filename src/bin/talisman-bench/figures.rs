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

/// What a PE has copied in a round, by the clock of its host.
#[derive(Clone, Copy, Debug, Pup)]
pub struct Copied {
    pub pe: u32,
    pub bytes: f64,
    pub began_ns: u64,
    pub ended_ns: u64,
}

/// What all rounds measured.
#[derive(Default, Pup)]
pub struct Figures {
    /// Steps in a microsecond, of one PE while the others have nothing to do.
    alone: Vec<f64>,
    /// The same while all compute, by PE.
    at_once: BTreeMap<u32, Vec<f64>>,
    /// What PEs have copied, all at once, by round.
    copied: Vec<Vec<Copied>>,
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
    pub fn of_processors(&mut self, alone: f64, at_once: Vec<(u32, f64)>, copied: Vec<Copied>) {
        self.alone.push(alone);
        at_once.into_iter().for_each(|(pe, speed)| self.at_once.entry(pe).or_default().push(speed));
        self.copied.push(copied);
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

    /// Bytes in a nanosecond that these PEs of a host copy together, from when the first began until the last had ended.
    pub fn copied(&self, pes: &[u32]) -> f64 {
        median(self.copied.iter().map(|round| {
            let of_host = || round.iter().filter(|copied| pes.contains(&copied.pe));
            let began = of_host().map(|copied| copied.began_ns).min().unwrap_or(0);
            let ended = of_host().map(|copied| copied.ended_ns).max().unwrap_or(0);
            of_host().map(|copied| copied.bytes).sum::<f64>() / ended.saturating_sub(began) as f64
        }))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pes_that_take_turns_copy_no_more_than_one() {
        let copied = |pe, began_ns| Copied { pe, bytes: 1_000.0, began_ns, ended_ns: began_ns + 100 };
        let mut figures = Figures::default();
        figures.of_processors(1.0, Vec::new(), vec![copied(0, 50), copied(1, 150), copied(2, 0)]);
        assert_eq!(figures.copied(&[0, 1]), 10.0);
        assert_eq!(figures.copied(&[2]), 10.0);
    }
}
