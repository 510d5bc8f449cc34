//! What nodes say to a new launcher, and what it knows when all that live have said it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use talisman_ft::view::View;
use talisman_ft::{Epoch, Version};

use talisman_base::layout::mark::LayoutMark;
use talisman_job::lines::Piece;
use talisman_job::progress::Steps;
use talisman_job::{Failure, Results};
use talisman_observe::mutations::mutated;

/// A node that has lost its launcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Follower {
    /// Of the control connection.
    pub version: u16,
    pub job: u64,
    pub node: u32,
    pub pid: u32,
    /// As [`Task::life`](crate::protocol::Task::life).
    pub life: u64,
    /// The largest one that it has heard of.
    pub lives: u64,
    /// Where it listens.
    pub address: Option<SocketAddr>,
    /// Of the last `Halt`.
    pub epoch: Epoch,
    /// Of the last order.
    pub view: View,
    /// The newest version that was known to be committed then: what was printed until that may have been seen, whoever is left to know.
    pub committed: Option<Version>,
    /// The version that was to come next then.
    pub next_version: Version,
    /// How often something had been lost by then.
    pub failures: u32,
    pub steps: Steps,
    /// Since the program began.
    pub running: Duration,
    /// For how long at most the launcher had said nothing to it then.
    pub unheard: Duration,
    /// Pieces of lines that the former launcher printed, by version and node.
    pub seen: Vec<(Version, u32, u32)>,
    /// The results of the job, if nobody goes back any more.
    pub settled: Option<Results>,
    /// Losses that the job has had, as far as it was told.
    pub losses: Vec<Failure>,
    /// Where everything is in its process, if the program needs that to be the same in all.
    pub layout: Option<LayoutMark>,
}

/// All that are left, by their numbers.
#[derive(Clone, Debug, Default)]
pub struct Followers {
    all: BTreeMap<u32, Follower>,
    /// As somebody knows who does not follow.
    settled: Option<Results>,
    /// What was printed of which they have not heard.
    printed: Vec<Piece>,
    /// For how long at most the launcher had said nothing to its hosts, if these are the ones that missed it.
    unheard: Option<Duration>,
}

impl Followers {
    pub fn add(&mut self, follower: Follower) {
        self.all.insert(follower.node, follower);
    }

    /// These were printed too.
    pub fn add_printed(&mut self, pieces: Vec<Piece>) {
        self.printed.extend(pieces);
    }

    /// The job has ended in order, with these results.
    pub fn settle(&mut self, results: Results) {
        self.settled = Some(results);
    }

    /// The launcher was missed by hosts, to which it had said nothing for so long at most.
    pub fn missed_by_hosts(&mut self, unheard: Duration) {
        self.unheard = Some(unheard);
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn has(&self, node: u32) -> bool {
        self.all.contains_key(&node)
    }

    /// What the node says, if it is left.
    pub fn get(&self, node: u32) -> Option<&Follower> {
        self.all.get(&node)
    }

    /// No node has been linked with a process of a later life.
    pub fn lives(&self) -> u64 {
        self.all.values().map(|follower| follower.lives).max().unwrap_or_default()
    }

    /// Whether a node was there when all went on last.
    pub fn was_there(&self, node: u32) -> bool {
        self.view().is_none_or(|view| view.is_there(node))
    }

    /// No epoch after this one has begun anywhere.
    pub fn epoch(&self) -> Epoch {
        let last = self.all.values().map(|follower| follower.epoch).max();
        last.filter(|_| !mutated("epochs-begin-again")).unwrap_or_default()
    }

    /// The view of the last orders that anybody has had.
    pub fn view(&self) -> Option<&View> {
        self.all.values().map(|follower| &follower.view).max_by_key(|view| view.epoch)
    }

    /// Nobody goes back behind this one any more. Behind a newer one that all went back to, and that was not committed, they may: what was
    /// printed since then waits for the next commit.
    pub fn committed(&self) -> Option<Version> {
        let newest = self.all.values().filter_map(|follower| follower.committed).max();
        newest.filter(|_| !mutated("committed-is-forgotten"))
    }

    /// As far as they know, no version from this one on was begun before their last order.
    pub fn next_version(&self) -> Version {
        self.all.values().map(|follower| follower.next_version).max().unwrap_or_default()
    }

    /// How often something had been lost by their last order.
    pub fn failures(&self) -> u32 {
        self.all.values().map(|follower| follower.failures).max().unwrap_or_default()
    }

    /// For how long the program has been running.
    pub fn running(&self) -> Duration {
        self.all.values().map(|follower| follower.running).max().unwrap_or_default()
    }

    /// The launcher was there until at most so long before it was missed.
    pub fn unheard(&self) -> Option<Duration> {
        self.unheard.or_else(|| self.all.values().map(|follower| follower.unheard).min())
    }

    /// Where everything is in their processes, if the program needs that to be the same in all.
    pub fn layout(&self) -> Option<&LayoutMark> {
        self.all.values().find_map(|follower| follower.layout.as_ref())
    }

    /// The results of the job, if it has ended in order, and some may have left already.
    pub fn settled(&self) -> Option<&Results> {
        let told = self.all.values().find_map(|follower| follower.settled.as_ref());
        told.or(self.settled.as_ref()).filter(|_| !mutated("settled-is-forgotten"))
    }

    /// The losses that former launchers have told of, as whoever was told last knows them.
    pub fn losses(&self) -> &[Failure] {
        let settled = |losses: &[Failure]| losses.iter().filter(|loss| loss.is_settled()).count();
        let all = self.all.values().map(|follower| &follower.losses[..]);
        all.max_by_key(|losses| (losses.len(), settled(losses))).unwrap_or_default()
    }

    /// How far the program is.
    pub fn steps(&self) -> Steps {
        let done = self.all.values().map(|follower| follower.steps.done).max().unwrap_or_default();
        let total = self.all.values().filter_map(|follower| follower.steps.total).max();
        Steps { done, total }
    }

    /// Those that have come in a lost node's place, or were being added, and have had no orders.
    pub fn newcomers(&self) -> impl Iterator<Item = u32> + '_ {
        let is_new = |follower: &&Follower| follower.life > 0 && follower.view.epoch == 0;
        self.all.values().filter(is_new).map(|follower| follower.node)
    }

    /// What has been printed.
    pub fn seen(&self) -> impl Iterator<Item = Piece> + '_ {
        self.all.values().flat_map(|follower| &follower.seen).chain(&self.printed).copied()
    }
}
