//! Processes in which not everything is where it is in the others.

use super::arriving::replacing;
use super::*;
use crate::follower::{Follower, Followers};
use talisman_ft::view::View;
use talisman_store::disk::KeyFile;
use talisman_store::restart::Restart;

/// With the thread of its PE there.
fn laid_out(thread_pointer: u64) -> ToLauncher {
    let layout = LayoutMark { thread_pointer, ..LayoutMark::default() };
    ToLauncher::Hello { version: VERSION, pid: 7, layout: Some(layout) }
}

/// From a checkpoint of one node, whose processes were laid out so.
fn restart(layout: Option<LayoutMark>) -> Restart {
    Restart {
        dir: "folder".into(),
        key: KeyFile::default(),
        job: 1,
        version: 7,
        next_version: 8,
        pes_per_node: 1,
        taken_in: View::whole(1),
        parts: Vec::new(),
        hosts: Vec::new(),
        view: View::whole(1),
        moves_members: false,
        seed: 0,
        is_own: false,
        layout,
    }
}

fn is_task(actions: &[Action]) -> bool {
    matches!(actions, [Action::Send(_, ToNode::Task(_))])
}

#[test]
fn a_node_with_another_layout_ends_the_start() {
    let mut coordinator = coordinator(3, "");
    assert!(is_task(&coordinator.say(START, 1, laid_out(16))));
    assert!(is_task(&coordinator.say(START, 0, laid_out(16))));
    let actions = coordinator.say(START, 2, laid_out(32));
    assert!(actions.iter().all(|action| matches!(action, Action::Send(_, ToNode::Stop(_)))), "{actions:?}");
    let (status, why) = end(coordinator);
    assert_eq!(status, 3);
    let told = "node 2 (pid 7): its addresses differ from those of node 1 (pid 7)";
    assert!(why.starts_with(told) && why.contains("0x20 here, 0x10 there"), "{why}");
}

#[test]
fn it_does_so_in_a_job_that_survives_losses_too() {
    let mut coordinator = coordinator(2, "");
    coordinator.plan.survives = true;
    coordinator.recovery = Some(Recovery::new(&coordinator.plan));
    coordinator.say(START, 0, laid_out(16));
    coordinator.say(START, 1, laid_out(32));
    coordinator.happen(at(1), 1, killed());
    let End { stop, early_loss, .. } = coordinator.into_end();
    assert!(stop.message.unwrap_or_default().contains("its addresses differ"));
    assert_eq!(early_loss, None, "the next start would end like this one");
}

#[test]
fn a_spare_with_another_layout_does_not_wait() {
    let mut coordinator = replacing(false, 2);
    assert_eq!(coordinator.say(at(5), 3, laid_out(16)), []);
    let actions = coordinator.say(at(6), 4, laid_out(32));
    let [Action::Kill(4), Action::Warn(why)] = &actions[..] else { panic!("{actions:?}") };
    assert!(
        why.starts_with("a spare process is lost (its addresses differ") && why.ends_with("1 left"),
        "{why}"
    );
    assert_eq!(coordinator.waiting(), [3]);
}

#[test]
fn processes_are_compared_with_those_that_a_checkpoint_is_of() {
    let options = RunArgs { nodes: 1, pes: Some(1), ..RunArgs::default() };
    let layout = Some(LayoutMark { thread_pointer: 16, ..LayoutMark::default() });
    for (thread_pointer, fits) in [(16, true), (32, false)] {
        let mut plan = Plan::local(&options, Vec::new());
        plan.keeping.restart = Some(restart(layout.clone()));
        let mut coordinator = Coordinator::new(plan, Kills::new(&[], None));
        assert_eq!(is_task(&coordinator.say(START, 0, laid_out(thread_pointer))), fits);
        assert!(fits || end(coordinator).1.contains("those of the processes that the checkpoint is of"));
    }
}

#[test]
fn whoever_takes_over_compares_with_those_that_are_left() {
    for (thread_pointer, fits) in [(16, true), (32, false)] {
        let layout = LayoutMark { thread_pointer: 16, ..LayoutMark::default() };
        let left = Follower { layout: Some(layout), ..super::taking_over::follower(1) };
        let plan = Plan {
            survives: true,
            respawns: true,
            ..Plan::local(&RunArgs { nodes: 3, ..RunArgs::default() }, Vec::new())
        };
        let mut all = Followers::default();
        [left, super::taking_over::follower(2)].into_iter().for_each(|follower| all.add(follower));
        let mut coordinator = Coordinator::taking_over(plan, Kills::new(&[], None), "node 1", &all);
        assert_eq!(coordinator.decided().last(), Some(&Action::Start(0)));
        let actions = coordinator.say(at(60_010), 0, laid_out(thread_pointer));
        assert_eq!((is_task(&actions), actions.contains(&Action::Kill(0))), (fits, !fits), "{actions:?}");
    }
}
