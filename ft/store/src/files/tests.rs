//! Files of versions, on disks that fail and lose their power.

mod catalogs;
mod kept;
mod powerless;
mod spread;

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use talisman_ft::{NodeId, Version};

use super::catalog::{self, CatalogError, Disks, Whole};
use super::checkpoint_dir::{CheckpointDir, CheckpointDirError};
use super::manifest::JobMark;
use crate::disk::DiskRates;
use crate::disk::{Disk, DiskError, SharedDisk, SimulatedDisk};
use talisman_base::ids::PeId;
use talisman_base::rng::Rng;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_pup::{Packed, Segment};

const SHAPE: Shape = Shape { nodes: 3, pes_per_node: 2 };

fn disk(seed: u64) -> SharedDisk {
    disk_with(seed, DiskRates::default())
}

fn disk_with(seed: u64, rates: DiskRates) -> SharedDisk {
    SharedDisk::new(SimulatedDisk::new(rates, Rng::new(seed)))
}

fn job(id: u64) -> JobMark {
    JobMark { id, program: "program".into(), ..JobMark::default() }
}

/// What a PE has in a version: no two are alike.
fn image(version: Version, pe: PeId) -> Packed {
    let bytes = Bytes::from(vec![pe as u8; 700 + version as usize]);
    let words: Vec<u64> = (0..100 * u64::from(pe)).map(|word| word ^ version).collect();
    Packed::new(bytes, vec![Segment::of_vec(words)], Vec::new())
}

fn put<D: Disk>(
    checkpoint_dir: &mut CheckpointDir<D>,
    view: &View,
    version: Version,
    pe: PeId,
) -> Result<(), DiskError> {
    begin(checkpoint_dir, view, version, pe)?;
    checkpoint_dir.settle().1
}

fn begin<D: Disk>(
    checkpoint_dir: &mut CheckpointDir<D>,
    view: &View,
    version: Version,
    pe: PeId,
) -> Result<(), DiskError> {
    let buffers = image(version, pe).buffers();
    let sizes = buffers.iter().map(|one| (one.bytes().len() as u64, one.align() as u32)).collect();
    let slices: Vec<&[u8]> = buffers.iter().map(Segment::bytes).collect();
    checkpoint_dir.begin((version, pe), view, 1_000_000, sizes, &slices)
}

/// In whose folder each part was found.
fn folders(found: &Whole) -> Vec<(PeId, NodeId)> {
    found.parts.iter().map(|(pe, places)| (*pe, places[0].node)).collect()
}

/// The parts that a node keeps: its own, and those of the node before it.
fn kept_by(node: NodeId) -> impl Iterator<Item = PeId> {
    let before = (node + SHAPE.nodes - 1) % SHAPE.nodes;
    [node, before].into_iter().flat_map(|node| 2 * node..2 * node + 2)
}

/// The disks of all nodes, with these versions.
fn disks(versions: impl IntoIterator<Item = Version> + Clone) -> BTreeMap<NodeId, SharedDisk> {
    let disk = |node: NodeId| {
        let disk = disk(node.into());
        let mut checkpoint_dir = CheckpointDir::open(disk.clone(), job(7), SHAPE).unwrap();
        for version in versions.clone() {
            kept_by(node).for_each(|pe| put(&mut checkpoint_dir, &View::whole(SHAPE), version, pe).unwrap());
        }
        (node, disk)
    };
    (0..SHAPE.nodes).map(disk).collect()
}

fn newest(disks: &BTreeMap<NodeId, SharedDisk>) -> Result<Whole, CatalogError> {
    catalog::newest(Path::new("/set"), &mut Disks(disks.clone()))
}
