//! Jobs on the hosts of a network, and what is expected of their ends.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::network::{Ended, Network, Running, eventually};

/// A host's nodes are two unless a test is about something else.
pub const TWO_HOSTS: [&str; 2] = ["h1 slots=2", "h2 slots=2"];

/// Within this everything has ended, whatever happened. The promise is two seconds; the rest is for slow machines.
pub const AT_ONCE: Duration = Duration::from_secs(30);

/// The probe on these hosts, started on the first one.
pub fn run(network: &Network, hosts: &[&str], options: &[&str]) -> Ended {
    start(network, hosts, options).end()
}

pub fn start(network: &Network, hosts: &[&str], options: &[&str]) -> Running {
    Running::start(&mut job(network, hosts, options))
}

pub fn job(network: &Network, hosts: &[&str], options: &[&str]) -> Command {
    let mut command = network.command(0, &probe());
    command.arg("--hosts").arg(network.hosts_file(hosts)).args(["--transport", "tcp"]).args(options);
    command
}

/// The program's results by its report, without those that are times.
pub fn results(network: &Network, program: &str, options: &[&str], times: &[&str]) -> Map<String, Value> {
    let report = network.folder().join("report.json");
    let mut command = network.command(0, &example(program));
    let ended = Running::start(command.args(options).arg("--report").arg(&report)).end();
    assert_ended_well(&ended);
    let text = std::fs::read_to_string(&report).expect("a report was asked for");
    let report: Value = serde_json::from_str(&text).expect("a report is JSON");
    let mut results = report["results"].as_object().expect("a report has results").clone();
    times.iter().for_each(|time| drop(results.remove(*time)));
    results
}

/// A folder of this name in the network's own is the disk of a host, which has it at this place.
pub fn mount(network: &Network, host: usize, name: &str, place: &Path) {
    let folder = network.folder().join(name);
    std::fs::create_dir_all(&folder).expect("the folder is ours");
    network.host(host).namespace.sh(&format!("mount --bind {} {}", folder.display(), place.display()));
}

pub fn probe() -> PathBuf {
    example("probe")
}

pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    let profile = test.parent().and_then(Path::parent).expect("tests stand in target/PROFILE/deps");
    profile.join("examples").join(name)
}

#[track_caller]
pub fn assert_ended_well(ended: &Ended) {
    assert!(ended.status.success() && ended.errors.is_empty(), "{ended:?}");
}

/// It failed as a job does that lost something, and said all of this.
#[track_caller]
pub fn assert_failed(ended: &Ended, parts: &[&str]) {
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    for part in parts {
        assert!(ended.errors.contains(part), "no {part:?} in {ended:?}");
    }
}

/// Whatever happened, soon no process of a program is left on any host, nor one of ssh or `srun`.
#[track_caller]
pub fn assert_nothing_left(network: &Network) {
    let programs = probe().parent().expect("it is in a folder").to_path_buf();
    let ours = |program: &Path| {
        program.starts_with(&programs) || program.ends_with("bin/ssh") || program.ends_with("bin/srun")
    };
    let left =
        || network.processes().into_iter().filter(|process| ours(&process.executable)).collect::<Vec<_>>();
    assert!(eventually(|| left().is_empty()), "{:?}", left());
}
