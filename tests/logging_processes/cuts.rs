//! Checkpoints of jobs that log: what is kept is forgotten, and a lost node goes back to the last one.

use std::process::Command;

use rustix::process::Signal;

use crate::executions::{Left, Relay};
use crate::job::Shape;
use crate::losses::{NO_CUTS, ROUNDS, SLOW, kill, undisturbed};
use crate::system::signal;

const EVERY: &str = "--ckpt-every 15steps";

crate::trials::checks!(
    with_cuts_nothing_is_another,
    what_is_checked_at_a_cut_is_done_again_and_nothing_is_another,
    a_lost_node_goes_back_to_the_last_cut,
    a_node_is_lost_in_every_line,
    what_is_lost_before_all_hold_their_parts_goes_back_to_the_old_line,
    what_is_lost_when_the_next_line_has_begun_goes_back_to_that,
    losses_before_and_after_a_cut,
    at_random_moments_of_many_cuts,
    the_program_and_others_ask_for_a_cut,
    what_is_kept_is_forgotten_at_a_cut,
    no_more_is_kept_than_the_budget,
    a_short_period_leaves_time_for_the_program,
);

fn start(shape: Shape, options: &str) -> Relay {
    Relay::start(shape, &format!("--ft logging {EVERY} {options}"))
}

fn with_cuts_nothing_is_another() {
    for (transport, words) in [("tcp", 8), ("shm", 8), ("mixed", 4000)] {
        let (shape, words) = ((3, 1, transport), format!("--words {words}"));
        let left = start(shape, &words).end(0, &[]);
        left.is_like(&undisturbed(shape, &words));
        left.only_these_went_back(ROUNDS, &[]);
        assert!((3..=4).contains(&left.checkpoints()), "{}", left.ended.said());
    }
}

/// Each runner does again in its own process what it has done before each cut, and nobody hears of that.
fn what_is_checked_at_a_cut_is_done_again_and_nothing_is_another() {
    for (variant, pes, transport) in [
        ("logging", 1, "shm"),
        ("logging", 2, "tcp"),
        ("logging:strict", 2, "shm"),
        ("logging:ticket", 1, "tcp"),
    ] {
        let shape = (3, pes, transport);
        let left = Relay::start(shape, &format!("--ft {variant} {EVERY} --ft-check")).end(0, &[]);
        left.is_like(&undisturbed(shape, ""));
        assert!(left.checkpoints() >= 3, "{}", left.ended.said());
        for processes in left.executed.values() {
            let [(_, rounds)] = &processes[..] else { panic!("{processes:?}: {}", left.ended.said()) };
            assert!(rounds.iter().filter(|round| **round == 20).count() == 2, "{rounds:?}");
        }
    }
}

fn a_lost_node_goes_back_to_the_last_cut() {
    for (transport, victim) in [("tcp", 1), ("shm", 1), ("tcp", 0), ("shm", 2)] {
        let shape = (3, 1, transport);
        let relay = start(shape, SLOW);
        kill(relay.wait_for(victim, 40, &[]));
        let left = relay.end(0, &["it alone goes back", "nobody else went back"]);
        left.is_like(&undisturbed(shape, ""));
        let begins = left.went_back_to(ROUNDS, &[(victim, 2)]);
        assert!(begins[&victim][0] > 15, "{begins:?}: {}", left.ended.said());
        assert!(left.report["failures"][0]["version"].as_u64() >= Some(1), "{}", left.ended.said());
    }
}

fn a_node_is_lost_in_every_line() {
    let shape = (3, 1, "shm");
    let relay = start(shape, SLOW);
    let mut killed = Vec::new();
    for round in [10, 25, 40, 55] {
        killed.push(relay.wait_for(1, round, &killed));
        kill(killed[killed.len() - 1]);
    }
    let left = relay.end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
    let begins = left.went_back_to(ROUNDS, &[(1, 5)]);
    assert!(begins[&1][0] == 1 && begins[&1].is_sorted() && begins[&1][3] > 30, "{begins:?}");
}

/// A job with traps, which lose so many processes of these nodes.
fn trapped(shape: Shape, traps: &str, lost: &[(u32, usize)]) -> (Left, Vec<u64>) {
    let left = start(shape, &format!("{SLOW} --trap {traps}")).end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
    let begins = left.went_back_to(ROUNDS, lost);
    let of_lost = lost.iter().flat_map(|(node, _)| begins[node].clone()).collect();
    (left, of_lost)
}

/// While the first parts are packed, which then no keeper has: the keeper of who packs, another one, that one itself, the first node, and two.
fn what_is_lost_before_all_hold_their_parts_goes_back_to_the_old_line() {
    let (three, four) = ((3, 1, "tcp"), (4, 1, "shm"));
    for (shape, traps, lost) in [
        (three, "pack:0>1", &[(1, 2)][..]),
        (three, "pack:0>2", &[(2, 2)]),
        (three, "pack:1>1", &[(1, 2)]),
        ((3, 1, "shm"), "pack:1>0", &[(0, 2)]),
        (three, "pack:0>0", &[(0, 2)]),
        (four, "pack:1>0,pack:1>2", &[(0, 2), (2, 2)]),
    ] {
        let (left, begins) = trapped(shape, traps, lost);
        assert!(begins.iter().all(|begin| *begin == 1), "{traps}: {begins:?}: {}", left.ended.said());
        assert!(left.checkpoints() >= 3, "{traps}: {}", left.ended.said());
    }
}

/// When one of them has been made anew: the others may not have heard that the line has begun.
fn what_is_lost_when_the_next_line_has_begun_goes_back_to_that() {
    let (three, four) = ((3, 1, "tcp"), (4, 1, "shm"));
    for (shape, traps, lost) in [
        (three, "restored:0>1", &[(1, 2)][..]),
        (three, "restored:1>2", &[(2, 2)]),
        ((3, 1, "shm"), "restored:1>0", &[(0, 2)]),
        (three, "restored:1>1", &[(1, 2)]),
        (four, "restored:1>0,restored:1>2", &[(0, 2), (2, 2)]),
    ] {
        let (left, begins) = trapped(shape, traps, lost);
        assert!(begins.iter().all(|begin| *begin > 1), "{traps}: {begins:?}: {}", left.ended.said());
    }
}

fn losses_before_and_after_a_cut() {
    for (transport, traps) in [("tcp", "pack:0>1,restored:2>1"), ("shm", "pack:1>1,restored:1>1")] {
        let (left, begins) = trapped((3, 1, transport), traps, &[(1, 3)]);
        assert!(begins[0] == 1 && begins[1] > 1, "{traps}: {begins:?}: {}", left.ended.said());
    }
}

/// There are cuts all the time.
fn at_random_moments_of_many_cuts() {
    let rounds = std::env::var("TALISMAN_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let shapes = [(3, 1, "tcp"), (4, 1, "shm")];
    for nth in 0..rounds.unwrap_or(4_u32) {
        let shape = shapes[nth as usize % 2];
        let (victim, round) =
            (nth.wrapping_mul(5) % shape.0, 1 + u64::from(nth.wrapping_mul(17)) % (ROUNDS - 5));
        let relay = Relay::start(shape, &format!("--ft logging --ckpt-every 5steps {SLOW}"));
        kill(relay.wait_for(victim, round, &[]));
        let left = relay.end(0, &[]);
        left.is_like(&undisturbed(shape, ""));
        left.went_back_to(ROUNDS, &[(victim, 2)]);
        assert!(left.checkpoints() > 3, "{}", left.ended.said());
    }
}

fn the_program_and_others_ask_for_a_cut() {
    let shape = (3, 1, "tcp");
    let relay = Relay::start(shape, &format!("--ft logging {NO_CUTS} {SLOW} --save-at 20 --ft-log"));
    let victim = relay.wait_for(1, 30, &[]);
    let mut ask = Command::new(env!("CARGO_BIN_EXE_talisman"));
    let asked = ask.arg("checkpoint").arg(relay.job.launcher_pid().to_string()).output();
    let asked = asked.expect("the command is built with the tests");
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    assert!(asked.status.success() && said.contains("checkpoint 2 is taken"), "{said}: {}", relay.job.said());
    signal(victim, Signal::KILL);
    let left = relay.end(0, &["checkpoint 1 (request)", "checkpoint 2 (asked)"]);
    left.is_like(&undisturbed(shape, "--save-at 20"));
    let begins = left.went_back_to(ROUNDS, &[(1, 2)]);
    assert!(begins[&1][0] > 20, "{begins:?}");
    assert_eq!(left.lines.iter().filter(|line| *line == "saved").count(), 1);
}

fn what_is_kept_is_forgotten_at_a_cut() {
    let shape = (3, 1, "tcp");
    let kept = |options: &str| {
        let left = Relay::start(shape, &format!("--ft logging --words 4000 {options}")).end(0, &[]);
        (left.kept("frames"), left.kept("bytes"), left.kept("bytes_max"))
    };
    let (all_frames, all_bytes, _) = kept(NO_CUTS);
    let (frames, bytes, most) = kept(EVERY);
    assert!(all_frames.iter().all(|frames| *frames >= ROUNDS), "{all_frames:?}");
    for node in 0..3 {
        assert!(frames[node] * 2 < all_frames[node], "{frames:?} of {all_frames:?}");
        assert!(bytes[node] * 2 < all_bytes[node], "{bytes:?} of {all_bytes:?}");
        assert!(most[node] < all_bytes[node] && bytes[node] <= most[node], "{most:?} of {all_bytes:?}");
    }
}

fn no_more_is_kept_than_the_budget() {
    let shape = (3, 1, "tcp");
    let words = "--rounds 400 --words 4000";
    let expected = undisturbed(shape, words);
    let budget = 3 << 20;
    let options = format!("--ft logging {NO_CUTS} --log-budget {budget} {words}");
    let all = Relay::start(shape, &format!("--ft logging {NO_CUTS} {words}")).end(0, &[]);
    assert!(all.kept("bytes_max").iter().all(|most| *most > 2 * budget), "{:?}", all.kept("bytes_max"));
    let calm = Relay::start(shape, &options).end(0, &[]);
    let relay = Relay::start(shape, &options);
    kill(relay.wait_for(1, 200, &[]));
    let hurt = relay.end(0, &[]);
    hurt.went_back_to(400, &[(1, 2)]);
    for left in [calm, hurt] {
        left.is_like(&expected);
        let most = left.kept("bytes_max");
        assert!(most.iter().all(|most| *most <= budget), "{most:?}: {}", left.ended.said());
        assert!(left.checkpoints() >= 2, "{}", left.ended.said());
    }
}

/// Each cut says when it began and what it cost; the next one begins no earlier than four times that after its end.
fn a_short_period_leaves_time_for_the_program() {
    let shape = (3, 1, "shm");
    let left = Relay::start(shape, &format!("--ft logging --ckpt-every 1ms {SLOW} --rounds 100")).end(0, &[]);
    left.is_like(&undisturbed(shape, "--rounds 100"));
    let taken = left.report["checkpoints"].as_array().cloned().unwrap_or_default();
    let number = |of: &serde_json::Value, what: &str| of[what].as_f64().expect("a number");
    assert!(taken.len() > 2, "{}", left.ended.said());
    for pair in taken.windows(2).filter(|pair| pair[1]["trigger"] == "period") {
        let (began, cost) = (number(&pair[0], "at_s"), number(&pair[0], "commit_s"));
        let next = number(&pair[1], "at_s");
        // Microseconds are rounded in a report.
        assert!(next + 1e-5 >= began + 5.0 * cost, "{next} after {began}, which cost {cost}");
    }
}
