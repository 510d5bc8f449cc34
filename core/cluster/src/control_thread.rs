//! The thread of a node that talks with the launcher, whatever its PEs do.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval, sleep};

use super::events;
use crate::children;
use crate::descriptors;
use crate::takeover::door;
use crate::takeover::hangup::Hangup;
use crate::takeover::seeking::{Found, Seeker};
use crate::voice::{Control, Outgoing, Shared, die};
use talisman_base::frame::{Decoder, FrameError, encode};
use talisman_control::follower::Follower;
use talisman_control::heartbeat::TICK;
use talisman_control::node_session::{Action, NodeSession};
use talisman_control::protocol::{Task, ToLauncher};
use talisman_job::asking;

/// How often steps are looked at, if somebody wants to see them go by.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// PEs answer between two entries: who has not by then is within one.
const PES_ANSWER_WITHIN: Duration = Duration::from_millis(50);

/// Starts it; `decoder` has what was read already. It ends with the process, and the process with the launcher, unless another takes
/// the launcher's place.
///
/// # Errors
/// The system gives no thread or descriptor.
pub fn start(
    launcher: StdUnixStream,
    decoder: Decoder,
    node_session: NodeSession,
    task: &Arc<Task>,
) -> io::Result<Control> {
    let seeker = Seeker::new(task)?;
    let process = seeker.as_ref().and_then(|_| door::process_of(&launcher).ok().flatten());
    let runtime = descriptors::runtime()?;
    let (queue, outgoing) = mpsc::unbounded_channel();
    let shared = Shared::new(task);
    let control = Control::new(queue, shared.clone(), runtime.handle().clone());
    let (reader, writer, terminations, hangup) = {
        let _inside = runtime.enter();
        launcher.set_nonblocking(true)?;
        let (reader, writer) = UnixStream::from_std(launcher)?.into_split();
        let hangup = if seeker.is_some() { Hangup::new()? } else { None };
        (reader, writer, signal(SignalKind::terminate())?, hangup)
    };
    let look_every = if task.progress { LOOK_EVERY } else { Duration::from_secs(3600) };
    let (writers, next_writers) = mpsc::unbounded_channel();
    let _ = writers.send(writer);
    let outlives = seeker.is_some();
    let listener = Listener {
        node_session,
        shared,
        control: control.clone(),
        decoder,
        look_every,
        task: task.clone(),
        seeker,
        process,
        writers,
    };
    let work = move || {
        runtime.block_on(async {
            tokio::spawn(write(next_writers, outgoing, outlives));
            tokio::spawn(die_with_terminal(hangup));
            listener.listen(reader, terminations).await
        })
    };
    thread::Builder::new().name("control".into()).spawn(work)?;
    Ok(control)
}

/// Writes what this node says, in a task of its own: a launcher that does not read must not keep the others waiting.
/// What does not reach one launcher is not for the next, which asks for what it has to know.
async fn write(
    mut launchers: mpsc::UnboundedReceiver<OwnedWriteHalf>,
    mut outgoing: mpsc::UnboundedReceiver<Outgoing>,
    outlives: bool,
) {
    let Some(mut launcher) = launchers.recv().await else { return };
    loop {
        tokio::select! {
            biased;
            Some(next) = launchers.recv() => launcher = next,
            next = outgoing.recv() => match next {
                Some(Outgoing::Message(message)) => {
                    let is_lost = launcher.write_all(&frame(&message)).await.is_err();
                    if is_lost && !outlives {
                        die();
                    }
                }
                Some(Outgoing::Written(written)) => drop(written.send(())),
                None => return,
            }
        }
    }
}

/// What cannot be sent becomes a failure that says so.
fn frame(message: &ToLauncher) -> Vec<u8> {
    let failure = |error: FrameError| encode(&ToLauncher::Failed(error.to_string())).expect("it is short");
    encode(message).unwrap_or_else(failure)
}

struct Listener {
    node_session: NodeSession,
    shared: Arc<Shared>,
    control: Control,
    decoder: Decoder,
    look_every: Duration,
    task: Arc<Task>,
    /// Of a node that outlives its launcher.
    seeker: Option<Seeker>,
    /// The launcher's.
    process: Option<OwnedFd>,
    /// Where what is said is written to, from one launcher to the next.
    writers: mpsc::UnboundedSender<OwnedWriteHalf>,
}

impl Listener {
    async fn listen(mut self, mut launcher: OwnedReadHalf, mut terminations: Signal) {
        let mut bytes = vec![0; 4096];
        let mut beats = ticks(TICK);
        let mut looks = ticks(self.look_every);
        self.hear();
        loop {
            tokio::select! {
                count = launcher.read(&mut bytes) => match count {
                    Ok(count @ 1..) => {
                        self.decoder.push(&bytes[..count]);
                        self.hear();
                    }
                    _ => match self.node_session.on_end() {
                        Action::Seek => launcher = self.seek().await,
                        action => self.carry_out(action),
                    },
                },
                _ = beats.tick() => self.node_session.on_tick().into_iter().for_each(|action| self.carry_out(action)),
                _ = looks.tick() => self.look(),
                _ = terminations.recv() => self.carry_out(self.node_session.on_terminated()),
            }
        }
    }

    fn hear(&mut self) {
        loop {
            let action = match self.decoder.next() {
                Ok(Some(message)) => self.node_session.on_message(message),
                Ok(None) => return,
                Err(error) => return self.carry_out(self.node_session.on_garbled(&error)),
            };
            if let Some(action) = action {
                self.carry_out(action);
            }
        }
    }

    /// The launcher is gone: another is found, which may be this process, and asked what to do.
    async fn seek(&mut self) -> OwnedReadHalf {
        let (Some(seeker), Some(follower)) = (&mut self.seeker, follower(&self.node_session, &self.shared))
        else {
            die_without_launcher();
        };
        if seeker.leads() {
            // The job is over, and this process will be.
            return std::future::pending().await;
        }
        // A launcher that has closed this connection alone would lead beside the next one.
        if let Some(process) = self.process.take() {
            children::kill(process.as_fd());
        }
        let (shared, task) = (&self.shared, &self.task);
        let lead = |door, doors| {
            let heir = shared.heir().ok_or(io::ErrorKind::NotFound)?;
            let leading = heir.lead(task.clone(), door, doors)?;
            shared.change(|heard| heard.leading = Some(leading));
            Ok(())
        };
        let Ok(Found { stream, bytes }) = seeker.seek(follower, lead).await else { die_without_launcher() };
        self.process = door::process_of(&stream).ok().flatten();
        let (reader, writer) = stream.into_split();
        let _ = self.writers.send(writer);
        self.node_session.on_successor();
        self.decoder = Decoder::default();
        self.decoder.push(&bytes);
        self.say_again();
        self.hear();
        reader
    }

    /// Another launcher has been found by somebody else: it knows nothing of what was said before this.
    fn introduce(&self) {
        let Some(follower) = follower(&self.node_session, &self.shared) else { return };
        self.control.send(ToLauncher::Follow(Box::new(follower)));
        self.say_again();
    }

    /// What the former launcher may have been told, and nobody else.
    fn say_again(&self) {
        let orders = self.shared.orders();
        if let Some(stop) = orders.as_ref().and_then(|orders| orders.ended()) {
            self.control.send(ToLauncher::Ended(stop));
        }
        // Whoever has given another up does not try again, and all go back over the connections that there are.
        for (node, why) in orders.iter().flat_map(|orders| orders.complaints()) {
            self.control.send(ToLauncher::Suspect { node, why });
        }
        if let Some(fetch) = self.shared.fetching() {
            self.control.send(ToLauncher::Fetch(fetch));
        }
        // Void, unless nobody goes back any more.
        if let Some(report) = self.shared.report() {
            self.control.send(ToLauncher::Done(report.into()));
        }
    }

    fn look(&mut self) {
        let steps = self.shared.steps();
        if let Some(action) = steps.and_then(|steps| self.node_session.on_look(steps)) {
            self.carry_out(action);
        }
    }

    fn carry_out(&self, action: Action) {
        events::done(self.task.number, &action);
        match action {
            Action::Say(message) => self.control.send(message),
            Action::Connect(book) => self.shared.change(|heard| heard.book = Some(book)),
            Action::Begin => self.shared.change(|heard| {
                heard.went = true;
                heard.began = Some(Instant::now());
            }),
            Action::StepSeen(step) => self.shared.change(|heard| heard.step_seen = heard.step_seen.max(step)),
            Action::Stop(stop) => self.shared.order(|orders| orders.stop(stop)),
            Action::Halt { epoch, lost } => {
                self.shared.order(|orders| orders.halt(epoch, lost));
                self.shared.change(|heard| heard.halted = true);
            }
            Action::Places(places) => self.shared.order(|orders| orders.places(places)),
            Action::Resume(order) => {
                self.shared.change(|heard| heard.halted = false);
                self.shared.order(|orders| orders.resume(*order));
            }
            Action::Try { inquiry, limit } => {
                self.shared.order(|orders| orders.try_connections(inquiry, limit));
            }
            Action::Checkpoint { on_disk, leaving } => {
                self.shared.order(|orders| orders.checkpoint(on_disk, leaving));
            }
            Action::Balance => self.shared.order(|orders| orders.balance()),
            Action::Look => self.look_at_pes(),
            Action::LinesSeen { version, node, piece } => {
                self.shared.order(|orders| orders.lines_seen(version, node, piece));
            }
            Action::Logging(piece) => self.shared.order(|orders| orders.logging(piece)),
            Action::Fetched { number, piece } => self.shared.on_fetched(number, piece),
            Action::Leave => self.shared.order(|orders| orders.leave()),
            Action::Exit => std::process::exit(0),
            Action::Fail(why) => self.fail(why),
            Action::Fence => match &self.process {
                Some(process) => children::kill(process.as_fd()),
                None => die(),
            },
            Action::Introduce => self.introduce(),
            Action::Die => die(),
            // It has joined before it began to listen.
            Action::Join(_) | Action::Refuse(_) | Action::Seek => {}
        }
    }

    /// Asks the PEs what they have counted, and says what has come of that a moment later.
    fn look_at_pes(&self) {
        let Some(orders) = self.shared.orders() else { return };
        orders.look();
        let control = self.control.clone();
        tokio::spawn(async move {
            sleep(PES_ANSWER_WITHIN).await;
            if let Some(figures) = orders.figures() {
                control.send(ToLauncher::Figures(Box::new(figures)));
            }
        });
    }

    /// Ends this process; the launcher reads the reason if it ever reads again.
    fn fail(&self, why: String) {
        let control = self.control.clone();
        // Not in this thread, which has to write what is said there.
        let fail = move || control.failed(why);
        if thread::Builder::new().name("fail".into()).spawn(fail).is_err() {
            die();
        }
    }
}

/// The job ends here, and perhaps everywhere: its launcher cannot take its socket away any more.
fn die_without_launcher() -> ! {
    if let Ok(folder) = asking::folder() {
        asking::left::sweep(&folder);
    }
    die()
}

/// Closing the terminal ends a job, its launcher first.
async fn die_with_terminal(hangup: Option<Hangup>) {
    if let Some(mut hangup) = hangup {
        hangup.closed().await;
        die();
    }
}

/// What a new launcher has to know of this node.
fn follower(node_session: &NodeSession, shared: &Shared) -> Option<Follower> {
    let follower = node_session.follower(std::process::id())?;
    let orders = shared.orders()?;
    let (steps, seen, lives) = (orders.steps(), orders.seen(), follower.lives.max(orders.lives()));
    let view = orders.view().unwrap_or_else(|| follower.view.clone());
    Some(Follower {
        view,
        steps,
        seen,
        lives,
        address: shared.address(),
        running: shared.running(),
        ..follower
    })
}

fn ticks(every: Duration) -> Interval {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
