//! A job whose launcher is gone, and that another one leads from now on.

use std::time::Duration;

use super::layouts::Layouts;
use super::{Action, Coordinator};
use crate::follower::{Follower, Followers};
use crate::kills::Kills;
use crate::members::Stage;
use crate::plan::Plan;
use crate::recovery::Recovery;
use talisman_job::Failure;

impl Coordinator {
    /// By whom people are told, with those that are left. Time is that since the program's beginning. All go back as after a loss,
    /// but in a job that logs: nobody knows what the former launcher had said to whom.
    pub fn taking_over(plan: Plan, kills: Kills, leader: &str, followers: &Followers) -> Self {
        let now = followers.running();
        let (lost, left): (Vec<u32>, Vec<u32>) = (0..plan.nodes).partition(|node| !followers.has(*node));
        let is_missed = |node: &u32| followers.was_there(*node) && followers.settled().is_none();
        let gone: Vec<u32> = lost.iter().copied().filter(is_missed).collect();
        // The former launcher may have told of some before it was lost itself.
        let is_told = |node: &u32| {
            let mut unsettled = followers.losses().iter().filter(|loss| !loss.is_settled());
            unsettled.any(|loss| loss.node == Some(*node))
        };
        let news = gone.iter().copied().filter(|node| !is_told(node));
        let who = [None].into_iter().chain(news.map(Some));
        let detect_s = followers.unheard().map(|unheard| unheard.as_secs_f64());
        let failure = |node| Failure { detect_s, ..failure(node, leader, now) };
        let failures: Vec<Failure> = who.map(failure).collect();
        let mut coordinator = Coordinator::new(plan, kills);
        coordinator.went = Some(Duration::ZERO);
        coordinator.layouts = Layouts::known("the nodes that are left", followers.layout());
        coordinator.steps = followers.steps();
        coordinator.lives = followers.lives();
        (0..coordinator.plan.nodes).for_each(|node| coordinator.take_up(node, followers.get(node)));
        coordinator.actions.extend(failures.iter().map(|failure| Action::Warn(failure.what.clone())));
        if let Some(results) = followers.settled() {
            coordinator.end_settled([followers.losses(), &failures].concat(), results.clone());
            return coordinator;
        }
        if coordinator.plan.logs {
            coordinator.gather_logged(followers, [followers.losses(), &failures].concat());
            return coordinator;
        }
        let told = (failures, now, coordinator.steps.done);
        let (recovery, actions) = Recovery::taking_over(&coordinator.plan, followers, lost, told);
        coordinator.recovery = Some(recovery);
        actions.into_iter().for_each(|action| coordinator.carry_out(now, action));
        gone.into_iter().for_each(|node| coordinator.replace(now, node));
        // Whoever was released, and had not heard that it may go.
        coordinator.release(now, left.into_iter().filter(|node| !followers.was_there(*node)).collect());
        coordinator
    }

    /// A node as it says that it is; nothing if it is lost.
    fn take_up(&mut self, node: u32, follower: Option<&Follower>) {
        let member = &mut self.roster[node];
        member.stage = if follower.is_some() { Stage::Running } else { Stage::Gone };
        if let Some(Follower { pid, life, address, .. }) = follower {
            (member.pid, member.life, member.address) = (Some(*pid), *life, *address);
        }
    }
}

/// Of the launcher, or of a node that was gone by then.
fn failure(node: Option<u32>, leader: &str, now: Duration) -> Failure {
    let what = match node {
        None => format!("the launcher is gone; {leader} leads now"),
        Some(node) => format!("node {node} is gone too"),
    };
    Failure { node, what, detected: "exit".into(), at_s: now.as_secs_f64(), ..Failure::default() }
}
