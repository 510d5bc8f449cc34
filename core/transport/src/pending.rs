//! Peers that have connected and not proved who they are, a task each: [`Admission`] carried out.

use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::net::RecvFlags;
use tokio::task::{AbortHandle, JoinError, JoinSet, yield_now};
use tokio::time::sleep;

use super::admission::{Admission, Limits, Stage};

/// How often it is looked who has been there for too long.
const LOOK: Duration = Duration::from_millis(100);

/// Why somebody was sent away before it was clear who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// Its place was given to another.
    Crowd,
    /// It took too long.
    Late,
}

/// Where somebody comes from: an address, of which the part that one host can choose freely counts as one; or a user of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The network of an IPv6 address, or an IPv4 address.
    Network(u64),
    /// By its number.
    User(u32),
}

impl From<SocketAddr> for Source {
    fn from(from: SocketAddr) -> Source {
        match from.ip().to_canonical() {
            IpAddr::V4(address) => Source::Network(u32::from(address).into()),
            IpAddr::V6(address) => Source::Network((u128::from(address) >> 64) as u64),
        }
    }
}

/// All of one listener. `T` is what becomes of one that is authenticated.
pub struct PendingPeers<T> {
    inside: SharedInside,
    tasks: JoinSet<T>,
    numbers: HashMap<tokio::task::Id, u64>,
    began: Instant,
}

/// Shared with the tasks, which say how far they have come.
type SharedInside = Arc<Mutex<Inside>>;

struct Inside {
    admission: Admission<Source>,
    tasks: HashMap<u64, (AbortHandle, Option<Dropped>)>,
}

/// The place of one, for its task.
pub struct Place {
    number: u64,
    inside: SharedInside,
}

impl<T: Send + 'static> PendingPeers<T> {
    /// Nobody is there.
    pub fn new(limits: Limits) -> Self {
        let inside = Inside { admission: Admission::new(limits), tasks: HashMap::new() };
        let inside = Arc::new(Mutex::new(inside));
        PendingPeers { inside, tasks: JoinSet::new(), numbers: HashMap::new(), began: Instant::now() }
    }

    /// Somebody has come, at this stage ([`stage_of`]), and `work` makes sure of it. Those that are there have a turn before this returns.
    pub async fn add<F>(
        &mut self,
        from: impl Into<Source>,
        stage: Stage,
        work: impl FnOnce(Place) -> F,
    ) -> u64
    where
        F: Future<Output = T> + Send + 'static,
    {
        self.look();
        let now = self.began.elapsed();
        let (number, out) = lock(&self.inside).admission.arrive(now, from.into(), stage);
        let task = self.tasks.spawn(work(Place { number, inside: self.inside.clone() }));
        self.numbers.insert(task.id(), number);
        lock(&self.inside).is_looked_after(number, task, out);
        // However many come, those that are there get to hear what was said.
        yield_now().await;
        number
    }

    /// The next one that is decided, by its number; nobody if nobody is there.
    pub async fn next(&mut self) -> Option<(u64, Result<T, Dropped>)> {
        loop {
            if self.tasks.is_empty() {
                return None;
            }
            tokio::select! {
                Some(ended) = self.tasks.join_next_with_id() => {
                    let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
                    let Some(number) = self.numbers.remove(&id) else { continue };
                    let why = lock(&self.inside).forget(number);
                    return Some((number, ended.map(|(_, made)| made).map_err(|_| why)));
                }
                () = sleep(LOOK) => self.look(),
            }
        }
    }

    fn look(&self) {
        let mut inside = lock(&self.inside);
        let late = inside.admission.expired(self.began.elapsed());
        late.into_iter().for_each(|number| inside.send_away(number, Dropped::Late));
    }
}

impl Inside {
    /// Somebody's task has begun, and another has lost its place to it.
    fn is_looked_after(&mut self, number: u64, task: AbortHandle, out: Option<u64>) {
        self.tasks.insert(number, (task, None));
        out.into_iter().for_each(|out| self.send_away(out, Dropped::Crowd));
    }

    /// Somebody's task has ended; if it was ended, why.
    fn forget(&mut self, number: u64) -> Dropped {
        self.admission.leave(number);
        self.tasks.remove(&number).and_then(|(_, why)| why).unwrap_or(Dropped::Late)
    }

    fn send_away(&mut self, number: u64, dropped: Dropped) {
        if let Some((task, why)) = self.tasks.get_mut(&number) {
            *why = Some(dropped);
            task.abort();
        }
    }
}

impl Place {
    /// It has begun to speak.
    pub fn speaks(&self) {
        self.reach(Stage::Speaks);
    }

    /// It has said what only those of the job know.
    pub fn is_vouched_for(&self) {
        self.reach(Stage::VouchedFor);
    }

    fn reach(&self, stage: Stage) {
        let mut inside = lock(&self.inside);
        let out = inside.admission.reach(self.number, stage);
        out.into_iter().for_each(|out| inside.send_away(out, Dropped::Crowd));
    }
}

/// The stage of a new connection: most peers say who they are as soon as they are connected, and that has come by now.
pub fn stage_of(connection: &impl AsFd) -> Stage {
    let mut first = [0];
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    let heard = rustix::net::recv(connection, &mut first, flags);
    if heard.is_ok_and(|(count, _)| count > 0) { Stage::Speaks } else { Stage::Silent }
}

fn lock(inside: &Mutex<Inside>) -> MutexGuard<'_, Inside> {
    inside.lock().unwrap_or_else(PoisonError::into_inner)
}
