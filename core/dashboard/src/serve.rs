//! Who may come, how many, and for how long.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::Door;
use crate::answer::answer;

/// So many may be there who have not shown the token, and so many who have.
pub(crate) const STRANGERS_MOST: usize = 16;
pub(crate) const KNOWN_MOST: usize = 32;
/// Whoever comes says all that it wants within this time.
const HEADERS_WITHIN: Duration = Duration::from_secs(5);
/// Most bytes of that, and most headers.
const HEADERS_BYTES: usize = 16 << 10;
const HEADERS_MOST: usize = 64;
/// Who looks for longer comes again: browsers do so by themselves.
const LONGEST: Duration = Duration::from_secs(600);
/// After the system could not accept a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// What is said to those for whom there is no place.
const CROWDED: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nretry-after: 5\r\nconnection: close\r\n\r\n";

/// The place that somebody has: among strangers, until it shows the token.
pub(crate) struct Place {
    held: Mutex<Option<OwnedSemaphorePermit>>,
    known: Arc<Semaphore>,
}

impl Place {
    /// It has shown the token. Whether there is a place for it.
    pub(crate) fn becomes_known(&self) -> bool {
        let place = self.known.clone().try_acquire_owned().ok();
        let is_free = place.is_some();
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = place;
        is_free
    }
}

/// Serves all who come, until this is dropped.
pub(crate) async fn serve(listener: TcpListener, door: Door) {
    let (strangers, known) = (Arc::new(Semaphore::new(STRANGERS_MOST)), Arc::new(Semaphore::new(KNOWN_MOST)));
    let mut served = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => match strangers.clone().try_acquire_owned() {
                    Ok(place) => {
                        let place = Place { held: Mutex::new(Some(place)), known: known.clone() };
                        served.spawn(serve_one(stream, door.clone(), place));
                    }
                    Err(_) => refuse(stream),
                },
                Err(_) => sleep(PAUSE).await,
            },
            Some(_) = served.join_next() => {}
        }
    }
}

/// Without waiting: a new connection has room for so little.
fn refuse(stream: TcpStream) {
    // By the system's own call: the runtime has not looked yet whether there is room.
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write_all(CROWDED);
    }
}

/// One request, and its answer.
pub(crate) async fn serve_one(stream: impl AsyncRead + AsyncWrite + Unpin, door: Door, place: Place) {
    let place = Arc::new(place);
    let service = service_fn(move |request| answer(door.clone(), place.clone(), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_buf_size(HEADERS_BYTES)
        .max_headers(HEADERS_MOST)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // Whatever went wrong there is nobody to be told.
    let _ = timeout(LONGEST, connection).await;
}

/// That of somebody who is alone.
pub(crate) fn free_place() -> Place {
    Place { held: Mutex::new(None), known: Arc::new(Semaphore::new(1)) }
}
