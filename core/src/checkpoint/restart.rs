//! How PEs begin after a loss, as the launcher orders.

use easy_ext::ext;

use super::message::Why;
use super::part::Part;
use super::reading::{make_room, parts_of};
use crate::balance::message::Why as Balancing;
use crate::balance::root::BalancingRootOnPe;
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::cut::CutOnPe;
use crate::checkpoint::image_transfer::ImageTransferOnPe;
use crate::checkpoint::restore::RestoreOnPe;
use talisman_ft::Version;
use talisman_ft::double::Order;
use talisman_kernel::pe::Pe;
use talisman_observe::event::Event;
use talisman_observe::mutations::mutated;
use talisman_store::versions::StoreError;

#[ext(RestartOnPe)]
pub impl Pe {
    /// Begins as the order says: the job goes back to a version, or the program begins anew, which the first PE sees to by
    /// `beginning`. At the very first beginning the order has nothing to restore either. To be called before its first turn.
    ///
    /// # Errors
    /// A part that is to be restored is not what it was.
    fn begin_by(&self, order: &Order, beginning: impl FnOnce(&Pe)) -> Result<(), StoreError> {
        self.prepare_checkpoints(order);
        match order.version {
            Some(version) => self.go_back(version, order)?,
            None if self.is_first() => beginning(self),
            None => {}
        }
        Ok(())
    }

    /// In a job that logs, at its beginning: goes on from this version of a former job, as whoever has the same number does again after a loss.
    /// `false` if the program's code panicked.
    ///
    /// # Errors
    /// A part is not there, or is not what it was.
    fn go_on_from_former(&self, version: Version) -> Result<bool, StoreError> {
        let missing = StoreError::Missing { pe: self.id, version };
        let next = self.node.store.former(version).ok_or(missing)?.restart.next_version;
        let mut parts = parts_of(&self.node.store, version, self.id)?;
        let said: Vec<_> = parts.iter_mut().flat_map(|part| std::mem::take(&mut part.said)).collect();
        if !said.is_empty() {
            self.node.job.take_up(said);
        }
        self.go_on_from_cut(next - 1, &parts);
        let is_back = self.restore(parts);
        if is_back && self.is_first() {
            self.want_balance(Balancing::Membership, None);
        }
        Ok(is_back)
    }

    fn go_back(&self, version: Version, order: &Order) -> Result<(), StoreError> {
        self.observe(|| Event::GoesBack { version, restore: &order.restore });
        if !self.fetch(version, order)? {
            // It halts again.
            return Ok(());
        }
        let shape = self.node.shape;
        let lane = self.id - self.first_pe;
        let parts = |node: &u32| parts_of(&self.node.store, version, shape.first_pe(*node) + lane);
        let parts = order.restore.iter().map(parts).collect::<Result<Vec<_>, _>>()?;
        let mut parts: Vec<Part> = parts.into_iter().flatten().collect();
        make_room(&self.node.store, version, self.view(), self.id, &mut parts);
        self.say_again(order, &mut parts);
        let is_back = self.restore(parts);
        if is_back && self.is_first() {
            // Until that is committed, some parts are held once. And some PEs have what others had.
            if !mutated("held-once-for-a-period") {
                self.want_checkpoint(Why::Failure, None);
            }
            self.want_balance(Balancing::Membership, None);
        }
        Ok(())
    }

    /// Whoever said it first may be lost before it was heard. What belongs to a version that may be gone back behind waits for the
    /// next one that is committed.
    fn say_again(&self, order: &Order, parts: &mut [Part]) {
        let said: Vec<_> = parts.iter_mut().flat_map(|part| std::mem::take(&mut part.said)).collect();
        // The job may have had fewer PEs on a node: not only the first PE of this one takes something up.
        if !said.is_empty() || self.id == self.first_pe {
            self.node.job.take_up(said);
            order.committed.into_iter().for_each(|version| self.node.job.settle(version));
        }
    }
}
