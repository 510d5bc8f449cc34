//! How collections are made, filled and destroyed, over all PEs.

pub mod admission;
pub mod census;
pub mod destroy;
pub mod insert;
pub mod insertion_message;
pub mod message;

use easy_ext::ext;

use message::CollectionMessage;
use talisman_kernel::collection::description::Description;
use talisman_kernel::pe::Pe;

#[ext(CreationOnPe)]
pub impl Pe {
    /// Announces a collection made here, to this PE first.
    fn announce(&self, description: Description) {
        self.tell(self.id, CollectionMessage::New(Box::new(description)));
    }

    /// Its elements are made now, if nothing that they need has yet to come: what is behind this message in the queue, and
    /// what is more urgent, finds them.
    fn on_new_collection(&self, of: Description) {
        for child in self.view().children(self.id, of.id.creator) {
            self.tell(child, CollectionMessage::New(Box::new(of.clone())));
        }
        let adopt = self.pe_message(CollectionMessage::Adopt(Box::new(of)));
        if self.lets_in(adopt) {
            self.run_pe_message_at_once(adopt);
        }
    }
}
