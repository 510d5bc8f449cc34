//! What differs between two parts of one PE: by name, not by its place among their bytes.

use std::fmt::Debug;

use super::part::{Part, SavedCollection, SavedObject, SavedRoot};
use talisman_pup::{Packed, Pup};

/// Characters of a value that are shown.
const SHOWN_MAX: usize = 300;

/// A piece of a part.
struct Piece {
    name: String,
    packed: Packed,
    shown: String,
}

/// The first piece in which two parts of a PE differ, as they were packed for those that go on from them; none if there is none. What is
/// measured of objects differs each time: where it is (`is_measured`), it is looked past. The part itself is where that is written down, and
/// nobody sees it before all go on from the part.
pub(crate) fn difference(before: &Packed, now: &Packed, is_measured: bool) -> Option<String> {
    if before == now {
        return None;
    }
    let read = |part: &Packed| part.clone().into_value::<Vec<Part>>();
    let (before, now) = match (read(before), read(now)) {
        (Ok(before), Ok(now)) => (before, now),
        (Err(why), _) | (_, Err(why)) => return Some(format!("it cannot be read: {why}")),
    };
    let pieces =
        |parts: Vec<Part>| parts.into_iter().flat_map(|part| pieces(part, is_measured)).collect::<Vec<_>>();
    let (before, now) = (pieces(before), pieces(now));
    let nth = (0..before.len().max(now.len())).find(|nth| match (before.get(*nth), now.get(*nth)) {
        (Some(before), Some(now)) => before.name != now.name || before.packed != now.packed,
        _ => true,
    });
    match nth {
        Some(nth) => Some(told(before.get(nth), now.get(nth))),
        None if is_measured => None,
        None => Some("all pieces are the same, and they are packed otherwise".into()),
    }
}

fn told(before: Option<&Piece>, now: Option<&Piece>) -> String {
    match (before, now) {
        (Some(before), Some(now)) if before.name == now.name => {
            format!("{} was {}, and is now {}", before.name, before.shown, now.shown)
        }
        _ => {
            let of = |piece: Option<&Piece>| {
                piece.map_or("nothing".into(), |piece| format!("{} {}", piece.name, piece.shown))
            };
            format!("where there was {}, there is {}", of(before), of(now))
        }
    }
}

fn pieces(part: Part, is_measured: bool) -> Vec<Piece> {
    let Part {
        pe,
        steps,
        shared,
        collections,
        gone,
        gone_shared,
        doomed,
        too_late,
        roots,
        sections,
        objects,
        away,
        casts,
        births,
        messages,
        requests,
        timers,
        when_idle,
        when_quiet,
        names,
        said,
        newborn,
    } = part;
    let mut all = vec![piece("its PE", &pe), piece("steps", &steps)];
    all.extend(shared.iter().map(|(id, value)| piece(format!("the shared value {id:x}"), value)));
    collections.iter().for_each(|collection| of_collection(collection, &mut all));
    all.extend([piece("gone", &gone), piece("gone_shared", &gone_shared)]);
    all.extend([piece("doomed", &doomed), piece("too_late", &too_late)]);
    roots.iter().for_each(|root| of_root(root, &mut all));
    all.extend(sections.iter().map(|section| piece(format!("section {:?}", section.id), section)));
    objects.into_iter().for_each(|object| of_object(object, is_measured, &mut all));
    all.push(piece("away", &away));
    all.extend(casts.iter().map(|(of, number, cast)| piece(format!("broadcast {number} of {of:?}"), cast)));
    all.extend(births.iter().map(|birth| piece("births", birth)));
    match messages.each() {
        Ok(each) => all.extend(each.iter().map(|message| piece("messages", message))),
        Err(why) => all.push(piece("messages that cannot be read", &why.to_string())),
    }
    all.extend(requests.iter().map(|request| piece("requests", request)));
    all.extend([piece("timers", &timers), piece("when_idle", &when_idle), piece("when_quiet", &when_quiet)]);
    all.extend([piece("names", &names), piece("said", &said), piece("newborn", &newborn)]);
    all
}

fn of_collection(collection: &SavedCollection, all: &mut Vec<Piece>) {
    let SavedCollection { of, passed, closed, sent, made, orders, unborn } = collection;
    let named = |what: &str| format!("{what} of collection {:?}", of.id);
    all.push(piece(named("description"), of));
    all.push(piece(named("passed"), passed));
    all.push(piece(named("insertion"), &(*closed, *sent, *made)));
    all.push(piece(named("orders"), orders));
    all.push(piece(named("unborn"), unborn));
}

fn of_root(root: &SavedRoot, all: &mut Vec<Piece>) {
    let SavedRoot { id, alive, next, open, numbered, held, counts, heard, late } = root;
    let named = |what: &str| format!("{what} of the root of collection {id:?}");
    all.push(piece(named("alive"), alive));
    all.push(piece(named("next"), next));
    all.push(piece(named("open"), open));
    all.push(piece(named("broadcasts"), &(*numbered, held.clone())));
    all.push(piece(named("counts"), &(*counts, *heard)));
    all.push(piece(named("late"), late));
}

fn of_object(object: SavedObject, is_measured: bool, all: &mut Vec<Piece>) {
    let SavedObject { id, header, given, destination, state } = object;
    let header = if is_measured { header.without_measures() } else { header };
    let named = |what: &str| format!("{what} of object {id:?}");
    all.push(piece(named("header"), &header));
    all.push(piece(named("broadcasts"), &given));
    all.push(piece(named("destination"), &destination));
    all.push(piece(named("state"), &state));
}

fn piece(name: impl Into<String>, value: &(impl Pup + Debug)) -> Piece {
    let mut shown = format!("{value:?}");
    if let Some((at, _)) = shown.char_indices().nth(SHOWN_MAX) {
        shown.truncate(at);
        shown.push('…');
    }
    Piece { name: name.into(), packed: Packed::of(value), shown }
}
