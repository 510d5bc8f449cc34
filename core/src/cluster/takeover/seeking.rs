//! A node without a launcher looks for the one that takes its place.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

use super::super::children;
use super::super::control::{Task, ToLauncher};
use super::super::frame::encode;
use super::super::heartbeat::TICK;
use super::door::{self, Reached};
use super::follower::Follower;
use super::search::{Patience, Search};
use super::streams::{Heritage, mend};

/// What a node has for the case that it loses its launcher.
pub(crate) struct Seeker {
    task: Arc<Task>,
    /// Where the others look for it, until it leads.
    door: Option<UnixListener>,
    /// Until it is used.
    heritage: Option<Heritage>,
}

/// A launcher that has been found, and the first that it said.
pub(crate) struct Found {
    pub(crate) stream: UnixStream,
    pub(crate) bytes: Vec<u8>,
}

impl Seeker {
    /// Of a node with this task; none if it is to end with its launcher.
    ///
    /// # Errors
    /// The system gives no descriptor.
    pub(crate) fn new(task: &Arc<Task>) -> io::Result<Option<Self>> {
        let Some(heritage) = task.heritage.clone() else { return Ok(None) };
        heritage.keep_from_children()?;
        let door = Some(door::listen(task.job, task.number)?);
        Ok(Some(Seeker { task: task.clone(), door, heritage: Some(heritage) }))
    }

    /// Whether this process leads, or has.
    pub(crate) fn leads(&self) -> bool {
        self.door.is_none()
    }

    /// Looks until it is found. If it is to be this process, `lead` makes it that.
    ///
    /// # Errors
    /// This process cannot lead.
    pub(crate) async fn seek(
        &mut self,
        follower: Follower,
        mut lead: impl FnMut(UnixListener) -> io::Result<()>,
    ) -> io::Result<Found> {
        match self.heritage.take() {
            Some(heritage) => heritage.take_over()?,
            // Of the former one that is lost now.
            None => mend(io::stdout().as_fd()),
        }
        let follow = encode(&ToLauncher::Follow(Box::new(follower))).map_err(io::Error::other)?;
        let limit = self.task.silence.as_millis().div_ceil(TICK.as_millis()) as u32;
        let mut search = Search::new(self.task.number, limit);
        loop {
            let node = search.candidate();
            if node == self.task.number
                && let Some(door) = self.door.take()
            {
                lead(door)?;
            }
            match door::reach(self.task.job, node) {
                Ok(None) => search.on_dead(),
                Ok(Some(reached)) => match ask(reached, &follow, &mut search).await {
                    Some(found) => return Ok(found),
                    // It may take a moment until it is refused.
                    None => sleep(TICK / 50).await,
                },
                // There may be descriptors again later.
                Err(_) => sleep(TICK).await,
            }
        }
    }
}

/// Says who one is, and waits for a word. Whoever says nothing for too long is killed.
async fn ask(reached: Reached, follow: &[u8], search: &mut Search) -> Option<Found> {
    let Reached { stream, process } = reached;
    stream.set_nonblocking(true).ok()?;
    let mut stream = UnixStream::from_std(stream).ok()?;
    stream.write_all(follow).await.ok()?;
    let mut bytes = vec![0; 4096];
    loop {
        match timeout(TICK, stream.read(&mut bytes)).await {
            Ok(Ok(count @ 1..)) => {
                bytes.truncate(count);
                return Some(Found { stream, bytes });
            }
            Ok(_) => return None,
            Err(_) if search.on_tick() == Patience::Wait => {}
            Err(_) => {
                children::kill(process.as_fd());
                return None;
            }
        }
    }
}
