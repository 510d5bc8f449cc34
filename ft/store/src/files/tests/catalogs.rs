//! Which version a job goes on from, whatever has become of its files.

use super::super::File;
use super::super::image;
use super::super::manifest::Manifest;
use super::*;
use crate::disk::Replacing;
use talisman_base::layout::mark::{LayoutMark, TEXT_MAX};

/// Changes a file as nobody should.
fn alter(disk: &SharedDisk, name: &str, act: impl FnOnce(&mut Vec<u8>)) {
    disk.with(|disk| {
        let mut bytes = disk.read(name).unwrap();
        act(&mut bytes);
        disk.write(name, &[&bytes]).unwrap();
    });
}

#[test]
fn the_newest_version_that_is_whole_is_found() {
    let disks = disks([3, 4]);
    let found = newest(&disks).unwrap();
    assert_eq!((found.manifest.version, found.next, found.notes.len()), (4, 5, 0));
    assert_eq!((found.manifest.nodes, found.manifest.pes_per_node, found.manifest.taken), (3, 2, 1_000_000));
    for (pe, node) in folders(&found) {
        assert_eq!(image::read(&mut disks[&node].clone(), 7, 4, pe), Ok(image(4, pe)));
    }
    assert_eq!(found.parts.len(), 6);
}

#[test]
fn one_copy_of_each_part_is_enough() {
    let mut disks = disks([3]);
    disks.remove(&1);
    let found = newest(&disks).unwrap();
    assert_eq!(folders(&found), [(0, 0), (1, 0), (2, 2), (3, 2), (4, 0), (5, 0)]);
}

#[test]
fn an_older_version_is_used_if_the_newest_lacks_a_part() {
    let disks = disks([3, 4]);
    for node in [0, 1] {
        disks[&node].clone().remove("v4-pe1.part").unwrap();
    }
    let found = newest(&disks).unwrap();
    assert_eq!((found.manifest.version, found.next), (3, 5));
    assert_eq!(
        found.notes,
        ["the part of PE 1 in version 4 is nowhere (v4-pe1.part)", "version 4 is not whole"]
    );
}

#[test]
fn damage_is_named_and_the_other_copy_is_used() {
    type Damage = fn(&mut Vec<u8>);
    let damages: [(Damage, &str); 3] = [
        (|bytes| bytes.truncate(500), "472 bytes after its header"),
        (|bytes| *bytes.last_mut().unwrap() ^= 1, "damaged somewhere"),
        (|bytes| bytes.clear(), "too short"),
    ];
    for (damage, said) in damages {
        let disks = disks([3]);
        alter(&disks[&1], "v3-pe2.part", damage);
        let found = newest(&disks).unwrap();
        assert_eq!(found.parts[&2][0].node, 2);
        assert!(found.notes[0].starts_with("in /set/node-1: v3-pe2.part"), "{:?}", found.notes);
        assert!(found.notes[0].contains(said), "{:?}", found.notes);
        alter(&disks[&2], "v3-pe2.part", damage);
        let before = disks.values().map(|disk| disk.clone().list().unwrap()).collect::<Vec<_>>();
        let error = newest(&disks).unwrap_err().to_string();
        assert!(
            error.starts_with("no checkpoint in /set is whole, and nothing was changed there:\n"),
            "{error}"
        );
        assert!(error.contains("node-1") && error.contains("node-2") && error.contains(said), "{error}");
        assert_eq!(before, disks.values().map(|disk| disk.clone().list().unwrap()).collect::<Vec<_>>());
    }
}

#[test]
fn a_part_under_another_name_is_not_used() {
    let disks = disks([3]);
    for disk in disks.values() {
        disk.clone().rename("v3-pe0.part", "v3-pe1.part").ok();
    }
    let error = newest(&disks).unwrap_err().to_string();
    assert!(error.contains("v3-pe1.part is not what its name says: it is the part of PE 0"), "{error}");
}

#[test]
fn folders_without_versions_and_of_several_jobs_are_refused() {
    assert!(matches!(newest(&disks([])), Err(CatalogError::Empty { .. })));
    let mut disks = disks([3]);
    let other = disk(9);
    let mut checkpoint_dir = CheckpointDir::open(other.clone(), job(8), SHAPE).unwrap();
    put(&mut checkpoint_dir, &View::whole(SHAPE), 5, 0).unwrap();
    disks.insert(3, other.clone());
    let error = newest(&disks).unwrap_err();
    assert!(matches!(&error, CatalogError::Mixed { programs, .. } if programs.len() == 2), "{error}");
    other.clone().write("v6-pe0.part.tmp", &[b"begun"]).unwrap();
    let taken = CheckpointDir::open(other.clone(), job(7), SHAPE).err();
    assert_eq!(taken, Some(CheckpointDirError::Taken { version: 5, program: "program".into() }));
    let is_left = |mut disk: SharedDisk| disk.list().unwrap().contains(&"v6-pe0.part.tmp".to_owned());
    assert!(is_left(other.clone()), "what another job has begun is none of its business");
    CheckpointDir::open(other.clone(), job(8), SHAPE).unwrap();
    assert!(!is_left(other));
}

#[test]
fn a_version_in_which_nodes_were_lost_needs_the_parts_of_the_others() {
    let disks = disks([3]);
    let view = View::without(SHAPE, &[1]);
    for node in [0, 2] {
        let mut checkpoint_dir = CheckpointDir::open(disks[&node].clone(), job(7), SHAPE).unwrap();
        [0, 1, 4, 5].into_iter().for_each(|pe| put(&mut checkpoint_dir, &view, 6, pe).unwrap());
    }
    let found = newest(&disks).unwrap();
    assert_eq!(found.parts.keys().copied().collect::<Vec<_>>(), [0, 1, 4, 5]);
}

#[test]
fn of_two_versions_with_one_number_the_parts_are_not_mixed() {
    let disks = disks([3]);
    let keep = |node: NodeId, view: &View, pes: &[PeId]| {
        let mut checkpoint_dir = CheckpointDir::open(disks[&node].clone(), job(7), SHAPE).unwrap();
        pes.iter().for_each(|pe| put(&mut checkpoint_dir, view, 4, *pe).unwrap());
    };
    // Lost before anybody else had taken a part: the others, which go on without it, do not know that there was a version 4.
    keep(0, &View::whole(SHAPE), &[0, 1, 4, 5]);
    assert_eq!(newest(&disks).unwrap().manifest.version, 3);
    let without = View::without(SHAPE, &[0]);
    keep(1, &without, &[2, 3]);
    assert_eq!(newest(&disks).unwrap().manifest.version, 3, "no parts of both make one whole");
    keep(2, &without, &[4, 5]);
    let found = newest(&disks).unwrap();
    assert_eq!((found.manifest.version, &found.manifest.view), (4, without.of_nodes()));
    assert_eq!(folders(&found), [(2, 1), (3, 1), (4, 2), (5, 2)]);
}

#[test]
fn files_have_one_name_each() {
    for file in [File::Manifest(0), File::Manifest(u64::MAX), File::Part(12, 7)] {
        assert_eq!(File::of(&file.name()), Some(file));
    }
    for name in
        ["v07.manifest", "v7-pe+1.part", "v7.part", "v7-pe1.part.tmp", "w7.manifest", "v.manifest", ""]
    {
        assert_eq!(File::of(name), None, "{name}");
    }
}

/// What is said of a manifest with this change.
fn refused(change: impl FnOnce(&mut Manifest)) -> String {
    let mut disk = disk(1);
    let mut manifest = Manifest::new(job(7), 3, SHAPE, &View::whole(SHAPE), 0);
    change(&mut manifest);
    let mut files = Replacing::default();
    manifest.write(&mut files, &mut disk).unwrap();
    files.finish(&mut disk).unwrap();
    Manifest::read(&mut disk, 3).unwrap_err().to_string()
}

#[test]
fn a_cover_that_says_what_cannot_be_is_not_believed() {
    let error = refused(|manifest| manifest.nodes = 9);
    assert!(error.contains("9 nodes with 2 PEs each"), "{error}");
}

#[test]
fn parts_in_another_format_are_not_read() {
    let error = refused(|manifest| manifest.format = 1);
    assert!(error.contains("written in format 1") && error.contains("reads format 5"), "{error}");
}

/// Where everything was in the processes comes back, for those who go on from it; older manifests say nothing of that.
#[test]
fn covers_keep_layouts() {
    let mark = || LayoutMark { thread_pointer: 16, c_library: "glibc 2.36".into(), ..LayoutMark::default() };
    let manifest = |layout| Manifest::new(JobMark { layout, ..job(7) }, 3, SHAPE, &View::whole(SHAPE), 0);
    let mut disk = disk(1);
    let mut files = Replacing::default();
    manifest(Some(mark())).write(&mut files, &mut disk).unwrap();
    files.finish(&mut disk).unwrap();
    assert_eq!(Manifest::read(&mut disk, 3).unwrap().job.layout, Some(mark()));
    let text = serde_json::to_string(&manifest(None)).unwrap();
    let older = text.replace(",\"layout\":null", "");
    assert_ne!(older, text);
    assert_eq!(serde_json::from_str::<Manifest>(&older).unwrap(), manifest(None));
}

#[test]
fn layouts_with_more_than_a_process_has_are_not_read() {
    let layout = Some(LayoutMark { c_library: "g".repeat(TEXT_MAX + 1), ..LayoutMark::default() });
    let error = refused(|manifest| manifest.job.layout = layout);
    assert!(error.contains("a layout with more than any process has"), "{error}");
}

/// Of a version that only a lost node knew of the number is given again. Its files may be there in place of those that were to replace them.
#[test]
fn a_part_that_was_taken_in_another_epoch_is_none_of_a_version() {
    let (disks, later) = (disks([3]), View::whole(SHAPE).losing(&[]));
    put(&mut CheckpointDir::open(disks[&0].clone(), job(7), SHAPE).unwrap(), &View::whole(SHAPE), 4, 0)
        .unwrap();
    let former = disks[&0].clone().read("v4-pe0.part").unwrap();
    for (node, disk) in &disks {
        let mut checkpoint_dir = CheckpointDir::open(disk.clone(), job(7), SHAPE).unwrap();
        kept_by(*node).for_each(|pe| put(&mut checkpoint_dir, &later, 4, pe).unwrap());
    }
    disks[&0].clone().write("v4-pe0.part", &[&former]).unwrap();
    let found = newest(&disks).unwrap();
    assert_eq!((found.manifest.version, found.parts[&0][0].node), (4, 1), "its buddy has the right one");
    assert!(found.notes[0].contains("when other nodes were there"), "{:?}", found.notes);
    disks[&1].clone().remove("v4-pe0.part").unwrap();
    assert_eq!(newest(&disks).unwrap().manifest.version, 3);
}
