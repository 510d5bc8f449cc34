//! How nodes make connections with each other: each transport whose links are dialled has a [`Connector`] in its
//! folder, and here is the one place that knows which.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use crate::Peer;
use crate::connect::{DialError, Established, serve};
use crate::handshake::Identity;
use crate::socket::Listener;
use crate::tcp::{Stream, Tcp};
use crate::unix::Unix;
use talisman_base::transport::Transport;

/// Makes connections over one transport.
pub trait Connector {
    type Listener: Listener;

    /// Opens where other nodes reach this one; with the address that they have to be told, if they cannot know it.
    /// `interface` is what `--listen` says. To be called within a runtime.
    ///
    /// # Errors
    /// The system does not let it, in words.
    fn listen(identity: &Identity, interface: IpAddr)
    -> Result<(Self::Listener, Option<SocketAddr>), String>;

    /// Connects this node with another one.
    ///
    /// # Errors
    /// See [`DialError`]. At the latest after [`DEADLINE`](crate::connect::DEADLINE).
    fn dial(
        to: Target,
        identity: Arc<Identity>,
    ) -> impl Future<Output = Result<Established, DialError>> + Send;

    /// Both ends of a connection within this process, for tests.
    ///
    /// # Errors
    /// Those of the system.
    fn pair() -> io::Result<[Stream; 2]>;
}

/// Who is dialled.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub peer: Peer,
    /// Where it listens, if it has said so.
    pub address: Option<SocketAddr>,
}

/// Where other nodes reach this one.
pub struct Listening {
    /// What they have to be told of it.
    pub address: Option<SocketAddr>,
    /// Answers them until dropped.
    pub serving: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Does something by the connector of a transport, or else what is to be done where links are not dialled.
macro_rules! by_connector {
    ($transport:expr, $Connector:ident => $call:expr, $otherwise:expr) => {
        match $transport {
            Transport::Tcp => {
                type $Connector = Tcp;
                $call
            }
            Transport::Unix => {
                type $Connector = Unix;
                $call
            }
            Transport::Shm => $otherwise,
        }
    };
}

/// Opens where other nodes reach this one over a transport: see [`Connector::listen`].
///
/// # Errors
/// The system does not let it, in words.
pub fn listen(
    transport: Transport,
    (identity, interface): (&Arc<Identity>, IpAddr),
    on_link: impl FnMut(Established) + Send + 'static,
    on_refusal: impl FnMut(String) + Send + 'static,
) -> Result<Listening, String> {
    by_connector!(transport, C => {
        let (listener, address) = C::listen(identity, interface)?;
        Ok(Listening { address, serving: Box::pin(serve(listener, identity.clone(), on_link, on_refusal)) })
    }, Err(not_dialled(transport)))
}

/// Connects this node with another one over a transport: see [`Connector::dial`].
///
/// # Errors
/// See [`DialError`].
pub async fn dial(
    transport: Transport,
    to: Target,
    identity: Arc<Identity>,
) -> Result<Established, DialError> {
    by_connector!(transport, C => C::dial(to, identity).await, {
        let error = io::Error::other(not_dialled(transport));
        Err(DialError::Network { node: to.peer.node, address: "no address".into(), error })
    })
}

/// Both ends of a connection within this process, for tests.
///
/// # Errors
/// Those of the system, or links of this transport are not dialled.
pub fn pair(transport: Transport) -> io::Result<[Stream; 2]> {
    by_connector!(transport, C => C::pair(), Err(io::Error::other(not_dialled(transport))))
}

fn not_dialled(transport: Transport) -> String {
    format!("links by {} are not dialled", transport.row().name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_base::transport::TRANSPORTS;

    #[test]
    fn what_the_table_calls_dialled_has_a_connector() {
        for row in TRANSPORTS {
            assert_eq!(pair(row.transport).is_ok(), row.transport.is_dialled(), "{}", row.name);
        }
    }
}
