//! A message as bytes between nodes.
//!
//! One tag byte, then for a message to an object: its name, whether it was forwarded, its options, and the packed
//! [`ObjectMessage`]; for a PE: the packed [`PeMessage`]. Format: `docs/pup-format.md`.

use std::ptr::NonNull;

use bytes::Bytes;

use crate::ids::{ObjId, PeId};
use crate::message::control::{ObjectMessage, PeMessage};
use crate::message::envelope::{Birth, Body, Envelope, Extra};
use crate::pe::Pe;
use crate::pe::send::pack_in_place;
use crate::pup::{Fault, Packer, Pup, PupError, Purpose, Unpacker};
use crate::route::Route;
use crate::scheduler::priority::Priority;

const TO_OBJECT: u8 = 1;
const TO_PE: u8 = 2;

/// [`Extra`] as it travels.
#[derive(Pup)]
struct Options {
    reply: Option<Route>,
    priority: Option<(u32, Vec<u64>)>,
    expedited: bool,
    order: Option<(ObjId, u32)>,
    birth: Option<Birth>,
}

/// Packs a message and gives up its envelope.
pub(crate) fn pack(pe: &Pe, mut envelope: NonNull<Envelope>) -> Bytes {
    // SAFETY: the sender owns the envelope.
    let message = unsafe { envelope.as_mut() };
    match message.body {
        Body::Invoke(entry) => pack_in_place(message, entry),
        Body::Create(init) => crate::pe::send::pack_create_in_place(message, init),
        Body::Object | Body::Pe | Body::Empty => {}
    }
    let mut p = Packer::new(Purpose::Message);
    if let Some(control) = message.pe_message() {
        TO_PE.pack(&mut p);
        message.from.pack(&mut p);
        control.pack(&mut p);
    } else if let Some(packed) = message.object_message() {
        TO_OBJECT.pack(&mut p);
        message.from.pack(&mut p);
        message.to().pack(&mut p);
        message.forwarded.pack(&mut p);
        message.extra.as_deref().map(options).pack(&mut p);
        packed.pack(&mut p);
    }
    pe.discard(envelope);
    p.finish().into()
}

/// Reads a message from bytes.
///
/// # Errors
/// When they are not those of one.
pub(crate) fn unpack(pe: &Pe, frame: &[u8]) -> Result<NonNull<Envelope>, PupError> {
    let mut u = Unpacker::new(frame, Purpose::Message);
    let tag = u8::unpack(&mut u)?;
    let from = PeId::unpack(&mut u)?;
    let (to, forwarded, extra, body) = match tag {
        TO_PE => (None, false, None, Read::Pe(PeMessage::unpack(&mut u)?)),
        TO_OBJECT => {
            let to = ObjId::unpack(&mut u)?;
            let forwarded = bool::unpack(&mut u)?;
            let extra = Option::<Options>::unpack(&mut u)?.map(|options| extra(options, &u)).transpose()?;
            (Some(to), forwarded, extra, Read::Object(ObjectMessage::unpack(&mut u)?))
        }
        tag => return Err(u.fault(Fault::Tag { tag: tag.into(), of: "message" })),
    };
    u.finish()?;
    let mut envelope = pe.pool.take();
    // SAFETY: just taken from the pool.
    let message = unsafe { envelope.as_mut() };
    message.from = from;
    message.forwarded = forwarded;
    message.extra = extra.map(Box::new);
    to.into_iter().for_each(|to| message.address(to));
    match body {
        Read::Pe(control) => message.put_pe_message(Box::new(control)),
        Read::Object(packed) => message.put_object_message(Box::new(packed)),
    }
    Ok(envelope)
}

enum Read {
    Pe(PeMessage),
    Object(ObjectMessage),
}

fn options(extra: &Extra) -> Options {
    let parts = |priority: &Priority| {
        let (len, words) = priority.to_parts();
        (len, words.to_vec())
    };
    Options {
        reply: extra.reply.clone(),
        priority: extra.priority.as_ref().map(parts),
        expedited: extra.expedited,
        order: extra.order,
        birth: extra.birth.clone(),
    }
}

fn extra(options: Options, u: &Unpacker<'_>) -> Result<Extra, PupError> {
    let priority = options.priority.map(|(len, words)| Priority::from_parts(len, &words));
    Ok(Extra {
        reply: options.reply,
        priority: priority.transpose().map_err(|error| u.invalid(error))?,
        expedited: options.expedited,
        order: options.order,
        birth: options.birth,
    })
}
