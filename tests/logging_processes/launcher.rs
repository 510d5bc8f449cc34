//! Launchers that are killed: one of the nodes leads on, and nobody goes back for that.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use talisman::rng::Rng;

use crate::executions::{Left, Relay};
use crate::job::Shape;
use crate::losses::{NO_CUTS, ROUNDS, SLOW, kill, undisturbed};
use crate::system::signal;
use crate::variants::{self, STRICT, TICKET};

const LEADS: &str = "the launcher is gone; node 0";

crate::trials::checks!(
    the_launcher_is_lost_and_nobody_goes_back,
    the_launcher_is_lost_with_other_variants,
    the_launcher_and_the_first_node_are_lost_at_once,
    the_launcher_is_lost_while_a_node_goes_back,
    one_launcher_after_another_is_lost,
    the_launcher_is_lost_while_parts_are_taken,
    the_launcher_is_lost_when_the_next_line_has_begun,
    the_launcher_is_lost_at_random_moments_of_many_cuts,
    a_launcher_that_is_stopped_is_lost,
    commands_find_whoever_leads,
    failures_of_the_program_end_a_job_without_its_launcher,
);

fn start(shape: Shape, options: &str) -> Relay {
    Relay::start(shape, &format!("--ft logging {options}"))
}

fn kill_launcher(relay: &Relay) {
    kill(relay.job.launcher_pid());
}

fn moment(rng: &mut Rng, most_us: u64) {
    sleep(Duration::from_micros(rng.below(most_us)));
}

fn the_launcher_is_lost_and_nobody_goes_back() {
    for (shape, words) in [((3, 1, "tcp"), ""), ((3, 1, "shm"), "--words 4000"), ((2, 2, "mixed"), "")] {
        let relay = start(shape, &format!("{NO_CUTS} {SLOW} {words}"));
        relay.wait_for(1, 20, &[]);
        kill_launcher(&relay);
        let left = relay.end_without_launcher(&[LEADS, "nobody went back"]);
        left.is_like(&undisturbed(shape, words));
        left.only_these_went_back(ROUNDS, &[]);
        assert_eq!(left.lost_with_launchers(), [None], "{}", left.ended.said());
    }
}

/// And a node, when the next one leads.
fn the_launcher_is_lost_with_other_variants() {
    for variant in [STRICT, TICKET] {
        for shape in [(3, 1, "tcp"), (3, 2, "shm")] {
            let relay = variants::start(variant, shape, &format!("{NO_CUTS} {SLOW}"));
            relay.wait_for(1, 15, &[]);
            kill_launcher(&relay);
            kill(relay.wait_for(2 * shape.1, 45, &[]));
            let left = relay.end_without_launcher(&[LEADS, "nobody else went back"]);
            left.is_like(&undisturbed(shape, ""));
            let of_lost: Vec<_> = (2 * shape.1..3 * shape.1).map(|runner| (runner, 2)).collect();
            left.only_these_went_back(ROUNDS, &of_lost);
        }
    }
}

fn the_launcher_and_the_first_node_are_lost_at_once() {
    for transport in ["tcp", "shm"] {
        let shape = (4, 1, transport);
        let relay = start(shape, &format!("{NO_CUTS} {SLOW}"));
        let victim = relay.wait_for(0, 20, &[]);
        kill_launcher(&relay);
        kill(victim);
        let left = relay.end_without_launcher(&["nobody else went back"]);
        left.is_like(&undisturbed(shape, ""));
        left.only_these_went_back(ROUNDS, &[(0, 2)]);
        let lost = left.lost_with_launchers();
        // It may have got to say that it leads.
        assert_eq!(lost[lost.len() - 2..], [None, Some(0)], "{}", left.ended.said());
    }
}

/// It is not known how far that has come: it may have to begin once more.
fn the_launcher_is_lost_while_a_node_goes_back() {
    let mut rng = Rng::new(31);
    for nth in 0..6_u32 {
        let shape = (4, 1, ["tcp", "shm"][nth as usize % 2]);
        let relay = start(shape, &format!("{NO_CUTS} {SLOW}"));
        let victim = 1 + nth % 3;
        kill(relay.wait_for(victim, 20, &[]));
        moment(&mut rng, 40_000);
        kill_launcher(&relay);
        let left = relay.end_without_launcher(&[LEADS]);
        left.is_like(&undisturbed(shape, ""));
        for (runner, processes) in &left.executed {
            assert!(*runner == victim || processes.len() == 1, "{runner}: {}", left.ended.said());
        }
    }
}

/// Each is a node, too. What that was given is kept by the one that leads next.
fn one_launcher_after_another_is_lost() {
    let shape = (4, 1, "tcp");
    let relay = start(shape, &format!("{NO_CUTS} {SLOW}"));
    let first = relay.wait_for(0, 20, &[]);
    kill_launcher(&relay);
    relay.job.wait_for_error_after(LEADS, "nobody went back");
    kill(first);
    relay.job.wait_for_error_after("the launcher is gone; node 1", "nobody else went back");
    kill(relay.wait_for(1, 20, &[]));
    let left = relay.end_without_launcher(&[LEADS]);
    left.is_like(&undisturbed(shape, ""));
    left.only_these_went_back(ROUNDS, &[(0, 2), (1, 2)]);
    let lost = left.lost_with_launchers();
    assert_eq!(lost, [None, None, Some(0), None, Some(1)], "{}", left.ended.said());
}

/// By the runner of a node that is about to say that it holds its part, or whose part the others do not have.
fn the_launcher_is_lost_while_parts_are_taken() {
    for (shape, traps, lost) in [
        ((3, 1, "tcp"), "pack:0>launcher", &[][..]),
        ((3, 1, "shm"), "pack:1>launcher", &[]),
        ((4, 1, "tcp"), "pack:1>launcher,pack:1>2", &[(2, 2)]),
    ] {
        let left = trapped(shape, traps);
        left.went_back_to(ROUNDS, lost);
        assert!(left.checkpoints() >= 2, "{traps}: {}", left.ended.said());
    }
}

/// The others may not have heard of it.
fn the_launcher_is_lost_when_the_next_line_has_begun() {
    for (shape, traps, lost) in [
        ((3, 1, "tcp"), "restored:0>launcher", &[][..]),
        ((3, 1, "shm"), "restored:1>launcher", &[]),
        ((4, 1, "tcp"), "restored:1>launcher,restored:1>2", &[(2, 2)]),
        ((4, 1, "tcp"), "restored:1>launcher,restored:1>1", &[(1, 2)]),
    ] {
        let left = trapped(shape, traps);
        let begins = left.went_back_to(ROUNDS, lost);
        assert!(
            begins.values().flatten().all(|begin| *begin > 1),
            "{traps}: {begins:?}: {}",
            left.ended.said()
        );
    }
}

fn trapped(shape: Shape, traps: &str) -> Left {
    let left = start(shape, &format!("--ckpt-every 15steps {SLOW} --trap {traps}"))
        .end_without_launcher(&["leads now"]);
    left.is_like(&undisturbed(shape, ""));
    left
}

/// Alone, or with a node.
fn the_launcher_is_lost_at_random_moments_of_many_cuts() {
    let rounds = std::env::var("TALISMAN_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let shapes = [(3, 1, "tcp"), (4, 1, "shm")];
    let mut rng = Rng::new(32);
    for nth in 0..rounds.unwrap_or(6_u32) {
        let shape = shapes[nth as usize % 2];
        let (victim, round) = (rng.below(shape.0.into()) as u32, 1 + rng.below(ROUNDS - 5));
        let relay = start(shape, &format!("--ckpt-every 5steps {SLOW}"));
        let process = relay.wait_for(victim, round, &[]);
        let is_alone = nth % 3 == 0;
        if nth % 3 == 1 {
            kill(process);
            moment(&mut rng, 30_000);
        }
        kill_launcher(&relay);
        if nth % 3 == 2 {
            moment(&mut rng, 30_000);
            kill(process);
        }
        let left = relay.end_without_launcher(&["leads now"]);
        left.is_like(&undisturbed(shape, ""));
        for (runner, processes) in &left.executed {
            let is_lost = *runner == victim && !is_alone;
            assert!(is_lost || processes.len() == 1, "{nth}: node {runner}: {}", left.ended.said());
        }
    }
}

fn a_launcher_that_is_stopped_is_lost() {
    let shape = (3, 1, "tcp");
    let relay = start(shape, &format!("{NO_CUTS} {SLOW} --silence 3s"));
    relay.wait_for(1, 20, &[]);
    signal(relay.job.launcher_pid(), Signal::STOP);
    relay.job.wait_for_error_after(LEADS, "nobody went back");
    let left = relay.end_without_launcher(&[]);
    left.is_like(&undisturbed(shape, ""));
    left.only_these_went_back(ROUNDS, &[]);
}

fn commands_find_whoever_leads() {
    let shape = (3, 1, "tcp");
    let relay = start(shape, &format!("{NO_CUTS} {SLOW} --ft-log"));
    relay.wait_for(1, 20, &[]);
    kill_launcher(&relay);
    relay.job.wait_for_error_after(LEADS, "nobody went back");
    let pid = relay.job.launcher_pid().to_string();
    let ask = |what: &str| {
        let asked = Command::new(env!("CARGO_BIN_EXE_talisman")).args([what, &pid]).output();
        let asked = asked.expect("the command is built with the tests");
        (asked.status.success(), String::from_utf8_lossy(&asked.stdout).into_owned())
    };
    let (is_done, said) = ask("checkpoint");
    assert!(is_done && said.contains("checkpoint 1 is taken"), "{said}: {}", relay.job.said());
    let victim = relay.wait_for(2, 20, &[]);
    kill(victim);
    let left = relay.end_without_launcher(&["checkpoint 1 (asked)", "nobody else went back"]);
    left.is_like(&undisturbed(shape, ""));
    let begins = left.went_back_to(ROUNDS, &[(2, 2)]);
    assert!(begins[&2][0] > 20, "{begins:?}");
}

fn failures_of_the_program_end_a_job_without_its_launcher() {
    let shape = (3, 1, "tcp");
    let relay = start(shape, &format!("{NO_CUTS} {SLOW} --panic-at 50"));
    relay.wait_for(1, 20, &[]);
    kill_launcher(&relay);
    relay.let_go();
    let ended = relay.job.end_without_launcher();
    assert!(ended.stderr.iter().any(|line| line.contains("enough of it")), "{}", ended.said());
}
