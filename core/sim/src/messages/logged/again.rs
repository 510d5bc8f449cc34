//! A job that logs loses all its nodes, and another one, of as many or of others, goes on from what they have on disk of their line.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::{Logged, Setting, Start};
use crate::disks_after::Remains;
use crate::messages::{Cluster, Rules};
use talisman_base::rng::Rng;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_core::logging::image::Image;
use talisman_core::logging::member::Member;
use talisman_core::logging::on_disk::begin_to_write;
use talisman_ft::{NodeId, Version};
use talisman_job::job::Job;
use talisman_store::disk::{DiskRates, SharedDisk, SimulatedDisk};
use talisman_store::files::manifest::JobMark;
use talisman_store::versions::Store;

/// No disk fails here, and one job uses them.
const FINE: &str = "the disk does what it should";

impl Cluster {
    /// All nodes are lost once all are live in a line, and so many others go on from there. If the job ends before, nothing happens.
    pub(super) fn started_again(
        mut self,
        setting: &Setting<'_>,
        job: &Job,
        nodes: u32,
        rules: &mut impl Rules,
    ) -> Cluster {
        self.go_on(job, rules, |cluster| cluster.is_after(0) && cluster.common_line().is_some());
        let Some(line) = self.common_line().filter(|_| !job.is_over()) else { return self };
        let remains = Rc::new(self.on_disks(line));
        let there = Shape { nodes, ..setting.shape };
        let view = remains.restart(there).view;
        let shape = Shape { nodes: view.nodes(), ..there };
        self.discard_rings();
        let (went_back, has_twins) = (self.logged().went_back.clone(), self.logged().has_twins);
        self.done();
        let setting = Setting { shape, ..*setting };
        let image = |node| Image::of_former(node, Logged::shape_of(shape), line);
        let view = View::new(view, shape.pes_per_node);
        let start = Start { view, line, former: Some((remains, there)) };
        let mut cluster = Cluster::logging(&setting, start, image);
        cluster.logged_mut().went_back = went_back;
        cluster.logged_mut().has_twins = has_twins;
        cluster.begin_job(job, rules);
        cluster
    }

    /// The line that all who are there are in.
    fn common_line(&self) -> Option<Version> {
        let mut lines = self.logged().members.iter().flatten().map(Member::line);
        let first = lines.next()?;
        (first > 0 && lines.all(|line| line == first)).then_some(first)
    }

    /// What each has written on its own.
    fn on_disks(&self, line: Version) -> Remains {
        let (logged, shape) = (self.logged(), self.shape);
        let mark =
            JobMark { id: 1, seed: logged.config.seed, program: "simulated".into(), ..JobMark::default() };
        let mut disks = BTreeMap::new();
        for (node, member) in (0..).zip(&logged.members) {
            let Some(member) = member else { continue };
            let disk = SharedDisk::new(SimulatedDisk::new(DiskRates::default(), Rng::new(node.into())));
            let store = Store::default();
            let backlog = store.keep_on(Box::new(disk.clone()), mark.clone(), shape).expect(FINE);
            let images = member.line_images();
            let parts =
                begin_to_write(&store, &images, &logged.view_of(node)).expect("what was packed can be read");
            parts.iter().for_each(|pe| store.keep_for_good(line, *pe));
            while let Some(work) = backlog.take_next() {
                backlog.carry_out(work);
            }
            disks.insert(node, disk);
        }
        let former = logged.former.as_ref().map(|(remains, _)| &**remains);
        Remains::on(disks, former).expect("a line is whole on the disks of all")
    }
}

impl Logged {
    /// What a process has of checkpoints: what the job goes on from, if it does.
    pub(super) fn fresh_store(&self) -> Arc<Store> {
        let store = Arc::new(Store::default());
        if let Some((remains, there)) = &self.former {
            remains.bring(&store, *there);
        }
        store
    }

    /// A process of a node that has nothing yet.
    pub(super) fn blank(&self, node: NodeId) -> Member {
        self.placed(Member::blank(node, self.shape, self.newest[node as usize]))
    }
}
