//! Alternate locations: atoms that were seen at several places, each with a share of the time, its occupancy. The likeliest counts.

use std::collections::BTreeMap;

use super::columns::{Fault, text};
use super::pdb::Record;

/// Leaves out all locations of an atom but the one with the highest occupancy, of equal ones the first; and where different residues
/// stand at one place of a chain, all but the likeliest of them. Gives how many records were left out, or a fault and its line.
pub fn choose(records: &mut Vec<Record>) -> Result<usize, (usize, Fault)> {
    let before = records.len();
    let mut best: BTreeMap<Residue, (f64, [u8; 4])> = BTreeMap::new();
    for record in records.iter().filter(|record| record.is_alternate()) {
        let found = best.entry(residue(record)).or_insert((record.occupancy, record.names.residue));
        if record.occupancy > found.0 {
            *found = (record.occupancy, record.names.residue);
        }
    }
    if best.is_empty() {
        return Ok(0);
    }
    let is_of_another = |record: &Record| {
        record.is_alternate()
            && best.get(&residue(record)).is_some_and(|(_, name)| *name != record.names.residue)
    };
    records.retain(|record| !is_of_another(record));

    let places = places(records)?;
    let mut number = 0;
    records.retain(|record| {
        number += 1;
        places.get(&key(record)).is_none_or(|place| place.best == number - 1)
    });
    Ok(before - records.len())
}

/// Chain, number and insertion code, and the segment, which some programs have in place of the chain.
type Residue = ([u8; 6], [u8; 4]);

fn residue(record: &Record) -> Residue {
    (record.place, record.segment)
}

type Key = (Residue, [u8; 4], [u8; 4]);

fn key(record: &Record) -> Key {
    (residue(record), record.names.residue, record.names.atom)
}

/// The locations of one atom.
struct Place {
    /// Letters, and lines.
    seen: Vec<(u8, usize)>,
    /// Number of the record with the highest occupancy.
    best: usize,
}

/// The atoms with more than one location, or with a letter.
fn places(records: &[Record]) -> Result<BTreeMap<Key, Place>, (usize, Fault)> {
    let mut places: BTreeMap<Key, Place> = BTreeMap::new();
    for record in records.iter().filter(|record| record.is_alternate()) {
        places.insert(key(record), Place { seen: Vec::new(), best: usize::MAX });
    }
    for (number, record) in records.iter().enumerate() {
        let Some(place) = places.get_mut(&key(record)) else { continue };
        if let Some((_, first)) = place.seen.iter().find(|(location, _)| *location == record.location) {
            let (name, residue) = (text(&record.names.atom), text(&record.names.residue));
            let location = char::from(record.location);
            return Err((record.line, Fault::Twice { name, residue, location, first: *first }));
        }
        place.seen.push((record.location, record.line));
        if records.get(place.best).is_none_or(|best| record.occupancy > best.occupancy) {
            place.best = number;
        }
    }
    Ok(places)
}
