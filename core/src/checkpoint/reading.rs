//! Parts taken out of the store again: to be restored here, or to go to another process.

use talisman_base::ids::PeId;
use talisman_base::view::View;
use talisman_ft::Version;
use talisman_pup::Packed;
use talisman_store::versions::former::Former;
use talisman_store::versions::reading::summed;
use talisman_store::versions::{InPieces, Store, StoreError};

use super::joiners::Redistribution;
use super::part::Part;

/// The parts of which a PE was made, read: its own, or what it had taken over from a former job.
///
/// # Errors
/// That one is not here, or is not what it was.
pub fn parts_of(store: &Store, version: Version, pe: PeId) -> Result<Vec<Part>, StoreError> {
    match store.former(version) {
        Some(former) => parts_of_former(former, pe),
        None => Ok(vec![store.part(version, pe)?]),
    }
}

/// What the PE of this number is to have of a version in this view, on its way to the node that it is on.
///
/// # Errors
/// It is not here, or is not what it was.
pub(super) fn handed(store: &Store, version: Version, pe: PeId, view: &View) -> Result<InPieces, StoreError> {
    match store.taken_in(version).is_some_and(|before| !before.is_there(pe)) {
        true => part_of_newcomer(store, version, pe, view),
        false => store.in_pieces(version, pe),
    }
}

/// The parts that a PE restores in this view are left what is theirs: some that were not there when the version was taken may be by now.
pub(super) fn make_room(store: &Store, version: Version, view: &View, pe: PeId, parts: &mut [Part]) {
    if let Some(before) = store.taken_in(version) {
        Redistribution::after(&before, view).make_room(pe, parts);
    }
}

/// The part that a PE begins with in this view, which was not there when the version was taken, in the same form: made of that of the one
/// that acted for it.
///
/// # Errors
/// That one is not here, or is not what it was.
fn part_of_newcomer(store: &Store, version: Version, pe: PeId, view: &View) -> Result<InPieces, StoreError> {
    let before = store.taken_in(version).ok_or(StoreError::Missing { pe, version })?;
    let kept = store.part(version, before.acting_for(pe))?;
    let part = Packed::of(&Redistribution::after(&before, view).part_instead_of(pe, kept));
    let (manifest, pieces) = summed(&part);
    Ok((before.of_nodes().clone(), manifest, pieces))
}

/// Those of the PEs for which this one acts, its own first. If it had none, it has what it begins with; and whatever somebody
/// else had kept for those that it acts for now.
fn parts_of_former(former: &Former, pe: PeId) -> Result<Vec<Part>, StoreError> {
    let mut parts = former.own(pe).iter().map(|of| former.part(*of)).collect::<Result<Vec<_>, _>>()?;
    let before = former.view_before();
    let acting = Redistribution::after(&before, &former.view);
    let newcomers = acting.newcomers();
    parts.iter_mut().for_each(|part| acting.keep(part, pe));
    for (from, node) in former.members_to_fetch(&acting, pe) {
        parts.push(acting.members_of(node, former.part(from)?));
    }
    for of in former.kept_for_those_of(pe) {
        parts.push(acting.taken_over(pe, former.part(of)?));
    }
    if newcomers.contains(&pe) {
        match former.pattern(pe) {
            Some(pattern) => parts.insert(0, acting.part_of_newcomer(pe, former.part(pattern)?)),
            None => parts[0].newborn = acting.members_of_newcomer(pe, &parts[0]),
        }
    }
    parts.iter_mut().for_each(|part| acting.announce(part, &newcomers));
    Ok(parts)
}
