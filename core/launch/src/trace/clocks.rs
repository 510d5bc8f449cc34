//! Times of all hosts on one scale.
//!
//! Within a process, ticks are nanoseconds of the host's monotonic clock by moments at which both were read, a hundred a
//! second. All processes of a host have that clock. Between hosts, messages tell: none arrives before it is sent. Of two
//! hosts that send each other messages, the fastest each way bound by how much one clock is ahead of the other, and the
//! middle of both bounds is at most half their distance wrong (F. Cristian, Probabilistic clock synchronization,
//! Distributed Computing 3, 1989). Hosts that no message joins go by their calendars.

use std::collections::BTreeMap;

use talisman_node::trace::part_file::Moment;

/// Moments that are closer together say nothing of what lies milliseconds from them: that each is known to some ten nanoseconds makes
/// microseconds then.
const APART_NS: u64 = 5_000_000;

/// The two moments of a process by which times are told, as its part is read.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    before: Moment,
    last: Moment,
}

impl Moments {
    /// Begins with the one that a part begins with.
    pub fn from(first: Moment) -> Moments {
        Moments { before: first, last: first }
    }

    /// What is read next was taken then. All strips that are taken at once have the same moment.
    pub fn go_to(&mut self, moment: Moment) {
        if moment.ns.saturating_sub(self.last.ns) >= APART_NS {
            self.before = self.last;
        }
        self.last = moment;
    }

    /// Nanoseconds of a tick.
    pub fn ns_of(&self, ticks: u64) -> i64 {
        ns_of(ticks, self.before, self.last)
    }
}

/// Nanoseconds of a tick that lies between two moments, or near them.
fn ns_of(ticks: u64, before: Moment, after: Moment) -> i64 {
    let span = i128::from(after.ticks) - i128::from(before.ticks);
    let passed = i128::from(after.ns) - i128::from(before.ns);
    let since = i128::from(ticks) - i128::from(before.ticks);
    let ns = if span > 0 { since * passed / span } else { 0 };
    (i128::from(before.ns) + ns).clamp(0, i64::MAX.into()) as i64
}

/// What is known of the clocks of hosts.
#[derive(Debug, Default)]
pub struct Clocks {
    /// The least that a message from one host to another seemed to take, in nanoseconds by both clocks.
    fastest: BTreeMap<(u32, u32), i64>,
    /// How far the calendar of a host is ahead of its monotonic clock, in nanoseconds.
    calendars: BTreeMap<u32, i64>,
}

/// By how much a host's clock is ahead of that of the first host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    pub ns: i64,
    /// At most so wrong; none where only calendars tell.
    pub error_ns: Option<i64>,
}

impl Clocks {
    /// A process is on this host, whose calendar is so far ahead of its monotonic clock.
    pub fn see_host(&mut self, host: u32, calendar_ns: i64) {
        self.calendars.entry(host).or_insert(calendar_ns);
    }

    /// A message went from one host to another: sent and received by the clock of each.
    pub fn see_message(&mut self, from: (u32, i64), to: (u32, i64)) {
        let took = to.1.saturating_sub(from.1);
        let fastest = self.fastest.entry((from.0, to.0)).or_insert(took);
        *fastest = took.min(*fastest);
    }

    pub fn hosts(&self) -> usize {
        self.calendars.len()
    }

    /// The offset of each host, by what is known.
    pub fn offsets(&self) -> BTreeMap<u32, Offset> {
        let Some((first, calendar)) = self.calendars.first_key_value() else { return BTreeMap::new() };
        let mut known = BTreeMap::from([(*first, Offset { ns: 0, error_ns: Some(0) })]);
        // Breadth first: each host by the fewest others between.
        let mut next = vec![*first];
        while !next.is_empty() {
            let mut further = Vec::new();
            for via in next {
                for host in self
                    .calendars
                    .keys()
                    .filter(|host| !known.contains_key(host))
                    .copied()
                    .collect::<Vec<_>>()
                {
                    if let Some(offset) = self.between(via, host) {
                        known.insert(host, known[&via].then(offset));
                        further.push(host);
                    }
                }
            }
            next = further;
        }
        for (host, own) in &self.calendars {
            let ns = calendar.saturating_sub(*own);
            known.entry(*host).or_insert(Offset { ns, error_ns: None });
        }
        known
    }

    /// By how much the clock of `host` is ahead of that of `via`, if messages went both ways.
    fn between(&self, via: u32, host: u32) -> Option<Offset> {
        let most = *self.fastest.get(&(via, host))?;
        let least = -*self.fastest.get(&(host, via))?;
        let half = (most - least) / 2;
        Some(Offset { ns: least + half, error_ns: Some(half.max(0)) })
    }
}

impl Offset {
    fn then(self, other: Offset) -> Offset {
        let error_ns = self.error_ns.zip(other.error_ns).map(|(one, two)| one + two);
        Offset { ns: self.ns + other.ns, error_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_lie_between_moments() {
        let (before, after) = (Moment { ticks: 1000, ns: 500 }, Moment { ticks: 3000, ns: 1500 });
        assert_eq!([1000, 2000, 3000, 900].map(|ticks| ns_of(ticks, before, after)), [500, 1000, 1500, 450]);
        assert_eq!(ns_of(7, before, before), 500, "a clock that stands still");
        assert_eq!(ns_of(u64::MAX, before, after), i64::MAX);
    }

    #[test]
    fn moments_that_are_taken_at_once_or_soon_after_each_other_tell_the_same_times() {
        let moment = |us: u64, late_ns| Moment { ticks: 2_000 * us, ns: 1_000 * us + late_ns };
        let mut moments = Moments::from(moment(0, 0));
        moments.go_to(moment(10_000, 0));
        assert_eq!(moments.ns_of(18_000_000), 9_000_000);
        moments.go_to(moment(10_000, 0));
        assert_eq!(moments.ns_of(18_000_000), 9_000_000, "of another PE");
        // Twenty microseconds later, and ten nanoseconds off: of what was done four milliseconds before, that is ten at most.
        moments.go_to(moment(10_020, 10));
        assert!((moments.ns_of(12_000_000) - 6_000_000).abs() <= 10, "{moments:?}");
        moments.go_to(moment(20_000, 0));
        assert_eq!(moments.ns_of(40_000_000), 20_000_000);
    }

    #[test]
    fn messages_bound_by_how_much_a_clock_is_ahead() {
        let mut clocks = Clocks::default();
        [0, 1, 2, 3].iter().for_each(|host| clocks.see_host(*host, i64::from(*host) * -1000));
        // The clock of host 1 is 500 ahead; a message takes 20 to it and 30 back, or more.
        for (sent, late) in [(0, 0), (100, 40), (200, 7)] {
            clocks.see_message((0, sent), (1, sent + 520 + late));
            clocks.see_message((1, sent + 500), (0, sent + 30 + late));
        }
        // That of host 2 is 100 behind that of host 1.
        clocks.see_message((1, 0), (2, -90));
        clocks.see_message((2, 0), (1, 110));
        let offsets = clocks.offsets();
        let known = |host| (offsets[&host].ns, offsets[&host].error_ns);
        assert_eq!(known(0), (0, Some(0)));
        assert_eq!(known(1), (495, Some(25)), "500 is within the error");
        assert_eq!(known(2), (395, Some(35)), "by way of host 1");
        assert_eq!(known(3), (3000, None), "no message: by the calendar");
    }
}
