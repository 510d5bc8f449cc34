//! Parts taken out again: to be restored here, or to go to another process.

use talisman_ft::Version;

use super::former::Former;
use super::kept::{Body, InMemory};
use super::{InPieces, Store, StoreError};
use crate::pieces::{Manifest, checksum, cut, put_together};
use talisman_base::ids::PeId;
use talisman_base::view::View;
use talisman_pup::{Packed, Pup, Segment};

impl Store {
    /// The part of a PE, read.
    ///
    /// # Errors
    /// That it is not here, or is not what it was.
    pub fn part<T: Pup>(&self, version: Version, pe: PeId) -> Result<T, StoreError> {
        let missing = StoreError::Missing { pe, version };
        let copy = {
            let all = self.lock();
            match all.kept.get(&version).and_then(|kept| kept.parts.get(&pe)).ok_or(missing.clone())? {
                Body::Own(part) => return read(part.clone(), version, pe),
                Body::Copy(copy) => Some(copy.clone()),
                Body::Written => None,
            }
        };
        let Some(copy) = copy else { return read(self.part_on_disk(version, pe)?, version, pe) };
        let is_damaged =
            |(slices, sum): &(Vec<Segment>, Option<u32>)| sum.is_some_and(|sum| checksum(slices) != sum);
        let damaged = copy.pieces.iter().position(is_damaged);
        if let Some(piece) = damaged {
            return Err(StoreError::Damaged { pe, version, piece: piece as u32 });
        }
        let slices = copy.pieces.iter().flat_map(|(slices, _)| slices).cloned();
        let part = read(put_together(&copy.manifest, slices).ok_or(missing)?, version, pe);
        if copy.is_unchanged() { part } else { Err(StoreError::Overwritten { pe, version }) }
    }

    /// The part of a PE as it travels: who was there when it was taken, and its pieces with their checksums.
    ///
    /// # Errors
    /// That it is not here, or is not what it was.
    pub fn in_pieces(&self, version: Version, pe: PeId) -> Result<InPieces, StoreError> {
        let missing = StoreError::Missing { pe, version };
        let (view, whole) = {
            let all = self.lock();
            let kept = all.kept.get(&version).ok_or(missing.clone())?;
            let view = kept.view.of_nodes().clone();
            match kept.parts.get(&pe).ok_or(missing.clone())? {
                Body::Copy(copy) => (view, Some(InMemory::Copy(copy.clone()))),
                Body::Own(part) => (view, Some(InMemory::Own(part.clone()))),
                Body::Written => (view, None),
            }
        };
        let part = match whole {
            Some(InMemory::Copy(copy)) => {
                let pieces = copy.summed();
                let is_unchanged = copy.is_unchanged().then_some((view, copy.manifest, pieces));
                return is_unchanged.ok_or(StoreError::Overwritten { pe, version });
            }
            Some(InMemory::Own(part)) => part,
            None => self.part_on_disk(version, pe)?,
        };
        let (manifest, pieces) = summed(&part);
        Ok((view, manifest, pieces))
    }

    /// What the job goes on from, if that is of this version.
    pub fn former(&self, version: Version) -> Option<&Former> {
        self.former.get().filter(|former| former.restart.version == version)
    }

    /// Who was there when a version was taken that something is held of.
    pub fn taken_in(&self, version: Version) -> Option<View> {
        self.lock().kept.get(&version).map(|kept| kept.view.clone())
    }
}

/// A part in pieces, with their checksums.
pub fn summed(part: &Packed) -> (Manifest, Vec<(Vec<Segment>, u32)>) {
    let (manifest, pieces) = cut(part);
    let summed = |slices: Vec<Segment>| {
        let sum = checksum(&slices);
        (slices, sum)
    };
    (manifest, pieces.into_iter().map(summed).collect())
}

pub fn read<T: Pup>(part: Packed, version: Version, pe: PeId) -> Result<T, StoreError> {
    part.into_value().map_err(|error| StoreError::Unreadable { pe, version, error })
}
