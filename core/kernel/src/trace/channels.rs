//! Messages counted by their ways.

use talisman_base::ids::PeId;

/// By which way a message has come: from the PE at its other end, as so many-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    pub from: PeId,
    pub number: u64,
}

/// How many messages have gone each way, to and from a PE.
#[derive(Default)]
pub(super) struct Channels {
    sent: Vec<u64>,
    received: Vec<u64>,
}

impl Channels {
    /// One more goes to this PE; its number.
    #[inline]
    pub(super) fn sent(&mut self, to: PeId) -> u64 {
        next(&mut self.sent, to)
    }

    /// One more has come from this PE; its number.
    #[inline]
    pub(super) fn received(&mut self, from: PeId) -> u64 {
        next(&mut self.received, from)
    }
}

#[inline]
fn next(counts: &mut Vec<u64>, pe: PeId) -> u64 {
    let pe = pe as usize;
    if pe >= counts.len() {
        counts.resize(pe + 1, 0);
    }
    counts[pe] += 1;
    counts[pe]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_counts_for_itself() {
        let mut channels = Channels::default();
        assert_eq!([channels.sent(3), channels.sent(0), channels.sent(3)], [1, 1, 2]);
        assert_eq!([channels.received(3), channels.received(3)], [1, 2]);
    }
}
