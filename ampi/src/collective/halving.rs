//! Combining long vectors in parts (Rabenseifner 2004), in the order of ranks.
//!
//! A power of two of the members take part; of those that are too many, pairs of neighbours combine theirs first. The
//! partners of the first step are neighbours, those of the next two apart, and so on, so that what is combined always
//! comes from ranks that follow each other.

use super::{Member, Schedule, Span, Values};

/// Which members take part, and which part of the vector each has in the end.
pub(super) struct Halving {
    me: Member,
    /// How many take part.
    parts: u32,
    /// How many are too many.
    extra: u32,
}

impl Halving {
    pub fn new(me: Member) -> Halving {
        let parts = 1 << me.size.ilog2();
        Halving { me, parts, extra: me.size - parts }
    }

    /// A member's place among those that take part.
    fn place_of(&self, member: u32) -> Option<u32> {
        if member >= 2 * self.extra {
            return Some(member - self.extra);
        }
        (member % 2 == 1).then_some(member / 2)
    }

    /// The member at this place.
    fn member_at(&self, place: u32) -> u32 {
        if place < self.extra { 2 * place + 1 } else { place + self.extra }
    }

    /// Which part of the vector a member has in the end: its place with its bits reversed.
    pub fn number_of(&self, member: u32) -> Option<u32> {
        let bits = self.parts.trailing_zeros();
        self.place_of(member).map(|place| if bits == 0 { 0 } else { place.reverse_bits() >> (32 - bits) })
    }

    /// Where a part begins.
    pub fn cut(&self, number: u32, count: u64) -> u64 {
        count * u64::from(number) / u64::from(self.parts)
    }

    /// Pairs of neighbours become one, until as many are left as take part. The vector is combined in `whole`.
    pub fn fold(&self, schedule: &mut Schedule, whole: Span, values: &Values) {
        if self.me.rank >= 2 * self.extra {
            return;
        }
        if self.me.rank.is_multiple_of(2) {
            schedule.send(self.me.rank + 1, whole);
        } else {
            let left = schedule.temporary(values, whole.count);
            schedule.receive(self.me.rank - 1, left);
            schedule.wait();
            schedule.combine(left, whole);
        }
        schedule.wait();
    }

    /// Those that were folded get the result.
    pub fn unfold(&self, schedule: &mut Schedule, whole: Span) {
        if self.me.rank >= 2 * self.extra {
            return;
        }
        if self.me.rank.is_multiple_of(2) {
            schedule.receive(self.me.rank + 1, whole);
        } else {
            schedule.send(self.me.rank - 1, whole);
        }
        schedule.wait();
    }

    /// Each that takes part has its part of the combined vector in `whole`.
    pub fn reduce_scatter(&self, schedule: &mut Schedule, whole: Span, values: &Values, commutative: bool) {
        self.fold(schedule, whole, values);
        if self.place_of(self.me.rank).is_none() {
            return;
        }
        let theirs = schedule.temporary(values, whole.count);
        for (distance, kept, given) in self.ranges() {
            let range = |span: Span, (first, last)| {
                values.part(span, self.cut(first, span.count), self.cut(last, span.count))
            };
            let peer = self.partner(distance);
            schedule.send(peer, range(whole, given));
            schedule.receive(peer, range(theirs, kept));
            schedule.wait();
            if peer < self.me.rank || commutative {
                schedule.combine(range(theirs, kept), range(whole, kept));
            } else {
                schedule.combine(range(whole, kept), range(theirs, kept));
                schedule.copy(range(theirs, kept), range(whole, kept));
            }
        }
    }

    /// All that take part get all parts, by the same steps backwards.
    pub fn allgather(&self, schedule: &mut Schedule, whole: Span, values: &Values) {
        if self.place_of(self.me.rank).is_some() {
            for (distance, kept, given) in self.ranges().into_iter().rev() {
                let range = |(first, last)| {
                    values.part(whole, self.cut(first, whole.count), self.cut(last, whole.count))
                };
                schedule.send(self.partner(distance), range(kept));
                schedule.receive(self.partner(distance), range(given));
                schedule.wait();
            }
        }
        self.unfold(schedule, whole);
    }

    /// All that take part get the whole, combined: each exchanges it with its partner of each step.
    pub fn double(&self, schedule: &mut Schedule, whole: Span, values: &Values) {
        self.fold(schedule, whole, values);
        let (mut mine, mut theirs) = (whole, schedule.temporary(values, whole.count));
        if self.place_of(self.me.rank).is_some() {
            for (distance, ..) in self.ranges() {
                let peer = self.partner(distance);
                schedule.send(peer, mine);
                schedule.receive(peer, theirs);
                schedule.wait();
                if peer < self.me.rank {
                    schedule.combine(theirs, mine);
                } else {
                    schedule.combine(mine, theirs);
                    std::mem::swap(&mut mine, &mut theirs);
                }
            }
        }
        schedule.copy(mine, whole);
        self.unfold(schedule, whole);
    }

    /// For each step: how far the partner is, the parts that stay here and those that go.
    #[allow(clippy::type_complexity)]
    fn ranges(&self) -> Vec<(u32, (u32, u32), (u32, u32))> {
        let place = self.place_of(self.me.rank).unwrap_or_default();
        let (mut first, mut last, mut distance) = (0, self.parts, 1);
        let mut steps = Vec::new();
        while distance < self.parts {
            let middle = (first + last) / 2;
            let (low, high) = ((first, middle), (middle, last));
            let (kept, given) = if place & distance == 0 { (low, high) } else { (high, low) };
            steps.push((distance, kept, given));
            (first, last) = kept;
            distance *= 2;
        }
        steps
    }

    fn partner(&self, distance: u32) -> u32 {
        self.member_at(self.place_of(self.me.rank).unwrap_or_default() ^ distance)
    }
}
