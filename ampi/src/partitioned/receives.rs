//! Receives in parts.

use std::ops::Range;

use talisman_pup::Pup;

use super::{Partitioned, Parts, PartsError, Source};
use crate::engine::{Action, Actions, Area, Buffer, Engine, Offer, Owner, Pattern, Status, Token, Truncated};

/// A receive in parts.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub(super) struct Receiving {
    /// From whom; nobody of `MPI_PROC_NULL`.
    from: Option<Source>,
    parts: Parts,
    /// The number of its scratch memory, if it needs some.
    scratch: u32,
    /// The sender's part of it, once that has come.
    theirs: Option<Offer>,
    /// Which parts of the sender are here, since it was started.
    here: Vec<bool>,
    /// How many of them are not.
    missing: u32,
    pub(super) is_active: bool,
    pub(super) is_freed: bool,
}

impl Receiving {
    /// Bytes of each of the sender's parts.
    fn their_each(offer: &Offer) -> u64 {
        offer.head.bytes.checked_div(u64::from(offer.parts)).unwrap_or_default()
    }

    /// Whether the sender's parts go to the program's memory as they come.
    fn is_direct(&self, offer: &Offer) -> bool {
        let fits = self.parts.bytes() == Some(offer.head.bytes);
        fits && (self.parts.size == 0 || Self::their_each(offer).is_multiple_of(self.parts.size))
    }

    /// Where a part of the sender goes.
    fn place(&self, offer: &Offer, part: u32) -> Buffer {
        let each = Self::their_each(offer);
        let first = u64::from(part) * each;
        if self.is_direct(offer) {
            let values = |bytes: u64| bytes.checked_div(self.parts.size).unwrap_or_default();
            return self.parts.values(values(first), values(each));
        }
        Buffer { area: Area::Scratch(self.scratch), ..Buffer::of_bytes(first, each) }
    }

    /// The bytes of an own part, as far as the sender has as many.
    fn bytes_of(&self, offer: &Offer, part: u32) -> Range<u64> {
        let each = self.parts.each();
        let first = u64::from(part) * each;
        first.min(offer.head.bytes)..(first + each).min(offer.head.bytes)
    }

    /// Whether an own part is here.
    fn is_here(&self, offer: &Offer, part: u32) -> bool {
        let bytes = self.bytes_of(offer, part);
        if bytes.is_empty() {
            return self.missing == 0;
        }
        let each = Self::their_each(offer);
        let theirs = (bytes.start / each) as usize..bytes.end.div_ceil(each) as usize;
        self.here.get(theirs).is_some_and(|here| here.iter().all(|here| *here))
    }

    /// A part of the sender has come to scratch memory: own parts that are whole by it go to their places.
    fn copy_whole(&self, offer: &Offer, their_part: u32, out: &mut Actions) {
        let (each, own) = (Self::their_each(offer), self.parts.each());
        if self.is_direct(offer) || each == 0 || own == 0 {
            return;
        }
        let first = u64::from(their_part) * each;
        let last = (first + each).div_ceil(own).min(u64::from(self.parts.parts));
        for part in (first / own) as u32..last as u32 {
            if self.is_here(offer, part) {
                let bytes = self.bytes_of(offer, part);
                let count = (bytes.end - bytes.start) / self.parts.size;
                let from = Buffer::of_bytes(bytes.start, count * self.parts.size);
                let into = self.parts.values(u64::from(part) * self.parts.count, count);
                out.push(Action::Copy { from: Buffer { area: Area::Scratch(self.scratch), ..from }, into });
            }
        }
    }

    fn status(&self) -> Status {
        let (Some(from), Some(offer)) = (self.from, self.theirs) else { return Status::EMPTY };
        let (message, buffer) = (offer.head.bytes, self.parts.bytes().unwrap_or(u64::MAX));
        let truncated = (message > buffer).then_some(Truncated { message, buffer });
        let Source { rank, tag, .. } = from;
        Status { source: Some(rank), tag: Some(tag), bytes: message, cancelled: false, truncated }
    }
}

impl Partitioned {
    pub(crate) fn make_receive(
        &mut self,
        request: Token,
        from: Option<Source>,
        (parts, scratch): (Parts, u32),
        engine: &mut Engine,
        out: &mut Actions,
    ) {
        let (here, missing, is_active, is_freed) = (Vec::new(), 0, false, false);
        let receive = Receiving { from, parts, scratch, theirs: None, here, missing, is_active, is_freed };
        self.receives.insert(request, receive);
        let Some(from) = from else { return };
        match pop(&mut self.offers, from) {
            Some(offer) => self.matched(request, offer, engine, out),
            None => self.receives_without.entry(from).or_default().push_back(request),
        }
    }

    /// A peer has made a send in parts.
    pub(super) fn offered(&mut self, offer: Offer, engine: &mut Engine, out: &mut Actions) {
        let head = offer.head;
        let from = Source { context: head.context, rank: head.source, tag: head.tag };
        match pop(&mut self.receives_without, from) {
            Some(request) => self.matched(request, offer, engine, out),
            None => self.offers.entry(from).or_default().push_back(offer),
        }
    }

    /// A receive and a send belong together. The receive may be freed, or started already.
    fn matched(&mut self, request: Token, offer: Offer, engine: &mut Engine, out: &mut Actions) {
        let Some(receive) = self.receives.get_mut(&request) else { return };
        receive.theirs = Some(offer);
        if receive.is_active {
            self.post(request, engine, out);
        }
    }

    pub(super) fn start_receive(&mut self, request: Token, engine: &mut Engine, out: &mut Actions) {
        let Some(receive) = self.receives.get_mut(&request) else { return };
        if receive.from.is_none() {
            return engine.finish(request, Status::EMPTY, out);
        }
        receive.is_active = true;
        self.post(request, engine, out);
    }

    /// Receives the sender's parts, if it is known which these are.
    fn post(&mut self, request: Token, engine: &mut Engine, out: &mut Actions) {
        let Some(receive) = self.receives.get_mut(&request) else { return };
        let Some(offer) = receive.theirs else { return };
        receive.here = vec![false; offer.parts as usize];
        receive.missing = offer.parts;
        if !receive.is_direct(&offer) {
            out.push(Action::Allocate { scratch: receive.scratch, bytes: offer.head.bytes });
        }
        for part in 0..offer.parts {
            let tag = Some(offer.first.wrapping_add_unsigned(part));
            let pattern = Pattern { context: offer.head.context, source: Some(offer.head.source), tag };
            let number = self.under_way.insert((request, part));
            engine.receive(pattern, receive.place(&offer, part), Owner::Part(number), out);
        }
        self.end_receive(request, engine, out);
    }

    /// A part of the sender is here.
    pub(super) fn has_come(&mut self, request: Token, part: u32, engine: &mut Engine, out: &mut Actions) {
        let Some(receive) = self.receives.get_mut(&request) else { return };
        let Some(offer) = receive.theirs else { return };
        if let Some(here) = receive.here.get_mut(part as usize) {
            *here = true;
            receive.missing -= 1;
        }
        receive.copy_whole(&offer, part, out);
        self.end_receive(request, engine, out);
    }

    fn end_receive(&mut self, request: Token, engine: &mut Engine, out: &mut Actions) {
        let Some(receive) = self.receives.get_mut(&request).filter(|receive| receive.missing == 0) else {
            return;
        };
        receive.is_active = false;
        if receive.theirs.is_some_and(|offer| !receive.is_direct(&offer)) {
            out.push(Action::Free { scratch: receive.scratch });
        }
        engine.finish(request, receive.status(), out);
        self.forget_freed(request);
    }

    /// Whether a part of a receive is here (`MPI_Parrived`). All are if it is not active.
    ///
    /// # Errors
    /// If the request is no receive in parts, or has no such part.
    pub fn has_arrived(&self, request: Token, part: u32) -> Result<bool, PartsError> {
        let receive = self.receives.get(&request).ok_or(PartsError::OtherRequest)?;
        if part >= receive.parts.parts {
            return Err(PartsError::NoPart(part));
        }
        Ok(match receive.theirs {
            _ if !receive.is_active => true,
            Some(offer) => receive.is_here(&offer, part),
            None => false,
        })
    }
}

/// The first of a queue. An empty one goes.
fn pop<T>(
    queues: &mut std::collections::BTreeMap<Source, std::collections::VecDeque<T>>,
    of: Source,
) -> Option<T> {
    let queue = queues.get_mut(&of)?;
    let first = queue.pop_front();
    if queue.is_empty() {
        queues.remove(&of);
    }
    first
}
