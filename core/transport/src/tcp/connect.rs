//! TCP connections between nodes, which listen at a port of their host.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};

use super::Stream;
use crate::connect::{self, DialError, Established};
use crate::connector::{Connector, Target};
use crate::handshake::Identity;
use crate::socket::{Listener, Socket};
use crate::tls::Session;

/// TCP connects nodes.
pub struct Tcp;

impl Connector for Tcp {
    type Listener = TcpListener;

    fn listen(_: &Identity, interface: IpAddr) -> Result<(TcpListener, Option<SocketAddr>), String> {
        listen(interface).map_err(|error| format!("cannot listen at {interface} (--listen): {error}"))
    }

    async fn dial(to: Target, identity: Arc<Identity>) -> Result<Established, DialError> {
        let Target { peer, address } = to;
        let Some(address) = address else {
            let error = io::Error::other("it has not said where it listens");
            return Err(DialError::Network { node: peer.node, address: "no address".into(), error });
        };
        connect::dial(TcpStream::connect(address), address, identity, peer).await
    }

    fn pair() -> io::Result<[Stream; 2]> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let near = std::net::TcpStream::connect(listener.local_addr()?)?;
        let (far, _) = listener.accept()?;
        Ok([Stream::plain(near.into())?, Stream::plain(far.into())?])
    }
}

fn listen(interface: IpAddr) -> io::Result<(TcpListener, Option<SocketAddr>)> {
    let listener = std::net::TcpListener::bind((interface, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((TcpListener::from_std(listener)?, Some(address)))
}

impl Listener for TcpListener {
    type Socket = TcpStream;
    type From = SocketAddr;

    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        TcpListener::accept(self).await
    }
}

impl Socket for TcpStream {
    const IS_ENCRYPTED: bool = true;

    async fn readable(&self) -> io::Result<()> {
        TcpStream::readable(self).await
    }

    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        TcpStream::try_write(self, bytes)
    }

    fn into_stream(self, session: Option<Session>) -> io::Result<Stream> {
        let socket = self.into_std()?.into();
        match session {
            None => Stream::plain(socket),
            Some(session) => Stream::encrypted(socket, session),
        }
    }
}
