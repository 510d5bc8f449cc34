//! `done_inserting`: counting the first elements of an array that was filled from many sides.
//!
//! The root asks every PE how many insertions it sent off and how many elements it made. It asks again until the
//! sums are equal: then none is on its way, and the reductions know how many to wait for. What is inserted from outside after a PE
//! was asked goes by way of the root.

use easy_ext::ext;

use super::insertion_message::InsertionMessage;
use crate::broadcast::BroadcastsOnPe;
use crate::reduction::ReductionsOfCollection;
use crate::reduction::gathering::GatheringOnPe;
use talisman_base::ids::CollectionId;
use talisman_kernel::pe::Pe;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// The root's count.
#[derive(Default)]
pub struct Census {
    wave: u32,
    answers: u32,
    sent: u64,
    made: u64,
}

impl Census {
    /// Whether it has begun.
    pub fn is_open(&self) -> bool {
        self.wave > 0
    }
}

#[ext(CensusOnPe)]
pub impl Pe {
    /// All first elements are on their way: the root hears of it.
    fn done_inserting(&self, id: CollectionId) {
        self.tell(self.view().acting_for(id.creator), InsertionMessage::DoneInserting(id));
    }

    /// At the root: all first elements are on their way.
    fn on_done_inserting(&self, id: CollectionId) {
        let Some(root) = self.collections.get(id).and_then(|collection| collection.root()) else {
            return;
        };
        if root.borrow().elements().is_some() || root.borrow().census.wave > 0 {
            return sometimes("the end of an insertion was said twice");
        }
        self.count_again(id);
    }

    fn count_again(&self, id: CollectionId) {
        let Some(root) = self.collections.get(id).and_then(|collection| collection.root()) else {
            return;
        };
        let wave = root.borrow().census.wave + 1;
        root.borrow_mut().census = Census { wave, ..Census::default() };
        self.on_count_inserted(id, wave);
    }

    fn on_count_inserted(&self, id: CollectionId, wave: u32) {
        let Some(collection) = self.collections.get(id) else { return };
        for child in self.view().children(self.id, collection.root_pe()) {
            self.tell(child, InsertionMessage::CountInserted { collection: id, wave });
        }
        let insertion = &collection.insertion;
        insertion.closed.set(true);
        let (sent, made) = (insertion.sent.get(), insertion.made.get());
        self.tell(collection.root_pe(), InsertionMessage::Inserted { collection: id, wave, sent, made });
    }

    fn on_inserted(&self, id: CollectionId, wave: u32, sent: u64, made: u64) {
        let Some(collection) = self.collections.get(id) else { return };
        let Some(root) = collection.root() else { return };
        let (all_in, complete) = {
            let census = &mut root.borrow_mut().census;
            if census.wave != wave {
                return;
            }
            census.answers += 1;
            census.sent = census.sent.saturating_add(sent);
            census.made = census.made.saturating_add(made);
            (
                census.answers == self.view().pes(),
                census.sent == census.made || mutated("first-elements-counted-once"),
            )
        };
        if all_in && complete {
            let made = root.borrow().census.made;
            root.borrow_mut().begin_with(made);
            self.complete_reductions(collection);
            self.release_casts(collection);
        } else if all_in {
            sometimes("the first elements of an array had to be counted again");
            self.count_again(id);
        }
    }
}
