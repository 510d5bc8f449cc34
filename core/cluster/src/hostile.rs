//! What comes to the doors of agents and launchers, as fuzz targets reach them. Nothing that programs use.

pub use talisman_dashboard::hostile::{TOKEN, read_request as read_page_request};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncWriteExt as _, duplex};
use tokio::runtime;

use crate::remote::message::{FromAgent, ToAgent};
use crate::succession::door::believes;
use talisman_base::frame::{Decoder, encode};
use talisman_control::protocol::{ToLauncher, ToNode};
use talisman_job::asking::Request;

/// More than a fuzzer writes at a time.
const ROOM: usize = 1 << 20;

/// Reads bytes as messages between launchers, agents and nodes, in pieces: what can be read is written as it was.
///
/// # Panics
/// If a message is another one after it was written and read.
pub fn read_messages(data: &[u8]) {
    read_as::<FromAgent>(data);
    read_as::<ToAgent>(data);
    read_as::<ToLauncher>(data);
    read_as::<ToNode>(data);
}

fn read_as<M: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(data: &[u8]) {
    let mut decoder = Decoder::default();
    for piece in data.chunks(1 + data.first().map_or(0, |first| usize::from(*first))) {
        decoder.push(piece);
        loop {
            match decoder.next::<M>() {
                Ok(Some(message)) => check(&message),
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

fn check<M: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(message: &M) {
    // It may be too long by itself.
    let Ok(frame) = encode(message) else { return };
    let mut again = Decoder::default();
    again.push(&frame);
    let read = again.next::<M>().expect("it was written here").expect("all of it is there");
    // A number that is none is never the same.
    assert_eq!(format!("{read:?}"), format!("{message:?}"));
}

/// Somebody comes to the door of a launcher's successor and says this: nobody must be believed.
///
/// # Panics
/// If somebody is, without knowing the secret.
pub fn read_knock(data: &[u8]) {
    let Ok(runtime) = runtime::Builder::new_current_thread().build() else { return };
    let believed = runtime.block_on(async {
        let (mut theirs, mut ours) = duplex(ROOM);
        let (Ok(()), Ok(())) =
            (theirs.write_all(&data[..data.len().min(ROOM)]).await, theirs.shutdown().await)
        else {
            return false;
        };
        believes(&mut ours).await
    });
    assert!(!believed, "a stranger was believed");
}

/// Reads a line as a request from outside: what can be read is written as it was meant.
///
/// # Panics
/// If a request is another one after it was written and read.
pub fn read_request(data: &[u8]) {
    let Ok(line) = std::str::from_utf8(data) else { return };
    if let Ok(request) = line.trim_end().parse::<Request>() {
        assert_eq!(request.to_string().parse(), Ok(request));
    }
}
