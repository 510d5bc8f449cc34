//! What a node does that has nothing to do.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use super::{Driver, FIRST, FLUSH_IDLE};

/// Nobody tells that there is a connection with a new process, or room in memory: it is looked so often.
const LOOK: Duration = Duration::from_micros(500);

impl Driver<'_> {
    pub(super) fn end_idleness(&mut self) {
        if let Some(since) = self.idle_since.take() {
            let idle = since.elapsed();
            self.pes.iter().for_each(|pe| pe.count_idleness(idle, Duration::ZERO));
        }
    }

    /// Waits until there may be something to do.
    pub(super) fn rest(&mut self) {
        let since = *self.idle_since.get_or_insert_with(Instant::now);
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
        let node = self.of.node();
        let is_asked = || commands.has_any() || node.figures.iter().any(|figures| figures.is_asked());
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
        self.pes.iter().for_each(|pe| pe.count_idleness(Duration::ZERO, released));
        self.give_up(lost);
    }

    pub(super) fn longest_sleep(&self, since: Instant) -> Option<Duration> {
        let flush = self.member.wants_flush().then_some(FLUSH_IDLE);
        let look = (!self.newcomers.is_empty() || self.links.is_behind_in_memory()).then_some(LOOK);
        let pes = self.pes.iter().filter_map(|hosted| hosted.pe.as_ref());
        let pes = pes.filter(|pe| self.runs() && !pe.frozen.get());
        let timer = pes.clone().filter_map(|pe| pe.timers.next()).min();
        let timer = timer.map(|due| due.saturating_sub(self.of.start.elapsed()));
        let patience = pes.filter_map(|pe| self.suspicion.patience(pe)).min();
        let patience = patience.map(|patience| patience.saturating_sub(since.elapsed()));
        [flush, look, timer, patience].into_iter().flatten().min()
    }

    pub(super) fn runs(&self) -> bool {
        self.member.is_live() && !self.finishing && !self.of.job.is_over()
    }

    /// PE 0 that has had nothing to do for too long finds out whether anybody ever will.
    pub(super) fn suspects(&mut self, since: Instant) -> bool {
        let first = self.pe(FIRST).pe.as_ref().filter(|pe| self.runs() && !pe.frozen.get());
        let Some(pe) = first else { return false };
        let hopes = pe.timers.next_for_progress().is_some();
        let patience = self.suspicion.patience(pe).filter(|_| !hopes);
        if patience.is_none_or(|patience| since.elapsed() < patience) {
            return false;
        }
        self.idle_since = None;
        self.pe(FIRST).set_clock(self.of.start.elapsed());
        let mut suspicion = std::mem::take(&mut self.suspicion);
        self.pe(FIRST).with(|pe| suspicion.rise(pe));
        self.suspicion = suspicion;
        self.collect(FIRST);
        true
    }
}
