//! Sends in parts.

use talisman_pup::Pup;

use super::{Partitioned, Parts, PartsError};
use crate::engine::{Actions, Engine, Envelope, Mode, Owner, Status, Tag, Token};

/// A send in parts.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub(super) struct Sending {
    /// To whom; nobody of `MPI_PROC_NULL`.
    to: Option<Envelope>,
    parts: Parts,
    /// The tag of the first part.
    first: Tag,
    /// Which parts are ready, since it was started.
    ready: Vec<bool>,
    /// Parts whose bytes are still needed; none if it is not active.
    missing: Option<u32>,
    pub(super) is_freed: bool,
}

impl Sending {
    pub(super) fn is_active(&self) -> bool {
        self.missing.is_some()
    }

    /// Whether these parts may be ready now.
    fn check(&self, parts: impl Iterator<Item = u32>) -> Result<(), PartsError> {
        if !self.is_active() {
            return Err(PartsError::Inactive);
        }
        let mut ready = self.ready.clone();
        for part in parts {
            let is_ready = ready.get_mut(part as usize).ok_or(PartsError::NoPart(part))?;
            if std::mem::replace(is_ready, true) {
                return Err(PartsError::Ready(part));
            }
        }
        Ok(())
    }
}

impl Partitioned {
    pub(crate) fn make_send(
        &mut self,
        request: Token,
        to: Option<Envelope>,
        parts: Parts,
        engine: &mut Engine,
        out: &mut Actions,
    ) {
        let first = to.map_or(0, |to| self.take_tags(to, parts.parts));
        if let Some(to) = to {
            engine.offer(to, parts.each() * u64::from(parts.parts), (first, parts.parts), out);
        }
        let send = Sending { to, parts, first, ready: Vec::new(), missing: None, is_freed: false };
        self.sends.insert(request, send);
    }

    pub(super) fn start_send(&mut self, request: Token, engine: &mut Engine, out: &mut Actions) {
        let Some(send) = self.sends.get_mut(&request) else { return };
        send.ready = vec![false; send.parts.parts as usize];
        send.missing = Some(send.parts.parts);
        self.end_send(request, engine, out);
    }

    /// These parts may leave.
    pub(crate) fn ready(
        &mut self,
        request: Token,
        parts: impl Iterator<Item = u32> + Clone,
        engine: &mut Engine,
        out: &mut Actions,
    ) -> Result<(), PartsError> {
        let send = self.sends.get_mut(&request).ok_or(PartsError::OtherRequest)?;
        send.check(parts.clone())?;
        for part in parts {
            send.ready[part as usize] = true;
            match send.to {
                None => send.missing = send.missing.map(|missing| missing - 1),
                Some(to) => {
                    let number = self.under_way.insert((request, part));
                    let values = send.parts.values(u64::from(part) * send.parts.count, send.parts.count);
                    let to = Envelope { tag: send.first.wrapping_add_unsigned(part), ..to };
                    engine.send(Mode::Standard, to, values, Owner::Part(number), out);
                }
            }
        }
        self.end_send(request, engine, out);
        Ok(())
    }

    /// The bytes of a part are not needed any more.
    pub(super) fn has_left(&mut self, request: Token, engine: &mut Engine, out: &mut Actions) {
        if let Some(missing) = self.sends.get_mut(&request).and_then(|send| send.missing.as_mut()) {
            *missing -= 1;
        }
        self.end_send(request, engine, out);
    }

    fn end_send(&mut self, request: Token, engine: &mut Engine, out: &mut Actions) {
        let Some(send) = self.sends.get_mut(&request).filter(|send| send.missing == Some(0)) else { return };
        send.missing = None;
        engine.finish(request, Status::EMPTY, out);
        self.forget_freed(request);
    }
}
