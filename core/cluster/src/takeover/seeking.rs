//! A node without a launcher looks for the one that takes its place.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

use super::door::{self, Knock, Reached};
use super::folder::Doors;
use super::streams::{keep_all_from_children, mend, take_over};
use crate::children;
use talisman_base::frame::encode;
use talisman_control::follower::Follower;
use talisman_control::heartbeat::TICK;
use talisman_control::heritage::Heritage;
use talisman_control::protocol::{Task, ToLauncher};
use talisman_control::search::{Patience, Search};

/// What a node has for the case that it loses its launcher.
pub struct Seeker {
    task: Arc<Task>,
    /// Where it finds the others.
    doors: Arc<Doors>,
    /// Where the others look for it, until it leads.
    door: Option<UnixListener>,
    /// Until it is used.
    heritage: Option<Heritage>,
}

/// A launcher that has been found, and the first that it said.
pub struct Found {
    pub stream: UnixStream,
    pub bytes: Vec<u8>,
}

impl Seeker {
    /// Of a node with this task; none if it is to end with its launcher.
    ///
    /// # Errors
    /// The system gives no descriptor.
    pub fn new(task: &Arc<Task>) -> io::Result<Option<Self>> {
        let Some(heritage) = task.heritage.clone() else { return Ok(None) };
        keep_all_from_children(&heritage)?;
        let doors = Arc::new(Doors::inherited(heritage.doors)?);
        let door = Some(door::listen(&doors, task.number)?);
        Ok(Some(Seeker { task: task.clone(), doors, door, heritage: Some(heritage) }))
    }

    /// Whether this process leads, or has.
    pub fn leads(&self) -> bool {
        self.door.is_none()
    }

    /// Looks until it is found. If it is to be this process, `lead` makes it that.
    ///
    /// # Errors
    /// This process cannot lead, or for as long as a node may be silent nobody could be asked, not even whether they live.
    pub async fn seek(
        &mut self,
        follower: Follower,
        mut lead: impl FnMut(UnixListener, Arc<Doors>) -> io::Result<()>,
    ) -> io::Result<Found> {
        match self.heritage.take() {
            Some(heritage) => take_over(heritage)?,
            // Of the former one that is lost now.
            None => mend(io::stdout().as_fd()),
        }
        let follow = encode(&ToLauncher::Follow(Box::new(follower))).map_err(io::Error::other)?;
        let limit = self.task.silence.as_millis().div_ceil(TICK.as_millis()) as u32;
        let mut search = Search::new(self.task.number, limit);
        let mut troubles = 0;
        loop {
            let node = search.candidate();
            if node == self.task.number
                && let Some(door) = self.door.take()
            {
                lead(door, self.doors.clone())?;
            }
            let trouble = match door::reach(&self.doors, node) {
                Ok(Knock::Dead) => {
                    search.on_dead();
                    troubles = 0;
                    continue;
                }
                Ok(Knock::There(reached)) => {
                    troubles = 0;
                    match ask(reached, &follow, &mut search).await {
                        Some(found) => return Ok(found),
                        // It may take a moment until it is refused.
                        None => sleep(TICK / 50).await,
                    }
                    continue;
                }
                // It may let some in.
                Ok(Knock::Busy) => io::ErrorKind::TimedOut.into(),
                // There may be descriptors again later.
                Err(error) => error,
            };
            troubles += 1;
            if troubles > limit {
                return Err(trouble);
            }
            sleep(TICK).await;
        }
    }
}

/// Says who one is, and waits for a word. Whoever says nothing for too long is killed.
async fn ask(reached: Reached, follow: &[u8], search: &mut Search) -> Option<Found> {
    let Reached { stream, process } = reached;
    let mut stream = UnixStream::from_std(stream).ok()?;
    let mut bytes = vec![0; 4096];
    let mut said = 0;
    loop {
        // It may be stopped, and then what is said to it goes no further than there is room.
        let step = async {
            while said < follow.len() {
                match stream.write(&follow[said..]).await {
                    Ok(count @ 1..) => said += count,
                    _ => return 0,
                }
            }
            stream.read(&mut bytes).await.unwrap_or(0)
        };
        match timeout(TICK, step).await {
            Ok(count @ 1..) => {
                bytes.truncate(count);
                return Some(Found { stream, bytes });
            }
            Ok(0) => return None,
            Err(_) if search.on_tick() == Patience::Wait => {}
            Err(_) => {
                children::kill(process.as_fd());
                return None;
            }
        }
    }
}
