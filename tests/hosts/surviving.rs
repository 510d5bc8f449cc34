//! Jobs that go on without hosts that they lose, that of the launcher among them (`--ft double`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::job::{TWO_HOSTS, assert_nothing_left, example, mount, results};
use crate::network::{Network, Process, Running, eventually, hosts, signal};
use crate::trials::checks;

checks!(
    a_job_that_survives_goes_on_without_a_host_it_loses needs hosts,
    a_network_that_is_cut_where_nothing_goes_is_noticed needs hosts,
    a_host_that_is_back_when_its_loss_is_known_does_no_harm needs hosts,
    a_job_on_several_hosts_goes_on_without_its_launcher needs hosts,
    two_hosts_of_three_go_on_without_that_of_the_launcher needs hosts,
    of_two_parts_without_a_checkpoint_the_larger_one_goes_on needs hosts,
    a_host_alone_does_not_go_on_without_that_of_the_launcher needs hosts,
    only_the_launchers_side_of_a_cut_network_computes_on needs hosts,
);

/// With checkpoints now and then, and none but those after a recovery.
pub const OFTEN: &str = "4steps";
const NEVER: &str = "1h";

/// A run that does not end before it is let go, and what it has to come to. So whatever is done to it is done in time.
pub struct Held<'a> {
    network: &'a Network,
    running: Running,
    /// It goes on while this file is there.
    hold: PathBuf,
    report: PathBuf,
    expected: Map<String, Value>,
}

impl<'a> Held<'a> {
    fn start(network: &'a Network, hosts: &[&str], every: &str) -> Self {
        Held::start_with(network, hosts, every, &[])
    }

    fn start_with(network: &'a Network, hosts: &[&str], every: &str, options: &[&str]) -> Self {
        let command = network.command(0, &example("rounds"));
        Held::by(network, command, &network.hosts_file(hosts), every, options)
    }

    /// By a command that ends with the program.
    pub fn by(
        network: &'a Network,
        mut command: Command,
        hosts: &Path,
        every: &str,
        options: &[&str],
    ) -> Self {
        let work = ["program", "--rounds", "80"];
        let expected = results(network, "rounds", &work, &[]);
        let [hold, report] = ["hold", "held.json"].map(|name| network.folder().join(name));
        fs::write(&hold, "").expect("the folder is ours");
        let _ = fs::remove_file(&report);
        command.args(work).arg("--hold").arg(&hold);
        command.arg("--hosts").arg(hosts).args(["--pes", "1", "--silence", "3s"]);
        command.args(["--ft", "double", "--ckpt-every", every]).arg("--report").arg(&report).args(options);
        let mut running = Running::start(&mut command);
        running.wait_for("at 14\n");
        Held { network, running, hold, report, expected }
    }

    fn kill_launcher(&self) {
        let all = self.network.nodes_of(0, &example("rounds")).into_iter();
        let launcher = all
            .filter(|process| process.arguments.contains(&"--hosts".into()))
            .min_by_key(|process| process.id);
        assert!(Process::kill(launcher.expect("it runs on the first host").id));
    }

    /// Under the launcher that it began with, it comes to the same, after it has said all of this.
    #[track_caller]
    pub fn goes_on(self, said: &[&str]) -> Value {
        self.wait_until_said(said);
        self.let_go();
        let Held { network, running, report, expected, .. } = self;
        let ended = running.end();
        assert!(ended.status.success(), "{ended:?}");
        let report = read(&report).unwrap_or_else(|| panic!("no report: {ended:?}"));
        assert_eq!(report["results"].as_object(), Some(&expected), "{ended:?}");
        assert_nothing_left(network);
        report
    }

    /// Under another.
    #[track_caller]
    fn goes_on_without_its_launcher(mut self, said: &[&str]) {
        self.wait_until_said(said);
        // That one may write a report as well, in which the job has failed; and it shall not be the later one.
        self.running.wait_for_end();
        self.let_go();
        let Held { network, running, report: file, expected, .. } = self;
        let ended = running.end();
        let has_succeeded = || read(&file).is_some_and(|report| report["status"] == 0);
        assert!(eventually(has_succeeded), "{ended:?} {}", errors_elsewhere(network));
        let report = read(&file).expect("it has just been there");
        assert_eq!(report["results"].as_object(), Some(&expected), "{ended:?}");
        assert!(report["failures"][0]["node"].is_null(), "{report}");
        assert_nothing_left(network);
    }

    /// By any launcher.
    #[track_caller]
    fn wait_until_said(&self, said: &[&str]) {
        let so_far = || self.running.errors_so_far() + &errors_elsewhere(self.network);
        for said in said {
            assert!(eventually(|| so_far().contains(said)), "no {said:?}: {}", so_far());
        }
    }

    fn let_go(&self) {
        fs::remove_file(&self.hold).expect("it is there until here");
    }
}

fn read(report: &PathBuf) -> Option<Value> {
    serde_json::from_slice(&fs::read(report).ok()?).ok()
}

/// What was said by a launcher on another host than the first, where the working folder is.
pub fn errors_elsewhere(network: &Network) -> String {
    files_elsewhere(network, "err").filter_map(|file| fs::read_to_string(file).ok()).collect()
}

/// Where it says that, `err`, or where it prints to, `out`.
pub fn files_elsewhere(network: &Network, kind: &str) -> impl Iterator<Item = PathBuf> {
    let files = fs::read_dir(network.folder()).expect("the folder is ours").flatten();
    files.map(|entry| entry.path()).filter(move |file| file.extension().is_some_and(|other| other == kind))
}

fn a_job_that_survives_goes_on_without_a_host_it_loses() {
    let network = Network::new(3);
    let survives = |hosts: &[&str], lost: usize, lose: &dyn Fn(), said: &str| {
        let held = Held::start_with(&network, hosts, OFTEN, &["--talk"]);
        lose();
        let report = held.goes_on(&[said, " went back to checkpoint ", " after the loss of node"]);
        assert_eq!(report["failures"].as_array().map(Vec::len), Some(lost), "{report}");
    };
    let agent = || _ = Process::kill(network.agent_of(1, &example("rounds")).id);
    survives(&TWO_HOSTS, 2, &agent, "host h1 (nodes 0 to 1): its agent ");
    // The launcher reaches both, but they do not reach each other: the first goes on. Of several connections that are cut, nobody uses but one.
    let between = |what: &str| network.host(2).namespace.sh(&format!("ip route {what} blackhole 10.77.0.2"));
    for (hosts, lost) in [(["h1", "h2"], 1), (TWO_HOSTS, 2)] {
        survives(&hosts, lost, &|| between("add"), "was killed, as node ");
        between("del");
    }
    survives(&TWO_HOSTS, 2, &|| network.host(2).cut_off(), "host h2 (nodes 2 to 3): it said nothing for 3s");
}

/// Nobody says anything, and there is nothing to be missed: the systems have to ask each other.
fn a_network_that_is_cut_where_nothing_goes_is_noticed() {
    let network = Network::new(3);
    let mut held = Held::start(&network, &TWO_HOSTS, NEVER);
    held.running.wait_for("at 59\n");
    // What was said before that has come and is acknowledged.
    sleep(Duration::from_secs(1));
    network.host(2).namespace.sh("ip route add blackhole 10.77.0.2");
    let report = held.goes_on(&["node 2 (", "node 3 (", "was killed, as node ", " after the loss of nodes "]);
    let failures = report["failures"].as_array().expect("there are some");
    assert_eq!(failures.len(), 2, "{report}");
    for failure in failures {
        let told = (&failure["detected"], &failure["detect_s"]);
        assert_eq!(told, (&"suspicion".into(), &Value::Null), "nothing happened to it: {report}");
    }
}

/// At once, and when its processes did not get to notice that the others were gone: what they say then, and what was on its way, is heard by nobody.
fn a_host_that_is_back_when_its_loss_is_known_does_no_harm() {
    let network = Network::new(3);
    for stops in [false, true] {
        let held = Held::start(&network, &TWO_HOSTS, OFTEN);
        let agent = network.agent_of(2, &example("rounds"));
        let all = [vec![agent], network.nodes_of(2, &example("rounds"))].concat();
        assert_eq!(all.len(), 3);
        let tell_all = |word: &str| {
            all.iter().filter(|_| stops).for_each(|process| _ = signal(process.id, word));
        };
        tell_all("STOP");
        network.host(2).cut_off();
        held.wait_until_said(&["host h2 (nodes 2 to 3): it said nothing for 3s", " after the loss of node"]);
        network.host(2).link_again();
        tell_all("CONT");
        let is_left = |process: &Process| all.iter().any(|other| other.id == process.id);
        assert!(eventually(|| !network.processes().iter().any(is_left)), "they go on");
        let report = held.goes_on(&[]);
        let lost: Vec<_> =
            report["failures"].as_array().into_iter().flatten().map(|lost| &lost["node"]).collect();
        assert_eq!(lost, [2, 3], "{report}");
    }
}

fn a_job_on_several_hosts_goes_on_without_its_launcher() {
    let network = Network::new(3);
    for options in [&[][..], &["--tls"]] {
        let held = Held::start_with(&network, &TWO_HOSTS, OFTEN, options);
        held.kill_launcher();
        let said = ["the launcher is gone; process ", " leads now", " after the loss of the launcher;"];
        held.goes_on_without_its_launcher(&said);
    }
}

fn two_hosts_of_three_go_on_without_that_of_the_launcher() {
    let network = Network::new(3);
    let held = Held::start_with(&network, &TWO_HOSTS, OFTEN, &["--tls"]);
    network.host(0).cut_off();
    let said = [" on the host h1 leads now", " 4 nodes ", " after the loss of the launcher;"];
    held.goes_on_without_its_launcher(&said);
}

/// Either could begin the program anew.
fn of_two_parts_without_a_checkpoint_the_larger_one_goes_on() {
    let network = Network::new(3);
    let hosts = ["localhost slots=1 address=10.77.0.1", "h1 slots=1", "h2 slots=1"];
    let held = Held::start(&network, &hosts, NEVER);
    network.host(0).cut_off();
    let too_few = "too many hosts were lost at once, which may go on without the others";
    let said = [" on the host h1 leads now", " 2 nodes began the program anew", too_few];
    held.goes_on_without_its_launcher(&said);
}

fn a_host_alone_does_not_go_on_without_that_of_the_launcher() {
    let network = Network::new(2);
    let hosts = ["localhost slots=1 address=10.77.0.1", "h1 slots=1"];
    let held = Held::start(&network, &hosts, OFTEN);
    network.host(1).cut_off();
    held.goes_on(&[" after the loss of node 1"]);
}

/// Nodes that are cut off commit nothing, nor does anybody print anything on their hosts but that it cannot go on. Each host has a disk of its own: what
/// is on it is what its own nodes have left there.
fn only_the_launchers_side_of_a_cut_network_computes_on() {
    let network = Network::new(3);
    let program = example("jacobi3d");
    let scratch = network.folder().join("scratch");
    fs::create_dir(&scratch).expect("the folder is ours");
    (0..3).for_each(|host| mount(&network, host, DISKS[host], &scratch));
    let endless =
        ["--grid", "24,24,24", "--block", "8,8,8", "--steps", "1000000000", "--pes", "1", "--progress"];
    let hosts = ["localhost slots=1 address=10.77.0.1", "h1 slots=2", "h2 slots=2"];
    let mut command = network.command(0, &program);
    command.arg("--hosts").arg(network.hosts_file(&hosts)).args(endless).args(["--silence", "2s"]);
    command.args(["--ft", "disk", "--ckpt-every", "200ms"]).arg("--ckpt-dir").arg(&scratch);
    let mut running = Running::start(&mut command);
    let end_by_themselves = |running: &mut Running, host: usize, nodes: &[u32], after: &str| {
        assert!(eventually(|| network.nodes_of(host, &program).is_empty()), "nodes of host {host} go on");
        // The others do, and tell of far more than of the loss.
        let lines = running.error_lines();
        running.wait_for_error_lines(lines + 20);
        let version = gone_back_to(&running.errors_so_far(), after);
        let newest = || versions(&network, 0, 0).into_iter().max();
        assert!(eventually(|| newest() > Some(version + 1)), "the others commit {:?}", newest());
        nodes.iter().for_each(|node| assert_commits_nothing_after(&versions(&network, host, *node), version));
    };
    running.wait_for_error_lines(3);
    assert!(eventually(|| !versions(&network, 2, 4).is_empty()), "there is no checkpoint");
    network.host(2).cut_off();
    end_by_themselves(&mut running, 2, &[3, 4], "after the loss of nodes 3 and 4");
    // Two nodes of three are more than one, but the launcher is not among them.
    network.host(1).cut_off();
    end_by_themselves(&mut running, 1, &[1, 2], "after the loss of nodes 1 and 2");
    let left = network.nodes_of(0, &program);
    assert_eq!(left.len(), 2, "the launcher and its node");
    for process in left {
        // The node may have died with the launcher.
        let _ = Process::kill(process.id);
    }
    drop(running);
    assert_nothing_left(&network);
    let cannot = |line: &str| line.ends_with(" can be reached, and the others may go on without them");
    let (said, printed) = (errors_elsewhere(&network), files_elsewhere(&network, "out").count());
    assert!(said.lines().all(cannot) && printed == 0, "{printed} files of output, and {said}");
}

/// What the disk of a host is called in the network's folder.
const DISKS: [&str; 3] = ["disk-h0", "disk-h1", "disk-h2"];

/// The versions of which a node has files on its host's disk.
fn versions(network: &Network, host: usize, node: u32) -> Vec<u64> {
    let folder = network.folder().join(DISKS[host]).join(format!("node-{node}"));
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let version = |name: &str| name.strip_prefix('v')?.split(['-', '.']).next()?.parse().ok();
    names.filter_map(|name| version(name.to_str()?)).collect()
}

/// The version that all others went back to, as they have said after this loss.
#[track_caller]
fn gone_back_to(errors: &str, after: &str) -> u64 {
    let line = errors.lines().find(|line| line.contains(after)).unwrap_or_else(|| panic!("{errors}"));
    let (_, rest) = line.split_once(" went back to checkpoint ").unwrap_or_else(|| panic!("{line}"));
    rest.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

/// A node that has these versions knows of none to be committed after this one, to which the others went back: all that is older would be gone. It had
/// begun one more at most.
#[track_caller]
fn assert_commits_nothing_after(versions: &[u64], version: u64) {
    let (oldest, newest) = (versions.iter().min(), versions.iter().max());
    let commits_nothing = oldest.is_some_and(|oldest| *oldest <= version) && newest <= Some(&(version + 1));
    assert!(commits_nothing, "the others went back to {version}, and it has {versions:?}");
}
