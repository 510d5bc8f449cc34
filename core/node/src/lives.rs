//! The lives of a node: its PEs come and go, its links stay.
//!
//! A life ends with the job, or with the loss of another node ([`Job::halt`]). What is kept from one life to the next is in here and
//! in what holds checkpoints; everything else is made anew.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Done;
use super::linking::{Host, Streams};
use super::threads::{Ready, live};
use talisman_base::view::View;
use talisman_core::checkpoint::image_transfer::hand_out;
use talisman_ft::double::Order;
use talisman_job::Progress;
use talisman_job::job::Job;
use talisman_kernel::net::Net;
use talisman_kernel::node::Config;
use talisman_kernel::pe::Pe;
use talisman_observe::stats::Totals;
use talisman_store::versions::Store;
use talisman_transport::reconnect::Reconnect;

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
    /// Before the first one; of a process that came `late`, when the program had been running for so long, and is not linked with
    /// anybody yet.
    ///
    /// # Errors
    /// What the system says: too many descriptors.
    pub(super) fn new(
        host: Host,
        number: u32,
        late: Option<Duration>,
        config: Config,
        (job, store): (&Arc<Job>, Arc<Store>),
        streams: Streams,
        reconnect: impl Fn(u32) -> Reconnect,
    ) -> Result<Self, Box<dyn Error>> {
        let nets = match late {
            None => host.nets(number, streams, reconnect)?,
            Some(_) => host.nets_without_links(number, reconnect)?,
        };
        let totals = vec![Totals::default(); nets.len()];
        // Whoever comes later has the time of the others.
        let (job, now) = (job.clone(), Instant::now());
        let start = now.checked_sub(late.unwrap_or_default()).unwrap_or(now);
        Ok(Lives { host, number, config, job, start, nets, store, totals })
    }

    /// Which nodes are on the same host, and what that is called.
    pub(super) fn live_on(&mut self, host: u32, neighbours: Vec<u32>) {
        (self.config.host, self.config.neighbours) = (host, neighbours.into());
    }

    /// The node of the next life, with these new connections.
    ///
    /// # Errors
    /// What the system says: too many descriptors.
    pub(super) fn next(&mut self, order: &Order, streams: Streams) -> Result<Ready, Box<dyn Error>> {
        let (mut nets, view) = (std::mem::take(&mut self.nets), &order.view);
        for (peer, stream) in streams {
            let net = nets.get_mut(peer.lane as usize).and_then(Option::as_mut);
            net.map_or(Ok(()), |net| net.join(peer, stream))?;
        }
        if view.epoch > 0 {
            nets.iter_mut().flatten().for_each(|net| net.next_epoch(view));
        }
        let lanes = self.host.shape.pes_per_node;
        for (lane, net) in (0..).zip(&nets) {
            net.iter().for_each(|net| hand_out(&self.store, order, lane, lanes, net));
        }
        let pes = View::new(view.clone(), self.host.shape.pes_per_node);
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
