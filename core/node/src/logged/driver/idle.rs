//! What a node does that has nothing to do.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use super::{Driver, FIRST, FLUSH_IDLE};
use crate::logged::task::Task;
use talisman_kernel::pe::turn::Command;

/// Nobody tells that there is a connection with a new process, or room in memory: it is looked so often.
const LOOK: Duration = Duration::from_micros(500);

impl Driver<'_> {
    pub(super) fn end_idleness(&mut self) {
        if let Some(since) = self.idle_since.take() {
            let idle = self.at.saturating_duration_since(since);
            self.seats.iter().for_each(|seat| seat.count_idleness(idle, Duration::ZERO));
        }
    }

    /// Waits until there may be something to do.
    pub(super) fn rest(&mut self) {
        let since = *self.idle_since.get_or_insert(self.at);
        self.flush_log(FLUSH_IDLE);
        self.flush_links();
        if self.suspects(since) || self.links.may_write() {
            return;
        }
        let timeout = self.longest_sleep(since);
        let (links, commands) = (&mut self.links, &self.of.commands);
        let came = &mut self.came;
        let mut lost = None;
        let links = RefCell::new(links);
        let (given, mut asleep) = (self.idle.given(), Duration::ZERO);
        let (node, returns, seats) = (&self.node, &self.returns, &self.seats);
        let tells = |rank: usize| seats[rank].is_ready() && node.figures[rank].is_asked();
        let is_asked = || commands.has_any() || returns.has_any() || (0..seats.len()).any(tells);
        let has_work = || {
            let mut links = links.borrow_mut();
            // Nobody tells that there is room in memory for the rest of something long.
            let (wrote, gone) = links.flush();
            lost = lost.take().or(gone).or(links.receive(came));
            wrote || lost.is_some() || !came.is_empty() || is_asked()
        };
        let parker = &node.parkers[FIRST as usize];
        let park = || {
            let links = links.borrow();
            links.publish();
            let has_work = || links.has_work() || is_asked();
            let since = Instant::now();
            _ = parker.park_in(has_work, || links.sleep(timeout));
            asleep += since.elapsed();
        };
        match timeout {
            Some(timeout) if timeout.is_zero() => {}
            _ => self.idle.idle(has_work, park),
        }
        // No input of a PE: what it measures with that is logged.
        let released = self.idle.given().saturating_sub(given) + asleep;
        self.seats.iter().for_each(|seat| seat.count_idleness(Duration::ZERO, released));
        self.give_up(lost);
    }

    pub(super) fn longest_sleep(&self, since: Instant) -> Option<Duration> {
        let flush = self.member.wants_flush().then_some(FLUSH_IDLE);
        let look = (!self.newcomers.is_empty() || self.links.is_behind_in_memory()).then_some(LOOK);
        let pes = self.seats.iter().filter(|seat| self.runs() && seat.is_ready());
        let pes = pes.map(|seat| &seat.stand).filter(|stand| !stand.is_frozen);
        let timer = pes.clone().filter_map(|stand| stand.timer).min();
        let timer = timer.map(|due| due.saturating_sub(self.of.start.elapsed()));
        let patience = pes.filter_map(|stand| self.suspicion.patience_of(stand.may_suspect)).min();
        let patience =
            patience.map(|patience| patience.saturating_sub(self.at.saturating_duration_since(since)));
        [flush, look, timer, patience].into_iter().flatten().min()
    }

    pub(super) fn runs(&self) -> bool {
        self.member.is_live() && self.finishing.is_none() && !self.of.job.is_over()
    }

    /// PE 0 that has had nothing to do for too long finds out whether anybody ever will.
    pub(super) fn suspects(&mut self, since: Instant) -> bool {
        let first = self.seat(FIRST);
        let stand = &first.stand;
        if !self.runs() || !first.is_ready() || stand.is_frozen {
            return false;
        }
        let patience = self.suspicion.patience_of(stand.may_suspect).filter(|_| !stand.hopes);
        if patience.is_none_or(|patience| self.at.saturating_duration_since(since) < patience) {
            return false;
        }
        self.idle_since = None;
        self.suspicion.was_told();
        self.hand(FIRST, self.now(), Task::Command(Command::Suspect));
        true
    }
}
