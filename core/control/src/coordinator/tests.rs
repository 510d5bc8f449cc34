//! The launcher's decisions, as exact lists of actions.

use super::*;
use crate::outcome::{Ended, merge};
use talisman_job::RunArgs;
use talisman_job::lines::Lines;

mod arriving;
mod growing;
mod layouts;
mod leading_on;
mod logging;
mod requests;
mod spreading;
mod surviving;
mod taking_over;

fn coordinator(nodes: u32, kills: &str) -> Coordinator {
    with_silence(nodes, kills, TICK * 40)
}

fn with_silence(nodes: u32, kills: &str, silence: Duration) -> Coordinator {
    let kill: Vec<_> = kills.split_whitespace().map(|kill| kill.parse().unwrap()).collect();
    let options = RunArgs { nodes, pes: Some(1), silence, ..RunArgs::default() };
    let kills = Kills::new(&kill, None);
    Coordinator::new(Plan::local(&options, kills.watched()), kills)
}

const START: Duration = Duration::ZERO;

fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

impl Coordinator {
    fn say(&mut self, now: Duration, node: u32, message: ToLauncher) -> Vec<Action> {
        self.happen(now, node, Event::Said(message))
    }

    fn happen(&mut self, now: Duration, node: u32, event: Event) -> Vec<Action> {
        self.on_event(now, node, event, || false);
        self.decided()
    }

    /// What is to be done, but for what nodes are told of losses: that has tests of its own.
    fn decided(&mut self) -> Vec<Action> {
        let is_of_losses = |action: &Action| matches!(action, Action::Send(_, ToNode::Losses { .. }));
        self.take_actions().into_iter().filter(|action| !is_of_losses(action)).collect()
    }

    /// All nodes say this, one after the other; what the last one sets off.
    fn all_say(&mut self, message: &ToLauncher) -> Vec<Action> {
        let nodes = self.roster.living();
        nodes.into_iter().map(|node| self.say(START, node, message.clone())).last().unwrap()
    }

    /// Lets the time pass until then, looking every 50 ms.
    fn wait(&mut self, from: u64, to: u64) -> Vec<(u64, Action)> {
        let mut done = Vec::new();
        for now in (from..to).step_by(50) {
            self.on_time(at(now));
            done.extend(self.decided().into_iter().map(|action| (now, action)));
        }
        done
    }
}

fn hello() -> ToLauncher {
    ToLauncher::Hello { version: VERSION, pid: 7, layout: None }
}

fn running(nodes: u32, kills: &str) -> Coordinator {
    started(coordinator(nodes, kills))
}

fn started(mut coordinator: Coordinator) -> Coordinator {
    for message in [hello(), ToLauncher::Ready(None), ToLauncher::Linked] {
        coordinator.all_say(&message);
    }
    coordinator
}

fn to_all(nodes: u32, message: &ToNode) -> Vec<Action> {
    (0..nodes).map(|node| Action::Send(node, message.clone())).collect()
}

fn killed() -> Event {
    Event::Ended(How::Signalled(9))
}

fn end(coordinator: Coordinator) -> (i32, String) {
    let stop = coordinator.into_end().stop;
    (stop.status, stop.message.unwrap_or_default())
}

#[test]
fn nodes_are_brought_together_step_by_step() {
    let mut coordinator = coordinator(2, "");
    let task = |node| vec![Action::Send(node, ToNode::Task(Box::new(coordinator.plan.task(node))))];
    let tasks = [task(0), task(1)];
    assert_eq!([coordinator.say(START, 0, hello()), coordinator.say(START, 1, hello())], tasks);
    let addresses = ["127.0.0.1:1", "127.0.0.1:2"].map(|address| Some(address.parse().unwrap()));
    assert_eq!(coordinator.say(START, 1, ToLauncher::Ready(addresses[1])), []);
    let book = to_all(2, &ToNode::Book(addresses.to_vec()));
    assert_eq!(coordinator.say(START, 0, ToLauncher::Ready(addresses[0])), book);
    assert_eq!(coordinator.say(START, 0, ToLauncher::Linked), []);
    assert_eq!(coordinator.say(START, 1, ToLauncher::Linked), to_all(2, &ToNode::Go));
}

#[test]
fn another_version_is_not_given_the_secret() {
    let mut coordinator = coordinator(1, "");
    let actions = coordinator.say(START, 0, ToLauncher::Hello { version: VERSION + 1, pid: 7, layout: None });
    assert!(matches!(&actions[..], [Action::Send(0, ToNode::Stop(_))]), "{actions:?}");
    assert!(end(coordinator).1.contains("run one build"));
}

#[test]
fn an_end_in_order_waits_for_the_reports_without_hurry() {
    let mut coordinator = running(2, "");
    let stop = Stop::default();
    assert_eq!(coordinator.say(at(1), 0, ToLauncher::Ended(stop.clone())), to_all(2, &ToNode::Stop(stop)));
    for second in 0..100 {
        assert!(coordinator.say(at(second * 100), 1, ToLauncher::Alive).is_empty());
        coordinator.say(at(second * 100), 0, ToLauncher::Alive);
        let actions = coordinator.wait(second * 100, second * 100 + 100);
        assert!(
            actions.iter().all(|(_, action)| matches!(action, Action::Send(_, ToNode::Ping))),
            "{actions:?}"
        );
    }
    for node in 0..2 {
        assert!(!coordinator.is_over());
        coordinator.say(at(10_000), node, ToLauncher::Done(Box::default()));
        coordinator.happen(at(10_000), node, Event::Ended(How::Exited(0)));
    }
    assert!(coordinator.is_over());
    assert_eq!(end(coordinator), (0, String::new()));
}

#[test]
fn a_loss_stops_the_others_and_kills_who_does_not() {
    let mut coordinator = running(3, "");
    let actions = coordinator.happen(at(100), 1, killed());
    assert!(matches!(actions[..], [Action::Send(0, ToNode::Stop(_)), Action::Send(2, ToNode::Stop(_))]));
    coordinator.happen(at(150), 2, Event::Ended(How::Exited(0)));
    let kills: Vec<_> =
        coordinator.wait(150, 1000).into_iter().filter(|(_, action)| is_kill(action)).collect();
    assert_eq!(kills, [(600, Action::Kill(0))], "once, after the grace");
    assert_eq!(coordinator.happen(at(700), 0, killed()), []);
    assert!(coordinator.is_over());
    let message = "node 1 (pid 7) was killed by signal 9 (SIGKILL); the job cannot go on without it";
    assert_eq!(end(coordinator), (3, message.into()));
}

fn is_kill(action: &Action) -> bool {
    matches!(action, Action::Kill(_))
}

#[test]
fn a_loss_is_the_reason_for_what_others_complained_of_before() {
    let mut coordinator = running(3, "");
    let complaint = Stop { status: 3, message: Some("node 1 does not answer".into()) };
    coordinator.say(at(1), 0, ToLauncher::Ended(complaint.clone()));
    coordinator.happen(at(2), 1, killed());
    assert!(end(coordinator).1.contains("killed by signal 9"));

    let mut coordinator = running(3, "");
    coordinator.say(at(1), 0, ToLauncher::Ended(complaint));
    coordinator.wait(0, 2000);
    coordinator.happen(at(2000), 1, killed());
    assert_eq!(
        end(coordinator).1,
        "node 1 does not answer",
        "it was killed for being late, which is no reason"
    );
}

#[test]
fn who_has_said_all_is_given_time_to_leave_but_not_for_ever() {
    let mut coordinator = running(1, "");
    coordinator.say(at(0), 0, ToLauncher::Ended(Stop::default()));
    coordinator.say(at(100), 0, ToLauncher::Done(Box::default()));
    let mut kills = Vec::new();
    for now in (100..3000).step_by(100) {
        coordinator.say(at(now), 0, ToLauncher::Alive);
        kills.extend(coordinator.wait(now, now + 100).into_iter().filter(|(_, action)| is_kill(action)));
    }
    assert_eq!(kills, [(2100, Action::Kill(0))]);
    coordinator.happen(at(3000), 0, killed());
    assert_eq!(end(coordinator).0, 0, "it had said all");
}

#[test]
fn silence_is_counted_in_looks_of_the_launcher() {
    let mut coordinator = started(with_silence(2, "", TICK * 2));
    let mut kills = Vec::new();
    // The launcher was stopped for an hour, and so were all.
    for now in [50, 100].into_iter().chain((3_600_000..=3_600_400).step_by(50)) {
        coordinator.say(at(now), 0, ToLauncher::Alive);
        coordinator.on_time(at(now));
        kills.extend(coordinator.decided().into_iter().filter(is_kill).map(|kill| (now, kill)));
    }
    assert_eq!(kills, [(3_600_350, Action::Kill(1))], "at the tenth look");
    assert!(end(coordinator).1.starts_with("node 1 (pid 7) said nothing for 500ms"));
}

#[test]
fn whoever_reports_a_step_waits_until_the_kill_is_carried_out() {
    let mut coordinator = running(3, "2@step40");
    let step = |done| ToLauncher::Step(Steps { done, total: None });
    let show = |done| Action::Show(Steps { done, total: None });
    assert_eq!(coordinator.say(at(1), 0, step(39)), [show(39)]);
    assert_eq!(coordinator.say(at(2), 0, step(40)), [show(40), Action::Kill(2)]);
    assert_eq!(coordinator.say(at(3), 1, step(40)), [show(40)], "node 2 is not gone yet");
    let actions = coordinator.happen(at(4), 2, killed());
    let seen = [Action::Send(0, ToNode::StepSeen(40)), Action::Send(1, ToNode::StepSeen(40))];
    assert_eq!(actions[..2], seen);
    assert!(matches!(actions[2..], [Action::Send(0, ToNode::Stop(_)), Action::Send(1, ToNode::Stop(_))]));
    assert!(end(coordinator).1.contains("as --kill 2@step40 asked"));
}

#[test]
fn kills_by_time_count_from_the_beginning_of_the_program() {
    let mut coordinator = coordinator(1, "0@100ms");
    assert!(!coordinator.wait(0, 400).iter().any(|(_, action)| is_kill(action)));
    coordinator.say(at(400), 0, hello());
    coordinator.say(at(400), 0, ToLauncher::Ready(None));
    coordinator.say(at(400), 0, ToLauncher::Linked);
    let kills: Vec<_> =
        coordinator.wait(400, 700).into_iter().filter(|(_, action)| is_kill(action)).collect();
    assert_eq!(kills, [(500, Action::Kill(0))]);
}

#[test]
fn nodes_that_cannot_start_are_not_awaited() {
    let mut coordinator = coordinator(4, "");
    coordinator.happen(at(1), 3, Event::NotStarted("no processes left".into()));
    let actions = coordinator.happen(at(1), 2, Event::NotStarted("nor for this one".into()));
    assert_eq!(actions, []);
    coordinator.happen(at(2), 0, Event::Ended(How::Exited(0)));
    coordinator.happen(at(2), 1, Event::Ended(How::Exited(0)));
    assert!(coordinator.is_over());
    assert_eq!(end(coordinator), (3, "node 3 of 4: no processes left".into()));
}

#[test]
fn a_lost_host_ends_the_job_and_its_nodes_are_not_awaited() {
    let mut coordinator = running(3, "");
    let lost = || Event::Lost("host b (nodes 1 to 2): the connection broke".into());
    let actions = coordinator.happen(at(1), 1, lost());
    assert!(matches!(actions[..], [Action::Send(0, ToNode::Stop(_)), Action::Send(2, ToNode::Stop(_))]));
    coordinator.happen(at(1), 2, lost());
    assert!(!coordinator.is_over());
    coordinator.happen(at(2), 0, Event::Ended(How::Exited(0)));
    assert!(coordinator.is_over());
    assert_eq!(end(coordinator), (3, "host b (nodes 1 to 2): the connection broke".into()));
}

#[test]
fn a_node_whose_host_is_slow_to_log_in_is_not_silent() {
    let mut coordinator = coordinator(1, "");
    assert!(!coordinator.wait(0, 600_000).iter().any(|(_, action)| is_kill(action)));
}

#[test]
fn an_interrupted_job_ends_with_that_status_and_reports() {
    let mut coordinator = running(1, "");
    coordinator.on_interrupt(at(5), 130);
    let stop = Stop { status: 130, message: None };
    assert_eq!(coordinator.decided(), [Action::Send(0, ToNode::Stop(stop.clone()))]);
    coordinator.say(at(6), 0, ToLauncher::Ended(Stop::default()));
    coordinator.say(at(6), 0, ToLauncher::Done(NodeReport { wall: at(6), ..NodeReport::default() }.into()));
    coordinator.happen(at(7), 0, Event::Ended(How::Exited(0)));
    let End { stop: stopped, reports, .. } = coordinator.into_end();
    assert_eq!((stopped, reports[0].wall), (stop, at(6)));
}

#[test]
fn events_of_nodes_that_do_not_exist_are_ignored() {
    let mut coordinator = running(1, "");
    assert_eq!(coordinator.happen(at(1), 9, killed()), []);
}

/// What nodes say with lines was reported before the checkpoint from which the job was started again, by whichever node.
#[test]
fn of_a_job_that_was_started_again_what_it_reports_itself_counts() {
    let mut coordinator = running(2, "");
    let reported = |version, node, value: u64| {
        let mut results = Results::default();
        ["again", "once"].into_iter().for_each(|name| results.set(name, value));
        ToLauncher::Lines(Lines { version: Some(version), node, results, ..Lines::default() })
    };
    for lines in [reported(6, 1, 1), reported(2, 1, 2), reported(4, 0, 3)] {
        assert_eq!(coordinator.say(at(1), 1, lines), []);
    }
    coordinator.say(at(2), 0, ToLauncher::Ended(Stop::default()));
    let mut report = NodeReport::default();
    report.results.set("again", 4_u64);
    coordinator.say(at(3), 0, ToLauncher::Done(report.into()));
    coordinator.say(at(3), 1, ToLauncher::Done(Box::default()));
    let ended = Ended { end: coordinator.into_end(), wall: at(3) };
    let results = merge(ended, 1).results;
    let value = |name| results.value(name).cloned();
    assert_eq!([value("again"), value("once")], [4_u64, 1].map(|value| Some(value.into())));
}
