//! Where PEs are: nodes, hosts, cores; and which of them are measured in pairs.

use std::fs;
use std::thread;

use rustix::process::getpid;
use rustix::thread::sched_getaffinity;
use talisman::prelude::*;

use crate::raw::Way;

/// Where one PE is.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Place {
    pub pe: u32,
    pub node: u32,
    /// What its host is called.
    host: String,
    /// What only PEs of one host have in common: the system's start, and its network.
    machine: String,
    cores: u32,
}

impl Place {
    /// Of this process.
    pub fn here(pe: u32, node: u32) -> Place {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let network = fs::read_link("/proc/self/ns/net").unwrap_or_default();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Place { pe, node, host, machine: format!("{} {}", boot.trim(), network.display()), cores: cores() }
    }
}

#[cfg(test)]
impl Place {
    /// One that there is not.
    pub fn made_up(pe: u32, node: u32, host: &str, cores: u32) -> Place {
        Place { pe, node, host: host.into(), machine: host.into(), cores }
    }
}

/// Those of this process: its first thread has all, while threads of PEs may each keep to one.
fn cores() -> u32 {
    let of_process = sched_getaffinity(Some(getpid())).map_or(1, |cores| cores.count());
    let of_thread = thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    of_process.max(of_thread)
}

/// What is between two PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Between {
    /// Both are of one node.
    Pes,
    /// Two nodes of one host.
    Nodes,
    /// Two hosts.
    Hosts,
}

/// Two PEs that are measured together.
#[derive(Clone, Copy, Debug, Pup)]
pub struct Two {
    pub between: Between,
    first: u32,
    second: u32,
}

impl Two {
    pub fn pes(&self) -> (u32, u32) {
        (self.first, self.second)
    }

    /// What the machine itself has between them.
    pub fn way(&self) -> Way {
        match self.between {
            Between::Hosts => Way::Tcp,
            Between::Pes | Between::Nodes => Way::Memory,
        }
    }
}

/// Where all PEs are.
#[derive(Pup)]
pub struct Places {
    /// By PE.
    all: Vec<Place>,
    pairs: Vec<Two>,
}

impl Places {
    pub fn new(mut all: Vec<Place>) -> Places {
        all.sort_by_key(|place| place.pe);
        let mut places = Places { all, pairs: Vec::new() };
        places.pairs =
            [places.two_pes(), places.two_nodes()].into_iter().flatten().chain(places.ring()).collect();
        places
    }

    pub fn pairs(&self) -> &[Two] {
        &self.pairs
    }

    pub fn pes(&self) -> usize {
        self.all.len()
    }

    /// PEs of a host, and its cores, for each host in order of its first PE.
    pub fn hosts(&self) -> Vec<(Vec<u32>, u32)> {
        let first = self.first_of_hosts();
        let of = |first: &&Place| {
            let here = self.all.iter().filter(|place| place.machine == first.machine);
            (here.map(|place| place.pe).collect(), first.cores)
        };
        first.iter().map(of).collect()
    }

    pub fn nodes(&self) -> usize {
        let mut nodes: Vec<u32> = self.all.iter().map(|place| place.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.len()
    }

    /// How people find a PE.
    pub fn name(&self, pe: u32) -> String {
        self.of(pe)
            .map_or(format!("PE {pe}"), |place| format!("PE {pe} (node {}, host {})", place.node, place.host))
    }

    /// How many there are of what.
    pub fn told(&self) -> String {
        let count = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        let (pes, nodes, hosts) = (self.pes(), self.nodes(), self.first_of_hosts().len());
        format!("{}, {}, {}\n\n", count(hosts, "host"), count(nodes, "node"), count(pes, "PE"))
    }

    fn of(&self, pe: u32) -> Option<&Place> {
        self.all.iter().find(|place| place.pe == pe)
    }

    /// The first PE of each host.
    fn first_of_hosts(&self) -> Vec<&Place> {
        let is_first = |at: usize| self.all[..at].iter().all(|before| before.machine != self.all[at].machine);
        (0..self.all.len()).filter(|at| is_first(*at)).map(|at| &self.all[at]).collect()
    }

    fn two_pes(&self) -> Option<Two> {
        let [first, second, ..] = &self.all[..] else { return None };
        let is_here = first.node == second.node;
        is_here.then_some(Two { between: Between::Pes, first: first.pe, second: second.pe })
    }

    /// The first two nodes of the first host that has two.
    fn two_nodes(&self) -> Option<Two> {
        self.first_of_hosts().into_iter().find_map(|first| {
            let second =
                self.all.iter().find(|other| other.machine == first.machine && other.node != first.node)?;
            Some(Two { between: Between::Nodes, first: first.pe, second: second.pe })
        })
    }

    /// Each host and the next.
    fn ring(&self) -> Vec<Two> {
        let first = self.first_of_hosts();
        let pairs = match first.len() {
            0 | 1 => 0,
            2 => 1,
            hosts => hosts,
        };
        let pair = |at: usize| Two {
            between: Between::Hosts,
            first: first[at].pe,
            second: first[(at + 1) % first.len()].pe,
        };
        (0..pairs).map(pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(machines: &[(&str, u32)]) -> Places {
        let of = |(pe, (machine, node)): (usize, &(&str, u32))| Place::made_up(pe as u32, *node, machine, 2);
        // In the order in which they happen to come.
        Places::new(machines.iter().enumerate().map(of).rev().collect())
    }

    fn pairs(machines: &[(&str, u32)]) -> Vec<(Between, u32, u32)> {
        places(machines).pairs().iter().map(|two| (two.between, two.first, two.second)).collect()
    }

    #[test]
    fn each_kind_of_pair_there_is_is_measured() {
        use Between::*;
        assert_eq!(pairs(&[("a", 0)]), []);
        assert_eq!(pairs(&[("a", 0), ("a", 0)]), [(Pes, 0, 1)]);
        assert_eq!(pairs(&[("a", 0), ("a", 1)]), [(Nodes, 0, 1)]);
        assert_eq!(pairs(&[("a", 0), ("a", 0), ("a", 1), ("a", 1)]), [(Pes, 0, 1), (Nodes, 0, 2)]);
        assert_eq!(pairs(&[("a", 0), ("b", 1)]), [(Hosts, 0, 1)]);
        let three = [("a", 0), ("b", 1), ("b", 2), ("c", 3)];
        assert_eq!(pairs(&three), [(Nodes, 1, 2), (Hosts, 0, 1), (Hosts, 1, 3), (Hosts, 3, 0)]);
    }

    #[test]
    fn hosts_are_counted_by_what_they_are() {
        let places = places(&[("a", 0), ("a", 1), ("b", 2)]);
        assert_eq!(places.told(), "2 hosts, 3 nodes, 3 PEs\n\n");
        assert_eq!(places.hosts(), [(vec![0, 1], 2), (vec![2], 2)]);
        assert_eq!(places.name(2), "PE 2 (node 2, host b)");
    }
}
