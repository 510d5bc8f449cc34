//! Processes that wait from the job's start for a node to be lost (`--spares`).
//!
//! They are numbered behind the nodes. One that takes a lost node's place is called by that node's number from then on, by its host too; what
//! it said before, its `Hello` for instance, may still come under its own.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Action, Coordinator};
use crate::event::Event;
use crate::protocol::{ToLauncher, VERSION};
use talisman_observe::sometimes::sometimes;

/// Those of a job.
#[derive(Default)]
pub(super) struct Spares {
    /// That wait, with their process ids once they have said `Hello`.
    waiting: BTreeMap<u32, Option<u32>>,
    /// Those that have become nodes: which.
    used: BTreeMap<u32, u32>,
}

impl Spares {
    /// So many, behind so many nodes.
    pub(super) fn new(nodes: u32, spares: u32) -> Self {
        Spares {
            waiting: (nodes..nodes + spares).map(|spare| (spare, None)).collect(),
            used: BTreeMap::new(),
        }
    }

    /// The node that a process is called by.
    pub(super) fn node_of(&self, number: u32) -> u32 {
        self.used.get(&number).copied().unwrap_or(number)
    }

    /// Those that wait.
    pub(super) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        self.waiting.keys().copied()
    }

    /// One becomes this node, preferably one that has said `Hello`, and if several have, one that is near: its number, and its process id if
    /// it has.
    fn take(&mut self, node: u32, is_near: impl Fn(u32) -> bool) -> Option<(u32, Option<u32>)> {
        let (spare, pid) =
            self.waiting.iter().max_by_key(|(spare, pid)| (pid.is_some(), is_near(**spare)))?;
        let (spare, pid) = (*spare, *pid);
        self.waiting.remove(&spare);
        self.used.insert(spare, node);
        Some((spare, pid))
    }
}

impl Coordinator {
    /// A process that waits is to be this node, preferably one on the host where that was.
    pub(super) fn take_spare(&mut self, node: u32) -> Option<(u32, Option<u32>)> {
        let (before, nodes, hosts) = (self.plan.host_number(node), self.plan.nodes, &self.plan.spare_hosts);
        self.spares.take(node, |spare| host_of(spare, nodes, hosts) == before)
    }

    /// The host of a process that waits, or has waited, by its number among those of the job.
    pub(super) fn host_of_spare(&self, spare: u32) -> u32 {
        host_of(spare, self.plan.nodes, &self.plan.spare_hosts)
    }

    /// Something happened to a process that waits.
    pub(super) fn on_spare(&mut self, _: Duration, spare: u32, event: Event) {
        if !self.spares.waiting.contains_key(&spare) {
            return;
        }
        match event {
            Event::Said(ToLauncher::Hello { version: VERSION, pid, layout }) => {
                let name = format!("a spare process (pid {pid})");
                match self.layouts.on_hello(&name, layout) {
                    None => drop(self.spares.waiting.insert(spare, Some(pid))),
                    Some(why) => {
                        self.actions.push(Action::Kill(spare));
                        self.lose_spare(spare, &why);
                    }
                }
            }
            Event::Started(_) => {}
            Event::Said(_) => self.actions.push(Action::Kill(spare)),
            Event::NotStarted(why) | Event::Lost(why) | Event::Garbled(why) => self.lose_spare(spare, &why),
            Event::Ended(how) => self.lose_spare(spare, &format!("{how}")),
        }
    }

    /// A node is lost with its host, and with all that waits there: none of them is to take its place, though nobody has said of them yet that they
    /// are lost.
    pub(super) fn lose_spares_beside(&mut self, node: u32, why: &str) {
        let host = self.plan.host_number(node);
        let there: Vec<u32> =
            self.spares.waiting().filter(|spare| self.host_of_spare(*spare) == host).collect();
        there.into_iter().for_each(|spare| self.lose_spare(spare, why));
    }

    fn lose_spare(&mut self, spare: u32, why: &str) {
        sometimes("a spare process was lost");
        self.spares.waiting.remove(&spare);
        let left = self.spares.waiting.len();
        self.actions.push(Action::Warn(format!("a spare process is lost ({why}); {left} left")));
    }
}

fn host_of(spare: u32, nodes: u32, hosts: &[u32]) -> u32 {
    hosts.get(spare.saturating_sub(nodes) as usize).copied().unwrap_or_default()
}
