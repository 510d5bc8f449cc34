//! Jobs whose launcher is killed, and that one of their nodes leads to the end.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use talisman::rng::Rng;

use crate::asking::{ask, said};
use crate::disk::{Folder, kill_all};
use crate::held::{Held, begin};
use crate::job::until;
use crate::subjects::{ENDLESS, GARDEN, LONG, Left, NEVER, TRANSPORTS};
use crate::system::{signal, state};

/// A checkpoint now and then.
const OFTEN: &str = "--ckpt-every 4steps";

pub fn the_launcher_between_two_checkpoints() {
    for (nodes, transport) in [(2, "shm"), (4, "tcp"), (3, "mixed")] {
        let shape = (nodes, 1, transport);
        let expected = LONG.undisturbed(shape);
        let held = begin(LONG, shape, OFTEN);
        held.run.job.wait_for("at 14");
        held.kill_launcher();
        led_by(&held.survives_its_launcher(&expected), &[0]);
    }
}

pub fn the_launcher_before_the_first_checkpoint() {
    for transport in ["tcp", "shm"] {
        let shape = (3, 2, transport);
        let expected = LONG.undisturbed(shape);
        let held = begin(LONG, shape, NEVER);
        held.run.job.wait_for("at 5");
        held.kill_launcher();
        let left = held.survives_its_launcher(&expected);
        led_by(&left, &[0]);
        assert!(left.failures[0]["version"].is_null(), "{:?}", left.failures);
    }
}

pub fn the_launcher_and_the_first_node_at_once() {
    for transport in ["mixed", "tcp"] {
        let shape = (4, 1, transport);
        let expected = LONG.undisturbed(shape);
        let held = begin(LONG, shape, OFTEN);
        let nodes = held.run.job.nodes(4);
        held.run.job.wait_for("at 14");
        held.kill_launcher();
        signal(nodes[0], Signal::KILL);
        let left = held.survives_its_launcher(&expected);
        // The first node may have got to say that it leads.
        let told = left.ended.stderr.iter().filter(|line| line.contains(&leads(1))).count();
        assert_eq!(told, 1, "{}", left.ended.said());
        let lost = left.lost();
        // That may be in the report as well then.
        assert_eq!(lost[lost.len() - 2..], [None, Some(0)], "{}", left.ended.said());
    }
}

/// Until one node is left, which leads itself.
pub fn one_leader_after_another() {
    let shape = (4, 1, "shm");
    let expected = LONG.undisturbed(shape);
    let held = begin(LONG, shape, "--ckpt-every 3steps --ft-log");
    let nodes = held.run.job.nodes(4);
    held.run.job.wait_for("at 10");
    held.kill_launcher();
    for (node, pid) in nodes.into_iter().enumerate().take(3) {
        held.run.job.wait_for_error(&leads(node as u32));
        held.wait_until_held_twice(&format!("{} nodes went back", 4 - node));
        signal(pid, Signal::KILL);
    }
    led_by(&held.survives_its_launcher(&expected), &[0, 1, 2, 3]);
}

/// While the others halt, restore, or make lost copies again.
pub fn the_launcher_during_a_recovery() {
    let mut rng = Rng::new(15);
    for round in 0..6 {
        let shape = (4, 1, TRANSPORTS[round % 3]);
        let expected = LONG.undisturbed(shape);
        let held = begin(LONG, shape, &format!("{OFTEN} {}", ["", "--respawn"][round % 2]));
        let nodes = held.run.job.nodes(4);
        held.run.job.wait_for("at 14");
        signal(nodes[rng.below(4) as usize], Signal::KILL);
        sleep(Duration::from_micros(rng.below(20_000)));
        held.kill_launcher();
        held.survives_its_launcher(&expected);
    }
}

/// They are there, and do not answer: they are killed.
pub fn nodes_and_launchers_that_are_stopped_are_fenced() {
    let mut rng = Rng::new(16);
    let shape = (4, 1, "tcp");
    let expected = LONG.undisturbed(shape);
    // Of a checkpoint that was under way when the launcher died there may be but one copy, which another loss may take.
    let options = &format!("{NEVER} --silence 3s");
    for stopped in [0, 2] {
        let held = begin(LONG, shape, options);
        let nodes = held.run.job.nodes(4);
        held.run.job.wait_for("at 12");
        held.kill_launcher();
        // It leads, or is about to.
        sleep(Duration::from_micros(rng.below(10_000)));
        signal(nodes[stopped], Signal::STOP);
        held.survives_its_launcher(&expected);
    }
    let held = begin(LONG, shape, options);
    let nodes = held.run.job.nodes(4);
    held.run.job.wait_for("at 12");
    held.kill_launcher();
    held.run.job.wait_for_error(&leads(0));
    signal(nodes[0], Signal::STOP);
    led_by(&held.survives_its_launcher(&expected), &[0, 1]);
    let held = begin(LONG, shape, options);
    held.run.job.wait_for("at 12");
    signal(held.run.job.launcher_pid(), Signal::STOP);
    led_by(&held.survives_its_launcher(&expected), &[0]);
}

/// The system sends SIGHUP to all then, and wakes those that are stopped.
pub fn the_launcher_of_a_job_with_a_node_that_is_stopped() {
    let shape = (3, 1, "shm");
    let expected = LONG.undisturbed(shape);
    for stopped in [0, 2] {
        let held = begin(LONG, shape, &format!("{OFTEN} --silence 3s"));
        let nodes = held.run.job.nodes(3);
        held.run.job.wait_for("at 12");
        signal(nodes[stopped], Signal::STOP);
        until(|| (state(nodes[stopped]) == Some('T')).then_some(()));
        held.kill_launcher();
        held.survives_its_launcher(&expected);
    }
}

/// Where a job is asked for something there is nothing when it is over: whoever leads it last sees to that, and if nobody is left, the next job.
pub fn nothing_is_left_where_a_launcher_listened() {
    let shape = (2, 1, "tcp");
    let expected = LONG.undisturbed(shape);
    let held = begin(LONG, shape, OFTEN);
    let socket = listens_at(&held);
    held.run.job.wait_for("at 14");
    assert!(socket.exists(), "{}", socket.display());
    held.kill_launcher();
    held.survives_its_launcher(&expected);
    assert!(!socket.exists(), "{}", socket.display());

    let held = begin(LONG, shape, NEVER);
    let socket = listens_at(&held);
    let nodes = held.run.job.nodes(2);
    held.run.job.wait_for("at 5");
    assert!(socket.exists(), "{}", socket.display());
    kill_all(held.run, &held.folder, nodes);
    let next = begin(LONG, shape, NEVER);
    next.run.job.wait_for("at 1");
    assert!(!socket.exists() && listens_at(&next).exists(), "{}", socket.display());
    next.survives(&expected);
}

fn listens_at(held: &Held) -> PathBuf {
    let folder = match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) {
        Some(own) if own.is_absolute() => own.join("talisman"),
        _ => std::env::temp_dir().join(format!("talisman-{}", rustix::process::getuid().as_raw())),
    };
    folder.join(format!("{}.job", held.run.job.launcher_pid()))
}

/// What else may happen to a job happens to one that has lost its launcher.
pub fn other_losses_and_ends_without_the_launcher() {
    let shape = (4, 1, "mixed");
    let expected = LONG.undisturbed(shape);
    let held = begin(LONG, shape, &format!("{OFTEN} --kill 2@step62 --kill 0@step72"));
    held.run.job.wait_for("at 12");
    held.kill_launcher();
    led_by(&held.survives_its_launcher(&expected), &[0, 1]);

    let held = begin(LONG, shape, &format!("{OFTEN} --panic-at 70"));
    held.run.job.wait_for("at 12");
    held.kill_launcher();
    let left = held.ends_without_its_launcher();
    assert_eq!(left.status, Some(1), "{}", left.ended.said());
    assert!(left.ended.stderr.iter().any(|line| line.contains("enough of it")), "{}", left.ended.said());

    let held = begin(LONG, shape, OFTEN);
    let nodes = held.run.job.nodes(4);
    held.run.job.wait_for("at 12");
    held.kill_launcher();
    held.run.job.wait_for_error("leads now");
    signal(nodes[3], Signal::TERM);
    // It is not let go: that alone ends it.
    let Held { run, folder: _folder } = held;
    assert_eq!(run.ends_without_its_launcher().status, Some(143));
}

pub fn the_launcher_of_other_programs_and_on_disk() {
    let shape = (3, 1, "shm");
    let expected = GARDEN.undisturbed(shape);
    let way = |folder: &Folder, disk: bool| match disk {
        true => folder.disk(OFTEN),
        false => format!("--ft double --ft-log {OFTEN}"),
    };
    for disk in [false, true] {
        let folder = Folder::new();
        let run = GARDEN.start(shape, &format!("{} {}", way(&folder, disk), folder.holding()));
        let held = Held { run, folder };
        held.run.job.wait_for_error("committed after");
        held.run.job.wait_for("at 6");
        held.kill_launcher();
        held.survives_its_launcher(&expected);

        let folder = Folder::new();
        let run = ENDLESS.start(shape, &way(&folder, disk));
        let nodes = run.job.nodes(3);
        run.job.wait_for_error("committed after");
        signal(run.job.launcher_pid(), Signal::KILL);
        run.job.wait_until_held_twice("after the loss of the launcher");
        signal(nodes[1], Signal::TERM);
        assert_eq!(run.ends_without_its_launcher().status, Some(143));
    }
}

/// By processes that the node starts which leads; it is replaced itself by the next one.
pub fn nodes_are_replaced_without_the_launcher() {
    for transport in TRANSPORTS {
        let shape = (4, 1, transport);
        let expected = LONG.undisturbed(shape);
        let held = begin(LONG, shape, &format!("{OFTEN} --respawn --ft-log"));
        let nodes = held.run.job.nodes(4);
        held.run.job.wait_for("at 14");
        held.kill_launcher();
        held.wait_until_held_twice("after the loss of the launcher");
        signal(nodes[2], Signal::KILL);
        held.wait_until_held_twice("after the loss of node 2, with node 2 in a new process");
        signal(nodes[0], Signal::KILL);
        held.run
            .job
            .wait_for_error("after the loss of the launcher and of node 0, with node 0 in a new process");
        let left = held.survives_its_launcher(&expected);
        led_by(&left, &[0, 1]);
        assert_eq!(left.losses, [(2, true), (0, true)], "{}", left.ended.said());
    }
}

/// Those that waited end with the launcher; as many wait again.
pub fn spares_without_the_launcher() {
    let shape = (3, 1, "mixed");
    let expected = LONG.undisturbed(shape);
    let held = begin(LONG, shape, &format!("{OFTEN} --spares 2 --ft-log"));
    let nodes = held.run.job.nodes(5);
    held.run.job.wait_for("at 14");
    signal(nodes[1], Signal::KILL);
    held.wait_until_held_twice("with node 1 in a new process");
    held.kill_launcher();
    held.wait_until_held_twice("after the loss of the launcher");
    signal(nodes[2], Signal::KILL);
    held.run.job.wait_for_error("after the loss of node 2, with node 2 in a new process");
    let left = held.survives_its_launcher(&expected);
    assert_eq!(left.losses, [(1, true), (2, true)], "{}", left.ended.said());
}

/// Under the number of the process that was started.
pub fn a_job_without_its_launcher_is_asked() {
    let shape = (4, 1, "tcp");
    let expected = LONG.undisturbed(shape);
    let held = begin(LONG, shape, OFTEN);
    let nodes = held.run.job.nodes(4);
    held.run.job.wait_for("at 14");
    held.kill_launcher();
    wait_until_led_by(&held, 0);
    said(&ask(&held.run, "checkpoint", ""), 0, "is taken; after the loss of all nodes: --restart");
    signal(nodes[0], Signal::USR1);
    held.run.job.wait_for_error(" is taken; after the loss of all nodes");
    said(&ask(&held.run, "shrink", "2"), 0, "the job goes on without node 2");
    // It leads on, though it is none of the nodes any more.
    said(&ask(&held.run, "shrink", "0"), 0, "the job goes on without node 0");
    said(&ask(&held.run, "shrink", "0"), 1, "the job has nodes 1 and 3");
    signal(nodes[0], Signal::KILL);
    wait_until_led_by(&held, 1);
    let left = held.survives_its_launcher(&expected);
    led_by(&left, &[0, 1]);
    assert_eq!(left.losses, [], "{}", left.ended.said());
}

/// With what was done about each loss. The first node takes along what it knew of checkpoints.
pub fn the_report_is_that_of_the_whole_job() {
    let shape = (5, 1, "mixed");
    let expected = LONG.undisturbed(shape);
    for with_the_first in [false, true] {
        let held = begin(LONG, shape, &format!("{OFTEN} --ft-log"));
        let nodes = held.run.job.nodes(5);
        held.run.job.wait_for("at 14");
        signal(nodes[3], Signal::KILL);
        held.wait_until_held_twice("after the loss of node 3");
        held.kill_launcher();
        held.wait_until_held_twice("after the loss of the launcher");
        signal(nodes[2], Signal::KILL);
        held.wait_until_held_twice("after the loss of node 2");
        if with_the_first {
            signal(nodes[0], Signal::KILL);
        }
        let left = held.survives_its_launcher(&expected);
        let all = [Some(3), None, Some(2), None, Some(0)];
        let lost = if with_the_first { &all[..] } else { &all[..3] };
        assert_eq!(left.lost(), lost, "{}", left.ended.said());
        let what = left.failures[0]["what"].as_str().expect("a sentence");
        assert!(what.contains("was killed by signal 9"), "as the first launcher knew: {what}");
        for failure in &left.failures[..3] {
            for phase in ["halt_s", "recover_s", "version"] {
                assert!(failure[phase].is_number(), "{phase}: {failure}");
            }
        }
        if !with_the_first {
            let first = left.failures[0]["at_s"].as_f64().expect("a time");
            assert!(left.checkpoints.iter().any(|at| *at < first), "{:?}", left.checkpoints);
            assert!(left.failures.iter().all(|failure| failure["replicate_s"].is_number()));
        }
    }
}

/// These nodes led, one after another, as people were told; the last one reports that the launcher before it was lost, after those whose
/// followers had heard of it.
#[track_caller]
fn led_by(left: &Left, leaders: &[u32]) {
    let told: Vec<_> = left.ended.stderr.iter().filter(|line| line.contains("leads now")).collect();
    assert_eq!(told.len(), leaders.len(), "{}", left.ended.said());
    for (told, leader) in told.iter().zip(leaders) {
        assert!(told.contains(&leads(*leader)), "{}", left.ended.said());
    }
    let launchers = left.failures.iter().filter(|failure| failure["node"].is_null());
    let whats: Vec<_> = launchers.map(|failure| failure["what"].as_str().expect("a sentence")).collect();
    let last = whats.last().expect("a launcher was lost");
    assert!(last.starts_with(&leads(*leaders.last().expect("somebody led"))), "{last}");
    let mut leaders = leaders.iter();
    let in_order = whats.iter().all(|what| leaders.any(|leader| what.starts_with(&leads(*leader))));
    assert!(in_order, "{whats:?}");
}

/// Waits until all have gone back, led by this node.
#[track_caller]
fn wait_until_led_by(held: &Held, node: u32) {
    held.run.job.wait_for_error_after(&leads(node), " went back to ");
}

/// How people are told that this node leads; its process follows.
fn leads(node: u32) -> String {
    format!("the launcher is gone; node {node} (pid ")
}
