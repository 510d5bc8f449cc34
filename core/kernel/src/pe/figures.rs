//! What a PE tells those who look at the job while it runs: its counts, and its objects by chare.
//!
//! Whoever looks sets a flag and wakes the PE, which writes them between two turns. A PE that does not is within an entry: nobody waits for
//! it. So a PE pays a load per turn, and nothing per message.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Pe;
use talisman_job::snapshot::figures::PeFigures;

/// Where a PE writes them.
#[derive(Default)]
pub struct FiguresWindow {
    is_asked: AtomicBool,
    told: Mutex<PeFigures>,
}

impl FiguresWindow {
    /// Somebody looks: the PE is to be woken after this.
    pub fn ask(&self) {
        self.is_asked.store(true, Ordering::Release);
    }

    /// Whether somebody waits for them.
    #[inline(always)]
    pub fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    /// What the PE told last; as long as it has not answered, that is not new.
    pub fn told(&self) -> PeFigures {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
        PeFigures { is_new: !self.is_asked.load(Ordering::Acquire), ..told }
    }

    fn tell(&self, figures: PeFigures) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = figures;
        self.is_asked.store(false, Ordering::Release);
    }
}

impl Pe {
    /// Where others ask for its figures.
    #[inline(always)]
    pub fn figures_window(&self) -> &FiguresWindow {
        &self.node.figures[(self.id - self.first_pe) as usize]
    }

    /// Tells what it has counted, if somebody asks. It keeps so many bytes for others.
    #[inline(always)]
    pub fn tell_figures(&self, kept: impl FnOnce() -> u64) {
        if self.figures_window().is_asked() {
            self.write_figures(kept());
        }
    }

    #[cold]
    fn write_figures(&self, kept: u64) {
        let stats = &self.stats;
        let mut figures = PeFigures {
            at_ns: self.clock.now().as_nanos() as u64,
            is_new: true,
            entries: stats.run.get(),
            between_pes: stats.between_pes.get(),
            between_nodes: stats.between_nodes.get(),
            bytes_between_nodes: stats.bytes_between_nodes.get(),
            idle_ns: stats.idle_ns.get(),
            waiting: self.waiting_messages() as u64,
            kept,
            objects: Vec::new(),
        };
        let counts = self
            .collections
            .iter()
            .map(|collection| ((collection.chare.name)(), u64::from(collection.members.get())));
        figures.count_objects(counts);
        self.figures_window().tell(figures);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_new_once_they_are_told() {
        let window = FiguresWindow::default();
        assert!(!window.is_asked());
        window.ask();
        assert!(window.is_asked() && !window.told().is_new);
        window.tell(PeFigures { entries: 7, ..PeFigures::default() });
        assert_eq!(window.told(), PeFigures { entries: 7, is_new: true, ..PeFigures::default() });
        window.ask();
        assert_eq!(window.told(), PeFigures { entries: 7, ..PeFigures::default() });
    }
}
