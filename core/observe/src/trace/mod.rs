//! What a trace is made of (`--trace`): records, each of something that a PE did. As a PE writes them they are [`words`].
//!
//! A message has no number of its own. It is known by its way: the n-th message from one PE to another is the n-th that
//! arrives there, since two PEs always have one way, which keeps the order. A message that another PE passes on has two
//! ways, one after the other; a message that stays on its PE is one from that PE to itself.

pub mod words;

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
    /// The program has done a step, as it says. `low`: its number.
    Step = 17,
    /// A virtual rank calls MPI. `wide`: the rank; `small`: bytes of the call's name; `low`, `high`: the first of them.
    RankCalls = 18,
    /// Behind [`Kind::RankCalls`], where the name is longer. `low`, `high`: the next bytes.
    RankCallsOn = 19,
    /// Its call has ended. `wide`: the rank.
    RankGoesOn = 20,
    /// After a loss the PE does again what the one before it did, as its log says. `low`: the version of the line that it is from.
    Replays = 21,
    /// It has done all of that.
    ReplayEnds = 22,
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
    const ALL: [Kind; 22] = [
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
        Kind::Step,
        Kind::RankCalls,
        Kind::RankCallsOn,
        Kind::RankGoesOn,
        Kind::Replays,
        Kind::ReplayEnds,
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

    /// What a virtual rank calls: a record, and another one where the name is long. More than 32 bytes are left out.
    pub fn of_rank_call(ticks: u64, rank: u32, name: &str) -> (Record, Option<Record>) {
        let mut bytes = [0; 2 * 16];
        let length = name.len().min(bytes.len());
        bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
        let [first, next] = [0, 16].map(|from| u128::from_le_bytes(std::array::from_fn(|i| bytes[from + i])));
        let calls = Record { small: length as u16, wide: rank, ..Record::at(ticks, Kind::RankCalls) };
        let on = Record { wide: rank, ..Record::at(ticks, Kind::RankCallsOn) };
        (calls.of_index(first), (length > 16).then(|| on.of_index(next)))
    }

    /// The name back.
    pub fn name_of_rank_call(&self, on: Option<&Record>) -> String {
        let more = on.map_or(0, Record::index);
        let bytes = [self.index().to_le_bytes(), more.to_le_bytes()].concat();
        String::from_utf8_lossy(&bytes[..bytes.len().min(self.small.into())]).into_owned()
    }

    /// The index, where `low` and `high` are one.
    pub fn index(&self) -> u128 {
        u128::from(self.low) | u128::from(self.high) << 64
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
    fn a_record_has_an_index_or_two_numbers() {
        let record = Record::at(u64::MAX - 1, Kind::Moves).of_index(u128::MAX / 3);
        assert_eq!((record.index(), Kind::of(record.kind)), (u128::MAX / 3, Some(Kind::Moves)));
        assert_eq!((Kind::of(0), Kind::of(23)), (None, None));
        assert_eq!(seconds_in(seconds(1.5, 0.25)), (1.5, 0.25));
    }

    #[test]
    fn the_name_of_a_call_comes_back() {
        for name in ["", "MPI_Send", "MPI_Allgatherv_c", "MPI_Neighbor_alltoallv_init"] {
            let (calls, on) = Record::of_rank_call(1, 7, name);
            assert_eq!(calls.name_of_rank_call(on.as_ref()), name);
            assert_eq!((on.is_some(), calls.wide), (name.len() > 16, 7));
        }
        let (calls, on) = Record::of_rank_call(1, 7, &"x".repeat(40));
        assert_eq!(calls.name_of_rank_call(on.as_ref()), "x".repeat(32));
    }
}
