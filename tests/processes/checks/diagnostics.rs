//! What the runtime says beside the output: plain lines, or events that somebody has chosen.

use super::checks;
use crate::job::{Ended, Shape, example, program, run};
use crate::program::OWN_SUBSCRIBER;

checks!(
    plain_lines,
    chosen_events,
    several_processes,
    losses,
    wrong_filters,
    the_common_variable,
    an_own_subscriber
);

const SHAPE: Shape = (2, 1, "shm");
const ALONE: Shape = (1, 2, "shm");
const LINES: &str = "lines --lines 3";
/// Balanced at each of its synchronizations.
const BALANCED: &str =
    "--balancer greedy --lb-every sync --sync-every 2 --steps 6 --cells 3,3,3 --atoms-per-cell 8";

const SMALL: &str = "--steps 6 --cells 3,3,3 --atoms-per-cell 8";

/// What everybody has always seen.
fn plain_lines() {
    let ended = with(LINES, &[("TALISMAN_SEDE", "3")], SHAPE).expect(0, &[]);
    let said = "warning: TALISMAN_SEDE is set, and nothing reads it; is it to be TALISMAN_SEED?";
    assert!(ended.stderr.iter().any(|line| *line == format!("talisman: {said}")), "{}", ended.said());
    let failed = with("--ckpt-dir /proc/c --ft disk lines --lines 3", &[], SHAPE);
    let error = "talisman: error: --ckpt-dir: cannot keep checkpoints in /proc/c";
    assert!(failed.stderr.iter().any(|line| line.starts_with(error)), "{}", failed.said());
}

fn chosen_events() {
    let mut balanced = example("leanmd", BALANCED, ALONE);
    balanced.env("TALISMAN_LOG", "talisman::balance=debug");
    let ended = run(balanced).expect(0, &["DEBUG talisman::balance: a step begins step=1"]);
    let said = ended.stderr.iter().filter(|line| line.contains("talisman::"));
    said.for_each(|line| {
        assert!(line.contains("talisman::balance") || line.contains(" INFO "), "{line}");
        assert!(is_time(line.split(' ').next().unwrap_or_default()), "{line}");
    });
    let quiet = run(example("leanmd", BALANCED, ALONE)).expect(0, &[]);
    assert!(!quiet.said().contains("talisman::"), "{}", quiet.said());
}

/// The launcher and the nodes are told alike; who is not chosen is silent.
fn several_processes() {
    let ended =
        with(LINES, &[("TALISMAN_LOG", "talisman::control=debug,talisman::transport=debug")], (2, 1, "tcp"));
    let ended = ended.expect(0, &["a node's process runs", "a connection is there", "the program begins"]);
    assert_eq!(ended.stdout.len(), 6, "the output is as ever: {}", ended.said());
    let by_option = with(&format!("--log off {LINES}"), &[("TALISMAN_SEDE", "3")], SHAPE).expect(0, &[]);
    says_nothing(&by_option);
}

/// Who wants to see warnings alone sees that a node is lost, and not that all went well after it.
fn losses() {
    let words = format!("{SMALL} --ft double --ckpt-every 2steps --kill 1@step3");
    let mut lossy = example("leanmd", &words, (3, 1, "shm"));
    lossy.env("TALISMAN_LOG", "warn");
    let ended =
        run(lossy).expect(0, &[" WARN talisman::control: leanmd: node 1 (pid ", "; the others go back"]);
    assert!(!ended.said().contains("went back to checkpoint"), "{}", ended.said());
}

fn wrong_filters() {
    for (value, said) in [
        ("talisman::balance=loud", "`loud` is no level"),
        ("talisman::ballance=debug", "there are talisman::launch, talisman::control"),
        ("debgu", "is it to be `debug`"),
    ] {
        for shape in [SHAPE, ALONE] {
            let ended = with(LINES, &[("TALISMAN_LOG", value)], shape);
            let ended = ended.expect(2, &["TALISMAN_LOG", said, "for example talisman::balance=debug"]);
            assert!(ended.stdout.is_empty(), "{}", ended.said());
        }
    }
}

/// Other programs read it as well, and may mean something else by it.
fn the_common_variable() {
    let seen = with(LINES, &[("RUST_LOG", "debug"), ("TALISMAN_LOG", "")], SHAPE);
    seen.expect(0, &["DEBUG talisman::control: "]);
    let unread = with(LINES, &[("RUST_LOG", "talisman::balance[step]=debug")], SHAPE);
    unread.expect(0, &["talisman: warning: RUST_LOG is not read: `talisman::balance[step]=debug`: "]);
    let other = with(LINES, &[("RUST_LOG", "debug"), ("TALISMAN_LOG", "warn")], SHAPE).expect(0, &[]);
    says_nothing(&other);
}

fn an_own_subscriber() {
    for shape in [SHAPE, ALONE] {
        let own = with(LINES, &[(OWN_SUBSCRIBER, "1"), ("TALISMAN_SEDE", "3")], shape);
        let own = own.expect(0, &["own WARN talisman::launch: TALISMAN_SEDE is set"]);
        assert!(!own.said().contains("talisman: warning"), "{}", own.said());
    }
    let chosen = with(LINES, &[(OWN_SUBSCRIBER, "1"), ("TALISMAN_LOG", "debug")], SHAPE);
    chosen.expect(0, &["--log has no effect: the program has installed a subscriber", "TALISMAN_LOG"]);
}

fn with(words: &str, variables: &[(&str, &str)], shape: Shape) -> Ended {
    let mut command = program(words, shape);
    command.envs(variables.iter().copied());
    run(command)
}

/// The program alone does.
#[track_caller]
fn says_nothing(ended: &Ended) {
    assert!(ended.stderr.iter().all(|line| line.starts_with("PE ")), "{}", ended.said());
}

/// `2026-11-25T18:03:09.123456Z`.
fn is_time(text: &str) -> bool {
    text.ends_with('Z') && text.contains('T') && text.starts_with("20")
}
