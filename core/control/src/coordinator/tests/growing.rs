//! Nodes that are added.

use talisman_ft::double::Held;
use talisman_ft::view::View;

use super::requests::{ASKS_FOR_ANY, asked, checkpointed};
use super::surviving::{halt, order, say, with_patience};
use super::*;
use talisman_job::asking::Request;

/// A job of three nodes that has gone on without node 1.
fn without_one() -> Coordinator {
    let mut coordinator = with_patience(3, "", TICK * 40);
    coordinator.happen(at(1), 1, killed());
    coordinator.recover(2, &[0, 2], 1);
    coordinator
}

/// What the two that are left hold of a checkpoint since then.
fn held() -> Vec<Held> {
    let view = View::whole(3).after(1, 3, |node| node != 1, |_| 2);
    vec![Held { version: 8, view, held: vec![0, 2], committed: true, missed: Vec::new() }]
}

fn says_all(coordinator: &mut Coordinator, now: u64, node: u32) -> Vec<Action> {
    coordinator.say(at(now), node, hello());
    coordinator.say(at(now), node, ToLauncher::Ready(None));
    coordinator.say(at(now), node, ToLauncher::Linked)
}

/// One node runs, of three that there may be.
fn beginning_with_one() -> Coordinator {
    started(Coordinator::new(three_at_most(1), Kills::new(&[], None)))
}

fn three_at_most(nodes: u32) -> Plan {
    let options = RunArgs { nodes, max_nodes: Some(3), pes: Some(1), ..RunArgs::default() };
    Plan { survives: true, ..Plan::local(&options, vec![]) }
}

fn answer(number: u64, answer: Result<&str, &str>) -> Action {
    Action::Answer(number, answer.map(Into::into).map_err(Into::into))
}

#[test]
fn a_process_comes_first_then_a_checkpoint_and_then_all_go_back_with_it() {
    let mut coordinator = without_one();
    assert_eq!(asked(&mut coordinator, 1, Request::Grow(None)), [Action::Start(1)]);
    assert_eq!(says_all(&mut coordinator, 20, 1), [ASKS_FOR_ANY], "nobody has halted");
    let actions = coordinator.say(at(21), 0, checkpointed(1));
    let added = vec![say("node 1 is added; all go back"), Action::Send(1, ToNode::Go)];
    assert_eq!(actions, [added, halt(&[0, 1, 2], 2, &[])].concat());
    let halted = |held| ToLauncher::Halted { epoch: 2, held, steps: 0 };
    assert_eq!(coordinator.say(at(22), 0, halted(held())), []);
    assert_eq!(coordinator.say(at(22), 1, halted(vec![])), []);
    let actions = coordinator.say(at(22), 2, halted(held()));
    let orders: Vec<_> = actions.iter().filter_map(order).collect();
    assert_eq!(orders.iter().map(|(node, _)| *node).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!((&orders[1].1.fetch[..], &orders[2].1.send[..]), (&[(1, 2)][..], &[(1, 1)][..]));
    assert!(actions.iter().any(|action| matches!(action, Action::Send(0, ToNode::Places(_)))));
    for node in [0, 1] {
        assert_eq!(coordinator.say(at(23), node, ToLauncher::Resumed { epoch: 2, steps: 4 }), []);
    }
    let text = "3 nodes went back to checkpoint 8; degraded until the next checkpoint";
    let done = "the job goes on with node 1; without --balancer, no objects will move there";
    let actions = coordinator.say(at(24), 2, ToLauncher::Resumed { epoch: 2, steps: 4 });
    assert_eq!(actions, [say(text), answer(1, Ok(done))]);
    let all_there = "all nodes of the job are there; --max-nodes says how many it may ever have";
    assert_eq!(asked(&mut coordinator, 2, Request::Grow(None)), [answer(2, Err(all_there))]);
    assert_eq!(coordinator.into_end().failures.len(), 1, "that is no loss");
}

#[test]
fn one_that_was_released_is_waited_for_until_it_has_left() {
    let mut coordinator = with_patience(3, "", TICK * 40);
    asked(&mut coordinator, 1, Request::Shrink(vec![0]));
    coordinator.say(at(11), 0, checkpointed(1));
    for node in [0, 1, 2] {
        coordinator.halted(12, node, 1);
    }
    for node in [1, 2] {
        coordinator.say(at(13), node, ToLauncher::Resumed { epoch: 1, steps: 36 });
    }
    assert_eq!(asked(&mut coordinator, 2, Request::Grow(Some(1))), []);
    coordinator.say(at(14), 0, ToLauncher::Done(Box::default()));
    assert_eq!(coordinator.happen(at(15), 0, Event::Ended(How::Exited(0))), [Action::Start(0)]);
    assert_eq!(
        says_all(&mut coordinator, 16, 0),
        [Action::Send(1, ToNode::Checkpoint { on_disk: false, leaving: vec![] })]
    );
}

#[test]
fn the_lowest_numbers_come_first_and_never_more_than_are_missing() {
    let mut coordinator = with_patience(4, "", TICK * 40);
    coordinator.happen(at(1), 1, killed());
    coordinator.recover(2, &[0, 2, 3], 1);
    asked(&mut coordinator, 1, Request::Shrink(vec![3]));
    coordinator.say(at(11), 0, checkpointed(1));
    for node in [0, 2, 3] {
        let view = View::whole(4).after(1, 4, |node| node != 1, |_| 2);
        let held = vec![Held { version: 8, view, held: vec![0, 2, 3], committed: true, missed: vec![] }];
        coordinator.say(at(12), node, ToLauncher::Halted { epoch: 2, held, steps: 0 });
    }
    for node in [0, 2] {
        coordinator.say(at(13), node, ToLauncher::Resumed { epoch: 2, steps: 0 });
    }
    coordinator.happen(at(14), 3, Event::Ended(How::Exited(0)));
    let why = "3 nodes cannot be added: only nodes 1 and 3 can be";
    assert_eq!(asked(&mut coordinator, 2, Request::Grow(Some(3))), [answer(2, Err(why))]);
    assert_eq!(asked(&mut coordinator, 3, Request::Grow(Some(1))), [Action::Start(1)]);
    let why = "other nodes are being added; ask again when they are there";
    assert_eq!(asked(&mut coordinator, 4, Request::Grow(None)), [answer(4, Err(why))]);
}

#[test]
fn one_that_does_not_come_leaves_the_job_as_it_is() {
    let mut coordinator = without_one();
    asked(&mut coordinator, 1, Request::Grow(None));
    let why = "node 1 did not join: no memory";
    assert_eq!(coordinator.happen(at(20), 1, Event::NotStarted("no memory".into())), [answer(1, Err(why))]);
    asked(&mut coordinator, 2, Request::Grow(None));
    coordinator.say(at(21), 1, hello());
    let done = coordinator.wait(0, 5100);
    let done: Vec<_> = done.into_iter().filter(|(_, action)| !matches!(action, Action::Send(..))).collect();
    let why = "node 1 did not join within 5s";
    assert_eq!(done, [(5050, Action::Kill(1)), (5050, answer(2, Err(why)))]);
    assert_eq!(coordinator.say(at(5100), 1, ToLauncher::Linked), []);
    assert_eq!(coordinator.happen(at(5100), 1, killed()), [], "that is no loss");
    assert_eq!(asked(&mut coordinator, 3, Request::Grow(None)), [Action::Start(1)]);
}

#[test]
fn a_loss_meanwhile_is_seen_to_first() {
    let mut coordinator = with_patience(4, "", TICK * 40);
    coordinator.happen(at(1), 1, killed());
    coordinator.recover(2, &[0, 2, 3], 1);
    asked(&mut coordinator, 1, Request::Grow(None));
    coordinator.happen(at(11), 3, killed());
    assert_eq!(says_all(&mut coordinator, 12, 1), [], "they halt");
    let [halted, resumed] = coordinator.recover(13, &[0, 2], 2);
    let there: Vec<_> = halted.iter().filter_map(order).map(|(node, _)| node).collect();
    assert_eq!((there, resumed.last()), (vec![0, 2], Some(&ASKS_FOR_ANY)));
    assert_eq!(coordinator.say(at(14), 0, checkpointed(1)).last(), halt(&[2], 3, &[3]).last());
}

#[test]
fn what_is_asked_for_while_all_halt_begins_at_once_and_goes_on_after_that() {
    let mut coordinator = with_patience(3, "", TICK * 40);
    coordinator.happen(at(1), 1, killed());
    assert_eq!(asked(&mut coordinator, 1, Request::Grow(None)), [Action::Start(1)]);
    assert_eq!(coordinator.halted(11, 0, 1), []);
    assert_eq!(says_all(&mut coordinator, 12, 1), [], "it is not one of those that go back");
    let halted = coordinator.halted(13, 2, 1);
    assert_eq!(halted.iter().filter_map(order).map(|(node, _)| node).collect::<Vec<_>>(), [0, 2]);
    coordinator.say(at(14), 0, ToLauncher::Resumed { epoch: 1, steps: 36 });
    let resumed = coordinator.say(at(14), 2, ToLauncher::Resumed { epoch: 1, steps: 36 });
    assert_eq!(resumed.last(), Some(&ASKS_FOR_ANY));
    assert_eq!(coordinator.say(at(15), 0, checkpointed(1)).last(), halt(&[2], 2, &[]).last());
}

#[test]
fn a_lost_node_that_is_replaced_is_none_of_those_that_are_added_meanwhile() {
    let plan = Plan { respawns: true, ..three_at_most(2) };
    let mut coordinator = started(Coordinator::new(plan, Kills::new(&[], None)));
    assert!(coordinator.happen(at(1), 1, killed()).contains(&Action::Start(1)));
    assert_eq!(asked(&mut coordinator, 1, Request::Grow(None)), [Action::Start(2)]);
    let halted = ToLauncher::Halted { epoch: 1, held: vec![], steps: 0 };
    assert_eq!(coordinator.say(at(11), 0, halted.clone()), []);
    assert_eq!(says_all(&mut coordinator, 12, 2), []);
    let come = says_all(&mut coordinator, 13, 1);
    assert_eq!(come, [vec![Action::Send(1, ToNode::Go)], halt(&[1], 1, &[2])].concat());
    let orders = coordinator.say(at(14), 1, halted);
    assert_eq!(orders.iter().filter_map(order).map(|(node, _)| node).collect::<Vec<_>>(), [0, 1]);
    coordinator.say(at(15), 0, ToLauncher::Resumed { epoch: 1, steps: 0 });
    let resumed = coordinator.say(at(15), 1, ToLauncher::Resumed { epoch: 1, steps: 0 });
    assert_eq!(resumed.last(), Some(&ASKS_FOR_ANY));
}

#[test]
fn a_job_that_ends_adds_nobody() {
    let mut coordinator = without_one();
    asked(&mut coordinator, 1, Request::Grow(None));
    coordinator.say(at(20), 1, hello());
    let actions = coordinator.say(at(21), 0, ToLauncher::Ended(Stop::default()));
    assert_eq!(actions[3..], [Action::Kill(1), answer(1, Err("the job ends"))]);
    for node in [0, 2] {
        coordinator.say(at(22), node, ToLauncher::Done(Box::default()));
    }
    let actions = coordinator.happen(at(23), 1, killed());
    assert_eq!(
        actions,
        [0, 2].map(|node| Action::Send(node, ToNode::Settle(Results::default()))),
        "nobody else is waited for"
    );
}

#[test]
fn one_that_is_lost_before_all_go_on_with_it_is_a_loss() {
    let mut coordinator = without_one();
    asked(&mut coordinator, 1, Request::Grow(None));
    says_all(&mut coordinator, 20, 1);
    coordinator.say(at(21), 0, checkpointed(1));
    let actions = coordinator.happen(at(22), 1, killed());
    assert_eq!(actions, halt(&[0, 2], 3, &[1]), "in the words of the first loss");
    for node in [0, 2] {
        coordinator.say(at(23), node, ToLauncher::Halted { epoch: 3, held: held(), steps: 0 });
    }
    coordinator.say(at(24), 0, ToLauncher::Resumed { epoch: 3, steps: 0 });
    let actions = coordinator.say(at(24), 2, ToLauncher::Resumed { epoch: 3, steps: 0 });
    let why = "node 1 is lost again; the others go on";
    assert_eq!(actions[1..], [answer(1, Err(why))]);
    assert_eq!(coordinator.into_end().failures.len(), 2);
}

#[test]
fn numbers_that_were_never_there_are_added_like_others() {
    let mut coordinator = beginning_with_one();
    assert_eq!(asked(&mut coordinator, 1, Request::Grow(Some(1))), [Action::Start(1)]);
    assert_eq!(says_all(&mut coordinator, 20, 1), [ASKS_FOR_ANY]);
    assert_eq!(coordinator.say(at(21), 0, checkpointed(1))[2..], halt(&[0, 1], 1, &[2]));
    let (view, missed) = (View::beginning_with(1, 3), Vec::new());
    let held = vec![Held { version: 1, view, held: vec![0], committed: true, missed }];
    coordinator.say(at(22), 0, ToLauncher::Halted { epoch: 1, held, steps: 0 });
    let actions = coordinator.say(at(22), 1, ToLauncher::Halted { epoch: 1, held: vec![], steps: 0 });
    let orders: Vec<_> = actions.iter().filter_map(order).collect();
    assert_eq!((&orders[0].1.send[..], &orders[1].1.fetch[..]), (&[(1, 1)][..], &[(1, 0)][..]));
    assert_eq!([0, 1, 2].map(|node| orders[0].1.view.acting_for(node)), [0, 1, 0]);
    coordinator.say(at(23), 0, ToLauncher::Resumed { epoch: 1, steps: 0 });
    coordinator.say(at(23), 1, ToLauncher::Resumed { epoch: 1, steps: 0 });
    assert_eq!(asked(&mut coordinator, 2, Request::Grow(None)), [Action::Start(2)]);
    assert_eq!(coordinator.into_end().failures, []);
}
