//! Jobs of ranks whose nodes go, come and are replaced while messages are under way: real processes.

use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;

use crate::job::{Job, example};
use crate::system::signal;

const RANKS: u64 = 7;

/// A ring of ranks that goes round until it is let go.
struct Ring {
    job: Job,
    end: PathBuf,
}

impl Ring {
    /// On so many nodes. It has gone round some times.
    fn start(name: &str, nodes: u32, options: &str) -> Ring {
        let end =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ring-{}-{name}", std::process::id()));
        let task = format!("--ranks {RANKS} --values 1100 --until {}", end.display());
        let often = "--ft double --ckpt-every 1h";
        let job = Job::start(example("mpi_ring", &format!("{task} {often} {options}"), (nodes, 1, "shm")));
        job.wait_for("at lap");
        Ring { job, end }
    }

    /// Asks the job of it.
    #[track_caller]
    fn ask(&self, what: &str, word: &str, answer: &str) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
        command.arg(what).arg(self.job.launcher_pid().to_string()).args(word.split_whitespace());
        let said = command.output().expect("the command is built with the tests");
        let all = String::from_utf8_lossy(&[&said.stdout[..], &said.stderr[..]].concat()).into_owned();
        assert!(said.status.success() && all.contains(answer), "{what} {word}: {all}");
    }

    /// Lets it come to its end, where each rank has seen the token in each lap.
    #[track_caller]
    fn ends_well(self, is_launcher_lost: bool) {
        std::fs::write(&self.end, "").expect("the folder of tests can be written to");
        let ended = match is_launcher_lost {
            true => self.job.end_without_launcher(),
            false => self.job.end().expect(0, &[]),
        };
        // The folder is of these tests.
        let _gone = std::fs::remove_file(&self.end);
        let hops =
            ended.stdout.iter().find_map(|line| line.strip_suffix(" hops, 0 moves")?.parse::<u64>().ok());
        assert!(hops.is_some_and(|hops| hops > 10 * RANKS && hops.is_multiple_of(RANKS)), "{}", ended.said());
    }
}

#[test]
fn ranks_leave_nodes_that_are_released_and_come_to_those_that_are_added() {
    let ring = Ring::start("grow", 3, "--balancer rotate");
    ring.ask("shrink", "1", "the job goes on without node 1");
    ring.ask("checkpoint", "", "is taken");
    ring.ask("grow", "", "the job goes on with node 1");
    ring.ask("balance", "", "balancing step");
    ring.ends_well(false);
}

#[test]
fn ranks_come_to_nodes_that_were_not_there_at_the_start() {
    let ring = Ring::start("more", 2, "--max-nodes 3 --balancer greedy");
    ring.ask("grow", "", "the job goes on with node 2");
    ring.ask("shrink", "0", "the job goes on without node 0");
    ring.ends_well(false);
}

#[test]
fn a_spare_takes_the_ranks_of_a_lost_node() {
    let ring = Ring::start("spare", 3, "--spares 1");
    let nodes = ring.job.nodes(4);
    ring.ask("checkpoint", "", "is taken");
    signal(nodes[1], Signal::KILL);
    ring.job.wait_for_error("went back");
    ring.ends_well(false);
}

#[test]
fn ranks_of_a_lost_node_go_on_in_a_new_process() {
    let ring = Ring::start("respawn", 3, "--respawn");
    let nodes = ring.job.nodes(3);
    ring.ask("checkpoint", "", "is taken");
    signal(nodes[2], Signal::KILL);
    ring.job.wait_for_error("with node 2 in a new process");
    ring.ends_well(false);
}

#[test]
fn ranks_go_on_without_their_launcher() {
    let ring = Ring::start("launcher", 3, "");
    ring.ask("checkpoint", "", "is taken");
    signal(ring.job.launcher_pid(), Signal::KILL);
    ring.job.wait_for_error("leads now");
    ring.ends_well(true);
}
