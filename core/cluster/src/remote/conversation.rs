//! What the launcher and a host's agent say to each other, from the login, or from where another launcher left off, to the end.

use std::collections::BTreeMap;
use std::path::Path;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval, timeout};

use super::asks::Asks;
use super::host::{Attached, Start};
use super::input::Input;
use super::message::{FromAgent, ToAgent};
use super::session::Session;
use super::ssh;
use crate::local::Events;
use crate::printer::{Chunk, Lines, Print, Stream};
use crate::succession::process_registry::ProcessRegistry;
use talisman_base::frame::{Decoder, encode};
use talisman_control::agent_watch::Watch;
use talisman_control::event::Event;
use talisman_control::greeting::{Greeting, VERSION};
use talisman_control::heartbeat::TICK;
use talisman_control::hosts::Share;

/// Why a host is given up that is told to end.
const TOO_FEW: &str = "too many hosts were lost at once, which may go on without the others";
/// Bytes read at a time.
pub(super) const READ: usize = 16 << 10;

/// A host during its conversation.
pub(super) struct Host {
    pub(super) watch: Watch,
    pub(super) began: Instant,
    pub(super) events: Events,
    pub(super) written: mpsc::UnboundedSender<Chunk>,
    pub(super) said: mpsc::UnboundedSender<ToAgent>,
    /// This process's standard input, once it is wanted.
    pub(super) input: Option<Input>,
    /// Processes that waited and are nodes by now: which.
    pub(super) used: BTreeMap<u32, u32>,
    pub(super) rolls: Option<(ProcessRegistry, u32)>,
    /// What it was asked.
    pub(super) asks: Asks,
    /// Whether it is told to end what it runs, as too many others are lost.
    pub(super) is_given_up: bool,
}

/// Whether there is more to come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    More,
    Finished,
}

impl Host {
    /// Logs in, and talks with the agent to the end.
    pub(super) async fn converse(
        &mut self,
        start: &Start,
        mut orders: mpsc::UnboundedReceiver<ToAgent>,
        sayings: mpsc::UnboundedReceiver<ToAgent>,
    ) -> Result<(), String> {
        let session = match &start.heir {
            Some(heir) => Session::start_here(heir),
            None => Session::start(&start.share.host, &start.program),
        };
        let login = start.share.host.login.program();
        let mut ssh = session.map_err(|error| start.share.host.login.cannot_be_run(&error))?;
        let mut kept = Vec::new();
        let rest = tokio::select! {
            rest = greet(&start.share, &start.program, start.build, &mut ssh) => rest?,
            () = until_killed(&mut orders, &mut kept) => return Err("the job was over before it answered".into()),
        };
        let _ = self.said.send(ToAgent::Begin(Box::new(start.begin.clone())));
        kept.into_iter().for_each(|order| self.pass_on(order));
        let stdin = ssh.stdin.take().ok_or_else(|| format!("{login} has no standard input"))?;
        let writing = tokio::spawn(write(stdin, sayings));
        let mut decoder = Decoder::default();
        decoder.push(&rest);
        let ended = self.relay(&mut ssh.stdout, decoder, orders).await;
        // Without a voice to listen to, the agent ends, if it can hear that.
        writing.abort();
        let ended = ended?;
        let how = ssh.end().await;
        match ended {
            Next::More if self.is_given_up => Err(TOO_FEW.into()),
            Next::More => Err(ssh.lost(how)),
            Next::Finished => Ok(()),
        }
    }

    /// The same with an agent that is there.
    pub(super) async fn go_on(
        &mut self,
        attached: Attached,
        orders: mpsc::UnboundedReceiver<ToAgent>,
        sayings: mpsc::UnboundedReceiver<ToAgent>,
    ) -> Result<(), String> {
        let (mut reader, writer) = split(attached.talk);
        let writing = tokio::spawn(write(writer, sayings));
        let ended = self.relay(&mut reader, attached.decoder, orders).await;
        writing.abort();
        match ended? {
            Next::More if self.is_given_up => Err(TOO_FEW.into()),
            Next::More => Err("its agent is gone, or the connection with it".into()),
            Next::Finished => Ok(()),
        }
    }

    /// Passes on what either side says, until the agent has finished ([`Next::Finished`]) or its connection ends.
    async fn relay(
        &mut self,
        reader: &mut (impl AsyncRead + Unpin),
        mut decoder: Decoder,
        mut orders: mpsc::UnboundedReceiver<ToAgent>,
    ) -> Result<Next, String> {
        let (mut bytes, mut ticks) = (vec![0; READ], interval(TICK));
        loop {
            if self.take_all(&mut decoder)? == Next::Finished {
                return Ok(Next::Finished);
            }
            tokio::select! {
                count = reader.read(&mut bytes) => match count.unwrap_or(0) {
                    0 => return Ok(Next::More),
                    count => decoder.push(&bytes[..count]),
                },
                Some(order) = orders.recv() => self.pass_on(order),
                _ = ticks.tick() => self.tick()?,
            }
        }
    }

    fn take_all(&mut self, decoder: &mut Decoder) -> Result<Next, String> {
        while let Some(message) = decoder.next().map_err(|error| error.to_string())? {
            self.watch.heard();
            if self.take(message)? == Next::Finished {
                return Ok(Next::Finished);
            }
        }
        Ok(Next::More)
    }

    fn take(&mut self, message: FromAgent) -> Result<Next, String> {
        match message {
            FromAgent::Started { node, pid } => self.tell(node, Event::Started(pid)),
            FromAgent::Said(node, message) => self.tell(node, Event::Said(message)),
            FromAgent::Garbled(node, what) => self.tell(node, Event::Garbled(what)),
            FromAgent::NotStarted(node, why) => self.tell_end(node, Event::NotStarted(why)),
            FromAgent::Ended(node, how) => self.tell_end(node, Event::Ended(how)),
            FromAgent::Output { node, to_errors, bytes } => self.print(node, to_errors, bytes),
            FromAgent::InputWanted => self.ask_for_input(),
            FromAgent::Listening(door) => self.with_rolls(|rolls, rank| rolls.on_listening(rank, door)),
            FromAgent::Enrolled(number) => self.with_rolls(|rolls, rank| rolls.on_enrolled(rank, number)),
            FromAgent::AreYouThere(number) => drop(self.said.send(ToAgent::Here(number))),
            FromAgent::Answer(number, answer) => self.asks.on_answer(number, answer),
            FromAgent::Alive | FromAgent::Follow(_) => {}
            FromAgent::Failed(why) => return Err(why),
            FromAgent::Finished => return Ok(Next::Finished),
        }
        Ok(Next::More)
    }

    fn with_rolls(&self, tell: impl FnOnce(&ProcessRegistry, u32)) {
        if let Some((rolls, rank)) = &self.rolls {
            tell(rolls, *rank);
        }
    }

    /// Hands on an event of a node that is there: nobody else's events come from this host.
    fn tell(&self, node: u32, event: Event) {
        let node = self.node_of(node);
        if self.watch.has(node) {
            let _ = self.events.send((node, event));
        }
    }

    fn tell_end(&mut self, node: u32, event: Event) {
        self.tell(node, event);
        self.watch.on_end(self.node_of(node));
    }

    /// What a process is called by now.
    fn node_of(&self, number: u32) -> u32 {
        self.used.get(&number).copied().unwrap_or(number)
    }

    fn print(&self, node: u32, to_errors: bool, bytes: Vec<u8>) {
        let stream = if to_errors { Stream::Err } else { Stream::Out };
        if self.watch.had(node) {
            let _ = self.written.send(Chunk { node, stream, bytes });
        }
    }

    fn ask_for_input(&mut self) {
        self.input.get_or_insert_with(|| Input::to(self.said.clone())).ask();
    }

    fn pass_on(&mut self, order: ToAgent) {
        if let ToAgent::Kill(node) = &order {
            self.watch.on_kill(self.began.elapsed(), *node);
        }
        match &order {
            ToAgent::Start(node) => self.watch.on_start(*node),
            ToAgent::Use { spare, node } => {
                self.used.insert(*spare, *node);
                self.watch.on_end(*spare);
                self.watch.on_start(*node);
            }
            ToAgent::Out => self.is_given_up = true,
            _ => {}
        }
        let _ = self.said.send(order);
    }

    fn tick(&mut self) -> Result<(), String> {
        let _ = self.said.send(ToAgent::Ping);
        self.watch.on_tick(self.began.elapsed())
    }

    /// All nodes that are left are lost. If they have all ended in order, only some of what they wrote may be: that is
    /// for people to know.
    pub(super) fn lose(&mut self, why: &str) -> Option<String> {
        let (message, lost) = self.watch.lose(why);
        if !self.watch.had_any() {
            return Some(format!("warning: {message}; should the launcher be lost now, the job may be"));
        }
        if lost.is_empty() {
            return Some(format!("warning: {message}; some of what its nodes wrote may be missing"));
        }
        for node in lost {
            let _ = self.events.send((node, Event::Lost(message.clone())));
        }
        None
    }
}

/// Waits for the agent's greeting; the bytes after it.
pub(super) async fn greet(
    share: &Share,
    program: &Path,
    build: u64,
    ssh: &mut Session,
) -> Result<Vec<u8>, String> {
    let limit = ssh::GREETING_LIMIT;
    let greeting = timeout(limit, ssh.greeting()).await;
    match greeting.map_err(|_| format!("no answer within {limit:?}; try `{}`", share.host.trial()))?? {
        Some((Greeting { version, .. }, _)) if version != VERSION => Err(format!(
            "{} there has version {version} of the launcher's protocol, here it is {VERSION}; copy this program there",
            program.display()
        )),
        Some((greeting, _)) if greeting.build != build => Err(format!(
            "{} there is another build of the program than here; copy this one there",
            program.display()
        )),
        Some((_, rest)) => Ok(rest),
        None => Err(ssh.no_agent(&share.host, program).await),
    }
}

/// Waits until a node is to be killed; what is to be done before is kept.
async fn until_killed(orders: &mut mpsc::UnboundedReceiver<ToAgent>, kept: &mut Vec<ToAgent>) {
    while let Some(order) = orders.recv().await {
        if matches!(order, ToAgent::Kill(_)) {
            return;
        }
        kept.push(order);
    }
}

pub(super) async fn write(mut stdin: impl AsyncWrite + Unpin, mut sayings: mpsc::UnboundedReceiver<ToAgent>) {
    while let Some(message) = sayings.recv().await {
        let Ok(frame) = encode(&message) else { return };
        if stdin.write_all(&frame).await.is_err() || stdin.flush().await.is_err() {
            return; // The connection is gone; that is noticed where it is read.
        }
    }
}

/// Hands on output, and tells the agent that there is room for more.
pub(super) async fn forward(
    mut written: mpsc::UnboundedReceiver<Chunk>,
    lines: Lines,
    said: mpsc::UnboundedSender<ToAgent>,
) {
    while let Some(chunk) = written.recv().await {
        let bytes = chunk.bytes.len() as u32;
        let _ = lines.send(Print::Chunk(chunk)).await;
        let _ = said.send(ToAgent::Taken(bytes));
    }
}
