//! Which calls of entries are timed, and by what.

use super::{Loads, traffic};
use crate::object::{Head, flag};
use crate::pe::Pe;
use talisman_base::clock::Clock;
use talisman_lb::load::{Kind, Limits, Past};
use talisman_lb::sampler::GAP_USUAL;

/// What timing a call costs, in ticks of a 2 to 4 GHz counter: two looks at it, the account, and two branches that go another
/// way than usual.
const COST_TICKS: u64 = 180;
/// Objects whose entries take longer than one to two microseconds on average, in such ticks, have every call timed: that costs them
/// a percent or two.
const LONG_TICKS: u64 = 4_000;
/// From about 40 µs on, two looks at the thread's CPU time, of 300 ns each, cost a percent or two.
const HUGE_TICKS: u64 = 100_000;
/// The system takes a core away for a millisecond or more. A call of so many ticks, on an object of which they are not usual, is
/// looked into: that is a look at CPU time in 100 µs.
const SUSPICIOUS_TICKS: u64 = 250_000;
/// Between two PEs that play ball every gap takes a tenth of a microsecond.
const GAPS_SKIPPED: u32 = 63;
/// What tells an object's kind; none of them for a short one.
pub(super) const KINDS: u32 = flag::NEW | flag::LONG | flag::HUGE;

/// Where loads are only estimated, a call is timed so much more seldom: that is half of a thousandth of the time.
const SELDOM: u64 = 20;
/// Of calls that take longer than this, about half a millisecond, all are timed then.
const LONG_OF_ESTIMATES: u64 = 1 << 20;

/// What is long for a PE's meter. A simulated clock costs nothing and does not go on for others, so every call is timed by it.
pub(super) fn limits(clock: &Clock, measures: Loads) -> Limits {
    let usual = Limits { long: LONG_TICKS, huge: HUGE_TICKS, cost: COST_TICKS, gap_max: GAP_USUAL };
    match (clock.measures_machine(), measures) {
        (true, Loads::Estimated) => {
            Limits { long: LONG_OF_ESTIMATES, huge: u64::MAX, cost: SELDOM * COST_TICKS, gap_max: u32::MAX }
        }
        (true, _) => usual,
        (false, _) => Limits { long: 0, huge: u64::MAX, cost: 0, ..usual },
    }
}

/// The timing of an entry that runs.
#[derive(Clone, Copy)]
pub struct Timing {
    /// When it began, in ticks, or in nanoseconds of CPU time.
    start: u64,
    /// Whether it does not stand for entries that are not timed.
    alone: bool,
}

impl Pe {
    /// Whether an entry that begins may have to be timed, or is traced: then [`Pe::begin_timing`] is to be called, or what traces.
    ///
    /// For one that has not, nothing but its object's flags and a count are looked at. That is so where nothing is measured, too: it
    /// takes no longer than to see that nothing is.
    #[inline(always)]
    pub fn may_be_timed(&self, object: &Head) -> bool {
        object.has(KINDS | flag::TRACED) || self.measuring.meter.is_due()
    }

    /// Whether it is one of those of which nothing but the object's flags and a count are looked at. Else nothing has been asked.
    #[inline(always)]
    pub fn is_not_timed(&self, object: &Head) -> bool {
        !object.has(KINDS | flag::TRACED) && self.measuring.meter.skips()
    }

    /// Whether it would be so if it were not traced.
    pub fn is_to_be_timed(&self, object: &Head) -> bool {
        object.has(KINDS) || self.measuring.meter.is_due()
    }

    /// An entry begins that may have to be timed; how it is, if it is.
    #[cold]
    #[inline(never)]
    pub fn begin_timing(&self, object: &Head) -> Option<Timing> {
        if !self.measuring.loads {
            return self.begin_estimate(object);
        }
        let (meter, calls) = (&self.measuring.meter, object.messages.get());
        let kind = kind_of(object);
        if meter.times_alone(kind, calls) {
            return Some(self.begin_alone(object));
        }
        set_kind(object, meter.kind_untimed(kind, calls));
        (kind == Kind::Short || meter.is_due()).then(|| self.begin_for_many())
    }

    /// The count came round, or the object came from a job that measured.
    fn begin_estimate(&self, object: &Head) -> Option<Timing> {
        let is_due = self.measuring.estimates && !object.has(KINDS);
        object.clear(KINDS);
        is_due.then(|| Timing { start: self.clock.ticks(), alone: false })
    }

    fn begin_for_many(&self) -> Timing {
        self.note_for(self.measuring.meter.stands_for());
        Timing { start: self.clock.ticks(), alone: false }
    }

    fn begin_alone(&self, object: &Head) -> Timing {
        self.note_for(traffic::SAMPLED);
        let start = if object.has(flag::HUGE) { self.computed_ns() } else { self.clock.ticks() };
        Timing { start, alone: true }
    }

    fn computed_ns(&self) -> u64 {
        self.clock.computed().map_or(0, |computed| computed.as_nanos() as u64)
    }

    /// An entry that was timed has ended. Its object has not counted it yet.
    #[inline(never)]
    pub fn end_timing(&self, object: &Head, Timing { start, alone }: Timing) {
        let ticks = match object.has(flag::HUGE) {
            true => self.as_ticks(self.computed_ns().saturating_sub(start)),
            false => self.clock.ticks().saturating_sub(start),
        };
        let past = Past { ticks: object.load.get(), calls: object.messages.get().wrapping_add(1) };
        let ticks = match ticks >= SUSPICIOUS_TICKS && !object.has(flag::HUGE) {
            true => ticks.saturating_sub(self.stolen_ticks()).max(past.average()).min(ticks),
            false => ticks,
        };
        let (charge, kind) = self.measuring.meter.charge(kind_of(object), alone, ticks, past);
        object.charge(charge);
        if self.measuring.loads {
            set_kind(object, kind);
        }
        self.note_for(traffic::NOTHING);
    }

    /// Whether an object's entries are timed in the next period, from what they took in this one.
    pub(super) fn begin_period_of(&self, object: &Head) {
        if self.measuring.loads {
            let past = Past { ticks: object.load.get(), calls: object.messages.get() };
            set_kind(object, self.measuring.meter.next_period(kind_of(object), past));
        }
    }

    /// What others had of the core since this was last asked, while the PE wanted it: most likely in the call that made it ask.
    fn stolen_ticks(&self) -> u64 {
        let now = self.usage();
        let since = self.measuring.looked.replace(now);
        self.as_ticks(now.stolen_since(&since))
    }

    /// Nanoseconds as ticks, by what both clocks counted in this period.
    fn as_ticks(&self, ns: u64) -> u64 {
        let since = self.measuring.since.get();
        let ticks = self.clock.ticks().saturating_sub(since.ticks);
        let passed = (self.clock.measured().as_nanos() as u64).saturating_sub(since.usage.now_ns);
        (ns as f64 * (ticks as f64 / passed.max(1) as f64)) as u64
    }

    /// A new object, of whose entries nothing is known.
    pub fn note_new(&self, object: &Head) {
        if self.measuring.loads {
            set_kind(object, Kind::default());
        }
    }

    /// A short look for work begins: when, if it is to be timed.
    #[inline(always)]
    pub fn begin_gap(&self) -> Option<u64> {
        (self.measuring.loads && self.measuring.gaps.is_due()).then(|| self.clock.ticks())
    }

    /// It was timed from `start` until now.
    #[inline(never)]
    pub fn end_gap(&self, start: u64) {
        let ticks = self.clock.ticks().saturating_sub(start);
        let weight = u64::from(self.measuring.gaps.weight(GAPS_SKIPPED));
        self.measuring.gap_ticks.set(self.measuring.gap_ticks.get() + ticks * weight);
    }
}

#[inline(always)]
fn kind_of(object: &Head) -> Kind {
    match object {
        // Hardly any has any of them.
        _ if !object.has(KINDS) => Kind::Short,
        _ if object.has(flag::HUGE) => Kind::Huge,
        _ if object.has(flag::LONG) => Kind::Long,
        _ => Kind::New,
    }
}

fn set_kind(object: &Head, kind: Kind) {
    object.clear(KINDS);
    object.set(match kind {
        Kind::New => flag::NEW,
        Kind::Short => 0,
        Kind::Long => flag::LONG,
        Kind::Huge => flag::HUGE,
    });
}
