//! What is not mapped, and why.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;

use super::super::{Mapping, NoSegment, Shape, create};

const THREE: Shape = Shape { nodes: 3, pes: 2 };

fn refusal(descriptor: impl AsFd, shape: Shape) -> String {
    Mapping::open(descriptor, shape).err().expect("it is refused").to_string()
}

fn memfd(len: u64) -> OwnedFd {
    let descriptor = memfd_create("another", MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&descriptor, len).unwrap();
    descriptor
}

#[test]
#[cfg_attr(miri, ignore = "system calls in assembly")]
fn only_the_segment_of_the_job_is_mapped() {
    let segment = create(THREE).unwrap();
    Mapping::open(&segment, THREE).unwrap();
    assert!(refusal(&segment, Shape { nodes: 2, pes: 2 }).contains("another size"));
    // As long, since it has as many directions and fewer PEs than a page of parkers.
    let other = create(Shape { nodes: 2, pes: 6 }).unwrap();
    assert!(refusal(&other, THREE).contains("another job"));
    assert!(refusal(memfd(4096), THREE).contains("not sealed"));
    assert!(refusal(std::fs::File::open("/dev/null").unwrap(), THREE).contains("not a memfd"));
}

#[test]
#[cfg_attr(miri, ignore = "system calls in assembly")]
fn nobody_can_change_its_size() {
    let segment = create(THREE).unwrap();
    assert_eq!(ftruncate(&segment, 0), Err(Errno::PERM));
    assert_eq!(ftruncate(&segment, 1 << 40), Err(Errno::PERM));
}

#[test]
fn too_many_links_are_refused_before_anything_is_made() {
    let shape = Shape { nodes: 1000, pes: 1000 };
    assert!(matches!(create(shape), Err(NoSegment::TooManyLinks(_))));
    assert!(create(shape).unwrap_err().to_string().contains("--transport tcp"));
}

#[test]
#[cfg_attr(miri, ignore = "system calls in assembly")]
#[should_panic(expected = "was taken before")]
fn a_direction_has_one_end_in_a_process() {
    let mapping = Mapping::open(create(THREE).unwrap(), THREE).unwrap();
    let parker = std::sync::Arc::new(mapping.parker(2, 1, || ()));
    let peer = crate::Peer { node: 2, lane: 1 };
    let _ends = mapping.link(0, 2, peer, parker.clone());
    let _again = mapping.link(0, 2, peer, parker);
}
