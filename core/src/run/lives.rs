//! The lives of a node: its PEs come and go, its links stay.
//!
//! A life ends with the job, or with the loss of another node ([`Job::halt`]). What is kept from one life to the next is in here and
//! in what holds checkpoints; everything else is made anew.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use talisman_ft::view::View;

use super::Done;
use super::linking::{Host, Streams};
use super::threads::{Ready, live};
use crate::checkpoint::store::Store;
use crate::launch::Progress;
use crate::net::{Door, Net};
use crate::node::{Config, Job};
use crate::pe::Pe;
use crate::stats::Totals;

/// A node between two lives.
pub(super) struct Lives {
    host: Host,
    number: u32,
    config: Config,
    job: Arc<Job>,
    /// The beginning of the first life: time goes on from one to the next.
    start: Instant,
    nets: Vec<Option<Net>>,
    store: Arc<Store>,
    totals: Vec<Totals>,
}

impl Lives {
    /// Before the first one.
    ///
    /// # Errors
    /// What the system says: too many descriptors.
    pub(super) fn new(
        host: Host,
        number: u32,
        config: Config,
        (job, store): (&Arc<Job>, Arc<Store>),
        streams: Streams,
        door: impl Fn(u32) -> Door,
    ) -> Result<Self, Box<dyn Error>> {
        let nets = host.nets(number, streams, door)?;
        let totals = vec![Totals::default(); nets.len()];
        let (job, start) = (job.clone(), Instant::now());
        Ok(Lives { host, number, config, job, start, nets, store, totals })
    }

    /// The node of the next life.
    ///
    /// # Errors
    /// What the system says: too many descriptors.
    pub(super) fn next(&mut self, view: &View) -> Result<Ready, Box<dyn Error>> {
        let mut nets = std::mem::take(&mut self.nets);
        if view.epoch > 0 {
            nets.iter_mut().flatten().for_each(|net| net.next_epoch(view));
        }
        let pes = crate::view::View::new(view.clone(), self.host.shape.pes_per_node);
        let ready =
            self.host.ready(pes, self.store.clone(), self.number, self.config.clone(), &self.job, nets)?;
        Ok(Ready { cores: self.host.cores(self.number), ..ready })
    }

    /// Lives until the job is over or halts; each PE runs `begin` first.
    pub(super) fn live(&mut self, ready: Ready, begin: impl Fn(&Pe) + Sync) {
        let life = live(vec![ready], &self.job, self.start, &mut Progress::off(), begin);
        self.nets = life.nets;
        self.totals.iter_mut().zip(&life.totals).for_each(|(all, one)| all.add(one));
    }

    /// The parts of checkpoints that this process holds.
    pub(super) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// What all lives have come to.
    pub(super) fn done(&self) -> Done {
        Done { wall: self.start.elapsed(), totals: self.totals.clone(), trace: None, events: 0 }
    }
}

#[cfg(test)]
mod tests;
