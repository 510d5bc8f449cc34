//! What is asked for from outside.

use super::surviving::{halt, lines, order, say, with_patience};
use super::*;
use talisman_job::asking::Request;
use talisman_store::files::manifest::JobMark;
use talisman_store::restart::CheckpointDirs;

pub(super) fn asked(coordinator: &mut Coordinator, number: u64, request: Request) -> Vec<Action> {
    coordinator.on_request(at(10), number, request);
    coordinator.decided()
}

pub(super) fn checkpointed(asked: u32) -> ToLauncher {
    ToLauncher::Checkpointed { asked, checkpoint: Ok(7), not_written: None }
}

/// For a checkpoint that is to be on disk.
const ASKS: Action = Action::Send(0, ToNode::Checkpoint { on_disk: true, leaving: Vec::new() });

/// For one that is gone on from at once.
pub(super) const ASKS_FOR_ANY: Action =
    Action::Send(0, ToNode::Checkpoint { on_disk: false, leaving: Vec::new() });

fn taken() -> Result<String, String> {
    Ok("checkpoint 7 is taken, in the memory of the nodes".into())
}

#[test]
fn a_checkpoint_is_begun_and_answered_when_it_is_committed() {
    let mut coordinator = with_patience(2, "", TICK * 40);
    assert_eq!(asked(&mut coordinator, 1, Request::Checkpoint), [ASKS]);
    assert_eq!(asked(&mut coordinator, 2, Request::Checkpoint), [ASKS]);
    assert_eq!(coordinator.say(at(11), 1, checkpointed(1)), [Action::Answer(1, taken())]);
    let failed = ToLauncher::Checkpointed { asked: 1, checkpoint: Err("no room".into()), not_written: None };
    let why = Err("the checkpoint cannot be kept: no room".into());
    assert_eq!(coordinator.say(at(12), 1, failed), [Action::Answer(2, why)]);
    assert_eq!(coordinator.say(at(13), 1, checkpointed(1)), []);
}

#[test]
fn who_asks_is_told_where_a_checkpoint_is_and_why_it_is_not() {
    let mut coordinator = with_patience(3, "", TICK * 40);
    let checkpoint_dirs = CheckpointDirs {
        dir: "/scratch/job".into(),
        key: Default::default(),
        has_all: false,
        job: JobMark::default(),
        is_new: false,
    };
    coordinator.plan.keeping.checkpoint_dirs = Some(checkpoint_dirs);
    asked(&mut coordinator, 1, Request::Checkpoint);
    let there = Ok("checkpoint 7 is taken; after the loss of all nodes: --restart /scratch/job".into());
    assert_eq!(coordinator.say(at(11), 1, checkpointed(1)), [Action::Answer(1, there)]);
    asked(&mut coordinator, 2, Request::Checkpoint);
    asked(&mut coordinator, 3, Request::Shrink(vec![1]));
    let not_written = Some("node 1: no room".into());
    let actions =
        coordinator.say(at(12), 1, ToLauncher::Checkpointed { asked: 2, checkpoint: Ok(7), not_written });
    let why = "checkpoint 7 is taken, in the memory of the nodes, but not in /scratch/job: node 1: no room";
    assert_eq!(actions[0], Action::Answer(2, Err(why.into())));
    assert_eq!(actions[1], say("node 1 is to be released; all go back"), "that needs no disk");
}

#[test]
fn what_a_loss_has_overtaken_is_asked_for_again() {
    let mut coordinator = with_patience(3, "", TICK * 40);
    asked(&mut coordinator, 1, Request::Checkpoint);
    coordinator.happen(at(11), 1, killed());
    assert_eq!(coordinator.say(at(12), 2, checkpointed(1)), []);
    assert_eq!(asked(&mut coordinator, 2, Request::Checkpoint), [], "nobody is there to hear it");
    let [_, resumed] = coordinator.recover(13, &[0, 2], 1);
    assert_eq!(resumed[1..], [ASKS, ASKS]);
    assert_eq!(
        coordinator.say(at(14), 0, checkpointed(2)),
        [Action::Answer(1, taken()), Action::Answer(2, taken())]
    );
}

/// For a step of load balancing.
const ASKS_FOR_BALANCE: Action = Action::Send(0, ToNode::Balance);

fn balanced(asked: u32) -> ToLauncher {
    ToLauncher::Balanced { asked, step: Ok("done".into()) }
}

#[test]
fn a_balancing_step_is_begun_and_answered_when_it_is_over() {
    for mut coordinator in [with_patience(2, "", TICK * 40), started(coordinator(2, ""))] {
        assert_eq!(asked(&mut coordinator, 1, Request::Balance), [ASKS_FOR_BALANCE]);
        assert_eq!(asked(&mut coordinator, 2, Request::Balance), [ASKS_FOR_BALANCE]);
        let done = |number| Action::Answer(number, Ok("done".into()));
        assert_eq!(coordinator.say(at(11), 1, balanced(1)), [done(1)]);
        assert_eq!(coordinator.say(at(12), 1, balanced(7)), [done(2)], "nobody else has asked");
        let refused = ToLauncher::Balanced { asked: 1, step: Err("nothing is balanced".into()) };
        asked(&mut coordinator, 3, Request::Balance);
        let why = Action::Answer(3, Err("nothing is balanced".into()));
        assert_eq!(coordinator.say(at(13), 0, refused), [why]);
    }
}

#[test]
fn a_balancing_step_that_a_loss_has_overtaken_is_asked_for_again() {
    let mut coordinator = with_patience(3, "", TICK * 40);
    asked(&mut coordinator, 1, Request::Balance);
    coordinator.happen(at(11), 1, killed());
    assert_eq!(coordinator.say(at(12), 2, balanced(1)), []);
    assert_eq!(asked(&mut coordinator, 2, Request::Balance), [], "nobody is there to hear it");
    let [_, resumed] = coordinator.recover(13, &[0, 2], 1);
    assert_eq!(resumed[1..], [ASKS_FOR_BALANCE, ASKS_FOR_BALANCE]);
}

#[test]
fn a_job_without_fault_tolerance_is_asked_for_no_checkpoint() {
    let mut coordinator = started(coordinator(2, ""));
    for request in [Request::Checkpoint, Request::Shrink(vec![1]), Request::Grow(None)] {
        let why = Err("the job keeps no checkpoints: start it with --ft, such as --ft double".into());
        assert_eq!(asked(&mut coordinator, 1, request), [Action::Answer(1, why)]);
    }
}

/// Whatever became of its host while that was ending it: the others have gone on, and the end that they came to holds.
#[test]
fn a_released_node_that_is_lost_with_its_host_is_no_loss() {
    let mut coordinator = with_patience(3, "", TICK * 40);
    asked(&mut coordinator, 1, Request::Shrink(vec![1]));
    coordinator.say(at(11), 0, checkpointed(1));
    for node in [0, 1, 2] {
        coordinator.halted(12, node, 1);
    }
    for node in [0, 2] {
        coordinator.say(at(13), node, ToLauncher::Resumed { epoch: 1, steps: 36 });
    }
    coordinator.say(at(14), 0, ToLauncher::Ended(Stop::default()));
    assert!(coordinator.is_ending());
    assert_eq!(coordinator.happen(at(15), 1, Event::Lost("host b: the connection broke".into())), []);
    assert!(coordinator.is_ending(), "nobody goes back");
    for node in [0, 2] {
        coordinator.say(at(16), node, ToLauncher::Done(Box::default()));
        coordinator.happen(at(17), node, Event::Ended(How::Exited(0)));
    }
    assert!(coordinator.is_over());
    assert_eq!(coordinator.into_end().failures, []);
}

#[test]
fn a_node_is_released_from_a_checkpoint_and_is_no_loss() {
    let mut coordinator = with_patience(3, "", TICK * 40);
    let leaving = vec![1];
    let asks = Action::Send(0, ToNode::Checkpoint { on_disk: false, leaving: leaving.clone() });
    assert_eq!(asked(&mut coordinator, 1, Request::Shrink(leaving)), [asks]);
    let actions = coordinator.say(at(11), 0, checkpointed(1));
    let released = vec![say("node 1 is to be released; all go back")];
    assert_eq!(actions, [released, halt(&[0, 1, 2], 1, &[])].concat());
    coordinator.halted(12, 0, 1);
    coordinator.halted(12, 1, 1);
    let actions = coordinator.halted(12, 2, 1);
    assert_eq!(actions.iter().filter_map(order).map(|(node, _)| node).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(actions.last(), Some(&Action::Send(1, ToNode::Leave)));
    assert_eq!(coordinator.say(at(13), 1, ToLauncher::Done(Box::default())), []);
    coordinator.say(at(14), 0, ToLauncher::Resumed { epoch: 1, steps: 36 });
    let resumed = coordinator.say(at(14), 2, ToLauncher::Resumed { epoch: 1, steps: 36 });
    let text = "2 nodes went back to checkpoint 7; degraded until the next checkpoint";
    assert_eq!(resumed, [say(text), Action::Answer(1, Ok("the job goes on without node 1".into()))]);
    // The others do that again.
    assert_eq!(coordinator.say(at(15), 1, lines(None, 1, "void")), []);
    assert_eq!(coordinator.happen(at(15), 1, Event::Ended(How::Exited(0))), []);
    coordinator.say(at(16), 0, ToLauncher::Ended(Stop::default()));
    let ends = [0, 2].map(|node| coordinator.say(at(17), node, ToLauncher::Done(Box::default()))).concat();
    assert!(!ends.iter().any(|action| matches!(action, Action::Print { .. })), "{ends:?}");
    assert_eq!(coordinator.into_end().failures, []);
}

#[test]
fn what_cannot_be_is_refused_at_once() {
    let mut coordinator = with_patience(2, "", TICK * 40);
    for (nodes, why) in
        [(vec![2], "node 2 is not there; the job has nodes 0 and 1"), (vec![0, 1], "any node")]
    {
        let actions = asked(&mut coordinator, 1, Request::Shrink(nodes));
        let [Action::Answer(1, Err(said))] = &actions[..] else { panic!("{actions:?}") };
        assert!(said.contains(why), "{said}");
    }
    asked(&mut coordinator, 2, Request::Checkpoint);
    coordinator.on_interrupt(at(11), 130);
    let refused = Action::Answer(2, Err("the job ends".into()));
    assert!(coordinator.decided().contains(&refused));
    assert_eq!(
        asked(&mut coordinator, 3, Request::Checkpoint),
        [Action::Answer(3, Err("the job ends".into()))]
    );
}
