//! Which hosts are left of a job, as the one finds out that takes the launcher's place; and which of their nodes.
//!
//! Pure: an agent is whatever can be told something.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use crate::follower::{Follower, Followers};
use crate::heartbeat::{Heartbeat, TICK};
use crate::succession::quorum::Roll;
use talisman_observe::mutations::mutated;

/// Why nobody leads the job.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Alone {
    /// All hosts are there, and the program has begun on none.
    #[error("nothing has begun")]
    NothingHasBegun,
    /// Something else.
    #[error("{0}")]
    Other(String),
}

/// Agents that come.
#[derive(Debug)]
pub struct Election<A> {
    own: u32,
    pub come: BTreeMap<u32, A>,
    /// Those whose hosts say that nobody listens there any more.
    pub dead: BTreeSet<u32>,
    /// The last one that any of them knows.
    pub roll: Roll,
    patience: Heartbeat,
}

impl<A> Election<A> {
    /// Of the host of this rank, where nobody may be silent for longer than this.
    pub fn new(own: u32, roll: Roll, silence: Duration) -> Self {
        // Some may notice the loss so much later, and wait so long for others that are not there.
        let patience = Heartbeat::new(silence * 2 + TICK * 8);
        Election { own, come: BTreeMap::new(), dead: BTreeSet::new(), roll, patience }
    }

    /// The agent of a host says what it knows.
    pub fn on_roll(&mut self, roll: &Roll) {
        if roll.number > self.roll.number {
            self.roll = roll.clone();
        }
    }

    /// The agent of a host has come.
    pub fn on_come(&mut self, rank: u32, agent: A) {
        self.come.insert(rank, agent);
    }

    /// Nobody listens on a host any more.
    pub fn on_dead(&mut self, rank: u32) {
        self.dead.insert(rank);
    }

    /// A tick went by; whether that was enough.
    pub fn on_tick(&mut self) -> bool {
        self.patience.tick()
    }

    /// Whether nobody is missing any more.
    pub fn is_complete(&self) -> bool {
        let is_enough = self.come.contains_key(&self.own) && mutated("not-all-hosts-are-waited-for");
        self.missing().is_empty() || is_enough
    }

    /// Those that may still come.
    pub fn missing(&self) -> BTreeSet<u32> {
        let is_missing = |rank: &&u32| !self.come.contains_key(*rank) && !self.dead.contains(*rank);
        self.roll.members.iter().chain([&self.own]).filter(is_missing).copied().collect()
    }

    /// Where those would be found that may be dead: nobody waits for them.
    pub fn doubtful(&self) -> Vec<(u32, SocketAddr)> {
        let missing = self.missing().into_iter().filter(|rank| *rank != self.own);
        missing.filter_map(|rank| Some((rank, self.roll.door(rank)?))).collect()
    }

    /// The hosts that go on, if any do.
    pub fn here(&self) -> BTreeSet<u32> {
        self.come.keys().copied().chain([self.own]).collect()
    }

    /// Whether they may, by what each of them knows of whether the program has begun.
    ///
    /// # Errors
    /// Why they may not.
    pub fn may_go_on(&self, has_begun: impl Fn(&A) -> bool) -> Result<(), Alone> {
        let hosts = self.roll.members.difference(&self.dead).count();
        if !self.roll.lets_go_on(&self.here(), &self.dead) {
            return Err(Alone::Other(format!(
                "of {hosts} hosts {} can be reached, and the others may go on without them",
                self.here().len()
            )));
        }
        // Of whoever is not here, nothing is known.
        let are_here = self.roll.members.iter().all(|rank| self.come.contains_key(rank));
        match !are_here || self.come.values().any(has_begun) {
            true => Ok(()),
            false => Err(Alone::NothingHasBegun),
        }
    }
}

/// Nodes that are asked what they are.
#[derive(Debug)]
pub struct Introductions {
    missing: BTreeSet<u32>,
    pub followers: Followers,
    patience: Heartbeat,
    last_patience: Heartbeat,
}

/// What is to be done about nodes that have not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    Nothing,
    /// They are killed, and their ends waited for.
    Kill,
    /// They are waited for no longer.
    Leave,
}

impl Introductions {
    /// These are asked, each of which may be silent for so long.
    pub fn new(missing: BTreeSet<u32>, silence: Duration) -> Self {
        let (patience, last_patience) = (Heartbeat::new(silence), Heartbeat::new(silence * 2));
        Introductions { missing, followers: Followers::default(), patience, last_patience }
    }

    /// A node answers; whether that was wanted.
    pub fn on_follow(&mut self, node: u32, follower: Follower) -> bool {
        let is_wanted = self.missing.remove(&node);
        if is_wanted {
            self.followers.add(follower);
        }
        is_wanted
    }

    /// A node has ended, or its host is lost.
    pub fn on_end(&mut self, node: u32) {
        self.missing.remove(&node);
    }

    /// A tick went by.
    pub fn on_tick(&mut self) -> Due {
        let (is_late, is_over) = (self.patience.tick(), self.last_patience.tick());
        match () {
            () if is_over => Due::Leave,
            () if is_late => Due::Kill,
            () => Due::Nothing,
        }
    }

    /// Those that have not answered.
    pub fn missing(&self) -> &BTreeSet<u32> {
        &self.missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the second of so many hosts, of which the first one was the launcher's. An agent is whether its program has begun.
    fn muster(hosts: u32) -> Election<bool> {
        let doors = (0..hosts).map(|rank| Some(([127, 0, 0, 1], rank as u16 + 1).into())).collect();
        Election::new(1, Roll { number: 1, keeper: 0, members: (0..hosts).collect(), doors }, TICK * 2)
    }

    #[test]
    fn all_that_may_be_left_are_waited_for_but_not_for_ever() {
        let mut muster = muster(3);
        muster.on_come(1, true);
        assert_eq!(muster.missing(), [0, 2].into());
        muster.on_dead(0);
        assert!(!muster.is_complete());
        let ticks = (1..).find(|_| muster.on_tick());
        assert_eq!(ticks, Some(13), "twice the silence, eight ticks, and the one under way");
        muster.on_come(2, true);
        assert!(muster.is_complete());
    }

    #[test]
    fn the_larger_part_goes_on_and_whoever_is_dead_does_not_count() {
        let goes_on = |come: &[u32], dead: &[u32]| {
            let mut muster = muster(4);
            come.iter().for_each(|rank| muster.on_come(*rank, true));
            dead.iter().for_each(|rank| muster.on_dead(*rank));
            muster.may_go_on(|has_begun| *has_begun).is_ok()
        };
        assert!(goes_on(&[1, 2, 3], &[]));
        assert!(!goes_on(&[1, 2], &[]), "half, without the launcher's host");
        assert!(goes_on(&[0, 1], &[]), "half, with that one");
        assert!(goes_on(&[1, 2], &[0]));
        assert!(!goes_on(&[1], &[0]));
    }

    #[test]
    fn nothing_is_led_that_has_not_begun_but_of_the_missing_nothing_is_known() {
        let mut muster = muster(3);
        (1..3).for_each(|rank| muster.on_come(rank, false));
        assert_eq!(muster.may_go_on(|has_begun| *has_begun), Ok(()));
        muster.on_come(0, false);
        assert_eq!(muster.may_go_on(|has_begun| *has_begun), Err(Alone::NothingHasBegun));
        muster.on_come(2, true);
        assert_eq!(muster.may_go_on(|has_begun| *has_begun), Ok(()));
    }

    #[test]
    fn the_newest_roll_counts() {
        let mut muster = muster(3);
        muster.on_roll(&Roll { number: 2, members: [1, 2].into(), ..muster.roll.clone() });
        muster.on_roll(&Roll { number: 1, members: [0, 1, 2].into(), ..muster.roll.clone() });
        assert_eq!(muster.missing(), [1, 2].into());
    }

    #[test]
    fn who_does_not_introduce_itself_is_killed_and_then_left() {
        let mut asked = Introductions::new([3, 4].into(), TICK * 2);
        let due: Vec<Due> = (0..6).map(|_| asked.on_tick()).collect();
        assert_eq!(due, [Due::Nothing, Due::Nothing, Due::Kill, Due::Nothing, Due::Leave, Due::Nothing]);
        asked.on_end(3);
        assert_eq!(asked.missing(), &[4].into());
    }
}
