//! A job that has lost its launcher, as the next one leads it.

use talisman_ft::double::Held;
use talisman_ft::view::View;

use super::*;
use crate::cluster::control::Lines;
use crate::cluster::takeover::follower::{Follower, Followers};

/// Of a job of three nodes, the program of which has been running for a minute.
fn follower(node: u32) -> Follower {
    Follower {
        version: VERSION,
        job: 1,
        node,
        pid: 100 + node,
        epoch: 0,
        view: View::whole(3),
        next_version: 1,
        steps: Steps { done: 40 + u64::from(node), total: Some(90) },
        running: at(60_000),
        seen: Vec::new(),
    }
}

/// Led by the first of these.
fn taken_over(followers: Vec<Follower>) -> Conductor {
    let options = RunArgs { nodes: 3, ..RunArgs::default() };
    let plan = Plan { survives: true, ..Plan::local(&options, Vec::new()).unwrap() };
    let own = followers[0].node;
    let mut all = Followers::default();
    followers.into_iter().for_each(|follower| all.add(follower));
    Conductor::taking_over(plan, Kills::new(&[], None), own, &all)
}

fn halted(node: u32, epoch: u32) -> ToLauncher {
    let parts = vec![(node + 2) % 3, node];
    let held = Held { version: 7, view: View::whole(3), held: parts, committed: true };
    ToLauncher::Halted { epoch, held: vec![held], steps: 41 }
}

#[test]
fn all_that_follow_go_back_in_the_next_epoch() {
    let mut conductor = taken_over(vec![Follower { epoch: 4, ..follower(1) }, follower(2)]);
    let halt = |node| Action::Send(node, ToNode::Halt { epoch: 5, lost: vec![0] });
    let say = |text: &str| Action::Say(text.into());
    let told = [say("the launcher is gone; node 1 leads now"), say("node 0 is gone too")];
    assert_eq!(conductor.take_actions(), [told.to_vec(), vec![halt(1), halt(2)]].concat());
    assert_eq!(conductor.say(at(60_001), 1, ToLauncher::Ended(Stop::default())), [], "of its former life");
    assert_eq!(conductor.say(at(60_002), 1, halted(1, 5)), []);
    let orders = conductor.say(at(60_002), 2, halted(2, 5));
    assert!(matches!(&orders[..], [Action::Send(1, ToNode::Resume(_)), Action::Send(2, ToNode::Resume(_))]));
    conductor.say(at(60_005), 1, ToLauncher::Resumed { epoch: 5, steps: 36 });
    let last = conductor.say(at(60_005), 2, ToLauncher::Resumed { epoch: 5, steps: 36 });
    let back = "2 nodes went back to checkpoint 7 in 5 ms after the loss of the launcher and of node 0; \
                degraded until the next checkpoint";
    assert_eq!(last, [say(back)]);
    let failures = conductor.into_end().failures;
    let told: Vec<_> =
        failures.iter().map(|failure| (failure.node, failure.version, failure.steps_redone)).collect();
    assert_eq!(told, [(None, Some(7), Some(6)), (Some(0), Some(7), Some(6))]);
}

#[test]
fn what_the_former_launcher_printed_is_not_printed_again() {
    let seen = vec![(7, 1, 0)];
    let mut conductor = taken_over(vec![follower(0), Follower { seen, ..follower(1) }, follower(2)]);
    let _ = conductor.take_actions();
    let lines =
        |piece| Lines { version: Some(7), node: 1, piece, lines: vec!["x".into()], ..Lines::default() };
    let ack = |piece| Action::Send(1, ToNode::LinesSeen { version: 7, node: 1, piece });
    assert_eq!(conductor.say(at(60_001), 1, ToLauncher::Lines(lines(0))), [ack(0)]);
    let printed = Action::Print(1, vec!["x".into()]);
    assert_eq!(conductor.say(at(60_001), 1, ToLauncher::Lines(lines(1))), [printed, ack(1)]);
}

#[test]
fn a_failure_that_the_former_launcher_may_have_been_told_ends_the_job() {
    let mut conductor = taken_over(vec![follower(0), follower(1), follower(2)]);
    let _ = conductor.take_actions();
    let failed = Stop { status: 1, message: Some("panicked".into()) };
    let actions = conductor.say(at(60_001), 2, ToLauncher::Ended(failed.clone()));
    assert_eq!(actions, to_all(3, &ToNode::Stop(failed)));
    (0..3).for_each(|node| drop(conductor.happen(at(60_002), node, Event::Ended(How::Vanished))));
    assert!(conductor.is_over());
    assert_eq!(end(conductor), (1, "panicked".into()));
}
