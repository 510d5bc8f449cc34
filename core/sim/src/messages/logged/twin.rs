//! Twins of nodes ([`talisman_core::logging::member::Member::compare_with_twin`]): whenever a node comes from one line to the next.

use std::cell::Cell;
use std::rc::Rc;

use crate::messages::Cluster;
use talisman_base::clock::Meter;
use talisman_ft::{NodeId, Version};
use talisman_job::Output;
use talisman_job::job::Job;
use talisman_kernel::node::Config;
use talisman_kernel::witness;

impl Cluster {
    /// The next line begins on a node, whose PEs are still there: its twin has done all that these have done, and has taken the same parts.
    ///
    /// # Errors
    /// It has not.
    pub(super) fn compare_with_twin(&mut self, node: NodeId, version: Version) -> Result<(), String> {
        // With a witness each message has a number that is not given twice.
        if !self.logged().has_twins || witness::is_present() || self.has_places(node) {
            return Ok(());
        }
        let clock = Rc::new(Cell::new(0));
        // What it measures is never what the node has measured.
        let meter = Meter::Uneven(Rc::new(Cell::new(1 << 20)));
        let config = Config { trace: None, ..self.logged().config.clone() };
        let mut pes = self.fresh_pes(node, config, Job::new(Output::capture()), &clock, meter);
        let logged = self.logged_mut();
        let Some(member) = logged.member(node) else { return Ok(()) };
        let is_compared = member.compare_with_twin(version, &mut pes, &clock, &|_| ())?;
        logged.went_back.twins += u64::from(is_compared);
        Ok(())
    }

    /// Whether objects of a node have places in this process that nobody else can have beside them, as virtual ranks do: they hear of their
    /// departure.
    fn has_places(&self, node: NodeId) -> bool {
        let pes = self.shape.first_pe(node)..self.shape.first_pe(node + 1);
        let mut all = self.pes[pes.start as usize..pes.end as usize].iter();
        all.any(|pe| pe.collections.iter().any(|known| known.chare.departs.is_some()))
    }
}
