//! Encryption of links over TCP (`--tls`): TLS 1.3 by `rustls`. `docs/src/reference/wire.md`, "TLS", has what both sides agree on.
//!
//! Pure: bytes in, bytes out. [`super::tcp`] has the sockets. No certificate is made, shipped or looked after: every
//! node derives the same key pair from the job's secret, shows its bare public key (RFC 7250), and accepts no other.
//! Whoever completes the handshake therefore knows the secret, which nobody in between does; that binds what the nodes
//! then say to each other inside ([`super::handshake`]) to this connection.

mod credentials;
mod pair;
mod session;
mod window;

#[cfg(test)]
mod tests;

pub use credentials::Credentials;
pub use pair::pair;
pub use session::Session;

/// The first byte of a TLS handshake, which no record of ours begins with.
pub const HANDSHAKE: u8 = 0x16;

/// Encryption cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("links cannot be encrypted (--tls): {0}")]
pub struct Unavailable(String);

impl From<rustls::Error> for Unavailable {
    fn from(error: rustls::Error) -> Unavailable {
        Unavailable(error.to_string())
    }
}

/// The other end has closed the connection, does not know the job's secret, or somebody has altered the bytes. Nothing
/// more can be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;
