//! What a job is to be: how many nodes, where, and how they are linked.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use talisman_ft::double::leader::Leader;
use talisman_ft::logging::Keepers;

use crate::hosts::Share;
use crate::protocol::{Host, Task, VERSION};
use crate::slurm::SLURM;
use talisman_base::auth::Secret;
use talisman_base::build::build_number;
use talisman_job::RunArgs;
use talisman_job::checkpoints::{CkptEvery, FaultTolerance};
use talisman_job::options::{Transport, TransportChoice};
use talisman_job::strategies;
use talisman_store::restart::Keeping;

/// What all nodes are told, and what differs between them.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many have a number.
    pub nodes: u32,
    /// How many there are at the start; others may be added.
    pub begins_with: u32,
    pub pes: u32,
    pub job: u64,
    pub secret: Secret,
    pub build: u64,
    /// How nodes of one host are linked.
    pub transport: TransportChoice,
    pub tls: bool,
    pub listen: IpAddr,
    /// The nodes of each host; every node that there is or was is in one.
    pub hosts: Vec<Vec<u32>>,
    /// The host of each process that waits, by its number among those of the job.
    pub spare_hosts: Vec<u32>,
    /// What each host is called, unless it is the launcher's own.
    pub names: Vec<Option<String>>,
    pub watched: Vec<u64>,
    pub progress: bool,
    pub silence: Duration,
    /// Whether nodes may be lost while the program runs (`--ft`).
    pub survives: bool,
    /// Whether nodes log their messages, so that only what is lost goes back (`--ft logging`).
    pub logs: bool,
    /// Whether one of them may be lost at a time (`--ft logging:ticket`).
    pub one_at_a_time: bool,
    /// By node: who keeps what it was given, in such a job; nobody in others.
    pub keepers: Vec<u32>,
    /// Whether it is written what PEs are given (`--record`).
    pub is_recorded: bool,
    /// Whether nobody takes the launcher's place, however the job survives other losses.
    pub ends_with_launcher: bool,
    /// Whether lost nodes are replaced (`--respawn`).
    pub respawns: bool,
    /// Processes that wait to replace lost nodes (`--spares`).
    pub spares: u32,
    /// Whether objects move by themselves (`--balancer`).
    pub balances: bool,
    /// Checkpoints on disk.
    pub keeping: Keeping,
    /// What is shown of it while it runs, and where.
    pub shows: Shows,
}

/// What is shown of a job, as its options say it.
#[derive(Clone, Debug, Default)]
pub struct Shows {
    /// `--ft` and `--balancer`.
    pub ft: String,
    pub balancer: String,
    pub ckpt_every: Option<CkptEvery>,
    /// Where a page about it is served (`--dashboard`).
    pub dashboard: Option<SocketAddr>,
}

impl Shows {
    fn of(options: &RunArgs) -> Self {
        Shows {
            ft: options.ft.name().into(),
            balancer: options.balancer.clone(),
            ckpt_every: options.ckpt_every,
            dashboard: options.dashboard,
        }
    }
}

impl Plan {
    /// All nodes on this host.
    #[cfg(test)]
    pub fn local(options: &RunArgs, watched: Vec<u64>) -> Self {
        let known = (1, Secret::from_bytes([1; 32]));
        Plan::new(known, options, &[Share::here(options.nodes)], watched)
    }

    /// With the nodes of each host, of a job of this number, which nobody but its processes knows by this secret.
    pub fn new((job, secret): (u64, Secret), options: &RunArgs, shares: &[Share], watched: Vec<u64>) -> Self {
        let hosts = shares.iter().map(|share| share.numbers().collect()).collect();
        let names = shares.iter().map(Share::name_elsewhere).collect();
        Plan { names, watched, ..Plan::known(job, secret, hosts, options) }
    }

    /// Of a job whose number and secret are known, with the nodes of each host. All hosts count as the launcher's own, and
    /// no step is watched. Equal arguments and builds give equal plans.
    pub fn known(job: u64, secret: Secret, hosts: Vec<Vec<u32>>, options: &RunArgs) -> Self {
        let begins_with = hosts.iter().map(|nodes| nodes.len() as u32).sum();
        let logs = options.ft.logs();
        Plan {
            nodes: options.max_nodes.map_or(begins_with, |most| most.max(begins_with)),
            begins_with,
            pes: options.pes_per_node(),
            job,
            secret,
            build: build_number(),
            transport: options.transport,
            tls: options.tls,
            listen: options.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            spare_hosts: vec![0; options.spares as usize],
            names: vec![None; hosts.len()],
            watched: Vec::new(),
            progress: options.progress,
            silence: options.silence,
            survives: options.ft.takes_checkpoints(),
            logs,
            one_at_a_time: options.ft == FaultTolerance::LoggingTicket,
            keepers: if logs { keepers_on(&hosts) } else { Vec::new() },
            is_recorded: options.record.is_some(),
            // So does the allocation; on its hosts there may be another job by then.
            ends_with_launcher: options.hosts.as_deref() == Some(Path::new(SLURM)),
            respawns: options.respawn,
            spares: options.spares,
            balances: options.balancer != strategies::OFF,
            keeping: Keeping::default(),
            shows: Shows::of(options),
            hosts,
        }
    }

    /// What the job goes on from may have had more nodes: those can be added again.
    pub fn number_those_from_before(&mut self) {
        if let Some(restart) = &self.keeping.restart {
            self.nodes = self.nodes.max(restart.view.nodes());
        }
    }

    /// Whether the job goes on without its launcher.
    pub fn outlives_launcher(&self) -> bool {
        (self.survives || self.logs) && !self.ends_with_launcher
    }

    /// Whether any two nodes are linked through memory, which they inherit.
    pub fn needs_memory(&self) -> bool {
        (0..self.begins_with).any(|node| self.task(node).has(Transport::is_inherited))
    }

    /// What a node's host is called, unless it is the launcher's own.
    pub fn host_of(&self, node: u32) -> Option<&str> {
        let host = self.hosts.iter().position(|nodes| nodes.contains(&node))?;
        self.names.get(host)?.as_deref()
    }

    /// A node's host, by its number among those of the job; the first one for nodes that there have not been.
    pub fn host_number(&self, node: u32) -> u32 {
        self.hosts.iter().position(|nodes| nodes.contains(&node)).unwrap_or_default() as u32
    }

    /// The same of all nodes.
    pub fn host_numbers(&self) -> Vec<u32> {
        (0..self.nodes).map(|node| self.host_number(node)).collect()
    }

    /// A node has its process on this host from now on.
    pub fn put(&mut self, node: u32, host: u32) {
        self.hosts.iter_mut().for_each(|nodes| nodes.retain(|other| *other != node));
        if let Some(nodes) = self.hosts.get_mut(host as usize) {
            nodes.push(node);
            nodes.sort_unstable();
        }
    }

    /// Who leads the job through losses, and knows where it begins.
    pub fn leader(&self) -> Leader {
        let mut hosts = self.host_numbers();
        match &self.keeping.restart {
            None => Leader::beginning_with(hosts, self.begins_with),
            Some(restart) => {
                hosts.resize(restart.view.nodes() as usize, 0);
                Leader::going_on(hosts, restart.view.clone(), restart.version, restart.next_version)
            }
        }
    }

    /// What a node is told. The numbers of its host's descriptors are filled in there.
    pub fn task(&self, node: u32) -> Task {
        let number = self.host_number(node);
        let mut host = self.hosts.get(number as usize).cloned().unwrap_or_default();
        if !host.contains(&node) {
            host.push(node);
        }
        Task {
            version: VERSION,
            number: node,
            nodes: self.nodes,
            begins_with: self.begins_with,
            pes: self.pes,
            job: self.job,
            secret: self.secret.clone(),
            tls: self.tls,
            build: self.build,
            via: (0..self.nodes).map(|other| self.via(node, other, &host)).collect(),
            listen: self.listen,
            host: Host { nodes: host, ..Host::default() },
            watched: self.watched.clone(),
            progress: self.progress,
            silence: self.silence,
            host_number: number,
            checkpoint_dirs: self.keeping.checkpoint_dirs.clone(),
            restart: self.keeping.restart.clone(),
            life: 0,
            running: Duration::ZERO,
            admits: self.survives || self.logs,
            heritage: None,
            keepers: self.keepers.clone(),
            membership: None,
        }
    }

    /// What a process is told that replaces a lost node, whose host need not be the same: its links are those between
    /// hosts.
    pub fn task_again(&self, node: u32, life: u64, running: Duration) -> Task {
        let task = self.task(node);
        Task { life, running, via: vec![Transport::BETWEEN_HOSTS; task.via.len()], ..task }
    }

    fn via(&self, node: u32, other: u32, host: &[u32]) -> Transport {
        if host.contains(&other) { self.transport.between(node, other) } else { Transport::BETWEEN_HOSTS }
    }
}

/// Who keeps what each node of a job that logs was given, where hosts have these nodes.
fn keepers_on(hosts: &[Vec<u32>]) -> Vec<u32> {
    let mut all: Vec<_> =
        (0..).zip(hosts).flat_map(|(host, nodes)| nodes.iter().map(move |node| (*node, host))).collect();
    all.sort_unstable();
    let hosts: Vec<u32> = all.into_iter().map(|(_, host)| host).collect();
    Keepers::on_hosts(&hosts).names().to_vec()
}

/// The nodes that a host has at the start. The other processes of its share wait (`--spares`).
pub fn numbers_of_nodes(share: &Share, plan: &Plan) -> Range<u32> {
    let numbers = share.numbers();
    numbers.start..numbers.end - spares_of(share, plan)
}

/// How many processes of a host are no nodes yet.
pub fn spares_of(share: &Share, plan: &Plan) -> u32 {
    share.numbers().filter(|number| *number >= plan.begins_with).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_job::checkpoints::FaultTolerance;

    fn plan(transport: impl Into<TransportChoice>) -> Plan {
        let transport = transport.into();
        let options = RunArgs { nodes: 4, pes: Some(2), transport, ..RunArgs::default() };
        Plan { hosts: vec![vec![0, 1, 2], vec![3]], ..Plan::local(&options, vec![]) }
    }

    #[test]
    fn a_job_in_an_allocation_ends_with_its_launcher() {
        let outlives = |hosts: Option<&str>, ft| {
            let options = RunArgs { hosts: hosts.map(Into::into), ft, ..RunArgs::default() };
            Plan::local(&options, vec![]).outlives_launcher()
        };
        for ft in [FaultTolerance::Double, FaultTolerance::Logging] {
            assert!(outlives(None, ft) && outlives(Some("list:a,b"), ft) && !outlives(Some("slurm"), ft));
        }
        assert!(!outlives(None, FaultTolerance::Off));
    }

    fn vias(plan: &Plan, node: u32) -> String {
        let letter = |via: &Transport| &via.row().name[..1];
        plan.task(node).via.iter().map(letter).collect()
    }

    #[test]
    fn only_nodes_of_one_host_are_linked_through_memory() {
        let shm = plan(Transport::Shm);
        assert_eq!([0, 3].map(|node| vias(&shm, node)), ["ssst", "ttts"]);
        assert!(shm.needs_memory());
        assert!(!shm.task(3).has(Transport::is_inherited));
        assert!(!plan(Transport::Tcp).needs_memory());
    }

    #[test]
    fn what_a_node_was_given_is_kept_on_another_host() {
        let options = RunArgs { ft: FaultTolerance::Logging, ..RunArgs::default() };
        let hosts = vec![vec![0, 1], vec![2, 3]];
        let plan = Plan::known(7, Secret::from_bytes([1; 32]), hosts, &options);
        assert_eq!(plan.task(3).keepers, [2, 2, 0, 0]);
        assert!(
            Plan::known(7, Secret::from_bytes([1; 32]), vec![vec![0, 1]], &RunArgs::default())
                .keepers
                .is_empty()
        );
    }

    #[test]
    fn mixed_pairs_agree_on_both_sides() {
        let mixed = plan(TransportChoice::Mixed);
        let tasks: Vec<Task> = (0..4).map(|node| mixed.task(node)).collect();
        for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
            assert_eq!(tasks[a].via[b], tasks[b].via[a]);
        }
        assert_eq!(vias(&mixed, 0), "stst");
    }

    #[test]
    fn what_is_known_of_a_job_decides_its_plan() {
        let options = RunArgs { pes: Some(2), transport: Transport::Shm.into(), ..RunArgs::default() };
        let known = || {
            let secret = Secret::from_bytes([1; 32]);
            Plan { build: 3, ..Plan::known(7, secret, vec![vec![0, 1], vec![2]], &options) }
        };
        assert_eq!([0, 1, 2].map(|node| known().task(node)), [0, 1, 2].map(|node| known().task(node)));
        let task = known().task(2);
        assert_eq!((task.job, task.nodes, task.pes, task.build), (7, 3, 2, 3));
        assert_eq!((task.host.nodes, &task.via[..2]), (vec![2], &[Transport::Tcp; 2][..]));
    }
}
