//! What somebody asked for is on disk, and everything else in memory only.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::*;
use crate::checkpoint::CheckpointsOnPe;
use talisman_base::rng::Rng;
use talisman_base::topology::Shape;
use talisman_ft::Version;
use talisman_job::job::{End, Others};
use talisman_job::lines::Lines;
use talisman_store::disk::DiskRates;
use talisman_store::disk::{Disk as _, SharedDisk, SimulatedDisk};
use talisman_store::files::catalog;
use talisman_store::files::manifest::JobMark;
use talisman_store::files::writer::{Backlog, Writer};
use talisman_store::versions::Versions;
use talisman_store::versions::archive::{Archive, Place};

/// Rounds until a PE has looked at its disk once more.
const LOOK: usize = 1100;

/// How many are answered, by which version, and why it is not on disk.
type Answer = (u32, Result<Version, String>, Option<String>);

/// The rest of the job, which hears the answers.
#[derive(Clone, Default)]
struct Rest(Arc<Mutex<Vec<Answer>>>);

impl Others for Rest {
    fn end(&self, _: &End) {}

    fn step(&self, _: u64) {}

    fn suspect(&self, node: u32, why: String) {
        panic!("node {node}: {why}");
    }

    fn answer(&self, asked: u32, checkpoint: Result<Version, String>, not_written: Option<String>) {
        self.0.lock().unwrap().push((asked, checkpoint, not_written));
    }

    fn say(&self, _: Lines) {}
}

impl Rest {
    fn take_answers(&self) -> Vec<Answer> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A disk on which everything is done by hand.
#[derive(Clone)]
struct Slow {
    disk: SharedDisk,
    backlog: Arc<Mutex<Option<Backlog>>>,
}

impl Place for Slow {
    fn has_any_from(&self, _: Version) -> bool {
        !self.names().is_empty()
    }

    fn open(&self, versions: Arc<Mutex<Versions>>) -> Result<Writer, String> {
        let shape = Shape { nodes: 2, pes_per_node: 2 };
        let (keeper, backlog) =
            Writer::by_hand(Box::new(self.disk.clone()), JobMark::default(), shape, versions)
                .map_err(|error| error.to_string())?;
        *self.backlog.lock().unwrap() = Some(backlog);
        Ok(keeper)
    }
}

impl Slow {
    fn new(rates: DiskRates) -> Self {
        let disk = SharedDisk::new(SimulatedDisk::new(rates, Rng::new(5)));
        Slow { disk, backlog: Arc::default() }
    }

    fn work_off(&self) {
        if let Some(backlog) = &*self.backlog.lock().unwrap() {
            std::iter::from_fn(|| backlog.take_next()).for_each(|work| backlog.carry_out(work));
        }
    }

    fn names(&self) -> Vec<String> {
        self.disk.clone().list().unwrap()
    }
}

/// The job, whose second node has such a disk.
fn lab_with(rates: DiskRates) -> (Lab, Rest, [Slow; 2]) {
    let (lab, rest) = (lab(), Rest::default());
    lab.pes[0].node.job.join(Box::new(rest.clone()));
    let disks = [DiskRates::default(), rates].map(Slow::new);
    for (disk, pe) in disks.iter().zip(lab.pes.iter().step_by(2)) {
        pe.node.store.write_what_is_asked_for(Archive::new(disk.clone()));
    }
    (lab, rest, disks)
}

fn ask(lab: &Lab, on_disk: bool) {
    let _here = Here::enter(&lab.pes[0]);
    lab.pes[0].want_checkpoint(Why::Asked { on_disk }, None);
}

/// Asks for a version on disk, and goes on until that is answered.
fn asked(lab: &mut Lab, rest: &Rest, disks: &[Slow; 2]) -> Answer {
    ask(lab, true);
    for _ in 0..4 {
        lab.run(LOOK);
        disks.iter().for_each(Slow::work_off);
    }
    let mut answers = rest.take_answers();
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0)
}

/// The newest version that a job could be started from.
fn newest(disks: &[Slow; 2]) -> Option<Version> {
    let folders: BTreeMap<_, _> = (0..).zip(disks.iter().map(|slow| slow.disk.clone())).collect();
    catalog::newest(Path::new("disks"), &mut catalog::Disks(folders)).ok().map(|whole| whole.manifest.version)
}

fn versions_on(disk: &Slow) -> Vec<String> {
    let of = |name: &String| name.split(['-', '.']).next().map(str::to_owned);
    let mut versions: Vec<_> = disk.names().iter().filter_map(of).collect();
    versions.dedup();
    versions
}

/// What both nodes hold in memory.
fn held(lab: &Lab) -> Vec<(Version, Vec<u32>)> {
    let held = |pe: &Pe| pe.node.store.held().iter().map(|held| (held.version, held.held.clone())).collect();
    let [first, second]: [Vec<_>; 2] = [0, 2].map(|pe| held(&lab.pes[pe]));
    assert_eq!(first, second);
    first
}

#[test]
fn who_asks_is_answered_when_all_parts_are_on_all_disks() {
    let (mut lab, rest, disks) = lab_with(DiskRates::default());
    ask(&lab, true);
    lab.run(LOOK);
    assert_eq!(committed(&lab), [1], "memory waits for no disk");
    disks[0].work_off();
    lab.run(LOOK);
    assert_eq!((rest.take_answers(), newest(&disks)), (vec![], Some(1)), "each part is there once");
    want(&lab);
    lab.run(LOOK);
    assert_eq!(committed(&lab), [1], "the next one would take the memory of what is written");
    disks[1].work_off();
    lab.run(2 * LOOK);
    assert_eq!(rest.take_answers(), [(1, Ok(1), None)]);
    assert_eq!(committed(&lab), [1, 2]);
    let all = ["v1-pe0.part", "v1-pe1.part", "v1-pe2.part", "v1-pe3.part", "v1.manifest"];
    assert_eq!([disks[0].names(), disks[1].names()], [all, all]);
    assert_eq!(held(&lab), [(2, vec![0, 1])], "what was not asked for is in memory, all of it");
    assert_eq!(lab.how_it_ended(), (-1, None));
}

#[test]
fn what_was_asked_for_before_stays_until_the_next_is_whole() {
    let (mut lab, rest, disks) = lab_with(DiskRates::default());
    assert_eq!(asked(&mut lab, &rest, &disks), (1, Ok(1), None));
    want(&lab);
    lab.run(LOOK);
    assert_eq!((committed(&lab), newest(&disks)), (vec![1, 2], Some(1)), "that is in memory only");
    ask(&lab, true);
    lab.run(LOOK);
    disks[0].work_off();
    lab.run(LOOK);
    assert_eq!([versions_on(&disks[0]), versions_on(&disks[1])], [vec!["v1", "v3"], vec!["v1"]]);
    for _ in 0..2 {
        disks[1].work_off();
        lab.run(LOOK);
    }
    disks.iter().for_each(Slow::work_off);
    assert_eq!(rest.take_answers(), [(1, Ok(3), None)]);
    assert_eq!(disks.each_ref().map(versions_on), [["v3"], ["v3"]]);
}

#[test]
fn a_checkpoint_that_is_gone_on_from_at_once_is_not_written() {
    let (mut lab, rest, disks) = lab_with(DiskRates::default());
    ask(&lab, false);
    lab.run(LOOK);
    assert_eq!(rest.take_answers(), [(1, Ok(1), None)]);
    assert!(disks.iter().all(|disk| disk.backlog.lock().unwrap().is_none()), "nobody has opened a disk");
}

#[test]
fn a_disk_that_takes_nothing_is_told_to_who_asks_and_to_nobody_else() {
    let (mut lab, rest, disks) = lab_with(DiskRates { sync_fails_ppm: 1_000_000, ..DiskRates::default() });
    let (answered, version, why) = asked(&mut lab, &rest, &disks);
    let why = why.expect("one disk takes nothing");
    assert!(why.starts_with("node 1: ") && why.contains("input/output error"), "{why}");
    assert_eq!((answered, version, newest(&disks)), (1, Ok(1), None));
    assert_eq!(
        disks.each_ref().map(versions_on),
        [vec![] as Vec<String>, vec![]],
        "half of one helps nobody"
    );
    assert_eq!((committed(&lab), held(&lab)), (vec![1], vec![(1, vec![0, 1])]));
    disks[1].disk.with(SimulatedDisk::heal);
    assert_eq!(asked(&mut lab, &rest, &disks), (1, Ok(2), None));
    assert_eq!(newest(&disks), Some(2));
    assert_eq!(lab.how_it_ended(), (-1, None));
}

#[test]
fn a_disk_with_room_for_one_keeps_the_one_before() {
    let (mut lab, rest, disks) = lab_with(DiskRates { room_bytes: 400_000, ..DiskRates::default() });
    assert_eq!(asked(&mut lab, &rest, &disks), (1, Ok(1), None));
    let (_, version, why) = asked(&mut lab, &rest, &disks);
    assert_eq!(version, Ok(2));
    assert!(why.is_some_and(|why| why.contains("no space is left")));
    assert_eq!((newest(&disks), versions_on(&disks[1])), (Some(1), vec!["v1".to_owned()]));
    want(&lab);
    lab.run(LOOK);
    assert_eq!(committed(&lab), [1, 2, 3]);
}
