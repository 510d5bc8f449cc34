//! What goes wrong on the way, by rates or on order.

use std::collections::{BTreeMap, VecDeque};

use super::chunk::Cargo;
use super::ways::Way;
use crate::plan::Rates;
use talisman_base::rng::Rng;

/// When what was lost is sent again; after a second loss it takes twice as long, and so on. Linux waits no less.
const RESENT_AFTER_NS: u64 = 200_000_000;
/// More often nothing is lost in a row: three seconds are long enough to find out what a delay does.
const LOST_IN_A_ROW_MAX: u32 = 4;
const MILLION: u64 = 1_000_000;

/// What becomes of a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fate {
    /// How often it is lost before it arrives.
    lost: u32,
    /// Whether it comes twice.
    pub(super) doubled: bool,
    pub(super) harm: Option<Harm>,
    /// Where it is hurt: any number.
    pub(super) spot: u64,
    /// Whether the harm came by rates.
    by_rate: bool,
}

/// What a connection does not hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harm {
    /// A bit is another one.
    Altered,
    /// Only its beginning arrives, then the connection breaks.
    Truncated,
    /// It arrives, then the connection breaks.
    Reset,
}

impl Fate {
    /// By how much it is late for having been lost.
    pub(super) fn delay_ns(&self) -> u64 {
        RESENT_AFTER_NS * ((1 << self.lost) - 1)
    }

    /// The faults by rates in it.
    pub(super) fn notes(&self) -> impl Iterator<Item = &'static str> {
        let harm = self.harm.filter(|_| self.by_rate).map(|harm| match harm {
            Harm::Altered => "altered",
            Harm::Truncated => "truncated",
            Harm::Reset => "reset",
        });
        let lost = (self.lost > 0).then_some("lost");
        lost.into_iter().chain(self.doubled.then_some("doubled")).chain(harm)
    }
}

/// Who decides on fates.
pub(super) struct Harms {
    rates: Rates,
    rng: Rng,
    /// A generator of its own, so that an order leaves what comes by rates where it was.
    spots: Rng,
    /// What is to happen to the next bytes from a node to another; never none.
    ordered: BTreeMap<(u32, u32), VecDeque<Harm>>,
}

impl Harms {
    pub(super) fn new(rates: Rates, mut rng: Rng) -> Self {
        Harms { rates, spots: Rng::new(rng.next_u64()), rng, ordered: BTreeMap::new() }
    }

    pub(super) fn alter_next(&mut self, from: u32, to: u32) {
        self.ordered.entry((from, to)).or_default().push_back(Harm::Altered);
    }

    pub(super) fn truncate_next(&mut self, from: u32, to: u32) {
        self.ordered.entry((from, to)).or_default().push_back(Harm::Truncated);
    }

    pub(super) fn heal(&mut self) {
        self.rates = Rates::default();
        self.ordered.clear();
    }

    /// Other rates from now on.
    #[cfg(test)]
    pub(super) fn set_rates(&mut self, rates: Rates) {
        self.rates = rates;
    }

    /// What becomes of a chunk. Words of the systems are too short to be hurt, but may be lost.
    pub(super) fn fate(&mut self, way: Way, cargo: &Cargo) -> Fate {
        let mut fate = if self.rates == Rates::default() { Fate::default() } else { self.by_rates() };
        if !matches!(cargo, Cargo::Bytes(_)) {
            fate.harm = None;
        } else if !self.ordered.is_empty() {
            self.fill_order(way, &mut fate);
        }
        fate
    }

    /// How much later a message of a control connection arrives. It draws from the generator of those connections.
    pub(super) fn control_delay_ns(&self, rng: &mut Rng) -> u64 {
        Fate { lost: self.times_lost(rng.unit_f64()), ..Fate::default() }.delay_ns()
    }

    /// As many draws for each chunk, whatever the rates: with one rate less, the other faults stay where they were.
    fn by_rates(&mut self) -> Fate {
        let drawn = self.rng.unit_f64();
        let lost = self.times_lost(drawn);
        let doubled = self.comes(self.rates.doubled_ppm);
        let altered = self.comes(self.rates.altered_ppm).then_some(Harm::Altered);
        let truncated = self.comes(self.rates.truncated_ppm).then_some(Harm::Truncated);
        let reset = self.comes(self.rates.reset_ppm).then_some(Harm::Reset);
        let harm = truncated.or(reset).or(altered);
        Fate { lost, doubled, harm, spot: self.rng.next_u64(), by_rate: true }
    }

    /// One draw tells how many losses there are in a row.
    fn times_lost(&self, drawn: f64) -> u32 {
        let rate = f64::from(self.rates.lost_ppm) / MILLION as f64;
        (0..LOST_IN_A_ROW_MAX).take_while(|&times| drawn < rate.powi(times as i32 + 1)).count() as u32
    }

    fn comes(&mut self, ppm: u32) -> bool {
        self.rng.below(MILLION) < u64::from(ppm)
    }

    fn fill_order(&mut self, way: Way, fate: &mut Fate) {
        let pair = (way.from, way.to);
        let Some(orders) = self.ordered.get_mut(&pair) else { return };
        fate.harm = orders.pop_front();
        fate.spot = self.spots.next_u64();
        fate.by_rate = false;
        if orders.is_empty() {
            self.ordered.remove(&pair);
        }
    }
}
