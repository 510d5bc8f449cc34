//! `--ft-check`: a twin of the node does again, in this process, what its PEs have done since their line began.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::driver::Driver;
use talisman_base::clock::Clock;
use talisman_cluster::fixed_layout;
use talisman_core::logging::image::Beginning;
use talisman_core::services::SERVICES;
use talisman_ft::Version;
use talisman_job::Output;
use talisman_job::job::Job;
use talisman_kernel::node::{Config, Node};
use talisman_kernel::pe::Pe;
use talisman_kernel::port::{Outbox, Port};

impl Driver<'_> {
    /// The next line has begun, and the node's PEs are still there: its twin has taken the same parts.
    ///
    /// # Errors
    /// It has not.
    pub(super) fn compare_with_twin(&mut self, version: Version) -> Result<(), String> {
        let is_former = |state: &Beginning| matches!(state, Beginning::Former);
        let of_former = self.member.own_image().is_none_or(|image| image.states.iter().any(is_former));
        // Virtual ranks have one place in a process each, and what a former job has left is read once.
        if !self.of.checks || of_former || fixed_layout::is_here() {
            return Ok(());
        }
        let (node, clock) = (self.node_of_twin(), Rc::new(Cell::new(0)));
        let pe = |rank| {
            let time = Clock::set_in_turns(clock.clone(), self.of.start);
            let id = node.shape.first_pe(node.number) + rank;
            Pe::new(id, node.clone(), time, Port::Simulated(Outbox::default()), SERVICES)
        };
        let mut pes: Vec<_> = self.ranks().map(pe).collect();
        self.member.compare_with_twin(version, &mut pes, &clock, self.program).map(drop)
    }

    /// It says what it says to nobody, and writes nothing down.
    fn node_of_twin(&self) -> Arc<Node> {
        let Node { view, shape, number, config, .. } = &*self.node;
        let config = Config { trace: None, record: None, ..config.clone() };
        Node::in_view(view.clone(), Arc::default(), *shape, *number, config, Job::new(Output::capture()))
    }
}
