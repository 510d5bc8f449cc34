//! Jobs that log: a lost node gets another process, and the others are only asked.

use talisman_ft::double::Contents;
use talisman_ft::logging::{Holdings, LogId, Membership, Order, Position, Shape};

use super::*;
use crate::logging::fragments::{Joined, pieces_of};
use crate::logging::messages::{FromMember, Said, ToMember};
use crate::protocol::Stop;
use talisman_job::Results;
use talisman_job::checkpoints::FaultTolerance;

const SHAPE: Shape = Shape { nodes: 3, pes_per_node: 1 };

/// A job of three nodes that runs.
fn logging() -> Coordinator {
    let options = RunArgs { nodes: 3, pes: Some(1), ft: FaultTolerance::Logging, ..RunArgs::default() };
    started(Coordinator::new(Plan::local(&options, vec![]), Kills::new(&[], None)))
}

impl Coordinator {
    /// A node says something of its log; what nodes are told of theirs then, and what else is done.
    pub(super) fn tell(
        &mut self,
        now: u64,
        node: u32,
        word: &FromMember,
    ) -> (Vec<(u32, ToMember)>, Vec<Action>) {
        let pieces = pieces_of(word).unwrap().into_iter();
        words(pieces.flat_map(|piece| self.say(at(now), node, ToLauncher::Logging(piece))).collect())
    }
}

pub(super) fn words(actions: Vec<Action>) -> (Vec<(u32, ToMember)>, Vec<Action>) {
    let (mut told, mut others) = (Vec::new(), Vec::new());
    for action in actions {
        match action {
            // Who leads next is to know of them, too.
            Action::Send(_, ToNode::Losses { .. }) => {}
            Action::Send(node, ToNode::Logging(piece))
            | Action::SendWhenPrinted(node, ToNode::Logging(piece)) => {
                told.push((node, Joined::default().push(piece).unwrap().expect("it is short")));
            }
            other => others.push(other),
        }
    }
    (told, others)
}

pub(super) fn orders(told: &[(u32, ToMember)]) -> Vec<(u32, &'static str)> {
    let name = |word: &ToMember| match word {
        ToMember::Order { order: Order::Ask { .. }, .. } => "ask",
        ToMember::Order { order: Order::Announce { .. }, .. } => "announce",
        ToMember::Order { order: Order::Restore { .. }, .. } => "restore",
        ToMember::Order { order: Order::GoLive { .. }, .. } => "go live",
        ToMember::Order { .. } => "another",
        ToMember::Line { .. } => "line",
        ToMember::Write { .. } => "write",
        ToMember::AllWritten { .. } => "all written",
        ToMember::Printed { .. } => "printed",
        ToMember::Finish(_) => "finish",
        ToMember::Introduce => "introduce",
        ToMember::Expect(_) => "expect",
    };
    told.iter().map(|(node, word)| (*node, name(word))).collect()
}

/// The next line begins with all nodes.
fn line(version: u64) -> ToMember {
    ToMember::Line { version, membership: Membership::around(3) }
}

/// A node holds its part of the first cut.
fn holds_first() -> FromMember {
    FromMember::Holds { version: 1, session: 0, membership: 0, contents: Contents::default() }
}

/// A node has printed all that its program has said.
fn finished() -> FromMember {
    FromMember::Finished(Results::default())
}

/// What a survivor that has taken nothing says; it keeps what the node before it has.
pub(super) fn held(node: u32, session: u32) -> FromMember {
    let before = (node + 2) % 3;
    let present = Position { image: 1, ..Position::at_beginning(node, SHAPE) };
    let kept = vec![(before, Position::at_beginning(before, SHAPE))];
    FromMember::Held(session, Box::new(Holdings { kept, present, ..Holdings::default() }))
}

/// Node 1 is lost, and has come as far as it is told to restore what it had.
pub(super) fn restoring(coordinator: &mut Coordinator) {
    let (told, others) = words(coordinator.happen(at(10), 1, killed()));
    assert_eq!(orders(&told), [(0, "ask"), (2, "ask")]);
    assert!(matches!(&others[..], [Action::Warn(_), Action::Start(1)]), "{others:?}");
    let address = "127.0.0.1:9".parse().unwrap();
    let task = coordinator.say(at(20), 1, hello());
    assert!(matches!(&task[..], [Action::Send(1, ToNode::Task(task))] if task.life == 1), "{task:?}");
    coordinator.say(at(21), 1, ToLauncher::Ready(Some(address)));
    assert_eq!(coordinator.tell(22, 0, &held(0, 1)), (vec![], vec![]));
    assert_eq!(coordinator.tell(23, 2, &held(2, 1)), (vec![], vec![]));
    let (told, others) = words(coordinator.say(at(24), 1, ToLauncher::Linked));
    assert_eq!(
        (orders(&told), others),
        (vec![(0, "announce"), (2, "announce")], vec![Action::Send(1, ToNode::Go)])
    );
    let ToMember::Order { places, .. } = &told[0].1 else { panic!("{told:?}") };
    assert_eq!(
        places.iter().map(|place| (place.node, place.life)).collect::<Vec<_>>(),
        [(0, 0), (1, 1), (2, 0)]
    );
    assert_eq!(coordinator.tell(25, 0, &FromMember::Announced(1)).0, []);
    let (told, _) = coordinator.tell(26, 2, &FromMember::Announced(1));
    assert_eq!(orders(&told), [(1, "restore")]);
}

#[test]
fn a_lost_node_is_restored_while_the_others_run() {
    let mut coordinator = logging();
    restoring(&mut coordinator);
    assert_eq!(coordinator.tell(27, 1, &FromMember::AtHorizon(1)).0, []);
    let (told, others) = coordinator.tell(30, 0, &FromMember::Covered(1));
    assert_eq!(orders(&told), [(1, "go live")]);
    let [Action::Say(line)] = &others[..] else { panic!("{others:?}") };
    assert_eq!(line, "it goes on in a new process 20 ms after the loss of node 1; nobody else went back");
    let failures = coordinator.into_end().failures;
    assert_eq!(failures.len(), 1);
    assert!(failures[0].replaced && failures[0].recover_s == Some(0.02), "{failures:?}");
}

#[test]
fn a_process_that_was_told_to_restore_is_ended_when_another_node_is_lost() {
    let mut coordinator = logging();
    restoring(&mut coordinator);
    let (told, others) = words(coordinator.happen(at(30), 0, killed()));
    assert_eq!(orders(&told), [(2, "ask")]);
    let wanted = [Action::Start(0), Action::Kill(1)];
    assert_eq!(others[1..], wanted, "{others:?}");
    let (told, others) = words(coordinator.happen(at(31), 1, killed()));
    assert_eq!((told, others), (vec![], vec![Action::Start(1)]), "that was no loss");
}

#[test]
fn lines_are_printed_once_and_the_job_ends_when_all_have_said_what_they_had_to() {
    let mut coordinator = logging();
    let line = |number| FromMember::Said { rank: 0, number, said: Said::Line("a line".into()) };
    let print = |number| Action::Print { node: 2, piece: Some((0, 2, number)), lines: vec!["a line".into()] };
    for (number, printed, news) in [(0, 1, true), (0, 1, false), (1, 2, true)] {
        let (told, others) = coordinator.tell(10, 2, &line(number));
        let word = ToMember::Printed { line: 0, log: LogId { node: 2, rank: 0 }, before: printed };
        assert_eq!(told, [(0, word.clone()), (2, word)], "its keeper too");
        assert_eq!(others, if news { vec![print(number as u32)] } else { vec![] });
    }
    let end = FromMember::Said { rank: 0, number: 0, said: Said::End(Stop::default()) };
    let (told, _) = coordinator.tell(20, 0, &end);
    let finish = [(0, "finish"), (1, "finish"), (2, "finish")];
    assert_eq!(orders(&told), [&finish[..], &[(1, "printed"), (0, "printed")]].concat());
    assert_eq!(coordinator.tell(21, 0, &finished()).1, []);
    assert_eq!(coordinator.tell(22, 1, &finished()).1, []);
    let (_, others) = coordinator.tell(23, 2, &finished());
    assert_eq!(others, to_all(3, &ToNode::Stop(Stop::default())));
    // Nobody leaves before all know that the job is over.
    for node in [0, 1] {
        assert_eq!(coordinator.say(at(24), node, ToLauncher::Done(Box::default())), []);
    }
    let settle = coordinator.say(at(25), 2, ToLauncher::Done(Box::default()));
    assert_eq!(settle, to_all(3, &ToNode::Settle(Results::default())));
    for node in [0, 1] {
        assert_eq!(coordinator.say(at(26), node, ToLauncher::Settled), []);
    }
    assert_eq!(coordinator.say(at(27), 2, ToLauncher::Settled), to_all(3, &ToNode::Leave));
}

/// Between the last line that is printed and the last node that leaves.
#[test]
fn a_node_that_is_lost_when_the_job_has_come_to_its_end_is_not_missed() {
    let mut coordinator = logging();
    let end = FromMember::Said { rank: 0, number: 0, said: Said::End(Stop::default()) };
    coordinator.tell(20, 0, &end);
    let mut results = Results::default();
    results.set("energy", 1.5_f64);
    assert_eq!(coordinator.tell(21, 0, &finished()).1, []);
    assert_eq!(coordinator.tell(22, 1, &FromMember::Finished(results.clone())).1, []);
    assert_eq!(coordinator.tell(23, 2, &finished()).1, to_all(3, &ToNode::Stop(Stop::default())));
    assert_eq!(coordinator.say(at(24), 0, ToLauncher::Done(Box::default())), []);
    let said = coordinator.happen(at(25), 1, killed());
    assert!(matches!(&said[..], [Action::Warn(line)] if line.contains("nothing is missing")), "{said:?}");
    let settle = coordinator.say(at(26), 2, ToLauncher::Done(Box::default()));
    let settle_those = [0, 2].map(|node| Action::Send(node, ToNode::Settle(results.clone())));
    assert_eq!(settle, settle_those);
    assert_eq!(coordinator.say(at(27), 0, ToLauncher::Settled), []);
    let leave = [0, 2].map(|node| Action::Send(node, ToNode::Leave));
    assert_eq!(coordinator.say(at(28), 2, ToLauncher::Settled), leave);
}

#[test]
fn a_failure_ends_the_job_though_somebody_does_not_say_all() {
    let mut coordinator = logging();
    let stop = Stop { status: 1, message: Some("why".into()) };
    coordinator.tell(100, 0, &FromMember::Said { rank: 0, number: 0, said: Said::End(stop.clone()) });
    let done = coordinator.wait(100, 2000);
    let stopped = done.iter().find(|(_, action)| *action == Action::Send(0, ToNode::Stop(stop.clone())));
    assert!(stopped.is_some_and(|(at, _)| (1550..1700).contains(at)), "{done:?}");
}

#[test]
fn the_next_line_begins_when_all_hold_their_parts_and_nobody_is_lost() {
    let mut coordinator = logging();
    let holds = |version, session| {
        let contents = Contents::default();
        FromMember::Holds { version, session, membership: 0, contents }
    };
    assert_eq!(coordinator.tell(5, 0, &holds(1, 0)).0, []);
    assert_eq!(coordinator.tell(6, 1, &holds(1, 0)).0, []);
    // Node 1 is lost, and what it had held with it: before the last one has said that it holds its part.
    restoring(&mut coordinator);
    assert_eq!(coordinator.tell(27, 2, &holds(1, 0)).0, [], "it had not heard of the loss");
    for node in [0, 2] {
        assert_eq!(coordinator.tell(28, node, &holds(1, 1)).0, []);
    }
    assert_eq!(coordinator.tell(29, 1, &FromMember::AtHorizon(1)).0, []);
    let (told, _) = coordinator.tell(30, 0, &FromMember::Covered(1));
    assert_eq!(orders(&told), [(1, "go live")]);
    let (told, _) = coordinator.tell(31, 1, &holds(1, 1));
    assert_eq!(told, [0, 1, 2].map(|node| (node, line(1))));
    // Who is lost from then on goes back to it.
    let (told, _) = words(coordinator.happen(at(40), 2, killed()));
    let ToMember::Order { line, .. } = &told[0].1 else { panic!("{told:?}") };
    assert_eq!((*line, orders(&told)), (1, vec![(0, "ask"), (1, "ask")]));
}

#[test]
fn whoever_asks_for_a_checkpoint_is_answered_when_the_line_begins() {
    use talisman_job::asking::Request;
    let mut coordinator = logging();
    coordinator.on_request(at(5), 7, Request::Checkpoint);
    let asked = coordinator.take_actions();
    let ask = ToNode::Checkpoint { on_disk: true, leaving: Vec::new() };
    assert_eq!(asked, [Action::Send(0, ask)]);
    coordinator.on_request(at(6), 8, Request::Grow(None));
    let refused = coordinator.take_actions();
    assert!(
        matches!(&refused[..], [Action::Answer(8, Err(why))] if why.contains("all nodes of the job are there")),
        "{refused:?}"
    );
    let mut all = Vec::new();
    for node in 0..3 {
        all = coordinator.tell(10, node, &holds_first()).1;
    }
    assert!(
        matches!(&all[..], [Action::Answer(7, Ok(text))] if text.contains("checkpoint 1 is taken")),
        "{all:?}"
    );
}

fn holds_among(membership: u32, version: u64) -> FromMember {
    FromMember::Holds { version, session: 0, membership, contents: Contents::default() }
}

/// A node holds its part of the first cut, after so many recoveries.
pub(super) fn holds_after(session: u32, membership: u32) -> FromMember {
    FromMember::Holds { version: 1, session, membership, contents: Contents::default() }
}

/// Node 1 is asked to be released: what is said and done at once.
fn releasing(coordinator: &mut Coordinator) -> Membership {
    use talisman_job::asking::Request;
    let next = Membership::around(3).releasing(1, &[1], |node| node).expect("two stay");
    coordinator.on_request(at(5), 7, Request::Shrink(vec![1]));
    let (told, others) = words(coordinator.take_actions());
    assert_eq!(told, [0, 1, 2].map(|node| (node, ToMember::Expect(next.clone()))));
    let ask = ToNode::Checkpoint { on_disk: false, leaving: vec![1] };
    assert_eq!(others, [Action::Send(0, ask)]);
    next
}

#[test]
fn a_node_is_released_when_those_hold_all_that_stay() {
    use talisman_job::asking::Request;
    let mut coordinator = logging();
    let next = releasing(&mut coordinator);
    coordinator.on_request(at(6), 8, Request::Shrink(vec![2]));
    let refused = coordinator.take_actions();
    assert!(matches!(&refused[..], [Action::Answer(8, Err(why))] if why.contains("already")), "{refused:?}");
    assert_eq!(coordinator.tell(6, 2, &holds_first()).0, [], "it had not heard of that");
    assert_eq!(coordinator.tell(7, 0, &holds_among(1, 1)).0, []);
    let (told, others) = coordinator.tell(8, 2, &holds_among(1, 1));
    let line = ToMember::Line { version: 1, membership: next.clone() };
    assert_eq!(told, [(0, line.clone()), (2, line)]);
    assert!(others.contains(&Action::Send(1, ToNode::Leave)), "{others:?}");
    assert!(others.contains(&Action::Answer(7, Ok("the job goes on without node 1".into()))), "{others:?}");
    assert_eq!(coordinator.happen(at(9), 1, killed()), [], "nobody misses it");
    // Whoever comes later is told who is there.
    let lost = coordinator.happen(at(10), 2, killed());
    assert_eq!(orders(&words(lost).0), [(0, "ask")]);
    coordinator.on_request(at(11), 9, Request::Shrink(vec![0]));
    let refused = coordinator.take_actions();
    assert!(matches!(&refused[..], [Action::Answer(9, Err(_))]), "{refused:?}");
}

#[test]
fn who_goes_back_is_told_again_who_is_to_be_there() {
    let mut coordinator = logging();
    coordinator.on_request(at(5), 7, talisman_job::asking::Request::Shrink(vec![2]));
    _ = coordinator.take_actions();
    restoring(&mut coordinator);
    assert_eq!(coordinator.tell(29, 1, &FromMember::AtHorizon(1)).0, []);
    let (told, others) = coordinator.tell(30, 0, &FromMember::Covered(1));
    assert_eq!(orders(&told), [(1, "go live"), (1, "expect")]);
    let ask = ToNode::Checkpoint { on_disk: false, leaving: vec![2] };
    assert!(others.contains(&Action::Send(0, ask)), "{others:?}");
}

#[test]
fn a_node_stays_if_the_cut_does_not_come_in_time() {
    let mut coordinator = logging();
    _ = releasing(&mut coordinator);
    assert_eq!(coordinator.tell(7, 0, &holds_among(1, 1)).0, []);
    let later = coordinator.wait(60_000, 62_000);
    let refused =
        |(_, action): &(u64, Action)| matches!(action, Action::Answer(7, Err(why)) if why.contains("60s"));
    assert!(later.iter().any(refused), "{later:?}");
    assert_eq!(coordinator.tell(62_001, 2, &holds_among(1, 1)).0, [], "that was taken back");
    for node in 0..2 {
        assert_eq!(coordinator.tell(62_002, node, &holds_among(2, 1)).0, []);
    }
    let (told, _) = coordinator.tell(62_003, 2, &holds_among(2, 1));
    let line = ToMember::Line { version: 1, membership: Membership::around(3).again(2) };
    assert_eq!(told, [0, 1, 2].map(|node| (node, line.clone())));
}

/// A job of two nodes that runs, and may have a third one.
fn beginning_with_two() -> Coordinator {
    let ft = FaultTolerance::Logging;
    let options = RunArgs { nodes: 2, max_nodes: Some(3), pes: Some(1), ft, ..RunArgs::default() };
    started(Coordinator::new(Plan::local(&options, vec![]), Kills::new(&[], None)))
}

/// Node 2 is to be added, and its process has come: who is to be there then.
fn adding(coordinator: &mut Coordinator) -> Membership {
    use talisman_ft::logging::Keepers;
    use talisman_ft::view::View;
    coordinator.on_request(at(5), 7, talisman_job::asking::Request::Grow(None));
    assert_eq!(coordinator.take_actions(), [Action::Start(2)]);
    coordinator.say(at(6), 2, hello());
    coordinator.say(at(7), 2, ToLauncher::Ready(Some("127.0.0.1:9".parse().unwrap())));
    let (told, others) = words(coordinator.say(at(8), 2, ToLauncher::Linked));
    let two = Membership::first(View::beginning_with(2, 3), Keepers::named(vec![1, 0, 2]));
    let next = two.gaining(1, &[2], |_| 0);
    assert_eq!(told, [0, 1].map(|node| (node, ToMember::Expect(next.clone()))));
    let ask = ToNode::Checkpoint { on_disk: false, leaving: vec![] };
    assert_eq!(others, [Action::Send(0, ask)]);
    next
}

#[test]
fn a_node_is_added_when_those_hold_all_that_were_there() {
    use talisman_job::asking::Request;
    let mut coordinator = beginning_with_two();
    let next = adding(&mut coordinator);
    for request in [Request::Grow(None), Request::Shrink(vec![1])] {
        coordinator.on_request(at(9), 8, request);
        let refused = coordinator.take_actions();
        assert!(
            matches!(&refused[..], [Action::Answer(8, Err(why))] if why.contains("being added")),
            "{refused:?}"
        );
    }
    assert_eq!(coordinator.tell(10, 0, &holds_among(1, 1)).0, []);
    let (told, others) = coordinator.tell(11, 1, &holds_among(1, 1));
    let line = ToMember::Line { version: 1, membership: next };
    assert_eq!(told[..3], [0, 1, 2].map(|node| (node, line.clone())));
    assert_eq!(orders(&told[3..]), [(0, "ask"), (1, "ask")]);
    assert_eq!(
        others,
        [super::surviving::say("node 2 is added; nobody goes back"), Action::Send(2, ToNode::Go)]
    );
    let of_line = |node| {
        let present = Position { image: 1, ..Position::at_beginning(node, SHAPE) };
        let kept = vec![(1 - node, Position::at_beginning(1 - node, SHAPE))];
        FromMember::Held(1, Box::new(Holdings { kept, present, makes: vec![2], ..Holdings::default() }))
    };
    assert_eq!(coordinator.tell(12, 0, &of_line(0)).0, []);
    let (told, _) = coordinator.tell(13, 1, &of_line(1));
    assert_eq!(orders(&told), [(0, "announce"), (1, "announce")]);
    assert_eq!(coordinator.tell(14, 0, &FromMember::Announced(1)).0, []);
    let (told, _) = coordinator.tell(15, 1, &FromMember::Announced(1));
    assert_eq!(orders(&told), [(2, "restore")]);
    assert_eq!(coordinator.tell(16, 2, &FromMember::AtHorizon(1)).0, []);
    let (told, others) = coordinator.tell(17, 2, &FromMember::Covered(1));
    assert_eq!(orders(&told)[0], (2, "go live"));
    let text = "the job goes on with node 2; without --balancer, no objects will move there";
    assert_eq!(others, [Action::Answer(7, Ok(text.into()))]);
    assert_eq!(coordinator.into_end().failures, []);
}

#[test]
fn one_that_ends_before_the_line_begins_with_it_is_no_loss() {
    let mut coordinator = beginning_with_two();
    let next = adding(&mut coordinator);
    assert_eq!(coordinator.tell(10, 0, &holds_among(1, 1)).0, []);
    let (told, others) = words(coordinator.happen(at(11), 2, killed()));
    let again = ToMember::Expect(beginning_with_two().logging.unwrap().membership().again(2));
    assert_eq!(told, [0, 1].map(|node| (node, again.clone())));
    assert!(
        matches!(&others[..], [Action::Answer(7, Err(why))] if why.contains("node 2 did not join")),
        "{others:?}"
    );
    assert_eq!(coordinator.tell(12, 1, &holds_among(1, 1)).0, [], "that was taken back");
    assert!(next.view.is_there(2) && !coordinator.is_ending());
    assert_eq!(coordinator.into_end().failures, []);
}

#[test]
fn one_that_comes_is_ended_if_the_cut_does_not_come_in_time() {
    let mut coordinator = beginning_with_two();
    _ = adding(&mut coordinator);
    for now in (0..60).map(|now| 1000 * now) {
        // It is not silent.
        (0..3).for_each(|node| _ = coordinator.say(at(now), node, ToLauncher::Alive));
        coordinator.wait(now, now + 1000);
    }
    (0..3).for_each(|node| _ = coordinator.say(at(60_000), node, ToLauncher::Alive));
    let later = coordinator.wait(60_000, 62_000);
    let refused =
        |(_, action): &(u64, Action)| matches!(action, Action::Answer(7, Err(why)) if why.contains("60s"));
    assert!(later.iter().any(refused), "{later:?}");
    assert!(later.iter().any(|(_, action)| *action == Action::Kill(2)), "nobody is left over: {later:?}");
    assert_eq!(coordinator.happen(at(62_001), 2, killed()), [], "that is no loss");
    assert_eq!(coordinator.into_end().failures, []);
}

/// It may not have begun when all had frozen for a checkpoint, or when the first node was lost.
#[test]
fn a_balancing_step_is_asked_for_again_in_the_next_line_and_after_a_loss() {
    use talisman_job::asking::Request;
    const ASK: Action = Action::Send(0, ToNode::Balance);
    let mut coordinator = logging();
    coordinator.on_request(at(5), 7, Request::Balance);
    assert_eq!(coordinator.take_actions(), [ASK]);
    let mut all = Vec::new();
    for node in 0..3 {
        all = coordinator.tell(6, node, &holds_first()).1;
    }
    assert_eq!(all, [ASK]);
    restoring(&mut coordinator);
    assert_eq!(coordinator.say(at(28), 0, ToLauncher::Balanced { asked: 1, step: Ok("done".into()) }), []);
    assert_eq!(coordinator.tell(29, 1, &FromMember::AtHorizon(1)).0, []);
    let (_, others) = coordinator.tell(30, 0, &FromMember::Covered(1));
    assert!(others.contains(&ASK), "{others:?}");
    let answered = coordinator.say(at(31), 0, ToLauncher::Balanced { asked: 1, step: Ok("done".into()) });
    assert_eq!(answered, [Action::Answer(7, Ok("done".into()))]);
}

#[test]
fn a_process_that_exits_by_itself_ends_the_job() {
    let mut coordinator = logging();
    coordinator.happen(at(10), 1, Event::Ended(How::Exited(0)));
    let (status, why) = end(coordinator);
    assert_eq!(status, 3);
    assert!(why.contains("ended by itself with status 0"), "{why}");
}

#[test]
fn a_node_whose_processes_are_lost_one_after_another_ends_the_job() {
    let mut coordinator = logging();
    coordinator.happen(at(10), 1, killed());
    for _ in 0..2 {
        coordinator.happen(at(20), 1, Event::NotStarted("no memory".into()));
        assert!(!coordinator.is_ending());
    }
    coordinator.happen(at(20), 1, Event::NotStarted("no memory".into()));
    let (status, why) = end(coordinator);
    assert_eq!(status, 3);
    assert!(why.contains("node 1 cannot be replaced") && why.contains("no memory"), "{why}");
}
