//! What is done about connections, as exact lists of actions.

use super::*;
use crate::plan::Plan;
use talisman_base::auth::Secret;
use talisman_job::RunArgs;
use talisman_job::options::Transport;

/// A node of three on two hosts: 0 and 1 are on one.
fn node(number: u32, transport: Transport, pes: u32) -> Connecting {
    let options = RunArgs { pes: Some(pes), transport: transport.into(), ..RunArgs::default() };
    let plan = Plan::known(1, Secret::from_bytes([2; 32]), vec![vec![0, 1], vec![2]], &options);
    Connecting::new(&plan.task(number))
}

/// Node 1, connected with the others.
fn connected() -> Connecting {
    let mut connecting = node(1, Transport::Tcp, 1);
    assert_eq!(connecting.on_book(at(0)), [dial(0, 0, 1)]);
    assert_eq!(connecting.on_established(peer(0, 0)), []);
    assert_eq!(connecting.on_established(peer(2, 0)), [Action::AllThere]);
    assert_eq!(connecting.next_time(), None);
    connecting
}

fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn peer(node: u32, lane: u32) -> Peer {
    Peer { node, lane }
}

fn attempt(node: u32, lane: u32, number: u32) -> Dial {
    Dial { peer: peer(node, lane), number }
}

fn dial(node: u32, lane: u32, number: u32) -> Action {
    Action::Dial(attempt(node, lane, number))
}

fn failure(is_passing: bool, is_no_network: bool) -> DialFailure {
    DialFailure { why: "cannot connect".into(), is_passing, is_no_network }
}

fn no_network() -> DialFailure {
    failure(true, true)
}

fn nobody() -> DialFailure {
    failure(true, false)
}

fn refused() -> DialFailure {
    failure(false, false)
}

fn lost(node: u32, error: &DialFailure) -> Vec<Action> {
    vec![Action::Lose(peer(node, 0), format!("the connection with node {node} is lost: {error}"))]
}

#[test]
fn the_node_with_the_higher_number_dials_every_lane() {
    assert_eq!(node(0, Transport::Tcp, 2).on_book(at(0)), []);
    let mut last = node(2, Transport::Tcp, 2);
    let dials = [dial(0, 0, 1), dial(0, 1, 2), dial(1, 0, 3), dial(1, 1, 4)];
    assert_eq!(last.on_book(at(0)), dials);
}

#[test]
fn whoever_is_reached_through_memory_is_not_dialled() {
    let mut last_on_host = node(1, Transport::Shm, 1);
    assert!(last_on_host.lacks_any(), "node 2 is on another host");
    assert_eq!(last_on_host.on_book(at(0)), []);
    assert_eq!(last_on_host.on_established(peer(2, 0)), [Action::AllThere]);
    assert_eq!(node(2, Transport::Shm, 1).on_book(at(0)), [dial(0, 0, 1), dial(1, 0, 2)]);
}

#[test]
fn a_node_without_others_is_complete_at_once() {
    let options = RunArgs { pes: Some(2), transport: Transport::Shm.into(), ..RunArgs::default() };
    let plan = Plan::known(1, Secret::from_bytes([2; 32]), vec![vec![0, 1]], &options);
    let mut connecting = Connecting::new(&plan.task(0));
    assert!(!connecting.lacks_any());
    assert_eq!(connecting.on_book(at(0)), [Action::AllThere]);
    assert_eq!(connecting.next_time(), None);
}

#[test]
fn those_who_dial_before_this_node_knows_the_others_are_not_waited_for() {
    let mut connecting = node(0, Transport::Tcp, 1);
    assert_eq!(connecting.on_established(peer(1, 0)), []);
    assert_eq!(connecting.on_established(peer(2, 0)), []);
    assert_eq!(connecting.on_book(at(5)), [Action::AllThere]);
}

#[test]
fn at_the_start_nobody_there_is_passing_and_eight_refusals_may_be() {
    let mut connecting = node(1, Transport::Tcp, 1);
    assert_eq!(connecting.on_book(at(100)), [dial(0, 0, 1)]);
    assert_eq!(connecting.on_failed(at(101), attempt(0, 0, 1), &nobody()), []);
    assert_eq!(connecting.next_time(), Some(at(121)));
    assert_eq!(connecting.on_time(at(120)), []);
    assert_eq!(connecting.on_time(at(121)), [dial(0, 0, 2)]);
    assert_eq!(connecting.on_failed(at(122), attempt(0, 0, 2), &nobody()), []);
    assert_eq!(connecting.on_time(at(142)), [dial(0, 0, 3)]);
    let error = refused();
    for number in 3..11 {
        let now = at(142) + PAUSE * (number - 3);
        assert_eq!(connecting.on_failed(now, attempt(0, 0, number), &error), []);
        assert_eq!(connecting.on_time(now + PAUSE), [dial(0, 0, number + 1)]);
    }
    let now = at(142) + PAUSE * 8;
    assert_eq!(connecting.on_failed(now, attempt(0, 0, 11), &error), lost(0, &error));
    assert_eq!(connecting.next_time(), Some(at(100) + START + PAUSE), "nobody is dialled any more");
}

#[test]
fn without_a_network_a_job_does_not_begin() {
    let mut connecting = node(1, Transport::Tcp, 1);
    assert_eq!(connecting.on_book(at(0)), [dial(0, 0, 1)]);
    let error = no_network();
    assert_eq!(connecting.on_failed(at(1), attempt(0, 0, 1), &error), lost(0, &error));
    let mut later = connected();
    assert_eq!(later.on_broken(at(0), peer(0, 0)), [dial(0, 0, 2)]);
    let error = no_network();
    assert_eq!(later.on_failed(at(1), attempt(0, 0, 2), &error), [], "it may come back");
}

#[test]
fn the_start_ends_after_its_time_with_the_first_who_is_missing() {
    let mut connecting = node(1, Transport::Tcp, 1);
    assert_eq!(connecting.on_book(at(7)), [dial(0, 0, 1)]);
    assert_eq!(connecting.on_established(peer(0, 0)), []);
    let end = at(7) + START + PAUSE;
    assert_eq!(connecting.next_time(), Some(end));
    assert_eq!(connecting.on_time(end - at(1)), []);
    let why = "node 2 has not connected within 30s".to_owned();
    assert_eq!(connecting.on_time(end), [Action::GiveUp(why)]);
    assert_eq!(connecting.next_time(), None);
    assert_eq!(connecting.on_established(peer(2, 0)), [], "too late");
}

#[test]
fn who_dialled_dials_again_at_once_and_the_other_one_after_its_turn() {
    let mut connecting = connected();
    assert_eq!(connecting.on_broken(at(100), peer(0, 0)), [dial(0, 0, 2)]);
    assert_eq!(connecting.on_broken(at(100), peer(2, 0)), []);
    assert_eq!(connecting.on_broken(at(101), peer(0, 0)), [], "it is known already");
    assert_eq!(connecting.next_time(), Some(at(1100)));
    assert_eq!(connecting.on_time(at(1099)), []);
    assert_eq!(connecting.on_time(at(1100)), [dial(2, 0, 3)]);
    assert_eq!(connecting.on_established(peer(0, 0)), []);
    assert_eq!(connecting.on_established(peer(2, 0)), []);
    assert_eq!((connecting.lacks_any(), connecting.next_time()), (false, None));
}

#[test]
fn a_turn_begins_anew_when_a_connection_came_and_broke_again() {
    let mut connecting = connected();
    assert_eq!(connecting.on_broken(at(0), peer(2, 0)), []);
    assert_eq!(connecting.on_established(peer(2, 0)), []);
    assert_eq!(connecting.on_broken(at(900), peer(2, 0)), []);
    assert_eq!(connecting.on_time(at(1000)), []);
    assert_eq!(connecting.on_time(at(1900)), [dial(2, 0, 2)]);
}

#[test]
fn a_node_that_was_stopped_blames_nobody_for_that_time() {
    let mut connecting = connected();
    assert_eq!(connecting.on_broken(at(0), peer(0, 0)), [dial(0, 0, 2)]);
    assert_eq!(connecting.on_failed(at(60_000), attempt(0, 0, 2), &nobody()), [], "stopped amid a dial");
    assert_eq!(connecting.on_time(at(90_000)), [dial(0, 0, 3)], "and between two");
    assert_eq!(connecting.on_failed(at(90_001), attempt(0, 0, 3), &nobody()), []);
    assert_eq!(connecting.on_time(at(90_021)), [dial(0, 0, 4)]);
    assert_eq!(
        connecting.on_failed(at(95_000), attempt(0, 0, 4), &nobody()),
        lost(0, &nobody()),
        "it was here for ten seconds"
    );
}

#[test]
fn patience_with_a_broken_connection_counts_from_the_first_dial() {
    for (other, first_dial) in [(0, at(0)), (2, TURN)] {
        let mut connecting = connected();
        connecting.on_broken(at(0), peer(other, 0));
        connecting.on_time(first_dial);
        assert_eq!(connecting.on_failed(first_dial + DIAL_DEADLINE, attempt(other, 0, 2), &nobody()), []);
        assert_eq!(connecting.on_time(first_dial + DIAL_DEADLINE + PAUSE), [dial(other, 0, 3)]);
        assert_eq!(connecting.on_failed(first_dial + PATIENCE, attempt(other, 0, 3), &nobody()), []);
        let again = first_dial + PATIENCE + PAUSE;
        assert_eq!(connecting.on_time(again), [dial(other, 0, 4)]);
        let lost = lost(other, &nobody());
        assert_eq!(connecting.on_failed(again, attempt(other, 0, 4), &nobody()), lost);
        assert_eq!(connecting.next_time(), None);
        assert_eq!(connecting.on_broken(again, peer(other, 0)), [], "it is said once");
    }
}

/// Whoever leads next has not heard of it.
#[test]
fn a_complaint_holds_until_the_other_is_reached_or_gone() {
    let given_up = || {
        let mut connecting = connected();
        let error = refused();
        connecting.on_broken(at(0), peer(0, 0));
        for number in 2..=10 {
            assert_eq!(connecting.complaints(), [], "it may be reached yet");
            connecting.on_failed(PAUSE * number, attempt(0, 0, number), &error);
            connecting.on_time(PAUSE * (number + 1));
        }
        let why = format!("the connection with node 0 is lost: {error}");
        assert_eq!(connecting.complaints(), [(0, why)]);
        connecting
    };
    let mut reached = given_up();
    reached.on_established(peer(0, 0));
    assert_eq!(reached.complaints(), []);
    let mut gone = given_up();
    gone.on_gone(|node| node == 0);
    assert_eq!(gone.complaints(), []);
    let mut replaced = given_up();
    replaced.on_new(at(20_000), [peer(0, 0)], true, |_| false);
    assert_eq!(replaced.complaints(), []);
}

#[test]
fn a_node_that_was_known_may_refuse_eight_times() {
    let mut connecting = connected();
    let error = refused();
    assert_eq!(connecting.on_broken(at(0), peer(0, 0)), [dial(0, 0, 2)]);
    for number in 2..10 {
        let now = PAUSE * (number - 2);
        assert_eq!(connecting.on_failed(now, attempt(0, 0, number), &error), []);
        assert_eq!(connecting.on_time(now + PAUSE), [dial(0, 0, number + 1)]);
    }
    assert_eq!(connecting.on_failed(PAUSE * 8, attempt(0, 0, 10), &error), lost(0, &error));
}

#[test]
fn an_attempt_that_was_overtaken_does_not_count() {
    let mut connecting = connected();
    assert_eq!(connecting.on_broken(at(0), peer(0, 0)), [dial(0, 0, 2)]);
    assert_eq!(connecting.on_established(peer(0, 0)), [], "the other one was faster");
    assert_eq!(connecting.on_failed(at(1), attempt(0, 0, 2), &nobody()), []);
    assert_eq!(connecting.next_time(), None);
    assert_eq!(connecting.on_broken(at(2), peer(0, 0)), [dial(0, 0, 3)]);
    assert_eq!(connecting.on_failed(at(60_000), attempt(0, 0, 2), &nobody()), []);
    assert_eq!(connecting.next_time(), None, "the new attempt is under way");
}

#[test]
fn a_node_that_is_gone_is_not_missed() {
    let mut connecting = connected();
    assert_eq!(connecting.on_broken(at(100), peer(0, 0)), [dial(0, 0, 2)]);
    connecting.on_gone(|node| node == 0);
    assert_eq!(connecting.on_failed(at(101), attempt(0, 0, 2), &nobody()), []);
    assert_eq!(connecting.on_broken(at(102), peer(0, 0)), []);
    assert_eq!(connecting.next_time(), None);
    assert_eq!(connecting.on_broken(at(103), peer(2, 0)), [], "the others are");
    assert!(connecting.next_time().is_some());
}

fn tried(inquiry: u32, missed: &[u32]) -> Action {
    Action::Tried { inquiry, missed: missed.to_vec() }
}

/// Of each pair that has a connection, one makes another.
#[test]
fn a_trial_is_over_when_all_connections_are_new() {
    let mut connecting = connected();
    assert_eq!(connecting.on_trial(at(10), 7, at(3000)), [dial(0, 0, 2)], "node 2 dials this one");
    assert_eq!(connecting.on_established(peer(2, 0)), []);
    assert_eq!(connecting.on_established(peer(0, 0)), [tried(7, &[])]);
    assert_eq!(connecting.next_time(), None);
    let mut first = node(0, Transport::Tcp, 1);
    first.on_book(at(0));
    [1, 2].into_iter().for_each(|node| drop(first.on_established(peer(node, 0))));
    assert_eq!(first.on_trial(at(10), 1, at(3000)), [tried(1, &[])]);
}

#[test]
fn a_trial_is_over_in_time() {
    let mut connecting = connected();
    assert_eq!(connecting.on_broken(at(0), peer(2, 0)), []);
    assert_eq!(connecting.on_trial(at(0), 7, at(500)), [dial(0, 0, 2)]);
    assert_eq!(connecting.next_time(), Some(at(500)));
    assert_eq!(connecting.on_time(at(499)), []);
    assert_eq!(connecting.on_time(at(500)), [tried(7, &[0, 2])]);
    assert_eq!(connecting.on_established(peer(0, 0)), []);
}

/// Nobody waits for what will not come.
#[test]
fn a_trial_misses_who_is_given_up_and_not_who_is_gone() {
    let mut connecting = connected();
    assert_eq!(connecting.on_broken(at(0), peer(0, 0)), [dial(0, 0, 2)]);
    for (number, now) in (2..).zip([4000, 8000]) {
        assert_eq!(connecting.on_failed(at(now), attempt(0, 0, number), &nobody()), []);
        assert_eq!(connecting.on_time(at(now + 20)), [dial(0, 0, number + 1)]);
    }
    let lost = connecting.on_failed(at(11_000), attempt(0, 0, 4), &nobody());
    assert!(matches!(lost[..], [Action::Lose(..)]), "{lost:?}");
    assert_eq!(connecting.on_trial(at(11_001), 1, at(500)), [tried(1, &[0])]);
    let mut connecting = connected();
    assert_eq!(connecting.on_trial(at(10), 2, at(3000)), [dial(0, 0, 2)]);
    assert_eq!(connecting.on_gone(|node| node == 0), [tried(2, &[])]);
    assert_eq!(connecting.on_trial(at(20), 3, at(3000)), [tried(3, &[])]);
}

/// How long that may take is another matter.
#[test]
fn a_trial_does_not_wait_for_first_connections() {
    let mut connecting = connected();
    connecting.on_established(peer(0, 0));
    let new = connecting.on_new(at(5), [peer(2, 0)], false, |_| false);
    assert_eq!(new, []);
    assert_eq!(connecting.on_trial(at(10), 4, at(3000)), [dial(0, 0, 2)]);
    assert_eq!(connecting.on_established(peer(0, 0)), [tried(4, &[])]);
}
