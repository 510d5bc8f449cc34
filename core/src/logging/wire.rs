//! Words as they go on a link between two processes, beside letters: between which processes, then the word, then of how many slices
//! each part is that its image has. The slices go beside, as they are: parts may be all the memory of a node.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::image::Image;
use super::words::Word;
use talisman_ft::logging::{Batch, Entry, Incarnation, Input, Shape, Stable};
use talisman_pup::{Packed, Segment};

/// From a process of one incarnation to that of another.
pub type Between = (Incarnation, Incarnation);

/// As it goes: the bytes, and what goes beside.
///
/// # Errors
/// It has something that cannot be packed.
pub fn write(between: Between, word: &Word) -> Result<(Vec<u8>, Vec<Segment>), String> {
    let parts = image_of(word).into_iter().flat_map(Image::parts).map(Packed::buffers);
    let parts: Vec<Vec<Segment>> = parts.collect();
    let lengths: Vec<usize> = parts.iter().map(Vec::len).collect();
    let bytes = rmp_serde::to_vec(&(between, word, lengths)).map_err(|error| error.to_string())?;
    Ok((bytes, parts.concat()))
}

/// What another node of a job of this shape has sent.
///
/// # Errors
/// It is anything else, or names a log that there is not.
pub fn read(bytes: &[u8], segments: Vec<Segment>, shape: Shape) -> Result<(Between, Word), String> {
    let (between, mut word, lengths): (Between, Word, Vec<usize>) =
        rmp_serde::from_slice(bytes).map_err(|error| error.to_string())?;
    if !is_of(shape, &word) {
        return Err("it is about a node that the job does not have".into());
    }
    let parts = match image_in(&mut word) {
        Some(image) => image.parts_mut().collect(),
        None => Vec::new(),
    };
    let mut segments = segments.into_iter();
    let is_whole = parts.len() == lengths.len()
        && parts.into_iter().zip(lengths).all(|(part, length)| {
            let buffers: Vec<Segment> = segments.by_ref().take(length).collect();
            let has_all = buffers.len() == length;
            *part = Packed::of_buffers(buffers);
            has_all
        });
    match is_whole && segments.next().is_none() {
        true => Ok((between, word)),
        false => Err("it has more or fewer slices than it says".into()),
    }
}

/// The image that it brings.
fn image_of(word: &Word) -> Option<&Image> {
    match word {
        Word::Copy(image, _) | Word::Image(image) | Word::Next(image) | Word::HandOver(_, image) => {
            Some(image)
        }
        _ => None,
    }
}

fn image_in(word: &mut Word) -> Option<&mut Image> {
    match word {
        Word::Copy(image, _) | Word::Image(image) | Word::Next(image) | Word::HandOver(_, image) => {
            Some(image)
        }
        _ => None,
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
        Word::Image(image) | Word::Next(image) | Word::HandOver(_, image) => image.is_of(shape),
        Word::From { taken, marks, .. } => [taken.len(), marks.len()] == [shape.pes_per_node as usize; 2],
        Word::AskTickets(asked) => asked.iter().all(|(rank, _)| *rank < shape.pes_per_node),
        Word::Tickets(tickets) => tickets.iter().all(|(rank, ..)| *rank < shape.pes_per_node),
        Word::Noted(noted) => noted.len() == shape.pes_per_node as usize,
        Word::AskStable | Word::Stored(_) | Word::Fetch(_) | Word::HasNext(_) => true,
        Word::AskRoom(..) | Word::Room(..) => true,
    }
}

/// What goes beside: nothing of it is in the bytes.
pub(super) mod beside {
    use super::*;

    pub fn serialize<S: Serializer>(_: &Packed, serializer: S) -> Result<S::Ok, S::Error> {
        ().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Packed, D::Error> {
        <()>::deserialize(deserializer).map(|()| Packed::default())
    }
}
