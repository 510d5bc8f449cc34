//! What is left on the disks of a simulated job that was lost: another one may go on from there, on other hosts.

use std::collections::BTreeMap;
use std::fmt;

use talisman_ft::NodeId;

use crate::checkpoint::files::keeper::AnyDisk;
use crate::checkpoint::files::set::Whole;
use crate::checkpoint::store::Store;
use crate::cluster::keeping::Restart;
use crate::disk::SharedDisk;
use crate::node::Shape;

/// The disks of a job, with the newest version on them that is whole.
#[derive(Clone)]
pub struct Rest {
    pub(super) whole: Whole,
    pub(super) disks: BTreeMap<NodeId, SharedDisk>,
}

impl Rest {
    /// What a job of this shape goes on from.
    pub(super) fn restart(&self, shape: Shape) -> Restart {
        Restart::of("simulated".into(), self.whole.clone(), (shape, shape.nodes))
    }

    /// A node of that job reads its parts from these disks.
    pub(super) fn bring(&self, store: &Store, shape: Shape) {
        let disk = |(node, disk): (&NodeId, &SharedDisk)| (*node, Box::new(disk.clone()) as AnyDisk);
        store.go_on_from_disks(
            self.restart(shape),
            shape.pes_per_node,
            self.disks.iter().map(disk).collect(),
        );
    }
}

/// By what is on them, not by the disks.
impl PartialEq for Rest {
    fn eq(&self, other: &Self) -> bool {
        self.whole == other.whole
    }
}

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rest").field(&self.whole.cover.version).finish()
    }
}
