//! The nodes of all hosts, behind the calls that those of one have.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::ops::Range;
use std::process::Stdio;

use super::control::ToNode;
use super::hosts::{Hosts, Share};
use super::launcher::Means;
use super::local::{Event, Events, LocalHost};
use super::memory::Inheritance;
use super::plan::Plan;
use super::printer::Lines;
use super::remote::Begin;
use super::remote::host::{RemoteHost, Start};
use super::slurm;
use super::succession::beforehand::{estates, inherit, ranks};
use super::succession::door::Pass;
use super::succession::quorum::Register;
use super::succession::rolls::Rolls;
use super::takeover::adopted::Adopted;
use super::takeover::streams::Streams;
use crate::build::build_number;
use crate::launch::options::Transport;
use crate::launch::{Program, RunArgs};

/// Where the nodes of a job are to be, by its options: without `--hosts`, here. Processes that wait (`--spares`) are numbered behind them.
///
/// # Errors
/// The hosts cannot be; the message names the file.
pub(super) fn shares(options: &RunArgs) -> Result<Vec<Share>, String> {
    let Some(file) = &options.hosts else { return Ok(vec![Share::here(options.nodes + options.spares)]) };
    let named = |error: &dyn std::fmt::Display| format!("--hosts {}: {error}", file.display());
    let hosts = if file.as_os_str() == slurm::SLURM {
        slurm::hosts(|name| std::env::var(name).ok()).map_err(|error| named(&error))?
    } else {
        let text = std::fs::read_to_string(file).map_err(|error| named(&error))?;
        Hosts::parse(&text).map_err(|error| named(&error))?
    };
    // No number of nodes means as many as there is room for.
    let spares = options.spares;
    let nodes = if options.nodes == 0 { hosts.slots().saturating_sub(spares) } else { options.nodes };
    let shares = hosts.distribute(nodes.max(1) + spares).map_err(|error| named(&error))?;
    // What depends on the number of nodes could not be checked before.
    RunArgs { nodes, ..options.clone() }.validate().map_err(|error| error.to_string())?;
    Ok(shares)
}

/// All hosts of a job.
pub(super) struct Sites {
    sites: Vec<Site>,
    /// Nodes that were lost with their host, and have got processes elsewhere: there.
    moved: BTreeMap<u32, usize>,
}

struct Site {
    nodes: Range<u32>,
    /// Where its nodes listen, if that differs from the plan; elsewhere the agent knows.
    listen: Option<IpAddr>,
    host: Host,
}

enum Host {
    Local(LocalHost),
    Remote(Box<RemoteHost>),
    /// Here, and started by another launcher; this one starts processes at another `Host`.
    Adopted(Adopted),
}

impl Sites {
    /// Prepares all hosts; nobody runs yet. Where memory cannot be shared, the plan is changed to do without.
    ///
    /// # Errors
    /// What the nodes elsewhere need cannot be found out about this process.
    pub(super) fn new(
        shares: Vec<Share>,
        means: &Means,
        program: &Program,
        plan: &mut Plan,
    ) -> io::Result<Sites> {
        let alone = shares.len() == 1;
        let build = if shares.iter().all(|share| share.host.is_local()) { 0 } else { build_number() };
        if plan.survives && !plan.tls && shares.iter().any(|share| !share.host.is_local() || !alone) {
            return Sites::with_heirs(shares, plan);
        }
        let mut sites = Vec::new();
        for share in shares {
            let (nodes, address) = (share.numbers(), share.address(alone));
            let of_nodes = Share { nodes: share.nodes - spares_of(&share, plan), ..share.clone() };
            sites.push(if share.host.is_local() {
                let mut host = LocalHost::new(inheritance(&of_nodes, means, program, plan), Stdio::inherit());
                if alone && plan.survives {
                    host = host.outlived(Streams::of_this_process()?, std::process::id());
                }
                Site { nodes, listen: address.filter(|_| !alone), host: Host::Local(host) }
            } else {
                let host = RemoteHost::new(remote(share, plan, address, build)?, None);
                Site { nodes, listen: None, host: Host::Remote(Box::new(host)) }
            });
        }
        Ok(Sites { sites, moved: BTreeMap::new() })
    }

    /// Of a job over several hosts that can do without this process: on each of them, also on this one, there is an agent that can start
    /// another launcher.
    fn with_heirs(shares: Vec<Share>, plan: &Plan) -> io::Result<Sites> {
        let ranks = ranks(&shares);
        let estates = estates(&shares, &ranks, plan);
        let hosts = estates.len() as u32;
        let rolls = Rolls::new(Register::new(0, hosts), Pass::new(&estates[0]));
        let mut sites = Vec::new();
        // An agent on this host that has no nodes still has what the launcher prints to.
        let here = (!ranks.contains(&0)).then(|| (Share { nodes: 0, ..Share::here(0) }, 0));
        for (share, rank) in shares.into_iter().zip(ranks).chain(here) {
            let (nodes, address) = (share.numbers(), share.address(false));
            let start =
                inherit(remote(share, plan, address, build_number())?, estates[rank as usize].clone())?;
            let host = RemoteHost::new(start, Some((rolls.clone(), rank)));
            sites.push(Site { nodes, listen: None, host: Host::Remote(Box::new(host)) });
        }
        Ok(Sites { sites, moved: BTreeMap::new() })
    }

    /// Of a launcher that has started none of these hosts' agents: with the nodes that each had at the start, and those it has now.
    pub(super) fn attached(hosts: Vec<(RemoteHost, Range<u32>, Vec<u32>)>) -> Sites {
        let mut moved = BTreeMap::new();
        let mut sites = Vec::new();
        for (place, (host, nodes, left)) in hosts.into_iter().enumerate() {
            moved.extend(left.into_iter().map(|node| (node, place)));
            sites.push(Site { nodes, listen: None, host: Host::Remote(Box::new(host)) });
        }
        Sites { sites, moved }
    }

    /// Starts processes that wait, one host after the other.
    pub(super) fn start_waiting(
        &mut self,
        spares: Range<u32>,
        means: &Means,
        events: &Events,
        lines: &Lines,
    ) {
        for (spare, place) in spares.zip((0..self.sites.len()).cycle()) {
            self.moved.insert(spare, place);
            self.start_again(spare, means, events, lines);
        }
    }

    /// Of a launcher that has started none of these nodes, all of which are here. It starts other processes on the host that is
    /// given: at first so many that wait.
    pub(super) fn adopted(nodes: u32, adopted: Adopted, spares: u32, host: LocalHost) -> Sites {
        let site = |nodes, host| Site { nodes, listen: None, host };
        let adopted = site(0..nodes, Host::Adopted(adopted));
        let own = site(nodes..nodes + spares, Host::Local(host));
        Sites { sites: vec![adopted, own], moved: BTreeMap::new() }
    }

    /// Starts all nodes. What comes of it will be events.
    pub(super) fn start(&mut self, means: &Means, events: &Events, lines: &Lines) {
        for site in &mut self.sites {
            match &mut site.host {
                Host::Local(host) => {
                    let numbers: Vec<u32> = site.nodes.clone().collect();
                    host.start(&numbers, &means.executable, events, lines);
                }
                Host::Remote(host) => host.start(events, lines),
                Host::Adopted(host) => host.start(events),
            }
        }
    }

    /// Starts another process for a node that has none any more: where it was, or on the next host if that is lost; one that never had any is on the
    /// first. What comes of it will be events.
    pub(super) fn start_again(&mut self, node: u32, means: &Means, events: &Events, lines: &Lines) {
        let before = self.place(node).unwrap_or_default();
        let count = self.sites.len();
        let around = (0..count).map(|step| (before + step) % count);
        let Some(place) = around.into_iter().find(|place| self.sites[*place].takes_nodes()) else {
            let why = "all hosts of the job are lost".to_owned();
            let _ = events.send((node, Event::NotStarted(why)));
            return;
        };
        self.moved.insert(node, place);
        match &mut self.sites[place].host {
            Host::Local(host) => host.start(&[node], &means.executable, events, lines),
            Host::Remote(host) => host.start_again(node),
            // Not found above.
            Host::Adopted(_) => {}
        }
    }

    /// A process that waits is this node from now on.
    pub(super) fn use_spare(&mut self, spare: u32, node: u32) {
        let Some(place) = self.place(spare) else { return };
        self.moved.insert(node, place);
        match &mut self.sites[place].host {
            Host::Local(host) => host.use_spare(spare, node),
            Host::Remote(host) => host.use_spare(spare, node),
            // None of these waits.
            Host::Adopted(_) => {}
        }
    }

    /// Says something to a node, in the order of the calls and without waiting.
    pub(super) fn send(&self, node: u32, mut message: ToNode) {
        let Some(site) = self.of(node) else { return };
        if let (ToNode::Task(task), Some(address)) = (&mut message, site.listen) {
            task.listen = address;
        }
        match &site.host {
            Host::Local(host) => host.send(node, message),
            Host::Remote(host) => host.send(node, message),
            Host::Adopted(host) => host.send(node, message),
        }
    }

    /// Kills a node; its end will be an event.
    pub(super) fn kill(&self, node: u32) {
        match self.of(node).map(|site| &site.host) {
            Some(Host::Local(host)) => host.kill(node),
            Some(Host::Remote(host)) => host.kill(node),
            Some(Host::Adopted(host)) => host.kill(node),
            None => {}
        }
    }

    /// Waits until all that the nodes wrote has been handed on. They have to have ended.
    pub(super) async fn finish(self) {
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
        let first = || self.sites.iter().position(|site| site.nodes.contains(&node));
        self.moved.get(&node).copied().or_else(first)
    }
}

impl Site {
    /// Whether processes can be started there: it is not lost, and not only there for the launcher's sake.
    fn takes_nodes(&self) -> bool {
        let is_for_nodes = !self.nodes.is_empty() || matches!(self.host, Host::Local(_));
        is_for_nodes && !self.host.is_lost()
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
        let name = program.name;
        eprintln!(
            "{name}: warning: no shared memory for the nodes of this host ({error}); tcp links them instead"
        );
        plan.transport = Transport::Tcp;
        Inheritance::default()
    })
}

/// How many processes of a host are no nodes yet.
fn spares_of(share: &Share, plan: &Plan) -> u32 {
    share.numbers().filter(|number| *number >= plan.begins_with).count() as u32
}

fn remote(share: Share, plan: &Plan, address: Option<IpAddr>, build: u64) -> io::Result<Start> {
    let mut begin = Begin::of_this_process()?;
    begin.nodes = share.numbers().collect();
    begin.pes = plan.pes;
    begin.spares = spares_of(&share, plan);
    begin.memory = shares_memory(&Share { nodes: share.nodes - begin.spares, ..share.clone() }, plan);
    begin.address = address;
    begin.silence = plan.silence;
    Ok(Start { share, program: std::env::current_exe()?, build, begin, heir: None })
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
