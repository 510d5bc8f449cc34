//! What only the world can see to be wrong when a job of several hosts loses its launcher.

use std::collections::BTreeSet;

use super::World;
use crate::fault::What;
use crate::trace::Who;

impl World {
    /// A process is about to lead, and another one may.
    pub(super) fn judge_second_leader(&self, host: u32) {
        let launcher = self.launcher.borrow();
        let leads = !launcher.gone && !launcher.is_over() && self.has_enough_hosts();
        if leads {
            drop(launcher);
            let other = self.launcher_host(self.era.get());
            self.flaw(format!(
                "the process on host {host} is about to lead, and so does that on host {other}"
            ));
        }
    }

    /// Whether the one that leads would go on by what it knows.
    fn has_enough_hosts(&self) -> bool {
        self.succession.borrow().register.as_ref().is_some_and(|register| register.goes_on())
    }

    /// These hosts are to go on. Whoever looks for a launcher on another, and could be reached all the time, was not waited for.
    pub(super) fn judge_left_out(&self, here: &BTreeSet<u32>, era: u32) {
        let disturbs = |what: &What| {
            matches!(
                what,
                What::Cut { .. } | What::HostLoss { .. } | What::LauncherStop { .. } | What::Slow { .. }
            )
        };
        if self.hurt.borrow().iter().any(|(_, what)| disturbs(what)) {
            return;
        }
        let hosts = 0..self.plan.hosts.len() as u32;
        let left_out: Vec<u32> = hosts.filter(|host| !here.contains(host) && self.has_agent(*host)).collect();
        if !left_out.is_empty() {
            self.say(Who::Launcher, format_args!("hosts {left_out:?} are left out in era {era}"));
            self.flaw(format!("hosts {left_out:?}, which could be reached, were not waited for"));
        }
    }

    /// The job is over. If it had no launcher in the end, it could not have one: too few hosts were left, or no node that had begun.
    pub(crate) fn judge_unled(&self) {
        if !self.plan.passes_on() || !self.launcher.borrow().gone {
            return;
        }
        let hurt = self.hurt.borrow();
        let is_harmless = |what: &What| {
            matches!(
                what,
                What::LauncherLoss
                    | What::Crowd { .. }
                    | What::Alter { .. }
                    | What::Truncate { .. }
                    | What::Reset { .. }
                    | What::Ask(_)
            )
        };
        let all_had_begun = self.nodes.iter().all(|process| process.went.get() || process.is_late);
        // Processes that are gone say nothing of that any more.
        let had_ended = self.launcher.borrow().over_at.is_some()
            || self.nodes.iter().any(|process| process.job.how_it_ended().is_some_and(|end| end.status == 0));
        let may_end = hurt.iter().any(|(_, what)| !is_harmless(what)) || had_ended || !all_had_begun;
        let losses = hurt.iter().filter(|(_, what)| *what == What::LauncherLoss).count();
        if !may_end && losses == 1 {
            self.flaw("all hosts had lost their launcher, and nothing else, and none of them led".into());
        }
    }
}
