//! Whole jobs that are started again from what their nodes have left on the disks of their hosts (`--ft disk`, `--restart`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::job::{TWO_HOSTS, assert_nothing_left, example, mount, results};
use crate::network::{Ended, Network, Running, eventually, hosts, kill_at_once};
use crate::trials::checks;

checks!(
    a_job_is_started_again_where_it_was needs hosts,
    parts_come_from_the_hosts_that_have_them needs hosts,
    parts_come_from_the_launchers_own_host needs hosts,
    a_loss_before_the_first_checkpoint_is_survived needs hosts,
    a_folder_that_all_hosts_see_is_one needs hosts,
    what_is_damaged_or_missing_is_named_with_its_host needs hosts,
    what_another_job_has_left_on_a_host_is_refused needs hosts,
    a_host_that_does_not_answer_is_named needs hosts,
);

const WORK: [&str; 3] = ["program", "--rounds", "80"];
const THREE_HOSTS: [&str; 3] = ["h1", "h2", "h3"];

/// Hosts that have a disk each under the same path, and what a job left there that was killed as a whole.
struct Left {
    network: Network,
    scratch: PathBuf,
    expected: Map<String, Value>,
}

impl Left {
    /// Of a job on these hosts, that of the launcher not among them, of so many in all.
    fn by(hosts: &[&str], all: u32) -> Left {
        let network = Network::new(all);
        let scratch = network.folder().join("scratch");
        fs::create_dir(&scratch).expect("the folder is ours");
        let left = Left { expected: results(&network, "rounds", &WORK, &[]), scratch, network };
        (0..all as usize).for_each(|host| left.mount(host, &format!("disk-h{host}")));
        left.run_and_cut_off(hosts);
        left
    }

    /// A folder of this name is the disk of a host.
    fn mount(&self, host: usize, name: &str) {
        mount(&self.network, host, name, &self.scratch);
    }

    fn unmount(&self, host: usize) {
        self.network.host(host).namespace.sh(&format!("umount {}", self.scratch.display()));
    }

    fn command(&self, hosts: &[&str], options: &[&str]) -> std::process::Command {
        let mut command = self.network.command(0, &example("rounds"));
        command.args(WORK).arg("--hosts").arg(self.network.hosts_file(hosts));
        command.args(["--pes", "1", "--silence", "5s", "--ft-log"]).args(options);
        command
    }

    fn run_and_cut_off(&self, hosts: &[&str]) {
        let hold = self.network.folder().join("hold");
        fs::write(&hold, "").expect("the folder is ours");
        let mut command = self.command(hosts, &["--ft", "disk", "--ckpt-every", "4steps", "--talk"]);
        let mut running =
            Running::start(command.arg("--hold").arg(&hold).arg("--ckpt-dir").arg(&self.scratch));
        running.wait_for("at 22\n");
        assert!(eventually(|| running.errors_so_far().contains("committed after")));
        kill_at_once(&self.network.processes_of(&example("rounds")));
        running.wait_for_end();
        assert_nothing_left(&self.network);
        fs::remove_file(hold).expect("it is there until here");
    }

    fn start_again(&self, hosts: &[&str], options: &[&str]) -> (Ended, Option<Value>) {
        let report = self.network.folder().join("again.json");
        let _ = fs::remove_file(&report);
        let mut command = self.command(hosts, options);
        let ended =
            Running::start(command.arg("--restart").arg(&self.scratch).arg("--report").arg(&report)).end();
        assert_nothing_left(&self.network);
        let report =
            fs::read(report).ok().map(|text| serde_json::from_slice(&text).expect("a report is JSON"));
        (ended, report)
    }

    /// It comes to what an undisturbed job comes to.
    #[track_caller]
    fn goes_on(&self, hosts: &[&str], options: &[&str]) -> Ended {
        let (ended, report) = self.start_again(hosts, options);
        assert!(ended.status.success(), "{ended:?}");
        let results = report.as_ref().and_then(|report| report["results"].as_object());
        assert_eq!(results, Some(&self.expected), "{ended:?}");
        assert!(ended.errors.contains("goes on from checkpoint "), "{ended:?}");
        ended
    }

    #[track_caller]
    fn is_refused(&self, hosts: &[&str], said: &[&str]) {
        let before = self.files();
        let (ended, _) = self.start_again(hosts, &["--ft", "disk"]);
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        said.iter().for_each(|said| assert!(ended.errors.contains(said), "no {said:?} in {ended:?}"));
        assert!(self.files() == before, "something was changed");
    }

    /// What all disks have.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let in_folder = |folder: &Path| -> Vec<PathBuf> {
            fs::read_dir(folder)
                .into_iter()
                .flatten()
                .map(|entry| entry.expect("it is listed").path())
                .collect()
        };
        let disks = in_folder(self.network.folder()).into_iter().filter(|path| is_disk(path));
        let files = disks.flat_map(|disk| in_folder(&disk)).flat_map(|node| in_folder(&node));
        // What was being written when its process was killed is of no use to anybody.
        let files = files.filter(|file| file.extension().is_none_or(|extension| extension != "tmp"));
        // Those of a job that runs come and go.
        let read = |file: PathBuf| fs::read(&file).ok().map(|bytes| (file, bytes));
        let mut files: Vec<_> = files.filter_map(read).collect();
        files.sort();
        files
    }

    fn names(&self) -> Vec<String> {
        self.files().iter().map(|(file, _)| name(file).to_owned()).collect()
    }

    /// Only the newest version stays of which each part is there twice: one that was being taken may have copies missing.
    fn keep_what_is_there_twice(&self) {
        let names = self.names();
        let parts = || names.iter().filter_map(|name| name.strip_suffix(".part")?.split_once('-'));
        let pes: BTreeSet<&str> = parts().map(|(_, pe)| pe).collect();
        let is_twice =
            |version: &str| pes.iter().all(|pe| parts().filter(|part| *part == (version, pe)).count() == 2);
        let number = |version: &&str| version.trim_start_matches('v').parse::<u64>().expect("it is one");
        let twice = parts().map(|(version, _)| version).filter(|version| is_twice(version));
        let kept = twice.max_by_key(number).unwrap_or_else(|| panic!("nothing is there twice: {names:?}"));
        let is_kept = |file: &Path| name(file).split(['-', '.']).next() == Some(kept);
        for (file, _) in self.files().iter().filter(|(file, _)| !is_kept(file)) {
            fs::remove_file(file).expect("it is there");
        }
    }

    /// The part of a PE in the version that is gone on from, on all disks that have it; other versions go.
    fn copies(&self, pe: u32, version: &str) -> Vec<PathBuf> {
        let is_own = |end| move |file: &Path| name(file).starts_with(&format!("v{version}{end}"));
        let is_other = |file: &Path| !is_own('-')(file) && !is_own('.')(file);
        let (others, own): (Vec<_>, Vec<_>) =
            self.files().into_iter().map(|(file, _)| file).partition(|file| is_other(file));
        others.iter().for_each(|file| fs::remove_file(file).expect("it is there"));
        own.into_iter().filter(|file| name(file) == format!("v{version}-pe{pe}.part")).collect()
    }

    /// The same files again.
    fn put_back(&self, files: &[(PathBuf, Vec<u8>)]) {
        for (file, bytes) in files {
            fs::create_dir_all(file.parent().expect("it is in a folder")).expect("the folder is ours");
            fs::write(file, bytes).expect("the folder is ours");
        }
    }
}

fn is_disk(path: &Path) -> bool {
    name(path).starts_with("disk-")
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("they have names of letters")
}

/// The host whose disk has this file.
fn host_of(file: &Path) -> String {
    let disk = file.ancestors().find(|path| is_disk(path)).expect("it is on a disk");
    name(disk).trim_start_matches("disk-").to_owned()
}

/// Each finds on its own disk what it needs, and takes away what it had there.
fn a_job_is_started_again_where_it_was() {
    let left = Left::by(&TWO_HOSTS, 3);
    let before = left.files();
    let hosts: Vec<String> = before.iter().map(|(file, _)| host_of(file)).collect();
    assert!(["h1", "h2"].iter().all(|host| hosts.iter().any(|other| other == host)), "{hosts:?}");
    for options in [&["--ft", "off"][..], &["--ft", "double"]] {
        left.goes_on(&TWO_HOSTS, options);
        assert!(left.files() == before, "{options:?}");
    }
    left.goes_on(&TWO_HOSTS, &["--ft", "disk"]);
    assert_eq!(left.files(), []);
}

/// What is not on a node's own disk comes from another host, also from one that has no node.
fn parts_come_from_the_hosts_that_have_them() {
    let left = Left::by(&THREE_HOSTS, 4);
    let before = left.files();
    let with_own = ["localhost address=10.77.0.1 slots=2", "h3", "h1 slots=3", "h2"];
    for (hosts, nodes) in [(&THREE_HOSTS[..], "1"), (&["h3", "h1", "h2"], "3"), (&with_own, "6")] {
        for options in [&["--ft", "disk", "--tls"][..], &["--ft", "off"]] {
            left.put_back(&before);
            left.goes_on(hosts, &[options, &["--nodes", nodes]].concat());
            let is_kept = options.contains(&"off");
            assert!(left.files() == if is_kept { before.clone() } else { vec![] }, "{hosts:?} {options:?}");
        }
    }
}

/// As if it had been one of those with nodes, and is not any more.
fn parts_come_from_the_launchers_own_host() {
    let left = Left::by(&THREE_HOSTS, 4);
    let before = left.files();
    for (host, disk) in [(0, "disk-h1"), (1, "none-h1")] {
        left.unmount(host);
        left.mount(host, disk);
    }
    // One of the other two has a copy of each part: without it, the launcher's host is asked.
    for options in [["--ft", "off"], ["--ft", "disk"]] {
        left.put_back(&before);
        left.goes_on(&["h1", "h3"], &options);
    }
    let of_others: Vec<_> = left.files().iter().map(|(file, _)| host_of(file)).collect();
    assert!(of_others.iter().all(|host| host == "h2"), "those that were asked: {of_others:?}");
}

/// A node that is lost before there is a new checkpoint had parts that another one needs then.
fn a_loss_before_the_first_checkpoint_is_survived() {
    let left = Left::by(&THREE_HOSTS, 4);
    let options = ["--ft", "disk", "--ckpt-every", "1h", "--kill", "1@step60"];
    let ended = left.goes_on(&THREE_HOSTS, &options);
    assert!(ended.errors.contains(" after the loss of node 1"), "{ended:?}");
}

fn a_folder_that_all_hosts_see_is_one() {
    let left = Left::by(&TWO_HOSTS, 3);
    let all = left.files();
    for (file, bytes) in &all {
        let name = file.strip_prefix(left.network.folder()).expect("it is in there");
        let within: PathBuf = name.components().skip(1).collect();
        left.put_back(&[(left.network.folder().join("disk-shared").join(within), bytes.clone())]);
        fs::remove_file(file).expect("it is there");
    }
    (0..3).for_each(|host| {
        left.unmount(host);
        left.mount(host, "disk-shared");
    });
    left.goes_on(&["h2", "h1 slots=2"], &["--ft", "disk"]);
    assert_eq!(left.files(), []);
}

fn what_is_damaged_or_missing_is_named_with_its_host() {
    let left = Left::by(&TWO_HOSTS, 3);
    left.keep_what_is_there_twice();
    let ended = left.goes_on(&TWO_HOSTS, &["--ft", "off"]);
    let told = ended.errors.split_once("from checkpoint ").expect("it says what it goes on from").1;
    let version = told.split(' ').next().expect("a number");
    let copies = left.copies(2, version);
    let whole = left.files();
    assert_eq!(copies.len(), 2, "{copies:?}");
    let mut hosts: Vec<String> = copies.iter().map(|file| host_of(file)).collect();
    hosts.sort();
    assert_eq!(hosts, ["h1", "h2"], "copies are on another host");
    let in_words = |file: &Path| format!(" on the host {}: v{version}-pe2.part", host_of(file));
    // One of them: the other is used.
    for damaged in &copies {
        let bytes = fs::read(damaged).expect("it is there");
        fs::write(damaged, &bytes[..100]).expect("it is ours");
        let ended = left.goes_on(&TWO_HOSTS, &["--ft", "off"]);
        let is_named =
            ended.errors.contains(&in_words(damaged)) && ended.errors.contains("72 bytes after its header");
        // Nobody looks at the second one while the first is as it was.
        assert!(is_named || damaged != &copies[0], "{ended:?}");
        left.put_back(&whole);
    }
    // Both.
    copies.iter().for_each(|file| fs::write(file, "").expect("it is ours"));
    let nowhere = format!("the part of PE 2 in version {version} is nowhere");
    left.is_refused(
        &TWO_HOSTS,
        &[&in_words(&copies[0]), &in_words(&copies[1]), &nowhere, "nothing was changed"],
    );
    left.put_back(&whole);
    // A host without its disk: that of the other has a copy of each part; without both, there is nothing.
    left.unmount(2);
    left.goes_on(&TWO_HOSTS, &["--ft", "off"]);
    let copy = copies.iter().find(|file| host_of(file) == "h1").expect("it is there");
    fs::remove_file(copy).expect("it is there");
    left.is_refused(&TWO_HOSTS, &[&nowhere]);
    left.is_refused(&["h2 slots=2"], &["there is no checkpoint in", " on any of the hosts (h2, localhost)"]);
}

/// Neither is taken for the other, nor overwritten.
fn what_another_job_has_left_on_a_host_is_refused() {
    let left = Left::by(&["h1", "h2"], 4);
    left.run_and_cut_off(&["h3"]);
    left.is_refused(&["h1", "h3"], &["has checkpoints of more than one job", " on h1", " on h3"]);
    left.goes_on(&["h1", "h2"], &["--ft", "off"]);
    let before = left.files();
    let dir = left.scratch.to_str().expect("it has a name of letters");
    let ended = Running::start(&mut left.command(&["h3"], &["--ft", "disk", "--ckpt-dir", dir])).end();
    assert!(!ended.status.success() && ended.errors.contains("of another job"), "{ended:?}");
    assert!(left.files() == before, "something was changed");
}

fn a_host_that_does_not_answer_is_named() {
    let left = Left::by(&["h1", "h2"], 3);
    left.network.host(2).cut_off();
    let mut command = left.command(&["h1", "h2"], &["--ft", "disk"]);
    command.env("TALISMAN_SSH", format!("{} -o ConnectTimeout=1", left.network.ssh_options()));
    let ended = Running::start(command.arg("--restart").arg(&left.scratch)).end();
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    assert!(ended.errors.contains("host h2 (node 1): ssh failed ("), "{ended:?}");
}
