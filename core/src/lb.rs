//! Load balancing, for programs with a strategy of their own: what is known of the job, and what is decided about it.
//!
//! See [`balancer!`](crate::balancer).

pub use talisman_lb::plan::{Move, Plan};
pub use talisman_lb::snapshot::{Edge, Key, Node, Object, Pe, Snapshot};
pub use talisman_lb::strategies;
pub use talisman_lb::strategy::{Strategy, Wants};

#[doc(hidden)]
pub use talisman_job::strategies::Registered;
