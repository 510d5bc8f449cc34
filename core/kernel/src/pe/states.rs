//! What services keep on a PE, each by itself.

use std::any::Any;
use std::cell::OnceCell;

use super::Pe;
use crate::message::service::{SERVICES, Service};
use crate::node::Node;

/// What a service keeps on each PE. It is made when it is first looked at.
pub trait ServiceState: 'static {
    /// Whose it is.
    const SERVICE: Service;

    /// Of a PE that begins.
    fn new(node: &Node) -> Self;
}

/// One for each service, at most.
#[derive(Default)]
pub(super) struct ServiceStates([OnceCell<Box<dyn Any>>; SERVICES]);

impl Pe {
    /// What a service keeps here.
    ///
    /// # Panics
    /// If two types are said to be of one service.
    #[inline]
    pub fn state<S: ServiceState>(&self) -> &S {
        let state = self.states.0[S::SERVICE as usize].get_or_init(|| Box::new(S::new(&self.node)));
        state.downcast_ref().expect("a service has one state")
    }
}
