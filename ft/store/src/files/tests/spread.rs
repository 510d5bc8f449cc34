//! The same where each host has the folders of its own nodes, or all see one.

use std::collections::BTreeSet;

use super::super::catalog::{Hosts, Place};
use super::super::listing::{Found, Listing};
use super::super::{image, manifest::Manifest};
use super::*;

/// Hosts with the disks that each of them sees.
struct Spread {
    hosts: Vec<(&'static str, BTreeMap<NodeId, SharedDisk>)>,
    /// What was read.
    read: Vec<(Place, PeId)>,
}

impl Spread {
    /// The nodes of each host, all of whose disks are there.
    fn of(disks: &BTreeMap<NodeId, SharedDisk>, hosts: &[(&'static str, &[NodeId])]) -> Self {
        let disks_of = |nodes: &[NodeId]| nodes.iter().map(|node| (*node, disks[node].clone())).collect();
        let hosts = hosts.iter().map(|(name, nodes)| (*name, disks_of(nodes))).collect();
        Spread { hosts, read: Vec::new() }
    }

    fn newest(&mut self) -> Result<Whole, CatalogError> {
        catalog::newest(Path::new("/set"), self)
    }
}

impl Hosts for Spread {
    fn list(&mut self) -> Result<BTreeMap<u32, Listing>, String> {
        let listing = |(_, disks): &mut (_, BTreeMap<NodeId, SharedDisk>)| -> Result<Listing, String> {
            let listing = Listing::of_disks(disks).map_err(|error| error.to_string())?;
            Ok(Listing { is_missing: disks.is_empty(), ..listing })
        };
        (0..).zip(&mut self.hosts).map(|(number, host)| Ok((number, listing(host)?))).collect()
    }

    fn check(&mut self, of: (u64, Version), parts: &[(Place, PeId)]) -> Result<Vec<Option<String>>, String> {
        self.read.extend(parts);
        Ok(parts.iter().map(|(place, pe)| self.part(of, *place, *pe).err()).collect())
    }

    fn part(&mut self, (job, version): (u64, Version), place: Place, pe: PeId) -> Result<Packed, String> {
        let disk = self.hosts[place.host as usize].1.get_mut(&place.node).expect("it was listed");
        image::read(disk, job, version, pe).map_err(|error| error.to_string())
    }

    fn name(&self, host: u32) -> Option<&str> {
        self.hosts.get(host as usize).map(|(name, _)| *name)
    }
}

#[test]
fn a_version_is_whole_over_all_hosts_together() {
    let disks = disks([3, 4]);
    let mut hosts = Spread::of(&disks, &[("a", &[0]), ("b", &[1]), ("c", &[2])]);
    let found = hosts.newest().unwrap();
    assert_eq!((found.manifest.version, found.next, found.parts.len()), (4, 5, 6));
    for (pe, places) in &found.parts {
        let expected: BTreeSet<Place> = (0..3)
            .filter(|node| kept_by(*node).any(|kept| kept == *pe))
            .map(|node| Place { node, host: node })
            .collect();
        assert_eq!(places.iter().copied().collect::<BTreeSet<_>>(), expected, "PE {pe}");
    }
    assert_eq!(hosts.read.len(), 6, "one copy of each is read");
    // Two of three have all; one of them does not.
    assert_eq!(Spread::of(&disks, &[("a", &[0]), ("c", &[2])]).newest().unwrap().manifest.version, 4);
    let error = Spread::of(&disks, &[("a", &[0]), ("b", &[])]).newest().unwrap_err().to_string();
    assert!(error.contains("the part of PE 2 in version 4 is nowhere"), "{error}");
    assert!(error.contains("there is no folder /set on b"), "{error}");
    let error = Spread::of(&disks, &[("a", &[]), ("b", &[])]).newest().unwrap_err().to_string();
    assert!(error.contains("/set on any of the hosts (a, b)"), "{error}");
}

#[test]
fn one_folder_that_all_see_is_read_once() {
    let disks = disks([3]);
    let mut hosts = Spread::of(&disks, &[("a", &[0, 1, 2]), ("b", &[0, 1, 2])]);
    let found = hosts.newest().unwrap();
    assert_eq!((found.manifest.version, found.notes.len(), hosts.read.len()), (3, 0, 6));
    assert!(found.parts.values().all(|places| places.len() == 4), "{:?}", found.parts);
}

#[test]
fn what_is_damaged_is_named_with_its_host_and_others_are_asked() {
    let disks = disks([3]);
    disks[&1].clone().write("v3-pe2.part", &[b"short"]).unwrap();
    let mut hosts = Spread::of(&disks, &[("a", &[0]), ("b", &[1]), ("c", &[2])]);
    let found = hosts.newest().unwrap();
    assert_eq!(found.parts[&2], [Place { node: 2, host: 2 }]);
    assert!(found.notes[0].starts_with("in /set/node-1 on the host b: v3-pe2.part"), "{:?}", found.notes);
}

#[test]
fn hosts_with_checkpoints_of_several_jobs_are_refused_and_named() {
    let mut disks = disks([3]);
    let other = disk(9);
    put(&mut CheckpointDir::open(other.clone(), job(8), SHAPE).unwrap(), &View::whole(SHAPE), 3, 0).unwrap();
    disks.insert(7, other);
    let error =
        Spread::of(&disks, &[("a", &[0]), ("b", &[1]), ("c", &[7])]).newest().unwrap_err().to_string();
    assert!(error.contains("program, job 7 on a, b, program, job 8 on c"), "{error}");
}

/// Parts of two cuts that have one number are not put together, though each lacks what the other has.
#[test]
fn two_versions_with_one_number_on_two_hosts_are_not_mixed() {
    let disks: BTreeMap<NodeId, SharedDisk> = (0..2).map(|node| (node, disk(node.into()))).collect();
    let views = [View::whole(SHAPE), View::without(SHAPE, &[2])];
    for (node, view) in (0..2).zip(&views) {
        let mut checkpoint_dir = CheckpointDir::open(disks[&node].clone(), job(7), SHAPE).unwrap();
        (2 * node..2 * node + 2).for_each(|pe| put(&mut checkpoint_dir, view, 3, pe).unwrap());
    }
    let error = Spread::of(&disks, &[("a", &[0]), ("b", &[1])]).newest().unwrap_err().to_string();
    assert!(error.contains("no checkpoint in /set is whole"), "{error}");
}

/// A peer may say what it wants.
#[test]
fn a_cover_that_promises_too_much_takes_no_memory() {
    struct Liar(Listing);
    impl Hosts for Liar {
        fn list(&mut self) -> Result<BTreeMap<u32, Listing>, String> {
            Ok(BTreeMap::from([(0, self.0.clone())]))
        }

        fn check(
            &mut self,
            _: (u64, Version),
            parts: &[(Place, PeId)],
        ) -> Result<Vec<Option<String>>, String> {
            Ok(vec![None; parts.len()])
        }

        fn part(&mut self, _: (u64, Version), _: Place, _: PeId) -> Result<Packed, String> {
            Err("there is none".into())
        }

        fn name(&self, _: u32) -> Option<&str> {
            Some("a")
        }
    }
    let shape = Shape { nodes: 1, pes_per_node: u32::MAX };
    let manifest = Manifest::new(job(7), Version::MAX, shape, &View::whole(shape), 0);
    let folders = vec![(0, vec![(Version::MAX, vec![0, 5, u32::MAX])])];
    let manifests = vec![Found { manifest, folders: vec![0, 9] }];
    let listing = Listing { folders, manifests, ..Listing::default() };
    assert_eq!(listing.what_is_wrong(), None);
    let error = catalog::newest(Path::new("/set"), &mut Liar(listing)).unwrap_err().to_string();
    assert!(error.contains("the part of PE 1 in version"), "{error}");
    assert!(error.contains(&format!("nor are those of {} others", u32::MAX - 2 - 16)), "{error}");
}
