//! Losses of a job that survives them.

use talisman_ft::Version;
use talisman_ft::double::{Contents, Held, Order};
use talisman_ft::view::View;

use super::*;
use talisman_job::checkpoints::FaultTolerance;
use talisman_job::lines::Lines;

/// A job with `--ft` that runs.
fn surviving(nodes: u32, kills: &str) -> Coordinator {
    with_patience(nodes, kills, TICK * 40)
}

pub(super) fn with_patience(nodes: u32, kills: &str, silence: Duration) -> Coordinator {
    let mut coordinator = with_silence(nodes, kills, silence);
    coordinator.plan.survives = true;
    coordinator.recovery = Some(Recovery::new(&coordinator.plan));
    started(coordinator)
}

/// What a node holds of version 7: its own part, and that of the node before it.
pub(super) fn held(node: u32, nodes: u32) -> Vec<Held> {
    let parts = vec![(node + nodes - 1) % nodes, node];
    vec![Held { version: 7, view: View::whole(nodes), held: parts, committed: true, missed: Vec::new() }]
}

pub(super) fn halt(to: &[u32], epoch: u32, lost: &[u32]) -> Vec<Action> {
    to.iter().map(|to| Action::Send(*to, ToNode::Halt { epoch, lost: lost.to_vec() })).collect()
}

pub(super) fn say(text: &str) -> Action {
    Action::Say(text.into())
}

pub(super) fn warn(text: &str) -> Action {
    Action::Warn(text.into())
}

/// A program that has reported nothing has ended for good.
fn settle(node: u32) -> Action {
    Action::Send(node, ToNode::Settle(Results::default()))
}

/// What a node is told about its life.
pub(super) fn order(action: &Action) -> Option<(u32, &Order)> {
    match action {
        Action::Send(node, ToNode::Resume(order)) => Some((*node, order)),
        _ => None,
    }
}

impl Coordinator {
    pub(super) fn halted(&mut self, now: u64, node: u32, epoch: u32) -> Vec<Action> {
        let held = held(node, self.plan.nodes);
        self.say(at(now), node, ToLauncher::Halted { epoch, held, steps: 41 })
    }

    /// These halt and resume; the last actions of either.
    pub(super) fn recover(&mut self, now: u64, nodes: &[u32], epoch: u32) -> [Vec<Action>; 2] {
        let halted = nodes.iter().map(|node| self.halted(now, *node, epoch)).last();
        let resumed =
            nodes.iter().map(|node| self.say(at(now), *node, ToLauncher::Resumed { epoch, steps: 36 }));
        [halted.unwrap_or_default(), resumed.last().unwrap_or_default()]
    }
}

#[test]
fn a_loss_while_the_program_runs_is_survived_and_told() {
    let mut coordinator = surviving(3, "");
    let lost = warn("node 1 (pid 7) was killed by signal 9 (SIGKILL); the others go back");
    assert_eq!(coordinator.happen(at(100), 1, killed()), [vec![lost], halt(&[0, 2], 1, &[1])].concat());
    assert_eq!(coordinator.halted(103, 0, 1), []);
    let actions = coordinator.halted(104, 2, 1);
    let orders: Vec<_> = actions.iter().filter_map(order).collect();
    assert_eq!(orders.iter().map(|(node, _)| *node).collect::<Vec<_>>(), [0, 2]);
    assert_eq!((orders[1].1.version, &orders[1].1.restore[..]), (Some(7), &[2, 1][..]));
    assert_eq!(coordinator.say(at(110), 0, ToLauncher::Resumed { epoch: 1, steps: 36 }), []);
    assert_eq!(
        coordinator.say(at(112), 2, ToLauncher::Resumed { epoch: 1, steps: 36 }),
        [say(
            "2 nodes went back to checkpoint 7 in 12 ms after the loss of node 1; degraded until the next checkpoint"
        )]
    );
    let failure = coordinator.into_end().failures.remove(0);
    assert_eq!((failure.node, &failure.detected[..], failure.version), (Some(1), "exit", Some(7)));
    assert_eq!((failure.at_s, failure.halt_s, failure.recover_s), (0.1, Some(0.004), Some(0.012)));
    assert_eq!((failure.steps_redone, failure.nodes_left), (Some(5), Some(2)));
    let detect = (failure.detect_s, failure.detect_exact);
    assert_eq!(detect, (Some(0.1), false), "it had said nothing since the beginning");
}

#[test]
fn before_the_program_begins_no_loss_is_survived() {
    let mut coordinator = with_silence(2, "", TICK * 40);
    coordinator.plan.survives = true;
    coordinator.recovery = Some(Recovery::new(&coordinator.plan));
    coordinator.all_say(&hello());
    coordinator.happen(at(1), 1, killed());
    assert_eq!(end(coordinator).0, 3);
}

#[test]
fn a_process_that_leaves_by_itself_would_do_so_again() {
    let mut coordinator = surviving(2, "");
    coordinator.happen(at(1), 1, Event::Ended(How::Exited(0)));
    assert!(end(coordinator).1.contains("ended by itself with status 0"));
}

#[test]
fn a_node_that_is_lost_before_the_program_begins_is_a_reason_to_start_again() {
    let early = |survives: bool, happens: &[Event]| {
        let mut coordinator = coordinator(2, "");
        coordinator.recovery = survives.then(|| Recovery::new(&coordinator.plan));
        coordinator.all_say(&hello());
        happens.iter().for_each(|event| drop(coordinator.happen(at(1), 1, event.clone())));
        coordinator.into_end().early_loss
    };
    let loss = early(true, &[killed()]).expect("it was killed");
    assert!(loss.contains("node 1 (pid 7) was killed by signal 9"), "{loss}");
    assert_eq!(early(false, &[killed()]), None);
    assert_eq!(early(true, &[Event::Ended(How::Exited(1))]), None);
    assert_eq!(early(true, &[Event::Said(ToLauncher::Failed("no port".into())), killed()]), None);

    let with_host = early(true, &[Event::Lost("its host is out of reach".into())]).expect("it was lost");
    assert!(with_host.contains("out of reach"), "{with_host}");

    let silent = |mut coordinator: Coordinator| {
        coordinator.on_silence(at(1), 1);
        coordinator.into_end().early_loss
    };
    let mut beginning = coordinator(2, "");
    beginning.recovery = Some(Recovery::new(&beginning.plan));
    beginning.all_say(&hello());
    assert!(silent(beginning).expect("it was killed").contains("said nothing for"));

    let options = RunArgs { nodes: 2, pes: Some(1), ft: FaultTolerance::Logging, ..RunArgs::default() };
    let mut logging = Coordinator::new(Plan::local(&options, vec![]), Kills::new(&[], None));
    logging.happen(at(1), 1, killed());
    assert!(logging.into_end().early_loss.expect("it was killed").contains("killed by signal 9"));

    let mut running = surviving(2, "");
    running.happen(at(1), 1, killed());
    assert_eq!(running.into_end().early_loss, None);
    assert_eq!(silent(surviving(2, "")), None);
}

#[test]
fn a_node_that_cannot_go_on_is_lost_with_its_reason() {
    let mut coordinator = surviving(2, "");
    assert_eq!(coordinator.say(at(1), 1, ToLauncher::Failed("no memory".into())), [Action::Kill(1)]);
    let actions = coordinator.happen(at(2), 1, Event::Ended(How::Exited(3)));
    let lost = warn("node 1 (pid 7) cannot go on: no memory; the others go back");
    assert_eq!(actions, [vec![lost], halt(&[0], 1, &[1])].concat());
}

#[test]
fn both_copies_gone_ends_the_job_and_tells_what_they_had() {
    let mut coordinator = surviving(4, "");
    coordinator.happen(at(1), 1, killed());
    coordinator.happen(at(2), 2, killed());
    coordinator.halted(3, 0, 2);
    let blocks = |count| Contents { of: [("array Block".to_owned(), count)].into(), others: 0 };
    let held = vec![Held { missed: vec![(1, blocks(5)), (2, blocks(4))], ..held(3, 4).remove(0) }];
    let actions = coordinator.say(at(3), 3, ToLauncher::Halted { epoch: 2, held, steps: 41 });
    assert!(matches!(actions[..], [Action::Send(0, ToNode::Stop(_)), Action::Send(3, ToNode::Stop(_))]));
    for node in [0, 3] {
        let done = coordinator.say(at(4), node, ToLauncher::Done(Box::default()));
        assert_eq!(done, [Action::Send(node, ToNode::Leave)]);
        coordinator.happen(at(5), node, Event::Ended(How::Exited(0)));
    }
    assert!(coordinator.is_over());
    let why = "node 2 (pid 7) was killed by signal 9 (SIGKILL); the job cannot go on: of checkpoint 7, all copies are lost of \
               5 objects: 5 of array Block; that is what node 1 (5 objects, held by nodes 1 and 2) had";
    assert_eq!(end(coordinator), (3, why.into()));
}

#[test]
fn a_loss_after_the_program_ended_takes_the_end_back_until_all_have_stopped() {
    let mut coordinator = surviving(3, "");
    let done = || ToLauncher::Done(NodeReport { wall: at(9), ..NodeReport::default() }.into());
    let stop = Stop::default();
    assert_eq!(
        coordinator.say(at(1), 0, ToLauncher::Ended(stop.clone())),
        to_all(3, &ToNode::Stop(stop.clone()))
    );
    assert_eq!(coordinator.say(at(2), 0, done()), [], "it stays");
    assert_eq!(coordinator.say(at(2), 1, done()), []);
    assert_eq!(coordinator.happen(at(3), 1, killed()), [], "it had said all");
    let actions = coordinator.happen(at(4), 2, killed());
    assert_eq!(actions[1..], halt(&[0], 1, &[1, 2]));
    assert!(!coordinator.is_ending());
    assert_eq!(
        coordinator.say(at(5), 0, ToLauncher::Ended(stop.clone())),
        [],
        "it had not heard of the loss"
    );
    assert_eq!(coordinator.say(at(5), 0, done()), []);
    let all = Held { held: vec![0, 1, 2], ..held(0, 3).remove(0) };
    coordinator.say(at(6), 0, ToLauncher::Halted { epoch: 1, held: vec![all], steps: 41 });
    coordinator.say(at(7), 0, ToLauncher::Resumed { epoch: 1, steps: 36 });
    let stops = [Action::Send(0, ToNode::Stop(stop.clone()))];
    assert_eq!(coordinator.say(at(8), 0, ToLauncher::Ended(stop)), stops);
    assert_eq!(coordinator.say(at(9), 0, done()), [settle(0)]);
    assert_eq!(coordinator.say(at(9), 0, ToLauncher::Settled), [Action::Send(0, ToNode::Leave)]);
    assert_eq!(coordinator.happen(at(10), 0, Event::Ended(How::Exited(0))), []);
    assert_eq!(end(coordinator), (0, String::new()));
}

#[test]
fn after_leave_a_node_that_is_lost_is_not_missed_and_one_that_stays_is_killed() {
    let mut coordinator = surviving(2, "");
    coordinator.say(at(0), 0, ToLauncher::Ended(Stop::default()));
    coordinator.say(at(0), 0, ToLauncher::Done(Box::default()));
    let settles = [settle(0), settle(1)];
    assert_eq!(coordinator.say(at(40), 1, ToLauncher::Done(Box::default())), settles);
    assert_eq!(coordinator.say(at(40), 1, ToLauncher::Settled), []);
    assert_eq!(coordinator.say(at(50), 0, ToLauncher::Settled), to_all(2, &ToNode::Leave));
    assert_eq!(coordinator.happen(at(60), 1, killed()), []);
    let kills: Vec<_> =
        coordinator.wait(100, 2500).into_iter().filter(|(_, action)| is_kill(action)).collect();
    assert_eq!(kills, [(2050, Action::Kill(0))]);
    coordinator.happen(at(2500), 0, killed());
    assert_eq!(end(coordinator).0, 0);
}

#[test]
fn who_is_lost_before_all_may_leave_is_not_waited_for() {
    let mut coordinator = surviving(3, "");
    coordinator.say(at(0), 0, ToLauncher::Ended(Stop::default()));
    (0..3).for_each(|node| drop(coordinator.say(at(0), node, ToLauncher::Done(Box::default()))));
    assert_eq!(coordinator.say(at(1), 1, ToLauncher::Settled), []);
    assert_eq!(coordinator.say(at(1), 1, ToLauncher::Settled), [], "once is enough");
    assert_eq!(coordinator.happen(at(2), 0, killed()), [], "it had said all");
    let leave = |node| Action::Send(node, ToNode::Leave);
    assert_eq!(coordinator.happen(at(3), 2, killed()), [leave(1)]);
    coordinator.happen(at(4), 1, Event::Ended(How::Exited(0)));
    assert_eq!(end(coordinator), (0, String::new()));
}

#[test]
fn after_leave_a_node_that_is_silent_is_not_missed() {
    let mut coordinator = with_patience(2, "", TICK * 2);
    coordinator.say(at(0), 0, ToLauncher::Ended(Stop::default()));
    coordinator.say(at(0), 0, ToLauncher::Done(Box::default()));
    coordinator.say(at(0), 1, ToLauncher::Done(Box::default()));
    assert_eq!(coordinator.say(at(0), 1, ToLauncher::Settled), []);
    assert_eq!(coordinator.say(at(0), 0, ToLauncher::Settled), to_all(2, &ToNode::Leave));
    coordinator.happen(at(10), 1, Event::Ended(How::Exited(0)));
    let kills: Vec<_> =
        coordinator.wait(50, 1500).into_iter().filter(|(_, action)| is_kill(action)).collect();
    assert!(
        matches!(kills[..], [(50..2000, Action::Kill(0))]),
        "silence, before its time to leave is over: {kills:?}"
    );
    coordinator.happen(at(1500), 0, killed());
    assert_eq!(end(coordinator), (0, String::new()));
}

#[test]
fn kills_at_steps_and_at_random_go_on_and_happen_once() {
    let mut coordinator = surviving(4, "2@step4 1@step8 2@step9");
    let step = |done| ToLauncher::Step(Steps { done, total: None });
    let kills = |actions: Vec<Action>| actions.into_iter().filter(is_kill).collect::<Vec<_>>();
    assert_eq!(kills(coordinator.say(at(1), 0, step(4))), [Action::Kill(2)]);
    let actions = coordinator.happen(at(2), 2, killed());
    assert_eq!(actions[0], Action::Send(0, ToNode::StepSeen(4)));
    assert_eq!(actions[1], warn("node 2 (pid 7) was killed, as --kill 2@step4 asked; the others go back"));
    coordinator.recover(3, &[0, 1, 3], 1);
    let seen = |done| Action::Send(0, ToNode::StepSeen(done));
    assert_eq!(coordinator.say(at(4), 0, step(4))[1..], [seen(4)], "once");
    assert_eq!(kills(coordinator.say(at(5), 0, step(8))), [Action::Kill(1)]);
    coordinator.happen(at(6), 1, killed());
    assert_eq!(coordinator.say(at(7), 0, step(9))[1..], [seen(9)], "it is gone");
    let failures = coordinator.into_end().failures;
    let detect: Vec<_> = failures.iter().map(|failure| (failure.detect_s, failure.detect_exact)).collect();
    assert_eq!(detect, [(Some(0.001), true), (Some(0.001), true)]);
}

#[test]
fn a_silent_node_counts_as_lost_when_it_is_proved_dead() {
    let mut coordinator = with_patience(2, "", TICK * 2);
    let mut actions = Vec::new();
    for look in 1..=10 {
        coordinator.say(LOOK * look, 0, ToLauncher::Alive);
        coordinator.on_time(LOOK * look);
        actions.extend(
            coordinator
                .decided()
                .into_iter()
                .filter(|action| !matches!(action, Action::Send(_, ToNode::Ping))),
        );
    }
    assert_eq!(actions, [Action::Kill(1)]);
    let actions = coordinator.happen(at(1000), 1, killed());
    assert_eq!(actions[1..], halt(&[0], 1, &[1]));
    let failure = coordinator.into_end().failures.remove(0);
    assert_eq!((&failure.detected[..], failure.detect_s, failure.detect_exact), ("silence", Some(0.5), true));
}

#[test]
fn whoever_is_suspected_is_killed_unless_it_is_gone() {
    let mut coordinator = surviving(3, "");
    let suspect = |node| ToLauncher::Suspect { node, why: "no answer".into() };
    let tried = |missed: &[u32]| ToLauncher::Tried { inquiry: 1, missed: missed.to_vec() };
    let asked = [0, 1, 2].map(|node| Action::Send(node, ToNode::Try { inquiry: 1 }));
    assert_eq!(coordinator.say(at(0), 0, suspect(2)), asked);
    assert_eq!(coordinator.say(at(1), 1, suspect(2)), []);
    assert_eq!(coordinator.say(at(2), 0, tried(&[2])), []);
    assert_eq!(coordinator.say(at(3), 2, tried(&[])), []);
    assert!(!coordinator.wait(3, 1000).into_iter().any(|(_, action)| is_kill(&action)));
    assert_eq!(coordinator.say(at(1000), 1, tried(&[])), [Action::Kill(2)]);
    let actions = coordinator.happen(at(1000), 2, killed());
    let lost = "node 2 (pid 7) was killed, as node 0 cannot reach it (no answer); the others go back";
    assert_eq!(actions[0], warn(lost));
    assert_eq!(coordinator.say(at(1001), 0, suspect(2)), []);
    assert!(!coordinator.wait(1001, 2000).into_iter().any(|(_, action)| is_kill(&action)));
}

/// The launcher reaches both hosts, and one connection was in use.
#[test]
fn of_two_hosts_that_are_cut_off_from_each_other_one_goes_as_a_whole() {
    let mut coordinator = surviving(4, "");
    coordinator.plan.hosts = vec![vec![0, 1], vec![2, 3]];
    assert_eq!(coordinator.say(at(0), 2, ToLauncher::Suspect { node: 1, why: "no answer".into() }).len(), 4);
    let tried = |missed: &[u32]| ToLauncher::Tried { inquiry: 1, missed: missed.to_vec() };
    for (node, missed) in [(0, &[][..]), (2, &[0, 1]), (3, &[0, 1])] {
        assert_eq!(coordinator.say(at(10), node, tried(missed)), []);
    }
    assert_eq!(coordinator.say(at(11), 1, tried(&[])), [Action::Kill(2), Action::Kill(3)]);
}

/// It is doomed for another reason, or does not get to it.
#[test]
fn whoever_does_not_say_whom_it_can_reach_is_not_waited_for() {
    let mut coordinator = surviving(3, "");
    coordinator.say(at(0), 0, ToLauncher::Suspect { node: 2, why: "no answer".into() });
    for node in [0, 1] {
        coordinator.say(at(1), node, ToLauncher::Tried { inquiry: 1, missed: vec![] });
        coordinator.say(at(1), node, ToLauncher::Alive);
    }
    let bound = coordinator.plan.silence + TICK * 4;
    coordinator.on_time(bound - TICK);
    assert!(!coordinator.decided().iter().any(is_kill));
    coordinator.on_time(bound);
    assert_eq!(coordinator.decided().iter().filter(|action| is_kill(action)).count(), 1);
}

#[test]
fn a_host_that_is_lost_takes_its_nodes_with_it() {
    let mut coordinator = surviving(4, "");
    let lost = || Event::Lost("host b (nodes 1 to 2): the connection broke".into());
    assert_eq!(coordinator.happen(at(1), 1, lost())[1..], halt(&[0, 2, 3], 1, &[1]));
    assert_eq!(coordinator.happen(at(1), 2, lost()), halt(&[0, 3], 2, &[1, 2]), "that is told once");
}

pub(super) fn lines(version: Option<Version>, node: u32, text: &str) -> ToLauncher {
    ToLauncher::Lines(Lines { version, node, lines: vec![text.into()], ..Lines::default() })
}

fn print(node: u32, piece: Option<Piece>, text: &str) -> Action {
    Action::Print { node, piece, lines: vec![text.into()] }
}

#[test]
fn lines_are_printed_once_whoever_says_them() {
    let mut coordinator = surviving(2, "");
    let seen = Action::Send(1, ToNode::LinesSeen { version: 7, node: 1, piece: 0 });
    let printed = |piece, text| print(1, Some(piece), text);
    assert_eq!(coordinator.say(at(1), 1, lines(Some(7), 1, "a")), [printed((7, 1, 0), "a"), seen]);
    assert_eq!(coordinator.say(at(2), 0, lines(None, 0, "void")), []);
    coordinator.happen(at(3), 1, killed());
    coordinator.recover(4, &[0], 1);
    let seen = Action::Send(0, ToNode::LinesSeen { version: 7, node: 1, piece: 0 });
    assert_eq!(coordinator.say(at(5), 0, lines(Some(7), 1, "a")), [seen]);
    coordinator.say(at(6), 0, ToLauncher::Ended(Stop::default()));
    assert_eq!(coordinator.say(at(7), 0, lines(None, 0, "the end")), []);
    let done = coordinator.say(at(8), 0, ToLauncher::Done(Box::default()));
    assert_eq!(done, [print(0, None, "the end"), settle(0)]);
}

#[test]
fn what_a_program_that_fails_has_printed_is_printed() {
    let mut coordinator = surviving(2, "");
    coordinator.say(at(1), 0, lines(None, 0, "before"));
    let failed = Stop { status: 1, message: Some("panicked".into()) };
    let actions = coordinator.say(at(2), 1, ToLauncher::Ended(failed));
    assert_eq!(actions.last(), Some(&print(0, None, "before")));
    assert_eq!(coordinator.say(at(3), 1, lines(None, 1, "after")), [print(1, None, "after")]);
    coordinator.happen(at(4), 1, killed());
    assert_eq!(end(coordinator), (1, "panicked".into()), "a job that ends goes back no more");
}

#[test]
fn the_last_node_that_is_lost_ends_the_job() {
    let had = |cells, others| Contents { of: [("array Cell".to_owned(), cells)].into(), others };
    let committed = ToLauncher::Committed { version: 7, contents: vec![(0, had(20, 0)), (1, had(7, 1))] };
    for (said, told) in
        [(None, ""), (Some(committed), "; checkpoint 7 had 28 objects: 27 of array Cell and 1 of others")]
    {
        let mut coordinator = surviving(2, "");
        said.into_iter().for_each(|said| drop(coordinator.say(at(0), 1, said)));
        coordinator.happen(at(1), 1, killed());
        coordinator.happen(at(2), 0, killed());
        assert!(coordinator.is_over());
        let why = format!(
            "node 0 (pid 7) was killed by signal 9 (SIGKILL); it was the last node that was left, and all \
             objects of the job are lost{told}"
        );
        assert_eq!(end(coordinator), (3, why));
    }
}

#[test]
fn a_node_that_takes_long_to_halt_is_named_and_again_after_twice_as_long() {
    let mut coordinator = with_patience(3, "", Duration::from_secs(3600));
    coordinator.happen(at(0), 1, killed());
    coordinator.halted(1, 2, 1);
    let lines = |actions: Vec<(u64, Action)>| -> Vec<(u64, String)> {
        let line = |(now, action)| if let Action::Warn(line) = action { Some((now, line)) } else { None };
        actions.into_iter().filter_map(line).collect()
    };
    let told = |seconds: u64| {
        let line = format!(
            "node 0 has not halted for {seconds} s: a node halts between entries, however long one takes"
        );
        (seconds * 1000, line)
    };
    assert_eq!(lines(coordinator.wait(0, 30_000)), [told(10), told(20)]);
    coordinator.halted(30_000, 0, 1);
    for node in [0, 2] {
        coordinator.say(at(30_001), node, ToLauncher::Resumed { epoch: 1, steps: 36 });
    }
    assert_eq!(lines(coordinator.wait(30_050, 100_000)), []);
}

/// Four of eight nodes are lost in this way, one after another, none of whom are buddies, at the same step; whether all others went on after each.
fn go_on_after(ends: &Event) -> (Coordinator, Vec<bool>) {
    let (mut coordinator, mut left) = (surviving(8, ""), Vec::from_iter(0..8));
    let mut goes_on = |(epoch, node): (u32, u32)| {
        let now = 100 * u64::from(epoch);
        left.retain(|other| *other != node);
        coordinator.happen(at(now), node, ends.clone());
        let [halted, _] = coordinator.recover(now + 10, &left, epoch);
        halted.iter().filter_map(order).count() == left.len()
    };
    let goes_on = (1..).zip([7, 5, 3, 1]).map(&mut goes_on).collect();
    (coordinator, goes_on)
}

/// The process that does that step runs over its stack, whichever it is.
#[test]
fn a_job_whose_processes_end_by_themselves_at_the_same_step_ends() {
    let (coordinator, goes_on) = go_on_after(&Event::Ended(How::Signalled(11)));
    assert_eq!(goes_on, [true, true, true, false]);
    let Stop { status, message } = coordinator.ending().expect("it ends");
    let why = message.expect("it says why");
    assert_eq!(status, 3);
    assert!(
        why.contains("SIGSEGV") && why.contains("the 4th process") && why.contains("beyond step 41"),
        "{why}"
    );
}

#[test]
fn processes_that_others_kill_are_made_up_for_however_many() {
    let (coordinator, goes_on) = go_on_after(&killed());
    assert_eq!((goes_on, coordinator.ending()), (vec![true; 4], None));
}

/// A job waits for that, and says so.
#[test]
fn a_process_that_is_killed_and_does_not_end_is_told_of() {
    let mut coordinator = surviving(3, "2@2s");
    let mut told = Vec::new();
    for second in 0..60 {
        (0..3).for_each(|node| drop(coordinator.say(at(1000 * second), node, ToLauncher::Alive)));
        coordinator.on_time(at(1000 * second));
        let says = coordinator.decided().into_iter().filter_map(|action| match action {
            Action::Warn(text) => Some((second, text)),
            _ => None,
        });
        told.extend(says);
    }
    assert_eq!(told.iter().map(|(second, _)| *second).collect::<Vec<_>>(), [12, 22, 42], "{told:?}");
    assert!(told[0].1.starts_with("node 2 (pid 7) was killed 10 s ago and has not ended"), "{told:?}");
    let actions = coordinator.happen(at(61_000), 2, killed());
    assert_eq!(actions[1..], halt(&[0, 1], 1, &[2]), "its end is the loss");
}
