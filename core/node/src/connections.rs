//! A node's connections with other nodes, where their links are dialled: where it listens, the first ones, and new ones
//! for those that break.

use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::sleep;
use tracing::debug;

use super::linking::Streams;
use super::peer_incarnations::PeerIncarnations;
use talisman_base::build::this_build;
use talisman_base::transport::{TRANSPORTS, Transport};
use talisman_cluster::Control;
use talisman_control::connecting::{Action, Connecting, Dial, DialFailure};
use talisman_control::protocol::PeerInLife;
use talisman_control::protocol::{Place, Task, ToLauncher};
use talisman_job::job::Job;
use talisman_kernel::node::Node;
use talisman_observe::subjects::TRANSPORT;
use talisman_transport::Peer;
use talisman_transport::connect::{DialError, Established};
use talisman_transport::connector::{self, Target};
use talisman_transport::handshake::{Identity, Incarnations, Shape};
use talisman_transport::reconnect::{Inbox, Reconnect};
use talisman_transport::tcp;
use talisman_transport::tls::{Credentials, Unavailable};

/// What the control thread, which makes connections, shares with the PEs, which use them.
pub(super) struct Connections {
    control: Control,
    identity: Arc<Identity>,
    task: Arc<Task>,
    /// Whether the job can do without a node that is not reached.
    survives: bool,
    /// Where each PE finds its new connections.
    inboxes: Vec<Arc<Inbox>>,
    /// The beginning of the time that is counted here.
    began: Instant,
    state: Mutex<State>,
    changed: Condvar,
    /// There may be something to do at another time than before.
    rescheduled: Notify,
    /// Whose PEs are to be woken, once they run.
    node: Mutex<Option<Weak<Node>>>,
}

struct State {
    connecting: Connecting,
    /// Whether the first connections are there, once that is known.
    started: Option<Result<(), String>>,
    /// Where each node listens.
    addresses: Vec<Option<SocketAddr>>,
    /// How each node is linked with this one.
    linked_by: Vec<Transport>,
    /// With which processes this one is linked, or was.
    met: PeerIncarnations,
}

/// Between two looks whether a node that waits for connections is to halt.
const LOOK: Duration = Duration::from_millis(5);

impl Connections {
    /// Of a node that has no port yet.
    ///
    /// # Errors
    /// Its connections are to be encrypted and cannot be.
    pub(super) fn new(task: &Arc<Task>, control: &Control, survives: bool) -> Result<Arc<Self>, Unavailable> {
        Ok(Arc::new(Connections {
            control: control.clone(),
            identity: Arc::new(identity(task)?),
            task: task.clone(),
            survives,
            inboxes: (0..task.pes).map(|_| Arc::default()).collect(),
            began: Instant::now(),
            state: Mutex::new(State::new(task)),
            changed: Condvar::new(),
            rescheduled: Notify::new(),
            node: Mutex::default(),
        }))
    }

    /// Listens for other nodes, by each transport by which any is to reach this one, now or later.
    ///
    /// # Errors
    /// What the system says: there is no such address on this host.
    pub(super) fn listen(self: &Arc<Self>) -> Result<Option<SocketAddr>, String> {
        let _inside = self.control.runtime().enter();
        let mut address = None;
        for transport in TRANSPORTS.iter().map(|row| row.transport).filter(|by| self.is_reached(*by)) {
            let (here, notes) = (self.clone(), self.clone());
            let on_link = move |established| here.place(established);
            let on_refusal = move |line| notes.note(line);
            let own = (&self.identity, self.task.listen);
            let listening = connector::listen(transport, own, on_link, on_refusal)?;
            self.control.runtime().spawn(listening.serving);
            address = address.or(listening.address);
        }
        Ok(address)
    }

    /// Whether another node dials this one by a transport: one of the start, or one that joins later.
    fn is_reached(&self, by: Transport) -> bool {
        let joins_later = self.task.admits && by == Transport::BETWEEN_HOSTS;
        let is_linked = |node: u32| self.task.via[node as usize] == by;
        by.is_dialled() && (joins_later || self.lock().connecting.linked().any(is_linked))
    }

    /// Says that somebody was refused; at the end of a job not, where other nodes may miss this one and be in turn missed.
    fn note(&self, line: String) {
        let is_over = |node: &Weak<Node>| node.upgrade().is_none_or(|node| node.job.is_over());
        if !lock(&self.node).as_ref().is_some_and(is_over) {
            self.control.send(ToLauncher::Note(line));
        }
    }

    /// The first connections of all PEs.
    ///
    /// # Errors
    /// Somebody cannot be reached, or does not come.
    pub(super) fn connect(self: &Arc<Self>, addresses: Vec<Option<SocketAddr>>) -> Result<Streams, String> {
        self.lock().addresses = addresses;
        self.control.runtime().spawn(self.clone().keep_time());
        self.decide(|connecting, now| connecting.on_book(now));
        let mut state = self.lock();
        loop {
            if let Some(outcome) = state.started.take() {
                return outcome.map(|()| self.streams());
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn streams(&self) -> Streams {
        let of = |(lane, inbox): (u32, &Arc<Inbox>)| {
            let new = inbox.take().into_iter();
            new.map(move |(node, stream)| (Peer { node, lane }, stream))
        };
        (0..).zip(&self.inboxes).flat_map(of).collect()
    }

    /// Where the PE of a lane asks for connections, and finds them.
    pub(super) fn reconnect(self: &Arc<Self>, lane: u32) -> Reconnect {
        let here = self.clone();
        let miss = move |peer: Peer| {
            debug!(target: TRANSPORT, node = here.task.number, other = peer.node, lane, "a connection is lost");
            here.decide(|connecting, now| connecting.on_broken(now, peer));
        };
        Reconnect::new(self.inboxes[lane as usize].clone(), miss)
    }

    /// Connections with all lanes of those nodes that are other processes than before, now that these are there; nothing if
    /// the job halts or ends meanwhile.
    pub(super) fn meet(
        self: &Arc<Self>,
        job: &Job,
        places: &[Place],
        is_there: impl Fn(u32) -> bool,
    ) -> Option<Streams> {
        let peers = self.expect_new_ones(places, is_there);
        let mut state = self.lock();
        while !state.met.have_come(&peers) {
            if job.is_over() {
                return None;
            }
            let waited = self.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(state.met.meet(&peers))
    }

    /// From now on this node is linked with those nodes that are other processes than before, as soon as there are connections: with these
    /// PEs. Whoever cannot wait for them looks whether they have [`met`](Self::met).
    pub(super) fn expect_new_ones(
        self: &Arc<Self>,
        places: &[Place],
        is_there: impl Fn(u32) -> bool,
    ) -> Vec<PeerInLife> {
        let is_other = |place: &&Place| place.node != self.task.number && is_there(place.node);
        let places: Vec<Place> = places.iter().filter(is_other).copied().collect();
        let new = self.lock().met.new_ones(&places);
        for place in &new {
            self.identity.known.raise(place.node, place.life);
            self.inboxes.iter().for_each(|inbox| inbox.forget(place.node));
            self.expect(*place);
        }
        new.iter().flat_map(|place| place.lanes(self.task.pes)).collect()
    }

    /// The connection with one of them, if it is there by now.
    pub(super) fn met(&self, peer: PeerInLife) -> Option<tcp::Stream> {
        let met = &mut self.lock().met;
        if !met.have_come(&[peer]) {
            return None;
        }
        met.meet(&[peer]).into_values().next()
    }

    fn expect(self: &Arc<Self>, place: Place) {
        let mut state = self.lock();
        state.addresses.resize(self.task.nodes as usize, None);
        state.addresses[place.node as usize] = place.address;
        state.linked_by[place.node as usize] = Transport::BETWEEN_HOSTS;
        let lanes = || place.lanes(self.task.pes);
        let there: Vec<Peer> =
            lanes().filter(|one| state.met.have_come(&[*one])).map(|(peer, _)| peer).collect();
        drop(state);
        let peers = lanes().map(|(peer, _)| peer);
        let dials = place.is_dialled_by(self.task.number, self.task.life);
        self.decide(|connecting, now| connecting.on_new(now, peers, dials, |peer| there.contains(&peer)));
    }

    /// Tries its connections for so long at most, and says under this number what came of it.
    pub(super) fn try_all(self: &Arc<Self>, inquiry: u32, limit: Duration) {
        self.decide(|connecting, now| connecting.on_trial(now, inquiry, limit));
    }

    /// The nodes that could not be reached, and still are not: see [`Connecting::complaints`].
    pub(super) fn complaints(&self) -> Vec<(u32, String)> {
        self.lock().connecting.complaints()
    }

    /// Has the first PE look in, also one that a process was about to wake that was lost then: the launcher may be telling just of that.
    pub(super) fn knock(&self) {
        self.inboxes.iter().take(1).for_each(|inbox| inbox.notify());
        if let Some(node) = self.node() {
            node.wake(0);
        }
    }

    /// From now on connections are for the PEs of this life of the node.
    pub(super) fn wakes(&self, node: &Arc<Node>) {
        *lock(&self.node) = Some(Arc::downgrade(node));
    }

    /// These nodes alone are there: nobody else is dialled any more.
    pub(super) fn keep_to(self: &Arc<Self>, is_there: impl Fn(u32) -> bool) {
        self.decide(|connecting, _| connecting.on_gone(|node| !is_there(node)));
    }

    /// Has it decided what is to be done about an event, and does that.
    fn decide(self: &Arc<Self>, event: impl FnOnce(&mut Connecting, Duration) -> Vec<Action>) {
        let mut state = self.lock();
        let actions = event(&mut state.connecting, self.began.elapsed());
        drop(state);
        self.rescheduled.notify_one();
        for action in actions {
            debug!(target: TRANSPORT, node = self.task.number, ?action, "connections");
            match action {
                Action::Dial(to) => drop(self.control.runtime().spawn(self.clone().dial(to))),
                Action::Lose(peer, message) => self.lose(peer, message),
                Action::AllThere => self.start(Ok(())),
                Action::GiveUp(why) => self.start(Err(why)),
                Action::Tried { inquiry, missed } => {
                    self.control.send(ToLauncher::Tried { inquiry, missed });
                }
            }
        }
    }

    /// Lets it do what it does at certain times.
    async fn keep_time(self: Arc<Self>) {
        loop {
            let next = self.lock().connecting.next_time();
            let pause = next.unwrap_or_default().saturating_sub(self.began.elapsed());
            tokio::select! {
                () = sleep(pause), if next.is_some() => self.decide(Connecting::on_time),
                () = self.rescheduled.notified() => {}
            }
        }
    }

    async fn dial(self: Arc<Self>, to: Dial) {
        match self.dial_once(to.peer).await {
            Ok(established) => self.place(established),
            Err(error) => self.decide(|connecting, now| connecting.on_failed(now, to, &failure_of(&error))),
        }
    }

    async fn dial_once(&self, peer: Peer) -> Result<Established, DialError> {
        let (transport, address) = self.lock().way_to(peer.node);
        connector::dial(transport, Target { peer, address }, self.identity.clone()).await
    }

    /// A new connection: for the PE of its lane, which is woken; or, with a process that this one is not linked with yet, for its
    /// next life.
    fn place(self: &Arc<Self>, established: Established) {
        let Established { peer, life, stream } = established;
        let Some(inbox) = self.inboxes.get(peer.lane as usize) else { return };
        debug!(target: TRANSPORT, node = self.task.number, other = peer.node, lane = peer.lane, "a connection is there");
        if self.survives {
            stream.break_after(self.task.silence);
        }
        let mut state = self.lock();
        if !state.met.is(peer.node, life) {
            state.met.keep(peer, life, stream);
            let actions = state.connecting.on_established(peer);
            debug_assert!(actions.is_empty(), "first connections are with those that it knows");
            self.changed.notify_all();
            return;
        }
        drop(state);
        self.decide(|connecting, _| {
            // Under one lock: its PE may find at once that this one broke too, and that is to be asked for anew.
            inbox.put(peer.node, stream);
            connecting.on_established(peer)
        });
        if let Some(node) = self.node() {
            // As in `knock`: who comes may be in the place of a process that was about to wake this one.
            node.wake(peer.lane);
        }
    }

    fn start(&self, outcome: Result<(), String>) {
        self.lock().started = Some(outcome);
        self.changed.notify_all();
    }

    /// A node cannot be reached any more. If it has died, the launcher knows better, and has said so by now.
    fn lose(&self, peer: Peer, message: String) {
        match self.node() {
            Some(node) if !self.survives => node.job.lose(peer.node, 3, message),
            _ if self.survives && self.lock().is_started() => {
                self.control.send(ToLauncher::Suspect { node: peer.node, why: message });
            }
            _ => self.control.send(ToLauncher::Failed(message)),
        }
    }

    pub(super) fn node(&self) -> Option<Arc<Node>> {
        lock(&self.node).as_ref().and_then(Weak::upgrade)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn new(task: &Task) -> Self {
        let connecting = Connecting::new(task);
        State {
            connecting,
            started: None,
            addresses: Vec::new(),
            linked_by: task.via.clone(),
            met: PeerIncarnations::new(task),
        }
    }

    /// How a node is dialled, and where.
    fn way_to(&self, node: u32) -> (Transport, Option<SocketAddr>) {
        let by = self.linked_by.get(node as usize).copied();
        let address = self.addresses.get(node as usize).copied().flatten();
        (by.unwrap_or(Transport::BETWEEN_HOSTS), address)
    }

    /// Whether the first connections were there once.
    fn is_started(&self) -> bool {
        !self.addresses.is_empty() && self.started.is_none()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a node with this task tells the others of itself.
///
/// # Errors
/// Its connections are to be encrypted and cannot be.
pub fn identity(task: &Task) -> Result<Identity, Unavailable> {
    let build: [u8; 16] = std::array::from_fn(|i| this_build()[i]);
    Ok(Identity {
        job: task.job.into(),
        build: u128::from_le_bytes(build),
        shape: Shape { nodes: task.nodes, pes: task.pes },
        secret: task.secret.clone(),
        tls: task.tls.then(|| Credentials::of(&task.secret)).transpose()?,
        node: task.number,
        incarnation: task.life,
        known: Incarnations::new(task.nodes),
    })
}
/// What decisions are made from.
pub fn failure_of(error: &DialError) -> DialFailure {
    DialFailure {
        why: error.to_string(),
        is_passing: error.is_passing(),
        is_no_network: error.is_no_network(),
    }
}
