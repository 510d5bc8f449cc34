//! How much of its core a PE really had, and what else it was busy with.
//!
//! ```text
//! │◄──────────────────────── wall ────────────────────────►│
//! │  entries  │ runtime │  polls  │ taken by others │ asleep │
//!   a thread's CPU time: entries, runtime and polls; the share is this in all but what it was asleep
//! ```
//!
//! The rest of the share is background: what others would take of the core if the PE wanted it all the time, as it does when it
//! gets more objects.

use crate::smooth::Smooth;

/// Below this part of the period a PE wanted its core too little to tell what it would have got.
const WANTED_LEAST: f64 = 0.01;
/// A core is dealt out in slices of some milliseconds. What a PE got of it while it wanted it for less than several, in seconds, is
/// chance, so it is reckoned together with what it got before.
const WANTED_ENOUGH: f64 = 0.03;
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
    /// Of the core while it was wanted: in the last period, ...
    last: f64,
    /// ... and in the last ones together, as far as it takes them to know it.
    share: f64,
    /// How long it was wanted in these, in seconds.
    wanted: f64,
    /// The part of a period that background takes.
    background: Option<Smooth>,
}

impl Default for Core {
    fn default() -> Self {
        Core { last: 1.0, share: 1.0, wanted: 0.0, background: None }
    }
}

impl Core {
    /// The part of its core that the PE had of when it wanted it: above 0, 1 at most. That is in this period, with those before it as
    /// far as it wanted it for too short a time. If it hardly did, it is what it was.
    pub fn share(&mut self, period: &Period) -> f64 {
        let wanted = period.wall - period.released;
        match period.cpu {
            None => *self = Core { background: self.background, ..Core::default() },
            Some(cpu) if wanted > period.wall * WANTED_LEAST && cpu.is_finite() => {
                self.last = (cpu / wanted).clamp(SHARE_LEAST, 1.0);
                let before = self.wanted.min((WANTED_ENOUGH - wanted).max(0.0));
                self.wanted = before + wanted;
                self.share = (self.share * before + self.last * wanted) / self.wanted;
            }
            Some(_) => self.last = self.share,
        }
        self.share
    }

    /// Seconds of the period that are not to be had for objects that may move, smoothed: what others take if the PE wants its core
    /// all the time, and what the PE itself computed beside these objects (`moving`, in CPU seconds).
    pub fn background(&mut self, period: &Period, moving: f64) -> f64 {
        if !(period.wall.is_finite() && period.wall > 0.0) {
            return 0.0;
        }
        let idle = period.idle.clamp(0.0, period.wall);
        let beside = (self.last * (period.wall - idle) - moving).max(0.0);
        let measured = (1.0 - self.share) * period.wall + beside;
        // Periods may be of different lengths: what is alike in them is a part, not seconds.
        let part = (measured / period.wall).clamp(0.0, 1.0);
        let background = self.background.get_or_insert(Smooth::new(part));
        background.add(part);
        background.value().clamp(0.0, 1.0) * period.wall
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
    fn periods_of_different_lengths_have_the_same_part_of_background() {
        let mut core = Core::default();
        for wall in [1.0, 0.1, 3.0, 0.5, 0.0, 1.0] {
            let period = Period { wall, idle: 0.0, released: 0.0, cpu: Some(0.6 * wall) };
            let share = core.share(&period);
            let background = core.background(&period, share * wall);
            assert!((background - 0.4 * wall).abs() < 1e-12, "{background} of {wall} s");
        }
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
    fn what_a_pe_got_in_a_moment_says_little() {
        // Ten milliseconds each, in which it had all of the core, or hardly any.
        let moment = |share: f64| Period { wall: 0.01, cpu: Some(0.01 * share), ..Period::default() };
        let mut core = Core::default();
        let shares: Vec<f64> =
            (0..60).map(|period| core.share(&moment([1.0, 0.1, 0.4][period % 3]))).collect();
        assert!(shares[10..].iter().all(|share| (0.3..0.7).contains(share)), "{shares:?}");
        // A change is known after some of them.
        assert!((0..10).map(|_| core.share(&moment(1.0))).last() > Some(0.97));
        assert_eq!(core.share(&second(0.0, 0.0, 0.25)), 0.25, "a long one says all");
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
