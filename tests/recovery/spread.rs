//! Jobs on several hosts that lose nodes, replace them elsewhere, and grow. Hosts are agents on this machine: something that is called as ssh is
//! starts them.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use talisman::rng::Rng;

use crate::asking::{ask, said};
use crate::disk::Folder;
use crate::job::{Scratch, Shape, until};
use crate::subjects::{LONG, NEVER, Run};
use crate::system::{arguments, children, environment, signal};

/// Its value tells the processes of one host from those of another.
const HOST: &str = "RECOVERY_TEST_HOST";

/// Hosts that there are for a job.
pub struct Hosts {
    file: Scratch,
    programs: PathBuf,
}

impl Hosts {
    pub fn new(lines: &str) -> Hosts {
        let (file, programs) = (Scratch::new("hosts"), Scratch::new("ssh").0.clone());
        std::fs::write(&file.0, lines).expect("the folder is ours");
        std::fs::create_dir_all(&programs).expect("the folder is ours");
        let script = format!(
            "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\n\
             export {HOST}=\"$2\" SSH_CONNECTION='127.0.0.1 1 127.0.0.1 2'\nexec sh -c \"$3\"\n"
        );
        let ssh = programs.join("ssh");
        std::fs::write(&ssh, script).expect("the folder is ours");
        std::fs::set_permissions(&ssh, PermissionsExt::from_mode(0o755)).expect("it is ours");
        Hosts { file, programs }
    }

    pub fn start(&self, shape: Shape, options: &str) -> Run {
        self.start_with("--ft double", shape, options)
    }

    fn start_with(&self, ft: &str, shape: Shape, options: &str) -> Run {
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", self.programs.display());
        let by = |mut command: Command| {
            command.env("PATH", &path);
            command
        };
        LONG.start_by(shape, &format!("--hosts {} {ft} {options}", self.file.name()), by)
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.programs);
    }
}

/// The agent of a host.
#[track_caller]
fn agent(run: &Run, host: &str) -> i32 {
    let known = format!("{HOST}={host}");
    let is_agent = |pid: &i32| {
        environment(*pid).contains(&known) && arguments(*pid).contains(&"--talisman-agent".to_owned())
    };
    until(|| run.job.processes().into_iter().find(is_agent)).expect("it has an agent")
}

/// The processes of nodes there, once there are so many, in the order in which they were started.
#[track_caller]
fn nodes(run: &Run, host: &str, count: usize) -> Vec<i32> {
    let agent = agent(run, host);
    until(|| Some(children(agent)).filter(|nodes| nodes.len() == count)).expect("it has so many nodes")
}

/// A host is lost with all its nodes, and so is the one on which its node goes on: what both had has another copy each time.
pub fn hosts_are_lost_one_after_the_other() {
    let shape = (5, 1, "tcp");
    let expected = LONG.undisturbed(shape);
    let hosts = Hosts::new("a slots=2\nc\nb slots=2\n");
    let folder = Folder::new();
    let run = hosts.start(shape, &format!("{NEVER} --respawn {}", folder.holding()));
    run.job.wait_for("at 9");
    said(&ask(&run, "checkpoint", ""), 0, "is taken");
    signal(agent(&run, "c"), Signal::KILL);
    run.job.wait_for_error("with node 2 in a new process");
    nodes(&run, "a", 3);
    said(&ask(&run, "checkpoint", ""), 0, "is taken");
    signal(agent(&run, "a"), Signal::KILL);
    run.job.wait_for_error("with nodes 0, 1 and 2 in a new process");
    nodes(&run, "b", 5);
    folder.let_go();
    let mut losses = run.survives(&expected).losses;
    losses.sort_unstable();
    assert_eq!(losses, [(0, true), (1, true), (2, true), (2, true)]);
}

/// With all its nodes, each of which would be the next one's keeper if there were but one host: what they were given is kept on the other.
pub fn a_host_with_all_its_nodes_is_lost_of_a_job_that_logs() {
    let shape = (4, 1, "tcp");
    let expected = LONG.undisturbed(shape);
    for (lost, every, others) in [("a", NEVER, [2, 3]), ("b", "--ckpt-every 4steps", [0, 1])] {
        let hosts = Hosts::new("a slots=2\nb slots=2\n");
        let folder = Folder::new();
        let run = hosts.start_with("--ft logging", shape, &format!("{every} {}", folder.holding()));
        run.job.wait_for("at 14");
        signal(agent(&run, lost), Signal::KILL);
        run.job.wait_for_error("nobody else went back");
        nodes(&run, if lost == "a" { "b" } else { "a" }, 4);
        folder.let_go();
        let left = run.survives(&expected);
        let lost: Vec<u64> = (0..4).filter(|node| !others.contains(node)).collect();
        let mut losses = left.losses;
        losses.sort_unstable();
        assert_eq!(
            losses,
            lost.iter().map(|node| (*node, true)).collect::<Vec<_>>(),
            "{}",
            left.ended.said()
        );
    }
}

/// The copy of what it has is not on the host where it is by now.
pub fn spares_on_another_host() {
    let shape = (3, 1, "mixed");
    let expected = LONG.undisturbed(shape);
    let hosts = Hosts::new("a slots=2\nb slots=2\n");
    let folder = Folder::new();
    let run = hosts.start(shape, &format!("{NEVER} --spares 1 {}", folder.holding()));
    run.job.wait_for("at 9");
    said(&ask(&run, "checkpoint", ""), 0, "is taken");
    signal(nodes(&run, "a", 2)[1], Signal::KILL);
    run.job.wait_for_error("with node 1 in a new process");
    said(&ask(&run, "checkpoint", ""), 0, "is taken");
    signal(agent(&run, "b"), Signal::KILL);
    run.job.wait_for_error("after the loss of nodes 1 and 2");
    folder.let_go();
    let mut losses = run.survives(&expected).losses;
    losses.sort_unstable();
    assert_eq!(losses, [(1, false), (1, true), (2, false)]);
}

/// On a host that had none, if there is one; what they have has its copies elsewhere.
pub fn nodes_are_added_on_another_host() {
    let shape = (2, 2, "mixed");
    let expected = LONG.undisturbed(shape);
    let hosts = Hosts::new("a slots=2\nb slots=2\n");
    let folder = Folder::new();
    let run = hosts.start(shape, &format!("{NEVER} --max-nodes 4 --balancer greedy {}", folder.holding()));
    run.job.wait_for("at 9");
    said(&ask(&run, "shrink", "1"), 0, "the job goes on without node 1");
    said(&ask(&run, "grow", "1"), 0, "the job goes on with node 1");
    nodes(&run, "a", 2);
    said(&ask(&run, "grow", ""), 0, "the job goes on with nodes 2 and 3");
    nodes(&run, "b", 2);
    said(&ask(&run, "checkpoint", ""), 0, "is taken");
    signal(agent(&run, "b"), Signal::KILL);
    run.job.wait_for_error("after the loss of nodes 2 and 3");
    folder.let_go();
    let mut losses = run.survives(&expected).losses;
    losses.sort_unstable();
    assert_eq!(losses, [(2, false), (3, false)]);
}

/// The process that waits, on a host without nodes, has a number behind those of nodes that may be added; these come elsewhere.
pub fn nodes_are_added_beside_a_spare_of_another_host() {
    let shape = (2, 1, "mixed");
    let expected = LONG.undisturbed(shape);
    let hosts = Hosts::new("a slots=2\nb slots=1\nc slots=4\n");
    let folder = Folder::new();
    let run = hosts.start(shape, &format!("{NEVER} --max-nodes 4 --spares 1 {}", folder.holding()));
    run.job.wait_for("at 9");
    said(&ask(&run, "checkpoint", ""), 0, "is taken");
    signal(nodes(&run, "a", 2)[1], Signal::KILL);
    run.job.wait_for_error("with node 1 in a new process");
    said(&ask(&run, "grow", ""), 0, "the job goes on with nodes 2 and 3");
    nodes(&run, "c", 2);
    said(&ask(&run, "checkpoint", ""), 0, "is taken");
    signal(agent(&run, "b"), Signal::KILL);
    run.job.wait_for_error("3 nodes went back to");
    folder.let_go();
    let mut losses = run.survives(&expected).losses;
    losses.sort_unstable();
    assert_eq!(losses, [(1, false), (1, true)]);
}

/// Asked for while a host is lost: whoever was to come there does not, and may be asked for again.
pub fn nodes_are_added_during_a_recovery_of_several_hosts() {
    let mut rng = Rng::new(43);
    for round in 0..4 {
        let shape = (4, 1, ["tcp", "mixed"][round % 2]);
        let expected = LONG.undisturbed(shape);
        let hosts = Hosts::new("a slots=2\nb slots=2\nc slots=4\n");
        let folder = Folder::new();
        let respawn = ["", "--respawn"][round / 2];
        let options = format!("--ckpt-every 4steps --max-nodes 6 {respawn} {}", folder.holding());
        let run = hosts.start(shape, &options);
        run.job.wait_for("at 9");
        said(&ask(&run, "checkpoint", ""), 0, "is taken");
        signal(agent(&run, "b"), Signal::KILL);
        sleep(Duration::from_micros(rng.below(60_000)));
        let grown = ask(&run, "grow", "2");
        run.job.wait_for_error("after the loss of nodes 2 and 3");
        if grown.status.code() != Some(0) {
            said(&grown, 1, "did not join");
            said(&ask(&run, "grow", "2"), 0, "the job goes on with nodes");
        }
        nodes(&run, "a", 2);
        nodes(&run, "c", if respawn.is_empty() { 2 } else { 4 });
        folder.let_go();
        let left = run.survives(&expected);
        assert!(left.losses.iter().all(|(_, replaced)| *replaced != respawn.is_empty()), "{:?}", left.losses);
    }
}
