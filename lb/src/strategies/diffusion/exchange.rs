//! Who exchanges with whom, and how much should flow.

use crate::distributed::holding::Holding;
use talisman_pup::Pup;

/// What a PE has to do, as its neighbour sees it.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub(crate) struct Side {
    /// What it has to do in all, as load. Only what may go, if objects have to leave it.
    pub work: f64,
    /// Load of objects that may go.
    pub movable: f64,
    /// Its speed; zero if objects have to leave it.
    pub speed: f64,
}

impl Side {
    pub fn of(holding: &Holding) -> Self {
        let (place, movable) = (holding.place, holding.movable());
        match place.available {
            true => {
                Side { work: place.background * place.speed + holding.load(), movable, speed: place.speed }
            }
            false => Side { work: movable, movable, speed: 0.0 },
        }
    }

    /// Whether it is one.
    pub fn is_sound(&self) -> bool {
        [self.work, self.movable, self.speed].iter().all(|part| part.is_finite() && *part >= 0.0)
    }

    /// Load that should go to the other, after which both take equally long; below zero if it should come.
    pub fn flow_to(&self, other: &Side) -> f64 {
        let speeds = self.speed + other.speed;
        if speeds == 0.0 {
            return 0.0;
        }
        let keeps = (self.work + other.work) * (self.speed / speeds);
        (self.work - keeps).clamp(-other.movable, self.movable)
    }

    /// After so much went.
    pub fn gives(&mut self, flow: f64) {
        self.work -= flow;
        self.movable = (self.movable - flow).max(0.0);
    }
}

/// The rounds of a pass: first those in which numbers are exchanged, then those in which objects are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rounds {
    pes: u32,
    dimensions: u32,
    sweeps: u32,
}

/// Where some PEs lack neighbours, load has to go around them: what this many sweeps leave is small beside what objects leave.
const SWEEPS_INCOMPLETE: u32 = 3;

impl Rounds {
    pub fn new(pes: u32) -> Self {
        let dimensions = u32::BITS - pes.saturating_sub(1).leading_zeros();
        Rounds { pes, dimensions, sweeps: if pes.is_power_of_two() { 1 } else { SWEEPS_INCOMPLETE } }
    }

    /// How many there are of either kind.
    pub fn dimensions(&self) -> u32 {
        self.dimensions
    }

    /// All of a pass.
    pub fn count(&self) -> u32 {
        self.dimensions * (self.sweeps + 1)
    }

    /// Whether objects are exchanged in this round.
    pub fn is_of_objects(&self, round: u32) -> bool {
        round % self.count() >= self.dimensions * self.sweeps
    }

    /// The dimension of a round.
    pub fn dimension(&self, round: u32) -> u32 {
        round % self.dimensions
    }

    /// The neighbour of a PE in a round; none if the hypercube has no corner there.
    pub fn neighbour(&self, pe: u32, round: u32) -> Option<u32> {
        Some(pe ^ (1 << self.dimension(round))).filter(|other| *other < self.pes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(loads: &[f64]) -> Vec<Side> {
        loads.iter().map(|load| Side { work: *load, movable: *load, speed: 1.0 }).collect()
    }

    /// All rounds of numbers of a pass.
    fn evened(mut sides: Vec<Side>) -> Vec<Side> {
        let rounds = Rounds::new(sides.len() as u32);
        for round in (0..rounds.count()).filter(|round| !rounds.is_of_objects(*round)) {
            for pe in 0..sides.len() as u32 {
                if let Some(other) = rounds.neighbour(pe, round).filter(|other| *other > pe) {
                    let (a, b) = (sides[pe as usize], sides[other as usize]);
                    sides[pe as usize].gives(a.flow_to(&b));
                    sides[other as usize].gives(-a.flow_to(&b));
                }
            }
        }
        sides
    }

    #[test]
    fn a_sweep_evens_out_a_whole_hypercube() {
        let evened = evened(sides(&[16.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0]));
        assert!(evened.iter().all(|side| side.work == 3.0), "{evened:?}");
    }

    #[test]
    fn some_even_out_a_part_of_one() {
        let mut loads = [0.0; 100];
        loads[99] = 100.0;
        let evened = evened(sides(&loads));
        let off = evened.iter().map(|side| (side.work - 1.0).abs()).fold(0.0, f64::max);
        assert!(off < 0.3, "{off} of a hundred times as much");
    }

    #[test]
    fn speeds_and_what_stays_are_reckoned_with() {
        let fast = Side { work: 0.0, movable: 0.0, speed: 3.0 };
        let slow = Side { work: 8.0, movable: 8.0, speed: 1.0 };
        assert_eq!((slow.flow_to(&fast), fast.flow_to(&slow)), (6.0, -6.0));
        let stuck = Side { movable: 1.0, ..slow };
        assert_eq!(stuck.flow_to(&fast), 1.0);
        let leaving = Side { speed: 0.0, ..slow };
        assert_eq!((leaving.flow_to(&fast), leaving.flow_to(&leaving)), (8.0, 0.0));
    }

    #[test]
    fn rounds_go_through_the_dimensions() {
        let rounds = Rounds::new(6);
        assert_eq!((rounds.dimensions(), rounds.count()), (3, 12));
        assert_eq!([0, 4, 11, 14].map(|round| rounds.dimension(round)), [0, 1, 2, 2]);
        assert_eq!(
            [8, 9, 11, 12, 21].map(|round| rounds.is_of_objects(round)),
            [false, true, true, false, true]
        );
        assert_eq!([0, 1, 2].map(|round| rounds.neighbour(3, round)), [Some(2), Some(1), None]);
        assert_eq!(Rounds::new(1).count(), 0);
    }
}
