//! Where a job's launcher is asked for something: at its socket ([`talisman_job::asking`]), and by SIGUSR1 for a checkpoint.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use talisman_job::asking::{self, Request, left};
use talisman_transport::admission::Limits;
use talisman_transport::pending::{PendingPeers, Source, stage_of};

/// Whoever asks says all at once. Nobody else than this user comes so far.
const LIMITS: Limits =
    Limits { places: 64, vouched: 0, silent: Duration::from_secs(5), unproved: Duration::from_secs(5) };
/// So many may wait for an answer.
const WAITING_MOST: usize = 256;
/// Most bytes of a request.
const LONGEST: u64 = 16 << 10;
/// After the system could not accept a connection.
const PAUSE: Duration = Duration::from_millis(50);

pub type Answer = Result<String, String>;
type Question = (Request, oneshot::Sender<Answer>);

/// Those who ask.
pub struct Asked {
    listening: Option<Listening>,
    numbers: u64,
    /// Who waits for an answer; nobody does for a signal's.
    waiting: BTreeMap<u64, oneshot::Sender<Answer>>,
}

struct Listening {
    questions: mpsc::UnboundedReceiver<Question>,
    signals: Signal,
    serving: JoinHandle<()>,
    socket: PathBuf,
}

impl Asked {
    /// Nobody can ask.
    pub fn nobody() -> Self {
        Asked { listening: None, numbers: 0, waiting: BTreeMap::new() }
    }

    /// From now on this user can, by the process id that the job is called by.
    ///
    /// # Errors
    /// The system gives no socket.
    pub fn listen(pid: u32) -> io::Result<Self> {
        let folder = asking::folder()?;
        let (socket, unfinished) = (asking::socket(&folder, pid), left::unfinished(&folder));
        // Of a process that had this id and was killed.
        let _ = std::fs::remove_file(&unfinished);
        let listener = UnixListener::bind(&unfinished)?;
        // In place of that of the former launcher, if there is one.
        std::fs::rename(&unfinished, &socket)?;
        left::sweep(&folder);
        let signals = signal(SignalKind::user_defined1())?;
        let (sender, questions) = mpsc::unbounded_channel();
        let serving = tokio::spawn(serve(listener, sender));
        let listening = Some(Listening { questions, signals, serving, socket });
        Ok(Asked { listening, ..Asked::nobody() })
    }

    /// Waits for the next request, and gives it a number.
    pub async fn next(&mut self) -> Option<(u64, Request)> {
        let Some(listening) = &mut self.listening else { return std::future::pending().await };
        let (request, answer) = tokio::select! {
            question = listening.questions.recv() => question.map(|(request, answer)| (request, Some(answer)))?,
            _ = listening.signals.recv() => (Request::Checkpoint, None),
        };
        self.numbers += 1;
        answer.map(|answer| self.waiting.insert(self.numbers, answer));
        Some((self.numbers, request))
    }

    /// Another way to ask: a number for a request whose answer goes there.
    pub fn enter(&mut self, answer: oneshot::Sender<Answer>) -> u64 {
        self.numbers += 1;
        self.waiting.insert(self.numbers, answer);
        self.numbers
    }

    /// Answers a request; a line for people if nobody waits for the answer.
    pub fn answer(&mut self, number: u64, answer: Answer) -> Option<String> {
        match self.waiting.remove(&number) {
            // Who does not wait any more need not know.
            Some(waiting) => {
                let _ = waiting.send(answer);
                None
            }
            None => Some(answer.unwrap_or_else(|why| format!("a checkpoint was asked for: {why}"))),
        }
    }

    /// Nobody can ask any more, and who waits for an answer gets this one.
    pub fn end(&mut self, why: &str) {
        self.listening = None;
        for (_, waiting) in std::mem::take(&mut self.waiting) {
            let _ = waiting.send(Err(why.into()));
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.serving.abort();
        let _ = std::fs::remove_file(&self.socket);
    }
}

async fn serve(listener: UnixListener, questions: mpsc::UnboundedSender<Question>) {
    let own = rustix::process::getuid().as_raw();
    let (mut asking, room) = (PendingPeers::new(LIMITS), Arc::new(Semaphore::new(WAITING_MOST)));
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let user = stream.peer_cred().map(|peer| peer.uid());
                    if let Some(user) = user.ok().filter(|user| [own, 0].contains(user)) {
                        let stage = stage_of(&stream);
                        asking.add(Source::User(user), stage, |_| read(stream)).await;
                    }
                }
                Err(_) => sleep(PAUSE).await,
            },
            Some((_, asked)) = asking.next() => {
                if let Ok(Some((request, writer))) = asked {
                    let place = room.clone().try_acquire_owned().ok();
                    let request = request.and_then(|request| {
                        let crowd = || format!("{WAITING_MOST} others wait for an answer: ask again later");
                        if place.is_some() { Ok(request) } else { Err(crowd()) }
                    });
                    let questions = questions.clone();
                    drop(tokio::spawn(async move {
                        answer(request, writer, questions).await;
                        drop(place);
                    }));
                }
            }
        }
    }
}

/// What somebody asks for, if it asks at all.
async fn read(stream: UnixStream) -> Option<(Result<Request, String>, OwnedWriteHalf)> {
    let (reader, writer) = stream.into_split();
    let mut line = String::new();
    let mut reader = BufReader::new(reader.take(LONGEST));
    let count = reader.read_line(&mut line).await;
    matches!(count, Ok(1..)).then(|| (line.trim_end().parse(), writer))
}

async fn answer(
    request: Result<Request, String>,
    mut writer: OwnedWriteHalf,
    questions: mpsc::UnboundedSender<Question>,
) {
    let answer = match request {
        Ok(request) => {
            let (sender, answer) = oneshot::channel();
            let _ = questions.send((request, sender));
            answer.await.unwrap_or_else(|_| Err("the job has ended".into()))
        }
        Err(why) => Err(why),
    };
    let text = match answer {
        Ok(text) => format!("ok {text}\n"),
        Err(why) => format!("error {why}\n"),
    };
    // As short as it is, there is room for it.
    let _ = writer.write_all(text.as_bytes()).await;
}
