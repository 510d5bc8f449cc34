//! Versions that are committed outlive whatever happens to the disks meanwhile.

use super::*;

/// A job on disks that fail at this rate, which commits versions when all of their parts are safe.
struct Job {
    disks: BTreeMap<NodeId, SharedDisk>,
    committed: Version,
    next: Version,
}

impl Job {
    fn new(seed: u64, rates: DiskRates) -> Self {
        let disk = |node: NodeId| (node, disk_with(seed * 16 + u64::from(node), rates));
        Job { disks: (0..SHAPE.nodes).map(disk).collect(), committed: 0, next: 1 }
    }

    /// Takes versions until a disk's process dies. As in a job, those that cannot be kept are given up.
    fn live(&mut self, versions: u64) {
        let open = |(node, disk): (&NodeId, &SharedDisk)| {
            Some((*node, CheckpointDir::open(disk.clone(), job(7), SHAPE).ok()?))
        };
        let Some(mut checkpoint_dirs) = self.disks.iter().map(open).collect::<Option<BTreeMap<_, _>>>()
        else {
            return;
        };
        for _ in 0..versions {
            let version = self.next;
            self.next += 1;
            let mut is_safe = true;
            for (node, checkpoint_dir) in &mut checkpoint_dirs {
                is_safe &= keep(checkpoint_dir, *node, version);
            }
            if is_safe {
                self.committed = version;
            }
            for checkpoint_dir in checkpoint_dirs.values_mut() {
                // What cannot be taken away is only too much.
                let _ = checkpoint_dir
                    .keep_only(|other| if is_safe { other >= version } else { other != version });
            }
        }
    }

    /// What can be gone on from is what was committed last, or something newer.
    fn check(&self) {
        for disk in self.disks.values() {
            disk.with(SimulatedDisk::heal);
        }
        match newest(&self.disks) {
            Ok(found) => {
                assert!(found.manifest.version >= self.committed, "{:?}", found.notes);
                self.check_parts(&found);
            }
            Err(error) => assert_eq!(self.committed, 0, "{error}"),
        }
    }

    /// What is said to be whole is, and nothing else than it was.
    fn check_parts(&self, found: &Whole) {
        assert!(found.next <= self.next);
        let (version, parts) = (found.manifest.version, folders(found));
        for (pe, node) in parts {
            let part = super::super::image::read(&mut self.disks[&node].clone(), 7, version, pe);
            assert_eq!(part, Ok(image(version, pe)));
        }
    }
}

/// Keeps what a node has to, each part by itself or several at once; whether that is there for good.
fn keep<D: Disk>(checkpoint_dir: &mut CheckpointDir<D>, node: NodeId, version: Version) -> bool {
    let mut is_safe = true;
    for pe in kept_by(node) {
        is_safe &= begin(checkpoint_dir, &View::whole(SHAPE), version, pe).is_ok();
        if u64::from(pe).is_multiple_of(version) {
            is_safe &= checkpoint_dir.settle().1.is_ok();
        }
    }
    checkpoint_dir.settle().1.is_ok() && is_safe
}

#[test]
fn what_is_committed_outlives_a_loss_of_power_at_every_operation() {
    for dies_after in 0..140 {
        let mut job = Job::new(dies_after, DiskRates::default());
        job.disks[&1].with(|disk| disk.die_after(dies_after));
        job.live(3);
        for disk in job.disks.values() {
            disk.with(|disk| {
                disk.restart();
                disk.lose_power();
            });
        }
        job.check();
        job.live(2);
        job.check();
    }
}

#[test]
fn what_is_committed_outlives_disks_that_are_full_or_do_not_keep() {
    let rates = DiskRates { sync_fails_ppm: 40_000, full_ppm: 40_000, ..DiskRates::default() };
    let mut committed = 0;
    for seed in 0..60 {
        let mut job = Job::new(seed, rates);
        job.live(8);
        committed += u32::from(job.committed > 0);
        job.disks.values().for_each(|disk| disk.with(SimulatedDisk::lose_power));
        job.check();
    }
    assert!((20..60).contains(&committed), "{committed} of 60 jobs committed anything");
}

#[test]
fn a_full_disk_costs_the_new_version_only() {
    let rates = DiskRates { room_bytes: 17_000, ..DiskRates::default() };
    let mut job = Job::new(1, rates);
    job.live(3);
    assert_eq!(job.committed, 1, "there is room for one version, not for two");
    job.check();
    assert_eq!(newest(&job.disks).unwrap().manifest.version, 1);
}

#[test]
fn disks_that_lie_or_put_things_in_wrong_places_have_a_whole_version_or_none() {
    let lying = DiskRates { lying_ppm: 100_000, ..DiskRates::default() };
    let misdirecting = DiskRates { misdirected_ppm: 200_000, ..DiskRates::default() };
    for rates in [lying, misdirecting] {
        let mut as_committed = 0;
        for seed in 0..60 {
            let mut job = Job::new(seed, rates);
            job.live(6);
            for disk in job.disks.values() {
                disk.with(SimulatedDisk::lose_power);
                disk.with(SimulatedDisk::heal);
            }
            let found = newest(&job.disks).ok();
            found.iter().for_each(|found| job.check_parts(found));
            as_committed += u32::from(found.is_some_and(|found| found.manifest.version == job.committed));
        }
        assert!(
            (1..60).contains(&as_committed),
            "{rates:?}: {as_committed} of 60 jobs have what they committed"
        );
    }
}
