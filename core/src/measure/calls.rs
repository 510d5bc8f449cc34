//! Which calls of entries are timed, and by what.

use talisman_lb::load::{Kind, Limits, Past};

use crate::clock::Clock;
use crate::object::{Head, flag};
use crate::pe::Pe;

/// What timing a call costs, in ticks of a 2 to 4 GHz counter: two looks at it, and the account.
const COST_TICKS: u64 = 80;
/// Objects whose entries take longer than one to two microseconds on average, in such ticks, have every call timed: that costs them
/// a percent or two.
const LONG_TICKS: u64 = 4_000;
/// From about 50 µs on, two looks at the thread's CPU time, of 300 ns each, cost a percent. Shorter ones are rarely interrupted.
const HUGE_TICKS: u64 = 125_000;
/// Between two PEs that play ball every gap takes a tenth of a microsecond.
const GAPS_SKIPPED: u32 = 63;

/// What is long for a PE's meter. A simulated clock costs nothing and does not go on for others, so every call is timed by it.
pub(super) fn limits(clock: &Clock) -> Limits {
    match clock {
        Clock::Real(_) => Limits { long: LONG_TICKS, huge: HUGE_TICKS, cost: COST_TICKS },
        Clock::Simulated(_) => Limits { long: 0, huge: u64::MAX, cost: 0 },
    }
}

impl Pe {
    /// When the entry that begins did so, if it is to be timed.
    #[inline(always)]
    pub(crate) fn begin_timing(&self, object: &Head) -> Option<u64> {
        if !self.measuring.loads {
            return None;
        }
        match object.has(flag::LONG | flag::HUGE) {
            true => Some(self.timed_by(object)),
            false => self.measuring.meter.is_due().then(|| self.clock.ticks()),
        }
    }

    #[inline(never)]
    fn timed_by(&self, object: &Head) -> u64 {
        match object.has(flag::HUGE) {
            true => self.computed_ns(),
            false => self.clock.ticks(),
        }
    }

    fn computed_ns(&self) -> u64 {
        self.clock.computed().map_or(0, |computed| computed.as_nanos() as u64)
    }

    /// An entry was timed from `start` until now.
    #[inline(never)]
    pub(crate) fn end_timing(&self, object: &Head, start: u64) {
        let ticks = match object.has(flag::HUGE) {
            true => self.as_ticks(self.computed_ns().saturating_sub(start)),
            false => self.clock.ticks().saturating_sub(start),
        };
        let past = Past { ticks: object.load.get(), calls: object.messages.get() };
        let (charge, kind) = self.measuring.meter.charge(kind_of(object), ticks, past);
        object.charge(charge);
        object.clear(flag::LONG | flag::HUGE);
        object.set(flags_of(kind));
    }

    /// Nanoseconds as ticks, by what both clocks counted in this period.
    fn as_ticks(&self, ns: u64) -> u64 {
        let since = self.measuring.since.get();
        let ticks = self.clock.ticks().saturating_sub(since.ticks);
        let passed = (self.clock.now().as_nanos() as u64).saturating_sub(since.now_ns);
        (ns as f64 * (ticks as f64 / passed.max(1) as f64)) as u64
    }

    /// A new object is taken for long until more is known.
    pub(crate) fn note_new(&self, object: &Head) {
        if self.measuring.loads {
            object.set(flags_of(Kind::default()));
        }
    }

    /// A short look for work begins: when, if it is to be timed.
    #[inline(always)]
    pub(crate) fn begin_gap(&self) -> Option<u64> {
        (self.measuring.loads && self.measuring.gaps.is_due()).then(|| self.clock.ticks())
    }

    /// It was timed from `start` until now.
    #[inline(never)]
    pub(crate) fn end_gap(&self, start: u64) {
        let ticks = self.clock.ticks().saturating_sub(start);
        let weight = u64::from(self.measuring.gaps.weight(GAPS_SKIPPED));
        self.measuring.gap_ticks.set(self.measuring.gap_ticks.get() + ticks * weight);
    }
}

fn kind_of(object: &Head) -> Kind {
    match object {
        _ if object.has(flag::HUGE) => Kind::Huge,
        _ if object.has(flag::LONG) => Kind::Long,
        _ => Kind::Short,
    }
}

fn flags_of(kind: Kind) -> u32 {
    match kind {
        Kind::Short => 0,
        Kind::Long => flag::LONG,
        Kind::Huge => flag::HUGE,
    }
}
