//! What a node of a job that logs may hear from others, made up by somebody else: for fuzz targets. Nothing that programs use.

use super::given::Given;
use super::letter::Letter;
use super::mark::Mark;
use super::wire;
use super::words::Word;
use talisman_ft::logging::ticket::{Ticket, Tn};
use talisman_ft::logging::{Batch, Entry, Input, LogId, Ride, Shape, Stable};
use talisman_kernel::pe::input_log::Frame;

/// Of the job that hears it.
const SHAPE: Shape = Shape { nodes: 3, pes_per_node: 1 };

/// Reads bytes as a word, as a letter with what rides on it, and as something that a log has.
pub fn read_logged(data: &[u8]) {
    let _ = (wire::read(data, Vec::new(), SHAPE), Given::read(data));
    if let Some(letter) = Letter::open(data, Vec::new()) {
        let _ = Ride::read(&letter.ride, SHAPE);
    }
}

/// What it reads when nobody has made it up, by names.
pub fn logged_seeds() -> Vec<(&'static str, Vec<u8>)> {
    let log = LogId { node: 1, rank: 0 };
    let inputs = [Given::Time(7).input(), Input::Lane { from: 2, frames: 3, told: vec![4] }, Input::Timer(0)];
    let entries = inputs.map(|input| Entry { at: 5, input }).into_iter().collect();
    let batch = Batch { log, incarnation: 1, first: 2, entries };
    let stable = Stable { log, incarnation: 1, length: 9 };
    let (marks, answer) = (vec![vec![Mark { bytes: 8, sum: 9 }]], true);
    let words = [
        ("flush", Word::Flush(vec![batch.clone()])),
        ("stable", Word::Stable(vec![stable])),
        ("from", Word::From { taken: vec![1], marks, answer }),
        ("ask-room", Word::AskRoom(4, 1 << 30)),
        ("room", Word::Room(4, true)),
        ("has-next", Word::HasNext(4)),
        ("ask-tickets", Word::AskTickets(vec![(0, 4), (0, 5)])),
        ("tickets", Word::Tickets(vec![(0, 4, Ticket::New(Tn { number: 6, time: 7 })), (0, 5, Ticket::Old)])),
    ];
    let word = |(name, word)| (name, wire::write((1, 2), &word).unwrap_or_default().0);
    let mut ride = Vec::new();
    Ride { lengths: vec![6], batches: vec![batch], stable: vec![stable] }
        .write(&mut ride, SHAPE.pes_per_node);
    let frame = Frame::with_head(b"frame", Vec::new());
    let letter = Letter { between: (1, 2), number: 3, to: 0, ride, frame, is_determined: true };
    let mut sealed = Vec::new();
    letter.write(&mut sealed);
    words.into_iter().map(word).chain([("letter", sealed)]).collect()
}
