//! Where the work is.

use std::f64::consts::TAU;

use talisman::prelude::*;

/// A hot spot that wanders over a square. In a cell at the distance `r` from its middle there is `1 + peak · exp(-r² / 2σ²)` times the
/// work of a cold cell, in whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub struct HotSpot {
    /// Work added in its middle.
    pub peak: f64,
    /// `σ`, as a share of the square's side.
    pub width: f64,
    /// Steps in which it goes once around.
    pub lap: u32,
}

/// The hot spot at a step, on a square of a number of cells.
#[derive(Clone, Copy, Debug)]
pub struct Heat {
    peak: f64,
    /// In cells.
    middle: [f64; 2],
    /// `σ` in cells.
    width: f64,
}

impl HotSpot {
    /// Where it is at a step.
    pub fn at(&self, step: u32, grid: usize) -> Heat {
        let side = grid as f64;
        Heat {
            peak: self.peak,
            middle: self.middle(step).map(|share| share * side),
            width: self.width * side,
        }
    }

    /// Its middle as shares of the square's sides: a figure of eight, which comes to all strips of the square.
    fn middle(&self, step: u32) -> [f64; 2] {
        let turn = TAU * f64::from(step % self.lap) / f64::from(self.lap);
        [0.5 + 0.35 * (2.0 * turn + 0.8).sin(), 0.5 + 0.35 * (turn + 0.3).sin()]
    }
}

impl Heat {
    /// What cells from `start` on have along an axis of the share `exp(-r² / 2σ²)`, which is the product of that of both axes. Of
    /// the cell alone: the same for whoever asks.
    pub fn along(&self, axis: usize, start: usize, cells: usize) -> impl Iterator<Item = f64> + use<> {
        let (middle, width) = (self.middle[axis], self.width);
        (start..start + cells).map(move |cell| {
            let distance = (cell as f64 + 0.5 - middle) / width;
            (-0.5 * distance * distance).exp()
        })
    }

    /// How many times a cell with these shares along both axes is relaxed.
    pub fn relaxations(&self, x: f64, y: f64) -> u32 {
        1 + (self.peak * x * y) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPOT: HotSpot = HotSpot { peak: 60.0, width: 0.1, lap: 400 };

    fn work(step: u32, x: usize, y: usize) -> u32 {
        let heat = SPOT.at(step, 100);
        let [x, y] = [(0, x), (1, y)].map(|(axis, at)| heat.along(axis, at, 1).next().expect("one cell"));
        heat.relaxations(x, y)
    }

    #[test]
    fn it_is_hot_in_the_middle_and_falls_off() {
        let [x, y] = SPOT.middle(7).map(|share| (share * 100.0) as usize);
        assert!(work(7, x, y) >= 60, "{}", work(7, x, y));
        let beside = work(7, x, if y < 50 { y + 10 } else { y - 10 });
        assert!((34..=39).contains(&beside), "exp(-1/2) of 60, about: {beside}");
        assert_eq!(work(7, if x < 50 { 99 } else { 0 }, y), 1);
    }

    #[test]
    fn it_stays_in_the_square_comes_to_each_quarter_and_back() {
        let path: Vec<[f64; 2]> = (0..400).map(|step| SPOT.middle(step)).collect();
        assert!(path.iter().flatten().all(|share| (0.1..0.9).contains(share)));
        for quarter in 0..4 {
            assert!(path.iter().any(|[x, _]| (x * 4.0) as usize == quarter), "{quarter}");
        }
        assert_eq!(SPOT.middle(400), SPOT.middle(0));
    }
}
