//! Words as they go on a link between two processes, beside letters: between which processes, then the word.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserializer, Serializer};

use super::words::Word;
use talisman_ft::logging::{Batch, Entry, Incarnation, Input, Shape, Stable};
use talisman_pup::{Packed, from_bytes, to_bytes};

/// From a process of one incarnation to that of another.
pub type Between = (Incarnation, Incarnation);

/// As it goes.
///
/// # Errors
/// It has something that cannot be packed.
pub fn write(between: Between, word: &Word) -> Result<Vec<u8>, String> {
    rmp_serde::to_vec(&(between, word)).map_err(|error| error.to_string())
}

/// What another node of a job of this shape has sent.
///
/// # Errors
/// The bytes are anything else, or name a log that there is not.
pub fn read(bytes: &[u8], shape: Shape) -> Result<(Between, Word), String> {
    let (between, word): (Between, Word) = rmp_serde::from_slice(bytes).map_err(|error| error.to_string())?;
    match is_of(shape, &word) {
        true => Ok((between, word)),
        false => Err("it is about a node that the job does not have".into()),
    }
}

/// Whether all that a word names is there in such a job.
fn is_of(shape: Shape, word: &Word) -> bool {
    let is_told = |entry: Entry| match &entry.input {
        Input::Lane { from, told, .. } => *from < shape.nodes && told.len() == shape.pes_per_node as usize,
        _ => true,
    };
    let has = |batch: &Batch| shape.has(batch.log) && batch.entries.iter().all(is_told);
    match word {
        Word::Flush(batches) => batches.iter().all(has),
        Word::Stable(all) => all.iter().all(|Stable { log, .. }| shape.has(*log)),
        Word::Copy(image, others) => image.is_of(shape) && others.iter().all(has),
        Word::Image(image) | Word::Next(image) => image.is_of(shape),
        Word::From { taken, marks, .. } => [taken.len(), marks.len()] == [shape.pes_per_node as usize; 2],
        Word::AskTickets(asked) => asked.iter().all(|(rank, _)| *rank < shape.pes_per_node),
        Word::Tickets(tickets) => tickets.iter().all(|(rank, ..)| *rank < shape.pes_per_node),
        Word::Noted(noted) => noted.len() == shape.pes_per_node as usize,
        Word::AskStable | Word::Stored(_) | Word::Fetch(_) | Word::HasNext(_) => true,
    }
}

/// What is packed, as bytes.
pub(super) mod packed {
    use super::*;

    pub fn serialize<S: Serializer>(packed: &Packed, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&to_bytes(packed))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Packed, D::Error> {
        deserializer.deserialize_bytes(Bytes)
    }
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Packed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("packed bytes")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Packed, E> {
        from_bytes(bytes).map_err(E::custom)
    }
}
