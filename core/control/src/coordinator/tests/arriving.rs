//! Lost nodes that get other processes.

use super::surviving::{halt, order, say, warn, with_patience};
use super::*;
use crate::protocol::Place;

/// A job of three nodes that runs, whose lost nodes are started again, or whose places as many spares take.
pub(super) fn replacing(respawns: bool, spares: u32) -> Coordinator {
    let mut coordinator = with_patience(3, "", TICK * 40);
    coordinator.plan.respawns = respawns;
    coordinator.spares = Spares::new(3, spares);
    coordinator
}

fn task(actions: &[Action]) -> (u32, u64, Duration) {
    match actions {
        [.., Action::Send(node, ToNode::Task(task))] if task.number == *node => {
            (*node, task.life, task.running)
        }
        _ => panic!("{actions:?}"),
    }
}

/// Two halt, then the third comes and halts as well: what that sets off.
fn comes(coordinator: &mut Coordinator) -> Vec<Action> {
    let address = "127.0.0.1:9".parse().unwrap();
    let book = coordinator.say(at(30), 1, ToLauncher::Ready(Some(address)));
    assert_eq!(book, [Action::Send(1, ToNode::Book(vec![None, Some(address), None]))]);
    assert_eq!((coordinator.halted(31, 0, 1), coordinator.halted(32, 2, 1)), (vec![], vec![]));
    let come = coordinator.say(at(33), 1, ToLauncher::Linked);
    assert_eq!(come, [vec![Action::Send(1, ToNode::Go)], halt(&[1], 1, &[])].concat());
    coordinator.say(at(34), 1, ToLauncher::Halted { epoch: 1, held: vec![], steps: 0 })
}

/// What it is told, and the others are: where it is by then.
#[test]
fn a_lost_node_may_be_started_on_another_host() {
    let mut coordinator = replacing(true, 0);
    coordinator.plan.hosts = vec![vec![0, 1], vec![2]];
    coordinator.plan.names = vec![None, Some("b".into())];
    coordinator.happen(at(10), 1, killed());
    coordinator.on_placed(1, 1);
    let actions = coordinator.say(at(20), 1, hello());
    let Some(Action::Send(1, ToNode::Task(task))) = actions.last() else { panic!("{actions:?}") };
    assert_eq!((task.host_number, &task.host.nodes[..]), (1, &[1, 2][..]));
    let actions = comes(&mut coordinator);
    let Action::Send(0, ToNode::Places(places)) = &actions[0] else { panic!("{actions:?}") };
    assert_eq!(places.iter().map(|place| place.host).collect::<Vec<_>>(), [0, 1, 1]);
    assert_eq!(coordinator.roster.name(1), "node 1 (pid 7 on the host b)");
}

#[test]
fn a_spare_on_a_host_that_is_lost_is_lost_with_it() {
    let mut coordinator = replacing(false, 2);
    coordinator.plan.hosts = vec![vec![0], vec![1, 2]];
    coordinator.plan.spare_hosts = vec![1, 0];
    (3..5).for_each(|spare| assert_eq!(coordinator.say(at(5), spare, hello()), []));
    let lost = || Event::Lost("host b: the connection broke".into());
    let actions = coordinator.happen(at(10), 1, lost());
    assert_eq!(actions[0], warn("a spare process is lost (host b: the connection broke); 1 left"));
    assert!(actions.contains(&Action::Use { spare: 4, node: 1 }), "{actions:?}");
    assert_eq!(coordinator.happen(at(10), 3, lost()), [], "nobody is waiting there any more");
}

#[test]
fn a_spare_on_the_same_host_is_taken_first() {
    let mut coordinator = replacing(false, 3);
    coordinator.plan.hosts = vec![vec![0], vec![1, 2]];
    coordinator.plan.spare_hosts = vec![0, 1, 0];
    (3..6).for_each(|spare| assert_eq!(coordinator.say(at(5), spare, hello()), []));
    let actions = coordinator.happen(at(10), 1, killed());
    assert!(actions.contains(&Action::Use { spare: 4, node: 1 }), "{actions:?}");
    let actions = coordinator.happen(at(11), 2, killed());
    assert!(actions.contains(&Action::Use { spare: 5, node: 2 }), "{actions:?}");
    assert_eq!(coordinator.plan.hosts, [vec![0, 2], vec![1]]);
}

#[test]
fn a_lost_node_is_started_again_and_goes_on_with_the_others() {
    let mut coordinator = replacing(true, 0);
    let actions = coordinator.happen(at(10), 1, killed());
    assert_eq!(actions[1..], [halt(&[0, 2], 1, &[1]), vec![Action::Start(1)]].concat());
    assert_eq!(coordinator.happen(at(11), 1, Event::Started(8)), []);
    assert_eq!(task(&coordinator.say(at(20), 1, hello())), (1, 1, at(20)));
    let actions = comes(&mut coordinator);
    let address = Some("127.0.0.1:9".parse().unwrap());
    let place = |node| {
        let life = u64::from(node == 1);
        Place { node, life, address: address.filter(|_| node == 1), host: 0 }
    };
    let places = ToNode::Places((0..3).map(place).collect());
    assert_eq!(actions[0], Action::Send(0, places));
    let orders: Vec<_> = actions.iter().filter_map(order).collect();
    assert_eq!((&orders[1].1.fetch[..], &orders[2].1.send[..]), (&[(1, 2)][..], &[(1, 1)][..]));
    for node in [0, 1] {
        assert_eq!(coordinator.say(at(35), node, ToLauncher::Resumed { epoch: 1, steps: 36 }), []);
    }
    let text = "3 nodes went back to checkpoint 7 in 26 ms after the loss of node 1, with node 1 in a new process; degraded until \
                the next checkpoint";
    assert_eq!(coordinator.say(at(36), 2, ToLauncher::Resumed { epoch: 1, steps: 36 }), [say(text)]);
    assert!(coordinator.into_end().failures[0].replaced);
}

#[test]
fn one_that_ends_before_it_has_come_is_not_waited_for() {
    let mut coordinator = replacing(true, 0);
    coordinator.happen(at(10), 1, killed());
    coordinator.halted(11, 0, 1);
    coordinator.halted(12, 2, 1);
    let actions = coordinator.happen(at(13), 1, Event::NotStarted("no memory".into()));
    assert_eq!(actions[0], warn("node 1 cannot be replaced (no memory); the others go on without it"));
    assert_eq!(actions.iter().filter_map(order).map(|(node, _)| node).collect::<Vec<_>>(), [0, 2]);
    assert!(!actions.iter().any(|action| matches!(action, Action::Send(_, ToNode::Places(_)))));
}

#[test]
fn one_that_takes_too_long_is_killed_and_not_heard_any_more() {
    let mut coordinator = replacing(true, 0);
    coordinator.happen(at(10), 1, killed());
    coordinator.halted(11, 0, 1);
    coordinator.halted(12, 2, 1);
    let done = coordinator.wait(0, 5100);
    let kill = done.iter().position(|(_, action)| *action == Action::Kill(1)).expect("it is killed");
    assert_eq!(done[kill].0, 5050);
    assert!(done[kill..].iter().filter_map(|(_, action)| order(action)).count() == 2);
    assert_eq!(coordinator.say(at(5100), 1, ToLauncher::Linked), []);
    assert_eq!(coordinator.happen(at(5100), 1, killed()), [], "that is no loss");
}

#[test]
fn a_process_that_waits_takes_the_place_at_once() {
    let mut coordinator = replacing(false, 2);
    assert_eq!(coordinator.say(at(1), 4, hello()), []);
    let actions = coordinator.happen(at(10), 1, killed());
    assert_eq!(actions[3], Action::Use { spare: 4, node: 1 }, "it is there, and 3 is not");
    assert_eq!(task(&actions), (1, 1, at(10)));
    assert_eq!(comes(&mut coordinator).iter().filter_map(order).count(), 3);
    assert_eq!(coordinator.waiting(), [3]);
    let lost = coordinator.happen(at(40), 3, killed());
    assert_eq!(lost, [warn("a spare process is lost (killed by signal 9); 0 left")]);
    let actions = coordinator.happen(at(50), 4, killed());
    assert_eq!(actions, halt(&[0, 2], 2, &[1]), "it was called by its former number");
}

#[test]
fn what_was_said_of_a_former_process_does_not_count() {
    let mut coordinator = replacing(true, 0);
    coordinator.say(at(9), 0, ToLauncher::Suspect { node: 1, why: "no answer".into() });
    coordinator.happen(at(10), 1, killed());
    coordinator.say(at(20), 1, hello());
    comes(&mut coordinator);
    let kills =
        coordinator.wait(40, 2000).into_iter().filter(|(_, action)| matches!(action, Action::Kill(_)));
    assert_eq!(kills.count(), 0);
}

#[test]
fn a_node_that_is_lost_again_and_again_is_given_up() {
    let mut coordinator = replacing(true, 0);
    let mut starts = 0;
    for round in 0..5 {
        let actions = coordinator.happen(at(10 + round), 1, killed());
        starts += actions.iter().filter(|action| **action == Action::Start(1)).count();
        coordinator.say(at(10 + round), 1, hello());
        coordinator.say(at(10 + round), 1, ToLauncher::Ready(None));
        coordinator.say(at(10 + round), 1, ToLauncher::Linked);
    }
    assert_eq!(starts, 3);
}
