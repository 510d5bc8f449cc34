//! The launcher's end: a host's agent behind the same few calls that the nodes of this host are behind.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, timeout};

use super::super::control::ToNode;
use super::super::frame::{Decoder, encode};
use super::super::heartbeat::TICK;
use super::super::hosts::Share;
use super::super::local::{Event, Events};
use super::super::printer::{Chunk, Lines, Print, Stream};
use super::greeting::{Greeting, VERSION};
use super::input::Input;
use super::message::{Begin, FromAgent, ToAgent};
use super::session::Session;
use super::ssh;
use super::watch::Watch;

/// Bytes read at a time.
const READ: usize = 16 << 10;

/// The nodes of another host.
pub(crate) struct RemoteHost {
    orders: mpsc::UnboundedSender<ToAgent>,
    /// Until it is started.
    waiting: Option<(Start, mpsc::UnboundedReceiver<ToAgent>)>,
    serving: Option<JoinHandle<()>>,
}

/// What to start there, and by what it is found out whether it is the same program.
pub(crate) struct Start {
    pub(crate) share: Share,
    /// The program's path, there as here.
    pub(crate) program: PathBuf,
    /// What tells this executable from others.
    pub(crate) build: u64,
    pub(crate) begin: Begin,
}

impl RemoteHost {
    /// Nobody runs yet.
    pub(crate) fn new(start: Start) -> Self {
        let (orders, queue) = mpsc::unbounded_channel();
        RemoteHost { orders, waiting: Some((start, queue)), serving: None }
    }

    /// Logs in and starts the nodes. Everything that comes of it, failures too, will be an event.
    pub(crate) fn start(&mut self, events: &Events, lines: &Lines) {
        if let Some((start, queue)) = self.waiting.take() {
            self.serving = Some(tokio::spawn(serve(start, queue, events.clone(), lines.clone())));
        }
    }

    /// Says something to a node of this host, in the order of the calls and without waiting.
    pub(crate) fn send(&self, node: u32, message: ToNode) {
        let _ = self.orders.send(ToAgent::Say(node, message));
    }

    /// Starts another process for a node, which has none any more. What comes of it will be events.
    pub(crate) fn start_again(&self, node: u32) {
        let _ = self.orders.send(ToAgent::Start(node));
    }

    /// A process that waits is this node from now on.
    pub(crate) fn use_spare(&self, spare: u32, node: u32) {
        let _ = self.orders.send(ToAgent::Use { spare, node });
    }

    /// Whether the conversation with its agent is over.
    pub(crate) fn is_lost(&self) -> bool {
        self.orders.is_closed()
    }

    /// Kills a node of this host; its end will be an event, or the loss of its host.
    pub(crate) fn kill(&self, node: u32) {
        let _ = self.orders.send(ToAgent::Kill(node));
    }

    /// All nodes of the job have ended: the agent may, too.
    pub(crate) fn begin_to_finish(&self) {
        let _ = self.orders.send(ToAgent::Finish);
    }

    /// Waits until all that the nodes wrote has been handed on, and the agent has ended.
    pub(crate) async fn finish(self) {
        self.begin_to_finish();
        if let Some(serving) = self.serving {
            let _ = serving.await;
        }
    }
}

/// From the login to the end; if that is no good one, all nodes that are left are lost.
async fn serve(start: Start, orders: mpsc::UnboundedReceiver<ToAgent>, events: Events, lines: Lines) {
    let (written, queue) = mpsc::unbounded_channel();
    let (said, sayings) = mpsc::unbounded_channel();
    let forwarding = tokio::spawn(forward(queue, lines.clone(), said.clone()));
    let mut host = Host {
        watch: Watch::new(&start.share.host.to_string(), start.share.numbers(), start.begin.silence),
        began: Instant::now(),
        input: None,
        used: BTreeMap::new(),
        start,
        events,
        written,
        said,
    };
    let lost = host.converse(orders, sayings).await.err().and_then(|why| host.lose(&why));
    drop(host);
    let _ = forwarding.await;
    if let Some(message) = lost {
        let _ = lines.send(Print::Say(message)).await;
    }
}

/// A host during its conversation.
struct Host {
    start: Start,
    watch: Watch,
    began: Instant,
    events: Events,
    written: mpsc::UnboundedSender<Chunk>,
    said: mpsc::UnboundedSender<ToAgent>,
    /// This process's standard input, once it is wanted.
    input: Option<Input>,
    /// Processes that waited and are nodes by now: which.
    used: BTreeMap<u32, u32>,
}

/// Whether there is more to come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    More,
    Finished,
}

impl Host {
    async fn converse(
        &mut self,
        mut orders: mpsc::UnboundedReceiver<ToAgent>,
        sayings: mpsc::UnboundedReceiver<ToAgent>,
    ) -> Result<(), String> {
        let mut ssh = Session::start(&self.start.share.host, &self.start.program)
            .map_err(|error| format!("ssh cannot be run: {error}"))?;
        let mut kept = Vec::new();
        let rest = tokio::select! {
            rest = self.greet(&mut ssh) => rest?,
            () = until_killed(&mut orders, &mut kept) => return Err("the job was over before it answered".into()),
        };
        let _ = self.said.send(ToAgent::Begin(Box::new(self.start.begin.clone())));
        kept.into_iter().for_each(|order| self.pass_on(order));
        let stdin = ssh.stdin.take().ok_or("ssh has no standard input")?;
        let writing = tokio::spawn(write(stdin, sayings));
        let ended = self.relay(&mut ssh, rest, orders).await;
        // Without a voice to listen to, the agent ends, if it can hear that.
        writing.abort();
        let ended = ended?;
        let how = ssh.end().await;
        match ended {
            Next::More => Err(ssh::lost(how, &ssh.said())),
            Next::Finished => Ok(()),
        }
    }

    /// Waits for the agent's greeting; the bytes after it.
    async fn greet(&self, ssh: &mut Session) -> Result<Vec<u8>, String> {
        let Start { share, program, build, .. } = &self.start;
        let limit = ssh::GREETING_LIMIT;
        let greeting = timeout(limit, ssh.greeting()).await;
        match greeting
            .map_err(|_| format!("no answer within {limit:?}; try `ssh {} true`", share.host.name))??
        {
            Some((Greeting { version, .. }, _)) if version != VERSION => Err(format!(
                "{} there has version {version} of the launcher's protocol, here it is {VERSION}; copy this program there",
                program.display()
            )),
            Some((greeting, _)) if greeting.build != *build => Err(format!(
                "{} there is another build of the program than here; copy this one there",
                program.display()
            )),
            Some((_, rest)) => Ok(rest),
            None => {
                let how = ssh.end().await;
                Err(ssh::no_agent(how, &ssh.said(), &share.host, program))
            }
        }
    }

    /// Passes on what either side says, until the agent has finished ([`Next::Finished`]) or its connection ends.
    async fn relay(
        &mut self,
        ssh: &mut Session,
        rest: Vec<u8>,
        mut orders: mpsc::UnboundedReceiver<ToAgent>,
    ) -> Result<Next, String> {
        let (mut decoder, mut bytes, mut ticks) = (Decoder::default(), vec![0; READ], interval(TICK));
        decoder.push(&rest);
        loop {
            if self.take_all(&mut decoder)? == Next::Finished {
                return Ok(Next::Finished);
            }
            tokio::select! {
                count = ssh.stdout.read(&mut bytes) => match count.unwrap_or(0) {
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
            FromAgent::Alive => {}
            FromAgent::Failed(why) => return Err(why),
            FromAgent::Finished => return Ok(Next::Finished),
        }
        Ok(Next::More)
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
        if self.start.share.numbers().contains(&node) || self.watch.has(node) {
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
    fn lose(&mut self, why: &str) -> Option<String> {
        let (message, lost) = self.watch.lose(why);
        if lost.is_empty() {
            return Some(format!("warning: {message}; some of what its nodes wrote may be missing"));
        }
        for node in lost {
            let _ = self.events.send((node, Event::Lost(message.clone())));
        }
        None
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

async fn write(mut stdin: ChildStdin, mut sayings: mpsc::UnboundedReceiver<ToAgent>) {
    while let Some(message) = sayings.recv().await {
        let Ok(frame) = encode(&message) else { return };
        if stdin.write_all(&frame).await.is_err() {
            return; // The connection is gone; that is noticed where it is read.
        }
    }
}

/// Hands on output, and tells the agent that there is room for more.
async fn forward(
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
