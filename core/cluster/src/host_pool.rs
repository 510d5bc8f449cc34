//! The nodes of all hosts, behind the calls that those of one have.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;
use std::ops::Range;
use std::process::Stdio;
use std::sync::Arc;

use tokio::sync::oneshot;
use tracing::warn;

use crate::launcher::Means;
use crate::local::{Events, LocalHost};
use crate::memory::Inheritance;
use crate::printer::Lines;
use crate::remote::Begin;
use crate::remote::host::{RemoteHost, Start};
use crate::remote::survey::answer_here;
use crate::standby::Pledge;
use crate::succession::beforehand::{estates, inherit, ranks};
use crate::succession::door::Pass;
use crate::succession::estate;
use crate::succession::process_registry::ProcessRegistry;
use crate::takeover::adopted::Adopted;
use crate::takeover::folder::Doors;
use crate::takeover::streams::Streams;
use talisman_base::build::build_number;
use talisman_control::event::Event;
use talisman_control::hosts::{Hosts, LIST, Share};
use talisman_control::placing::{Room, place_for};
use talisman_control::plan::{Plan, numbers_of_nodes, spares_of};
use talisman_control::protocol::ToNode;
use talisman_control::slurm;
use talisman_control::succession::quorum::Register;
use talisman_job::Program;
use talisman_job::RunArgs;
use talisman_job::diagnostics::{say, subjects::TRANSPORT};
use talisman_job::options::Transport;
use talisman_store::files::remote::{Answer, Ask};

/// Where the nodes of a job are to be, by its options: without `--hosts`, here. Processes that wait (`--spares`) are
/// counted behind them.
///
/// # Errors
/// The hosts cannot be; the message names the file.
pub fn shares(options: &RunArgs) -> Result<Vec<Share>, String> {
    let Some(file) = &options.hosts else { return Ok(vec![Share::here(options.nodes + options.spares)]) };
    let named = |error: &dyn std::fmt::Display| format!("--hosts {}: {error}", file.display());
    let hosts = if file.as_os_str() == slurm::SLURM {
        slurm::hosts(options.tls, |name| std::env::var(name).ok()).map_err(|error| named(&error))?
    } else if let Some(list) = file.to_str().and_then(|value| value.strip_prefix(LIST)) {
        Hosts::listed(list).map_err(|error| named(&error))?
    } else {
        let text = std::fs::read_to_string(file).map_err(|error| named(&error))?;
        Hosts::parse(&text).map_err(|error| named(&error))?
    };
    // No number of nodes means as many as there is room for.
    let spares = options.spares;
    let nodes = if options.nodes == 0 { hosts.slots().saturating_sub(spares) } else { options.nodes };
    let (begins_with, most) = (nodes.max(1) + spares, options.max_nodes.unwrap_or_default() + spares);
    // Every host may have something that the job goes on from.
    let most = if options.restart.is_some() { hosts.slots() } else { most };
    let shares = hosts.distribute(begins_with, most.max(begins_with)).map_err(|error| named(&error))?;
    // What depends on the number of nodes could not be checked before.
    RunArgs { nodes, ..options.clone() }.validate().map_err(|error| error.to_string())?;
    Ok(shares)
}

/// All hosts of a job.
pub struct HostPool {
    sites: Vec<Site>,
    /// Nodes that have got other processes, perhaps elsewhere: there.
    moved: BTreeMap<u32, usize>,
    /// Processes that waited, and are nodes by now.
    used: BTreeSet<u32>,
    /// The number of this host, if it has neither nodes nor an agent.
    own: Option<u32>,
    /// What is to be said before nodes of other hosts begin.
    pledge: Option<Pledge>,
    /// Which hosts are there, in a job over several that can do without this process.
    registry: Option<ProcessRegistry>,
}

struct Site {
    /// Of the host, among those of the job.
    number: u32,
    /// Nodes that it takes.
    slots: u32,
    nodes: Range<u32>,
    /// Processes that wait: numbered behind all nodes that there may be.
    spares: Range<u32>,
    /// Where its nodes listen, if that differs from the plan; elsewhere the agent knows.
    listen: Option<IpAddr>,
    host: Host,
}

/// A host whose agent another launcher has started.
pub struct AttachedHost {
    pub host: RemoteHost,
    pub site: estate::Site,
    /// Nodes whose processes are there.
    pub left: Vec<u32>,
}

enum Host {
    Local(LocalHost),
    Remote(Box<RemoteHost>),
    /// Here, and started by another launcher; this one starts processes at another `Host`.
    Adopted(Adopted),
}

impl HostPool {
    /// Prepares all hosts; nobody runs yet. Where memory cannot be shared, the plan is changed to do without.
    ///
    /// # Errors
    /// What the nodes elsewhere need cannot be found out about this process.
    pub fn new(
        shares: Vec<Share>,
        (means, pledge): (&Means, Option<Pledge>),
        program: &Program,
        plan: &mut Plan,
    ) -> io::Result<HostPool> {
        let alone = shares.len() == 1;
        let build = if shares.iter().all(|share| share.host.is_local()) { 0 } else { build_number() };
        if plan.outlives_launcher() && shares.iter().any(|share| !share.host.is_local() || !alone) {
            return HostPool::with_heirs(shares, plan, pledge);
        }
        let mut sites = Vec::new();
        for (number, share) in (0..).zip(shares) {
            let address = share.address(alone);
            let of_nodes = Share { nodes: share.nodes - spares_of(&share, plan), ..share.clone() };
            let (slots, nodes) = (share.host.slots, numbers_of_nodes(&share, plan));
            let spares = spare_numbers(&share, plan);
            sites.push(if share.host.is_local() {
                let mut host = LocalHost::new(inheritance(&of_nodes, means, program, plan), Stdio::inherit());
                if alone && plan.outlives_launcher() {
                    let means = (Streams::of_this_process()?, Arc::new(Doors::make()?));
                    host = host.outlived(means, std::process::id(), pledge.clone());
                }
                let listen = address.filter(|_| !alone);
                Site { number, slots, nodes, spares, listen, host: Host::Local(host) }
            } else {
                let host = RemoteHost::new(remote(share, plan, address, build)?, None);
                Site { number, slots, nodes, spares, listen: None, host: Host::Remote(Box::new(host)) }
            });
        }
        let has_nodes_here = sites.iter().any(|site| matches!(site.host, Host::Local(_)));
        let own = (!has_nodes_here).then_some(sites.len() as u32);
        Ok(HostPool { own, ..HostPool::at(sites) })
    }

    fn at(sites: Vec<Site>) -> HostPool {
        HostPool {
            sites,
            moved: BTreeMap::new(),
            used: BTreeSet::new(),
            own: None,
            pledge: None,
            registry: None,
        }
    }

    /// Of a job over several hosts that can do without this process: on each of them, also on this one, there is an agent that can start
    /// another launcher.
    fn with_heirs(shares: Vec<Share>, plan: &Plan, pledge: Option<Pledge>) -> io::Result<HostPool> {
        let ranks = ranks(&shares);
        let estates = estates(&shares, &ranks, plan);
        let hosts = estates.len() as u32;
        let rolls =
            ProcessRegistry::new(Register::new(0, hosts), Pass::new(&estates[0]).map_err(io::Error::other)?);
        let mut sites = Vec::new();
        // An agent on this host that has no nodes still has what the launcher prints to.
        let here = (!ranks.contains(&0)).then(|| (Share::here(0), 0));
        for ((share, rank), number) in shares.into_iter().zip(ranks).chain(here).zip(0..) {
            let (slots, address) = (share.host.slots, share.address(false));
            let (nodes, spares) = (numbers_of_nodes(&share, plan), spare_numbers(&share, plan));
            let start = inherit(
                remote(share, plan, address, build_number())?,
                estates[rank as usize].clone(),
                &pledge,
            )?;
            let host = Host::Remote(Box::new(RemoteHost::new(start, Some((rolls.clone(), rank)))));
            sites.push(Site { number, slots, nodes, spares, listen: None, host });
        }
        Ok(HostPool { pledge, registry: Some(rolls), ..HostPool::at(sites) })
    }

    /// Of a launcher that has started none of these hosts' agents.
    pub fn attached(hosts: Vec<AttachedHost>) -> HostPool {
        let mut moved = BTreeMap::new();
        let mut sites = Vec::new();
        for (place, AttachedHost { host, site, left }) in hosts.into_iter().enumerate() {
            moved.extend(left.into_iter().map(|node| (node, place)));
            let (number, slots, nodes) = (site.number, site.slots, site.nodes);
            let host = Host::Remote(Box::new(host));
            sites.push(Site { number, slots, nodes, spares: 0..0, listen: None, host });
        }
        HostPool { moved, ..HostPool::at(sites) }
    }

    /// Starts processes that wait: on which hosts, by their numbers among those of the job.
    pub fn start_waiting(
        &mut self,
        spares: Range<u32>,
        means: &Means,
        events: &Events,
        lines: &Lines,
    ) -> Vec<u32> {
        spares.map(|spare| self.start_again(spare, means, events, lines).unwrap_or_default()).collect()
    }

    /// Of a launcher that has started none of these nodes, all of which are here. It starts other processes on the host that is
    /// given: at first so many that wait.
    pub fn adopted(nodes: u32, adopted: Adopted, spares: u32, host: LocalHost) -> HostPool {
        let site = |of_nodes, spares, host| Site {
            number: 0,
            slots: nodes,
            nodes: of_nodes,
            spares,
            listen: None,
            host,
        };
        let adopted = site(0..nodes, 0..0, Host::Adopted(adopted));
        let own = site(0..0, nodes..nodes + spares, Host::Local(host));
        HostPool::at(vec![adopted, own])
    }

    /// Starts all nodes. What comes of it will be events.
    pub fn start(&mut self, means: &Means, events: &Events, lines: &Lines) {
        for site in &mut self.sites {
            match &mut site.host {
                Host::Local(host) => {
                    let numbers: Vec<u32> = site.nodes.clone().chain(site.spares.clone()).collect();
                    host.start(&numbers, &means.executable, events, lines);
                }
                Host::Remote(host) => host.start(events, lines),
                Host::Adopted(host) => host.start(events),
            }
        }
    }

    /// Starts a process for a node that has none, or none any more. What comes of it will be events. On which host, by its number among
    /// those of the job.
    pub fn start_again(&mut self, node: u32, means: &Means, events: &Events, lines: &Lines) -> Option<u32> {
        let Some(place) = self.place_for(node) else {
            let why = "all hosts of the job are lost".to_owned();
            let _ = events.send((node, Event::NotStarted(why)));
            return None;
        };
        self.moved.insert(node, place);
        match &mut self.sites[place].host {
            Host::Local(host) => host.start(&[node], &means.executable, events, lines),
            Host::Remote(host) => host.start_again(node),
            // Not found above.
            Host::Adopted(_) => {}
        }
        Some(self.sites[place].number)
    }

    /// Where another process of this node is to be started.
    fn place_for(&self, node: u32) -> Option<usize> {
        let begun = self.sites.iter().flat_map(|site| site.nodes.clone().chain(site.spares.clone()));
        let all: BTreeSet<u32> = begun.chain(self.moved.keys().copied()).collect();
        let taken = |place| all.difference(&self.used).filter(|one| self.place(**one) == Some(place)).count();
        let room = |(place, site): (usize, &Site)| Room {
            number: site.number,
            slots: site.slots,
            taken: taken(place) as u32,
            is_open: site.takes_nodes(),
        };
        let rooms: Vec<Room> = self.sites.iter().enumerate().map(room).collect();
        place_for(&rooms, self.place(node))
    }

    /// A process that waits is this node from now on.
    pub fn use_spare(&mut self, spare: u32, node: u32) {
        let Some(place) = self.place(spare) else { return };
        self.moved.insert(node, place);
        self.used.insert(spare);
        match &mut self.sites[place].host {
            Host::Local(host) => host.use_spare(spare, node),
            Host::Remote(host) => host.use_spare(spare, node),
            // None of these waits.
            Host::Adopted(_) => {}
        }
    }

    /// Says something to a node, in the order of the calls and without waiting.
    pub fn send(&self, node: u32, mut message: ToNode) {
        let Some(site) = self.of(node) else { return };
        if let (ToNode::Task(task), Some(address)) = (&mut message, site.listen) {
            task.listen = address;
        }
        if let (ToNode::Go, Some(pledge)) = (&message, &self.pledge) {
            pledge.begins_elsewhere();
        }
        match &site.host {
            Host::Local(host) => host.send(node, message),
            Host::Remote(host) => host.send(node, message),
            Host::Adopted(host) => host.send(node, message),
        }
    }

    /// Asks a host of this number about files. Nothing comes if it is lost.
    pub fn ask(&self, host: u32, ask: Ask) -> oneshot::Receiver<Answer> {
        let site = self.sites.iter().find(|site| site.number == host);
        match site.map(|site| &site.host) {
            Some(Host::Remote(host)) => host.ask(ask),
            Some(Host::Local(_) | Host::Adopted(_)) => answer_here(ask),
            None if self.own == Some(host) => answer_here(ask),
            None => oneshot::channel().1,
        }
    }

    /// Kills a node; its end will be an event.
    pub fn kill(&self, node: u32) {
        match self.of(node).map(|site| &site.host) {
            Some(Host::Local(host)) => host.kill(node),
            Some(Host::Remote(host)) => host.kill(node),
            Some(Host::Adopted(host)) => host.kill(node),
            None => {}
        }
    }

    /// Which hosts are there, if the job can do without this process and is over several.
    pub fn registry(&self) -> Option<ProcessRegistry> {
        self.registry.clone()
    }

    /// Waits until all that the nodes wrote has been handed on. They have to have ended.
    pub async fn finish(self) {
        for site in &self.sites {
            if let Host::Remote(host) = &site.host {
                host.begin_to_finish();
            }
        }
        for site in self.sites {
            match site.host {
                Host::Local(host) => host.finish().await,
                Host::Remote(host) => host.finish().await,
                Host::Adopted(_) => {}
            }
        }
    }

    fn of(&self, node: u32) -> Option<&Site> {
        self.sites.get(self.place(node)?)
    }

    fn place(&self, node: u32) -> Option<usize> {
        let has = |site: &Site| site.nodes.contains(&node) || site.spares.contains(&node);
        let first = || self.sites.iter().position(has);
        self.moved.get(&node).copied().or_else(first)
    }
}

impl Site {
    /// Whether processes can be started there: it is not lost, and not only there for the launcher's sake.
    fn takes_nodes(&self) -> bool {
        self.slots > 0 && !self.host.is_lost()
    }
}

impl Host {
    /// Whether nothing can be started there any more. That of the launcher is not lost before the launcher is.
    fn is_lost(&self) -> bool {
        match self {
            Host::Local(_) => false,
            Host::Remote(host) => host.is_lost(),
            Host::Adopted(_) => true,
        }
    }
}

/// What the nodes of this host are to inherit. Without shared memory they do with TCP.
fn inheritance(share: &Share, means: &Means, program: &Program, plan: &mut Plan) -> Inheritance {
    if !shares_memory(share, plan) {
        return Inheritance::default();
    }
    let memory = (means.memory)(share.nodes, plan.pes);
    memory.and_then(|memory| Inheritance::new(memory, share.nodes * plan.pes)).unwrap_or_else(|error| {
        let otherwise = Transport::BETWEEN_HOSTS.row().name;
        let instead = "no shared memory for the nodes of this host";
        say(|| warn!(target: TRANSPORT, program = program.name, "{instead} ({error}); {otherwise} links them instead"));
        plan.transport = Transport::BETWEEN_HOSTS.into();
        Inheritance::default()
    })
}

/// The numbers of those that wait: behind all that nodes may ever have.
fn spare_numbers(share: &Share, plan: &Plan) -> Range<u32> {
    let (absent, end) = (plan.nodes - plan.begins_with, share.numbers().end);
    end - spares_of(share, plan) + absent..end + absent
}

fn remote(share: Share, plan: &Plan, address: Option<IpAddr>, build: u64) -> io::Result<Start> {
    let mut begin = Begin::of_this_process()?;
    let nodes = numbers_of_nodes(&share, plan);
    begin.nodes = nodes.clone().chain(spare_numbers(&share, plan)).collect();
    begin.pes = plan.pes;
    begin.spares = spares_of(&share, plan);
    begin.memory = shares_memory(&Share { nodes: share.nodes - begin.spares, ..share.clone() }, plan);
    begin.address = address;
    begin.silence = plan.silence;
    Ok(Start { share, nodes, program: std::env::current_exe()?, build, begin, heir: None })
}

fn shares_memory(share: &Share, plan: &Plan) -> bool {
    share.nodes > 1 && plan.needs_memory()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, options: RunArgs) -> Result<Vec<Share>, String> {
        let file = std::env::temp_dir().join(format!("talisman-sites-{}-{}", std::process::id(), text.len()));
        std::fs::write(&file, text).unwrap();
        let shares = shares(&RunArgs { hosts: Some(file.clone()), ..options });
        std::fs::remove_file(&file).unwrap();
        shares
    }

    #[test]
    fn all_slots_are_used_unless_nodes_are_given() {
        let nodes = |nodes, text| with(text, RunArgs { nodes, ..RunArgs::default() }).unwrap();
        let count = |shares: Vec<Share>| shares.iter().map(|share| share.nodes).collect::<Vec<_>>();
        assert_eq!(count(nodes(0, "a slots=2\nb slots=3")), [2, 3]);
        assert_eq!(count(nodes(3, "a slots=2\nb slots=3\n")), [2, 1]);
        assert_eq!(shares(&RunArgs { nodes: 4, ..RunArgs::default() }), Ok(vec![Share::here(4)]));
    }

    #[test]
    fn errors_name_the_file_and_options_are_checked_with_the_number_of_nodes() {
        let error = with("a b", RunArgs::default()).unwrap_err();
        assert!(error.starts_with("--hosts /") && error.contains(": line 1: "), "{error}");
        let kill = vec!["2@1s".parse().unwrap()];
        let error = with("a slots=2", RunArgs { nodes: 0, kill, ..RunArgs::default() }).unwrap_err();
        assert!(error.contains("the last one is 1"), "{error}");
        let missing = RunArgs { hosts: Some("/no/such/file".into()), ..RunArgs::default() };
        assert!(shares(&missing).unwrap_err().starts_with("--hosts /no/such/file: No such file"));
    }
}
