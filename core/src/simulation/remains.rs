//! What a simulated job leaves on its disks when it does not end well: another one goes on from there, on other hosts perhaps.

use std::collections::BTreeMap;
use std::path::Path;

use talisman_ft::{NodeId, Version};

use crate::checkpoint::files::cover::JobMark;
use crate::checkpoint::files::keeper::AnyDisk;
use crate::checkpoint::files::set::{self, Disks, SetError, Whole};
use crate::checkpoint::store::Store;
use crate::cluster::keeping::Restart;
use crate::disk::SharedDisk;
use crate::node::Shape;
use crate::witness::{self, Seen};

/// The disks of a job, with the newest version on them that is whole.
pub(super) struct Remains {
    whole: Whole,
    disks: BTreeMap<NodeId, SharedDisk>,
}

impl Remains {
    /// What is on these disks, and on those of the former job whose nodes this one had not.
    pub(super) fn on(
        disks: BTreeMap<NodeId, SharedDisk>,
        former: Option<&Remains>,
    ) -> Result<Self, SetError> {
        let mut all = former.map(|remains| remains.disks.clone()).unwrap_or_default();
        all.extend(disks);
        Ok(Remains { whole: set::newest(Path::new("simulated"), &mut Disks(all.clone()))?, disks: all })
    }

    pub(super) fn version(&self) -> Version {
        self.whole.cover.version
    }

    /// What marks its files, and those of whoever goes on from it.
    pub(super) fn job(&self) -> JobMark {
        self.whole.cover.job.clone()
    }

    pub(super) fn disk_of(&self, node: NodeId) -> Option<SharedDisk> {
        self.disks.get(&node).cloned()
    }

    /// What a job with these processes goes on from.
    pub(super) fn restart(&self, shape: Shape) -> Restart {
        Restart::of("simulated".into(), self.whole.clone(), (shape, shape.nodes))
    }

    /// A node of that job can read all these disks, as the nodes of a host can that share a folder.
    pub(super) fn bring(&self, store: &Store, shape: Shape) {
        let disk = |(node, disk): (&NodeId, &SharedDisk)| (*node, Box::new(disk.clone()) as AnyDisk);
        let disks = self.disks.iter().map(disk).collect();
        store.go_on_from_disks(self.restart(shape), shape.pes_per_node, disks);
    }

    /// A job with these processes is about to begin there.
    pub(super) fn see_again(&self, shape: Shape) {
        witness::see(|| Seen::StartedAgain { version: self.version(), pes: 0..shape.pes() });
    }
}
