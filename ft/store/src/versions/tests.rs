//! What is kept, for how long, and what becomes of its memory.

use std::ptr::NonNull;

use bytes::Bytes;

use super::*;
use crate::disk::DiskRates;
use crate::disk::{Disk as _, SharedDisk, SimulatedDisk};
use crate::files::manifest::JobMark;
use crate::pieces::PIECE_MAX;
use crate::pieces::cut;
use crate::shm_map::Windows;
use crate::slabs::Room;
use talisman_base::rng::Rng;
use talisman_base::topology::Shape;

/// Two nodes of two PEs.
const SHAPE: Shape = Shape { nodes: 2, pes_per_node: 2 };

fn view() -> View {
    View::whole(SHAPE)
}

fn packed(size: usize) -> Packed {
    let cells: Vec<u64> = (0..size as u64 / 8).collect();
    Packed::new(Bytes::from_static(&[7; 5]), vec![Segment::of_vec(cells)], Vec::new())
}

/// Brings all of a part but the last pieces; what was said of the last that came.
fn bring(store: &Store, version: Version, pe: PeId, part: &Packed, without: usize) -> Option<bool> {
    let (manifest, pieces) = cut(part);
    store.expect(version, &view(), pe, manifest);
    let last = pieces.len() - without;
    let come = pieces.into_iter().take(last).zip(0..).map(|(slices, piece)| {
        store.add(version, pe, piece, checksum(&slices), slices).expect("it comes in turn")
    });
    come.last()
}

fn versions(store: &Store) -> Vec<(Version, Vec<NodeId>, bool)> {
    store.held().into_iter().map(|held| (held.version, held.held, held.committed)).collect()
}

#[test]
fn a_node_is_held_when_all_its_parts_are_whole() {
    let store = Store::default();
    store.put(3, &view(), 0, packed(80));
    assert_eq!(versions(&store), [(3, vec![], false)]);
    store.put(3, &view(), 1, packed(80));
    assert_eq!(versions(&store), [(3, vec![0], false)]);
    let part = packed(2 * PIECE_MAX);
    assert_eq!(bring(&store, 3, 2, &part, 0), Some(true));
    assert_eq!(bring(&store, 3, 3, &part, 1), Some(false));
    assert_eq!(versions(&store), [(3, vec![0], false)]);
    let (_, pieces) = cut(&part);
    let last = pieces.last().cloned().expect("there are some");
    assert_eq!(store.add(3, 3, pieces.len() as u32 - 1, checksum(&last), last), Ok(true));
    assert_eq!(versions(&store), [(3, vec![0, 1], false)]);
}

#[test]
fn a_version_stays_until_a_later_one_is_committed() {
    let store = Store::default();
    (4..7).for_each(|version| store.put(version, &view(), 0, packed(8)));
    store.commit(5);
    assert_eq!(versions(&store), [(5, vec![], true), (6, vec![], false)]);
    // Of one that is not here there is nothing for whose sake others could be dropped.
    store.commit(9);
    assert_eq!(store.held().len(), 2);
    store.go_back(&order(Some(5), Some(5)));
    assert_eq!(versions(&store), [(5, vec![], true)]);
    store.go_back(&order(None, None));
    assert_eq!(versions(&store), []);
}

#[test]
fn what_was_committed_stays_beside_a_newer_version_that_is_gone_back_to() {
    let store = Store::default();
    (4..8).for_each(|version| store.put(version, &view(), 0, packed(8)));
    // Whether it heard of the commit itself does not matter.
    store.go_back(&order(Some(6), Some(5)));
    assert_eq!(versions(&store), [(5, vec![], true), (6, vec![], false)]);
    store.put(8, &view(), 0, packed(8));
    store.commit(8);
    assert_eq!(versions(&store), [(8, vec![], true)]);
}

/// To go back to this version, when that is committed.
fn order(version: Option<Version>, committed: Option<Version>) -> Order {
    Order { committed, ..Order::new(view().of_nodes().clone(), version, 9) }
}

#[test]
fn pieces_come_in_turn_and_as_they_were() {
    let store = Store::default();
    let (manifest, pieces) = cut(&packed(2 * PIECE_MAX));
    let sum = checksum(&pieces[1]);
    assert_eq!(store.add(1, 2, 0, sum, pieces[1].clone()), Err(StoreError::Missing { pe: 2, version: 1 }));
    store.expect(1, &view(), 2, manifest);
    let out_of_turn = StoreError::OutOfTurn { pe: 2, version: 1, piece: 1, expected: 0 };
    assert_eq!(store.add(1, 2, 1, sum, pieces[1].clone()), Err(out_of_turn));
    let damaged = StoreError::Damaged { pe: 2, version: 1, piece: 0 };
    assert_eq!(store.add(1, 2, 0, sum, pieces[0].clone()), Err(damaged));
    assert!(matches!(store.part::<u8>(1, 2), Err(StoreError::Missing { .. })));
}

/// A part whose slices are in slabs; where the first slice is.
fn put_in_slabs(store: &Store, version: Version, pe: PeId, size: usize) -> usize {
    let mut room = Room::default();
    let mut buffer = room.buffer(store, size, 8).expect("there is memory");
    buffer.fill(&vec![version as u8; size]);
    let slice = buffer.finish().expect("it was filled");
    let (at, part) = (slice.bytes().as_ptr() as usize, Packed::new(vec![7; 100].into(), vec![slice], vec![]));
    if pe < 2 {
        store.put(version, &view(), pe, part);
    } else {
        let pieces = part.buffers().into_iter().map(|buffer| (vec![buffer], Some(0))).collect();
        let copy = Copy { manifest: Manifest::uncut(&part), pieces, mapped: Vec::new() };
        store.put_copy(version, &view(), pe, copy);
    }
    store.keep_slabs(version, pe, room);
    at
}

#[test]
fn memory_of_versions_that_are_over_is_used_again() {
    for pe in [0, 2] {
        let store = Store::default();
        let first = put_in_slabs(&store, 1, pe, 1 << 20);
        let second = put_in_slabs(&store, 2, pe, 1 << 20);
        assert_ne!(first, second, "the first version is what the job would go back to");
        store.commit(2);
        assert_eq!(put_in_slabs(&store, 3, pe, (1 << 20) - 500), first);
        assert_ne!(put_in_slabs(&store, 3, pe + 1, 8), second);
        assert!(store.lock().kept[&2].parts[&pe].is_whole());
    }
}

#[test]
fn memory_that_somebody_reads_is_not_used_again() {
    let store = Store::default();
    let first = put_in_slabs(&store, 1, 0, 1 << 20);
    let reads = store.own(1, 0);
    put_in_slabs(&store, 2, 0, 1 << 20);
    store.commit(2);
    assert_ne!(put_in_slabs(&store, 3, 0, 1 << 20), first);
    assert_eq!(reads.map(|part| part.segments()[0].bytes()[0]), Some(1));
}

#[test]
fn what_is_lent_stays_until_its_version_is_committed() {
    let (store, writer) = (Store::default(), Arc::new(()));
    let bytes: &'static [u8] = &[3; 1000];
    // SAFETY: they are there for ever.
    let segment = unsafe { Segment::lent(NonNull::from(bytes).cast(), bytes.len(), 1, writer.clone()) };
    let part = Packed::new(Bytes::new(), vec![segment], Vec::new());
    store.put(1, &view(), 0, part.clone());
    assert!(store.lend(1, 0, &part).is_some());
    drop(part);
    store.lock().is_written(1, 0, Ok(()));
    assert_eq!(Arc::strong_count(&writer), 2, "it is on disk, and others may be reading it");
    store.commit(1);
    assert_eq!(Arc::strong_count(&writer), 1, "nobody has it any more");
}

#[test]
fn a_copy_that_its_owner_has_given_up_is_not_held() {
    let (owner, buddy) = (Store::default(), Store::default());
    owner.share();
    put_in_slabs(&owner, 1, 1, 1 << 20);
    let part = owner.own(1, 1).expect("it was put there");
    let mapped = owner
        .shared(1, 1)
        .expect("its slab can be mapped")
        .map(std::process::id(), &mut Windows::default())
        .unwrap();
    let at = part.segments()[0].bytes().as_ptr().addr() as u64;
    let slice = mapped[0].segment(at, 1 << 20, 8).expect("it is there");
    let pieces = vec![(vec![Segment::of_vec(vec![7_u8; 100])], Some(0)), (vec![slice], None)];
    let copy = Copy { manifest: Manifest::uncut(&part), pieces, mapped };
    drop(part);
    buddy.put_copy(1, &view(), 1, copy);
    buddy.put(1, &view(), 0, packed(8));
    assert_eq!(versions(&buddy), [(1, vec![0], false)]);
    let (_, _, pieces) = buddy.in_pieces(1, 1).expect("it is there");
    assert_eq!(pieces[1].1, checksum(&[Segment::of_vec(vec![1_u8; 1 << 20])]), "what had none is summed");
    put_in_slabs(&owner, 2, 1, 1 << 20);
    owner.commit(2);
    assert_eq!(versions(&buddy), [(1, vec![0], false)], "the owner has not gone on");
    put_in_slabs(&owner, 3, 1, 1 << 20);
    assert_eq!(versions(&buddy), [(1, vec![], false)]);
    let overwritten = StoreError::Overwritten { pe: 1, version: 1 };
    assert_eq!(buddy.in_pieces(1, 1).err(), Some(overwritten));
}

/// Its file would have a checksum, of whatever came meanwhile.
#[test]
fn a_copy_that_its_owner_has_given_up_is_not_written() {
    let (owner, buddy) = (Store::default(), Store::default());
    owner.share();
    let disk = SharedDisk::new(SimulatedDisk::new(DiskRates::default(), Rng::new(4)));
    let backlog = buddy.keep_on(Box::new(disk.clone()), JobMark::default(), SHAPE).unwrap();
    put_in_slabs(&owner, 1, 1, 1 << 20);
    let part = owner.own(1, 1).expect("it was put there");
    let mapped = owner
        .shared(1, 1)
        .expect("its slab can be mapped")
        .map(std::process::id(), &mut Windows::default())
        .unwrap();
    let at = part.segments()[0].bytes().as_ptr().addr() as u64;
    let slice = mapped[0].segment(at, 1 << 20, 8).expect("it is there");
    let copy = Copy { manifest: Manifest::uncut(&part), pieces: vec![(vec![slice], None)], mapped };
    drop(part);
    buddy.put_copy(1, &view(), 1, copy);
    buddy.put(1, &view(), 0, packed(8));
    [0, 1].iter().for_each(|pe| buddy.keep_for_good(1, *pe));
    for version in [2, 3] {
        owner.commit(version - 1);
        put_in_slabs(&owner, version, 1, 1 << 20);
    }
    std::iter::from_fn(|| backlog.take_next()).for_each(|work| backlog.carry_out(work));
    assert_eq!(disk.clone().list().unwrap(), ["v1-pe0.part", "v1.manifest"]);
    let why = "its owner gave it up while it was written".to_owned();
    assert_eq!([0, 1].map(|pe| buddy.fate(1, pe)), [Fate::Safe, Fate::NotSafe(why)]);
}

/// One that is released ends in order, while others go on from its part.
#[test]
fn a_copy_outlives_its_owner() {
    for is_cleared in [true, false] {
        let owner = Store::default();
        owner.share();
        put_in_slabs(&owner, 1, 1, 1 << 20);
        let at = owner.own(1, 1).expect("it was put there").segments()[0].bytes().as_ptr().addr() as u64;
        let mapped = owner
            .shared(1, 1)
            .expect("its slab can be mapped")
            .map(std::process::id(), &mut Windows::default())
            .unwrap();
        let slice = mapped[0].segment(at, 1 << 20, 8).expect("it is there");
        if is_cleared {
            owner.clear(vec![0, 1]);
        }
        drop(owner);
        assert!(mapped[0].is_unchanged() && slice.bytes().iter().all(|byte| *byte == 1));
    }
}
