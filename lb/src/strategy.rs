//! What decides where objects go.

use crate::plan::Plan;
use crate::snapshot::Snapshot;

/// Decides on all objects at once, in one place. The same snapshot gives the same plan.
pub trait Strategy: Send {
    /// What it is called, on the command line as well.
    fn name(&self) -> &str;

    /// What it needs to know beside loads.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// Where objects should go.
    fn plan(&mut self, snapshot: &Snapshot) -> Plan;
}

/// What is measured for a strategy beside loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Messages between objects.
    pub edges: bool,
}
