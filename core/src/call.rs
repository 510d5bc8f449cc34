//! Calls of entries that return values.

use std::marker::PhantomData;

use crate::broadcast::BroadcastsOnPe;
use crate::callback::Callback;
use crate::flow::{Awaitable, Begin};
use crate::quiescence::QuiescenceOnPe;
use crate::reduction::contributing::ContributionsOnPe;
use crate::routing::RoutingOnPe;
use crate::section::SectionsOnPe;
use talisman_base::ids::{CollectionId, SectionId};
use talisman_kernel::message::control::{Cast, CastCall};
use talisman_kernel::object::Head;
use talisman_kernel::pe::{Pe, current};
use talisman_kernel::route::Route;
use talisman_pup::{Packed, Pup};
use talisman_reduce::{Nothing, ReduceInfo, Reducer};

type Go = Box<dyn FnOnce(&Pe, Route)>;

/// A call whose entry returns a value. It is sent once its answer has somewhere to go: by [`reply`](Call::reply), by
/// `.await` in an async entry, or when it is dropped, and then the answer is dropped too.
pub struct Call<R> {
    /// `None` once it is sent.
    go: Option<Go>,
    types: PhantomData<fn() -> R>,
}

impl<R> Call<R> {
    pub(crate) fn new(go: impl FnOnce(&Pe, Route) + 'static) -> Self {
        Call { go: Some(Box::new(go)), types: PhantomData }
    }

    /// Sends the call; the callback gets the value.
    pub fn reply(mut self, to: Callback<R>) {
        self.send(to.into_route());
    }

    /// Sends the call; the value is dropped. The same as dropping the call, in words.
    pub fn ignore(mut self) {
        self.send(Route::Ignore);
    }

    fn send(&mut self, to: Route) {
        if let Some(go) = self.go.take() {
            current(|pe| go(pe, to));
        }
    }
}

impl<R> Awaitable for Call<R> {
    type Output = R;

    fn begin(mut self, at: Begin) -> u64 {
        self.send(Route::Reply(at.object(), at.fresh()));
        at.fresh()
    }
}

impl<R> Drop for Call<R> {
    fn drop(&mut self) {
        // An entry that panics sends nothing more.
        if !std::thread::panicking() {
            self.send(Route::Ignore);
        }
    }
}

/// A call of all elements of an array, group or section. It is sent by [`reduce`](Collective::reduce), by `.await` in an
/// async entry where the entry returns nothing, or when it is dropped, and then nobody waits for its elements.
pub struct Collective<R> {
    /// `None` once it is sent.
    cast: Option<Spread>,
    types: PhantomData<fn() -> R>,
}

/// A broadcast that is not sent yet.
struct Spread {
    collection: CollectionId,
    section: Option<SectionId>,
    entry: u16,
    args: Packed,
}

impl<R> Collective<R> {
    pub(crate) fn new(
        collection: CollectionId,
        section: Option<SectionId>,
        entry: u16,
        args: Packed,
    ) -> Self {
        Collective { cast: Some(Spread { collection, section, entry, args }), types: PhantomData }
    }

    /// The values of all elements become one: `blocks.run(steps).reduce(Sum)`.
    pub fn reduce<D: Reducer<R>>(mut self, _: D) -> Call<D::Output>
    where
        R: Pup + Send + 'static,
    {
        let cast = self.cast.take();
        Call::new(move |pe, to| {
            let Some(cast) = cast else { return };
            match ReduceInfo::of::<R, D>() {
                Ok(reducer) => cast.send(pe, Some((reducer.id, to))),
                Err(error) => pe.node.job.end(1, Some(error.to_string())),
            }
        })
    }

    /// Sends the call; the values are dropped. The same as dropping the call, in words.
    pub fn ignore(self) {}
}

/// Waits until every element has finished the entry: `blocks.run(steps).await`.
impl Awaitable for Collective<()> {
    type Output = ();

    fn begin(self, at: Begin) -> u64 {
        self.reduce(Nothing).begin(at)
    }
}

impl<R> Drop for Collective<R> {
    fn drop(&mut self) {
        if let Some(cast) = self.cast.take()
            && !std::thread::panicking()
        {
            current(|pe| cast.send(pe, None));
        }
    }
}

impl Spread {
    fn send(self, pe: &Pe, collect: Option<(u64, Route)>) {
        let cast = Cast { call: CastCall::Entry(self.entry), args: self.args, collect };
        match self.section {
            None => pe.broadcast(self.collection, cast),
            Some(section) => pe.multicast(self.collection, section, cast),
        }
    }
}

type Contribute = Box<dyn FnOnce(&Pe, &Head, Route)>;

/// A contribution to a reduction whose result every element gets: `cx.all_reduce(value, Sum).await`.
#[must_use = "an all-reduce happens when it is awaited"]
pub struct AllReduce<T> {
    contribute: Contribute,
    types: PhantomData<fn() -> T>,
}

impl<T> AllReduce<T> {
    pub(crate) fn new<V: Pup + Send + 'static, R: Reducer<V>>(value: V) -> Self {
        let contribute = move |pe: &Pe, object: &Head, to: Route| pe.contribute::<V, R>(object, value, to);
        AllReduce { contribute: Box::new(contribute), types: PhantomData }
    }
}

/// Set in the number of a wait that all elements of a collection share: the number of the reduction.
const COMMON: u64 = 1 << 63;

impl<T> Awaitable for AllReduce<T> {
    type Output = T;

    fn begin(self, _: Begin) -> u64 {
        current(|pe| {
            let object = pe.running().expect("an async entry runs in an object");
            let wait = COMMON | object.reduction.get() as u64;
            (self.contribute)(pe, object, Route::ReplyAll(object.collection().id, wait));
            wait
        })
    }
}

/// Waits until every element is here: `cx.barrier().await`.
#[must_use = "a barrier happens when it is awaited"]
pub struct Barrier(pub(crate) AllReduce<()>);

impl Awaitable for Barrier {
    type Output = ();

    fn begin(self, at: Begin) -> u64 {
        self.0.begin(at)
    }
}

/// Waits until every element is here and a balancing step is over: `cx.at_sync().await`.
#[must_use = "a balancing step is waited for by `.await`; `cx.at_sync_then(entry)` waits for nothing"]
pub struct AtSync(pub(crate) ());

impl Awaitable for AtSync {
    type Output = ();

    fn begin(self, _: Begin) -> u64 {
        current(|pe| {
            let object = pe.running().expect("an async entry runs in an object");
            let wait = COMMON | object.reduction.get() as u64;
            let then = Route::ReplyAll(object.collection().id, wait);
            pe.contribute::<(), Nothing>(object, (), Route::AtSync(Box::new(then)));
            wait
        })
    }
}

/// Waits until no message is in flight anywhere: `cx.quiescence().await`.
#[must_use = "quiescence is waited for by `.await`"]
pub struct Quiescence(pub(crate) ());

impl Awaitable for Quiescence {
    type Output = ();

    fn begin(self, at: Begin) -> u64 {
        current(|pe| pe.when_quiet(Route::Reply(at.object(), at.fresh())));
        at.fresh()
    }
}

/// Waits for a time: `cx.sleep(duration).await`.
#[must_use = "a pause happens when it is awaited"]
pub struct Pause(pub(crate) std::time::Duration);

impl Awaitable for Pause {
    type Output = ();

    fn begin(self, at: Begin) -> u64 {
        current(|pe| pe.set_timer(pe.clock.now() + self.0, Route::Reply(at.object(), at.fresh())));
        at.fresh()
    }
}

/// Sends the value that an async entry ended with to whoever called it.
#[doc(hidden)]
pub fn answer<R: Pup>(to: &Route, value: &R) {
    current(|pe| pe.send_answer(to, value));
}
