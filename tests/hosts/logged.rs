//! Jobs that log and lose the launcher's host, or are cut off from it (`--ft logging`): what was there goes back, and nobody else.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::job::{assert_nothing_left, example, results};
use crate::network::{Ended, Network, Running, eventually, hosts, kill_at_once};
use crate::surviving::{errors_elsewhere, files_elsewhere};
use crate::trials::checks;

checks!(
    the_launchers_machine_is_lost needs hosts,
    of_a_cut_network_the_larger_part_goes_on needs hosts,
    a_launcher_that_is_cut_off_does_not_start_the_job_again needs hosts,
);

/// One node with the launcher, whose loss is one with tickets too.
const HOSTS: [&str; 3] = ["localhost slots=1 address=10.77.0.1", "h1 slots=1", "h2 slots=2"];
const NO_CUTS: [&str; 2] = ["--ckpt-every", "100000steps"];
/// What the other part says of node 0, when it leads.
const ELSEWHERE: [&str; 3] =
    [" on the host h1 leads now", "after the loss of the launcher and of node 0", "nobody else went back"];

/// A relay that does not end before it is let go, and what it has to come to.
struct Held<'a> {
    network: &'a Network,
    running: Running,
    hold: PathBuf,
    report: PathBuf,
    expected: Map<String, Value>,
}

impl<'a> Held<'a> {
    fn start(network: &'a Network, variant: &str, options: &[&str]) -> Held<'a> {
        let expected = results(network, "relay", &["program", "--relay", "--nodes", "4", "--pes", "1"], &[]);
        let [hold, report] = ["hold", "held.json"].map(|name| network.folder().join(name));
        fs::write(&hold, "49").expect("the folder is ours");
        let mut command = network.command(0, &example("relay"));
        command.args(["program", "--relay", "--pause-us", "300", "--hold"]).arg(&hold);
        command.arg("--hosts").arg(network.hosts_file(&HOSTS)).args(["--pes", "1", "--silence", "2s"]);
        command.args(["--ft", variant]).arg("--report").arg(&report).args(options);
        let running = Running::start(&mut command);
        Held { network, running, hold, report, expected }
    }

    /// Whoever leads next, on another host, has said all of this.
    #[track_caller]
    fn wait_for_elsewhere(&self, said: &[&str]) {
        for said in said {
            let is_said = eventually(|| errors_elsewhere(self.network).contains(said));
            assert!(is_said, "no {said:?}: {}", errors_elsewhere(self.network));
        }
    }

    /// The first launcher has ended; the job comes to the same without it, and node 0 alone is another. What both have printed.
    #[track_caller]
    fn goes_on_elsewhere(mut self) -> (Ended, [Vec<String>; 2]) {
        self.wait_for_elsewhere(&ELSEWHERE);
        // It may write a report as well, in which the job has failed; and it shall not be the later one.
        self.running.wait_for_end();
        fs::remove_file(&self.hold).expect("it is there until here");
        let Held { network, running, report, expected, .. } = self;
        let ended = running.end();
        let read = || serde_json::from_slice::<Value>(&fs::read(&report).ok()?).ok();
        let has_succeeded = || read().is_some_and(|report| report["status"] == 0);
        assert!(eventually(has_succeeded), "{ended:?} {}", errors_elsewhere(network));
        assert_nothing_left(network);
        let report = read().expect("it has just been there");
        assert_eq!(report["results"].as_object(), Some(&expected), "{ended:?}");
        let lost: Vec<_> = report["failures"].as_array().into_iter().flatten().collect();
        let lost: Vec<_> = lost.iter().map(|failure| (&failure["node"], &failure["replaced"])).collect();
        assert_eq!(lost, [(&Value::Null, &false.into()), (&0.into(), &true.into())], "{report}");
        let elsewhere = files_elsewhere(network, "out").filter_map(|file| fs::read_to_string(file).ok());
        let printed = [vec![ended.output.clone()], elsewhere.collect()];
        (ended, printed.map(|texts| texts.iter().flat_map(|text| text.lines().map(str::to_owned)).collect()))
    }
}

/// Each line of a relay of 60 rounds was printed, and none twice at one place. Those that came last at the first may have come again.
#[track_caller]
fn assert_all_is_printed(printed: &[Vec<String>; 2]) {
    let of_one = printed.each_ref().map(|lines| lines.iter().collect::<BTreeSet<_>>());
    let twice = printed.iter().zip(&of_one).any(|(lines, different)| lines.len() != different.len());
    let all: BTreeSet<_> = of_one.iter().flatten().collect();
    assert!(!twice && all.len() == 4 * 60 + 1, "{} lines: {printed:?}", all.len());
}

/// With all that ran on it, and its network.
fn the_launchers_machine_is_lost() {
    let network = Network::new(3);
    let mut held = Held::start(&network, "logging:strict", &NO_CUTS);
    held.running.wait_for(" in round 14:");
    let host = network.host(0);
    host.cut_off();
    let all: Vec<_> =
        network.processes_of(&example("relay")).into_iter().filter(|process| host.has(process)).collect();
    assert!(all.len() >= 3, "launcher, agent and node: {all:?}");
    kill_at_once(&all);
    let (ended, printed) = held.goes_on_elsewhere();
    assert_eq!(ended.status.code(), None, "{ended:?}");
    assert_all_is_printed(&printed);
}

/// The launcher's ends, and says why.
fn of_a_cut_network_the_larger_part_goes_on() {
    let network = Network::new(3);
    let mut held = Held::start(&network, "logging", &NO_CUTS);
    held.running.wait_for(" in round 14:");
    network.host(0).cut_off();
    let (ended, printed) = held.goes_on_elsewhere();
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    for said in
        ["too many hosts were lost at once, which may go on without the others", "the job cannot go on"]
    {
        assert!(ended.errors.contains(said), "no {said:?} in {ended:?}");
    }
    assert_all_is_printed(&printed);
}

/// It has lost two nodes at once, which is more than it can do without, and has a checkpoint on disk that it could go back to. But the others go on,
/// and are there again when it could start anything.
fn a_launcher_that_is_cut_off_does_not_start_the_job_again() {
    let network = Network::new(3);
    let kept = network.folder().join("kept");
    let options =
        ["--quiet", "--ckpt-every", "5steps", "--ft-log", "--ckpt-dir", kept.to_str().expect("letters")];
    let mut held = Held::start(&network, "logging:ticket", &options);
    held.running.wait_for_error_lines(8);
    // Whatever is sent is lost, and nobody is told.
    let between = |what: &str| {
        for host in [1, 2] {
            network.host(host).namespace.sh(&format!("ip route {what} blackhole 10.77.0.1"));
        }
    };
    between("add");
    held.wait_for_elsewhere(&ELSEWHERE);
    between("del");
    let (ended, printed) = held.goes_on_elsewhere();
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    for said in [
        "were away at once",
        "all go back to it",
        "it does not go back to checkpoint ",
        "as hosts that cannot be reached may go on without the others",
    ] {
        assert!(ended.errors.contains(said), "no {said:?} in {ended:?}");
    }
    assert_eq!(printed.map(|lines| lines.len()), [0, 1], "the result is said once: {ended:?}");
}
