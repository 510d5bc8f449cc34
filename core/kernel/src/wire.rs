//! A message as bytes between nodes, and large slices beside them.
//!
//! The commonest message, an entry of one object without options, has a compact form, which is written and read without
//! any allocation. Every other one is a tag byte and its parts. Format: `docs/src/reference/pup-format.md`.

pub mod check;
mod compact;

use compact::write_lent;
pub use compact::{ShortStart, read_known, read_known_args, write_call};

use std::ptr::NonNull;

use crate::entry_info::EntryInfo;
use crate::message::cell::Words;
use crate::message::control::ObjectMessage;
use crate::message::envelope::{Birth, Body, Envelope, Extra};
use crate::message::service::{self, PeMessage};
use crate::pe::Pe;
use crate::pe::send::pack_in_place;
use crate::refusal::Call;
use crate::registry::ChareType;
use crate::route::Route;
use crate::witness::{self, Shadow, Why};
use talisman_base::ids::{ObjId, PeId};
use talisman_base::limits::SEGMENTS_MAX;
use talisman_pup::{
    Fault, Lender, Packed, Packer, Pup, PupError, Purpose, SEGMENT_MIN, Segment, Unpacker, pack_away,
};
use talisman_sched::priority::Priority;

/// To an object: its name, whether it was forwarded, its options, and the packed [`ObjectMessage`].
const TO_OBJECT: u8 = 1;
/// To a PE: its sender, the service, and its packed message.
const TO_PE: u8 = 2;
/// To an object, in the compact form.
pub const COMPACT: u8 = 3;
/// The same, forwarded.
const COMPACT_FORWARDED: u8 = 4;
/// In front of any of these, where there is a witness: the message's number. Elsewhere it is no tag.
const SHADOWED: u8 = 5;
/// Alone: all else that would be in the head is the first segment.
pub const BESIDE: u8 = 6;

/// A head of so many bytes travels beside itself, as a segment: it is not copied then, and may be as large as memory.
pub const BESIDE_MIN: usize = 256 << 10;

/// The variants of [`ObjectMessage`] that have arguments, as it packs them.
const INVOKE: u8 = 0;
const CREATE: u8 = 1;

/// More than this is not kept for the next message.
const SCRATCH_MAX: usize = 64 << 10;

/// What came is no message, or none that this PE can get.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes are not those of a message.
    #[error("a message to PE {to} cannot be read: {error} (it is {what})")]
    Unreadable {
        /// Who got it.
        to: PeId,
        /// The entry and the object that it is for, and who has sent it, as far as that can be read.
        what: String,
        /// What is wrong with the bytes.
        error: PupError,
    },
    /// It can be read, and is not of this job.
    #[error("a message from PE {from} to PE {to} is none of this job: {what}")]
    Wrong {
        /// Who sent it, as it says.
        from: PeId,
        /// Who got it.
        to: PeId,
        /// What is wrong.
        what: String,
    },
}

/// [`Extra`] as it travels.
#[derive(Pup)]
struct Options {
    reply: Option<Route>,
    priority: Option<(u32, Vec<u64>)>,
    expedited: bool,
    order: Option<(ObjId, u32)>,
    birth: Option<Birth>,
}

/// Packs a message, gives up its envelope, and hands on the bytes, which are the PE's, and the slices beside them, which
/// are the message's own. None if no receiver could read it: the job has ended then.
pub fn pack<R>(
    pe: &Pe,
    envelope: NonNull<Envelope>,
    send: impl FnOnce(&[u8], Vec<Segment>) -> R,
) -> Option<R> {
    let mut scratch = pe.scratch.take();
    scratch.clear();
    let (packer, segments) = write(pe, envelope, Packer::over(Purpose::Message, scratch));
    if packer.refusal().is_some() {
        // The job has ended over it.
        return None;
    }
    let head = packer.finish();
    if head.len() >= BESIDE_MIN {
        return Some(send(&[BESIDE], beside(head, segments)));
    }
    let result = send(&head, segments);
    if head.capacity() <= SCRATCH_MAX {
        pe.scratch.set(head);
    }
    Some(result)
}

/// [`pack`] for an entry's message that is in no envelope: its arguments are in these words, and given up. None if it has to be packed as
/// others are: nothing has been done then. The bytes are in two parts, as of [`pack_lent`].
#[inline]
pub fn pack_call<R>(
    pe: &Pe,
    (to, entry): (ObjId, &EntryInfo),
    args: &mut Words,
    is_apart: bool,
    send: impl FnOnce([&[u8]; 2], Vec<Segment>) -> R,
) -> Option<R> {
    // SAFETY: the caller's words are those of a message to this entry.
    let result = pack_lent(pe, (to, entry), |l| unsafe { (entry.args.lend)(args, l) }, is_apart, send)?;
    // They may send something themselves when they are dropped, as the packer is given back by now.
    // SAFETY: as above, and dropped once.
    unsafe { (entry.args.drop)(args) };
    Some(result)
}

/// The same of arguments that `lend` packs as those of the entry, which stay where they are. The slice with which they end is the second
/// part, if that `is_apart` and the slice is worth it: it is not copied then.
#[inline]
pub fn pack_lent<'a, R>(
    pe: &Pe,
    call: (ObjId, &EntryInfo),
    lend: impl FnOnce(&mut Lender<'a>),
    is_apart: bool,
    send: impl FnOnce([&[u8]; 2], Vec<Segment>) -> R,
) -> Option<R> {
    let mut packer = pe.packer.try_borrow_mut().ok()?;
    let (start, end) = write_lent(&mut packer, pe.id, call, is_apart, lend)?;
    let result = match start.len() + end.len() < BESIDE_MIN {
        true => send([start, end], Vec::new()),
        false => {
            let mut head = packer.take();
            head.extend_from_slice(end);
            send([&[BESIDE], &[]], beside(head, Vec::new()))
        }
    };
    packer.tidy();
    Some(result)
}

fn beside(head: Vec<u8>, segments: Vec<Segment>) -> Vec<Segment> {
    let mut all = Vec::with_capacity(1 + segments.len());
    all.push(Segment::of_vec(head));
    all.extend(segments);
    all
}

/// Packs a message as for another node, to be kept.
pub fn pack_to_keep(pe: &Pe, envelope: NonNull<Envelope>) -> Packed {
    write(pe, envelope, Packer::new(Purpose::Message)).into()
}

/// The same of a message that stays as it is.
pub fn copy_to_keep(message: &Envelope) -> Packed {
    let mut lender = Lender::new(Packer::new(Purpose::Message));
    lend_to_keep(message, &mut lender);
    lender.finish().into()
}

/// The same into what is being packed, as [`Packed`] would be, with large slices that `copy` copies, if it can: it is given the bytes and
/// how they are to be aligned.
pub fn lend_kept<'a>(
    message: &'a Envelope,
    l: &mut Lender<'a>,
    copy: impl FnMut(&[u8], usize) -> Option<Segment>,
) {
    l.packed_in(|l| lend_to_keep(message, l), copy);
}

fn lend_to_keep<'a>(message: &'a Envelope, l: &mut Lender<'a>) {
    write_shadow(message, l.packer());
    match message.body {
        Body::Invoke(entry) => {
            lend_start(message, l);
            // SAFETY: the body says that the words hold this entry's arguments.
            lend_call(INVOKE, entry.number, l, |l| unsafe { (entry.args.lend)(&message.words, l) });
        }
        Body::Create(init) => {
            lend_start(message, l);
            // SAFETY: as above, of this `#[init]`.
            lend_call(CREATE, init.number, l, |l| unsafe { (init.args.lend)(&message.words, l) });
        }
        Body::Object => {
            lend_start(message, l);
            message.object_message().into_iter().for_each(|packed| packed.lend(l));
        }
        Body::Pe => {
            TO_PE.pack(l.packer());
            message.from.pack(l.packer());
            message.pe_message().into_iter().for_each(|control| control.lend(l));
        }
        Body::Empty => {}
    }
}

/// What stands before the [`ObjectMessage`].
fn lend_start(message: &Envelope, l: &mut Lender<'_>) {
    let p = l.packer();
    TO_OBJECT.pack(p);
    message.from.pack(p);
    message.to().pack(p);
    message.forwarded.pack(p);
    message.send_options().spelled_out().map(|extra| options(*extra)).pack(p);
}

/// What an [`ObjectMessage`] packs with arguments that are not packed yet.
fn lend_call<'a>(tag: u8, number: u16, l: &mut Lender<'a>, args: impl FnOnce(&mut Lender<'a>)) {
    tag.pack(l.packer());
    number.pack(l.packer());
    l.packed(args);
}

/// A message for a PE in the same form.
pub fn for_pe(from: PeId, message: &dyn PeMessage) -> Packed {
    let mut lender = Lender::new(Packer::new(Purpose::Message));
    TO_PE.pack(lender.packer());
    from.pack(lender.packer());
    message.lend(&mut lender);
    lender.finish().into()
}

fn write(pe: &Pe, mut envelope: NonNull<Envelope>, packer: Packer) -> (Packer, Vec<Segment>) {
    // SAFETY: the sender owns the envelope.
    let message = unsafe { envelope.as_mut() };
    let (packer, segments) = match message.body {
        Body::Invoke(entry) if message.is_plain() => compact::write(pe, message, entry, packer),
        _ => write_whole(pe, message, packer),
    };
    pe.release(envelope);
    (packer, segments)
}

/// What a link does not take, for it has too many slices beside it, is refused: `refuse` says what it is.
fn refuse_too_many(
    (mut packer, segments): (Packer, Vec<Segment>),
    refuse: impl FnOnce(&PupError),
) -> (Packer, Vec<Segment>) {
    if segments.len() > SEGMENTS_MAX && packer.refusal().is_none() {
        let why = too_many(segments.len(), SEGMENTS_MAX);
        refuse(&why);
        packer.refuse(why);
    }
    (packer, segments)
}

fn too_many(segments: usize, most: usize) -> PupError {
    let what = format!(
        "{segments} slices of {SEGMENT_MIN} bytes and more, where a link takes {most} in one message"
    );
    PupError::new(0, Fault::Invalid(what))
}

/// The number of a message that is watched, in front of it.
#[inline(always)]
fn write_shadow(message: &Envelope, p: &mut Packer) {
    if message.shadow != Shadow::NONE {
        SHADOWED.pack(p);
        message.shadow.number().pack(p);
    }
}

fn write_whole(pe: &Pe, message: &mut Envelope, mut p: Packer) -> (Packer, Vec<Segment>) {
    write_shadow(message, &mut p);
    pack_in_place(message);
    if let Some(control) = message.take_pe_message() {
        TO_PE.pack(&mut p);
        message.from.pack(&mut p);
        let about = control.about();
        let refuse = |why: &PupError| pe.refuse_request(message.from, about, why);
        let (packer, segments) = control.pack_away(p);
        packer.refusal().into_iter().for_each(refuse);
        return refuse_too_many((packer, segments), refuse);
    }
    let Some(packed) = message.take_object_message() else { return (p, Vec::new()) };
    let about = Call::of(&packed);
    let refuse = |why: &PupError| pe.refuse_call(message.from, message.to(), about, why);
    packed.packed().and_then(Packed::refusal).into_iter().for_each(refuse);
    TO_OBJECT.pack(&mut p);
    message.from.pack(&mut p);
    message.to().pack(&mut p);
    message.forwarded.pack(&mut p);
    let options = message.take_send_options().spelled_out().map(|extra| options(*extra));
    refuse_too_many(pack_away((options, packed), p), |why| {
        pe.refuse_call(message.from, message.to(), about, why)
    })
}

/// Reads a message from bytes and the slices beside them, and checks that it is one of this job.
///
/// # Errors
/// When it is not. Nothing has been let in then.
pub fn receive(pe: &Pe, head: &[u8], segments: Vec<Segment>) -> Result<NonNull<Envelope>, WireError> {
    checked(pe, read(pe, head, segments)?)
}

/// Reads a message of another PE of this node, which says what it likes.
///
/// # Errors
/// When it is none.
pub fn read_within_node(
    pe: &Pe,
    head: &[u8],
    segments: Vec<Segment>,
) -> Result<NonNull<Envelope>, WireError> {
    let mut envelope = read(pe, head, segments)?;
    // SAFETY: just made.
    unsafe { envelope.as_mut() }.unchecked = false;
    Ok(envelope)
}

/// Reads a message that was kept. Who sent it may be lost by now; it is this PE that sends it on.
///
/// # Errors
/// When it is none.
pub fn read_kept(pe: &Pe, kept: Packed, purpose: Purpose) -> Result<NonNull<Envelope>, WireError> {
    let (head, segments) = kept.into_parts();
    let read = unpack(pe, &mut Unpacker::with_segments(&head, purpose, segments));
    let mut envelope = read.map_err(|error| unreadable(pe, &head, error))?;
    // SAFETY: just made.
    let message = unsafe { envelope.as_mut() };
    message.from = pe.id;
    message.forwarded = false;
    Ok(envelope)
}

/// The object that a message is for which was kept, if it is for one.
pub fn kept_for(kept: &Packed) -> Option<ObjId> {
    let u = &mut Unpacker::new(kept.bytes(), Purpose::Message);
    let (tag, _) = unpack_tag(u).ok()?;
    let (_, to) = (tag == TO_OBJECT).then(|| <(PeId, ObjId)>::unpack(u))?.ok()?;
    Some(to)
}

/// What a message that was kept begins with.
pub fn beginning_of_kept(to: ObjId) -> Packed {
    Packed::of(&(TO_OBJECT, PeId::default(), to))
}

/// Reads a message for another PE of this node, which is to check it.
///
/// # Errors
/// When it is none.
pub fn read(pe: &Pe, head: &[u8], mut segments: Vec<Segment>) -> Result<NonNull<Envelope>, WireError> {
    if head == [BESIDE] && !segments.is_empty() {
        let head = segments.remove(0);
        return read_here(pe, head.bytes(), segments);
    }
    read_here(pe, head, segments)
}

fn read_here(pe: &Pe, head: &[u8], segments: Vec<Segment>) -> Result<NonNull<Envelope>, WireError> {
    let mut envelope = unpack(pe, &mut Unpacker::with_segments(head, Purpose::Message, segments))
        .map_err(|error| unreadable(pe, head, error))?;
    // SAFETY: just made.
    unsafe { envelope.as_mut() }.unchecked = true;
    Ok(envelope)
}

#[cold]
fn unreadable(pe: &Pe, head: &[u8], error: PupError) -> WireError {
    let what = about(pe, &mut Unpacker::new(head, Purpose::Message));
    WireError::Unreadable { to: pe.id, what: what.unwrap_or_else(|_| "of an unknown kind".into()), error }
}

/// What a message is for, and who has sent it, for people.
pub fn describe(pe: &Pe, head: &[u8]) -> String {
    let what = about(pe, &mut Unpacker::new(head, Purpose::Message));
    what.unwrap_or_else(|_| "a message of the runtime".into())
}

/// What a message is for, and who has sent it, as far as its beginning says.
fn about(pe: &Pe, u: &mut Unpacker<'_>) -> Result<String, PupError> {
    let (tag, _) = unpack_tag(u)?;
    let (from, what) = match tag {
        COMPACT | COMPACT_FORWARDED => {
            let (from, to, number) = compact::read_start(u)?;
            (from, label(pe, to, |known| known.entries.get(number as usize).map(|entry| entry.name)))
        }
        TO_OBJECT => {
            let (from, to, _) = <(PeId, ObjId, bool)>::unpack(u)?;
            Option::<Options>::unpack(u)?;
            let (what, number) = <(u8, u16)>::unpack(u)?;
            let name = |known: &ChareType| match what {
                INVOKE => known.entries.get(number as usize).map(|entry| entry.name),
                CREATE => known.inits.get(number as usize).map(|init| init.name),
                _ => None,
            };
            (from, label(pe, to, name))
        }
        _ => (PeId::unpack(u)?, "a message of the runtime".into()),
    };
    Ok(format!("{what}, sent by PE {from}"))
}

fn label(pe: &Pe, to: ObjId, name: impl Fn(&ChareType) -> Option<&'static str>) -> String {
    let known = pe.collections.get(to.collection);
    match known.and_then(|known| name(known.chare)) {
        Some(name) => pe.label_of_named(to, name),
        None => pe.label_of(to),
    }
}

/// Checks that a message that was read is one of this job, for this PE.
///
/// # Errors
/// When it is not. It is given up then.
pub fn checked(pe: &Pe, mut envelope: NonNull<Envelope>) -> Result<NonNull<Envelope>, WireError> {
    // SAFETY: the caller owns the envelope.
    let message = unsafe { envelope.as_mut() };
    message.unchecked = false;
    let from = message.from;
    match check::check(pe, message) {
        Ok(()) => Ok(envelope),
        Err(what) => {
            pe.discard(envelope, Why::Refused);
            Err(WireError::Wrong { from, to: pe.id, what })
        }
    }
}

fn unpack(pe: &Pe, u: &mut Unpacker<'_>) -> Result<NonNull<Envelope>, PupError> {
    let (tag, shadow) = unpack_tag(u)?;
    let mut envelope = match tag {
        COMPACT => compact::read(pe, u, false),
        COMPACT_FORWARDED => compact::read(pe, u, true),
        TO_OBJECT => read_for_object(pe, u),
        TO_PE => read_for_pe(pe, u),
        tag => Err(u.fault(Fault::Tag { tag: tag.into(), of: "message" })),
    }?;
    // SAFETY: just made.
    unsafe { envelope.as_mut() }.shadow = shadow;
    Ok(envelope)
}

/// What the rest is, and the number of a message that is watched.
fn unpack_tag(u: &mut Unpacker<'_>) -> Result<(u8, Shadow), PupError> {
    match u8::unpack(u)? {
        SHADOWED if witness::is_present() => {
            let shadow = Shadow::of(u64::unpack(u)?);
            Ok((u8::unpack(u)?, shadow))
        }
        tag => Ok((tag, Shadow::NONE)),
    }
}

fn read_for_pe(pe: &Pe, u: &mut Unpacker<'_>) -> Result<NonNull<Envelope>, PupError> {
    let from = PeId::unpack(u)?;
    let control = service::read(u)?;
    u.finish()?;
    Ok(sent_from(from, pe.with_pe_message(control)))
}

fn read_for_object(pe: &Pe, u: &mut Unpacker<'_>) -> Result<NonNull<Envelope>, PupError> {
    let (from, to, forwarded) = <(PeId, ObjId, bool)>::unpack(u)?;
    let extra = Option::<Options>::unpack(u)?.map(|options| extra(options, u)).transpose()?;
    let packed = ObjectMessage::unpack(u)?;
    u.finish()?;
    let mut envelope = sent_from(from, pe.with_object_message(to, packed));
    // SAFETY: just made.
    let message = unsafe { envelope.as_mut() };
    message.forwarded = forwarded;
    message.extra = extra.map(Box::new);
    Ok(envelope)
}

fn sent_from(from: PeId, mut envelope: NonNull<Envelope>) -> NonNull<Envelope> {
    // SAFETY: the caller's, just made.
    unsafe { envelope.as_mut() }.from = from;
    envelope
}

fn options(extra: Extra) -> Options {
    let parts = |priority: Priority| {
        let (len, words) = priority.to_parts();
        (len, words.to_vec())
    };
    Options {
        reply: extra.reply,
        priority: extra.priority.map(parts),
        expedited: extra.expedited,
        order: extra.order,
        birth: extra.birth,
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
