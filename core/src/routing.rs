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
use talisman_kernel::route::Route;
use talisman_pup::Packed;

#[ext(RoutingOnPe)]
pub impl Pe {
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
