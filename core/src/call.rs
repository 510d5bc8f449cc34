//! Calls of entries that return values.

use std::marker::PhantomData;

use crate::callback::Callback;
use crate::flow::{Awaitable, Begin};
use crate::ids::{CollectionId, SectionId};
use crate::message::control::{Cast, CastCall};
use crate::object::Head;
use crate::pe::{Pe, current};
use crate::pup::{Packed, Pup};
use crate::reduce::{Nothing, ReduceInfo, Reducer};
use crate::refusal;
use crate::route::Route;

type Go = Box<dyn FnOnce(&Pe, Route)>;

/// A call whose entry returns a value. It is sent once its answer has somewhere to go.
#[must_use = "a call that returns a value is sent by `.reply(callback)`, `.await` (in an async entry) or `.ignore()`"]
pub struct Call<R> {
    go: Go,
    types: PhantomData<fn() -> R>,
}

impl<R> Call<R> {
    pub(crate) fn new(go: impl FnOnce(&Pe, Route) + 'static) -> Self {
        Call { go: Box::new(go), types: PhantomData }
    }

    /// Sends the call; the callback gets the value.
    pub fn reply(self, to: Callback<R>) {
        self.send(to.into_route());
    }

    /// Sends the call; the value is dropped.
    pub fn ignore(self) {
        self.send(Route::Ignore);
    }

    fn send(self, to: Route) {
        current(|pe| (self.go)(pe, to));
    }
}

impl<R> Awaitable for Call<R> {
    type Output = R;

    fn begin(self, at: Begin) -> u64 {
        self.send(Route::Reply(at.object(), at.fresh()));
        at.fresh()
    }
}

/// A broadcast whose entry returns a value: one value per element, to be reduced.
#[must_use = "a broadcast that returns values is sent by `.reduce(Reducer)` or `.ignore()`"]
pub struct Collective<R> {
    collection: CollectionId,
    section: Option<SectionId>,
    entry: u16,
    args: Packed,
    types: PhantomData<fn() -> R>,
}

impl<R> Collective<R> {
    pub(crate) fn new(
        collection: CollectionId,
        section: Option<SectionId>,
        entry: u16,
        args: Packed,
    ) -> Self {
        Collective { collection, section, entry, args, types: PhantomData }
    }

    /// The values of all elements become one: `blocks.run(steps).reduce(Sum)`.
    pub fn reduce<D: Reducer<R>>(self, _: D) -> Call<D::Output>
    where
        R: Pup + Send + 'static,
    {
        Call::new(move |pe, to| match ReduceInfo::of::<R, D>() {
            Ok(reducer) => self.send(pe, Some((reducer.id, to))),
            Err(error) => pe.node.job.end(1, Some(error.to_string())),
        })
    }

    /// Sends the call; the values are dropped.
    pub fn ignore(self) {
        current(|pe| self.send(pe, None));
    }

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
    let value = refusal::seen(Packed::of(value), || "an answer".into());
    current(|pe| pe.route(to, value));
}
