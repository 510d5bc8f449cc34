//! The version of a former job that this one goes on from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use talisman_ft::NodeId;
use talisman_ft::double::Held;

use super::super::files::keeper::AnyDisk;
use super::super::files::{image, set};
use super::super::newcomers::Seats;
use super::super::part::Part;
use super::StoreError;
use super::reading::read;
use crate::cluster::keeping::Restart;
use crate::ids::PeId;
use crate::view::View;

/// A version of a former job, whose parts every node of this host can read.
pub(super) struct Former {
    pub(super) restart: Restart,
    /// Who was there when this job began.
    pub(super) view: View,
    /// Where the folders of nodes are, if not in that of the job.
    pub(super) disks: Mutex<BTreeMap<NodeId, AnyDisk>>,
}

impl Former {
    /// Any node of the host reads any file.
    pub(super) fn held(&self) -> Held {
        let view = self.restart.view.clone();
        let held = view.there().collect();
        Held { version: self.restart.version, view, held, committed: true, missed: Vec::new() }
    }

    /// Those of the PEs whose seat this one is, its own first. If it had none, it has what it begins with; and whatever somebody
    /// else had kept for those whose seat it is now.
    pub(super) fn parts(&self, pe: PeId) -> Result<Vec<Part>, StoreError> {
        let mut own: Vec<_> = self.pes().filter(|of| self.view.seat(*of) == pe).collect();
        own.sort_by_key(|of| *of != pe);
        let mut parts = own.iter().map(|of| self.part(*of)).collect::<Result<Vec<_>, _>>()?;
        let newcomers: Vec<PeId> = self.view.there().filter(|pe| self.pes().all(|of| of != *pe)).collect();
        let before = self.view_before();
        let seats = Seats::after(&before, &self.view);
        parts.iter_mut().for_each(|part| seats.keep(part, pe));
        for of in self.kept_for_those_of(pe) {
            parts.push(seats.taken_over(pe, self.part(of)?));
        }
        if let Some(first) = self.pes().next().filter(|_| newcomers.contains(&pe)) {
            parts.insert(0, seats.part_of_newcomer(pe, self.part(first)?));
        }
        parts.iter_mut().for_each(|part| seats.announce(part, &newcomers));
        Ok(parts)
    }

    /// In which the version was taken.
    fn view_before(&self) -> View {
        View::new(self.restart.taken_in.clone(), self.restart.pes_per_node)
    }

    /// The PEs that have a part.
    fn pes(&self) -> impl Iterator<Item = PeId> + '_ {
        self.restart.parts.iter().map(|(pe, _)| *pe)
    }

    /// Who had stood in for PEs whose seat this one is now, and has another seat itself.
    fn kept_for_those_of(&self, pe: PeId) -> BTreeSet<PeId> {
        let before = self.view_before();
        let pes = self.restart.taken_in.nodes() * self.restart.pes_per_node;
        let own = (0..pes).filter(|of| self.view.seat(*of) == pe && !before.is_there(*of));
        own.map(|of| before.seat(of)).filter(|by| self.view.seat(*by) != pe).collect()
    }

    fn part(&self, of: PeId) -> Result<Part, StoreError> {
        let Restart { dir, job, version, parts, .. } = &self.restart;
        let missing = StoreError::Missing { pe: of, version: *version };
        let (_, node) = parts.iter().find(|(pe, _)| *pe == of).ok_or(missing)?;
        // Nobody panics half way through an operation of a disk.
        let mut disks = self.disks.lock().unwrap_or_else(PoisonError::into_inner);
        let part = match disks.get_mut(node) {
            Some(disk) => image::read(disk, *job, *version, of),
            None => set::part(dir, *node, (*job, *version), of),
        };
        let error = |why: String| StoreError::File { pe: of, version: *version, why };
        read(part.map_err(|wrong| error(wrong.to_string()))?, *version, of)
    }
}
