//! A job that has lost its launcher, as the next one leads it.

use talisman_ft::double::Held;
use talisman_ft::view::View;

use super::*;
use crate::protocol::Place;
use talisman_job::lines::Lines;

use crate::follower::{Follower, Followers};
use talisman_job::Failure;

/// Of a job of three nodes, the program of which has been running for a minute.
pub(super) fn follower(node: u32) -> Follower {
    Follower {
        version: VERSION,
        job: 1,
        node,
        pid: 100 + node,
        life: 0,
        lives: 0,
        address: None,
        epoch: 0,
        view: View::whole(3),
        committed: None,
        next_version: 1,
        failures: 0,
        steps: Steps { done: 40 + u64::from(node), total: Some(90) },
        running: at(60_000),
        unheard: TICK * (1 + node),
        seen: Vec::new(),
        settled: None,
        losses: Vec::new(),
        layout: None,
    }
}

/// Led by the first of these.
fn taken_over(followers: Vec<Follower>) -> Coordinator {
    taken_over_by(Plan { survives: true, ..plan() }, followers)
}

fn plan() -> Plan {
    Plan::local(&RunArgs { nodes: 3, ..RunArgs::default() }, Vec::new())
}

fn taken_over_by(plan: Plan, followers: Vec<Follower>) -> Coordinator {
    let leader = format!("node {} (pid {})", followers[0].node, followers[0].pid);
    let mut all = Followers::default();
    followers.into_iter().for_each(|follower| all.add(follower));
    Coordinator::taking_over(plan, Kills::new(&[], None), &leader, &all)
}

fn halted(node: u32, epoch: u32) -> ToLauncher {
    let parts = vec![(node + 2) % 3, node];
    let held = Held { version: 7, view: View::whole(3), held: parts, committed: true, missed: Vec::new() };
    ToLauncher::Halted { epoch, held: vec![held], steps: 41 }
}

#[test]
fn all_that_follow_go_back_in_the_next_epoch() {
    let mut coordinator = taken_over(vec![Follower { epoch: 4, failures: 2, ..follower(1) }, follower(2)]);
    let halt = |node| Action::Send(node, ToNode::Halt { epoch: 5, lost: vec![0] });
    let warn = |text: &str| Action::Warn(text.into());
    let told = [warn("the launcher is gone; node 1 (pid 101) leads now"), warn("node 0 is gone too")];
    assert_eq!(coordinator.decided(), [told.to_vec(), vec![halt(1), halt(2)]].concat());
    assert_eq!(coordinator.say(at(60_001), 1, ToLauncher::Ended(Stop::default())), [], "of its former life");
    assert_eq!(coordinator.say(at(60_002), 1, halted(1, 5)), []);
    let orders = coordinator.say(at(60_002), 2, halted(2, 5));
    let [Action::Send(1, ToNode::Resume(one)), Action::Send(2, ToNode::Resume(other))] = &orders[..] else {
        panic!("{orders:?}")
    };
    assert_eq!((one.failures, other.failures), (4, 4), "two before, the launcher and node 0");
    coordinator.say(at(60_005), 1, ToLauncher::Resumed { epoch: 5, steps: 36 });
    let last = coordinator.say(at(60_005), 2, ToLauncher::Resumed { epoch: 5, steps: 36 });
    let back = "2 nodes went back to checkpoint 7 in 5 ms after the loss of the launcher and of node 0; \
                degraded until the next checkpoint";
    assert_eq!(last, [Action::Say(back.into())]);
    let failures = coordinator.into_end().failures;
    let told: Vec<_> =
        failures.iter().map(|failure| (failure.node, failure.version, failure.steps_redone)).collect();
    assert_eq!(told, [(None, Some(7), Some(6)), (Some(0), Some(7), Some(6))]);
    // Node 1 is the one that had heard of the launcher last; had that been there, it would have missed node 0.
    let detect: Vec<_> = failures.iter().map(|failure| (failure.detect_s, failure.detect_exact)).collect();
    assert_eq!(detect, [(Some(0.5), false), (Some(0.5), false)]);
}

/// What each node is told of losses.
fn told(coordinator: &mut Coordinator) -> Vec<(u32, u32, Vec<Failure>)> {
    let told = |action| match action {
        Action::Send(node, ToNode::Losses { from, losses }) => Some((node, from, losses)),
        _ => None,
    };
    coordinator.take_actions().into_iter().filter_map(told).collect()
}

/// Those that it was about to go on without among them, whoever was told of which.
#[test]
fn the_report_has_what_former_launchers_have_told_of() {
    let recover_s = Some(0.25);
    let settled =
        Failure { what: "it died".into(), at_s: 3.0, halt_s: Some(0.125), recover_s, ..Failure::default() };
    let of = |node, failure: &Failure| Failure { node, ..failure.clone() };
    let first = of(Some(2), &settled);
    let unsettled = Failure { node: Some(0), what: "so did it".into(), at_s: 59.5, ..Failure::default() };
    let knows = |losses: &[&Failure], node| {
        let losses = losses.iter().map(|loss| (*loss).clone()).collect();
        let view = View::whole(3).after(1, 3, |node| node != 2, |_| 0);
        Follower { losses, epoch: 1, view, ..follower(node) }
    };
    let mut coordinator = taken_over(vec![knows(&[&first, &unsettled], 1)]);
    let leads = "the launcher is gone; node 1 (pid 101) leads now";
    let gone = Failure {
        what: leads.into(),
        detected: "exit".into(),
        at_s: 60.0,
        detect_s: Some(0.5),
        ..Failure::default()
    };
    assert_eq!(told(&mut coordinator), [(1, 0, vec![first.clone(), unsettled, gone])]);
    let halted = ToLauncher::Halted { epoch: 2, held: vec![], steps: 41 };
    coordinator.on_event(at(60_002), 1, Event::Said(halted), || false);
    assert_eq!(told(&mut coordinator), []);
    let resumed = ToLauncher::Resumed { epoch: 2, steps: 0 };
    coordinator.on_event(at(60_005), 1, Event::Said(resumed), || false);
    let after: Vec<_> = told(&mut coordinator).into_iter().map(|(node, from, _)| (node, from)).collect();
    assert_eq!(after, [(1, 1)], "the first one is as it was told");
    let failures = coordinator.into_end().failures;
    assert_eq!(failures[0], first);
    let rest: Vec<_> = failures[1..].iter().map(|loss| (loss.node, loss.at_s, loss.recover_s)).collect();
    assert_eq!(rest, [(Some(0), 59.5, Some(0.505)), (None, 60.0, Some(0.005))]);
}

/// Of several, who was told last; also when nobody goes back any more.
#[test]
fn nodes_that_were_told_of_less_than_others_do_not_matter() {
    let one = Failure { node: Some(0), at_s: 1.0, ..Failure::default() };
    let settled = Failure { recover_s: Some(0.5), ..one.clone() };
    let with = |losses: &[&Failure], node| {
        let losses = losses.iter().map(|loss| (*loss).clone()).collect();
        Follower { losses, settled: Some(Results::default()), ..follower(node) }
    };
    let mut coordinator = taken_over(vec![with(&[&one], 1), with(&[&settled], 2)]);
    let all = told(&mut coordinator);
    assert!(all.iter().all(|(_, from, losses)| *from == 0 && losses.len() == 2 && losses[0] == settled));
    assert_eq!(all.iter().map(|(node, ..)| *node).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(coordinator.into_end().failures.len(), 2);
}

#[test]
fn what_the_former_launcher_printed_is_not_printed_again() {
    let seen = vec![(7, 1, 0)];
    let mut coordinator = taken_over(vec![follower(0), Follower { seen, ..follower(1) }, follower(2)]);
    let _ = coordinator.decided();
    let lines =
        |piece| Lines { version: Some(7), node: 1, piece, lines: vec!["x".into()], ..Lines::default() };
    let ack = |piece| Action::Send(1, ToNode::LinesSeen { version: 7, node: 1, piece });
    assert_eq!(coordinator.say(at(60_001), 1, ToLauncher::Lines(lines(0))), [ack(0)]);
    let printed = Action::Print { node: 1, piece: Some((7, 1, 1)), lines: vec!["x".into()] };
    assert_eq!(coordinator.say(at(60_001), 1, ToLauncher::Lines(lines(1))), [printed, ack(1)]);
}

/// As for any other loss, by a process of a life that nobody can have met.
#[test]
fn who_was_lost_with_the_launcher_is_replaced() {
    let plan = Plan { survives: true, respawns: true, ..plan() };
    let address = "127.0.0.1:4".parse().ok();
    let come = Follower { life: 2, lives: 5, address, ..follower(2) };
    let mut coordinator = taken_over_by(plan, vec![follower(1), come]);
    assert_eq!(coordinator.decided().last(), Some(&Action::Start(0)));
    let task = coordinator.say(at(60_010), 0, hello());
    assert!(matches!(&task[..], [Action::Send(0, ToNode::Task(task))] if task.life == 6), "{task:?}");
    for node in [1, 2] {
        assert_eq!(coordinator.say(at(60_011), node, halted(node, 1)), []);
    }
    coordinator.say(at(60_012), 0, ToLauncher::Ready(None));
    let halt = ToNode::Halt { epoch: 1, lost: vec![] };
    let actions = coordinator.say(at(60_013), 0, ToLauncher::Linked);
    assert_eq!(actions, [ToNode::Go, halt].map(|message| Action::Send(0, message)));
    let orders = coordinator.say(at(60_014), 0, ToLauncher::Halted { epoch: 1, held: vec![], steps: 0 });
    let places = [(0, 6, None), (1, 0, None), (2, 2, address)];
    let places = places.map(|(node, life, address)| Place { node, life, address, host: 0 });
    assert_eq!(orders[0], Action::Send(0, ToNode::Places(places.into())));
}

/// Of whom some may have left: they are no losses, and their results are there.
#[test]
fn nobody_goes_back_once_some_may_have_left() {
    let mut results = Results::default();
    results.set("sum", 5_u64);
    let settled = Follower { settled: Some(results.clone()), ..follower(1) };
    let mut coordinator = taken_over(vec![settled, follower(2)]);
    assert_eq!(
        coordinator.decided(),
        [Action::Warn("the launcher is gone; node 1 (pid 101) leads now".into())]
    );
    for node in [1, 2] {
        let leave = Action::Send(node, ToNode::Leave);
        assert_eq!(coordinator.say(at(60_001), node, ToLauncher::Done(Box::default())), [leave]);
        coordinator.happen(at(60_002), node, Event::Ended(How::Vanished));
    }
    assert!(coordinator.is_over());
    let End { stop, results: left, failures, .. } = coordinator.into_end();
    assert_eq!((stop.status, left, failures.len()), (0, results, 1));
}

#[test]
fn who_was_released_and_not_told_may_leave() {
    let view = View::whole(3).after(4, 3, |node| node != 2, |_| 0);
    let told = |node| Follower { epoch: 4, view: view.clone(), ..follower(node) };
    let released = Follower { epoch: 4, ..follower(2) };
    let mut coordinator = taken_over(vec![told(0), told(1), released]);
    let halt = |node| Action::Send(node, ToNode::Halt { epoch: 5, lost: vec![2] });
    let actions = coordinator.decided();
    assert_eq!(actions[1..], [halt(0), halt(1), Action::Send(2, ToNode::Leave)]);
    assert_eq!(coordinator.happen(at(60_001), 2, Event::Ended(How::Vanished)), []);
}

#[test]
fn a_failure_that_the_former_launcher_may_have_been_told_ends_the_job() {
    let mut coordinator = taken_over(vec![follower(0), follower(1), follower(2)]);
    let _ = coordinator.decided();
    let failed = Stop { status: 1, message: Some("panicked".into()) };
    let actions = coordinator.say(at(60_001), 2, ToLauncher::Ended(failed.clone()));
    assert_eq!(actions, to_all(3, &ToNode::Stop(failed)));
    (0..3).for_each(|node| drop(coordinator.happen(at(60_002), node, Event::Ended(How::Vanished))));
    assert!(coordinator.is_over());
    assert_eq!(end(coordinator), (1, "panicked".into()));
}
