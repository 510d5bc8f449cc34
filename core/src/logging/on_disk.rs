//! The parts of a line, as they are on disk: in the form in which other jobs keep theirs, so that any can go on from them.
//!
//! A line is committed before anything of it is written, and nothing depends on the disks. What the program had reported on a node is with
//! the part of its first PE, as in other jobs; its lines were printed before the line began.

use super::image::{Beginning, Guest, Image};
use super::member::Member;
use crate::checkpoint::part::Part;
use talisman_base::ids::PeId;
use talisman_base::view::View;
use talisman_job::output_commit::SavedPeriod;
use talisman_observe::mutations::mutated;
use talisman_pup::Packed;
use talisman_store::versions::{Fate, Store};

impl Member {
    /// What this node has of the line that it is in: its own place, and those that it keeps for others. Each is on two nodes. What was made for
    /// whoever was not there before is in the part that it was made of.
    pub fn line_images(&self) -> Vec<Image> {
        let is_of_line =
            |image: &&Image| image.line == self.line && !image.states.is_empty() && !image.is_of_newcomer();
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
        let guests = self.guests.iter().map(|Guest { of, states, results }| (*of, states, results));
        let mut all = Vec::new();
        for (of, states, results) in [(self.of, &self.states, &self.results)].into_iter().chain(guests) {
            let reported = SavedPeriod::of_results(self.line, of, results.clone());
            for (rank, state) in (0..).zip(states) {
                let Beginning::Parts(parts) = state else {
                    return Err(format!("node {of} has not begun with a checkpoint"));
                };
                let part = part_of(parts, (rank == 0).then(|| reported.clone()))?;
                all.push((of * pes_per_node + rank, part));
            }
        }
        Ok(all)
    }
}

/// The only part of a PE that has gone on from a cut.
fn part_of(parts: &Packed, reported: Option<SavedPeriod>) -> Result<Packed, String> {
    let mut parts: Vec<Part> = parts.clone().into_value().map_err(|error| error.to_string())?;
    let mut part = parts.pop().filter(|_| parts.is_empty()).ok_or("it is not one part")?;
    part.said.extend(reported.filter(|_| !mutated("results-not-on-disk")));
    Ok(Packed::of(&part))
}

/// Puts these places into the store, in this view or that in which they were taken, and has them written. Whose parts those are.
///
/// # Errors
/// One cannot be read.
pub fn begin_to_write(store: &Store, images: &[Image], view: &View) -> Result<Vec<PeId>, String> {
    let mut all = Vec::new();
    for image in images {
        let pes = view.shape().pes_per_node;
        let taken_in = image.taken_in.clone().map(|before| View::new(before, pes));
        for (pe, part) in image.parts_on_disk(pes)? {
            store.put(image.line, taken_in.as_ref().unwrap_or(view), pe, part);
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
