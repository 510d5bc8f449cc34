//! Load balancing: measured loads in, objects moved, now and then while the program runs.
//!
//! PE 0, or the PE that acts for it, is the root. Something makes it begin a step ([`root`]: an array at `cx.at_sync()`, a request, a period, a gain that is
//! in sight). The step goes down the tree of PEs; each takes its measurements, gives them to its member of `talisman-lb`, and
//! does what that wants: notes to other members, objects that are sent off at once ([`part`]). What came of it goes up the
//! tree. When the root has heard of all, the step is over: it is logged and reported, and whoever waited for it is told.
//! Objects that are still on their way get that where they arrive.
//!
//! Everything is a message of the runtime ([`message`]), and time is that of the PE's clock, so steps run in simulation as they
//! are. Messages of a step are counted by the detection of quiescence; a look at the loads, which a period begins with, is
//! not, and a step follows only if the program has done anything since the last one. So a program that has come to rest is
//! seen to rest.

pub mod message;
pub mod part;
mod record;
pub mod root;
mod settings;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::sync::Arc;

use easy_ext::ext;

use crate::balance::part::BalancingPartOnPe;
use crate::balance::root::BalancingRootOnPe;
use message::Balance;
use part::Part;
use root::Root;
use talisman_base::ids::PeId;
use talisman_job::balancing::LbSettings;
use talisman_kernel::message::service::Service;
use talisman_kernel::node::Node;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::states::ServiceState;

/// What a PE keeps for load balancing.
pub struct Balancer {
    pub settings: Arc<LbSettings>,
    pub part: RefCell<Part>,
    /// Used by the root.
    pub root: RefCell<Root>,
}

/// On each PE: nothing where load balancing is off.
struct Balancing(Option<Box<Balancer>>);

impl Balancer {
    pub fn new(settings: Arc<LbSettings>) -> Box<Self> {
        Box::new(Balancer { settings, part: RefCell::default(), root: RefCell::default() })
    }
}

impl ServiceState for Balancing {
    const SERVICE: Service = Service::Balancing;

    fn new(node: &Node) -> Self {
        Balancing(node.config.balance.clone().map(Balancer::new))
    }
}

#[ext(BalancingOnPe)]
pub impl Pe {
    /// Load balancing, if it is on.
    fn balancer(&self) -> Option<&Balancer> {
        self.state::<Balancing>().0.as_deref()
    }

    /// A message of load balancing.
    fn on_balance(&self, from: PeId, message: Balance) {
        let Some(balancer) = self.balancer() else { return };
        match message {
            Balance::Request { why, then } => self.on_balance_request(balancer, why, then),
            Balance::Look(look) => self.on_look(balancer, look),
            Balance::Looked { look, seen } => self.on_looked(balancer, look, seen),
            Balance::Begin(step) => self.on_begin(balancer, step),
            Balance::Note { step, note } => self.on_note(balancer, from, step, note),
            Balance::Decided { step, branch } => self.on_decided(balancer, step, branch),
        }
    }
}
