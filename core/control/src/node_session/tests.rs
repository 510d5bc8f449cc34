//! What a node does about its launcher, as exact lists of actions.

use talisman_ft::view::View;

use super::*;
use crate::heartbeat::TICK;
use crate::heritage::Heritage;
use crate::plan::Plan;
use talisman_base::auth::Secret;
use talisman_job::RunArgs;

fn task() -> Task {
    let options = RunArgs { pes: Some(1), silence: TICK * 2, ..RunArgs::default() };
    Plan { build: 5, ..Plan::known(1, Secret::from_bytes([2; 32]), vec![vec![0], vec![1]], &options) }.task(1)
}

fn told(task: Task) -> ToNode {
    ToNode::Task(Box::new(task))
}

fn joined() -> NodeSession {
    let mut node_session = NodeSession::new(5);
    assert_eq!(node_session.on_message(told(task())), Some(Action::Join(Arc::new(task()))));
    node_session
}

fn begun() -> NodeSession {
    let mut node_session = joined();
    assert_eq!(node_session.on_message(ToNode::Go), Some(Action::Begin));
    node_session
}

fn stop() -> Stop {
    Stop { status: 1, message: Some("why".into()) }
}

#[test]
fn a_job_from_its_start_to_its_end() {
    let mut node_session = joined();
    let book = vec![None, Some("127.0.0.1:7".parse().unwrap())];
    assert_eq!(node_session.on_message(ToNode::Book(book.clone())), Some(Action::Connect(book)));
    assert_eq!(node_session.on_message(ToNode::Ping), None);
    assert_eq!(node_session.on_message(ToNode::Go), Some(Action::Begin));
    assert_eq!(node_session.on_message(ToNode::StepSeen(4)), Some(Action::StepSeen(4)));
    assert_eq!(node_session.on_message(ToNode::Stop(stop())), Some(Action::Stop(stop())));
    assert_eq!(node_session.on_end(), Action::Die);
}

#[test]
fn who_can_do_without_its_launcher_looks_for_another_once_the_program_runs() {
    let heritage = Heritage {
        streams: [7, 8],
        spool: None,
        doors: 12,
        pipes: [9, 10],
        launcher: 4242,
        pledge: Some(11),
    };
    let task = Task { heritage: Some(heritage), ..task() };
    let mut node_session = NodeSession::new(5);
    node_session.on_message(told(task));
    assert_eq!(node_session.on_end(), Action::Die, "there is nothing to save yet");
    node_session.on_message(ToNode::Go);
    let begun = node_session.follower(4711).expect("it has joined");
    assert_eq!((begun.node, begun.pid, begun.epoch, begun.next_version), (1, 4711, 0, 1));
    assert_eq!(begun.view, View::whole(2));
    for _ in 0..2 {
        node_session.on_tick();
    }
    assert_eq!(node_session.on_tick(), [Action::Fence], "a launcher that says nothing is made to be gone");
    assert_eq!(node_session.on_end(), Action::Seek);
    node_session.on_successor();
    assert_eq!(node_session.on_tick(), [Action::Say(ToLauncher::Alive)]);
    let view = View::whole(2).after(3, 2, |_| true, |node| node);
    let order = Order { restore: vec![1], failures: 2, ..Order::new(view.clone(), Some(4), 6) };
    node_session.on_message(ToNode::Halt { epoch: 3, lost: vec![] });
    node_session.on_message(ToNode::Places(vec![Place { node: 0, life: 3, address: None, host: 0 }]));
    node_session.on_message(ToNode::Resume(Box::new(order)));
    let again = node_session.follower(4711).expect("it has joined");
    assert_eq!((again.epoch, again.view, again.next_version, again.failures), (3, view, 6, 2));
    assert_eq!((again.life, again.lives), (0, 3));
}

#[test]
fn who_is_told_to_introduces_itself_once_the_program_runs() {
    let mut node_session = NodeSession::new(5);
    node_session.on_message(told(task()));
    assert_eq!(node_session.on_message(ToNode::Introduce), None);
    node_session.on_message(ToNode::Go);
    assert_eq!(node_session.on_message(ToNode::Introduce), Some(Action::Introduce));
    assert_eq!(node_session.on_end(), Action::Die, "it is its host's agent that outlives the launcher");
}

#[test]
fn whatever_is_said_twice_is_done_once() {
    let mut node_session = begun();
    assert_eq!(node_session.on_message(told(task())), None);
    assert_eq!(node_session.on_message(ToNode::Go), None);
    assert_eq!(node_session.on_message(ToNode::Book(vec![])), Some(Action::Connect(vec![])));
    assert_eq!(node_session.on_message(ToNode::Book(vec![])), None);
}

#[test]
fn only_the_same_version_and_build_is_served() {
    let refuses = |message| NodeSession::new(5).on_message(message);
    let refused = |unfit| Some(Action::Refuse(unfit));
    assert_eq!(refuses(told(Task { build: 6, ..task() })), refused(Unfit::Build));
    let other = Task { version: VERSION + 1, build: 6, ..task() };
    assert_eq!(refuses(told(other)), refused(Unfit::Version { theirs: VERSION + 1 }));
    for early in [ToNode::Go, ToNode::Book(vec![]), ToNode::StepSeen(1)] {
        assert_eq!(refuses(early), refused(Unfit::NoTask));
    }
}

#[test]
fn before_its_task_a_process_only_waits() {
    let mut node_session = NodeSession::new(5);
    let of_another = ToNode::LinesSeen { version: 1, node: 1, piece: 0 };
    assert_eq!(node_session.on_message(of_another), None, "it was for the process before");
    assert_eq!(node_session.on_message(ToNode::Ping), None);
    assert_eq!((0..9).flat_map(|_| node_session.on_tick()).next(), None);
    assert_eq!(node_session.on_message(ToNode::Stop(stop())), Some(Action::Exit));
    assert_eq!(node_session.on_end(), Action::Refuse(Unfit::NoLauncher));
}

#[test]
fn a_job_that_ends_before_the_program_began_ends_the_process() {
    assert_eq!(joined().on_message(ToNode::Stop(stop())), Some(Action::Exit));
}

#[test]
fn silence_of_the_launcher_is_said_once() {
    let mut node_session = joined();
    let alive = || Action::Say(ToLauncher::Alive);
    let ticks = |node_session: &mut NodeSession| (0..3).map(|_| node_session.on_tick()).collect::<Vec<_>>();
    let why = "heard nothing of the launcher for 500ms (was it stopped? see --silence)";
    assert_eq!(
        ticks(&mut node_session),
        [vec![alive()], vec![alive()], vec![alive(), Action::Fail(why.to_owned())]]
    );
    assert_eq!(ticks(&mut node_session), [vec![alive()], vec![alive()], vec![alive()]]);
}

#[test]
fn every_word_of_the_launcher_counts_against_silence() {
    for word in [ToNode::Ping, ToNode::StepSeen(1), ToNode::Go, ToNode::Book(vec![])] {
        let mut node_session = begun();
        let mut said = Vec::new();
        for _ in 0..20 {
            said.extend([node_session.on_tick(), node_session.on_tick()].concat());
            node_session.on_message(word.clone());
        }
        assert_eq!(said, vec![Action::Say(ToLauncher::Alive); 40], "{word:?}");
    }
}

#[test]
fn steps_are_shown_when_they_have_changed() {
    let mut node_session = begun();
    let steps = |done| Steps { done, total: Some(9) };
    let shown = |done| Some(Action::Say(ToLauncher::Step(steps(done))));
    assert_eq!(node_session.on_look(Steps::default()), None);
    assert_eq!(node_session.on_look(steps(1)), shown(1));
    assert_eq!(node_session.on_look(steps(1)), None);
    assert_eq!(node_session.on_look(steps(3)), shown(3));
}

#[test]
fn what_cannot_be_read_ends_the_process_with_a_reason() {
    let why = "the launcher cannot be understood: odd".to_owned();
    assert_eq!(joined().on_garbled(&"odd"), Action::Fail(why));
    assert_eq!(joined().on_terminated(), Action::Say(ToLauncher::Terminated));
}

fn order(epoch: Epoch) -> Box<Order> {
    let view = View::whole(2).after(epoch, 2, |node| node == 1, |_| 1);
    Box::new(Order::new(view, None, 1))
}

#[test]
fn a_node_halts_once_for_each_epoch_and_resumes_with_its_order_only() {
    let mut node_session = begun();
    let halt = |epoch| ToNode::Halt { epoch, lost: vec![0] };
    let halts = |epoch| Some(Action::Halt { epoch, lost: vec![0] });
    assert_eq!(node_session.on_message(ToNode::Resume(order(0))), None, "it has not halted");
    assert_eq!(node_session.on_message(halt(1)), halts(1));
    assert_eq!(node_session.on_message(halt(1)), None);
    assert_eq!(node_session.on_message(halt(3)), halts(3));
    assert_eq!(node_session.on_message(halt(2)), None);
    assert_eq!(node_session.on_message(ToNode::Resume(order(1))), None);
    assert_eq!(node_session.on_message(ToNode::Resume(order(3))), Some(Action::Resume(order(3))));
    assert_eq!(node_session.on_message(ToNode::Resume(order(3))), None);
    assert_eq!(node_session.on_message(halt(4)), halts(4));
    assert_eq!(node_session.on_message(ToNode::Stop(stop())), Some(Action::Stop(stop())));
    let settle = ToNode::Settle(Results::default());
    assert_eq!(node_session.on_message(settle), Some(Action::Say(ToLauncher::Settled)));
    assert_eq!(node_session.follower(4711).and_then(|follower| follower.settled), Some(Results::default()));
    assert_eq!(node_session.on_message(ToNode::Leave), Some(Action::Leave));
}

#[test]
fn nobody_halts_before_the_program_has_begun() {
    assert_eq!(joined().on_message(ToNode::Halt { epoch: 1, lost: vec![0] }), None);
}

#[test]
fn what_is_told_of_losses_later_replaces_what_was_told_of_the_same() {
    let mut node_session = begun();
    let loss = |what: &str| Failure { what: what.into(), ..Failure::default() };
    let mut told = |from, losses: &[&str]| {
        let losses = losses.iter().map(|what| loss(what)).collect();
        assert_eq!(node_session.on_message(ToNode::Losses { from, losses }), None);
        let losses = node_session.follower(1).expect("it has joined").losses;
        losses.into_iter().map(|loss| loss.what).collect::<Vec<_>>()
    };
    assert_eq!(told(0, &["a", "b?"]), ["a", "b?"]);
    assert_eq!(told(1, &["b", "c?"]), ["a", "b", "c?"]);
    assert_eq!(told(0, &["a"]), ["a"]);
}
