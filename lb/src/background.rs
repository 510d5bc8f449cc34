//! How much of its core a PE really had, and what else it was busy with.
//!
//! ```text
//! │◄──────────────────────── wall ────────────────────────►│
//! │  entries  │ runtime │  polls  │ taken by others │ asleep │
//!   a thread's CPU time: entries, runtime and polls; the share is this in all but what it was asleep
//! ```
//!
//! An object's time by the wall includes what others took while it ran. It takes the share of that in CPU seconds, and as
//! others come and go, only those stay the same.

use crate::smooth::Smooth;

/// Below this part of the period a PE wanted its core too little to tell what it would have got.
const WANTED_LEAST: f64 = 0.01;
/// No share is smaller: a PE that got nothing by accident is not given up for lost.
const SHARE_LEAST: f64 = 0.01;

/// One PE in one period, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Period {
    /// How long it was.
    pub wall: f64,
    /// Without anything to do: polling, yielding or asleep.
    pub idle: f64,
    /// Of that, asleep, or with the core given away to others who wanted it.
    pub released: f64,
    /// The CPU time of its thread; none where the core is nobody else's.
    pub cpu: Option<f64>,
}

/// What a PE knows of its core from one period to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Core {
    share: f64,
    background: Option<Smooth>,
}

impl Default for Core {
    fn default() -> Self {
        Core { share: 1.0, background: None }
    }
}

impl Core {
    /// The part of its core that the PE had in a period, of when it wanted it: above 0, 1 at most. If it hardly did, that of the
    /// last period in which it did.
    pub fn share(&mut self, period: &Period) -> f64 {
        let wanted = period.wall - period.released;
        match period.cpu {
            None => self.share = 1.0,
            Some(cpu) if wanted > period.wall * WANTED_LEAST && cpu.is_finite() => {
                self.share = (cpu / wanted).clamp(SHARE_LEAST, 1.0);
            }
            Some(_) => {}
        }
        self.share
    }

    /// Seconds of the period that are not to be had for objects that may move, smoothed: all that was neither theirs (`moving`,
    /// in CPU seconds) nor idle. Others would take their share of idle time as well, were it used.
    pub fn background(&mut self, period: &Period, moving: f64) -> f64 {
        let free = self.share * period.idle.clamp(0.0, period.wall);
        let measured = (period.wall - free - moving).clamp(0.0, period.wall.max(0.0));
        let background = self.background.get_or_insert(Smooth::new(measured));
        background.add(measured);
        // The period may have been shorter than the past ones.
        background.value().clamp(0.0, period.wall.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second in which the PE was idle for `idle`, asleep for `released` of that, and had the core for `cpu`.
    fn second(idle: f64, released: f64, cpu: f64) -> Period {
        Period { wall: 1.0, idle, released, cpu: Some(cpu) }
    }

    #[test]
    fn a_pe_alone_has_all_of_its_core() {
        let mut core = Core::default();
        let period = second(0.4, 0.4, 0.6);
        assert_eq!(core.share(&period), 1.0);
        assert!((core.background(&period, 0.5) - 0.1).abs() < 1e-12, "what was neither of objects nor idle");
        let polling = second(0.4, 0.0, 1.0);
        assert_eq!(core.share(&polling), 1.0);
    }

    #[test]
    fn half_a_core_makes_half_of_the_period_background() {
        let mut core = Core::default();
        let busy = second(0.0, 0.0, 0.5);
        assert_eq!(core.share(&busy), 0.5);
        assert_eq!(core.background(&busy, 0.5), 0.5);
        // The same machine with less to do: what is idle would be shared as well.
        let mut core = Core::default();
        let calm = second(0.6, 0.6, 0.2);
        assert_eq!(core.share(&calm), 0.5);
        assert!((core.background(&calm, 0.2) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn the_share_of_a_pe_that_does_nothing_is_what_it_was() {
        let mut core = Core::default();
        assert_eq!(core.share(&second(0.0, 0.0, 0.25)), 0.25);
        assert_eq!(core.share(&second(1.0, 0.999, 0.001)), 0.25);
        assert_eq!(core.share(&Period { cpu: None, ..second(0.0, 0.0, 0.0) }), 1.0, "nobody else's core");
    }

    #[test]
    fn background_that_comes_and_goes_is_followed_within_two_periods() {
        let mut core = Core::default();
        let mut background = |share: f64| {
            let period = second(0.0, 0.0, share);
            let share = core.share(&period);
            core.background(&period, share)
        };
        for _ in 0..3 {
            (0..5).for_each(|_| assert!(background(1.0) < 0.6));
            assert!((background(0.4).max(background(0.4)) - 0.6).abs() < 0.01);
            background(1.0);
            assert!(background(1.0) < 0.01);
        }
    }

    #[test]
    fn odd_periods_do_no_harm() {
        let mut core = Core::default();
        for period in [
            Period::default(),
            second(2.0, 3.0, 4.0),
            second(f64::NAN, 0.0, f64::NAN),
            second(0.0, 0.0, -1.0),
            Period { wall: 1e-9, ..Period::default() },
        ] {
            let share = core.share(&period);
            assert!(share > 0.0 && share <= 1.0, "{period:?}: {share}");
            let background = core.background(&period, 0.5);
            assert!((0.0..=period.wall).contains(&background), "{period:?}: {background}");
        }
    }
}
