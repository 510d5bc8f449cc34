//! What a simulated process keeps on its disk, and what is found there afterwards.
//!
//! Nothing in the runtime reads files yet. So that the disks of a world are used as they will be, by the code that will use
//! them, each process writes entries of a diary in place of each other, and whoever comes after it reads the last: it has to
//! be one that was written, whole, and none before the last that was sure to be kept.

use talisman_base::rng::Rng;
use talisman_store::disk::{DiskError, ReadError, SimulatedDisk, read_checked, remove_leftovers, replace};

use talisman_store::disk::DiskRates;

const NAME: &str = "diary";
/// Disk operations in an entry: a process may die in any of them.
const OPERATIONS: u64 = 5;
/// Entries are up to so many bytes long, several sectors.
const BYTES: u64 = 3_000;

/// A node's disk, with its diary, and what is known of that without looking.
pub(super) struct Diary {
    disk: SimulatedDisk,
    rng: Rng,
    node: u32,
    /// The number of the last entry that was begun.
    begun: u64,
    /// That of the last one that is sure to be kept; 0 if none is.
    kept: u64,
    /// Whether bits may be altered on this disk.
    is_rotten: bool,
    /// What its disk does that nobody can notice who reads one file: there may be any entry then, or none.
    deceives: Option<&'static str>,
}

/// What was found on a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// An entry of this number.
    Entry(u64),
    /// No diary.
    Nothing,
    /// One that cannot be had, for this kind of fault.
    Fault(&'static str),
    /// What must not be.
    Flaw(String),
}

impl Diary {
    pub(super) fn new(node: u32, rates: DiskRates, rng: &mut Rng) -> Self {
        Diary {
            disk: SimulatedDisk::new(rates, Rng::new(rng.next_u64())),
            rng: Rng::new(rng.next_u64()),
            node,
            begun: 0,
            kept: 0,
            is_rotten: rates.altered_ppm > 0,
            deceives: match rates {
                DiskRates { misdirected_ppm: 1.., .. } => Some("disk-misdirected"),
                DiskRates { lying_ppm: 1.., .. } => Some("disk-lied"),
                _ => None,
            },
        }
    }

    /// Writes the next entry in place of the last; the kind of fault if it came to nothing.
    pub(super) fn write(&mut self) -> Option<&'static str> {
        self.begun += 1;
        let entry = entry(self.node, self.begun);
        let (head, rest) = entry.split_at(entry.len() / 3);
        match replace(&mut self.disk, NAME, &[head, rest]) {
            Ok(()) => {
                self.kept = self.begun;
                None
            }
            Err(DiskError::Full { .. }) => Some("disk-full"),
            Err(_) => Some("disk-sync-failed"),
        }
    }

    /// The process is killed, now and then in the midst of writing.
    pub(super) fn die(&mut self) {
        if self.rng.below(2) == 0 {
            self.disk.die_after(self.rng.below(OPERATIONS));
            self.write();
        }
        self.disk.restart();
    }

    /// The host loses its power.
    pub(super) fn lose_power(&mut self) {
        self.die();
        self.disk.lose_power();
    }

    /// Another disk is in its place, without anything on it.
    pub(super) fn is_replaced(&mut self) {
        self.disk = SimulatedDisk::new(DiskRates::default(), Rng::new(self.rng.next_u64()));
        (self.begun, self.kept) = (0, 0);
    }

    pub(super) fn heal(&mut self) {
        self.disk.heal();
    }

    /// Somebody who comes after the process reads what is there.
    pub(super) fn read(&mut self) -> Found {
        match (self.found(), self.deceives) {
            (Found::Flaw(_), Some(kind)) => Found::Fault(kind),
            (found, _) => found,
        }
    }

    fn found(&mut self) -> Found {
        if remove_leftovers(&mut self.disk).is_err() {
            return Found::Flaw(format!("what node {} was writing cannot be removed", self.node));
        }
        match read_checked(&mut self.disk, NAME) {
            Ok(body) => self.judge(&body),
            Err(ReadError::Disk(DiskError::NotThere { .. })) if self.kept == 0 => Found::Nothing,
            Err(ReadError::Disk(DiskError::System { .. })) => Found::Fault("disk-unreadable"),
            Err(ReadError::Sum { .. } | ReadError::Header { .. } | ReadError::Length { .. })
                if self.is_rotten =>
            {
                Found::Fault("disk-altered")
            }
            Err(error) => Found::Flaw(format!("the diary of node {}: {error}", self.node)),
        }
    }

    fn judge(&self, body: &[u8]) -> Found {
        let number = body.first_chunk().map_or(0, |number| u64::from_le_bytes(*number));
        if !(self.kept.max(1)..=self.begun).contains(&number) {
            let (kept, begun) = (self.kept, self.begun);
            return Found::Flaw(format!(
                "the diary of node {} has entry {number}; {kept} was sure to be kept, and {begun} is the last",
                self.node
            ));
        }
        match body == entry(self.node, number) {
            true => Found::Entry(number),
            false => Found::Flaw(format!("entry {number} of the diary of node {} is another one", self.node)),
        }
    }
}

/// An entry: its number, and bytes that follow from it.
fn entry(node: u32, number: u64) -> Vec<u8> {
    let mut rng = Rng::new(number ^ u64::from(node) << 32);
    let bytes = rng.below(BYTES);
    let text = (0..bytes).map(|_| rng.next_u64() as u8);
    number.to_le_bytes().into_iter().chain(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_store::disk::Disk;

    fn diary(rates: DiskRates, seed: u64) -> Diary {
        Diary::new(1, rates, &mut Rng::new(seed))
    }

    #[test]
    fn the_last_entry_is_found_however_a_process_ends() {
        let mut found = std::collections::BTreeSet::new();
        for seed in 0..300 {
            let mut diary = diary(DiskRates::default(), seed);
            (0..seed % 5).for_each(|_| assert_eq!(diary.write(), None));
            if seed % 2 == 0 {
                diary.die()
            } else {
                diary.lose_power()
            }
            match diary.read() {
                Found::Entry(number) => found.insert(number + 10 - seed % 5),
                Found::Nothing if seed % 5 == 0 => found.insert(0),
                other => panic!("seed {seed}: {other:?}"),
            };
        }
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [0, 10, 11]);
    }

    #[test]
    fn disks_that_fail_lose_nothing_that_was_said_to_be_kept() {
        let rates = DiskRates {
            full_ppm: 200_000,
            sync_fails_ppm: 200_000,
            unreadable_ppm: 100_000,
            altered_ppm: 100_000,
            ..DiskRates::default()
        };
        let mut kinds = std::collections::BTreeSet::new();
        for seed in 0..300 {
            let mut diary = diary(rates, seed);
            for _ in 0..6 {
                kinds.extend(diary.write());
            }
            diary.lose_power();
            match diary.read() {
                Found::Fault(kind) => _ = kinds.insert(kind),
                Found::Flaw(flaw) => panic!("seed {seed}: {flaw}"),
                Found::Entry(_) | Found::Nothing => {}
            }
        }
        let all = ["disk-altered", "disk-full", "disk-sync-failed", "disk-unreadable"];
        assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all);
    }

    #[test]
    fn what_was_not_written_or_not_synced_or_is_old_is_a_flaw() {
        let torn = |change: fn(&mut Diary)| {
            let mut diary = diary(DiskRates::default(), 1);
            (0..3).for_each(|_| _ = diary.write());
            change(&mut diary);
            matches!(diary.read(), Found::Flaw(_))
        };
        assert!(!torn(|_| {}));
        assert!(torn(|diary| replace(&mut diary.disk, NAME, &[&entry(1, 2)]).expect("it is calm")));
        assert!(torn(|diary| replace(&mut diary.disk, NAME, &[&entry(2, 3)]).expect("it is calm")));
        assert!(torn(|diary| diary.disk.remove(NAME).expect("it is there")));
        assert!(torn(|diary| diary.disk.write(NAME, &[b"half"]).expect("it is calm")));
    }
}
