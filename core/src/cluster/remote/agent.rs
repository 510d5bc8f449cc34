//! The agent: the process on another host that starts, serves and ends the nodes there.

use std::io::PipeWriter;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::runtime;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{interval, timeout};

use super::super::children::Executable;
use super::super::control::ToNode;
use super::super::descriptors;
use super::super::frame::{Decoder, encode};
use super::super::heartbeat::{Heartbeat, TICK};
use super::super::local::{Events, LocalHost};
use super::super::memory::{Inheritance, host_memory};
use super::super::printer::{Lines, Print};
use super::greeting::{Greeting, VERSION};
use super::message::{Begin, FromAgent, ToAgent};
use crate::build::build_number;

/// What a program is called with, alone, to be an agent.
pub(crate) const FLAG: &str = "--talisman-agent";

/// So long the launcher may take for its first message.
const BEGIN_LIMIT: Duration = Duration::from_secs(10);
/// So long what was said last may take to be written, before this process ends.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Bytes of output under way to the launcher: what nobody reads there shall wait in the nodes' own pipes.
const WINDOW: usize = 512 << 10;
/// Pieces of output that wait here for room in the window.
const CHUNKS: usize = 16;
/// Bytes read at a time.
const READ: usize = 16 << 10;

/// Whether this process was started as an agent.
pub(crate) fn is_asked_for() -> bool {
    let mut args = std::env::args_os().skip(1);
    args.next().is_some_and(|first| first == FLAG) && args.next().is_none()
}

/// What an agent does instead of the program.
pub(crate) fn main() -> ExitCode {
    descriptors::raise_limit();
    let Ok(runtime) = runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    runtime.block_on(serve());
    // Nodes that are left are killed now. The thread that reads standard input may wait there for ever.
    runtime.shutdown_background();
    ExitCode::SUCCESS
}

async fn serve() {
    let window = Arc::new(Semaphore::new(WINDOW));
    let (sender, mut orders) = mpsc::unbounded_channel();
    tokio::spawn(read(sender, window.clone()));
    let (said, queue) = mpsc::unbounded_channel();
    let writing = tokio::spawn(write(queue));
    if let Err(why) = obey(&mut orders, &said, window).await {
        let _ = said.send(FromAgent::Failed(why));
    }
    drop(said);
    let _ = timeout(LAST_WORDS, writing).await;
}

/// From the first message to the end. An error is for the launcher to tell; that the launcher is gone is none.
async fn obey(orders: &mut Orders, said: &Said, window: Arc<Semaphore>) -> Result<(), String> {
    let begin = match timeout(BEGIN_LIMIT, orders.recv()).await {
        Ok(Some(ToAgent::Begin(begin))) => *begin,
        Ok(None) => return Ok(()),
        Ok(Some(_)) => return Err("the launcher did not say what to begin".into()),
        Err(_) => return Err(format!("the launcher said nothing for {BEGIN_LIMIT:?}")),
    };
    let agent = Agent::new(&begin, said, window)?;
    agent.run(&begin, orders).await
}

type Orders = mpsc::UnboundedReceiver<ToAgent>;
type Said = mpsc::UnboundedSender<FromAgent>;

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
}

/// What nodes write, on its way.
struct Output {
    chunks: Option<Lines>,
    forwarding: Option<JoinHandle<()>>,
}

impl Agent {
    fn new(begin: &Begin, said: &Said, window: Arc<Semaphore>) -> Result<Self, String> {
        let folder = begin.folder();
        std::env::set_current_dir(folder)
            .map_err(|error| format!("the working folder {} is not there: {error}", folder.display()))?;
        let address = begin.address.or_else(ssh_came_in_by).ok_or(
            "it is not known where ssh came in; write address=A after the host's name, for its nodes to listen at",
        )?;
        let (stdin, input) =
            input(begin, said).map_err(|error| format!("no pipe for standard input: {error}"))?;
        let inheritance = inheritance(begin).map_err(|error| {
            format!("no shared memory for its nodes: {error}; --transport tcp does without")
        })?;
        let host = Some(LocalHost::new(inheritance, stdin));
        let output = Output::start(said.clone(), window);
        Ok(Agent { host, address, input, said: said.clone(), output, finishing: None })
    }

    /// Starts the nodes and serves them, until the launcher ends the connection or is lost. Nodes that are left then die
    /// with this process. A launcher that was silent may only have been stopped: it is told.
    async fn run(mut self, begin: &Begin, orders: &mut Orders) -> Result<(), String> {
        let (events, mut happened) = mpsc::unbounded_channel();
        if let (Some(host), Some(chunks)) = (&mut self.host, &self.output.chunks) {
            host.start(&begin.nodes, &executable(begin), &events, chunks);
        }
        let (mut ticks, mut heartbeat) = (interval(TICK), Heartbeat::new(begin.silence));
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(ToAgent::Start(node)) => {
                        heartbeat.heard();
                        self.start_again(node, begin, &events);
                    }
                    Some(order) => {
                        heartbeat.heard();
                        self.carry_out(order);
                    }
                    None => return Ok(()),
                },
                Some((node, event)) = happened.recv() => self.say(FromAgent::of_event(node, event)),
                () = end_of(&mut self.finishing) => self.say(FromAgent::Finished),
                _ = ticks.tick() => {
                    self.say(FromAgent::Alive);
                    if heartbeat.tick() {
                        return Err(heard_nothing(begin.silence));
                    }
                }
            }
        }
    }

    fn start_again(&mut self, node: u32, begin: &Begin, events: &Events) {
        if let (Some(host), Some(chunks)) = (&mut self.host, &self.output.chunks) {
            host.start(&[node], &executable(begin), events, chunks);
        }
    }

    fn carry_out(&mut self, order: ToAgent) {
        match order {
            ToAgent::Say(node, mut message) => {
                if let ToNode::Task(task) = &mut message {
                    task.listen = self.address;
                }
                self.host.iter().for_each(|host| host.send(node, message.clone()));
            }
            ToAgent::Use { spare, node } => self.host.iter_mut().for_each(|host| host.use_spare(spare, node)),
            ToAgent::Kill(node) => self.host.iter().for_each(|host| host.kill(node)),
            ToAgent::Input(bytes) if bytes.is_empty() => self.input = None,
            ToAgent::Input(bytes) => {
                if let Some(input) = &self.input {
                    let _ = input.send(bytes);
                }
            }
            ToAgent::Finish => self.finish(),
            ToAgent::Begin(_) | ToAgent::Start(_) | ToAgent::Taken(_) | ToAgent::Ping => {}
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

impl Output {
    fn start(said: Said, window: Arc<Semaphore>) -> Output {
        let (chunks, written) = mpsc::channel(CHUNKS);
        let forwarding = tokio::spawn(forward(written, said, window));
        Output { chunks: Some(chunks), forwarding: Some(forwarding) }
    }
}

/// Why an agent ends that has heard nothing of the launcher for so long.
pub(crate) fn heard_nothing(silence: Duration) -> String {
    format!(
        "it heard nothing of the launcher for {silence:?} (was it stopped, or the network between cut? see --silence)"
    )
}

/// Waits for the end of a task, once there is one.
async fn end_of(task: &mut Option<JoinHandle<()>>) {
    match task {
        Some(running) => drop(running.await),
        None => std::future::pending().await,
    }
    *task = None;
}

/// The third word is the address at which this host was reached.
fn ssh_came_in_by() -> Option<IpAddr> {
    let connection = std::env::var("SSH_CONNECTION").ok()?;
    connection.split_whitespace().nth(2)?.parse().ok()
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

/// Standard input of the first node, and where what it is to read goes.
fn input(begin: &Begin, said: &Said) -> std::io::Result<(Stdio, Option<mpsc::UnboundedSender<Vec<u8>>>)> {
    if !begin.nodes.contains(&0) {
        return Ok((Stdio::null(), None));
    }
    let (reader, writer) = std::io::pipe()?;
    let (sender, queue) = mpsc::unbounded_channel();
    tokio::spawn(feed(writer, queue, said.clone()));
    Ok((reader.into(), Some(sender)))
}

/// Hands on standard input as fast as the node reads, one piece under way at a time.
async fn feed(writer: PipeWriter, mut queue: mpsc::UnboundedReceiver<Vec<u8>>, said: Said) {
    let Ok(mut pipe) = pipe::Sender::from_owned_fd(OwnedFd::from(writer)) else { return };
    while said.send(FromAgent::InputWanted).is_ok() {
        let Some(bytes) = queue.recv().await else { return };
        if pipe.write_all(&bytes).await.is_err() {
            return; // The node reads no more.
        }
    }
}

/// Hands on what nodes write, as long as there is room in the window.
async fn forward(mut written: mpsc::Receiver<Print>, said: Said, window: Arc<Semaphore>) {
    while let Some(print) = written.recv().await {
        // The nodes of this host print; nothing here has a line or progress of its own.
        let Print::Chunk(chunk) = print else { continue };
        let bytes = chunk.bytes.len().min(WINDOW) as u32;
        let Ok(room) = window.acquire_many(bytes).await else { return };
        room.forget();
        let _ = said.send(FromAgent::of_chunk(chunk));
    }
}

/// Reads what the launcher says, until there is no more or it cannot be read: both mean that the launcher is lost.
async fn read(orders: mpsc::UnboundedSender<ToAgent>, window: Arc<Semaphore>) {
    let (mut stdin, mut decoder, mut bytes) = (tokio::io::stdin(), Decoder::default(), vec![0; READ]);
    while let Ok(count @ 1..) = stdin.read(&mut bytes).await {
        decoder.push(&bytes[..count]);
        loop {
            match decoder.next() {
                Ok(Some(ToAgent::Taken(bytes))) => window.add_permits((bytes as usize).min(WINDOW)),
                Ok(Some(order)) => {
                    let _ = orders.send(order);
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

async fn write(mut queue: mpsc::UnboundedReceiver<FromAgent>) {
    let mut stdout = tokio::io::stdout();
    let greeting = Greeting { version: VERSION, build: build_number() };
    let mut next = greeting.line().into_bytes();
    while stdout.write_all(&next).await.is_ok() && stdout.flush().await.is_ok() {
        let Some(message) = queue.recv().await else { return };
        let Ok(frame) = encode(&message) else { return };
        next = frame;
    }
}
