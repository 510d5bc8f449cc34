//! What passes through an agent: what it and its launcher say to each other, what nodes print, and what the first one reads.

use std::io::{self, PipeWriter};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

use super::message::{Begin, FromAgent, ToAgent};
use crate::printer::{Lines, Print};
use talisman_base::frame::{Decoder, encode};

/// Bytes of output under way to the launcher: what nobody reads there shall wait in the nodes' own pipes.
const WINDOW: usize = 512 << 10;
/// Pieces of output that wait here for room in the window.
const CHUNKS: usize = 16;
/// Bytes read at a time.
const READ: usize = 16 << 10;

/// What a launcher says.
pub(super) type Orders = mpsc::UnboundedReceiver<ToAgent>;
/// What is said to the launcher, whichever that is.
pub(super) type Said = mpsc::UnboundedSender<FromAgent>;
/// Where that is written to.
pub(super) type Voice = Box<dyn AsyncWrite + Send + Unpin>;

/// Room for output on its way.
#[derive(Clone)]
pub(super) struct Window(Arc<Semaphore>);

impl Window {
    pub(super) fn new() -> Self {
        Window(Arc::new(Semaphore::new(WINDOW)))
    }

    /// What was under way will not be acknowledged any more.
    pub(super) fn open_again(&self) {
        self.0.add_permits(WINDOW.saturating_sub(self.0.available_permits()));
    }
}

/// Reads what a launcher says, until there is no more or it cannot be read: both mean that it is lost.
pub(super) fn hear(
    from: impl AsyncRead + Send + Unpin + 'static,
    decoder: Decoder,
    window: Window,
) -> Orders {
    let (orders, heard) = mpsc::unbounded_channel();
    tokio::spawn(read(from, decoder, orders, window));
    heard
}

async fn read(
    mut from: impl AsyncRead + Unpin,
    mut decoder: Decoder,
    orders: mpsc::UnboundedSender<ToAgent>,
    window: Window,
) {
    let mut bytes = vec![0; READ];
    loop {
        match decoder.next() {
            Ok(Some(ToAgent::Taken(bytes))) => window.0.add_permits((bytes as usize).min(WINDOW)),
            Ok(Some(order)) => {
                let _ = orders.send(order);
            }
            Ok(None) => match from.read(&mut bytes).await {
                Ok(count @ 1..) => decoder.push(&bytes[..count]),
                _ => return,
            },
            Err(_) => return,
        }
    }
}

/// Writes what is said to one launcher after the other. What cannot be written to one is lost, or for the next.
pub(super) async fn write(
    mut launchers: mpsc::UnboundedReceiver<Voice>,
    mut queue: mpsc::UnboundedReceiver<FromAgent>,
) {
    let Some(mut launcher) = launchers.recv().await else { return };
    while let Some(message) = queue.recv().await {
        let Ok(frame) = encode(&message) else { return };
        // Whoever came before the message was taken up is whom it is for.
        while let Ok(next) = launchers.try_recv() {
            launcher = next;
        }
        // One that does not read any more must not keep its successor waiting.
        let next = tokio::select! {
            biased;
            next = launchers.recv() => next,
            is_written = say(&mut launcher, &frame) => if is_written { continue } else { launchers.recv().await },
        };
        match next {
            Some(next) => launcher = next,
            None => return,
        }
    }
}

pub(super) async fn say(launcher: &mut (impl AsyncWrite + Unpin), frame: &[u8]) -> bool {
    launcher.write_all(frame).await.is_ok() && launcher.flush().await.is_ok()
}

/// What nodes write, on its way.
pub(super) struct Output {
    pub(super) chunks: Option<Lines>,
    pub(super) forwarding: Option<JoinHandle<()>>,
}

impl Output {
    pub(super) fn start(said: Said, window: Window) -> Output {
        let (chunks, written) = mpsc::channel(CHUNKS);
        let forwarding = tokio::spawn(forward(written, said, window));
        Output { chunks: Some(chunks), forwarding: Some(forwarding) }
    }
}

/// Hands on what nodes write, as long as there is room in the window.
async fn forward(mut written: mpsc::Receiver<Print>, said: Said, window: Window) {
    while let Some(print) = written.recv().await {
        // The nodes of this host print; nothing here has a line or progress of its own.
        let Print::Chunk(chunk) = print else { continue };
        let bytes = chunk.bytes.len().min(WINDOW) as u32;
        let Ok(room) = window.0.acquire_many(bytes).await else { return };
        room.forget();
        let _ = said.send(FromAgent::of_chunk(chunk));
    }
}

/// Standard input of the first node, and where what it is to read goes.
pub(super) fn input(
    begin: &Begin,
    said: &Said,
) -> io::Result<(Stdio, Option<mpsc::UnboundedSender<Vec<u8>>>)> {
    if !begin.nodes.contains(&0) {
        return Ok((Stdio::null(), None));
    }
    let (reader, writer) = io::pipe()?;
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::duplex;
    use tokio::runtime;

    use super::*;

    /// The writer had nothing to write when the next launcher came, or was in the midst of something that the former one did not read.
    #[test]
    fn what_is_said_after_the_next_launcher_has_come_is_said_to_it() {
        for is_stuck in [false, true] {
            let (voices, launchers) = mpsc::unbounded_channel::<Voice>();
            let (said, queue) = mpsc::unbounded_channel();
            let (former, _unread) = duplex(1);
            let (next, mut heard) = duplex(1 << 10);
            let runtime =
                runtime::Builder::new_current_thread().enable_time().build().expect("it needs nothing");
            let found = runtime.block_on(async {
                let _ = voices.send(Box::new(former));
                let writing = tokio::spawn(write(launchers, queue));
                if is_stuck {
                    let _ = said.send(FromAgent::Alive);
                }
                tokio::task::yield_now().await;
                let _ = voices.send(Box::new(next));
                let _ = said.send(FromAgent::Enrolled(7));
                drop(said);
                let ended = tokio::time::timeout(Duration::from_secs(60), writing).await;
                assert!(ended.is_ok(), "it waits for one that does not read, stuck: {is_stuck}");
                let mut bytes = Vec::new();
                let _ = heard.read_to_end(&mut bytes).await;
                bytes
            });
            assert_eq!(found, encode(&FromAgent::Enrolled(7)).expect("it can be said"), "stuck: {is_stuck}");
        }
    }
}
