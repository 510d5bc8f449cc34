//! Which calls are short: so short that it does not matter when in one of them a message was sent.

use std::cell::Cell;

use talisman_observe::trace::words::Called;

/// A call of fewer ticks is short: of a 2 to 4 GHz counter, half a microsecond to one.
const SHORT_TICKS: u64 = 2_000;
/// So many calls of an entry have to be short, one after the other, for the next to be thought so.
const CALLS: u8 = 32;
/// Bits of the numbers of chares and entries that are looked at: programs that have more have some in common.
const BITS: u32 = 6;

/// Of each entry of each chare, how many more calls have to be short.
pub(super) struct ShortCalls(Box<[Cell<u8>]>);

/// The place of an entry in there.
#[derive(Clone, Copy)]
pub(super) struct Row(usize);

impl Default for ShortCalls {
    fn default() -> Self {
        ShortCalls(vec![Cell::new(CALLS); 1 << (2 * BITS)].into())
    }
}

impl ShortCalls {
    #[inline(always)]
    pub(super) fn row(called: &Called) -> Row {
        let mask = (1 << BITS) - 1;
        Row((called.chare as usize & mask) << BITS | usize::from(called.call) & mask)
    }

    /// Whether a call that begins is thought to be short.
    #[inline(always)]
    pub(super) fn is_short(&self, Row(row): Row) -> bool {
        self.0[row].get() == 0
    }

    /// A call has taken so many ticks.
    #[inline(always)]
    pub(super) fn took(&self, Row(row): Row, ticks: u64) {
        let left = &self.0[row];
        left.set(if ticks < SHORT_TICKS { left.get().saturating_sub(1) } else { CALLS });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_short_when_its_last_calls_were() {
        let calls = ShortCalls::default();
        let [one, other] = [0, 1].map(|call| ShortCalls::row(&Called { call, chare: u32::MAX, index: 7 }));
        (1..CALLS).for_each(|_| calls.took(one, SHORT_TICKS - 1));
        assert!(!calls.is_short(one));
        calls.took(one, 0);
        assert!(calls.is_short(one) && !calls.is_short(other));
        calls.took(one, 0);
        assert!(calls.is_short(one));
        calls.took(one, SHORT_TICKS);
        assert!(!calls.is_short(one), "it was not, once");
    }
}
