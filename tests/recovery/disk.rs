//! Jobs that keep their checkpoints on disk, lose all their processes, and are started again (`--ft disk`, `--restart`).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use talisman::rng::Rng;

use crate::buddies::tells_what_is_lost;
use crate::job::{Ended, Scratch, Shape};
use crate::subjects::{JACOBI, LEANMD, LONG, Left, ROUNDS, Run, SAVED, Said, Subject};
use crate::system::{children, signal};

/// A folder for checkpoints, which a test takes away.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        let folder = Folder(Scratch::new("checkpoints").0.clone());
        let _ = fs::remove_dir_all(&folder.0);
        folder
    }

    /// The same files in another folder.
    pub fn copy(&self) -> Folder {
        let copy = Folder::new();
        for file in self.files() {
            let to = copy.0.join(file.strip_prefix(&self.0).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(file, to).unwrap();
        }
        copy
    }

    fn files(&self) -> Vec<PathBuf> {
        let all = |folder: &Path| -> Vec<PathBuf> {
            fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
        };
        let mut files: Vec<_> = all(&self.0).iter().flat_map(|node| all(node)).collect();
        files.sort();
        files
    }

    fn parts(&self) -> Vec<PathBuf> {
        let is_part = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "part");
        self.files().into_iter().filter(is_part).collect()
    }

    /// The first part, or manifest, in all folders that have it.
    fn copies_of_one(&self, kind: &str) -> Vec<PathBuf> {
        let is_of_kind = |file: &PathBuf| file.extension().is_some_and(|extension| extension == kind);
        let mut all: Vec<_> = self.files().into_iter().filter(is_of_kind).collect();
        let first = name(&all[0]).to_owned();
        all.retain(|file| name(file) == first);
        assert!(all.len() > 1, "each is there twice: {all:?}");
        all
    }

    /// Of which there are files, in increasing order.
    pub fn versions(&self) -> Vec<u64> {
        let files = self.files();
        let version = |file: &PathBuf| name(file).strip_prefix('v')?.split(['-', '.']).next()?.parse().ok();
        let versions: BTreeSet<u64> = files.iter().filter_map(version).collect();
        versions.into_iter().collect()
    }

    /// How many nodes have each part.
    pub fn copies(&self) -> BTreeMap<OsString, u32> {
        let mut copies = BTreeMap::new();
        for part in self.parts() {
            *copies.entry(part.file_name().unwrap().to_owned()).or_default() += 1;
        }
        copies
    }

    pub fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        self.files().into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect()
    }

    /// Whether so many nodes have a version on their disks.
    fn is_covered_by(&self, nodes: usize) -> bool {
        let files = self.files().into_iter();
        let manifests: Vec<_> =
            files.filter(|file| file.extension().is_some_and(|end| end == "manifest")).collect();
        let same = |one: &PathBuf| {
            manifests.iter().filter(|manifest| manifest.file_name() == one.file_name()).count()
        };
        manifests.iter().any(|manifest| same(manifest) == nodes)
    }

    /// Whether all of a version is there twice, taken on so many nodes with so many PEs each.
    pub fn has_whole(&self, nodes: u32, pes: u32) -> bool {
        let (copies, files) = (self.copies(), self.files());
        let is_whole = |version: &u64| {
            let part = |pe: u32| copies.get(&OsString::from(format!("v{version}-pe{pe}.part")));
            let manifest = format!("v{version}.manifest");
            let manifests = files.iter().filter(|file| name(file) == manifest).count();
            manifests == nodes as usize && (0..nodes * pes).all(|pe| part(pe) == Some(&2))
        };
        self.versions().iter().any(is_whole)
    }

    /// Whether so many nodes, of one PE each, have all of a version: the newest may have been amid its way to the disks.
    fn is_there_twice(&self, version: u64, nodes: u32) -> bool {
        let copies = self.copies();
        let part = |pe| copies.get(&OsString::from(format!("v{version}-pe{pe}.part")));
        let manifest = format!("v{version}.manifest");
        let manifests = self.files().iter().filter(|file| name(file) == manifest).count();
        manifests == nodes as usize && (0..nodes).all(|pe| part(pe) == Some(&2))
    }

    /// Other versions go: of one that was just replaced, or was being taken.
    fn keep_only(&self, version: &str) {
        let is_other = |file: &PathBuf| {
            let name = file.file_name().unwrap().to_str().unwrap();
            name.starts_with('v')
                && !name.strip_prefix(version).is_some_and(|rest| rest.starts_with(['-', '.']))
        };
        self.files().into_iter().filter(is_other).for_each(|file| fs::remove_file(file).unwrap());
    }

    pub fn disk(&self, options: &str) -> String {
        format!("--ft disk --ft-log --ckpt-dir {} {options}", self.0.display())
    }

    /// The same for a run that does not end before it is let go, or cut off.
    pub fn held(&self, options: &str) -> String {
        format!("{} {}", self.disk(options), self.holding())
    }

    /// [`LONG`] and [`GARDEN`](crate::subjects::GARDEN) do not end before they are let go.
    pub fn holding(&self) -> String {
        fs::write(self.hold(), "").unwrap();
        format!("--hold {}", self.hold().display())
    }

    pub fn let_go(&self) {
        let _ = fs::remove_file(self.hold());
    }

    fn hold(&self) -> PathBuf {
        self.0.with_extension("hold")
    }

    pub fn restart(&self, options: &str) -> String {
        format!("--restart {} --ft-log {options}", self.0.display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.let_go();
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn name(file: &Path) -> &str {
    file.file_name().and_then(|name| name.to_str()).expect("they have names of letters")
}

pub fn on_disk_like_in_memory() {
    for (subject, transport) in [(ROUNDS, "mixed"), (JACOBI, "shm"), (LEANMD, "tcp")] {
        let shape = (3, 2, transport);
        let expected = subject.undisturbed(shape);
        for options in ["--ckpt-every 1h", "--ckpt-every 5steps", "--ckpt-every 5steps --kill 1@step22"] {
            let folder = Folder::new();
            subject.start(shape, &folder.disk(options)).survives(&expected);
            assert!(!folder.0.exists(), "a job that has ended leaves no checkpoints");
        }
    }
}

/// Kills everything that belongs to a job, once it has come so far and has a checkpoint; what it has said is left.
pub fn cut_off(run: Run, folder: &Folder, nodes: usize, after: &str) -> Vec<String> {
    let processes = run.job.nodes(nodes);
    run.job.wait_for_error("committed after");
    run.job.wait_for(after);
    kill_all(run, folder, processes)
}

pub fn kill_all(run: Run, folder: &Folder, processes: Vec<i32>) -> Vec<String> {
    signal(run.job.launcher_pid(), Signal::KILL);
    processes.into_iter().for_each(|node| signal(node, Signal::KILL));
    let ended = run.job.end();
    folder.let_go();
    // A node may have come to lead before it was killed.
    Said::of(&ended.stdout).check_repeats(1, 0);
    ended.stdout
}

/// What has been said before and after is what an undisturbed run says. Lines may have been said by both, and by neither twice.
#[track_caller]
pub fn goes_on(subject: Subject, shape: Shape, options: &str, said: &[String], expected: &Said) -> Left {
    let left = subject.start(shape, options).end();
    left.said.check_repeats(1, 0);
    let both = left.said.and_before(said);
    let (missing, wrong) = (expected.without(&both), both.without(expected));
    assert_eq!((missing, wrong), (vec![], vec![]), "{}", left.ended.said());
    assert_eq!(&both, expected, "{}", left.ended.said());
    left
}

pub fn a_whole_job_is_started_again() {
    let expected = LONG.undisturbed((3, 2, "shm"));
    let folder = Folder::new();
    let run = LONG.start((3, 2, "shm"), &folder.held("--ckpt-every 5steps"));
    let said = cut_off(run, &folder, 3, "at 22");
    let mut again: Option<Said> = None;
    let mut says = |left: &Left| {
        let first = again.get_or_insert_with(|| left.said.clone());
        assert_eq!(&left.said, first, "what the parts hold is said, whoever has them, and whatever may come");
    };
    for (nodes, pes) in
        [(3, 2), (2, 2), (1, 2), (1, 6), (6, 1), (2, 1), (1, 1), (1, 4), (4, 2), (2, 4), (1, 7)]
    {
        let copy = folder.copy();
        let left = goes_on(LONG, (nodes, pes, "mixed"), &copy.restart("--ft disk"), &said, &expected);
        says(&left);
        let says_no_more = left.said.first_round().is_none_or(|round| round >= 5);
        assert!(says_no_more, "what was said before the checkpoint is not said again");
        let told = |line: &String| {
            line.contains("goes on from checkpoint") && line.ends_with("taken on 3 nodes with 2 PEs each")
        };
        assert!(left.ended.stderr.iter().any(told), "{}", left.ended.said());
        let is_empty = fs::read_dir(&copy.0).is_ok_and(|mut left| left.next().is_none());
        assert!(is_empty, "{nodes} nodes with {pes} PEs: the folder was there before the job, and stays");
    }
    // What was just being written when all were killed is there, or not: so it is now.
    fs::write(folder.0.join("node-1/v9-pe0.part.tmp"), "begun").unwrap();
    let before = folder.contents();
    for ft in ["off", "double"] {
        let options = folder.restart(&format!("--ft {ft}"));
        says(&goes_on(LONG, (2, 2, "tcp"), &options, &said, &expected));
        assert_eq!(folder.contents(), before);
    }
}

/// Whenever it was cut off: with members of groups that ring, that have rung, and that know that all have.
pub fn more_nodes_than_before() {
    let mut rng = Rng::new(14);
    let expected = LONG.undisturbed((2, 1, "shm"));
    for (round, pes) in [(6, 1), (11, 2), (27, 1), (41, 2), (57, 1)] {
        let folder = Folder::new();
        let run = LONG.start((2, pes, "shm"), &folder.held("--tower --pendulums --ckpt-every 2ms"));
        let processes = run.job.nodes(2);
        run.job.wait_for_error("committed after");
        run.job.wait_for(&format!("at {round}"));
        sleep(Duration::from_micros(rng.below(5000)));
        let said = kill_all(run, &folder, processes);
        goes_on(LONG, (4, pes, "mixed"), &folder.restart("--ft disk"), &said, &expected);
    }
}

/// Members of nodegroups are by node, and nodes have other PEs than before.
pub fn nodegroups_on_other_pes_than_before() {
    let mut rng = Rng::new(15);
    let expected = LONG.undisturbed((3, 2, "shm"));
    let shapes = [[(2, 3), (1, 1), (7, 1)], [(3, 5), (2, 1), (4, 3)]];
    for (round, shapes) in [4, 33].into_iter().zip(shapes) {
        let folder = Folder::new();
        let run = LONG.start((3, 2, "shm"), &folder.held("--tower --pendulums --ckpt-every 2ms"));
        let processes = run.job.nodes(3);
        run.job.wait_for_error("committed after");
        run.job.wait_for(&format!("at {round}"));
        sleep(Duration::from_micros(rng.below(5000)));
        let said = kill_all(run, &folder, processes);
        for (nodes, pes) in shapes {
            let copy = folder.copy();
            goes_on(LONG, (nodes, pes, "mixed"), &copy.restart("--ft disk"), &said, &expected);
        }
        // From there to others again, and a node is lost on the way.
        let again = folder.restart("--ft disk --ckpt-every 3steps");
        let run = LONG.start((2, 3, "mixed"), &format!("{again} {}", folder.holding()));
        let processes = run.job.nodes(2);
        run.job.wait_for_error("committed after");
        run.job.wait_for("at 50");
        let said = [said, kill_all(run, &folder, processes)].concat();
        let options = folder.restart("--ft disk --ckpt-every 3steps --kill 2@step65");
        goes_on(LONG, (4, 1, "mixed"), &options, &said, &expected);
    }
}

/// Nodes that had been lost are there again.
pub fn lost_nodes_come_back() {
    let expected = LONG.undisturbed((4, 1, "shm"));
    for victims in [[1, 3], [0, 2]] {
        let folder = Folder::new();
        // By then there is a checkpoint, also if the disk is slow.
        let kills = format!("--kill {}@step24 --kill {}@step24", victims[0], victims[1]);
        let options = folder.held(&format!("--tower --ckpt-every 4steps {kills}"));
        let run = LONG.start((4, 1, "shm"), &options);
        run.job.wait_for_error("(failure)");
        run.job.wait_for("at 40");
        let left = children(run.job.launcher_pid());
        let said = kill_all(run, &folder, left);
        for nodes in [1, 2, 3, 4, 5] {
            let copy = folder.copy();
            goes_on(
                LONG,
                (nodes, 1, "mixed"),
                &copy.restart("--ft disk --ckpt-every 5steps"),
                &said,
                &expected,
            );
        }
    }
}

/// Again and again, also when a node is lost before there is a new checkpoint.
pub fn it_can_be_started_again_more_than_once() {
    let expected = LONG.undisturbed((4, 1, "shm"));
    let folder = Folder::new();
    let run = LONG.start((4, 1, "shm"), &folder.held("--ckpt-every 4steps"));
    let mut said = cut_off(run, &folder, 4, "at 10");
    let again = folder.restart("--ft disk --ckpt-every 4steps");
    for (nodes, after) in [(3, "at 30"), (6, "at 55")] {
        folder.holding();
        let run = LONG.start((nodes, 1, "mixed"), &again);
        said.extend(cut_off(run, &folder, nodes as usize, after));
    }
    let again = folder.restart("--ft disk --ckpt-every 1h --kill 1@step60");
    goes_on(LONG, (2, 1, "shm"), &again, &said, &expected);
}

pub fn examples_are_started_again() {
    for (subject, shape, fewer) in [(JACOBI, (3, 1), (2, 1)), (LEANMD, (2, 2), (1, 2))] {
        let expected = subject.undisturbed((shape.0, shape.1, "shm"));
        // All at once: nobody is left to go on. Steps do not wait for a disk, which may take longer than all of them.
        let kills: Vec<_> = (0..shape.0).map(|node| format!("--kill {node}@step40")).collect();
        let killed = || {
            let folder = Folder::new();
            let options = folder.disk(&format!("--ckpt-every 6steps {}", kills.join(" ")));
            let ended = subject.start((shape.0, shape.1, "shm"), &options).job.end();
            assert_eq!(ended.status.code(), Some(3), "{}", ended.said());
            assert!(ended.stderr.iter().any(|line| line.contains("--restart")), "{}", ended.said());
            (folder, ended)
        };
        let are_covered = |(folder, _): &(Folder, Ended)| folder.is_covered_by(shape.0 as usize);
        let (folder, ended) =
            (0..100).map(|_| killed()).find(are_covered).expect("one of these takes a checkpoint by then");
        goes_on(subject, (fewer.0, fewer.1, "tcp"), &folder.restart("--ft disk"), &ended.stdout, &expected);
    }
}

pub fn damaged_files_are_named_and_nothing_is_overwritten() {
    let expected = LONG.undisturbed((3, 1, "shm"));
    let whole = Folder::new();
    let said = cut_off(LONG.start((3, 1, "shm"), &whole.held("--ckpt-every 5steps")), &whole, 3, "at 17");
    goes_on(LONG, (2, 1, "shm"), &whole.restart(""), &said, &expected);
    let kept = whole.versions().into_iter().rev().find(|&version| whole.is_there_twice(version, 3));
    whole.keep_only(&format!("v{}", kept.expect("one stays whole until the next is")));
    type Damage = fn(&Path);
    let damages: [(Damage, [&str; 2]); 3] = [
        (|file| fs::remove_file(file).unwrap(), ["is nowhere", "no manifest that can be read"]),
        (
            |file| fs::write(file, &fs::read(file).unwrap()[..100]).unwrap(),
            ["72 bytes after its header", "72 bytes after its header"],
        ),
        (
            |file| {
                let mut bytes = fs::read(file).unwrap();
                *bytes.last_mut().unwrap() ^= 4;
                fs::write(file, bytes).unwrap();
            },
            ["is damaged somewhere", "is damaged somewhere"],
        ),
    ];
    for (damage, words) in damages {
        let folder = whole.copy();
        let victims = ["part", "manifest"].map(|kind| folder.copies_of_one(kind));
        victims.iter().for_each(|copies| damage(&copies[0]));
        let left = goes_on(LONG, (2, 1, "shm"), &folder.restart(""), &said, &expected);
        // What is not there cannot be named: the others are enough.
        for file in victims.iter().map(|copies| &copies[0]).filter(|file| file.exists()) {
            let names = |line: &String| {
                line.contains(file.parent().unwrap().to_str().unwrap()) && line.contains(name(file))
            };
            assert!(left.ended.stderr.iter().any(names), "{file:?}: {}", left.ended.said());
        }
        for (kind, word) in ["part", "manifest"].into_iter().zip(words) {
            let folder = whole.copy();
            let copies = folder.copies_of_one(kind);
            copies.iter().for_each(|file| damage(file));
            let before = folder.contents();
            let refused = LONG.start((2, 1, "shm"), &folder.restart("--ft disk")).job.end();
            refused.expect(2, &["is whole, and nothing was changed there", word, name(&copies[0])]);
            assert!(folder.contents() == before, "{word}");
        }
    }
}

/// Nobody reads what a lost node has kept while the job goes on: without both it ends, as in memory. It can be started again from the folders,
/// unless both are gone with their nodes.
pub fn both_buddies_on_disk() {
    let shape = (5, 1, "mixed");
    let expected = SAVED.undisturbed(shape);
    let folder = Folder::new();
    // The program waits for checkpoint 1 in round 8.
    let options = folder.disk("--ckpt-every 1h --kill 1@step12 --kill 2@step12");
    let ended = SAVED.start(shape, &options).job.end();
    let again =
        format!("; if it had taken a checkpoint, it can go on from that: --restart {}", folder.0.display());
    tells_what_is_lost(&ended, &again);
    let without = |nodes: &[u32]| {
        let copy = folder.copy();
        let gone = nodes.iter().map(|node| copy.0.join(format!("node-{node}")));
        gone.for_each(|node| fs::remove_dir_all(node).unwrap());
        copy
    };
    for (nodes, gone) in [(5, &[][..]), (3, &[1]), (2, &[2])] {
        let copy = without(gone);
        goes_on(SAVED, (nodes, 1, "shm"), &copy.restart("--ft disk"), &ended.stdout, &expected);
    }
    let folder = without(&[1, 2]);
    let before = folder.contents();
    let refused = SAVED.start(shape, &folder.restart("--ft disk")).job.end();
    refused.expect(2, &["is whole, and nothing was changed there", "v1-pe1.part", "is nowhere"]);
    assert!(folder.contents() == before);
}

/// Whenever it comes while a job is started again, from the look into its folder to its first rounds: the job ends in order, nothing of it is left,
/// and what it began from is there for the next.
pub fn interrupts_while_a_job_is_started_again() {
    let mut rng = Rng::new(16);
    let expected = LONG.undisturbed((3, 1, "shm"));
    let whole = Folder::new();
    let run = LONG.start((3, 1, "shm"), &whole.held("--words 40000 --ckpt-every 5steps"));
    let said = cut_off(run, &whole, 3, "at 22");
    // A program that is started again looks at the file of its first command, whatever the new one says.
    whole.holding();
    let shapes = [(3, 1, "mixed"), (1, 2, "shm"), (2, 1, "tcp")];
    let (mut early, mut late) = (0, 0);
    for (round, shape) in shapes.iter().cycle().enumerate().take(60) {
        if round >= 12 && early > 0 && late > 0 {
            break;
        }
        let (asked, status) = [(Signal::INT, 130), (Signal::TERM, 143)][round % 2];
        let folder = whole.copy();
        let run = LONG.start(*shape, &folder.restart("--ft disk"));
        match round % 4 {
            0 => run.job.wait_for_error("goes on from checkpoint"),
            _ => run.job.wait_for("at "),
        };
        sleep(Duration::from_micros(rng.below(3000)));
        signal(run.job.launcher_pid(), asked);
        let ended = run.job.end().at_once();
        // Before it has begun anything that is to be ended in order, the system ends it; a shell says the same then.
        let is_asked =
            ended.status.code().or(ended.status.signal().map(|signal| 128 + signal)) == Some(status);
        assert!(is_asked, "{}", ended.said());
        match ended.stdout.is_empty() {
            true => early += 1,
            false => late += 1,
        }
    }
    whole.let_go();
    goes_on(LONG, (2, 1, "shm"), &whole.restart(""), &said, &expected);
}

pub fn folders_that_cannot_be_used() {
    let folder = Folder::new();
    let run = |options: &str| LONG.start((2, 1, "shm"), options).job.end();
    run(&folder.restart("")).expect(2, &["cannot look for checkpoints in", "No such file"]);
    fs::create_dir_all(&folder.0).unwrap();
    run(&folder.restart("")).expect(2, &["there is no checkpoint in", "--ckpt-dir"]);
    let file = folder.0.join("file");
    fs::write(&file, "").unwrap();
    run(&format!("--ft disk --ckpt-dir {}", file.display())).expect(2, &["cannot keep checkpoints in"]);
    fs::remove_file(file).unwrap();
    run("--ft disk --ckpt-dir /proc/nowhere").expect(2, &["cannot keep checkpoints in /proc/nowhere"]);
    cut_off(LONG.start((2, 1, "shm"), &folder.held("--ckpt-every 5steps")), &folder, 2, "at 12");
    let before = folder.contents();
    run(&folder.disk("")).expect(2, &["of another job", "--restart"]);
    let other = JACOBI.start((2, 1, "shm"), &folder.restart("")).job.end();
    other.expect(2, &["are of the program", "run that one"]);
    assert_eq!(folder.contents(), before);
}
