//! Parts taken out again: to be restored here, or to go to another process.

use talisman_ft::Version;

use super::versions::{Body, InMemory};
use super::{InPieces, Store, StoreError};
use crate::checkpoint::newcomers::Seats;
use crate::checkpoint::part::Part;
use talisman_base::ids::PeId;
use talisman_base::view::View;
use talisman_pup::{Packed, Segment};
use talisman_store::pieces::{Manifest, checksum, cut, put_together};

impl Store {
    /// The parts of which a PE was made, read: its own, or what it had taken over from a former job.
    ///
    /// # Errors
    /// That one is not here, or is not what it was.
    pub(crate) fn parts(&self, version: Version, pe: PeId) -> Result<Vec<Part>, StoreError> {
        match self.former.get().filter(|former| former.restart.version == version) {
            Some(former) => former.parts(pe),
            None => Ok(vec![self.part(version, pe)?]),
        }
    }

    /// The part of a PE, read.
    ///
    /// # Errors
    /// That it is not here, or is not what it was.
    pub(crate) fn part(&self, version: Version, pe: PeId) -> Result<Part, StoreError> {
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
    pub(in crate::checkpoint) fn in_pieces(
        &self,
        version: Version,
        pe: PeId,
    ) -> Result<InPieces, StoreError> {
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

    /// The part that a PE begins with in this view, which was not there when the version was taken, in the same form: made of that of the one
    /// that stood in for it.
    ///
    /// # Errors
    /// That one is not here, or is not what it was.
    fn part_of_newcomer(&self, version: Version, pe: PeId, view: &View) -> Result<InPieces, StoreError> {
        let before = self.taken_in(version).ok_or(StoreError::Missing { pe, version })?;
        let kept = self.part(version, before.seat(pe))?;
        let part = Packed::of(&Seats::after(&before, view).part_instead_of(pe, kept));
        let (manifest, pieces) = summed(&part);
        Ok((before.of_nodes().clone(), manifest, pieces))
    }

    /// What the PE of this number is to have of a version in this view, on its way to the node that it is on.
    ///
    /// # Errors
    /// It is not here, or is not what it was.
    pub(in crate::checkpoint) fn handed(
        &self,
        version: Version,
        pe: PeId,
        view: &View,
    ) -> Result<InPieces, StoreError> {
        match self.taken_in(version).is_some_and(|before| !before.is_there(pe)) {
            true => self.part_of_newcomer(version, pe, view),
            false => self.in_pieces(version, pe),
        }
    }

    /// The parts that a PE restores in this view are left what is theirs: some that were not there when the version was taken may be by now.
    pub(in crate::checkpoint) fn make_room(
        &self,
        version: Version,
        view: &View,
        pe: PeId,
        parts: &mut [Part],
    ) {
        if let Some(before) = self.taken_in(version) {
            Seats::after(&before, view).make_room(pe, parts);
        }
    }

    /// Who was there when a version was taken that something is held of.
    pub(super) fn taken_in(&self, version: Version) -> Option<View> {
        self.lock().kept.get(&version).map(|kept| kept.view.clone())
    }
}

/// A part in pieces, with their checksums.
fn summed(part: &Packed) -> (Manifest, Vec<(Vec<Segment>, u32)>) {
    let (manifest, pieces) = cut(part);
    let summed = |slices: Vec<Segment>| {
        let sum = checksum(&slices);
        (slices, sum)
    };
    (manifest, pieces.into_iter().map(summed).collect())
}

pub(super) fn read(part: Packed, version: Version, pe: PeId) -> Result<Part, StoreError> {
    part.into_value().map_err(|error| StoreError::Unreadable { pe, version, error })
}
