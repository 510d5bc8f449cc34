//! What a running job is asked for from outside: `talisman checkpoint`, `talisman balance`, `talisman shrink`, SIGUSR1.

use std::process::{Command, Output};

use rustix::process::Signal;

use crate::disk::{Folder, goes_on, kill_all};
use crate::job::until;
use crate::subjects::{LONG, NEVER, ROUNDS, Run, TRANSPORTS};
use crate::system::{children, signal};

/// Asks the job of this run.
pub fn ask(run: &Run, what: &str, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
    command.arg(what).arg(run.job.launcher_pid().to_string()).args(words.split_whitespace());
    command.output().expect("the command is built with the tests")
}

#[track_caller]
pub fn said(output: &Output, status: i32, text: &str) {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    let all = String::from_utf8_lossy(&all);
    assert!(output.status.code() == Some(status) && all.contains(text), "{status}, {text}: {all}");
}

pub fn a_checkpoint_when_it_is_asked_for() {
    let shape = (3, 2, "shm");
    let expected = LONG.undisturbed(shape);
    let folder = Folder::new();
    let run = LONG.start(shape, &folder.held(NEVER));
    let nodes = run.job.nodes(3);
    run.job.wait_for("at 9");
    said(&ask(&run, "checkpoint", ""), 0, "checkpoint 1 is taken; after the loss of all nodes: --restart");
    signal(run.job.launcher_pid(), Signal::USR1);
    run.job.wait_for_error("checkpoint 2 is taken");
    let before = kill_all(run, &folder, nodes);
    goes_on(LONG, (2, 2, "tcp"), &folder.restart("--ft disk"), &before, &expected);
}

/// With or without fault tolerance; who asks is told what the step did, or why there is none.
pub fn a_balancing_step_when_it_is_asked_for() {
    let shape = (3, 2, "tcp");
    let expected = LONG.undisturbed(shape);
    for ft in ["--ft off".to_owned(), format!("--ft double {NEVER}")] {
        for balancer in ["--balancer rotate --lb-every 1h", ""] {
            let folder = Folder::new();
            let run = LONG.start(shape, &format!("{ft} {balancer} {}", folder.holding()));
            run.job.nodes(3);
            run.job.wait_for("at 9");
            match balancer.is_empty() {
                true => said(&ask(&run, "balance", ""), 1, "with --"),
                false => {
                    said(&ask(&run, "balance", ""), 0, "balancing step 1 (request, rotate)");
                    said(&ask(&run, "balance", ""), 0, "balancing step 2 (request, rotate)");
                }
            }
            if ft == "--ft off" {
                said(&ask(&run, "checkpoint", ""), 1, "with --ft");
            }
            folder.let_go();
            run.survives(&expected);
        }
    }
}

/// It is on disk though all others are in memory, before and after it; and so is the next one, in its place.
pub fn what_was_asked_for_outlives_all_nodes() {
    let shape = (3, 2, "shm");
    let expected = LONG.undisturbed(shape);
    let folder = Folder::new();
    let run = LONG.start(shape, &in_memory(&folder));
    let nodes = run.job.nodes(3);
    run.job.wait_for("at 9");
    assert_eq!(folder.versions(), [0_u64; 0], "nobody has asked");
    said(&ask(&run, "checkpoint", ""), 0, &format!("checkpoint 1 is taken; {}", restart(&folder)));
    said(&ask(&run, "shrink", "2"), 0, "the job goes on without node 2");
    assert_eq!(folder.versions(), [1], "what is gone on from at once is in memory only");
    signal(run.job.launcher_pid(), Signal::USR1);
    run.job.wait_for_error(&format!(" is taken; {}", restart(&folder)));
    let one = until(|| <[u64; 1]>::try_from(folder.versions()).ok().filter(|[version]| *version > 2));
    let [version] = one.unwrap_or_else(|| panic!("{:?}: {}", folder.versions(), run.job.said()));
    let copies = folder.copies();
    assert!(copies.len() == 4 && copies.values().all(|copies| *copies == 2), "{copies:?}");
    let before = kill_all(run, &folder, nodes[..2].to_vec());
    let files = folder.contents();
    for (nodes, pes, ft) in [(4, 2, "double"), (1, 3, "off")] {
        let options = folder.restart(&format!("--ft {ft}"));
        let left = goes_on(LONG, (nodes, pes, "tcp"), &options, &before, &expected);
        let told = format!("goes on from checkpoint {version} in ");
        assert!(left.ended.stderr.iter().any(|line| line.contains(&told)), "{}", left.ended.said());
        assert!(folder.contents() == files, "nobody has asked for another");
    }
}

/// Of a job that ends well nothing is left, though the process of a node is another than the one that wrote.
pub fn what_was_asked_for_goes_when_the_job_has_ended() {
    let shape = (3, 1, "tcp");
    let expected = LONG.undisturbed(shape);
    let folder = Folder::new();
    let run = LONG.start(shape, &format!("--respawn {}", in_memory(&folder)));
    let nodes = run.job.nodes(3);
    run.job.wait_for("at 9");
    said(&ask(&run, "checkpoint", ""), 0, &restart(&folder));
    signal(nodes[1], Signal::KILL);
    run.job.wait_for_error("with node 1 in a new process");
    assert_eq!(folder.versions(), [1]);
    folder.let_go();
    run.survives(&expected);
    assert!(!folder.0.exists());
}

/// Options of a job that has on disk what is asked for, and does not end before it is let go.
fn in_memory(folder: &Folder) -> String {
    format!("--ft double {NEVER} --ckpt-dir {} {}", folder.0.display(), folder.holding())
}

/// What is said of a checkpoint on disk.
fn restart(folder: &Folder) -> String {
    format!("after the loss of all nodes: --restart {}", folder.0.display())
}

/// On one host nobody copies the large slices of a part: its buddy maps them, and goes on from them when the owner has been killed.
pub fn copies_on_one_host_are_mapped() {
    for (transport, maps) in [("shm", true), ("tcp", false)] {
        let shape = (3, 2, transport);
        let expected = LONG.undisturbed(shape);
        let folder = Folder::new();
        let run = LONG.start(shape, &format!("--ft double {NEVER} {}", folder.holding()));
        let nodes = run.job.nodes(3);
        run.job.wait_for("at 9");
        said(&ask(&run, "checkpoint", ""), 0, "is taken; after the loss of all nodes: --restart");
        for node in &nodes {
            let found = std::fs::read_to_string(format!("/proc/{node}/maps")).expect("it is there");
            let theirs = |line: &&str| line.contains("r--s") && line.contains("memfd:talisman-parts");
            assert_eq!(found.lines().any(|line| theirs(&line)), maps, "{found}");
        }
        signal(nodes[1], Signal::KILL);
        folder.let_go();
        run.survives(&expected);
    }
}

/// The job goes on with those that are left, loses one of them as well, and says the same as ever.
pub fn nodes_are_released() {
    for (transport, released) in TRANSPORTS.into_iter().zip(["0", "1 3", "4"]) {
        let shape = (5, 1, transport);
        let expected = LONG.undisturbed(shape);
        let folder = Folder::new();
        let options = format!("--ft double {NEVER} --balancer greedy {}", folder.holding());
        let run = LONG.start(shape, &options);
        run.job.nodes(5);
        run.job.wait_for("at 9");
        said(&ask(&run, "shrink", released), 0, "the job goes on without node");
        let left = 5 - released.split_whitespace().count();
        let nodes = until(|| Some(children(run.job.launcher_pid())).filter(|nodes| nodes.len() == left));
        said(&ask(&run, "shrink", released), 1, "is not there");
        said(&ask(&run, "checkpoint", ""), 0, "is taken; after the loss of all nodes: --restart");
        signal(nodes.expect("those that are released leave")[1], Signal::KILL);
        folder.let_go();
        let left = run.survives(&expected);
        assert!(matches!(left.losses[..], [(_, false)]), "{}", left.ended.said());
    }
}

/// Of what those had that are released there are two copies: another loss, before there is any later checkpoint, takes nothing away.
pub fn a_loss_right_after_a_release() {
    let ways = [("shm", "double", "1", 0), ("tcp", "double", "0 3", 1), ("mixed", "disk", "2", 2)];
    for (transport, ft, released, lost) in ways {
        let shape = (4, 2, transport);
        let expected = LONG.undisturbed(shape);
        let folder = Folder::new();
        let run = LONG.start(
            shape,
            &format!("--ft {ft} --ckpt-dir {} {NEVER} {}", folder.0.display(), folder.holding()),
        );
        let nodes = run.job.nodes(4);
        run.job.wait_for("at 9");
        said(&ask(&run, "shrink", released), 0, "the job goes on without node");
        let stay = (0..)
            .zip(nodes)
            .filter(|(number, _)| !released.split(' ').any(|node| node == number.to_string()));
        signal(stay.map(|(_, node)| node).nth(lost % 2).expect("two stay"), Signal::KILL);
        folder.let_go();
        let left = run.survives(&expected);
        assert!(matches!(left.losses[..], [(_, false)]), "{}", left.ended.said());
    }
}

pub fn what_cannot_be_asked() {
    let shape = (2, 1, "tcp");
    let expected = LONG.undisturbed(shape);
    let folder = Folder::new();
    let run = LONG.start(shape, &format!("--ft double {}", folder.holding()));
    run.job.wait_for("at 3");
    said(&ask(&run, "shrink", "7"), 1, "node 7 is not there; the job has nodes 0 and 1");
    said(&ask(&run, "shrink", "0 1"), 1, "without any node");
    said(&ask(&run, "grow", ""), 1, "all nodes of the job are there");
    folder.let_go();
    run.survives(&expected);
    let run = ROUNDS.start(shape, "--rounds 100000");
    run.job.wait_for("at 3");
    said(&ask(&run, "checkpoint", ""), 1, "with --ft");
    said(&ask(&run, "grow", "1"), 1, "with --ft");
    signal(run.job.launcher_pid(), Signal::INT);
    run.job.end().expect(130, &[]);
}
