//! Connections to other nodes, of any transport: dialling them, and answering them for as long as the job lasts.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use crate::Peer;
use crate::admission::Limits;
use crate::auth::{self, NoRandomness};
use crate::channel::Channel;
use crate::handshake::{Acceptor, Agreed, Dialer, Failure, Identity, Refusal, Step};
use crate::pending::{Dropped, PendingPeers, Place, stage_of};
use crate::refusals::Refusals;
use crate::socket::{Listener, Socket};
use crate::tcp::Stream;

pub use talisman_base::limits::DIAL_DEADLINE as DEADLINE;
/// Connections that are being authenticated at once. One more, and one is refused ([`Admission`](crate::admission)): a node
/// needs milliseconds, so the oldest of so many is none.
pub const STRANGERS_MOST: usize = 64;
/// What a listener has, at which peers come that say at once who they are.
pub const LIMITS: Limits = Limits {
    places: STRANGERS_MOST,
    // As many as may come at once when all nodes of a job begin.
    vouched: 1024,
    silent: Duration::from_secs(1),
    unproved: Duration::from_secs(3),
};
/// After the system could not accept a connection, for want of descriptors most often: until some are closed.
const PAUSE: Duration = Duration::from_millis(50);

/// A connection to a node that has proved itself.
#[derive(Debug)]
pub struct Established {
    /// The node at the other end, and which of its lanes.
    pub peer: Peer,
    /// Which life of that node number its process is.
    pub life: u64,
    pub stream: Stream,
}

/// Why a node could not be reached.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The network, or nobody is there.
    #[error("cannot connect to node {node} at {address}: {error}")]
    Network { node: u32, address: String, error: io::Error },
    /// Who is there is not the node that was looked for, or does not want this one.
    #[error("cannot connect to node {node} at {address}: {why}")]
    Handshake { node: u32, address: String, why: Failure },
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
}

impl DialError {
    /// Whether there is no network at all, which at the start of a job is no passing trouble.
    pub fn is_no_network(&self) -> bool {
        use io::ErrorKind::{NetworkUnreachable, PermissionDenied};
        let DialError::Network { error, .. } = self else { return false };
        matches!(error.kind(), NetworkUnreachable | PermissionDenied)
    }

    /// Whether it may go better after a while: the other node may be about to listen, or the network to come back.
    pub fn is_passing(&self) -> bool {
        // Who is there in an earlier life than the one that is looked for is not it, as if nobody were there.
        let absent = |why: &Failure| {
            matches!(why, Failure::Refused(Refusal::Silent | Refusal::Closed | Refusal::Incarnation))
        };
        match self {
            DialError::Network { .. } => true,
            DialError::Handshake { why, .. } => absent(why) || *why == Failure::RefusedBy(Refusal::Crowd),
            DialError::Randomness(_) => false,
        }
    }
}

/// Connects this node with `to`, the same lane of another one, by a socket that `connecting` connects with `address`.
///
/// # Errors
/// See [`DialError`]. At the latest after 5 seconds.
pub(crate) async fn dial<S: Socket>(
    connecting: impl Future<Output = io::Result<S>>,
    address: impl Display,
    identity: Arc<Identity>,
    to: Peer,
) -> Result<Established, DialError> {
    let address = address.to_string();
    match timeout(DEADLINE, dialled(connecting, &address, &identity, to)).await {
        Ok(result) => result,
        Err(_) => Err(DialError::Handshake { node: to.node, address, why: Refusal::Silent.into() }),
    }
}

async fn dialled<S: Socket>(
    connecting: impl Future<Output = io::Result<S>>,
    address: &str,
    identity: &Arc<Identity>,
    to: Peer,
) -> Result<Established, DialError> {
    let node = to.node;
    let network = |error| DialError::Network { node, address: address.into(), error };
    let handshake = |why| DialError::Handshake { node, address: address.into(), why };
    let mut channel = Channel::new(connecting.await.map_err(network)?);
    if let Some(credentials) = identity.tls.as_ref().filter(|_| S::IS_ENCRYPTED) {
        channel.encrypt(credentials).await.map_err(handshake)?;
    }
    let (mut dialer, hello) = Dialer::new(identity, to, auth::nonce()?);
    channel.write_all(&hello).await.map_err(network)?;
    loop {
        let bytes = channel.read(dialer.wants()).await;
        match bytes.map_err(Failure::from).and_then(|bytes| dialer.feed(&bytes)).map_err(handshake)? {
            Step::Say(bytes) => channel.write_all(&bytes).await.map_err(network)?,
            Step::Done(_, agreed) => return established(channel, agreed).map_err(network),
        }
    }
}

fn established<S: Socket>(channel: Channel<S>, agreed: Agreed) -> io::Result<Established> {
    Ok(Established { peer: agreed.peer, life: agreed.incarnation, stream: channel.into_stream()? })
}

/// Answers at `listener` until dropped. Connections of nodes that have proved themselves are given to `on_link`; of
/// others `on_refusal` gets a line each, or of many one with their number, and the job goes on.
pub(crate) async fn serve<L: Listener>(
    listener: L,
    identity: Arc<Identity>,
    mut on_link: impl FnMut(Established),
    mut on_refusal: impl FnMut(String),
) {
    let mut strangers = PendingPeers::new(LIMITS);
    let mut from = BTreeMap::new();
    let (mut refusals, began) = (Refusals::default(), Instant::now());
    let mut trouble = false;
    loop {
        let due = refusals.due().map(|due| due.saturating_sub(began.elapsed()));
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((socket, address)) => {
                    trouble = false;
                    let (identity, stage) = (Arc::clone(&identity), stage_of(&socket));
                    let welcome = |place| welcome(socket, identity, place);
                    let number = strangers.add(address.clone(), stage, welcome).await;
                    from.insert(number, address);
                }
                Err(error) => {
                    // Said once, not twenty times a second.
                    if !std::mem::replace(&mut trouble, true) {
                        on_refusal(format!("cannot accept connections of other nodes for the moment: {error}"));
                    }
                    sleep(PAUSE).await;
                }
            },
            Some((number, outcome)) = strangers.next() => {
                let address = from.remove(&number);
                match outcome.unwrap_or_else(|dropped| Err(dropped.into())) {
                    Ok(established) => on_link(established),
                    Err(refusal) if refusals.on_refusal(began.elapsed(), refusal) => {
                        let from = address.map_or_else(String::new, |address| format!(" from {address}"));
                        on_refusal(format!("refused a connection{from}: {refusal}"));
                    }
                    Err(_) => {}
                }
            }
            () = sleep(due.unwrap_or_default()), if due.is_some() => {
                refusals.summary(began.elapsed()).into_iter().for_each(&mut on_refusal);
            }
        }
    }
}

impl From<Dropped> for Refusal {
    fn from(dropped: Dropped) -> Refusal {
        match dropped {
            Dropped::Crowd => Refusal::Crowd,
            Dropped::Late => Refusal::Silent,
        }
    }
}

async fn welcome<S: Socket>(
    socket: S,
    identity: Arc<Identity>,
    place: Place,
) -> Result<Established, Refusal> {
    let mut channel = Channel::new(socket);
    match welcomed(&mut channel, &identity, &place).await {
        Ok(agreed) => established(channel, agreed).map_err(|_| Refusal::Closed),
        Err(refusal) => {
            // A stranger gets no answer in a protocol that is not its own; nobody is waited for.
            if !matches!(refusal, Refusal::Stranger | Refusal::Key) {
                _ = channel.try_write(&refusal.encode());
            }
            Err(refusal)
        }
    }
}

async fn welcomed<S: Socket>(
    channel: &mut Channel<S>,
    identity: &Arc<Identity>,
    place: &Place,
) -> Result<Agreed, Refusal> {
    // Without random numbers nobody can be authenticated.
    let nonce = auth::nonce().map_err(|_| Refusal::Closed)?;
    channel.hears().await?;
    place.speaks();
    if let Some(credentials) = identity.tls.as_ref().filter(|_| S::IS_ENCRYPTED) {
        channel.be_encrypted(credentials).await?;
    }
    let mut acceptor = Acceptor::new(identity, nonce);
    loop {
        let bytes = channel.read(acceptor.wants()).await?;
        let step = acceptor.feed(&bytes)?;
        if acceptor.is_claimed() {
            place.is_vouched_for();
        }
        match step {
            Step::Say(bytes) => channel.write_all(&bytes).await.map_err(|_| Refusal::Closed)?,
            Step::Done(bytes, agreed) => {
                channel.write_all(&bytes).await.map_err(|_| Refusal::Closed)?;
                return Ok(agreed);
            }
        }
    }
}
