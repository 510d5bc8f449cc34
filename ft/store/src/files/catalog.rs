//! The folders of all nodes of a job, on one host or on several: which version is whole, and where its parts are.
//!
//! A version is whole if each PE that was there has a part in it that is as it was written, in whichever folder. Whether it was
//! committed does not matter: it is a cut of the job in either case.
//!
//! Several hosts may see one folder, or each a folder of its own: to find what is whole that makes no difference.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use talisman_ft::{NodeId, Version};

use super::image::{self, ImageError};
use super::listing::{Found, Listing};
use super::manifest::Manifest;
use super::{File, folder_of};
use crate::disk::{Disk, Folder, KeyFile, ReadError};
use talisman_base::ids::PeId;
use talisman_pup::Packed;

/// So many parts that are nowhere are named each.
const NAMED_MAX: usize = 16;

/// The folder of a node on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    pub node: NodeId,
    /// By its number among those of the job that looks.
    pub host: u32,
}

/// The hosts that have such folders, all under one path.
pub trait Hosts {
    /// What each of them has, by its number.
    ///
    /// # Errors
    /// One cannot be asked.
    fn list(&mut self) -> Result<BTreeMap<u32, Listing>, String>;

    /// What is wrong with each of these parts of a version of a cut, if anything is. They are read, all of them.
    ///
    /// # Errors
    /// A host cannot be asked any more.
    fn check(&mut self, of: (u64, Version), parts: &[(Place, PeId)]) -> Result<Vec<Option<String>>, String>;

    /// One of them.
    ///
    /// # Errors
    /// It is not there any more, or not as it was.
    fn part(&mut self, of: (u64, Version), place: Place, pe: PeId) -> Result<Packed, String>;

    /// What a host is called, if there are several.
    fn name(&self, host: u32) -> Option<&str>;
}

/// A folder of this host, which is the only one, and the key of its files.
pub struct Here<'a>(pub &'a Path, pub KeyFile);

/// The disks of nodes, wherever they are.
pub struct Disks<D>(pub BTreeMap<NodeId, D>);

/// A version from which a job can go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    pub manifest: Manifest,
    /// In which folders the part of each PE is, first the one in which it was found to be as it was written.
    pub parts: BTreeMap<PeId, Vec<Place>>,
    /// No version from this one on has left any file.
    pub next: Version,
    /// What people should know: versions that are not whole, and files that are damaged.
    pub notes: Vec<String>,
}

/// No job can go on from a folder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// There is nothing.
    #[error(
        "there is no checkpoint in {}{hosts}: it has no folder of a node (node-0, …) with a version in it; give the folder \
         that --ckpt-dir of the job named",
        dir.display()
    )]
    Empty {
        /// The folder.
        dir: PathBuf,
        /// Where it was looked for, if not on this host alone.
        hosts: String,
    },
    /// Folders of nodes are not of one job.
    #[error(
        "{} has checkpoints of more than one job ({}): put those of each in a folder of its own",
        dir.display(),
        programs.join(", ")
    )]
    Mixed {
        /// The folder.
        dir: PathBuf,
        /// Whose.
        programs: Vec<String>,
    },
    /// No version is whole.
    #[error("no checkpoint in {} is whole, and nothing was changed there:{}", dir.display(), list(notes))]
    NoneWhole {
        /// The folder.
        dir: PathBuf,
        /// What is wrong with each.
        notes: Vec<String>,
    },
    /// The folder cannot be read.
    #[error("cannot look for checkpoints in {}: {why}", dir.display())]
    Unreadable {
        /// The folder.
        dir: PathBuf,
        /// The system's reason.
        why: String,
    },
}

/// The newest version in a folder of these hosts that is whole. All of it is read, and nothing is changed.
///
/// # Errors
/// There is none.
pub fn newest(dir: &Path, hosts: &mut impl Hosts) -> Result<Whole, CatalogError> {
    let listings = hosts.list().map_err(|why| CatalogError::Unreadable { dir: dir.to_owned(), why })?;
    Set { dir, hosts, listings }.newest()
}

/// The folders of the nodes of a job, and what is in them.
struct Set<'a, H> {
    dir: &'a Path,
    hosts: &'a mut H,
    listings: BTreeMap<u32, Listing>,
}

/// A manifest, and the folders that have it.
///
/// Mostly all that a version has are one. But who was lost when it had taken its part, before anybody else had, has left that of a version
/// that nobody knew of, so that those who went on gave its number to another one. The parts of these two are of no cut together.
struct ManifestHolders {
    manifest: Manifest,
    folders: BTreeSet<Place>,
}

impl ManifestHolders {
    fn add(all: &mut Vec<ManifestHolders>, host: u32, found: &Found) {
        let Found { manifest, folders } = found;
        let folders = folders.iter().map(|node| Place { node: *node, host });
        // They say the same but for the time.
        match all
            .iter_mut()
            .find(|of| of.manifest.view == manifest.view && of.manifest.job.id == manifest.job.id)
        {
            Some(known) => known.folders.extend(folders),
            None => all.push(ManifestHolders { manifest: manifest.clone(), folders: folders.collect() }),
        }
        all.sort_by_key(|of| Reverse(of.manifest.view.epoch));
    }

    /// The folders whose parts may be of this one. If it is the only one, they may be so without a manifest that can be read.
    fn candidates(
        &self,
        all: &[ManifestHolders],
        places: &BTreeMap<Place, BTreeSet<PeId>>,
    ) -> BTreeMap<PeId, VecDeque<Place>> {
        let is_own = |place: &Place| all.len() == 1 || self.folders.contains(place);
        let mut candidates = BTreeMap::<PeId, VecDeque<Place>>::new();
        for (place, parts) in places.iter().filter(|(place, _)| is_own(place)) {
            parts.iter().for_each(|pe| candidates.entry(*pe).or_default().push_back(*place));
        }
        candidates
    }
}

/// Which folders have files of a version.
type Places = BTreeMap<Version, BTreeMap<Place, BTreeSet<PeId>>>;

impl<H: Hosts> Set<'_, H> {
    fn newest(&mut self) -> Result<Whole, CatalogError> {
        let (dir, places) = (self.dir.to_owned(), self.places());
        let Some(last) = places.keys().next_back() else {
            return Err(CatalogError::Empty { dir, hosts: self.in_words() });
        };
        let next = last.saturating_add(1);
        let (manifests, mut notes) = self.manifests(&places);
        self.check_job(&manifests)?;
        for (version, manifests) in manifests.into_iter().rev() {
            for own in &manifests {
                let candidates = own.candidates(&manifests, &places[&version]);
                let parts = self.parts(&own.manifest, candidates, &mut notes);
                if let Some(parts) =
                    parts.map_err(|why| CatalogError::Unreadable { dir: dir.clone(), why })?
                {
                    return Ok(Whole { manifest: own.manifest.clone(), parts, next, notes });
                }
            }
            notes.push(format!("version {version} is not whole"));
        }
        notes.extend(self.missing());
        Err(CatalogError::NoneWhole { dir, notes })
    }

    fn places(&self) -> Places {
        let mut places = Places::new();
        for (host, listing) in &self.listings {
            for (node, versions) in &listing.folders {
                let place = Place { node: *node, host: *host };
                for (version, parts) in versions {
                    places.entry(*version).or_default().insert(place, parts.iter().copied().collect());
                }
            }
        }
        places
    }

    /// The manifests that can be read, those of later epochs first; each folder with parts of a version has one.
    fn manifests(&self, places: &Places) -> (BTreeMap<Version, Vec<ManifestHolders>>, Vec<String>) {
        let (mut manifests, mut notes) = (BTreeMap::<Version, Vec<ManifestHolders>>::new(), Vec::new());
        for (host, listing) in &self.listings {
            for found in &listing.manifests {
                ManifestHolders::add(manifests.entry(found.manifest.version).or_default(), *host, found);
            }
            let damaged = listing.damaged.iter();
            notes
                .extend(damaged.map(|(node, what)| self.in_folder(Place { node: *node, host: *host }, what)));
        }
        manifests.retain(|version, _| places.contains_key(version));
        let without_manifest = places.keys().filter(|version| !manifests.contains_key(*version));
        notes.extend(without_manifest.map(|version| {
            format!(
                "version {version} has no manifest that can be read ({})",
                File::Manifest(*version).name()
            )
        }));
        (manifests, notes)
    }

    /// All are of one job.
    fn check_job(&self, manifests: &BTreeMap<Version, Vec<ManifestHolders>>) -> Result<(), CatalogError> {
        let mut jobs = BTreeMap::<u64, (&str, BTreeSet<u32>)>::new();
        for of in manifests.values().flatten() {
            let job = jobs.entry(of.manifest.job.id).or_insert((&of.manifest.job.program, BTreeSet::new()));
            job.1.extend(of.folders.iter().map(|place| place.host));
        }
        if jobs.len() <= 1 {
            return Ok(());
        }
        let on = |hosts: &BTreeSet<u32>| -> String {
            let names: Vec<&str> = hosts.iter().filter_map(|host| self.hosts.name(*host)).collect();
            if names.is_empty() { String::new() } else { format!(" on {}", names.join(", ")) }
        };
        let in_words = |(id, (program, hosts)): (&u64, &(&str, BTreeSet<u32>))| {
            format!("{program}, job {id:x}{}", on(hosts))
        };
        let programs = jobs.iter().map(in_words).collect();
        Err(CatalogError::Mixed { dir: self.dir.to_owned(), programs })
    }

    /// Where each part is; nothing if one is nowhere. All hosts read at the same time.
    fn parts(
        &mut self,
        manifest: &Manifest,
        mut candidates: BTreeMap<PeId, VecDeque<Place>>,
        notes: &mut Vec<String>,
    ) -> Result<Option<BTreeMap<PeId, Vec<Place>>>, String> {
        // What a manifest says of the number of PEs is no reason to take memory for them.
        let count = manifest.view.there().count() * manifest.pes_per_node as usize;
        candidates.retain(|pe, _| manifest.has_part_of(*pe));
        let mut found = BTreeMap::new();
        while let Some(looked_at) = next_of(&mut candidates) {
            let wrong = self.hosts.check((manifest.cut(), manifest.version), &looked_at)?;
            for ((place, pe), wrong) in looked_at.into_iter().zip(wrong) {
                match wrong {
                    None => {
                        let others = candidates.remove(&pe).unwrap_or_default();
                        found.insert(pe, [place].into_iter().chain(others).collect());
                    }
                    Some(what) => notes.push(self.in_folder(place, &what)),
                }
            }
        }
        if found.len() == count {
            return Ok(Some(found));
        }
        let missing = manifest.pes().filter(|pe| !found.contains_key(pe));
        notes.extend(missing.take(NAMED_MAX).map(|pe| {
            let name = File::Part(manifest.version, pe).name();
            format!("the part of PE {pe} in version {} is nowhere ({name})", manifest.version)
        }));
        if count - found.len() > NAMED_MAX {
            notes.push(format!("nor are those of {} others", count - found.len() - NAMED_MAX));
        }
        Ok(None)
    }

    /// The hosts that have no such folder.
    fn missing(&self) -> Option<String> {
        let missing = self.listings.iter().filter(|(_, listing)| listing.is_missing);
        let names: Vec<&str> = missing.filter_map(|(host, _)| self.hosts.name(*host)).collect();
        let dir = self.dir.display();
        (!names.is_empty()).then(|| format!("there is no folder {dir} on {}", names.join(", ")))
    }

    /// Where was looked, if that is not this host alone.
    fn in_words(&self) -> String {
        let names: Vec<&str> = self.listings.keys().filter_map(|host| self.hosts.name(*host)).collect();
        if names.is_empty() { String::new() } else { format!(" on any of the hosts ({})", names.join(", ")) }
    }

    fn in_folder(&self, place: Place, what: &str) -> String {
        format!("in {}: {what}", in_words(self.dir, place, self.hosts.name(place.host)))
    }
}

/// The next folder of each part that has not been found, and has any left.
fn next_of(candidates: &mut BTreeMap<PeId, VecDeque<Place>>) -> Option<Vec<(Place, PeId)>> {
    let next = candidates.iter_mut().filter_map(|(pe, places)| Some((places.pop_front()?, *pe)));
    let next: Vec<_> = next.collect();
    (!next.is_empty()).then_some(next)
}

/// The folder of a node, on the host of this name.
pub fn in_words(dir: &Path, place: Place, host: Option<&str>) -> String {
    let folder = folder_of(dir, place.node);
    match host {
        Some(host) => format!("{} on the host {host}", folder.display()),
        None => folder.display().to_string(),
    }
}

impl Hosts for Here<'_> {
    fn list(&mut self) -> Result<BTreeMap<u32, Listing>, String> {
        let listing = Listing::of(self.0, &self.1)?;
        match listing.is_missing {
            true => Err(std::io::Error::from(rustix::io::Errno::NOENT).to_string()),
            false => Ok(BTreeMap::from([(0, listing)])),
        }
    }

    fn check(&mut self, of: (u64, Version), parts: &[(Place, PeId)]) -> Result<Vec<Option<String>>, String> {
        Ok(parts.iter().map(|(place, pe)| self.part(of, *place, *pe).err()).collect())
    }

    fn part(&mut self, of: (u64, Version), place: Place, pe: PeId) -> Result<Packed, String> {
        part((self.0, &self.1), place.node, of, pe).map_err(|error| error.to_string())
    }

    fn name(&self, _: u32) -> Option<&str> {
        None
    }
}

impl<D: Disk> Hosts for Disks<D> {
    fn list(&mut self) -> Result<BTreeMap<u32, Listing>, String> {
        let listing = Listing::of_disks(&mut self.0).map_err(|error| error.to_string())?;
        Ok(BTreeMap::from([(0, listing)]))
    }

    fn check(&mut self, of: (u64, Version), parts: &[(Place, PeId)]) -> Result<Vec<Option<String>>, String> {
        Ok(parts.iter().map(|(place, pe)| self.part(of, *place, *pe).err()).collect())
    }

    fn part(&mut self, (cut, version): (u64, Version), place: Place, pe: PeId) -> Result<Packed, String> {
        let disk = self.0.get_mut(&place.node).ok_or("there is no such disk")?;
        image::read(disk, cut, version, pe).map_err(|error| error.to_string())
    }

    fn name(&self, _: u32) -> Option<&str> {
        None
    }
}

/// A part of a version, from the folder of a node, with the key of its files.
///
/// # Errors
/// It is not there any more, or not as it was.
pub fn part(
    (dir, key): (&Path, &KeyFile),
    node: NodeId,
    manifest: (u64, Version),
    pe: PeId,
) -> Result<Packed, ImageError> {
    let mut folder = Folder::open_with(&folder_of(dir, node), key).map_err(ReadError::from)?;
    image::read(&mut folder, manifest.0, manifest.1, pe)
}

fn list(notes: &[String]) -> String {
    notes.iter().map(|note| format!("\n  {note}")).collect()
}
