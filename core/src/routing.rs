//! How a value gets to its receiver.

use easy_ext::ext;

use crate::balance::root::BalancingRootOnPe;
use crate::broadcast::BroadcastsOnPe;
use crate::function::FunctionsOnPe;
use crate::lifecycle::message::CollectionMessage;
use crate::reduction::contributing::ContributionsOnPe;
use crate::section::SectionsOnPe;
use talisman_kernel::message::control::{Cast, CastCall, ObjectMessage};
use talisman_kernel::pe::Pe;
use talisman_kernel::refusal;
use talisman_kernel::route::Route;
use talisman_pup::{Packed, Pup, Purpose, Unpacker};

#[ext(RoutingOnPe)]
pub impl Pe {
    /// Gives what an entry returned to whoever wants it. Answers of many are reduced here as they are.
    #[inline]
    fn give_answer<R: Pup + 'static>(&self, to: &Route, value: R) {
        match to {
            Route::Collect(collect) if !self.node.config.pack_all => self.answer_as_is(*collect, value),
            _ => self.send_answer(to, &value),
        }
    }

    /// Sends what an entry returned to whoever wants it. Answers of many are reduced here: they need no memory of their own.
    fn send_answer<R: Pup>(&self, to: &Route, value: &R) {
        if let Route::Collect(collect) = to
            && let Some(bytes) = self.packed_alone(value)
        {
            self.answer_with(*collect, &mut Unpacker::new(&bytes, Purpose::Message));
            return self.packer.borrow_mut().give_back(bytes);
        }
        self.deliver_value(to, refusal::seen(Packed::of(value), || "an answer".into()));
    }

    /// A value that has bytes and nothing beside them, in memory of the packer that is to be given back.
    fn packed_alone<R: Pup>(&self, value: &R) -> Option<Vec<u8>> {
        // What packs a value by itself may be at it already.
        let mut packer = self.packer.try_borrow_mut().ok()?;
        let is_alone = packer.pack(&[], |l| value.lend(l)).is_some();
        is_alone.then(|| packer.take())
    }

    /// See [`Services::route`](talisman_kernel::pe::services::Services::route).
    fn deliver_value(&self, to: &Route, value: Packed) {
        match to {
            Route::Ignore => {}
            Route::Exit(status) => self.node.job.end(*status, None),
            Route::Entry(id, entry) => {
                self.send_object(*id, ObjectMessage::Invoke { entry: *entry, args: value })
            }
            Route::Broadcast(collection, section, entry) => {
                let cast = Cast { call: CastCall::Entry(*entry), args: value, collect: None };
                match section {
                    Some(section) => self.multicast(*collection, *section, cast),
                    None => self.broadcast(*collection, cast),
                }
            }
            Route::Reply(id, wait) => self.send_object(*id, ObjectMessage::Reply { wait: *wait, value }),
            Route::ReplyAll(collection, wait) => {
                self.broadcast(
                    *collection,
                    Cast { call: CastCall::Reply(*wait), args: value, collect: None },
                );
            }
            Route::Collect(collect) => self.answer(*collect, value),
            Route::Function(pe, id) => self.call_function(*pe, *id, value),
            Route::AtSync(then) => self.at_sync(then, value),
            Route::Destroyed(id) => {
                self.tell(self.view().acting_for(id.creator), CollectionMessage::Drop(*id))
            }
            Route::Prefixed(inner, first) => self.deliver_value(inner, first.then(&value)),
        }
    }
}
