use talisman::launch::RunArgs;
use talisman::simulation::DiskRates;

use super::*;

const SECOND: u64 = 1_000_000_000;

/// Three nodes, the last two on one host.
fn plan() -> Plan {
    Plan { hosts: vec![1, 2], ..Plan::calm(0, 3, 1) }
}

fn well() -> Played {
    Played { result: vec!["42".into()], ..Played::default() }
}

fn lost(message: &str) -> Played {
    Played { status: 3, message: Some(message.into()), ..Played::default() }
}

/// The kinds of failures of a run in which this happened.
fn kinds(played: Played, hurt: &[What]) -> Vec<Kind> {
    let hurt = hurt.iter().map(|what| (1, what.clone())).collect();
    let failures = failures(&plan(), &well(), &Played { hurt, ..played });
    failures.into_iter().map(|failure| failure.kind).collect()
}

fn stop(for_ns: u64) -> What {
    What::Stop { node: 1, for_ns }
}

fn cut(for_ns: u64) -> What {
    What::Cut { from: vec![0], to: vec![1], for_ns }
}

const CRASH: What = What::Crash { node: 1 };

#[test]
fn the_calm_result_is_always_legal() {
    let all = [CRASH, What::HostLoss { host: 1 }, What::LauncherLoss, stop(60 * SECOND), cut(SECOND)];
    assert_eq!(kinds(well(), &[]), []);
    all.into_iter().for_each(|what| assert_eq!(kinds(well(), &[what]), []));
}

#[test]
fn another_result_is_never_legal() {
    let other = || Played { result: vec!["41".into()], ..well() };
    for hurt in [vec![], vec![CRASH], vec![What::LauncherLoss]] {
        assert_eq!(kinds(other(), &hurt), [Kind::Result]);
    }
}

#[test]
fn a_node_is_lost_only_if_something_happened_to_it() {
    let of_node_1 =
        || lost("node 1 (pid 7) was killed by signal 9 (SIGKILL); the job cannot go on without it");
    assert_eq!(kinds(of_node_1(), &[]), [Kind::End]);
    assert_eq!(kinds(of_node_1(), &[CRASH]), []);
    assert_eq!(kinds(of_node_1(), &[What::Crash { node: 2 }]), [Kind::End]);
    assert_eq!(kinds(of_node_1(), &[What::HostLoss { host: 1 }]), []);
    assert_eq!(kinds(of_node_1(), &[What::HostLoss { host: 0 }]), [], "the launcher is there");
    assert_eq!(kinds(lost("host host1: it said nothing for 5s"), &[What::HostLoss { host: 1 }]), []);
    assert_eq!(kinds(lost("host host1: it said nothing for 5s"), &[What::Crash { node: 0 }]), [Kind::End]);
    assert_eq!(kinds(of_node_1(), &[What::Impostor { node: 1, with_disk: true }]), [Kind::End]);
    assert_eq!(kinds(lost("node 11 is gone"), &[CRASH]), [Kind::End], "that is another node");
    assert_eq!(kinds(lost("something is gone"), &[CRASH]), [Kind::End], "that is no node");
    assert_eq!(kinds(lost("node 1, node 0"), &[CRASH]), []);
}

#[test]
fn a_run_that_is_given_up_before_its_world_is_healed_is_not_judged_by_its_end() {
    let plan = Plan { events_max: 10, healed_ns: SECOND, ..plan() };
    let given_up = |lasted_ns| Played {
        events: 11,
        lasted_ns,
        flaws: vec!["there are more events than the plan allows".into()],
        ..Played::default()
    };
    let kinds = |played| failures(&plan, &well(), &played).len();
    assert_eq!(kinds(given_up(SECOND - 1)), 0);
    assert_eq!(kinds(Played { panic: Some("here".into()), ..given_up(SECOND - 1) }), 1);
    assert_eq!(kinds(Played { flaws: vec!["left over".into()], ..given_up(SECOND - 1) }), 1);
    assert_ne!(kinds(given_up(SECOND)), 0);
}

#[test]
fn a_line_is_given_up_only_if_it_damages_everything() {
    let given_up = |altered| Played {
        status: 1,
        message: Some("node 0: node 1 sent the same frame damaged 3 times; is its memory faulty?".into()),
        injected: [("altered", altered)].into(),
        ..Played::default()
    };
    assert_eq!((kinds(given_up(2), &[]), kinds(given_up(3), &[])), (vec![Kind::End], vec![]));
}

/// The line of a node, in a job that survives losses: what it held may be lost with it.
#[test]
fn who_damages_everything_is_lost() {
    let options = Box::new(RunArgs { ft: FaultTolerance::Double, ..RunArgs::default() });
    let plan = Plan { options, ..plan() };
    let gave_up = |altered| {
        let played = lost("the job cannot go on: of checkpoint 2, all copies are lost of 2 objects");
        failures(&plan, &well(), &Played { injected: [("altered", altered)].into(), ..played }).len()
    };
    assert_eq!((gave_up(2), gave_up(3)), (1, 0));
}

/// As is who cannot read its part.
#[test]
fn who_cannot_read_is_lost() {
    let gave_up = |ft, unreadable_ppm| {
        let options = Box::new(RunArgs { ft, ..RunArgs::default() });
        let disk = DiskRates { unreadable_ppm, ..DiskRates::default() };
        let played = lost("the job cannot go on: of checkpoint 2, all copies are lost of 2 objects");
        failures(&Plan { options, disk, ..plan() }, &well(), &played).len()
    };
    assert_eq!(gave_up(FaultTolerance::Disk, 1), 0);
    assert_eq!(gave_up(FaultTolerance::Disk, 0), 1);
    assert_eq!(gave_up(FaultTolerance::Double, 1), 1, "what is in memory can be read");
}

#[test]
fn a_group_whose_members_are_all_lost_answers_nobody_if_others_have_come() {
    let ended = |asked: &'static str| Played {
        status: 1,
        message: Some(format!("a reduction over the elements of `{NOBODY_LEFT}")),
        injected: [(asked, 1)].into_iter().collect(),
        ..Played::default()
    };
    assert_eq!(kinds(ended("ask-grow"), &[CRASH]), []);
    assert_eq!(kinds(ended("ask-shrink"), &[CRASH]), [Kind::End], "somebody of the beginning is there");
}

#[test]
fn what_a_survivor_says_of_the_dead_is_not_the_reason() {
    let symptom = || lost("node 0 (pid 7): node 1 does not answer");
    let for_ever = stop(crate::case::FOR_EVER_NS);
    for dead in [CRASH, What::HostLoss { host: 1 }, for_ever] {
        assert_eq!(kinds(symptom(), std::slice::from_ref(&dead)), [Kind::End], "{dead:?}");
        assert_eq!(kinds(symptom(), &[dead, stop(12 * SECOND)]), [], "that may be complained of, too");
    }
}

#[test]
fn what_is_said_of_a_connection_is_not_the_reason_if_the_launcher_learns_that_in_time() {
    let symptom = || lost("the connection with node 1 is lost: it said no more before the deadline");
    let kinds_with = |silence| {
        let plan = Plan { silence: Duration::from_millis(silence), ..plan() };
        let played = Played { hurt: vec![(SECOND, CRASH)], ..symptom() };
        failures(&plan, &well(), &played).len()
    };
    assert_eq!((kinds_with(10_500), kinds_with(11_000)), (1, 0));
}

#[test]
fn memory_is_bounded_and_given_back() {
    let with = |most, left| Played { memory_most: most, memory_left: left, ..well() };
    assert_eq!(kinds(with(30 << 20, 1000), &[]), []);
    assert_eq!(kinds(with(40 << 20, 1000), &[]), [Kind::Flaw]);
    assert_eq!(kinds(with(1000, 2 << 20), &[]), [Kind::Flaw]);

    // Twelve nodes of three PEs have 396 ends of links, 49.5 MiB of pieces to fill, if the job was started again on them.
    let plan = Plan { again: Some(Box::new(Plan::calm(0, 12, 3))), ..plan() };
    let kinds = |most, was_again: bool| {
        let again = was_again.then(|| Box::new(well()));
        failures(&plan, &well(), &Played { again, ..with(most, 1000) }).len()
    };
    assert_eq!((kinds(80 << 20, true), kinds(90 << 20, true)), (0, 1));
    assert_eq!(kinds(80 << 20, false), 1);
}

#[test]
fn a_job_that_a_node_left_too_early_has_not_ended_well() {
    let cut_short = || Played { cut_short: vec![1], ..well() };
    assert_eq!(kinds(cut_short(), &[CRASH]), [Kind::End]);
    assert_eq!(kinds(cut_short(), &[What::LauncherLoss]), []);
}

#[test]
fn outages_are_borne_until_they_add_up() {
    let silent = || lost("node 1 (pid 7) said nothing for 10s");
    for (outages, legal) in [
        (vec![stop(SECOND)], false),
        (vec![stop(12 * SECOND)], true),
        (vec![stop(4 * SECOND), cut(4 * SECOND)], true),
        (vec![stop(SECOND), cut(SECOND), What::LauncherStop { for_ns: SECOND }], false),
        (vec![What::LauncherStop { for_ns: 12 * SECOND }], true),
        (vec![What::ClockJump { node: 0, by_ns: 12 * SECOND }], true),
        (vec![What::Slow { node: 1, times: 9, for_ns: 60 * SECOND }], false),
    ] {
        let expected = if legal { vec![] } else { vec![Kind::End] };
        assert_eq!(kinds(silent(), &outages), expected, "{outages:?}");
    }
}

#[test]
fn short_outages_are_blamed_on_nobody_beside_a_crash() {
    let silent = lost("node 0 (pid 7) said nothing for 10s");
    assert_eq!(kinds(silent, &[CRASH, What::Stop { node: 0, for_ns: SECOND }]), [Kind::End]);
}

#[test]
fn without_its_launcher_a_job_has_no_end_to_be_judged_but_leaves_nothing() {
    let killed = || Played { status: 137, ..Played::default() };
    assert_eq!(kinds(killed(), &[What::LauncherLoss]), []);
    let left = Played { flaws: vec!["node 1 is still there".into()], ..killed() };
    assert_eq!(kinds(left, &[What::LauncherLoss]), [Kind::Flaw]);
}

/// A job on one host that survives losses, and that of its launcher.
fn with_heirs() -> Plan {
    let options = Box::new(RunArgs { ft: FaultTolerance::Double, ..RunArgs::default() });
    Plan { hosts: vec![3], heirs: true, options, ..Plan::calm(0, 3, 1) }
}

fn kinds_with_heirs(played: Played, hurt: &[What]) -> Vec<Kind> {
    let hurt = hurt.iter().map(|what| (1, what.clone())).collect();
    let calm = Played { result: vec!["42".into(), "prints a".into(), "prints b".into()], ..well() };
    let failures = failures(&with_heirs(), &calm, &Played { hurt, ..played });
    failures.into_iter().map(|failure| failure.kind).collect()
}

#[test]
fn a_job_whose_nodes_take_its_launchers_place_comes_to_its_result() {
    let result = |lines: &str| {
        let printed = lines.chars().map(|line| format!("prints {line}"));
        Played { result: ["42".into()].into_iter().chain(printed).collect(), ..well() }
    };
    let alone: &[What] = &[What::LauncherLoss];
    let with_a_node: &[What] = &[What::LauncherLoss, CRASH];
    let twice: &[What] = &[What::LauncherLoss, What::LauncherLoss];
    for hurt in [alone, with_a_node, twice] {
        assert_eq!(kinds_with_heirs(result("ab"), hurt), []);
        assert_eq!(kinds_with_heirs(result("a"), hurt), [Kind::Result]);
        assert_eq!(kinds_with_heirs(result("ba"), hurt), [Kind::Result]);
        assert_eq!(kinds_with_heirs(Played { status: 137, ..well() }, hurt), [], "the world has judged that");
    }
    assert_eq!(kinds_with_heirs(result("aba"), alone), [Kind::Result], "who said it lives, and knows");
    assert_eq!(kinds_with_heirs(result("aba"), with_a_node), []);
    assert_eq!(kinds_with_heirs(result("aba"), &[CRASH]), [Kind::Result]);
    assert_eq!(kinds_with_heirs(lost("node 1 is gone"), alone), [Kind::End]);
    assert_eq!(kinds_with_heirs(Played { status: 137, ..well() }, &[CRASH]), [Kind::End]);
}

#[test]
fn what_is_like_a_failure_has_its_status_oracle_or_place() {
    let failure = |kind, what: &str| Failure { calm: false, kind, what: what.into() };
    let end = failure(Kind::End, "status 3, node 1 is gone");
    assert!(end.is_like(&failure(Kind::End, "status 3, node 2 is gone")));
    assert!(!end.is_like(&failure(Kind::End, "status 1, panicked")));
    assert!(!end.is_like(&Failure { calm: true, ..end.clone() }));
    let oracle = failure(Kind::Oracle, "oracle order, event 9: too early");
    assert!(oracle.is_like(&failure(Kind::Oracle, "oracle order, event 99: too late")));
    assert!(!oracle.is_like(&failure(Kind::Oracle, "oracle delivery, event 9: lost")));
    let panic = failure(Kind::Panic, "at core/kernel/src/order.rs:7: 1 is not 2");
    assert!(panic.is_like(&failure(Kind::Panic, "at core/kernel/src/order.rs:7: 3 is not 4")));
    assert!(!panic.is_like(&failure(Kind::Panic, "at core/kernel/src/order.rs:8: 1 is not 2")));
}

#[test]
fn other_ends_are_never_legal() {
    let failed = || Played { status: 1, message: Some("panicked".into()), ..Played::default() };
    assert_eq!(kinds(failed(), &[]), [Kind::End]);
    assert_eq!(kinds(failed(), &[CRASH]), [Kind::End]);
    assert_eq!(kinds(Played { panic: Some("here".into()), ..well() }, &[]), [Kind::Panic]);
    assert_eq!(kinds(Played { violations: vec!["order".into()], ..well() }, &[CRASH]), [Kind::Oracle]);
    assert_eq!(kinds(Played { wrong: vec!["sum".into()], ..well() }, &[CRASH]), [Kind::Check]);
}

#[test]
fn a_calm_run_has_to_end_well() {
    assert_eq!(failures_of_calm(&well()), []);
    let failures = failures_of_calm(&lost("node 1 is gone"));
    assert_eq!(
        failures.iter().map(|failure| (failure.calm, failure.kind)).collect::<Vec<_>>(),
        [(true, Kind::End)]
    );
}

#[test]
fn the_same_again_is_the_same_in_every_respect() {
    let once = Played { trace: Some(1), events: 10, ..well() };
    assert_eq!(unequal(&once, &once), None);
    for again in [
        Played { trace: Some(2), ..once.clone() },
        Played { events: 11, ..once.clone() },
        Played { lasted_ns: 1, ..once.clone() },
        Played { message: Some("well".into()), ..once.clone() },
        Played { result: Vec::new(), ..once.clone() },
    ] {
        assert_eq!(unequal(&once, &again).map(|failure| failure.kind), Some(Kind::Unequal), "{again:?}");
    }
}

#[test]
fn what_differs_is_told() {
    let lines = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
    assert_eq!(difference(&lines("a b c"), &lines("a x c")), "`x` instead of `b`");
    assert_eq!(difference(&lines("a b"), &lines("a")), "`nothing` instead of `b`");
}

#[test]
fn jobs_that_are_started_one_after_the_other_come_to_the_calm_result() {
    let plan = Plan { again: Some(Box::new(Plan::calm(1, 2, 2))), ..plan() };
    let calm = Played { result: vec!["42".into(), "prints a".into(), "prints b".into()], ..well() };
    let calm = Played { printed: vec!["a".into(), "b".into()], ..calm };
    let kinds = |status, printed: &[&str], result: &str| {
        let again = Played { status, printed: vec!["b".into()], ..Played::default() };
        let lost = Played {
            status: 137,
            hurt: vec![(1, What::LauncherLoss)],
            printed: printed.iter().map(|line| line.to_string()).collect(),
            result: vec![result.into(), "prints b".into()],
            again: Some(Box::new(again)),
            ..Played::default()
        };
        let failures = failures(&plan, &calm, &lost);
        failures.into_iter().map(|failure| failure.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(0, &["a"], "42"), []);
    assert_eq!(kinds(0, &["a", "b"], "42"), [], "nobody knew that it was printed");
    assert_eq!(kinds(0, &[], "42"), [Kind::Result], "a line is missing");
    assert_eq!(kinds(0, &["a", "c"], "42"), [Kind::Result], "a line is too much");
    assert_eq!(kinds(0, &["a"], "41"), [Kind::Result]);
    assert_eq!(kinds(3, &["a"], "42"), [Kind::End], "nothing happened to it");
}
