//! Jobs that log on several hosts: whoever has come to its keeper's host is kept on another one from the next line on.

use talisman_base::auth::Secret;
use talisman_ft::logging::{Keepers, Membership};
use talisman_ft::view::View;

use super::logging::{holds_after, orders, restoring, words};
use super::*;
use crate::hosts::Hosts;
use crate::logging::messages::{FromMember, ToMember};
use talisman_job::checkpoints::FaultTolerance;

/// Of three nodes, each on a host of its own.
fn on_three_hosts() -> Coordinator {
    let hosts = Hosts::parse("a\nb\nc").expect("lines of hosts");
    let shares = hosts.distribute(3, 3).expect("there is room");
    let options = RunArgs { nodes: 3, pes: Some(1), ft: FaultTolerance::Logging, ..RunArgs::default() };
    let plan = Plan::new((1, Secret::from_bytes([1; 32])), &options, &shares, vec![]);
    started(Coordinator::new(plan, Kills::new(&[], None)))
}

/// Node 1 goes back on this host; what is said and done once it is live.
fn back_on(coordinator: &mut Coordinator, host: u32) -> (Vec<(u32, ToMember)>, Vec<Action>) {
    restoring(coordinator);
    coordinator.on_placed(1, host);
    assert_eq!(coordinator.tell(27, 1, &FromMember::AtHorizon(1)).0, []);
    coordinator.tell(30, 0, &FromMember::Covered(1))
}

#[test]
fn whoever_is_on_its_keepers_host_has_another_keeper_in_the_next_line() {
    let mut coordinator = on_three_hosts();
    let (told, others) = back_on(&mut coordinator, 2);
    let keepers = Keepers::named(vec![1, 0, 0]);
    let membership = Membership { number: 1, view: View::whole(3), keepers };
    assert_eq!(orders(&told[..1]), [(1, "go live")]);
    assert_eq!(told[1..], [0, 1, 2].map(|node| (node, ToMember::Expect(membership.clone()))));
    let ask = Action::Send(0, ToNode::Checkpoint { on_disk: false, leaving: vec![] });
    assert!(matches!(&others[..], [Action::Say(_), asked] if *asked == ask), "{others:?}");
    for (node, number) in [(0, 1), (1, 1), (2, 0)] {
        assert_eq!(coordinator.tell(40, node, &holds_after(1, number)).0, []);
    }
    let (told, others) = coordinator.tell(41, 2, &holds_after(1, 1));
    let line = ToMember::Line { version: 1, membership };
    assert_eq!(told, [0, 1, 2].map(|node| (node, line.clone())));
    assert_eq!(others, [], "that was all");
}

/// On the same host, or with the launcher's: no keeper is to be another, or none has to be at once.
#[test]
fn no_cut_is_asked_for_where_keepers_are_elsewhere() {
    let mut coordinator = on_three_hosts();
    let (told, others) = back_on(&mut coordinator, 1);
    assert_eq!(orders(&told), [(1, "go live")]);
    assert!(matches!(&others[..], [Action::Say(_)]), "{others:?}");
    // Node 0 is kept by node 1, which has come to its host.
    let mut coordinator = on_three_hosts();
    let (told, others) = back_on(&mut coordinator, 0);
    assert_eq!(orders(&told[1..]), [(0, "expect"), (1, "expect"), (2, "expect")]);
    assert!(
        matches!(&others[..], [Action::Say(_), Action::Send(0, ToNode::Checkpoint { .. })]),
        "{others:?}"
    );
}

/// Nodes that were to be released stay: keepers are others all the same.
#[test]
fn what_is_taken_back_spreads_keepers_too() {
    use talisman_job::asking::Request;
    let mut coordinator = on_three_hosts();
    back_on(&mut coordinator, 2);
    coordinator.on_request(at(31), 7, Request::Shrink(vec![0]));
    drop(coordinator.take_actions());
    (0..3).for_each(|node| _ = coordinator.say(at(90_000), node, ToLauncher::Alive));
    coordinator.on_time(at(92_000));
    let (told, _) = words(coordinator.take_actions());
    let keepers = Keepers::named(vec![1, 0, 0]);
    let membership = Membership { number: 3, view: View::whole(3), keepers };
    assert_eq!(told, [0, 1, 2].map(|node| (node, ToMember::Expect(membership.clone()))));
}
