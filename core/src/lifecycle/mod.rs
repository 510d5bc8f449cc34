//! How collections are made, filled and destroyed, over all PEs.

pub mod admission;
pub mod census;
pub mod destroy;
pub mod insert;
pub mod insertion_message;
pub mod message;

use crate::collection::description::Description;
use crate::pe::Pe;
use message::CollectionMessage;

impl Pe {
    /// Announces a collection made here, to this PE first.
    pub fn announce(&self, description: Description) {
        self.tell(self.id, CollectionMessage::New(Box::new(description)));
    }

    pub fn on_new_collection(&self, of: Description) {
        for child in self.view().children(self.id, of.id.creator) {
            self.tell(child, CollectionMessage::New(Box::new(of.clone())));
        }
        let adopt = self.pe_message(CollectionMessage::Adopt(Box::new(of)));
        if self.lets_in(adopt) {
            self.enqueue(adopt);
        }
    }
}
