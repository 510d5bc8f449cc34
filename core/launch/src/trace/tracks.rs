//! How tracks are numbered, and what they are called.

/// What a track shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Track {
    /// The job: what it is, and losses.
    Job,
    /// Checkpoints, from when they begin until they are committed.
    Checkpoints,
    /// Balancing steps.
    Steps,
    Host(u32),
    Node(u32),
    /// Entries, messages and idle times of a PE.
    Pe(u32),
    /// When a PE was frozen for checkpoints.
    Frozen(u32),
    /// When a PE did again what a lost one had done.
    Replay(u32),
    /// Steps of the program, as it says.
    Program,
    /// What a virtual rank calls.
    Rank(u32),
}

/// Above the number of a host, node or PE. Its first three letters are not to be 0: that is Perfetto's own track.
const KIND: u32 = 32;

impl Track {
    pub fn uuid(self) -> u64 {
        let (kind, number) = match self {
            Track::Job => (1, 0),
            Track::Checkpoints => (2, 0),
            Track::Steps => (3, 0),
            Track::Host(number) => (4, number),
            Track::Node(number) => (5, number),
            Track::Pe(number) => (6, number),
            Track::Frozen(number) => (7, number),
            Track::Program => (8, 0),
            Track::Rank(number) => (9, number),
            Track::Replay(number) => (10, number),
        };
        kind << KIND | u64::from(number)
    }

    /// The track of this number, if it is one of ours.
    pub fn of(uuid: u64) -> Option<Track> {
        let number = uuid as u32;
        match (uuid >> KIND, number) {
            (1, 0) => Some(Track::Job),
            (2, 0) => Some(Track::Checkpoints),
            (3, 0) => Some(Track::Steps),
            (4, _) => Some(Track::Host(number)),
            (5, _) => Some(Track::Node(number)),
            (6, _) => Some(Track::Pe(number)),
            (7, _) => Some(Track::Frozen(number)),
            (8, 0) => Some(Track::Program),
            (9, _) => Some(Track::Rank(number)),
            (10, _) => Some(Track::Replay(number)),
            _ => None,
        }
    }

    pub fn name(self) -> String {
        match self {
            Track::Job => "job".into(),
            Track::Checkpoints => "checkpoints".into(),
            Track::Steps => "balancing steps".into(),
            Track::Host(number) => format!("host {number}"),
            Track::Node(number) => format!("node {number}"),
            Track::Pe(number) => format!("PE {number}"),
            Track::Frozen(number) => format!("PE {number} frozen"),
            Track::Program => "steps".into(),
            Track::Rank(number) => format!("rank {number}"),
            Track::Replay(number) => format!("PE {number} runs again"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_track_is_known_by_its_number() {
        let number = u32::MAX;
        let all = [
            Track::Job,
            Track::Checkpoints,
            Track::Steps,
            Track::Host(0),
            Track::Node(number),
            Track::Pe(number),
            Track::Frozen(3),
            Track::Program,
            Track::Rank(number),
            Track::Replay(number),
        ];
        all.iter().for_each(|track| assert_eq!(Track::of(track.uuid()), Some(*track)));
        assert_eq!((Track::of(0), Track::of(1 << KIND | 1), Track::of(u64::MAX)), (None, None, None));
    }
}
