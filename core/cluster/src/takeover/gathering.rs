//! Who follows a node that takes over, and who is lost.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::AsyncReadExt;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::adopted::Connection;
use super::door::{self, Knock};
use super::folder::Doors;
use super::missing::Missing;
use crate::children;
use crate::local::readable;
use talisman_base::frame::Decoder;
use talisman_control::follower::{Follower, Followers};
use talisman_control::heartbeat::{Heartbeat, TICK};
use talisman_control::protocol::{Task, ToLauncher, ToNode, VERSION};

/// How often it is looked whether those that have not come are dead.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Those that are left of a job.
pub(super) struct Gathered {
    pub(super) followers: Followers,
    pub(super) connections: BTreeMap<u32, Connection>,
    /// It shows as long as it is open that this process lives.
    pub(super) door: UnixListener,
}

/// Waits for all nodes from this task's on, and kills those that do not come within the time that nodes may be silent. Those before
/// it are known to be dead.
///
/// # Errors
/// The system gives no descriptors.
pub(super) async fn gather(
    door: std::os::unix::net::UnixListener,
    doors: &Doors,
    task: &Task,
) -> io::Result<Gathered> {
    door.set_nonblocking(true)?;
    let door = UnixListener::from_std(door)?;
    let (introduced, mut comes) = mpsc::unbounded_channel();
    let gathered = Gathered { followers: Followers::default(), connections: BTreeMap::new(), door };
    let missing = Missing::new(missing(doors, task).await?, task.silence);
    let mut gathering = Gathering { gathered, missing };
    let (mut looks, mut ticks) = (interval(LOOK_EVERY), interval(TICK));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !gathering.is_complete(task.number) {
        tokio::select! {
            stream = gathering.gathered.door.accept() => {
                let (introduced, job) = (introduced.clone(), task.job);
                let (stream, _) = stream?;
                // Whoever asked only whether this process lives has nothing to say.
                tokio::spawn(async move {
                    if let Some(newcomer) = introduce(stream, job).await {
                        let _ = introduced.send(newcomer);
                    }
                });
            }
            Some(newcomer) = comes.recv() => gathering.add(newcomer),
            _ = looks.tick() => gathering.look(),
            _ = ticks.tick() => gathering.tick(),
        }
    }
    Ok(gathering.gathered)
}

/// Those that may still come, and their processes.
///
/// # Errors
/// The system gives no descriptors, or one lets nobody in for as long as nodes may be silent.
async fn missing(doors: &Doors, task: &Task) -> io::Result<BTreeMap<u32, OwnedFd>> {
    let mut missing = BTreeMap::new();
    for node in task.number + 1..task.nodes {
        let mut patience = Heartbeat::new(task.silence);
        loop {
            match door::reach(doors, node)? {
                Knock::Dead => break,
                Knock::There(reached) => {
                    missing.insert(node, reached.process);
                    break;
                }
                Knock::Busy if patience.tick() => return Err(io::ErrorKind::TimedOut.into()),
                Knock::Busy => sleep(TICK).await,
            }
        }
    }
    Ok(missing)
}

struct Gathering {
    gathered: Gathered,
    missing: Missing<OwnedFd>,
}

impl Gathering {
    /// With the node of this process, which follows too.
    fn is_complete(&self, own: u32) -> bool {
        self.missing.is_nobody() && self.gathered.followers.has(own)
    }

    fn add(&mut self, (follower, connection): Newcomer) {
        self.missing.on_come(follower.node);
        connection.send(ToNode::Ping);
        self.gathered.connections.insert(follower.node, connection);
        self.gathered.followers.add(follower);
    }

    /// Nobody waits for the dead.
    fn look(&mut self) {
        self.missing.forget(|_, process| has_ended(process));
    }

    fn tick(&mut self) {
        self.gathered.connections.values().for_each(|connection| connection.send(ToNode::Ping));
        self.missing.on_tick().into_iter().for_each(|process| children::kill(process.as_fd()));
    }
}

type Newcomer = (Follower, Connection);

/// Who has come, if it is one of this job.
async fn introduce(mut stream: UnixStream, job: u64) -> Option<Newcomer> {
    let process = door::process_of(&stream).ok().flatten()?;
    let mut decoder = Decoder::default();
    let mut bytes = vec![0; 4096];
    loop {
        match decoder.next() {
            Ok(Some(ToLauncher::Follow(follower))) => {
                let is_ours = follower.job == job && follower.version == VERSION;
                let process = readable(process).ok()?;
                return is_ours.then(|| (*follower, Connection::new(stream, process, decoder)));
            }
            Ok(None) => match stream.read(&mut bytes).await {
                Ok(count @ 1..) => decoder.push(&bytes[..count]),
                _ => return None,
            },
            _ => return None,
        }
    }
}

fn has_ended(process: &OwnedFd) -> bool {
    let mut looked = [PollFd::new(process, PollFlags::IN)];
    poll(&mut looked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|count| count > 0)
}
