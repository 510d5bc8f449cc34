//! Jobs on the model of a machine that lose nodes, and go back to their checkpoints.
//!
//! Checkpoints are the real ones, and travel as the machine has it. Who goes back to what is decided by the real
//! [`Leader`]; only the conversation about it is not carried on: from a loss until the survivors go on it is quiet for a time that is
//! given. What packing and unpacking take is for the program to say ([`charge`](super::charge)).

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use super::model::Model;
use super::{Cluster, Machine, Rules};
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_core::checkpoint::restart::RestartOnPe;
use talisman_ft::NodeId;
use talisman_ft::double::Order;
use talisman_ft::double::leader::{Action, Leader};
use talisman_job::job::Job;
use talisman_kernel::node::Config;
use talisman_kernel::pe::Pe;
use talisman_node::Done;
use talisman_store::versions::Store;

/// What goes wrong on a machine that there is only as a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Which nodes are lost, and when, in the order of time.
    pub nodes: Vec<(u32, Duration)>,
    /// From a loss until the survivors have agreed and begin to restore: it is noticed, they end the entries that they run,
    /// and are told.
    pub pause: Duration,
}

/// The exit status of a job of which too much is lost.
const UNRECOVERABLE: i32 = 3;

/// Runs a job that loses these nodes, unless it ends before.
pub fn run(
    shape: Shape,
    config: &Config,
    job: &Arc<Job>,
    machine: &Machine,
    losses: &Losses,
    main: impl FnOnce(&Pe),
) -> Done {
    let mut survivors = Survivors::new(shape, machine);
    let mut rules = Model::new(machine, shape);
    let mut cluster = Cluster::holding(View::whole(shape), &survivors.stores, shape, config, job, 0);
    cluster.begin_with(main);
    cluster.begin(&mut rules);
    for (lost, at) in &losses.nodes {
        cluster.go_on(job, &mut rules, |cluster| cluster.clock.get() >= at.as_nanos() as u64);
        if job.is_over() {
            break;
        }
        let now = cluster.at_rest() + losses.pause.as_nanos() as u64;
        let orders = match survivors.lose(*lost) {
            Ok(orders) => orders,
            Err(why) => {
                job.end(UNRECOVERABLE, Some(why));
                break;
            }
        };
        let view = View::new(orders[0].1.view.clone(), shape.pes_per_node);
        let mut next = Cluster::holding(view, &survivors.stores, shape, config, job, now);
        next.trace = cluster.trace.clone();
        cluster.done();
        rules = Model::new(machine, shape);
        next.begin_by(job, &orders, now, &mut rules);
        cluster = next;
    }
    cluster.go_on(job, &mut rules, |_| false);
    rules.finish(&mut cluster);
    cluster.done()
}

/// What outlives the PEs.
struct Survivors {
    leader: Leader,
    stores: Vec<Arc<Store>>,
}

impl Survivors {
    fn new(shape: Shape, machine: &Machine) -> Self {
        let hosts = (0..shape.nodes).map(|node| node / machine.nodes_per_host).collect();
        Survivors { leader: Leader::new(hosts), stores: (0..shape.nodes).map(|_| Arc::default()).collect() }
    }

    /// A node is lost with all that it holds: how the others are to go on, or why they cannot.
    fn lose(&mut self, lost: NodeId) -> Result<Vec<(NodeId, Order)>, String> {
        self.stores[lost as usize] = Arc::default();
        let mut orders = Vec::new();
        let mut actions = self.leader.on_lost([lost]);
        while let Some(action) = actions.pop() {
            match action {
                Action::Halt { to, epoch, .. } => {
                    let held = self.stores[to as usize].held();
                    actions.extend(self.leader.on_halted(to, epoch, held));
                }
                Action::Resume { to, order } => {
                    self.stores[to as usize].go_back(&order);
                    actions.extend(self.leader.on_resumed(to, order.view.epoch));
                    orders.push((to, order));
                }
                Action::Recovered { version: Some(_), .. } => {}
                Action::Recovered { version: None, .. } => {
                    return Err(format!("node {lost} was lost before the first checkpoint"));
                }
                Action::Release(_) => {}
                Action::GiveUp(gone) => {
                    return Err(format!(
                        "after the loss of node {lost} all copies are gone of {:?}",
                        gone.parts
                    ));
                }
            }
        }
        Ok(orders)
    }
}

impl Cluster {
    /// When the last PE has ended what it runs.
    fn at_rest(&self) -> u64 {
        self.states.iter().map(|state| state.busy_until).fold(self.clock.get(), u64::max)
    }

    /// Fresh PEs go on as they are told to, all at the same time.
    fn begin_by(&mut self, job: &Job, orders: &[(NodeId, Order)], now: u64, rules: &mut impl Rules) {
        for (node, order) in orders {
            let first = self.shape.first_pe(*node);
            for pe in first..first + self.shape.pes_per_node {
                self.clock.set(now);
                if let Err(error) = self.pes[pe as usize].begin_by(order, |_| ()) {
                    job.end(1, Some(format!("node {node} cannot go on: {error}")));
                }
                rules.collect(self, pe);
                self.states[pe as usize].busy_until = self.clock.get();
                self.wake(pe, now);
            }
        }
        self.clock.set(now);
    }
}
