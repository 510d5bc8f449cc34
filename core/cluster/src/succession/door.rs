//! How agents and a launcher's successor reach each other over TCP, and prove to each other that they are of one job.
//!
//! ```text
//! who comes:  MAGIC, nonce, ticket ─►    who is there:  nonce, proof ─►            who comes:  proof ─► Follow, …
//! ```
//!
//! The *ticket* proves that one of the job has chosen the nonce, some time: who has none is sent away at once, and those that have one do not lose
//! their places to any crowd ([`Admission`](talisman_transport::admission)).
//!
//! With `--tls` all of that is encrypted like the links of nodes, from the first byte on, and whoever does not encrypt is turned away.
//!
//! Both proofs cover the job and both nonces, so that neither words that are repeated nor one's own sent back prove anything.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::estate::{Estate, Orphan};
use crate::remote::message::{FromAgent, ToAgent};
use talisman_base::auth::{BYTES, Nonce, Proof, Secret, nonce};
use talisman_base::frame::{Decoder, encode};
use talisman_transport::admission::Limits;
use talisman_transport::channel::Channel;
use talisman_transport::pending::{PendingPeers, Place, stage_of};
use talisman_transport::tcp::Talk;
use talisman_transport::tls::{Credentials, Unavailable};

/// What a conversation begins with.
const MAGIC: &[u8; 8] = b"TALISMAN";
/// So long it may take to reach somebody, and to be authenticated.
pub const LIMIT: Duration = Duration::from_secs(1);
/// Whoever has come says at once who it is: there is one of each host.
pub const LIMITS: Limits = Limits {
    places: 64,
    vouched: 1024,
    silent: Duration::from_millis(500),
    unproved: Duration::from_secs(2),
};
/// After the system could not accept a connection.
const PAUSE: Duration = Duration::from_millis(50);
/// The parts in the conversation.
const KNOCKS: &str = "talisman successor: knocks";
const COMES: &str = "talisman successor: comes";
const IS_THERE: &str = "talisman successor: is there";

/// What proves that one is of a job.
#[derive(Clone)]
pub struct Pass {
    job: u64,
    secret: Secret,
    /// If connections are encrypted.
    credentials: Option<Credentials>,
}

impl Pass {
    /// # Errors
    /// Connections are to be encrypted and cannot be.
    pub fn new(estate: &Estate) -> Result<Self, Unavailable> {
        let credentials = estate.tls.then(|| Credentials::of(&estate.secret)).transpose()?;
        Ok(Pass { job: estate.job, secret: estate.secret.clone(), credentials })
    }

    /// Of a job whose connections are not encrypted.
    pub fn plain(job: u64, secret: Secret) -> Self {
        Pass { job, secret, credentials: None }
    }

    /// What whoever comes shows first, with a nonce of its own.
    pub fn knock(&self, own: &Nonce) -> Proof {
        self.secret.prove(KNOCKS, &self.ticket(own))
    }

    /// Whether that is a ticket.
    pub fn is_ticket(&self, nonce: &Nonce, ticket: &Proof) -> bool {
        self.secret.verify(KNOCKS, &self.ticket(nonce), ticket)
    }

    /// What whoever is there answers to one that has chosen the first nonce.
    pub fn answer(&self, theirs: &Nonce, own: &Nonce) -> Proof {
        self.secret.prove(IS_THERE, &self.said(theirs, own))
    }

    /// Whether that is the answer of one of the job to one that has chosen the first nonce.
    pub fn is_answer(&self, own: &Nonce, theirs: &Nonce, proof: &Proof) -> bool {
        self.secret.verify(IS_THERE, &self.said(own, theirs), proof)
    }

    /// What whoever came says to the answer.
    pub fn proof(&self, own: &Nonce, theirs: &Nonce) -> Proof {
        self.secret.prove(COMES, &self.said(own, theirs))
    }

    /// Whether that proves who has come, with the first nonce.
    pub fn is_proof(&self, theirs: &Nonce, own: &Nonce, proof: &Proof) -> bool {
        self.secret.verify(COMES, &self.said(theirs, own), proof)
    }

    /// Shows that one of the job has chosen a nonce.
    fn ticket(&self, nonce: &Nonce) -> Vec<u8> {
        [&self.job.to_le_bytes()[..], nonce].concat()
    }

    fn said(&self, first: &Nonce, second: &Nonce) -> Vec<u8> {
        [&self.job.to_le_bytes()[..], first, second].concat()
    }
}

/// What has become of an attempt.
pub enum Reached {
    There(Talk),
    /// Nobody holds the address any more: its processes are dead, unlike its machine.
    Dead,
    /// Nothing is known.
    Nobody,
}

/// Tries to reach who listens at an address.
pub async fn reach(door: SocketAddr, pass: &Pass) -> Reached {
    match timeout(LIMIT, TcpStream::connect(door)).await {
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => Reached::Dead,
        Ok(Ok(socket)) => match timeout(LIMIT, come(socket, pass)).await {
            Ok(Ok(talk)) => Reached::There(talk),
            _ => Reached::Nobody,
        },
        _ => Reached::Nobody,
    }
}

/// An agent without a launcher that has come, and its connection.
pub struct Newcomer {
    pub orphan: Orphan,
    pub talk: Talk,
    /// What has come behind its first message.
    pub decoder: Decoder,
}

impl Newcomer {
    /// Says something short; whether it is still there to hear that.
    pub fn tell(&mut self, message: &ToAgent) -> bool {
        encode(message).is_ok_and(|frame| self.talk.try_say(&frame))
    }
}

/// Agents that come, until it is dropped.
pub struct Newcomers {
    comes: mpsc::UnboundedReceiver<Newcomer>,
    accepting: JoinHandle<()>,
}

impl Newcomers {
    /// At this address. Has to be called inside of a runtime.
    ///
    /// # Errors
    /// The system gives no descriptor.
    pub fn at(door: std::net::TcpListener, pass: Pass) -> io::Result<Self> {
        door.set_nonblocking(true)?;
        let door = TcpListener::from_std(door)?;
        let (introduced, comes) = mpsc::unbounded_channel();
        Ok(Newcomers { comes, accepting: tokio::spawn(accept(door, pass, introduced)) })
    }

    /// The next one.
    pub async fn next(&mut self) -> Newcomer {
        match self.comes.recv().await {
            Some(newcomer) => newcomer,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Newcomers {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(door: TcpListener, pass: Pass, introduced: mpsc::UnboundedSender<Newcomer>) {
    let mut strangers = PendingPeers::new(LIMITS);
    loop {
        tokio::select! {
            accepted = door.accept() => match accepted {
                Ok((socket, from)) => {
                    let (pass, stage) = (pass.clone(), stage_of(&socket));
                    strangers.add(from, stage, |place| introduce(socket, pass, place)).await;
                }
                Err(_) => sleep(PAUSE).await,
            },
            Some((_, outcome)) = strangers.next() => {
                if let Ok(Some(newcomer)) = outcome {
                    let _ = introduced.send(newcomer);
                }
            }
        }
    }
}

async fn introduce(socket: TcpStream, pass: Pass, place: Place) -> Option<Newcomer> {
    let mut talk = admit(socket, &pass, &place).await.ok()?;
    let (mut decoder, mut bytes) = (Decoder::default(), vec![0; 4096]);
    loop {
        match decoder.next().ok()? {
            Some(FromAgent::Follow(orphan)) => return Some(Newcomer { orphan: *orphan, talk, decoder }),
            Some(_) => return None,
            None => match talk.read(&mut bytes).await.ok()? {
                0 => return None,
                count => decoder.push(&bytes[..count]),
            },
        }
    }
}

async fn come(socket: TcpStream, pass: &Pass) -> io::Result<Talk> {
    socket.set_nodelay(true)?;
    let mut channel = Channel::new(socket);
    if let Some(credentials) = &pass.credentials {
        channel.encrypt(credentials).await.map_err(io::Error::other)?;
    }
    let mut talk = channel.into_talk();
    let own = nonce().map_err(io::Error::other)?;
    let ticket = pass.knock(&own);
    say(&mut talk, &[&MAGIC[..], &own, &ticket].concat()).await?;
    let (mut theirs, mut proof): (Nonce, Proof) = ([0; BYTES], [0; BYTES]);
    talk.read_exact(&mut theirs).await?;
    talk.read_exact(&mut proof).await?;
    check(pass.is_answer(&own, &theirs, &proof))?;
    say(&mut talk, &pass.proof(&own, &theirs)).await?;
    Ok(talk)
}

async fn admit(socket: TcpStream, pass: &Pass, place: &Place) -> io::Result<Talk> {
    socket.set_nodelay(true)?;
    let mut channel = Channel::new(socket);
    channel.hears().await.map_err(io::Error::other)?;
    place.speaks();
    if let Some(credentials) = &pass.credentials {
        channel.be_encrypted(credentials).await.map_err(io::Error::other)?;
    }
    let mut talk = channel.into_talk();
    admitted(&mut talk, pass, || place.is_vouched_for()).await?;
    Ok(talk)
}

/// Makes sure of who comes by what it says; `vouch` is called when it has shown a ticket.
async fn admitted(
    talk: &mut (impl AsyncRead + AsyncWrite + Unpin),
    pass: &Pass,
    vouch: impl FnOnce(),
) -> io::Result<()> {
    let (mut magic, mut theirs, mut proof): (_, Nonce, Proof) = ([0; MAGIC.len()], [0; BYTES], [0; BYTES]);
    talk.read_exact(&mut magic).await?;
    check(magic == *MAGIC)?;
    talk.read_exact(&mut theirs).await?;
    talk.read_exact(&mut proof).await?;
    check(pass.is_ticket(&theirs, &proof))?;
    vouch();
    let own = nonce().map_err(io::Error::other)?;
    say(talk, &[own, pass.answer(&theirs, &own)].concat()).await?;
    talk.read_exact(&mut proof).await?;
    check(pass.is_proof(&theirs, &own, &proof))
}

/// Whether somebody who says this is believed, for fuzz targets.
pub async fn believes(stranger: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> bool {
    let pass = Pass::plain(7, Secret::from_bytes([3; BYTES]));
    admitted(stranger, &pass, || ()).await.is_ok()
}

async fn say(talk: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    talk.write_all(bytes).await?;
    talk.flush().await
}

fn check(holds: bool) -> io::Result<()> {
    if holds { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

#[cfg(test)]
mod tests {
    use tokio::runtime;

    use super::*;
    use talisman_control::succession::quorum::Roll;

    fn pass(secret: u8) -> Pass {
        Pass::plain(7, Secret::from_bytes([secret; BYTES]))
    }

    fn orphan() -> Orphan {
        let (roll, unheard) = (Roll::default(), Duration::from_secs(1));
        Orphan { rank: 3, roll, nodes: vec![6, 7], has_begun: true, settled: None, unheard }
    }

    fn inside<T>(work: impl Future<Output = T>) -> T {
        runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
    }

    fn listener() -> (std::net::TcpListener, SocketAddr) {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("its address");
        (listener, address)
    }

    #[test]
    fn who_knows_the_secret_is_let_in_and_says_who_it_is() {
        inside(async {
            let (listener, address) = listener();
            follows(listener, address, &pass(1)).await;
        });
    }

    /// Somebody who comes to this address comes in here, and is answered.
    async fn follows(listener: std::net::TcpListener, address: SocketAddr, pass: &Pass) {
        let mut newcomers = Newcomers::at(listener, pass.clone()).expect("a descriptor");
        let Reached::There(mut talk) = reach(address, pass).await else { panic!("it is there") };
        let follow = encode(&FromAgent::Follow(Box::new(orphan()))).expect("it is short");
        say(&mut talk, &follow).await.expect("somebody reads");
        let mut newcomer = newcomers.next().await;
        assert_eq!(newcomer.orphan, orphan());
        assert!(newcomer.tell(&ToAgent::Wait));
        let mut said = vec![0; encode(&ToAgent::Wait).expect("it is short").len()];
        talk.read_exact(&mut said).await.expect("it was said");
    }

    #[test]
    fn who_does_not_know_it_reaches_nobody() {
        inside(async {
            let (listener, address) = listener();
            let _newcomers = Newcomers::at(listener, pass(1)).expect("a descriptor");
            assert!(matches!(reach(address, &pass(2)).await, Reached::Nobody));
            let elsewhere = Pass { job: 8, ..pass(1) };
            assert!(matches!(reach(address, &elsewhere).await, Reached::Nobody));
        });
    }

    /// Who says nothing, and who says what anybody can, as many as there is room for in the system; and more all the time.
    #[test]
    fn crowds_of_strangers_keep_nobody_out() {
        let (listener, address) = listener();
        let crowd = std::thread::spawn(move || {
            let mut kept = std::collections::VecDeque::new();
            for number in 0..3000 {
                let Ok(mut stranger) = std::net::TcpStream::connect(address) else { break };
                if number % 2 == 0 {
                    let _ = std::io::Write::write_all(&mut stranger, &[&MAGIC[..], &[7; 2 * BYTES]].concat());
                }
                kept.push_back(stranger);
                if kept.len() > 300 {
                    kept.pop_front();
                }
            }
        });
        inside(async {
            let mut newcomers = Newcomers::at(listener, pass(1)).expect("a descriptor");
            let follow = encode(&FromAgent::Follow(Box::new(orphan()))).expect("it is short");
            let (mut reached, mut attempts) = (0, 0);
            while reached < 20 {
                attempts += 1;
                assert!(attempts < 100, "of 100 attempts {reached} came in");
                let Reached::There(mut talk) = reach(address, &pass(1)).await else { continue };
                say(&mut talk, &follow).await.expect("somebody reads");
                assert_eq!(newcomers.next().await.orphan, orphan());
                reached += 1;
            }
        });
        crowd.join().expect("it does not panic");
    }

    #[test]
    fn words_of_before_are_worth_nothing() {
        inside(async {
            let (listener, address) = listener();
            let _newcomers = Newcomers::at(listener, pass(1)).expect("a descriptor");
            let own = [3; BYTES];
            let ticket = pass(1).secret.prove(KNOCKS, &pass(1).ticket(&own));
            let mut stranger = TcpStream::connect(address).await.expect("it is there");
            let words = [&MAGIC[..], &own, &ticket, &[0; BYTES]].concat();
            stranger.write_all(&words).await.expect("somebody reads");
            let mut said = Vec::new();
            let _ = stranger.read_to_end(&mut said).await;
            assert_eq!(said.len(), 2 * BYTES, "it is answered once, and sent away");
        });
    }

    #[test]
    fn an_address_that_nobody_holds_any_more_is_that_of_a_dead_process() {
        inside(async {
            let (listener, address) = listener();
            let copy = listener.try_clone().expect("a descriptor");
            drop(listener);
            assert!(
                matches!(reach(address, &pass(1)).await, Reached::Nobody),
                "one holds it, and says nothing"
            );
            drop(copy);
            assert!(matches!(reach(address, &pass(1)).await, Reached::Dead));
        });
    }

    #[cfg(feature = "tls")]
    mod encrypted {
        use super::*;

        fn encrypting(secret: u8) -> Pass {
            let plain = pass(secret);
            Pass { credentials: Some(Credentials::of(&plain.secret).expect("it is built in")), ..plain }
        }

        /// Passes on what comes here to another address, and gives all bytes that went in either direction.
        async fn overhear(here: TcpListener, address: SocketAddr) -> Vec<u8> {
            let (mut one, mut other) = (
                here.accept().await.expect("it comes").0,
                TcpStream::connect(address).await.expect("it is there"),
            );
            let (mut heard, mut from_one, mut from_other) = (Vec::new(), [0; 4096], [0; 4096]);
            loop {
                let (bytes, to) = tokio::select! {
                    count = one.read(&mut from_one) => (&from_one[..count.unwrap_or(0)], &mut other),
                    count = other.read(&mut from_other) => (&from_other[..count.unwrap_or(0)], &mut one),
                };
                if bytes.is_empty() || to.write_all(bytes).await.is_err() {
                    return heard;
                }
                heard.extend_from_slice(bytes);
            }
        }

        #[test]
        fn nothing_that_is_said_can_be_read_by_others() {
            for (pass, is_secret) in [(pass(1), false), (encrypting(1), true)] {
                let heard = inside(async {
                    let (listener, address) = listener();
                    let between = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
                    let door = between.local_addr().expect("its address");
                    let overhearing = tokio::spawn(overhear(between, address));
                    follows(listener, door, &pass).await;
                    overhearing.await.expect("it ends when both have")
                });
                let has = |text: &[u8]| heard.windows(text.len()).any(|bytes| bytes == text);
                assert!([MAGIC, &b"Follow"[..], b"Wait"].iter().all(|text| has(text) != is_secret));
            }
        }

        #[test]
        fn who_does_not_encrypt_is_turned_away_and_turns_away_who_does() {
            let reached = |there: Pass, comes: Pass| {
                inside(async {
                    let (listener, address) = listener();
                    let _newcomers = Newcomers::at(listener, there).expect("a descriptor");
                    matches!(reach(address, &comes).await, Reached::There(_))
                })
            };
            assert!(reached(encrypting(1), encrypting(1)));
            assert!(!reached(encrypting(1), pass(1)));
            assert!(!reached(pass(1), encrypting(1)));
            assert!(!reached(encrypting(1), encrypting(2)), "of another job");
            let elsewhere = Pass { job: 8, ..encrypting(1) };
            assert!(!reached(encrypting(1), elsewhere));
        }
    }
}
