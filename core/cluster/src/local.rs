//! The nodes on this host: their processes, control connections and output, each served by a small task.
//!
//! What happens becomes an [`Event`], in the order in which it happened to that node: what a process said before its end
//! comes before its end. The same works for nodes elsewhere, whose events somebody else sends.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::children::{self, Executable, Pipes, Process, Started};
use crate::memory::Inheritance;
use crate::printer::{Chunk, Lines, Print, Stream};
use crate::standby::Pledge;
use crate::takeover::folder::Doors;
use crate::takeover::streams::Streams;
use talisman_base::frame::{Decoder, encode};
use talisman_control::event::Event;
use talisman_control::heritage::Heritage;
use talisman_control::lines::Collector;
use talisman_control::protocol::ToNode;

#[cfg(test)]
mod tests;

/// Bytes read at a time, of messages and of output.
const READ: usize = 16 << 10;

/// Where the events of all nodes go, each with its node's number.
pub type Events = mpsc::UnboundedSender<(u32, Event)>;

/// The nodes of this host.
pub struct LocalHost {
    nodes: Vec<Local>,
    inheritance: Inheritance,
    /// What the job's first node reads, if it is here and has not been started.
    stdin: Option<Stdio>,
    /// What they do without a launcher with, if they can.
    heirlooms: Option<Heirlooms>,
    /// Tasks that hand on output; they end by themselves.
    outputs: JoinSet<()>,
}

/// What nodes inherit to do without their launcher, beside their own pipes.
struct Heirlooms {
    /// What the launcher prints to.
    streams: Streams,
    /// Where they find each other.
    doors: Arc<Doors>,
    /// The process that the job is called by.
    launcher: u32,
    /// What is to be said when they begin.
    pledge: Option<Pledge>,
}

/// One of them.
struct Local {
    number: Arc<AtomicU32>,
    orders: mpsc::UnboundedSender<ToNode>,
    process: Arc<AsyncFd<OwnedFd>>,
    /// The numbers of the descriptors that its output is read from.
    pipes: [RawFd; 2],
}

impl LocalHost {
    /// Nobody runs yet. If the job's first node will be here, it reads `stdin`; the others read nothing.
    pub fn new(inheritance: Inheritance, stdin: Stdio) -> Self {
        let (nodes, outputs) = (Vec::new(), JoinSet::new());
        LocalHost { nodes, inheritance, stdin: Some(stdin), heirlooms: None, outputs }
    }

    /// The same whose nodes can do without a launcher, of a job that is called by this process; somebody may stand by until they begin.
    pub fn outlived(
        self,
        (streams, doors): (Streams, Arc<Doors>),
        launcher: u32,
        pledge: Option<Pledge>,
    ) -> Self {
        LocalHost { heirlooms: Some(Heirlooms { streams, doors, launcher, pledge }), ..self }
    }

    /// Starts these nodes. One that cannot be started is an event too, and so are those after it, which are not tried.
    pub fn start(&mut self, numbers: &[u32], executable: &Executable, events: &Events, lines: &Lines) {
        let mut failed = None;
        for &number in numbers {
            let started = match failed.take() {
                None => self.start_one(number, executable, events, lines),
                Some(why) => Err(why),
            };
            let event = match started {
                Ok(pid) => Event::Started(pid),
                Err(error) => {
                    let event = Event::NotStarted(not_started(executable, &error));
                    failed = Some(error);
                    event
                }
            };
            let _ = events.send((number, event));
        }
    }

    /// Says something to a node of this host, in the order of the calls and without waiting.
    pub fn send(&self, node: u32, mut message: ToNode) {
        if let Some(local) = self.find(node) {
            if let ToNode::Task(task) = &mut message {
                task.host = self.inheritance.numbers(std::mem::take(&mut task.host.nodes));
                task.heritage = self.heirlooms.as_ref().map(|heirlooms| heirlooms.with(local.pipes));
            }
            let _ = local.orders.send(message);
        }
    }

    /// A process that waits is this node from now on.
    pub fn use_spare(&mut self, spare: u32, node: u32) {
        self.nodes.retain(|local| !local.is(node));
        if let Some(local) = self.find(spare) {
            local.number.store(node, Ordering::Relaxed);
        }
    }

    /// Kills a node of this host; its end will be an event.
    pub fn kill(&self, node: u32) {
        if let Some(local) = self.find(node) {
            children::kill(local.process.get_ref().as_fd());
        }
    }

    /// Waits until all that the nodes wrote has been handed on, and takes away where they found each other. They have to have ended.
    pub async fn finish(mut self) {
        while self.outputs.join_next().await.is_some() {}
        self.heirlooms.into_iter().for_each(|heirlooms| heirlooms.doors.remove());
    }

    fn find(&self, node: u32) -> Option<&Local> {
        self.nodes.iter().find(|local| local.is(node))
    }

    fn start_one(
        &mut self,
        number: u32,
        executable: &Executable,
        events: &Events,
        lines: &Lines,
    ) -> io::Result<u32> {
        let stdin = if number == 0 { self.stdin.take() } else { None };
        let mut inherited = self.inheritance.all();
        inherited.extend(self.heirlooms.iter().flat_map(Heirlooms::numbers));
        let pipes = if self.heirlooms.is_some() { Pipes::Shared } else { Pipes::Ours };
        let started =
            children::start(executable, number, &inherited, stdin.unwrap_or_else(Stdio::null), pipes)?;
        let pid = started.process.pid();
        let Started { process, control, stdout, stderr } = started;
        let pipes = [stdout.as_raw_fd(), stderr.as_raw_fd()];
        control.set_nonblocking(true)?;
        let (reader, writer) = UnixStream::from_std(control)?.into_split();
        let pidfd = Arc::new(readable(process.pidfd().try_clone_to_owned()?)?);
        let (orders, queue) = mpsc::unbounded_channel();
        let (gone, ended) = watch::channel(false);
        let name = Arc::new(AtomicU32::new(number));
        for (pipe, stream) in [(stdout, Stream::Out), (stderr, Stream::Err)] {
            let pipe = pipe::Receiver::from_owned_fd(pipe)?;
            self.outputs.spawn(forward(pipe, name.clone(), stream, lines.clone(), ended.clone()));
        }
        tokio::spawn(write(writer, queue));
        tokio::spawn(Watched { number: name.clone(), events: events.clone() }.watch(
            reader,
            process,
            pidfd.clone(),
            gone,
        ));
        // Of a process that was there before, nothing is left to talk with.
        self.nodes.retain(|local| !local.is(number));
        self.nodes.push(Local { number: name, orders, process: pidfd, pipes });
        Ok(pid)
    }
}

impl Heirlooms {
    fn numbers(&self) -> impl Iterator<Item = RawFd> {
        self.streams.all().chain([self.doors.number()]).chain(self.pledge.as_ref().map(Pledge::number))
    }

    fn with(&self, pipes: [RawFd; 2]) -> Heritage {
        let pledge = self.pledge.as_ref().map(Pledge::number);
        let spool = Some(self.streams.spool());
        let (streams, doors) = (self.streams.numbers(), self.doors.number());
        Heritage { streams, spool, doors, pipes, launcher: self.launcher, pledge }
    }
}

impl Local {
    fn is(&self, node: u32) -> bool {
        self.number.load(Ordering::Relaxed) == node
    }
}

fn not_started(executable: &Executable, error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => {
            "; use fewer nodes, or raise the limits on processes and memory (`ulimit -a`)"
        }
        _ => "",
    };
    format!("cannot start {}: {error}{advice}", executable.path.display())
}

/// A pidfd that can be awaited: it is readable once its process has ended.
pub fn readable(pidfd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor is owned, so it is open and means the same as long as the `AsyncFd` exists.
    Ok(unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) }?)
}

/// Writes what is said to a node, as fast as it reads.
pub async fn write(mut writer: OwnedWriteHalf, mut queue: mpsc::UnboundedReceiver<ToNode>) {
    while let Some(message) = queue.recv().await {
        let Ok(frame) = encode(&message) else { return };
        if writer.write_all(&frame).await.is_err() {
            return; // It has ended; that will be noticed where its end is watched.
        }
    }
}

/// A node whose messages and end are awaited.
pub struct Watched {
    pub number: Arc<AtomicU32>,
    pub events: Events,
}

impl Watched {
    async fn watch(
        self,
        mut reader: OwnedReadHalf,
        mut process: Process,
        pidfd: Arc<AsyncFd<OwnedFd>>,
        gone: watch::Sender<bool>,
    ) {
        let mut decoder = Decoder::default();
        tokio::select! {
            () = self.listen(&mut reader, &mut decoder) => {}
            _ = pidfd.readable() => {}
        }
        let _ = pidfd.readable().await;
        self.read_rest(&reader, &mut decoder);
        let how = process.how_it_ended();
        let _ = gone.send(true);
        self.tell(Event::Ended(how));
    }

    /// Hands on messages until there are no more.
    pub async fn listen(&self, reader: &mut OwnedReadHalf, decoder: &mut Decoder) {
        let mut bytes = vec![0; READ];
        if !self.decode(decoder, &[]) {
            return;
        }
        while let Ok(count @ 1..) = reader.read(&mut bytes).await {
            if !self.decode(decoder, &bytes[..count]) {
                return;
            }
        }
    }

    /// The process has ended: what it said last is there, and nobody will add to it.
    pub fn read_rest(&self, reader: &OwnedReadHalf, decoder: &mut Decoder) {
        let mut readable = true;
        drain(reader.as_ref().as_fd(), |bytes| readable = readable && self.decode(decoder, bytes));
    }

    fn decode(&self, decoder: &mut Decoder, bytes: &[u8]) -> bool {
        decoder.push(bytes);
        loop {
            match decoder.next() {
                Ok(Some(message)) => self.tell(Event::Said(message)),
                Ok(None) => return true,
                Err(error) => {
                    self.tell(Event::Garbled(error.to_string()));
                    return false;
                }
            }
        }
    }

    pub fn tell(&self, event: Event) {
        let _ = self.events.send((self.number.load(Ordering::Relaxed), event));
    }
}

/// Hands on what a node writes to one of its pipes, until it has ended and all of it is read. Its own child processes
/// may hold the pipe longer: they are not waited for.
async fn forward(
    mut pipe: pipe::Receiver,
    node: Arc<AtomicU32>,
    stream: Stream,
    lines: Lines,
    mut ended: watch::Receiver<bool>,
) {
    let (mut collector, mut bytes) = (Collector::default(), vec![0; READ]);
    loop {
        let count = tokio::select! {
            count = pipe.read(&mut bytes) => count.unwrap_or(0),
            _ = ended.wait_for(|ended| *ended) => 0,
        };
        if count == 0 {
            break;
        }
        pass(&lines, node.load(Ordering::Relaxed), stream, collector.push(&bytes[..count])).await;
    }
    let _ = ended.wait_for(|ended| *ended).await;
    let mut rest = Vec::new();
    drain(pipe.as_fd(), |bytes| rest.extend(collector.push(bytes)));
    rest.extend(collector.finish());
    for bytes in rest {
        pass(&lines, node.load(Ordering::Relaxed), stream, Some(bytes)).await;
    }
}

async fn pass(lines: &Lines, node: u32, stream: Stream, bytes: Option<Vec<u8>>) {
    if let Some(bytes) = bytes {
        let _ = lines.send(Print::Chunk(Chunk { node, stream, bytes })).await;
    }
}

/// Reads what is there without waiting. The runtime is not asked, since it may not have heard of the last bytes yet.
fn drain(descriptor: BorrowedFd<'_>, mut take: impl FnMut(&[u8])) {
    let mut bytes = [0; READ];
    loop {
        match rustix::io::read(descriptor, &mut bytes) {
            Ok(0) => return,
            Ok(count) => take(&bytes[..count]),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
