//! What strangers say, as fuzz targets bring it. Nothing that programs use.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::runtime;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::serve::{free_place, serve_one};
use crate::{Door, Token};
use talisman_job::snapshot::Snapshot;

/// The token that a stranger has to know here.
pub const TOKEN: &str = "746f6b656e2d6f662d61";
/// What nobody is shown who does not.
const SHOWN: &str = "shown-to-friends";
/// More than a fuzzer writes at a time, and is answered.
const ROOM: usize = 1 << 20;
/// Turns of whoever serves, before the stranger goes: a few more than it takes to answer.
const TURNS: usize = 8;

/// Somebody says this, and goes: what it is answered.
///
/// # Panics
/// If it is shown anything of the job, or asks it for anything, without the token.
pub fn read_request(data: &[u8]) -> Vec<u8> {
    let runtime = runtime::Builder::new_current_thread().enable_time().build();
    let Ok(runtime) = runtime else { return Vec::new() };
    let (answered, asked) = runtime.block_on(talk(data));
    let knows = data.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
    let is_shown = |what: &[u8]| answered.windows(what.len()).any(|window| window == what);
    assert!(knows || !asked, "a stranger has asked the job for something");
    assert!(knows || !(is_shown(SHOWN.as_bytes()) || is_shown(b"200 OK")), "a stranger is shown something");
    answered
}

async fn talk(data: &[u8]) -> (Vec<u8>, bool) {
    let (mut theirs, ours) = duplex(ROOM);
    let (questions, mut asked) = mpsc::channel(1);
    let snapshot = Snapshot { program: SHOWN.into(), ..Snapshot::default() };
    let snapshots = Arc::new(watch::Sender::new(Some(Arc::new(snapshot))));
    let token = Arc::new(Token::of(b"token-of-a"));
    let door = Door { token, snapshots: snapshots.clone(), questions };
    let (mut answered, mut was_asked) = (Vec::new(), false);
    let says = async {
        let _ = theirs.write_all(data).await;
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
            // Whoever waits for a snapshot of this moment has one, and whoever asks for something is told that nobody answers.
            snapshots.send_modify(|_| ());
            was_asked |= asked.try_recv().is_ok();
        }
        let _ = theirs.shutdown().await;
        let mut end = [0; 4096];
        while let Ok(count @ 1..) = theirs.read(&mut end).await {
            answered.extend_from_slice(&end[..count]);
        }
    };
    let both = async { tokio::join!(says, serve_one(ours, door, free_place())) };
    let _ = timeout(Duration::from_secs(10), both).await;
    was_asked |= asked.try_recv().is_ok();
    (answered, was_asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(request: &str) -> String {
        let answer = read_request(request.as_bytes());
        String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn strangers_are_refused_and_friends_are_shown() {
        assert_eq!(status("GET / HTTP/1.1\r\nhost: x\r\n\r\n"), "HTTP/1.1 403 Forbidden");
        assert_eq!(
            status("POST /ask HTTP/1.1\r\ncontent-length: 10\r\n\r\ncheckpoint"),
            "HTTP/1.1 403 Forbidden"
        );
        let friend = format!("GET /?token={TOKEN} HTTP/1.1\r\nhost: x\r\n\r\n");
        assert_eq!(status(&friend), "HTTP/1.1 200 OK");
        let answer = String::from_utf8(read_request(friend.as_bytes())).unwrap();
        assert!(answer.contains("cache-control: no-store") && answer.contains("</html>"), "{answer}");
    }

    #[test]
    fn what_is_no_request_or_too_large_is_refused() {
        assert_eq!(status("\0\0\0"), "HTTP/1.1 400 Bad Request");
        let long = format!("GET /?{} HTTP/1.1\r\n\r\n", "a".repeat(100_000));
        assert!(status(&long).contains(" 4"), "{}", status(&long));
        let many: String = (0..100).map(|number| format!("x{number}: y\r\n")).collect();
        assert!(status(&format!("GET /?token={TOKEN} HTTP/1.1\r\n{many}\r\n")).contains(" 431 "));
        let large =
            format!("POST /ask?token={TOKEN} HTTP/1.1\r\ncontent-length: 999\r\n\r\n{}", "a".repeat(999));
        assert!(status(&large).contains(" 413 "), "{}", status(&large));
        let wrong = format!("POST /ask?token={TOKEN} HTTP/1.1\r\ncontent-length: 4\r\n\r\nmelt");
        assert!(status(&wrong).contains(" 400 "), "{}", status(&wrong));
    }
}
