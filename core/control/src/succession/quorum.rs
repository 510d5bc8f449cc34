//! Which hosts may go on without the others. Pure.
//!
//! Nobody can tell a machine that is out of reach from one that is off. So of two parts of a job that do not reach each other at most one
//! may go on: the one with more than half of the hosts, or with half of them if it has the launcher's. Hosts that are proved dead do not
//! count. As hosts are lost one after the other, those that are left agree on a shorter list, the *roll*, of which the next loss takes
//! its share; until all of them have it, the longer one counts.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use talisman_observe::mutations::mutated;

/// The hosts of a job that were there, by their ranks, at some moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roll {
    /// Of two, the larger one is the later one.
    pub number: u64,
    /// The host of the launcher, which decides between halves.
    pub keeper: u32,
    pub members: BTreeSet<u32>,
    /// Where the agent of each host listens, if it does; of all hosts.
    pub doors: Vec<Option<SocketAddr>>,
}

impl Roll {
    /// The same on another host, which reaches the launcher's at this address: what listens at all addresses does not know that.
    pub fn seen_from_afar(mut self, launcher: IpAddr) -> Self {
        for door in self.doors.iter_mut().flatten().filter(|door| door.ip().is_unspecified()) {
            door.set_ip(launcher);
        }
        self
    }

    /// Whether these may go on by themselves, where those are proved dead.
    pub fn lets_go_on(&self, these: &BTreeSet<u32>, dead: &BTreeSet<u32>) -> bool {
        let voters: BTreeSet<u32> = self.members.difference(dead).copied().collect();
        let with = voters.intersection(these).count() * 2;
        with > voters.len()
            || with == voters.len() && (these.contains(&self.keeper) || mutated("any-half-goes-on"))
    }

    /// Where the agent of a host is found that may be there.
    pub fn door(&self, rank: u32) -> Option<SocketAddr> {
        self.doors.get(rank as usize).copied().flatten().filter(|_| self.members.contains(&rank))
    }
}

/// What a launcher knows of its hosts.
#[derive(Debug)]
pub struct Register {
    keeper: u32,
    doors: Vec<Option<SocketAddr>>,
    /// Those that are there.
    here: BTreeSet<u32>,
    /// Those that are proved dead.
    dead: BTreeSet<u32>,
    /// Those that somebody may go by, in their order: the first one is known to all that are there, or counts until the second one is.
    rolls: Vec<Roll>,
    /// The last one that each knows.
    enrolled: BTreeMap<u32, u64>,
}

impl Register {
    /// Of a job with so many hosts, none of which has said where it listens.
    pub fn new(keeper: u32, hosts: u32) -> Self {
        Register {
            keeper,
            doors: vec![None; hosts as usize],
            here: (0..hosts).collect(),
            dead: BTreeSet::new(),
            rolls: Vec::new(),
            enrolled: BTreeMap::new(),
        }
    }

    /// Of one that has taken a launcher's place, with these hosts by that roll; and its own first one.
    pub fn going_on(keeper: u32, here: BTreeSet<u32>, dead: BTreeSet<u32>, roll: Roll) -> (Self, Roll) {
        let doors = roll.doors.clone();
        let mut register =
            Register { keeper, doors, here, dead, rolls: vec![roll], enrolled: BTreeMap::new() };
        let next = register.next();
        (register, next)
    }

    /// An agent listens there; the first roll, once all do.
    pub fn on_listening(&mut self, rank: u32, door: SocketAddr) -> Option<Roll> {
        *self.doors.get_mut(rank as usize)? = Some(door);
        let is_first = self.rolls.is_empty() && self.doors.iter().all(Option::is_some);
        is_first.then(|| self.next())
    }

    /// A host knows a roll.
    pub fn on_enrolled(&mut self, rank: u32, number: u64) {
        let known = self.enrolled.entry(rank).or_default();
        *known = (*known).max(number);
        let listening = self.here.iter().filter(|rank| self.doors[**rank as usize].is_some());
        let known_to_all = listening.map(|rank| self.enrolled.get(rank).copied().unwrap_or_default());
        let oldest = known_to_all.min().unwrap_or_default();
        let known = self.rolls.iter().rposition(|roll| roll.number <= oldest).unwrap_or_default();
        self.rolls.drain(..known);
    }

    /// A host is lost, or of the launcher's own the agent; the next roll, if there has been one.
    pub fn on_lost(&mut self, rank: u32) -> Option<Roll> {
        let is_new = match rank == self.keeper {
            true => self.doors[rank as usize].take().is_some(),
            false => self.here.remove(&rank),
        };
        (is_new && !self.rolls.is_empty()).then(|| self.next())
    }

    /// It is proved that nothing of a host runs any more.
    pub fn on_dead(&mut self, rank: u32) {
        self.dead.insert(rank);
    }

    /// Hosts that may go on by themselves, as far as is known: they are not there, and not proved dead.
    pub fn missing(&self) -> Vec<u32> {
        let hosts = 0..self.doors.len() as u32;
        hosts.filter(|rank| !self.here.contains(rank) && !self.dead.contains(rank)).collect()
    }

    /// Where the agent of a host listened.
    pub fn door(&self, rank: u32) -> Option<SocketAddr> {
        self.doors.get(rank as usize).copied().flatten()
    }

    /// Whether those that are there may go on: nobody else does then. Before the first roll nobody goes on without the launcher.
    pub fn goes_on(&self) -> bool {
        self.rolls.iter().all(|roll| roll.lets_go_on(&self.here, &self.dead))
    }

    fn next(&mut self) -> Roll {
        let number = self.rolls.last().map_or(0, |roll| roll.number) + 1;
        let roll =
            Roll { number, keeper: self.keeper, members: self.here.clone(), doors: self.doors.clone() };
        self.rolls.push(roll.clone());
        roll
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(mask: u32) -> BTreeSet<u32> {
        (0..5).filter(|rank| mask >> rank & 1 == 1).collect()
    }

    fn roll(number: u64, members: u32) -> Roll {
        Roll { number, keeper: 0, members: set(members), doors: vec!["127.0.0.1:9".parse().ok(); 5] }
    }

    /// Whatever each of them has found out about who is dead.
    #[test]
    fn of_two_parts_that_do_not_reach_each_other_one_at_most_goes_on() {
        for (keeper, members) in [(0, 0b1111), (1, 0b1110), (2, 0b0110), (3, 0b1101)] {
            let roll = Roll { keeper, ..roll(1, members) };
            for (one, known) in (0..16).flat_map(|one| (0..16).map(move |known| (one, known))) {
                let one_goes_on = roll.lets_go_on(&set(one), &set(known & !one));
                for (other, also_known) in (0..16).flat_map(|other| (0..16).map(move |known| (other, known)))
                {
                    let apart = one & other == 0 && (known | also_known) & (one | other) == 0;
                    if apart && one_goes_on {
                        assert!(!roll.lets_go_on(&set(other), &set(also_known)), "{one:b} {other:b}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_host_alone_goes_on_with_the_launcher_or_if_all_others_are_dead() {
        let pair = roll(1, 0b11);
        assert!(pair.lets_go_on(&set(0b01), &set(0)), "it has the launcher");
        assert!(!pair.lets_go_on(&set(0b10), &set(0)));
        assert!(pair.lets_go_on(&set(0b10), &set(0b01)));
    }

    /// The register of a job with five hosts, all of which know the first roll.
    fn register() -> Register {
        let mut register = Register::new(0, 5);
        let door = "127.0.0.1:9".parse().unwrap();
        assert!((0..4).all(|rank| register.on_listening(rank, door).is_none()));
        assert_eq!(register.on_listening(4, door), Some(roll(1, 31)));
        (0..5).for_each(|rank| register.on_enrolled(rank, 1));
        register
    }

    #[test]
    fn hosts_that_are_lost_one_after_the_other_leave_a_part_that_goes_on() {
        let mut register = register();
        for (rank, number) in [(4, 2), (3, 3), (2, 4), (1, 5)] {
            assert_eq!(register.on_lost(rank).map(|roll| roll.number), Some(number));
            assert!(register.goes_on(), "without {rank}");
            (0..rank).for_each(|left| register.on_enrolled(left, number));
        }
    }

    #[test]
    fn hosts_that_are_lost_at_once_do_not_unless_they_are_dead() {
        let mut register = register();
        for rank in [4, 3] {
            register.on_lost(rank);
        }
        assert!(register.goes_on());
        register.on_enrolled(0, 3);
        register.on_enrolled(1, 3);
        register.on_lost(2);
        assert!(!register.goes_on(), "one of those may not have known that two others were lost");
        register.on_dead(4);
        assert!(register.goes_on());
        assert_eq!(register.missing(), [2, 3], "they may be there for others");
    }

    #[test]
    fn a_successor_keeps_to_the_old_roll_until_all_know_its_own() {
        let (mut register, first) = Register::going_on(1, set(0b1110), set(0), roll(7, 0b11111));
        assert_eq!((first.number, first.keeper, first.members), (8, 1, set(0b1110)));
        register.on_lost(3);
        assert!(!register.goes_on());
        register.on_enrolled(1, 9);
        register.on_enrolled(2, 9);
        assert!(register.goes_on());
    }
}
