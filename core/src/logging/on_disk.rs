//! The parts of a line, as they are on disk: in the form in which other jobs keep theirs, so that any can go on from them.
//!
//! A line is committed before anything of it is written, and nothing depends on the disks. What the program had reported on a node is with
//! the part of its first PE, as in other jobs; its lines were printed before the line began.

use super::image::{Beginning, Image};
use super::member::Member;
use crate::checkpoint::part::Part;
use talisman_base::ids::PeId;
use talisman_base::view::View;
use talisman_ft::NodeId;
use talisman_job::output_commit::SavedPeriod;
use talisman_observe::mutations::mutated;
use talisman_pup::Packed;
use talisman_store::versions::{Fate, Store};

impl Member {
    /// What this node has of the line that it is in: its own place, and those that it keeps for others. Each is on two nodes.
    pub fn line_images(&self) -> Vec<Image> {
        let is_of_line = |image: &&Image| image.line == self.line && !image.states.is_empty();
        let own = self.images.to_send().map(|(_, image)| image);
        own.chain(self.images.all_kept()).filter(is_of_line).cloned().collect()
    }
}

impl Image {
    /// The part of each of its PEs.
    ///
    /// # Errors
    /// It has not begun with parts of a checkpoint, or these cannot be read.
    fn parts_on_disk(&self, pes_per_node: u32) -> Result<Vec<(PeId, Packed)>, String> {
        let first = self.of * pes_per_node;
        let part = |(rank, state): (u32, &Beginning)| match state {
            Beginning::Parts(parts) => part_of(parts, (rank == 0).then(|| self.reported())),
            _ => Err(format!("node {} has not begun with a checkpoint", self.of)),
        };
        (0..).zip(&self.states).map(|(rank, state)| Ok((first + rank, part((rank, state))?))).collect()
    }

    fn reported(&self) -> SavedPeriod {
        SavedPeriod::of_results(self.line, self.of, self.results.clone())
    }
}

/// The only part of a PE that has gone on from a cut.
fn part_of(parts: &Packed, reported: Option<SavedPeriod>) -> Result<Packed, String> {
    let mut parts: Vec<Part> = parts.clone().into_value().map_err(|error| error.to_string())?;
    let mut part = parts.pop().filter(|_| parts.is_empty()).ok_or("it is not one part")?;
    part.said.extend(reported.filter(|_| !mutated("results-not-on-disk")));
    Ok(Packed::of(&part))
}

/// Puts these places into the store, in this view, and has them written. Whose parts those are.
///
/// # Errors
/// One cannot be read.
pub fn begin_to_write(store: &Store, images: &[Image], view: &View) -> Result<Vec<PeId>, String> {
    let mut all = Vec::new();
    for image in images {
        for (pe, part) in image.parts_on_disk(view.shape().pes_per_node)? {
            store.put(image.line, view, pe, part);
            all.push(pe);
        }
    }
    let line = images.first().map(|image| image.line);
    line.into_iter().for_each(|line| drop(store.write(line, |pe| all.contains(&pe))));
    Ok(all)
}

/// Whether the parts of these PEs are on disk; none as long as that is not known of all.
pub fn has_written(store: &Store, line: talisman_ft::Version, parts: &[PeId]) -> Option<Result<(), String>> {
    let fates: Vec<_> = parts.iter().map(|pe| store.fate_on_disk(line, *pe)).collect();
    let wrong = fates.iter().find_map(|fate| match fate {
        Fate::NotSafe(why) => Some(why.clone()),
        _ => None,
    });
    match wrong {
        Some(why) => Some(Err(why)),
        None => fates.iter().all(|fate| *fate == Fate::Safe).then_some(Ok(())),
    }
}

/// Numbers that no node of this view has.
pub fn absent_in(view: &talisman_ft::view::View) -> std::collections::BTreeSet<NodeId> {
    (0..view.nodes()).filter(|node| !view.is_there(*node)).collect()
}
