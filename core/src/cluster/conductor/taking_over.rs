//! A job whose launcher is gone, and that another one leads from now on.

use std::time::Duration;

use super::super::kills::Kills;
use super::super::plan::Plan;
use super::super::recovery::Recovery;
use super::super::roster::Stage;
use super::super::takeover::follower::Followers;
use super::{Action, Conductor};
use crate::launch::Failure;

impl Conductor {
    /// In the process of this node, with those that are left. Time is that since the program's beginning. All go back as after a loss:
    /// nobody knows what the former launcher had said to whom.
    pub(crate) fn taking_over(plan: Plan, kills: Kills, own: u32, followers: &Followers) -> Self {
        let now = followers.running();
        let lost: Vec<u32> = (0..plan.nodes).filter(|node| !followers.has(*node)).collect();
        let is_new = |node: &&u32| followers.view().is_none_or(|view| view.is_there(**node));
        let gone = lost.iter().filter(is_new).copied();
        let failures: Vec<Failure> =
            [None].into_iter().chain(gone.map(Some)).map(|node| failure(node, own, now)).collect();
        let mut conductor = Conductor::new(plan, kills);
        conductor.went = Some(Duration::ZERO);
        conductor.steps = followers.steps();
        for node in 0..conductor.plan.nodes {
            let member = &mut conductor.roster[node];
            member.pid = followers.pid(node);
            member.stage = if followers.has(node) { Stage::Running } else { Stage::Gone };
        }
        conductor.actions.extend(failures.iter().map(|failure| Action::Say(failure.what.clone())));
        let steps = conductor.steps.done;
        let (recovery, actions) =
            Recovery::taking_over(&conductor.plan, followers, lost, (failures, now, steps));
        conductor.recovery = Some(recovery);
        actions.into_iter().for_each(|action| conductor.carry_out(now, action));
        conductor
    }
}

/// Of the launcher, or of a node that was gone by then.
fn failure(node: Option<u32>, own: u32, now: Duration) -> Failure {
    let what = match node {
        None => format!("the launcher is gone; node {own} leads now"),
        Some(node) => format!("node {node} is gone too"),
    };
    Failure { node, what, detected: "exit".into(), at_s: now.as_secs_f64(), ..Failure::default() }
}
