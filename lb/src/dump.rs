//! Snapshots as files, for `talisman lb-replay`: a magic word, a version, the packed content, a checksum.

use crate::snapshot::{Misfit, Snapshot};
use talisman_pup::{Pup, PupError, from_bytes, to_bytes};

/// What is written at a balancing step.
#[derive(Clone, Debug, Default, PartialEq, Pup)]
pub struct Dump {
    /// The number of the step.
    pub step: u64,
    /// What began it.
    pub trigger: String,
    /// The strategy that was asked.
    pub strategy: String,
    /// What it was told.
    pub snapshot: Snapshot,
}

impl Dump {
    /// The file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = [MAGIC.as_slice(), &VERSION.to_le_bytes()].concat();
        bytes.extend(to_bytes(self));
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }

    /// What a file says.
    ///
    /// # Errors
    /// When it is none, of another version, damaged, or what it says does not fit together.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DumpError> {
        let content = bytes.strip_prefix(MAGIC.as_slice()).ok_or(DumpError::NotADump)?;
        let (version, content) = content.split_first_chunk().ok_or(DumpError::CutOff)?;
        match u32::from_le_bytes(*version) {
            VERSION => {}
            found => return Err(DumpError::Version { found }),
        }
        let (content, sum) = content.split_last_chunk().ok_or(DumpError::CutOff)?;
        if checksum(&bytes[..bytes.len() - sum.len()]) != u64::from_le_bytes(*sum) {
            return Err(DumpError::Damaged);
        }
        let dump: Dump = from_bytes(content)?;
        dump.snapshot.check()?;
        Ok(dump)
    }
}

const MAGIC: &[u8; 8] = b"TALIS-LB";

/// Counts up with every change of what a snapshot holds.
const VERSION: u32 = 1;

/// FNV-1a over words of eight bytes, which is fast enough for a gigabyte; the last word is filled with zeros. It finds accidents, not
/// intentions.
fn checksum(bytes: &[u8]) -> u64 {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    let mixed =
        |sum: u64, chunk: &[u8]| (sum ^ word(chunk)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    bytes.chunks(8).fold(0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64, mixed)
}

/// Why a file is no snapshot.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum DumpError {
    /// Something else.
    #[error("this is no snapshot of a balancing step, which --lb-dump writes")]
    NotADump,
    /// Of another version of Talisman.
    #[error(
        "this snapshot has format {found}, and only format {VERSION} is known: read it with the Talisman that wrote it"
    )]
    Version {
        /// The format.
        found: u32,
    },
    /// It ends too early for anything.
    #[error("this snapshot is cut off")]
    CutOff,
    /// Not what was written.
    #[error("this snapshot is cut off or damaged: its checksum does not fit")]
    Damaged,
    /// Not what a snapshot is packed to.
    #[error("this snapshot cannot be unpacked: {0}")]
    Unpacking(#[from] PupError),
    /// Its parts do not fit together.
    #[error(transparent)]
    Misfit(#[from] Misfit),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::snapshot::Edge;
    use crate::snapshot::tests::line;

    fn dump() -> Dump {
        let mut snapshot = line(2, &[(0, 1.5), (1, 2.0), (1, 0.0)]);
        snapshot.edges = vec![Edge { from: 0, to: 2, messages: 3.0, bytes: 100.0 }];
        snapshot.objects[1].position = Some([1.0, 2.0, 3.0]);
        snapshot.nodes[1].memory = Some(1 << 40);
        Dump { step: 7, trigger: "sync".into(), strategy: "greedy".into(), snapshot }
    }

    /// A file whose checksum fits, whatever it says.
    fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Dump::from_bytes(&dump().to_bytes()), Ok(dump()));
        assert_eq!(Dump::from_bytes(&Dump::default().to_bytes()), Ok(Dump::default()));
    }

    #[test]
    fn what_is_no_dump_is_told() {
        assert_eq!(Dump::from_bytes(b"{}"), Err(DumpError::NotADump));
        assert_eq!(Dump::from_bytes(MAGIC), Err(DumpError::CutOff));
        let mut newer = dump().to_bytes();
        newer[8] = 2;
        assert_eq!(Dump::from_bytes(&newer), Err(DumpError::Version { found: 2 }));
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_found() {
        let bytes = dump().to_bytes();
        for at in 0..bytes.len() {
            assert!(Dump::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            assert!(Dump::from_bytes(&changed).is_err(), "changed at {at}");
        }
    }

    #[test]
    fn nothing_that_has_the_right_checksum_makes_a_panic() {
        let bytes = dump().to_bytes();
        let mut rng = Rng::new(5);
        for _ in 0..20_000 {
            let mut changed = bytes[..bytes.len() - 8].to_vec();
            for _ in 0..=rng.below(3) {
                let at = 12 + rng.below(changed.len() as u32 - 12) as usize;
                changed[at] = rng.number() as u8;
            }
            changed.truncate(changed.len() - rng.below(4) as usize);
            let _ = Dump::from_bytes(&signed(changed));
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let mut dump = dump();
        dump.snapshot.objects[0].pe = 5;
        let said = Dump::from_bytes(&dump.to_bytes()).unwrap_err().to_string();
        assert_eq!(said, "object 0 of collection 1 is on PE 5 in the snapshot; there are 2 PEs");
    }
}
