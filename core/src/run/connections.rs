//! A node's connections with other nodes over TCP: its port, the first ones, and new ones for those that break.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::linking::Streams;
use crate::build::this_build;
use crate::cluster::Control;
use crate::cluster::control::{Task, ToLauncher, Via};
use crate::net::{Door, Inbox};
use crate::node::Node;
use crate::transport::Peer;
use crate::transport::handshake::{Identity, Incarnations, Shape};
use crate::transport::tcp::connect::{DialError, Established, dial, serve};
use crate::transport::tls::{Credentials, Unavailable};

/// All nodes of a job are linked within this time, or it does not begin.
const START: Duration = Duration::from_secs(30);
/// A connection that broke is there again within this time, or the job ends.
const PATIENCE: Duration = Duration::from_secs(10);
/// Refusals of a node that has known this one already: what harmed their connection may have harmed the next greeting too.
const REFUSALS_MOST: u32 = 8;
/// Who was dialled before waits so long, then dials too: the other one may be in a long entry, in which it does not see
/// that the connection broke.
const TURN: Duration = Duration::from_secs(1);
/// Between two attempts to reach a node.
const PAUSE: Duration = Duration::from_millis(20);

/// What the control thread, which makes connections, shares with the PEs, which use them.
pub(super) struct Connections {
    control: Control,
    identity: Arc<Identity>,
    task: Arc<Task>,
    /// Where each PE finds its new connections.
    inboxes: Vec<Arc<Inbox>>,
    /// The PEs that are not connected, and since when.
    missing: Mutex<BTreeMap<Peer, Instant>>,
    changed: Condvar,
    /// Where each node listens.
    addresses: OnceLock<Vec<Option<SocketAddr>>>,
    /// Whose PEs are to be woken, once they run.
    node: OnceLock<Weak<Node>>,
}

impl Connections {
    /// Of a node that has no port yet.
    ///
    /// # Errors
    /// Its connections are to be encrypted and cannot be.
    pub(super) fn new(task: &Arc<Task>, control: &Control) -> Result<Arc<Self>, Unavailable> {
        let lanes = 0..task.pes;
        let over_tcp =
            (0..task.nodes).filter(|node| *node != task.number && task.via[*node as usize] == Via::Tcp);
        let peers = over_tcp.flat_map(|node| lanes.clone().map(move |lane| Peer { node, lane }));
        Ok(Arc::new(Connections {
            control: control.clone(),
            identity: Arc::new(identity(task)?),
            task: task.clone(),
            inboxes: lanes.clone().map(|_| Arc::default()).collect(),
            missing: Mutex::new(peers.map(|peer| (peer, Instant::now())).collect()),
            changed: Condvar::new(),
            addresses: OnceLock::new(),
            node: OnceLock::new(),
        }))
    }

    /// Opens this node's port, if any other node is to reach it over TCP.
    ///
    /// # Errors
    /// What the system says: there is no such address on this host.
    pub(super) fn listen(self: &Arc<Self>) -> io::Result<Option<SocketAddr>> {
        if self.lock().is_empty() {
            return Ok(None);
        }
        let listener = TcpListener::bind((self.task.listen, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let _inside = self.control.runtime().enter();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (here, notes) = (self.clone(), self.clone());
        let on_link = move |established| here.place(established);
        let on_refusal = move |line| notes.note(line);
        self.control.runtime().spawn(serve(listener, self.identity.clone(), on_link, on_refusal));
        Ok(Some(address))
    }

    /// Says that somebody was refused; at the end of a job not, where other nodes may miss this one and be in turn missed.
    fn note(&self, line: String) {
        let is_over = |node: &Weak<Node>| node.upgrade().is_none_or(|node| node.job.is_over());
        if !self.node.get().is_some_and(is_over) {
            self.control.send(ToLauncher::Note(line));
        }
    }

    /// The first connections of all PEs: this node dials those with lower numbers.
    ///
    /// # Errors
    /// Somebody cannot be reached, or does not come.
    pub(super) fn connect(self: &Arc<Self>, addresses: Vec<Option<SocketAddr>>) -> Result<Streams, String> {
        let _ = self.addresses.set(addresses);
        for peer in self.lock().keys().filter(|peer| peer.node < self.task.number) {
            self.control.runtime().spawn(self.clone().dial(*peer, START));
        }
        let missing = self.lock();
        let wait = self.changed.wait_timeout_while(missing, START + PAUSE, |missing| !missing.is_empty());
        let (missing, _) = wait.unwrap_or_else(PoisonError::into_inner);
        match missing.keys().next() {
            Some(peer) => Err(format!("node {} has not connected within {START:?}", peer.node)),
            None => Ok(self.streams()),
        }
    }

    fn streams(&self) -> Streams {
        let of = |(lane, inbox): (u32, &Arc<Inbox>)| {
            let new = inbox.empty().into_iter();
            new.map(move |(node, stream)| (Peer { node, lane }, stream))
        };
        (0..).zip(&self.inboxes).flat_map(of).collect()
    }

    /// Where the PE of a lane asks for connections, and finds them.
    pub(super) fn door(self: &Arc<Self>, lane: u32, node: &Arc<Node>) -> Door {
        let _ = self.node.set(Arc::downgrade(node));
        let here = self.clone();
        Door::new(self.inboxes[lane as usize].clone(), move |peer| here.miss(peer))
    }

    /// A connection broke. Who dialled it dials again; the other one waits, but not for ever.
    fn miss(self: &Arc<Self>, peer: Peer) {
        let since = Instant::now();
        match self.lock().entry(peer) {
            Entry::Occupied(_) => return,
            Entry::Vacant(entry) => entry.insert(since),
        };
        let runtime = self.control.runtime();
        if peer.node < self.task.number {
            runtime.spawn(self.clone().dial(peer, PATIENCE));
        } else {
            runtime.spawn(self.clone().wait_for(peer, since));
        }
    }

    async fn wait_for(self: Arc<Self>, peer: Peer, since: Instant) {
        sleep(TURN).await;
        // It may have come, and broken again a moment ago.
        let still_missing = self.lock().get(&peer) == Some(&since);
        if still_missing {
            self.dial(peer, PATIENCE).await;
        }
    }

    async fn dial(self: Arc<Self>, peer: Peer, patience: Duration) {
        let (start, mut refused) = (Instant::now(), 0);
        loop {
            let error = match self.dial_once(peer).await {
                Ok(established) => return self.place(established),
                Err(error) => error,
            };
            refused += u32::from(!error.is_passing());
            let hopeless = match patience {
                START => refused > 0 || error.is_no_network(),
                _ => refused > REFUSALS_MOST,
            };
            if !self.lock().contains_key(&peer) {
                // The other one was faster.
                return;
            }
            if hopeless || start.elapsed() > patience {
                return self.lose(peer, &error.to_string());
            }
            sleep(PAUSE).await;
        }
    }

    async fn dial_once(&self, peer: Peer) -> Result<Established, DialError> {
        let address = self.addresses.get().and_then(|all| all.get(peer.node as usize).copied().flatten());
        let unknown = || DialError::Network {
            node: peer.node,
            address: SocketAddr::from(([0; 4], 0)),
            error: io::Error::other("it has not said where it listens"),
        };
        dial(address.ok_or_else(unknown)?, self.identity.clone(), peer.node, peer.lane).await
    }

    /// A new connection: for the PE of its lane, which is woken.
    fn place(&self, established: Established) {
        let Peer { node, lane } = established.peer;
        let Some(inbox) = self.inboxes.get(lane as usize) else { return };
        // Under one lock: its PE may find at once that this one broke too, and that is to be asked for anew.
        let mut missing = self.lock();
        inbox.put(node, established.stream);
        missing.remove(&established.peer);
        drop(missing);
        self.changed.notify_all();
        if let Some(node) = self.node.get().and_then(Weak::upgrade) {
            node.parkers[lane as usize].unpark_if_parked();
        }
    }

    /// A node cannot be reached any more. If it has died, the launcher knows better, and has said so by now.
    fn lose(&self, peer: Peer, why: &str) {
        let message = format!("the connection with node {} is lost: {why}", peer.node);
        match self.node.get().and_then(Weak::upgrade) {
            Some(node) => node.job.end(3, Some(message)),
            None => self.control.send(ToLauncher::Failed(message)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Peer, Instant>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn identity(task: &Task) -> Result<Identity, Unavailable> {
    let build: [u8; 16] = std::array::from_fn(|i| this_build()[i]);
    Ok(Identity {
        job: task.job.into(),
        build: u128::from_le_bytes(build),
        shape: Shape { nodes: task.nodes, pes: task.pes },
        secret: task.secret.clone(),
        tls: task.tls.then(|| Credentials::of(&task.secret)).transpose()?,
        node: task.number,
        incarnation: 0,
        known: Incarnations::new(task.nodes),
    })
}
