//! What a simulated job leaves on its disks when it does not end well: another one goes on from there, on other hosts perhaps.

use std::collections::BTreeMap;
use std::path::Path;

use talisman_base::topology::Shape;
use talisman_cluster::keeping::has_nodegroups;
use talisman_core::program_types::Registered;
use talisman_ft::{NodeId, Version};
use talisman_kernel::witness::{self, Seen};
use talisman_store::disk::SharedDisk;
use talisman_store::files::catalog::{self, CatalogError, Disks, Whole};
use talisman_store::files::manifest::JobMark;
use talisman_store::files::writer::AnyDisk;
use talisman_store::restart::Restart;
use talisman_store::versions::Store;

/// What messages call it.
const FOLDER: &str = "simulated";

/// The disks of a job, with the newest version on them that is whole.
pub(super) struct Remains {
    whole: Whole,
    has_nodegroups: bool,
    disks: BTreeMap<NodeId, SharedDisk>,
}

impl Remains {
    /// What is on these disks, and on those of the former job whose nodes this one had not.
    pub(super) fn on(
        disks: BTreeMap<NodeId, SharedDisk>,
        former: Option<&Remains>,
    ) -> Result<Self, CatalogError> {
        let mut all = former.map(|remains| remains.disks.clone()).unwrap_or_default();
        all.extend(disks);
        let (folder, hosts) = (Path::new(FOLDER), &mut Disks(all.clone()));
        let whole = catalog::newest(folder, hosts)?;
        let has_nodegroups = has_nodegroups(&Registered, folder, &whole, hosts).expect("it was just read");
        Ok(Remains { whole, has_nodegroups, disks: all })
    }

    pub(super) fn version(&self) -> Version {
        self.whole.manifest.version
    }

    /// What marks its files, and those of whoever goes on from it.
    pub(super) fn job(&self) -> JobMark {
        self.whole.manifest.job.clone()
    }

    pub(super) fn disk_of(&self, node: NodeId) -> Option<SharedDisk> {
        self.disks.get(&node).cloned()
    }

    /// What a job with these processes goes on from.
    pub(super) fn restart(&self, shape: Shape) -> Restart {
        let whole = (self.whole.clone(), self.has_nodegroups);
        Restart::of(FOLDER.into(), whole, (shape, shape.nodes))
    }

    /// A node of that job can read all these disks, as the nodes of a host can that share a folder.
    pub(super) fn bring(&self, store: &Store, shape: Shape) {
        let disk = |(node, disk): (&NodeId, &SharedDisk)| (*node, Box::new(disk.clone()) as AnyDisk);
        let disks = self.disks.iter().map(disk).collect();
        store.go_on_from_disks(self.restart(shape), shape.pes_per_node, disks);
    }

    /// A job with these processes is about to begin there.
    pub(super) fn see_again(&self, shape: Shape) {
        let (version, epoch) = (self.version(), self.whole.manifest.view.epoch);
        witness::see(|| Seen::StartedAgain { version, epoch, pes: 0..shape.pes() });
    }
}
