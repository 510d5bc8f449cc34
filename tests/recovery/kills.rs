//! Nodes that are killed, one or several, at a step or whenever it is worst.

use std::thread::sleep;
use std::time::Duration;

use rustix::net::sockopt::socket_domain;
use rustix::net::{AddressFamily, Shutdown};
use rustix::process::Signal;
use serde_json::Value;
use talisman::rng::Rng;

use crate::held::begin;
use crate::job::{Job, Shape, example};
use crate::subjects::{
    GARDEN, JACOBI, LEANMD, LONG, Left, NEVER, ROUNDS, SMALL_JACOBI, SMALL_LEANMD, Subject, TRANSPORTS,
};
use crate::system::{signal, sockets, take_descriptor};

/// Rounds in which something happens that does so in most: if it has not by then, it never does.
const MANY: usize = 60;

pub fn nobody_is_lost() {
    let each = [NEVER, "--ckpt-every 5steps", "--ckpt-every 3ms"];
    let subjects = [
        (ROUNDS, "mixed", &each[..]),
        (GARDEN, "tcp", &each[2..]),
        (JACOBI, "shm", &each[1..2]),
        (LEANMD, "tcp", &each[2..]),
    ];
    for (subject, transport, each) in subjects {
        let shape = (3, 2, transport);
        let expected = subject.undisturbed(shape);
        for every in each {
            let left = subject.survives(shape, every, &expected);
            assert!(left.failures.is_empty(), "{}", left.ended.said());
        }
    }
}

pub fn before_the_first_checkpoint_the_program_begins_anew() {
    for (victim, transport) in [(2, "tcp"), (0, "shm"), (3, "mixed"), (0, "tcp")] {
        let shape = (4, 1, transport);
        let expected = ROUNDS.undisturbed(shape);
        let left = ROUNDS.survives(shape, &format!("{NEVER} --kill {victim}@step5"), &expected);
        assert_eq!(left.gone_back_to(), None, "{}", left.ended.said());
    }
}

pub fn whoever_is_lost_at_a_step() {
    for transport in TRANSPORTS {
        let shape = (4, 2, transport);
        let expected = ROUNDS.undisturbed(shape);
        for victim in 0..4 {
            ROUNDS.survives(shape, &format!("--ckpt-every 4steps --kill {victim}@step18"), &expected);
        }
    }
}

pub fn examples_at_a_step() {
    for (subject, transport) in [(JACOBI, "tcp"), (JACOBI, "shm"), (LEANMD, "mixed"), (LEANMD, "shm")] {
        let shape = (4, 1, transport);
        let expected = subject.undisturbed(shape);
        for victim in [0, 2] {
            subject.survives(shape, &format!("--ckpt-every 6steps --kill {victim}@step20"), &expected);
        }
    }
}

/// Its command with a kill ends with the energies that it shows of the one without.
pub fn what_the_book_shows() {
    let page = include_str!("../../docs/src/howto/fault-tolerance.md");
    let after = |prompt: &str| page.split_once(prompt).expect("the page shows it").1;
    let (undisturbed, rest) = after("$ leanmd --cells 3,3,3 ").split_once("\n").expect("it has more lines");
    let options = undisturbed.strip_suffix(" --nodes 4 | tail -1").expect("the last line of four nodes");
    let (energies, command) = rest.split_once("\n").expect("it has more lines");
    let with_kill = format!("$ leanmd --cells 3,3,3 {options} --nodes 4 ");
    let survives = command.strip_prefix(&with_kill).and_then(|rest| rest.lines().next()).expect("the same");
    assert!(energies.contains("kinetic") && survives.contains("--kill"), "{energies} {survives}");
    let run = Job::start(example("leanmd", &format!("--cells 3,3,3 {options} {survives}"), (4, 1, "mixed")));
    let ended =
        run.end().expect(0, &["node 2 (pid", "3 nodes went back to checkpoint", "after the loss of node 2"]);
    assert_eq!(ended.stdout.last().map(String::as_str), Some(energies), "{}", ended.said());
}

/// The book's first command with a kill, of a smaller system, and the same for the other example.
pub fn without_a_word_on_checkpoints() {
    let kill = "--kill 2@step40";
    let command = format!("--example leanmd -- --nodes 4 --ft double {kill} #");
    assert!(
        include_str!("../../docs/src/howto/fault-tolerance.md").contains(&command),
        "the page has another command"
    );
    for (subject, kill, victim) in [(SMALL_LEANMD, kill, 2), (SMALL_JACOBI, "--kill 1@step40", 1)] {
        let shape = (4, 1, "shm");
        let expected = subject.undisturbed(shape);
        let left = subject.survives(shape, kill, &expected);
        assert_eq!(left.losses, [(victim, false)], "{}", left.ended.said());
    }
}

pub fn whom_chaos_hits() {
    for subject in [SMALL_JACOBI, SMALL_LEANMD] {
        let mut left = struck_twice(subject, (5, 1, "mixed"));
        // If both die at once, the second may be known of first.
        left.losses.sort_unstable();
        assert_eq!(left.losses, [(1, false), (4, false)], "{}", left.ended.said());
    }
}

/// With this seed, nodes 1 and 4 are killed at 0.10 and 0.22 s, and the next one at 358 s: neither keeps copies of the other. If the program was
/// over by the second time, one of more steps is not.
fn struck_twice(subject: Subject, shape: Shape) -> Left {
    let chaos = "--chaos mtbf=100s,seed=114350529";
    for steps in [200, 800, 3200, 12_800] {
        let steps = format!("--steps {steps}");
        let expected = subject.start(shape, &steps).end().said;
        let left = subject.survives(shape, &format!("{steps} --ckpt-every 20ms {chaos}"), &expected);
        if left.losses.len() > 1 {
            let asked = format!("was killed, as {chaos} asked");
            let told = left.ended.stderr.iter().filter(|line| line.contains(&asked)).count();
            assert_eq!(told, 2, "{}", left.ended.said());
            return left;
        }
    }
    panic!("all were over before two could be killed");
}

/// Neither keeps the copies of the other.
pub fn two_at_once() {
    for transport in TRANSPORTS {
        let shape = (5, 1, transport);
        let expected = ROUNDS.undisturbed(shape);
        for (one, other) in [(0, 2), (1, 4)] {
            let kills = format!("--kill {one}@step21 --kill {other}@step21");
            ROUNDS.survives(shape, &format!("--ckpt-every 5steps {kills}"), &expected);
        }
    }
}

pub fn one_after_another_until_one_is_left() {
    for transport in TRANSPORTS {
        let shape = (4, 1, transport);
        let expected = ROUNDS.undisturbed(shape);
        for kills in [[0, 1, 2], [3, 0, 1]] {
            let kill = |(at, victim): (usize, &u32)| format!("--kill {victim}@step{}", 10 + 8 * at);
            let kills: Vec<_> = kills.iter().enumerate().map(kill).collect();
            ROUNDS.survives(shape, &format!("--ckpt-every 3steps {}", kills.join(" ")), &expected);
        }
    }
}

/// One checkpoint after another: whenever a node is killed, one is under way, or about to be. Goes on until one was for sure.
pub fn during_checkpoints() {
    let mut rng = Rng::new(11);
    let shape = |round: u32| (4, 1 + round % 2, TRANSPORTS[round as usize % 3]);
    let all = [0, 1, 2, 3, 4, 5].map(shape).map(|shape| (shape, LONG.undisturbed(shape)));
    let mut cut_short = 0;
    for (round, (shape, expected)) in all.iter().cycle().enumerate() {
        assert!(round < MANY, "no checkpoint was under way when a node was killed");
        if round >= all.len() && cut_short > 0 {
            break;
        }
        let held = begin(LONG, *shape, "--ckpt-every 1ms --words 8000");
        let nodes = held.run.job.nodes(4);
        held.run.job.wait_for(&format!("at {}", 3 + rng.below(20)));
        sleep(Duration::from_micros(rng.below(3000)));
        let victim = rng.below(4);
        signal(nodes[victim as usize], Signal::KILL);
        let left = held.survives(expected);
        assert_eq!(left.losses, [(victim, false)], "{}", left.ended.said());
        cut_short += usize::from(has_cut_a_checkpoint_short(&left));
    }
}

/// Versions rise, and none is used twice: one that was never committed had begun when the only loss came. (Of one that has no part anywhere by then, or
/// that all went back to since it happened to be whole, nothing is seen.)
fn has_cut_a_checkpoint_short(left: &Left) -> bool {
    let next = left.taken().into_iter().find(|(_, trigger)| *trigger == "failure");
    let (Some((next, _)), Some(version)) = (next, left.gone_back_to()) else { return false };
    next > version + 1
}

/// A second one soon after the first: while all halt, while they restore, or while lost copies are made again. Goes on until the first of these
/// has happened for sure.
pub fn during_a_recovery() {
    let mut rng = Rng::new(12);
    let all = TRANSPORTS.map(|transport| (5, 1, transport)).map(|shape| (shape, LONG.undisturbed(shape)));
    let mut overlapped = 0;
    for (round, (shape, expected)) in all.iter().cycle().enumerate() {
        assert!(round < MANY, "no node was lost before the others had gone on without another");
        if round >= 9 && overlapped > 0 {
            break;
        }
        let held = begin(LONG, *shape, "--ckpt-every 4steps");
        let nodes = held.run.job.nodes(5);
        held.run.job.wait_for("at 14");
        let first = rng.below(5);
        let second = (first + 2) % 5;
        signal(nodes[first as usize], Signal::KILL);
        // At once at first, and then up to so much later as it may all be over.
        sleep(Duration::from_micros(rng.below(1 + 4000 * (round as u64 % 9))));
        signal(nodes[second as usize], Signal::KILL);
        let mut left = held.survives(expected);
        overlapped += usize::from(have_overlapped(&left));
        left.losses.sort_unstable();
        assert_eq!(
            left.losses,
            [(first.min(second), false), (first.max(second), false)],
            "{}",
            left.ended.said()
        );
    }
}

/// Whether the second loss was known before all went on without what was lost first.
fn have_overlapped(left: &Left) -> bool {
    let [first, second] = &left.failures[..] else { return false };
    let time =
        |failure: &Value, name: &str| failure[name].as_f64().expect("it is known of a job that goes on");
    time(second, "at_s") < time(first, "at_s") + time(first, "recover_s")
}

/// Before and after a loss, and while its recovery goes on.
pub fn connections_that_break_meanwhile() {
    let mut rng = Rng::new(14);
    for victim in 0..3 {
        let shape = (4, 2, "tcp");
        let expected = LONG.undisturbed(shape);
        let held = begin(LONG, shape, "--ckpt-every 3steps");
        let mut nodes = held.run.job.nodes(4);
        held.run.job.wait_for("at 9");
        (0..6).for_each(|_| cut_one(&nodes, &mut rng));
        signal(nodes.remove(victim), Signal::KILL);
        for _ in 0..12 {
            cut_one(&nodes, &mut rng);
            sleep(Duration::from_micros(rng.below(4000)));
        }
        let left = held.survives(&expected);
        assert_eq!(left.losses, [(victim as u64, false)], "{}", left.ended.said());
    }
}

/// Ends a connection of one of these processes, which may be gone.
fn cut_one(nodes: &[i32], rng: &mut Rng) {
    let pid = nodes[rng.below(nodes.len() as u64) as usize];
    let connections: Vec<_> = sockets(pid).into_iter().filter(|socket| socket.connected).collect();
    if connections.is_empty() {
        return;
    }
    let socket = connections[rng.below(connections.len() as u64) as usize];
    let Ok(taken) = take_descriptor(pid, socket.number) else { return };
    // By now the number may mean something else, to which nothing is done.
    if socket_domain(&taken) == Ok(AddressFamily::INET) {
        let _ = rustix::net::shutdown(&taken, Shutdown::Both);
    }
}

/// Failures of the program and Ctrl-C end a job that has survived a loss, or would have.
pub fn other_ends_are_as_ever() {
    const SURVIVED: &str = "after the loss of node 1";
    for transport in TRANSPORTS {
        let start = |options: &str| {
            let options = format!("--ft double --ckpt-every 3steps --kill 1@step8 {options}");
            ROUNDS.start((4, 1, transport), &options).job
        };
        start("--panic-at 20").end().expect(1, &["enough of it", SURVIVED]);
        let before = start("--panic-at 3").end().expect(1, &["enough of it"]);
        assert!(!before.stderr.iter().any(|line| line.contains(SURVIVED)), "{}", before.said());
        let interrupted = start("--rounds 100000");
        interrupted.wait_for("at 30");
        interrupted.processes().into_iter().for_each(|pid| signal(pid, Signal::INT));
        interrupted.end().expect(130, &[SURVIVED]);
    }
}
