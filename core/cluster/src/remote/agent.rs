//! The agent: the process on another host that starts, serves and ends the nodes there.
//!
//! In a job that can do without its launcher it goes on when that is gone (`super::orphaned`).

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{interval, timeout};

use super::message::{Begin, FromAgent, ToAgent};
use super::orphaned::{Happened, Heir, Next};
use super::relay::{self, Orders, Output, Said, Voice, Window};
use crate::children::Executable;
use crate::descriptors;
use crate::local::{Events, LocalHost};
use crate::memory::{Inheritance, host_memory};
use crate::naming;
use talisman_base::build::build_number;
use talisman_base::frame::Decoder;
use talisman_control::event::Event;
use talisman_control::greeting::{Greeting, VERSION};
use talisman_control::heartbeat::{Heartbeat, TICK};
use talisman_control::protocol::{ToLauncher, ToNode};
use talisman_store::files::remote::Ask;

/// What a program is called with, alone, to be an agent.
pub const FLAG: &str = "--talisman-agent";

/// So long the launcher may take for its first message.
const BEGIN_LIMIT: Duration = Duration::from_secs(10);
/// So long what was said last may take to be written, before this process ends.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The way to an address does not depend on it.
const ANY_PORT: u16 = 9;

/// Whether this process was started as an agent.
pub fn is_asked_for() -> bool {
    let mut args = std::env::args_os().skip(1);
    args.next().is_some_and(|first| first == FLAG) && args.next().is_none()
}

/// What an agent does instead of the program.
pub fn main() -> ExitCode {
    descriptors::raise_limit();
    let name = std::env::args_os().next().map(PathBuf::from);
    let name = name.as_deref().and_then(Path::file_name);
    name.iter().for_each(|name| naming::call(&name.to_string_lossy()));
    let Ok(runtime) = descriptors::runtime() else {
        return ExitCode::FAILURE;
    };
    runtime.block_on(serve());
    // Nodes that are left are killed now. The thread that reads standard input may wait there for ever.
    runtime.shutdown_background();
    ExitCode::SUCCESS
}

async fn serve() {
    let (stdin, mut stdout) = (tokio::io::stdin(), tokio::io::stdout());
    let greeting = Greeting { version: VERSION, build: build_number() };
    if !relay::say(&mut stdout, greeting.line().as_bytes()).await {
        return;
    }
    let window = Window::new();
    let orders = relay::hear(stdin, Decoder::default(), window.clone());
    let (said, queue) = mpsc::unbounded_channel();
    let (voices, launchers) = mpsc::unbounded_channel();
    let _ = voices.send(Box::new(stdout) as Voice);
    let writing = tokio::spawn(relay::write(launchers, queue));
    if let Err(why) = obey(orders, &said, voices.clone(), window).await {
        let _ = said.send(FromAgent::Failed(why));
    }
    drop(said);
    let _ = timeout(LAST_WORDS, writing).await;
    drop(voices);
}

/// From the first message to the end. An error is for the launcher to tell; that the launcher is gone is none.
async fn obey(
    mut orders: Orders,
    said: &Said,
    voices: mpsc::UnboundedSender<Voice>,
    window: Window,
) -> Result<(), String> {
    let begin = loop {
        match timeout(BEGIN_LIMIT, orders.recv()).await {
            Ok(Some(ToAgent::Begin(begin))) => break *begin,
            // It may only want to know what is here.
            Ok(Some(ToAgent::Ask(number, ask))) => answer(said, number, ask),
            Ok(Some(ToAgent::Ping)) => drop(said.send(FromAgent::Alive)),
            Ok(None) => return Ok(()),
            Ok(Some(_)) => return Err("the launcher did not say what to begin".into()),
            Err(_) => return Err(format!("the launcher said nothing for {BEGIN_LIMIT:?}")),
        }
    };
    let agent = Agent::new(&begin, said, voices, window)?;
    agent.run(&begin, orders).await
}

struct Agent {
    /// Until all nodes have ended.
    host: Option<LocalHost>,
    /// Where nodes listen.
    address: IpAddr,
    /// Standard input of the job's first node, if it is here.
    input: Option<mpsc::UnboundedSender<Vec<u8>>>,
    said: Said,
    output: Output,
    /// Hands on the last output.
    finishing: Option<JoinHandle<()>>,
    /// Processes that are there.
    there: BTreeSet<u32>,
    /// Ends of nodes that the next launcher takes to be there, while it is looked for.
    untold: Option<Vec<FromAgent>>,
    /// What it needs to do without the launcher, if the job can.
    heir: Option<Heir>,
}

impl Agent {
    fn new(
        begin: &Begin,
        said: &Said,
        voices: mpsc::UnboundedSender<Voice>,
        window: Window,
    ) -> Result<Self, String> {
        let folder = begin.folder();
        std::env::set_current_dir(folder)
            .map_err(|error| format!("the working folder {} is not there: {error}", folder.display()))?;
        let address = begin.address.or_else(|| Reached::by_login().map(|reached| reached.at)).ok_or(
            "it is not known where ssh came in; write address=A after the host's name, for its nodes to listen at",
        )?;
        let (stdin, input) =
            relay::input(begin, said).map_err(|error| format!("no pipe for standard input: {error}"))?;
        let inheritance = inheritance(begin).map_err(|error| {
            format!("no shared memory for its nodes: {error}; --transport tcp does without")
        })?;
        let heir = match &begin.estate {
            Some(estate) => {
                Some(Heir::new(estate.clone(), executable(begin), address, said, voices, &window)?)
            }
            None => None,
        };
        Ok(Agent {
            host: Some(LocalHost::new(inheritance, stdin)),
            address,
            input,
            output: Output::start(said.clone(), window),
            said: said.clone(),
            finishing: None,
            there: BTreeSet::new(),
            untold: None,
            heir,
        })
    }

    /// Starts the nodes and serves them, until the launcher ends the connection or is lost. Nodes that are left then die
    /// with this process, unless another takes the launcher's place. A launcher that was silent may only have been stopped: it is told.
    async fn run(mut self, begin: &Begin, orders: Orders) -> Result<(), String> {
        let (events, mut happened) = mpsc::unbounded_channel();
        if let (Some(host), Some(chunks)) = (&mut self.host, &self.output.chunks) {
            host.start(&begin.nodes, &executable(begin), &events, chunks);
        }
        let (mut ticks, mut heartbeat) = (interval(TICK), Heartbeat::new(begin.silence));
        let mut terminations = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
        let mut launcher = Some(orders);
        loop {
            tokio::select! {
                order = next_of(&mut launcher) => match order {
                    Some(ToAgent::Out) => return Ok(()),
                    Some(order) => {
                        heartbeat.heard();
                        self.obey(order, begin, &events);
                    }
                    None if self.seek(heartbeat.unheard()) => launcher = None,
                    None => return Ok(()),
                },
                Some((node, event)) = happened.recv() => self.on_event(node, event),
                happened = next_for(&mut self.heir) => match happened {
                    Next::Launcher(orders) => {
                        launcher = Some(orders);
                        heartbeat = Heartbeat::new(begin.silence);
                        self.untold.take().into_iter().flatten().for_each(|end| self.say(end));
                    }
                    Next::Nobody => return Ok(()),
                    Next::More => {}
                },
                () = end_of(&mut self.finishing) => self.say(FromAgent::Finished),
                Some(()) = terminations.recv() => match launcher {
                    Some(_) => self.on_termination(),
                    None => return Ok(()),
                },
                _ = ticks.tick() => {
                    self.tick();
                    if launcher.is_some() && heartbeat.tick() {
                        match self.seek(heartbeat.unheard()) {
                            true => launcher = None,
                            false => return Err(heard_nothing(begin.silence)),
                        }
                    }
                }
            }
        }
    }

    fn obey(&mut self, order: ToAgent, begin: &Begin, events: &Events) {
        match order {
            ToAgent::Start(node) => {
                if let (Some(host), Some(chunks)) = (&mut self.host, &self.output.chunks) {
                    host.start(&[node], &executable(begin), events, chunks);
                }
            }
            order => self.carry_out(order),
        }
    }

    /// Somebody asks this process to end, such as a batch system that asks all of a job: it ends in order, as if a node had been
    /// asked. Without one here the launcher is on this very host, and is asked itself.
    fn on_termination(&self) {
        if let Some(node) = self.there.first() {
            self.say(FromAgent::Said(*node, ToLauncher::Terminated));
        }
    }

    fn carry_out(&mut self, order: ToAgent) {
        if let Some(heir) = &mut self.heir {
            heir.on_order(&order);
        }
        match order {
            ToAgent::Say(node, mut message) => {
                if let ToNode::Task(task) = &mut message {
                    task.listen = self.address;
                    if let Some(heir) = &self.heir {
                        task.secret = heir.secret();
                    }
                }
                self.host.iter().for_each(|host| host.send(node, message.clone()));
            }
            ToAgent::Use { spare, node } => {
                self.host.iter_mut().for_each(|host| host.use_spare(spare, node));
                self.there.remove(&spare);
                self.there.insert(node);
            }
            ToAgent::Kill(node) => self.host.iter().for_each(|host| host.kill(node)),
            ToAgent::Input(bytes) if bytes.is_empty() => self.input = None,
            ToAgent::Input(bytes) => {
                if let Some(input) = &self.input {
                    let _ = input.send(bytes);
                }
            }
            ToAgent::Finish => self.finish(),
            ToAgent::Ask(number, ask) => answer(&self.said, number, ask),
            ToAgent::Begin(_)
            | ToAgent::Start(_)
            | ToAgent::Taken(_)
            | ToAgent::Ping
            | ToAgent::Roll(_)
            | ToAgent::Here(_)
            | ToAgent::Wait
            | ToAgent::Out => {}
        }
    }

    fn on_event(&mut self, node: u32, event: Event) {
        match &event {
            Event::Started(_) => drop(self.there.insert(node)),
            Event::Ended(_) => {
                self.heir.iter_mut().for_each(|heir| heir.on_end(node));
                if !self.there.remove(&node) {
                    // The next launcher has not been told of it.
                    return;
                }
                if let Some(untold) = &mut self.untold {
                    // The former one does not hear it any more.
                    return untold.push(FromAgent::of_event(node, event));
                }
            }
            Event::Said(_) | Event::Garbled(_) | Event::Lost(_) | Event::NotStarted(_) => {}
        }
        self.say(FromAgent::of_event(node, event));
    }

    /// The launcher is gone, of which nothing had been heard for so long at most: whether another one is looked for. Whoever is no node yet ends, as it has nothing to save.
    fn seek(&mut self, unheard: Duration) -> bool {
        let Some((heir, host)) = self.heir.as_mut().zip(self.host.as_ref()) else { return false };
        self.input = None;
        for node in self.there.clone() {
            if !heir.has_begun(node) {
                host.kill(node);
                self.there.remove(&node);
            }
        }
        self.untold = Some(Vec::new());
        heir.seek(self.there.iter().copied().collect(), unheard)
    }

    /// Nodes that can do without a launcher are not to miss it: it is missed here.
    fn tick(&mut self) {
        self.say(FromAgent::Alive);
        let Some(heir) = &mut self.heir else { return };
        heir.tick();
        for node in self.there.iter().filter(|node| heir.has_begun(**node)) {
            self.host.iter().for_each(|host| host.send(*node, ToNode::Ping));
        }
    }

    /// All nodes have ended: what they wrote goes on, all of it, however long that takes.
    fn finish(&mut self) {
        let Some(host) = self.host.take() else { return };
        self.output.chunks = None;
        let forwarding = self.output.forwarding.take();
        self.finishing = Some(tokio::spawn(async {
            host.finish().await;
            if let Some(forwarding) = forwarding {
                let _ = forwarding.await;
            }
        }));
    }

    fn say(&self, message: FromAgent) {
        let _ = self.said.send(message);
    }
}

/// Answers a question about files, beside everything else: disks may take long.
fn answer(said: &Said, number: u64, ask: Ask) {
    let said = said.clone();
    spawn_blocking(move || drop(said.send(FromAgent::Answer(number, ask.answer()))));
}

/// Why an agent ends that has heard nothing of the launcher for so long.
pub fn heard_nothing(silence: Duration) -> String {
    format!(
        "it heard nothing of the launcher for {silence:?} (was it stopped, or the network between cut? see --silence)"
    )
}

/// Waits for the next order, while there is a launcher.
async fn next_of(launcher: &mut Option<Orders>) -> Option<ToAgent> {
    match launcher {
        Some(orders) => orders.recv().await,
        None => std::future::pending().await,
    }
}

/// Waits for what happens while it may do without a launcher.
async fn next_for(heir: &mut Option<Heir>) -> Next {
    match heir {
        Some(heir) => match heir.next().await {
            Happened::Next(next) => next,
            Happened::Came(newcomer) => {
                heir.on_newcomer(newcomer);
                Next::More
            }
        },
        None => std::future::pending().await,
    }
}

/// Waits for the end of a task, once there is one.
async fn end_of(task: &mut Option<JoinHandle<()>>) {
    match task {
        Some(running) => drop(running.await),
        None => std::future::pending().await,
    }
    *task = None;
}

/// The addresses by which somebody has logged in here.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reached {
    /// Of who logged in.
    pub(super) from: IpAddr,
    /// At which this host was reached.
    pub(super) at: IpAddr,
}

impl Reached {
    /// As ssh says it, or Slurm, which knows only one of them.
    pub(super) fn by_login() -> Option<Reached> {
        let variable = |name| std::env::var(name).ok();
        match variable("SSH_CONNECTION") {
            Some(connection) => Reached::by_ssh(&connection),
            None => Reached::by_slurm(&variable("SLURM_LAUNCH_NODE_IPADDR")?),
        }
    }

    /// The words are an address and a port there, and the same here.
    fn by_ssh(connection: &str) -> Option<Reached> {
        let words: Vec<&str> = connection.split_whitespace().collect();
        Some(Reached { from: words.first()?.parse().ok()?, at: words.get(2)?.parse().ok()? })
    }

    /// This host has the address from which the way leads there. Nothing is sent.
    fn by_slurm(from: &str) -> Option<Reached> {
        let from: IpAddr = from.trim().parse().ok()?;
        let any: IpAddr =
            if from.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((any, 0)).ok()?;
        socket.connect((from, ANY_PORT)).ok()?;
        Some(Reached { from, at: socket.local_addr().ok()?.ip() })
    }
}

fn executable(begin: &Begin) -> Executable {
    Executable { args: begin.args(), variables: begin.variables(), ..Executable::this() }
}

fn inheritance(begin: &Begin) -> std::io::Result<Inheritance> {
    if !begin.memory {
        return Ok(Inheritance::default());
    }
    let nodes = begin.nodes.len() as u32 - begin.spares;
    Inheritance::new(host_memory(nodes, begin.pes)?, nodes * begin.pes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_logs_in_says_by_which_addresses() {
        let of =
            |from: &str, at: &str| Some(Reached { from: from.parse().unwrap(), at: at.parse().unwrap() });
        assert_eq!(Reached::by_ssh("10.0.0.1 4711 10.0.0.2 22"), of("10.0.0.1", "10.0.0.2"));
        assert_eq!(Reached::by_ssh("fe80::1 4711 fe80::2 22"), of("fe80::1", "fe80::2"));
        assert_eq!((Reached::by_ssh(""), Reached::by_ssh("UNKNOWN 65535 UNKNOWN 65535")), (None, None));
        assert_eq!(Reached::by_slurm("127.0.0.1"), of("127.0.0.1", "127.0.0.1"));
        assert_eq!((Reached::by_slurm("h1"), Reached::by_slurm("")), (None, None));
    }
}
