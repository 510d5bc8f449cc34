//! A PE as the driver of its node knows it, which may be on another thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::hosted::Hosted;
use super::pe_thread::Desk;
use super::task::{Done, Handed, Stand};
use talisman_kernel::port::Sent;

/// A PE of a node that logs, by its rank.
pub(super) struct Seat<'a> {
    place: Place<'a>,
    /// What it was handed has not come back.
    pub(super) is_out: bool,
    /// How it stood with it when it was last here.
    pub(super) stand: Stand,
    /// Turns in a row in which it has done nothing, and nothing had come.
    pub(super) idle_turns: u32,
    /// Something had come for the turn that it has.
    pub(super) had_mail: bool,
    /// Room for what it sends next.
    pub(super) room: Vec<Sent>,
}

enum Place<'a> {
    /// On the driver's thread: the only one of its node.
    Here(Box<Hosted<'a>>),
    /// On one of its own.
    Thread(Arc<Desk>),
}

impl<'a> Seat<'a> {
    pub(super) fn here(hosted: Hosted<'a>) -> Self {
        Seat::at(Place::Here(Box::new(hosted)))
    }

    pub(super) fn on_thread(desk: Arc<Desk>) -> Self {
        Seat::at(Place::Thread(desk))
    }

    fn at(place: Place<'a>) -> Self {
        Seat {
            place,
            is_out: false,
            stand: Stand::default(),
            idle_turns: 0,
            had_mail: false,
            room: Vec::new(),
        }
    }

    /// The PE does something, which is not at anything. None where that comes later.
    pub(super) fn hand(&mut self, handed: Handed) -> Option<Done> {
        debug_assert!(!self.is_out, "a PE does one thing at a time");
        match &mut self.place {
            Place::Here(hosted) => Some(hosted.perform(handed)),
            Place::Thread(desk) => {
                self.is_out = true;
                desk.hand(handed);
                None
            }
        }
    }

    /// It is looked how it stands with it, if it is here.
    pub(super) fn look(&mut self) {
        if let Place::Here(hosted) = &self.place {
            self.stand = hosted.stand();
        }
    }

    /// Its last turn is over since then at the latest. On a thread of its own it sees to that itself.
    pub(super) fn end_turn(&self, now: Instant) {
        if let Place::Here(hosted) = &self.place {
            hosted.end_turn(|| now);
        }
    }

    /// Its image has come, and it is at nothing.
    pub(super) fn is_ready(&self) -> bool {
        self.stand.is_there && !self.is_out
    }

    /// It had nothing to do for so long. On a thread of its own it counts that itself.
    pub(super) fn count_idleness(&self, idle: Duration, released: Duration) {
        if let Place::Here(hosted) = &self.place {
            hosted.count_idleness(idle, released);
        }
    }
}

/// A thread that is handed nothing any more ends, however the driver does.
impl Drop for Seat<'_> {
    fn drop(&mut self) {
        if let Place::Thread(desk) = &self.place {
            desk.close();
        }
    }
}
