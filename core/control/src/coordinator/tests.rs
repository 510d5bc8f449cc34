//! The launcher's decisions, as exact lists of actions.

use super::*;
use crate::outcome::{Ended, merge};
use talisman_job::RunArgs;
use talisman_job::lines::Lines;

mod arriving;
mod growing;
mod requests;
mod surviving;
mod taking_over;

fn conductor(nodes: u32, kills: &str) -> Conductor {
    with_silence(nodes, kills, TICK * 40)
}

fn with_silence(nodes: u32, kills: &str, silence: Duration) -> Conductor {
    let kill: Vec<_> = kills.split_whitespace().map(|kill| kill.parse().unwrap()).collect();
    let options = RunArgs { nodes, pes: Some(1), silence, ..RunArgs::default() };
    let kills = Kills::new(&kill, None);
    Conductor::new(Plan::local(&options, kills.watched()), kills)
}

const START: Duration = Duration::ZERO;

fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

impl Conductor {
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
    ToLauncher::Hello { version: VERSION, pid: 7 }
}

fn running(nodes: u32, kills: &str) -> Conductor {
    started(conductor(nodes, kills))
}

fn started(mut conductor: Conductor) -> Conductor {
    for message in [hello(), ToLauncher::Ready(None), ToLauncher::Linked] {
        conductor.all_say(&message);
    }
    conductor
}

fn to_all(nodes: u32, message: &ToNode) -> Vec<Action> {
    (0..nodes).map(|node| Action::Send(node, message.clone())).collect()
}

fn killed() -> Event {
    Event::Ended(How::Signalled(9))
}

fn end(conductor: Conductor) -> (i32, String) {
    let stop = conductor.into_end().stop;
    (stop.status, stop.message.unwrap_or_default())
}

#[test]
fn nodes_are_brought_together_step_by_step() {
    let mut conductor = conductor(2, "");
    let task = |node| vec![Action::Send(node, ToNode::Task(Box::new(conductor.plan.task(node))))];
    let tasks = [task(0), task(1)];
    assert_eq!([conductor.say(START, 0, hello()), conductor.say(START, 1, hello())], tasks);
    let addresses = ["127.0.0.1:1", "127.0.0.1:2"].map(|address| Some(address.parse().unwrap()));
    assert_eq!(conductor.say(START, 1, ToLauncher::Ready(addresses[1])), []);
    let book = to_all(2, &ToNode::Book(addresses.to_vec()));
    assert_eq!(conductor.say(START, 0, ToLauncher::Ready(addresses[0])), book);
    assert_eq!(conductor.say(START, 0, ToLauncher::Linked), []);
    assert_eq!(conductor.say(START, 1, ToLauncher::Linked), to_all(2, &ToNode::Go));
}

#[test]
fn another_version_is_not_given_the_secret() {
    let mut conductor = conductor(1, "");
    let actions = conductor.say(START, 0, ToLauncher::Hello { version: VERSION + 1, pid: 7 });
    assert!(matches!(&actions[..], [Action::Send(0, ToNode::Stop(_))]), "{actions:?}");
    assert!(end(conductor).1.contains("run one build"));
}

#[test]
fn an_end_in_order_waits_for_the_reports_without_hurry() {
    let mut conductor = running(2, "");
    let stop = Stop::default();
    assert_eq!(conductor.say(at(1), 0, ToLauncher::Ended(stop.clone())), to_all(2, &ToNode::Stop(stop)));
    for second in 0..100 {
        assert!(conductor.say(at(second * 100), 1, ToLauncher::Alive).is_empty());
        conductor.say(at(second * 100), 0, ToLauncher::Alive);
        let actions = conductor.wait(second * 100, second * 100 + 100);
        assert!(
            actions.iter().all(|(_, action)| matches!(action, Action::Send(_, ToNode::Ping))),
            "{actions:?}"
        );
    }
    for node in 0..2 {
        assert!(!conductor.is_over());
        conductor.say(at(10_000), node, ToLauncher::Done(NodeReport::default()));
        conductor.happen(at(10_000), node, Event::Ended(How::Exited(0)));
    }
    assert!(conductor.is_over());
    assert_eq!(end(conductor), (0, String::new()));
}

#[test]
fn a_loss_stops_the_others_and_kills_who_does_not() {
    let mut conductor = running(3, "");
    let actions = conductor.happen(at(100), 1, killed());
    assert!(matches!(actions[..], [Action::Send(0, ToNode::Stop(_)), Action::Send(2, ToNode::Stop(_))]));
    conductor.happen(at(150), 2, Event::Ended(How::Exited(0)));
    let kills: Vec<_> = conductor.wait(150, 1000).into_iter().filter(|(_, action)| is_kill(action)).collect();
    assert_eq!(kills, [(600, Action::Kill(0))], "once, after the grace");
    assert_eq!(conductor.happen(at(700), 0, killed()), []);
    assert!(conductor.is_over());
    let message = "node 1 (pid 7) was killed by signal 9 (SIGKILL); the job cannot go on without it";
    assert_eq!(end(conductor), (3, message.into()));
}

fn is_kill(action: &Action) -> bool {
    matches!(action, Action::Kill(_))
}

#[test]
fn a_loss_is_the_reason_for_what_others_complained_of_before() {
    let mut conductor = running(3, "");
    let complaint = Stop { status: 3, message: Some("node 1 does not answer".into()) };
    conductor.say(at(1), 0, ToLauncher::Ended(complaint.clone()));
    conductor.happen(at(2), 1, killed());
    assert!(end(conductor).1.contains("killed by signal 9"));

    let mut conductor = running(3, "");
    conductor.say(at(1), 0, ToLauncher::Ended(complaint));
    conductor.wait(0, 2000);
    conductor.happen(at(2000), 1, killed());
    assert_eq!(
        end(conductor).1,
        "node 1 does not answer",
        "it was killed for being late, which is no reason"
    );
}

#[test]
fn who_has_said_all_is_given_time_to_leave_but_not_for_ever() {
    let mut conductor = running(1, "");
    conductor.say(at(0), 0, ToLauncher::Ended(Stop::default()));
    conductor.say(at(100), 0, ToLauncher::Done(NodeReport::default()));
    let mut kills = Vec::new();
    for now in (100..3000).step_by(100) {
        conductor.say(at(now), 0, ToLauncher::Alive);
        kills.extend(conductor.wait(now, now + 100).into_iter().filter(|(_, action)| is_kill(action)));
    }
    assert_eq!(kills, [(2100, Action::Kill(0))]);
    conductor.happen(at(3000), 0, killed());
    assert_eq!(end(conductor).0, 0, "it had said all");
}

#[test]
fn silence_is_counted_in_looks_of_the_launcher() {
    let mut conductor = started(with_silence(2, "", TICK * 2));
    let mut kills = Vec::new();
    // The launcher was stopped for an hour, and so were all.
    for now in [50, 100].into_iter().chain((3_600_000..=3_600_400).step_by(50)) {
        conductor.say(at(now), 0, ToLauncher::Alive);
        conductor.on_time(at(now));
        kills.extend(conductor.decided().into_iter().filter(is_kill).map(|kill| (now, kill)));
    }
    assert_eq!(kills, [(3_600_350, Action::Kill(1))], "at the tenth look");
    assert!(end(conductor).1.starts_with("node 1 (pid 7) said nothing for 500ms"));
}

#[test]
fn whoever_reports_a_step_waits_until_the_kill_is_carried_out() {
    let mut conductor = running(3, "2@step40");
    let step = |done| ToLauncher::Step(Steps { done, total: None });
    let show = |done| Action::Show(Steps { done, total: None });
    assert_eq!(conductor.say(at(1), 0, step(39)), [show(39)]);
    assert_eq!(conductor.say(at(2), 0, step(40)), [show(40), Action::Kill(2)]);
    assert_eq!(conductor.say(at(3), 1, step(40)), [show(40)], "node 2 is not gone yet");
    let actions = conductor.happen(at(4), 2, killed());
    let seen = [Action::Send(0, ToNode::StepSeen(40)), Action::Send(1, ToNode::StepSeen(40))];
    assert_eq!(actions[..2], seen);
    assert!(matches!(actions[2..], [Action::Send(0, ToNode::Stop(_)), Action::Send(1, ToNode::Stop(_))]));
    assert!(end(conductor).1.contains("as --kill 2@step40 asked"));
}

#[test]
fn kills_by_time_count_from_the_beginning_of_the_program() {
    let mut conductor = conductor(1, "0@100ms");
    assert!(!conductor.wait(0, 400).iter().any(|(_, action)| is_kill(action)));
    conductor.say(at(400), 0, hello());
    conductor.say(at(400), 0, ToLauncher::Ready(None));
    conductor.say(at(400), 0, ToLauncher::Linked);
    let kills: Vec<_> = conductor.wait(400, 700).into_iter().filter(|(_, action)| is_kill(action)).collect();
    assert_eq!(kills, [(500, Action::Kill(0))]);
}

#[test]
fn nodes_that_cannot_start_are_not_awaited() {
    let mut conductor = conductor(4, "");
    conductor.happen(at(1), 3, Event::NotStarted("no processes left".into()));
    let actions = conductor.happen(at(1), 2, Event::NotStarted("nor for this one".into()));
    assert_eq!(actions, []);
    conductor.happen(at(2), 0, Event::Ended(How::Exited(0)));
    conductor.happen(at(2), 1, Event::Ended(How::Exited(0)));
    assert!(conductor.is_over());
    assert_eq!(end(conductor), (3, "node 3 of 4: no processes left".into()));
}

#[test]
fn a_lost_host_ends_the_job_and_its_nodes_are_not_awaited() {
    let mut conductor = running(3, "");
    let lost = || Event::Lost("host b (nodes 1 to 2): the connection broke".into());
    let actions = conductor.happen(at(1), 1, lost());
    assert!(matches!(actions[..], [Action::Send(0, ToNode::Stop(_)), Action::Send(2, ToNode::Stop(_))]));
    conductor.happen(at(1), 2, lost());
    assert!(!conductor.is_over());
    conductor.happen(at(2), 0, Event::Ended(How::Exited(0)));
    assert!(conductor.is_over());
    assert_eq!(end(conductor), (3, "host b (nodes 1 to 2): the connection broke".into()));
}

#[test]
fn a_node_whose_host_is_slow_to_log_in_is_not_silent() {
    let mut conductor = conductor(1, "");
    assert!(!conductor.wait(0, 600_000).iter().any(|(_, action)| is_kill(action)));
}

#[test]
fn an_interrupted_job_ends_with_that_status_and_reports() {
    let mut conductor = running(1, "");
    conductor.on_interrupt(at(5), 130);
    let stop = Stop { status: 130, message: None };
    assert_eq!(conductor.decided(), [Action::Send(0, ToNode::Stop(stop.clone()))]);
    conductor.say(at(6), 0, ToLauncher::Ended(Stop::default()));
    conductor.say(at(6), 0, ToLauncher::Done(NodeReport { wall: at(6), ..NodeReport::default() }));
    conductor.happen(at(7), 0, Event::Ended(How::Exited(0)));
    let End { stop: stopped, reports, .. } = conductor.into_end();
    assert_eq!((stopped, reports[0].wall), (stop, at(6)));
}

#[test]
fn events_of_nodes_that_do_not_exist_are_ignored() {
    let mut conductor = running(1, "");
    assert_eq!(conductor.happen(at(1), 9, killed()), []);
}

/// What nodes say with lines was reported before the checkpoint from which the job was started again, by whichever node.
#[test]
fn of_a_job_that_was_started_again_what_it_reports_itself_counts() {
    let mut conductor = running(2, "");
    let reported = |version, node, value: u64| {
        let mut results = Results::default();
        ["again", "once"].into_iter().for_each(|name| results.set(name, value));
        ToLauncher::Lines(Lines { version: Some(version), node, results, ..Lines::default() })
    };
    for lines in [reported(6, 1, 1), reported(2, 1, 2), reported(4, 0, 3)] {
        assert_eq!(conductor.say(at(1), 1, lines), []);
    }
    conductor.say(at(2), 0, ToLauncher::Ended(Stop::default()));
    let mut report = NodeReport::default();
    report.results.set("again", 4_u64);
    conductor.say(at(3), 0, ToLauncher::Done(report));
    conductor.say(at(3), 1, ToLauncher::Done(NodeReport::default()));
    let ended = Ended { end: conductor.into_end(), wall: at(3) };
    let results = merge(ended, 1).results;
    let value = |name| results.value(name).cloned();
    assert_eq!([value("again"), value("once")], [4_u64, 1].map(|value| Some(value.into())));
}
