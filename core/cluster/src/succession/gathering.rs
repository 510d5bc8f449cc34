//! Who is left of a job whose launcher is gone, as the process finds out that takes its place.

use std::io;
use std::net::TcpListener;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::door::{Newcomer, Newcomers, Pass, Reached, reach};
use super::estate::{Site, Will};
use super::process_registry::ProcessRegistry;
use crate::host_pool::AttachedHost;
use crate::local::Events;
use crate::printer::Lines;
use crate::remote::host::{Attached, RemoteHost};
use crate::remote::message::ToAgent;
use talisman_control::event::Event;
use talisman_control::follower::{Follower, Followers};
use talisman_control::heartbeat::TICK;
use talisman_control::protocol::{ToLauncher, ToNode, VERSION};
use talisman_control::succession::election::{Alone, Due, Election, Introductions};
use talisman_control::succession::quorum::Register;

/// Those that are left.
pub(super) struct Gathered {
    pub(super) followers: Followers,
    /// Their hosts.
    pub(super) hosts: Vec<AttachedHost>,
    /// What happens to nodes, from what each has said of itself on.
    pub(super) events: Events,
    pub(super) happened: mpsc::UnboundedReceiver<(u32, Event)>,
}

/// Waits for the agents of all hosts that may be left, and for what their nodes say of themselves; or why the job cannot go on.
///
/// # Errors
/// The system gives no descriptors.
pub(super) async fn gather(
    door: TcpListener,
    will: &Will,
    lines: &Lines,
) -> io::Result<Result<Gathered, Alone>> {
    let pass = Pass::new(&will.estate).map_err(io::Error::other)?;
    let mut newcomers = Newcomers::at(door, pass.clone())?;
    let mut muster = all_that_come(will, &pass, &mut newcomers).await;
    tokio::spawn(turn_away(newcomers));
    if let Err(alone) = muster.may_go_on(|agent| agent.orphan.has_begun) {
        for agent in muster.come.values_mut() {
            agent.tell(&ToAgent::Out);
        }
        return Ok(Err(alone));
    }
    Ok(follow(muster, will, pass, lines).await)
}

/// Whoever comes later has been lost.
async fn turn_away(mut newcomers: Newcomers) {
    loop {
        newcomers.next().await.tell(&ToAgent::Out);
    }
}

/// Those that come while they are waited for.
async fn all_that_come(will: &Will, pass: &Pass, newcomers: &mut Newcomers) -> Election<Newcomer> {
    let mut muster = Election::new(will.estate.rank, will.roll.clone(), will.estate.silence);
    let (proved, mut proofs) = mpsc::unbounded_channel();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !muster.is_complete() {
        tokio::select! {
            newcomer = newcomers.next() => add(&mut muster, newcomer),
            Some(rank) = proofs.recv() => muster.on_dead(rank),
            _ = ticks.tick() => {
                muster.come.retain(|_, agent| agent.tell(&ToAgent::Ping));
                look(&muster, pass, &proved);
                if muster.on_tick() {
                    break;
                }
            }
        }
    }
    muster
}

fn add(muster: &mut Election<Newcomer>, mut newcomer: Newcomer) {
    muster.on_roll(&newcomer.orphan.roll);
    if newcomer.tell(&ToAgent::Ping) {
        muster.on_come(newcomer.orphan.rank, newcomer);
    }
}

/// Nobody waits for the dead.
fn look(muster: &Election<Newcomer>, pass: &Pass, proved: &mpsc::UnboundedSender<u32>) {
    for (rank, door) in muster.doubtful() {
        let (pass, proved) = (pass.clone(), proved.clone());
        tokio::spawn(async move {
            if matches!(reach(door, &pass).await, Reached::Dead) {
                let _ = proved.send(rank);
            }
        });
    }
}

/// All nodes say what they are.
async fn follow(
    muster: Election<Newcomer>,
    will: &Will,
    pass: Pass,
    lines: &Lines,
) -> Result<Gathered, Alone> {
    let settled = muster.come.values().find_map(|agent| agent.orphan.settled.clone());
    let unheard = muster.come.values().map(|agent| agent.orphan.unheard).min();
    let here = muster.here();
    let (register, first) = Register::going_on(will.estate.rank, here, muster.dead, muster.roll);
    let rolls = ProcessRegistry::new(register, pass);
    let (events, happened) = mpsc::unbounded_channel();
    let mut hosts = Vec::new();
    for (rank, agent) in muster.come {
        let site = will
            .estate
            .sites
            .get(rank as usize)
            .cloned()
            .ok_or_else(|| Alone::Other("a host came that is none of the job's".into()))?;
        let left = agent.orphan.nodes.clone();
        let mut host = attach(agent, site.clone(), will.estate.silence, (rolls.clone(), rank));
        host.start(&events, lines);
        hosts.push(AttachedHost { host, site, left });
    }
    rolls.tell(&first);
    let mut following = Following::new(hosts, happened, will.estate.silence);
    following.all(will).await;
    let Following { asked, hosts, happened, kept, .. } = following;
    let mut followers = asked.followers;
    settled.into_iter().for_each(|results| followers.settle(results));
    unheard.into_iter().for_each(|unheard| followers.missed_by_hosts(unheard));
    if followers.is_empty() && followers.settled().is_none() {
        return Err(Alone::Other("no node is left".into()));
    }
    Ok(Gathered { followers, hosts, events, happened: after(kept, happened) })
}

fn attach(agent: Newcomer, site: Site, silence: Duration, rolls: (ProcessRegistry, u32)) -> RemoteHost {
    let Newcomer { orphan, talk, decoder } = agent;
    RemoteHost::attached(Attached { site, nodes: orphan.nodes, silence, talk, decoder }, rolls)
}

/// Nodes that are asked.
struct Following {
    hosts: Vec<AttachedHost>,
    happened: mpsc::UnboundedReceiver<(u32, Event)>,
    asked: Introductions,
    /// What has happened since to those that have answered.
    kept: Vec<(u32, Event)>,
}

impl Following {
    fn new(
        hosts: Vec<AttachedHost>,
        happened: mpsc::UnboundedReceiver<(u32, Event)>,
        silence: Duration,
    ) -> Self {
        let missing = hosts.iter().flat_map(|host| host.left.iter().copied()).collect();
        Following { hosts, happened, asked: Introductions::new(missing, silence), kept: Vec::new() }
    }

    /// Whoever does not answer within the time that nodes may be silent is killed.
    async fn all(&mut self, will: &Will) {
        self.each(|host, node| host.send(node, ToNode::Introduce));
        let mut ticks = interval(TICK);
        while !self.asked.missing().is_empty() {
            tokio::select! {
                Some((node, event)) = self.happened.recv() => self.on_event(node, event, will.estate.job),
                _ = ticks.tick() => match self.asked.on_tick() {
                    Due::Nothing => {}
                    Due::Kill => self.each(RemoteHost::kill),
                    Due::Leave => return,
                }
            }
        }
    }

    fn each(&self, tell: impl Fn(&RemoteHost, u32)) {
        for AttachedHost { host, left, .. } in &self.hosts {
            left.iter().filter(|node| self.asked.missing().contains(node)).for_each(|node| tell(host, *node));
        }
    }

    fn on_event(&mut self, node: u32, event: Event, job: u64) {
        match event {
            Event::Said(ToLauncher::Follow(follower))
                if self.asked.missing().contains(&node) && is_of(&follower, job, node) =>
            {
                self.asked.on_follow(node, *follower);
            }
            event if self.asked.followers.has(node) => self.kept.push((node, event)),
            Event::Ended(_) | Event::Lost(_) | Event::NotStarted(_) => self.asked.on_end(node),
            // Said to the former launcher.
            _ => {}
        }
    }
}

/// Whether this is what a node of the job says of itself.
fn is_of(follower: &Follower, job: u64, node: u32) -> bool {
    follower.job == job && follower.version == VERSION && follower.node == node
}

/// What happens, after what has happened already.
fn after(
    kept: Vec<(u32, Event)>,
    mut happened: mpsc::UnboundedReceiver<(u32, Event)>,
) -> mpsc::UnboundedReceiver<(u32, Event)> {
    let (again, all) = mpsc::unbounded_channel();
    kept.into_iter().for_each(|event| drop(again.send(event)));
    tokio::spawn(async move {
        while let Some(event) = happened.recv().await {
            let _ = again.send(event);
        }
    });
    all
}
