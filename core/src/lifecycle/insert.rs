//! Inserting elements: `array.insert(i).new(args)`.

use easy_ext::ext;

use super::insertion_message::InsertionMessage;
use crate::broadcast::BroadcastsOfCollection;
use crate::broadcast::births::BirthsOnPe;
use crate::lifecycle::admission::AdmissionsOnPe;
use crate::reduction::ReductionsOfCollection;
use talisman_base::birth::BirthId;
use talisman_base::ids::{CollectionId, ObjId, PeId};
use talisman_base::limits::BORN;
use talisman_kernel::collection::Collection;
use talisman_kernel::entry_info::{InitInfo, pack_args};
use talisman_kernel::message::cell::ArgsCell;
use talisman_kernel::message::control::ObjectMessage;
use talisman_kernel::message::envelope::{Birth, Extra};
use talisman_kernel::pe::Pe;
use talisman_kernel::registry::Registry;
use talisman_observe::sometimes::sometimes;
use talisman_pup::Packed;

#[ext(InsertionsOnPe)]
pub impl Pe {
    /// Inserts an element into an array: `array.insert(i).new(args)`.
    fn insert<A: 'static>(&self, to: ObjId, pe: Option<PeId>, init: &'static InitInfo, args: A) {
        match self.collections.get(to.collection) {
            Some(collection) => match self.birth_here(collection) {
                Some(birth) => {
                    let extra = Extra { birth: Some(Birth { on: pe, ..birth }), ..Extra::default() };
                    let creation = self.creation(to, init, ArgsCell::store(args), extra.into());
                    self.send_birth(collection, collection.home(to.index), creation);
                }
                None => {
                    sometimes("an element was inserted by way of the root");
                    self.insert_by_root(to, pe, init, args, collection.root_pe());
                }
            },
            None => self.insert_by_root(to, pe, init, args, self.root_of_unknown(to.collection)),
        }
    }

    /// Where an insertion goes if this PE has no part of the collection. That may have been made in this very entry: its announcement is in
    /// this PE's queue then, before what comes now. Or a message that names it was faster than its announcement: what is called by whoever
    /// hears of the insertion has to wait for it then as well, so it goes where broadcasts are numbered, and has a number itself.
    fn root_of_unknown(&self, id: CollectionId) -> PeId {
        if self.collections.is_gone(id) {
            return self.id;
        }
        let root = self.view().acting_for(id.creator);
        if root != self.id {
            sometimes("an element was inserted into an array that was not known there");
        }
        root
    }

    fn insert_by_root<A: 'static>(&self, to: ObjId, pe: Option<PeId>, init: &InitInfo, args: A, root: PeId) {
        // The collection may not be known here.
        let what = || {
            let name = Registry::get().find(init.chare).map_or_else(String::new, |(_, chare)| (chare.name)());
            format!("`{name}::{}` for a new element", init.name)
        };
        let args = pack_args(&init.args, args, what);
        let waits = self.admissions_open.get() && self.holds(to.collection);
        let number = if root == self.id && !waits { 0 } else { self.number_insertion(to.collection) };
        let insertion = InsertionMessage::Insert { to, pe, init: init.number, args, number };
        match waits {
            true => self.hold_insertion(to.collection, insertion),
            false => self.tell(root, insertion),
        }
    }

    fn name_birth(&self) -> BirthId {
        let number = self.names().births.get() + 1;
        self.names().births.set(number);
        BirthId::new(self.id, number)
    }

    /// How an element inserted by whoever runs comes into its collection; `None` where only the root can tell. The first broadcast for
    /// it is the next one that its inserter receives. (One that is catching up will receive some that have passed here, and
    /// nobody would know of another receiver.)
    fn birth_here(&self, collection: &Collection) -> Option<Birth> {
        if let Some(parent) = self.running().filter(|head| head.collection().id == collection.id) {
            let id = self.name_birth();
            let born = parent.extras(|extras| {
                extras.born.add(id);
                extras.born.count
            });
            self.one_more(BORN, born, collection, Some(parent.index()));
            let first = parent.broadcasts.get().max(collection.casts().passed());
            return Some(Birth { reduction: parent.reduction.get(), id, first, ..Birth::default() });
        }
        if collection.insertion.closed.get() {
            return None;
        }
        collection.insertion.sent.set(collection.insertion.sent.get() + 1);
        Some(Birth { counted: true, ..Birth::default() })
    }

    /// An insertion from outside, at the root; or one that waited for its collection to be known here.
    fn on_insert(&self, to: ObjId, pe: Option<PeId>, init: u16, args: Packed) {
        let Some(collection) = self.collections.get(to.collection) else { return };
        let birth = match (self.birth_here(collection), collection.root()) {
            (Some(birth), _) => birth,
            (None, Some(root)) => {
                let id = self.name_birth();
                let (reduction, first) = (root.borrow_mut().admit(id), collection.casts().numbered());
                Birth { reduction, id, first, ..Birth::default() }
            }
            (None, None) => {
                sometimes("an insertion was sent on to the root");
                return self
                    .tell(collection.root_pe(), InsertionMessage::Insert { to, pe, init, args, number: 0 });
            }
        };
        let mut envelope = self.object_message(to, ObjectMessage::Create { init, args });
        let extra = Extra { birth: Some(Birth { on: pe, ..birth }), ..Extra::default() };
        // SAFETY: just made.
        unsafe { envelope.as_mut() }.extra = Some(Box::new(extra));
        self.send_birth(collection, collection.home(to.index), envelope);
    }
}
