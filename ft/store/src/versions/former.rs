//! The version of a former job that this one goes on from.
//!
//! Every node can have every part: from the folders of its own host, or, where a part is in none of these, from another one, which is
//! asked for it ([`FetchRemote`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use talisman_ft::NodeId;
use talisman_ft::double::Held;

use super::StoreError;
use super::reading::read;
use crate::disk::{Disk, Folder};
use crate::files::catalog::{self, Place};
use crate::files::image;
use crate::files::remote::{self, Piece};
use crate::files::writer::AnyDisk;
use crate::files::{File, folder_of};
use crate::restart::Restart;
use crate::view_change::ViewChange;
use talisman_base::ids::PeId;
use talisman_base::view::View;
use talisman_pup::{Packed, Pup};

/// Some bytes of the file of a PE's part in a folder of another host, from this one on: see [`remote::PIECE`].
pub type FetchRemote = Box<dyn Fn(PeId, Place, u64) -> Result<Piece, String> + Send + Sync>;

/// A version of a former job, whose parts every node can read.
pub struct Former {
    pub restart: Restart,
    /// The number of this host.
    pub host: u32,
    /// How files of others are come by, if there are any.
    pub fetch_remote: Option<FetchRemote>,
    /// Who was there when this job began.
    pub view: View,
    /// Where the folders of nodes are, if not in that of the job.
    pub disks: Mutex<BTreeMap<NodeId, AnyDisk>>,
}

impl Former {
    /// Any node has any file read, as long as that is there. Who knows that a newer version is committed takes these away, and may be lost then,
    /// before the others know.
    pub fn held(&self) -> Held {
        let view = self.restart.view.clone();
        let left = self.left();
        let is_left = |pe: PeId| self.needed(pe).iter().all(|of| left.contains(of));
        let held = view.there().filter(|node| self.view.lanes_of(*node).all(is_left)).collect();
        Held { version: self.restart.version, view, held, committed: true, missed: Vec::new() }
    }

    /// Those for which a PE acts, itself first.
    pub fn own(&self, pe: PeId) -> Vec<PeId> {
        let mut own: Vec<_> = self.pes().filter(|of| self.view.acting_for(*of) == pe).collect();
        own.sort_by_key(|of| *of != pe);
        own
    }

    /// From whose part a PE learns the collections that has none itself.
    pub fn pattern(&self, pe: PeId) -> Option<PeId> {
        if self.view_before().is_there(pe) { None } else { self.pes().next() }
    }

    /// Members of nodegroups that a PE has from the parts of others: from whose, and of which node.
    pub fn members_to_fetch(&self, acting: &ViewChange, pe: PeId) -> Vec<(PeId, NodeId)> {
        if self.restart.moves_members { acting.members_to_fetch(pe).collect() } else { Vec::new() }
    }

    /// Those whose parts a PE is made of.
    fn needed(&self, pe: PeId) -> Vec<PeId> {
        let before = self.view_before();
        let members = self.members_to_fetch(&ViewChange::after(&before, &self.view), pe);
        let members = members.into_iter().map(|(from, _)| from);
        self.own(pe)
            .into_iter()
            .chain(self.kept_for_those_of(pe))
            .chain(members)
            .chain(self.pattern(pe))
            .collect()
    }

    /// Those whose files are somewhere. Other hosts are not asked, and may have what they had.
    fn left(&self) -> BTreeSet<PeId> {
        let mut names: BTreeMap<NodeId, Vec<String>> = BTreeMap::new();
        let mut has = |place: &Place, of: PeId| {
            let names = names.entry(place.node).or_insert_with(|| self.names(place.node));
            place.host != self.host
                || names.binary_search(&File::Part(self.restart.version, of).name()).is_ok()
        };
        let parts = self.restart.parts.iter();
        parts.filter(|(of, places)| places.iter().any(|place| has(place, *of))).map(|(of, _)| *of).collect()
    }

    /// Of the files in the folder of a node, in increasing order; none if it cannot be read.
    fn names(&self, node: NodeId) -> Vec<String> {
        // Nobody panics half way through an operation of a disk.
        let mut disks = self.disks.lock().unwrap_or_else(PoisonError::into_inner);
        let names = match disks.get_mut(&node) {
            Some(disk) => disk.list().ok(),
            None => {
                let folder = Folder::open_with(&folder_of(&self.restart.dir, node), &self.restart.key);
                folder.and_then(|mut folder| folder.list()).ok()
            }
        };
        names.unwrap_or_default()
    }

    /// In which the version was taken.
    pub fn view_before(&self) -> View {
        View::new(self.restart.taken_in.clone(), self.restart.pes_per_node)
    }

    /// The PEs that have a part.
    fn pes(&self) -> impl Iterator<Item = PeId> + '_ {
        self.restart.parts.iter().map(|(pe, _)| *pe)
    }

    /// Who had acted for PEs for which this one acts now, and has another acting PE itself.
    pub fn kept_for_those_of(&self, pe: PeId) -> BTreeSet<PeId> {
        let before = self.view_before();
        let pes = self.restart.taken_in.nodes() * self.restart.pes_per_node;
        let own = (0..pes).filter(|of| self.view.acting_for(*of) == pe && !before.is_there(*of));
        own.map(|of| before.acting_for(of)).filter(|by| self.view.acting_for(*by) != pe).collect()
    }

    /// From this host if it is there, else from another: from the next one if what one has is not what it was.
    pub fn part<T: Pup>(&self, of: PeId) -> Result<T, StoreError> {
        let Restart { version, parts, .. } = &self.restart;
        let missing = StoreError::Missing { pe: of, version: *version };
        let (_, places) = parts.iter().find(|(pe, _)| *pe == of).ok_or(missing)?;
        let (here, elsewhere): (Vec<&Place>, Vec<&Place>) =
            places.iter().partition(|place| place.host == self.host);
        let mut wrong = Vec::new();
        for place in here.into_iter().chain(elsewhere) {
            match self.part_at(*place, of) {
                Ok(part) => return read(part, *version, of),
                Err(why) => wrong.push(format!("in {}: {why}", self.restart.folder(*place))),
            }
        }
        Err(StoreError::File { pe: of, version: *version, why: wrong.join("; ") })
    }

    fn part_at(&self, place: Place, of: PeId) -> Result<Packed, String> {
        let Restart { dir, key, job, version, .. } = &self.restart;
        if place.host != self.host {
            let fetch_remote = self.fetch_remote.as_ref().ok_or("that host cannot be asked")?;
            let file = remote::whole(|from| fetch_remote(of, place, from))?;
            return image::of_file(file, key, (*job, *version), of).map_err(|error| error.to_string());
        }
        // Nobody panics half way through an operation of a disk.
        let mut disks = self.disks.lock().unwrap_or_else(PoisonError::into_inner);
        let part = match disks.get_mut(&place.node) {
            Some(disk) => image::read(disk, *job, *version, of),
            None => catalog::part((dir, key), place.node, (*job, *version), of),
        };
        part.map_err(|error| error.to_string())
    }
}
