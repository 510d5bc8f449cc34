//! The program's options, and what they describe.

use super::cut::{Cut, CutError};
use super::hot_spot::HotSpot;
use talisman::prelude::*;

/// A stencil with a hot spot that wanders, so that work is unevenly spread and moves.
#[derive(clap::Parser, Clone, Pup)]
pub struct Options {
    /// Cells along each side of the square
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub grid: u32,
    /// Objects for each PE
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub objects_per_pe: u32,
    /// Steps to do
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    pub steps: u32,
    /// Steps between two points at which objects may be moved by the balancer
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub sync_every: u32,
    /// No such points: for balancing that the program takes no part in (--lb-every with a time, or auto)
    #[arg(long, conflicts_with = "sync_every")]
    pub no_sync: bool,
    /// Steps between two lines of times
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub report_every: u32,
    /// How many times the work of a cold cell is added in the middle of the hot spot
    #[arg(long, allow_negative_numbers = true, value_name = "F", default_value_t = 60.0, value_parser = height)]
    pub peak: f64,
    /// Standard deviation of the hot spot, as a share of the square's side
    #[arg(long, allow_negative_numbers = true, value_name = "SHARE", default_value_t = 0.1, value_parser = share)]
    pub width: f64,
    /// Steps in which the hot spot goes once around
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 4000, value_parser = clap::value_parser!(u32).range(1..))]
    pub lap: u32,
    /// Compare with a serial loop, bit by bit
    #[arg(long)]
    pub check: bool,
}

impl Options {
    /// What all objects are told, in a job of so many PEs.
    pub fn plan(&self, pes: u32) -> Result<Plan, CutError> {
        let objects = u64::from(self.objects_per_pe) * u64::from(pes);
        Ok(Plan {
            cut: Cut::new(self.grid as usize, objects)?,
            hot_spot: HotSpot { peak: self.peak, width: self.width, lap: self.lap },
            steps: self.steps,
            sync_every: (!self.no_sync).then_some(self.sync_every),
        })
    }
}

/// What all objects know.
#[derive(Clone, Debug, Pup)]
pub struct Plan {
    pub cut: Cut,
    pub hot_spot: HotSpot,
    /// Steps in all.
    pub steps: u32,
    /// Steps between two points at which objects may be moved, if there are any.
    pub sync_every: Option<u32>,
}

impl Plan {
    /// Whether objects may be moved after `step` (counted from 1). After the last one nothing comes that it could help.
    pub fn syncs_after(&self, step: u32) -> bool {
        step < self.steps && self.sync_every.is_some_and(|every| step.is_multiple_of(every))
    }
}

/// Most work of a cell: more is a slip of the finger.
const HEIGHT_MAX: f64 = 1e6;

fn height(text: &str) -> Result<f64, &'static str> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=HEIGHT_MAX).contains(number));
    number.ok_or("give a number from 0 to a million, such as 60")
}

fn share(text: &str) -> Result<f64, &'static str> {
    let number = text.parse::<f64>().ok().filter(|number| *number > 0.0 && *number <= 1.0);
    number.ok_or("give a number above 0 and at most 1, such as 0.1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_their_ranges() {
        assert_eq!(
            (height("0"), height("1e3"), share("1"), share("0.25")),
            (Ok(0.0), Ok(1e3), Ok(1.0), Ok(0.25))
        );
        assert!(["-1", "NaN", "inf", "1e7", "x"].into_iter().all(|text| height(text).is_err()));
        assert!(["0", "-1", "1.1", "NaN", ""].into_iter().all(|text| share(text).is_err()));
    }

    #[test]
    fn nothing_is_moved_after_the_last_step() {
        let cut = Cut::new(8, 4).expect("cells enough");
        let hot_spot = HotSpot { peak: 1.0, width: 0.1, lap: 10 };
        let plan = Plan { cut, hot_spot, steps: 20, sync_every: Some(5) };
        assert_eq!((1..=20).filter(|step| plan.syncs_after(*step)).collect::<Vec<_>>(), [5, 10, 15]);
        assert!(!Plan { sync_every: None, ..plan }.syncs_after(5));
    }
}
