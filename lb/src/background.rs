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
