//! Whether a message that could be read can be let in: what a PE relies on of messages, and its bytes do not prove.
//!
//! That PEs and collections are those of the job was seen to when their names were read (`ids::wire`). What is of a
//! collection that this PE has not heard of is checked where that is used: an entry that there is not, an element
//! that is elsewhere. Bounds are those of [`limits`](talisman_base::limits), where whoever sends something has them too.

use crate::message::envelope::{Birth, Envelope, Extra};
use crate::object::{ObjectHeader, flag};
use crate::order::Order;
use crate::pe::Pe;
use crate::registry::Registry;
use talisman_base::ids::{CollectionId, PeId};
use talisman_base::limits::{BORN, BROADCASTS, LOAD_MAX, MOVES, ORDERED, REDUCTIONS};

/// Nothing, or what is wrong.
pub type Checked = Result<(), String>;

/// Whether a PE can get this message from another node; if not, what is wrong.
pub(super) fn check(pe: &Pe, message: &Envelope) -> Checked {
    check_sender(pe, message.from)?;
    if let Some(control) = message.pe_message() {
        return control.check(pe);
    }
    check_collection(pe, message.to().collection)?;
    message.extra.as_deref().map_or(Ok(()), check_extra)
}

pub(super) fn check_sender(pe: &Pe, sender: PeId) -> Checked {
    below("the sender", sender, pe.pes())?;
    require(pe.view().is_there(sender), "its sender is lost")
}

/// It is a message that never leaves its node.
pub fn stays_in_node() -> Checked {
    Err("it is of a kind that stays within a node".into())
}

pub fn require(holds: bool, else_wrong: &str) -> Checked {
    if holds { Ok(()) } else { Err(else_wrong.into()) }
}

pub fn below(what: &str, number: u32, bound: u32) -> Checked {
    if number < bound { Ok(()) } else { Err(format!("{what}: {number} where there are at most {bound}")) }
}

/// Singletons are of a type that there is; other collections may come to be known.
pub fn check_collection(pe: &Pe, id: CollectionId) -> Checked {
    match id.is_singles() {
        true => below("the number of a chare type", id.serial, Registry::get().types().len() as u32),
        false => below("the creator of a collection", id.creator, pe.pes()),
    }
}

pub fn check_creator(pe: &Pe, id: CollectionId) -> Checked {
    require(!id.is_singles(), "the singletons of a type are no collection that is created")?;
    require(pe.view().acting_for(id.creator) != pe.id, "a collection in the name of the PE that got this")
}

pub fn check_root(pe: &Pe, id: CollectionId) -> Checked {
    require(pe.view().acting_for(id.creator) == pe.id, "a request to a collection whose root is elsewhere")
}

pub fn check_moves(pe: &Pe, id: CollectionId, moves: u32) -> Checked {
    check_collection(pe, id)?;
    MOVES.check(moves)
}

fn check_extra(extra: &Extra) -> Checked {
    if let Some((_, number)) = extra.order {
        ORDERED.check(number)?;
    }
    extra.birth.as_ref().map_or(Ok(()), check_birth)
}

fn check_birth(birth: &Birth) -> Checked {
    REDUCTIONS.check(birth.reduction)?;
    MOVES.check(birth.moves)?;
    BROADCASTS.check(birth.first)?;
    let given = birth.given.iter().rev().map(|(number, _)| *number);
    let in_turn = given.zip(1..).all(|(number, back)| birth.first.checked_sub(back) == Some(number));
    require(in_turn, "an element comes with other broadcasts than those before its first")?;
    birth.order.as_deref().map_or(Ok(()), check_order)
}

pub fn check_order(order: &Order) -> Checked {
    ORDERED.check(order.highest())
}

pub fn check_header(header: &ObjectHeader) -> Checked {
    let known = header.flags & !flag::TRAVELS == 0 && header.flags & flag::LIVE != 0;
    require(known, "an object arrives in a state that none leaves in")?;
    REDUCTIONS.check(header.reduction)?;
    BROADCASTS.check(header.broadcasts)?;
    MOVES.check(header.moves)?;
    BORN.check(header.born.count)?;
    require(header.load.unsigned_abs() < LOAD_MAX, "more load than a job has time")?;
    let measured = header.past.is_none_or(|past| past.is_sound());
    require(
        measured && header.given.is_none_or(|given| given.is_sound()),
        "a load that is no number of seconds",
    )?;
    let sections = header.sections.values().copied().max().unwrap_or(0);
    REDUCTIONS.check(sections)?;
    check_order(&header.order)
}
