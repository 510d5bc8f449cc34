//! What a trace is made of (`--trace`): records of 32 bytes, each of something that a PE did.
//!
//! A message has no number of its own. It is known by its way: the n-th message from one PE to another is the n-th that
//! arrives there, since two PEs always have one way, which keeps the order. A message that another PE passes on has two
//! ways, one after the other; a message that stays on its PE is one from that PE to itself.

/// Something that a PE did, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Record {
    /// By the clock that the PE measures entries with.
    pub ticks: u64,
    /// Of which [`Kind`]: kept as a number, since it may come from a file.
    pub kind: u16,
    /// What this and the others are depends on the kind.
    pub small: u16,
    /// See there.
    pub wide: u32,
    /// See there.
    pub low: u64,
    /// See there.
    pub high: u64,
}

/// Bytes of a record in a file.
pub const RECORD: usize = 32;

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Kind {
    /// User code begins. `small`: the entry's number, or one of [`calls`]; `wide`: the chare's number among those of the
    /// program; `low`, `high`: the index.
    Begins = 1,
    /// It ends.
    Ends = 2,
    /// A message leaves. `wide`: the PE at the other end of its way; `low`: its number on it; `high`: bytes between nodes.
    Sent = 3,
    /// What begins next was called by this message. `wide`: the PE that its way is from; `low`: its number on it.
    Caused = 4,
    /// What is sent next is this message, passed on. As [`Kind::Caused`].
    Relayed = 5,
    /// The PE was idle until now. `low`: for so many nanoseconds; `high`: so many of them it slept, or gave its core away.
    Idle = 6,
    /// For a checkpoint no entry runs from now on.
    Frozen = 7,
    /// Entries run again.
    Thawed = 8,
    /// At the root: a checkpoint begins. `low`: its version.
    CheckpointBegins = 9,
    /// At the root: all parts are taken. `low`: its version; `high`: bytes; `wide`: objects.
    CheckpointTaken = 10,
    /// At the root: a checkpoint is what the job goes back to. `low`: its version.
    CheckpointCommitted = 11,
    /// After a loss the PE begins with a checkpoint. `low`: its version.
    GoesBack = 12,
    /// At the root: a balancing step begins. `low`: its number.
    StepBegins = 13,
    /// At the root: it is over. `low`: its number; `wide`: objects that move; `high`: two `f32`, in seconds: the load of the
    /// PE with most before the step (the lower half), and of all PEs on average.
    StepEnds = 14,
    /// Behind [`Kind::StepEnds`]. `low`: two `f32`, in seconds: the load of the PE with most that is to be expected (the
    /// lower half), and how long the step took.
    StepGain = 15,
    /// An object leaves. `small`: the chare's number; `wide`: the PE that it goes to; `low`, `high`: the index.
    Moves = 16,
}

/// What [`Kind::Begins`] says in place of an entry's number where no entry is called.
pub mod calls {
    /// The least of them: entries have numbers below.
    pub const FIRST: u16 = 0xfff0;
    /// An answer for an async entry, which goes on.
    pub const REPLY: u16 = 0xfff0;
    /// `#[init]`.
    pub const INIT: u16 = 0xfff1;
    /// The object has come from elsewhere, or from a checkpoint.
    pub const RESTORED: u16 = 0xfff2;
    /// It is about to be packed.
    pub const DEPARTS: u16 = 0xfff3;
    /// The state of a lost member.
    pub const LOST: u16 = 0xfff4;

    /// What people read, none if it is an entry's number.
    pub fn name(call: u16) -> Option<&'static str> {
        match call {
            REPLY => Some("(reply)"),
            INIT => Some("(init)"),
            RESTORED => Some("(restored)"),
            DEPARTS => Some("(departs)"),
            LOST => Some("(lost)"),
            _ => None,
        }
    }
}

impl Kind {
    const ALL: [Kind; 16] = [
        Kind::Begins,
        Kind::Ends,
        Kind::Sent,
        Kind::Caused,
        Kind::Relayed,
        Kind::Idle,
        Kind::Frozen,
        Kind::Thawed,
        Kind::CheckpointBegins,
        Kind::CheckpointTaken,
        Kind::CheckpointCommitted,
        Kind::GoesBack,
        Kind::StepBegins,
        Kind::StepEnds,
        Kind::StepGain,
        Kind::Moves,
    ];

    /// The kind of this number, if there is one.
    pub fn of(number: u16) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u16 == number)
    }
}

impl Record {
    /// One of this kind, with nothing else.
    #[inline(always)]
    pub fn at(ticks: u64, kind: Kind) -> Record {
        Record { ticks, kind: kind as u16, ..Record::default() }
    }

    /// With an index.
    #[inline(always)]
    pub fn of_index(self, index: u128) -> Record {
        Record { low: index as u64, high: (index >> 64) as u64, ..self }
    }

    /// The index, where `low` and `high` are one.
    pub fn index(&self) -> u128 {
        u128::from(self.low) | u128::from(self.high) << 64
    }

    /// As in a file: all numbers little-endian, in their order.
    pub fn to_bytes(&self) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        bytes[..8].copy_from_slice(&self.ticks.to_le_bytes());
        bytes[8..10].copy_from_slice(&self.kind.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.small.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.wide.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.low.to_le_bytes());
        bytes[24..].copy_from_slice(&self.high.to_le_bytes());
        bytes
    }

    /// The same back.
    pub fn of_bytes(bytes: &[u8; RECORD]) -> Record {
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let wide = u32::from_le_bytes(std::array::from_fn(|i| bytes[12 + i]));
        Record { ticks: long(0), kind: short(8), small: short(10), wide, low: long(16), high: long(24) }
    }
}

/// Two seconds in one word, as `f32`.
pub fn seconds(lower: f64, upper: f64) -> u64 {
    u64::from((lower as f32).to_bits()) | u64::from((upper as f32).to_bits()) << 32
}

/// The same back.
pub fn seconds_in(word: u64) -> (f32, f32) {
    (f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_32_bytes_and_comes_back() {
        assert_eq!(size_of::<Record>(), RECORD);
        let record = Record { small: 7, wide: 8, ..Record::at(u64::MAX - 1, Kind::Moves) };
        let record = record.of_index(u128::MAX / 3);
        assert_eq!(Record::of_bytes(&record.to_bytes()), record);
        assert_eq!((record.index(), Kind::of(record.kind)), (u128::MAX / 3, Some(Kind::Moves)));
        assert_eq!((Kind::of(0), Kind::of(17)), (None, None));
        assert_eq!(seconds_in(seconds(1.5, 0.25)), (1.5, 0.25));
    }
}
