//! Whether a message that could be read can be let in: what a PE relies on of messages, and its bytes do not prove.
//!
//! That PEs and collections are those of the job was seen to when their names were read (`ids::wire`). What is of a
//! collection that this PE has not heard of is checked where that is used: an entry that there is not, an element
//! that is elsewhere. Bounds are those of [`limits`](talisman_base::limits), where whoever sends something has them too.

use crate::balance::message::Balance;
use crate::checkpoint::message::Checkpoint;
use crate::message::control::PeMessage;
use crate::message::envelope::{Birth, Envelope, Extra};
use crate::object::{Travel, flag};
use crate::order::Order;
use crate::pe::Pe;
use crate::registry::Registry;
use talisman_base::ids::{CollectionId, PeId};
use talisman_base::limits::{
    AHEAD_MAX, BORN, BROADCASTS, INSERTIONS, LOAD_MAX, LOOKS, MOVES, MULTICASTS, ORDERED, REDUCTIONS, STEPS,
};

type Checked = Result<(), String>;

/// Whether a PE can get this message from another node; if not, what is wrong.
pub(super) fn check(pe: &Pe, message: &Envelope) -> Checked {
    check_sender(pe, message.from)?;
    if let Some(control) = message.pe_message() {
        return check_pe_message(pe, control);
    }
    check_collection(pe, message.to().collection)?;
    message.extra.as_deref().map_or(Ok(()), check_extra)
}

fn check_pe_message(pe: &Pe, message: &PeMessage) -> Checked {
    match message {
        PeMessage::NewCollection(of) => {
            check_creator(pe, of.id)?;
            let next = pe.collections.next_serial(of.id.creator);
            if pe.collections.get(of.id).is_some() || pe.collections.is_gone(of.id) {
                return Err(format!("the collection {:?} is created twice", of.id));
            }
            below("the number of a collection", of.id.serial, next.saturating_add(AHEAD_MAX))
        }
        PeMessage::CastRequest { collection, .. } => check_root(pe, *collection),
        PeMessage::Cast { number, .. } => BROADCASTS.check(*number),
        PeMessage::SectionRequest { section, .. } => require(
            pe.view().seat(section.creator) == pe.id,
            "a request to a section whose root is elsewhere",
        ),
        PeMessage::DropSection { section, .. } => {
            require(pe.view().seat(section.creator) == pe.id, "the end of a section whose root is elsewhere")
        }
        PeMessage::DropCollection(id) => check_creator(pe, *id),
        PeMessage::SectionCast { number, .. } => MULTICASTS.check(*number),
        PeMessage::Insert { to, .. } => {
            require(!to.collection.is_singles(), "an element is inserted among singletons")
        }
        PeMessage::AskAdmitted { collection, number, .. } => {
            INSERTIONS.check(*number)?;
            check_root(pe, *collection)
        }
        PeMessage::Unadmitted { number, .. } | PeMessage::Admitted { number, .. } => {
            INSERTIONS.check(*number)
        }
        PeMessage::DoneInserting(id) | PeMessage::Inserted { collection: id, .. } => check_root(pe, *id),
        PeMessage::Arrive { id, travel, .. } => check_collection(pe, id.collection).and(check_travel(travel)),
        PeMessage::Arrived { id, moves, broadcasts } => {
            BROADCASTS.check(*broadcasts)?;
            check_moves(pe, id.collection, *moves)
        }
        PeMessage::Missed { id, moves, number, .. } => {
            BROADCASTS.check(*number)?;
            check_moves(pe, id.collection, *moves)
        }
        PeMessage::Settled { id, broadcasts: number, .. } | PeMessage::MissedUnborn { id, number, .. } => {
            BROADCASTS.check(*number)?;
            check_collection(pe, id.collection)
        }
        PeMessage::Moved { id, moves, .. } => check_moves(pe, id.collection, *moves),
        PeMessage::Found { id, moves, .. } => check_moves(pe, id.collection, *moves),
        PeMessage::Gone { id, moves, order } => {
            check_moves(pe, id.collection, *moves)?;
            order.as_deref().map_or(Ok(()), check_order)
        }
        PeMessage::Places { objects } => {
            objects.iter().try_for_each(|(id, moves)| check_moves(pe, id.collection, *moves))
        }
        PeMessage::WasContributing { .. } => Ok(()),
        PeMessage::HasContributed { reductions, .. } => REDUCTIONS.check(*reductions),
        PeMessage::TakesPart { member, first: reduction, .. }
        | PeMessage::IsWaitedFor { member, reduction } => {
            check_collection(pe, member.collection)?;
            REDUCTIONS.check(*reduction)
        }
        PeMessage::PutOff { member, reduction, .. } => {
            check_root(pe, member.collection)?;
            REDUCTIONS.check(*reduction)
        }
        PeMessage::Reconciled { gone, .. } => check_collection(pe, gone.collection),
        PeMessage::Share { id, .. } => check_share(pe, *id),
        PeMessage::DropShared { id } => below("the creator of a shared value", (id >> 32) as u32, pe.pes()),
        PeMessage::WhenQuiet(_) => {
            require(pe.is_first(), "quiescence is asked for where it is not found out")
        }
        PeMessage::Balance(message) => check_balance(pe, message),
        PeMessage::Checkpoint(message) => check_checkpoint(pe, message),
        PeMessage::Part { .. }
        | PeMessage::CountInserted { .. }
        | PeMessage::Quiescence(_)
        | PeMessage::Function { .. }
        | PeMessage::Exit(_) => Ok(()),
        PeMessage::Adopt(_)
        | PeMessage::Contribution(_)
        | PeMessage::KeepShared { .. }
        | PeMessage::Shared { .. }
        | PeMessage::Restore { .. }
        | PeMessage::Newborn(_)
        | PeMessage::Reopen { .. }
        | PeMessage::GoOn => Err("it is of a kind that stays within a node".into()),
    }
}

fn check_sender(pe: &Pe, sender: PeId) -> Checked {
    below("the sender", sender, pe.pes())?;
    require(pe.view().is_there(sender), "its sender is lost")
}

fn check_balance(pe: &Pe, message: &Balance) -> Checked {
    require(pe.balancer.is_some(), "a message of load balancing, which is off")?;
    match message {
        Balance::Request { .. } => require(pe.is_first(), "balancing is asked for where it does not begin"),
        Balance::Look(number) | Balance::Looked { look: number, .. } => LOOKS.check(*number),
        Balance::Begin(step) | Balance::Note { step, .. } | Balance::Decided { step, .. } => {
            STEPS.check(*step)
        }
    }
}

fn check_checkpoint(pe: &Pe, message: &Checkpoint) -> Checked {
    require(pe.checkpoints.is_some(), "a message about a checkpoint, of which there are none")?;
    match message {
        Checkpoint::Request { .. }
        | Checkpoint::Safe { .. }
        | Checkpoint::NotSafe { .. }
        | Checkpoint::Leaving { .. } => {
            require(pe.is_first(), "a checkpoint is asked for where it does not begin")
        }
        _ => Ok(()),
    }
}

fn require(holds: bool, else_wrong: &str) -> Checked {
    if holds { Ok(()) } else { Err(else_wrong.into()) }
}

fn below(what: &str, number: u32, bound: u32) -> Checked {
    if number < bound { Ok(()) } else { Err(format!("{what}: {number} where there are at most {bound}")) }
}

/// Singletons are of a type that there is; other collections may come to be known.
fn check_collection(pe: &Pe, id: CollectionId) -> Checked {
    match id.is_singles() {
        true => below("the number of a chare type", id.serial, Registry::get().types().len() as u32),
        false => below("the creator of a collection", id.creator, pe.pes()),
    }
}

fn check_creator(pe: &Pe, id: CollectionId) -> Checked {
    require(!id.is_singles(), "the singletons of a type are no collection that is created")?;
    require(pe.view().seat(id.creator) != pe.id, "a collection in the name of the PE that got this")
}

fn check_root(pe: &Pe, id: CollectionId) -> Checked {
    require(pe.view().seat(id.creator) == pe.id, "a request to a collection whose root is elsewhere")
}

fn check_moves(pe: &Pe, id: CollectionId, moves: u32) -> Checked {
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

fn check_order(order: &Order) -> Checked {
    ORDERED.check(order.highest())
}

fn check_travel(travel: &Travel) -> Checked {
    let known = travel.flags & !flag::TRAVELS == 0 && travel.flags & flag::LIVE != 0;
    require(known, "an object arrives in a state that none leaves in")?;
    REDUCTIONS.check(travel.reduction)?;
    BROADCASTS.check(travel.broadcasts)?;
    MOVES.check(travel.moves)?;
    BORN.check(travel.born.count)?;
    require(travel.load.unsigned_abs() < LOAD_MAX, "more load than a job has time")?;
    let measured = travel.past.is_none_or(|past| past.is_sound());
    require(
        measured && travel.given.is_none_or(|given| given.is_sound()),
        "a load that is no number of seconds",
    )?;
    let sections = travel.sections.values().copied().max().unwrap_or(0);
    REDUCTIONS.check(sections)?;
    check_order(&travel.order)
}

/// Shared values go to the first PE of each node, down a tree from their creator's.
fn check_share(pe: &Pe, id: u64) -> Checked {
    let creator = (id >> 32) as u32;
    below("the creator of a shared value", creator, pe.pes())?;
    require(pe.id == pe.first_pe, "a shared value to another than the first PE of a node")?;
    let root = pe.node.shape.node_of(pe.view().seat(creator));
    require(root != pe.node.number, "a shared value comes back to its node")
}
