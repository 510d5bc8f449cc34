//! Proxies: typed handles on which a caller invokes entry methods (Charm++ manual: "proxies").

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::call::{Call, Collective};
use crate::callback::Callback;
use crate::chare::{Args, Chare, Entry, Wrap};
use crate::create::{Insert, insert};
use crate::lifecycle::census::CensusOnPe;
use crate::lifecycle::destroy::DestructionOnPe;
use crate::section::SectionsOnPe;
use talisman_base::ids::{CollectionId, ObjId, PeId, SectionId};
use talisman_base::index::{ArrayIndex, IntoIndex};
use talisman_kernel::kind::Kind;
use talisman_kernel::message::envelope::Extra;
use talisman_kernel::message::send_options::SendOptions;
use talisman_kernel::pe::{check_node, check_pe, current, current_ref};
use talisman_kernel::route::Route;
use talisman_pup::{Named, Packer, Pup, PupError, Unpacker, join, key};
use talisman_sched::priority::Priority;

/// A receiver of entries: what a generated set of proxy methods sends to.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "entries of `{C}` cannot be called on `{Self}`",
    note = "they are methods of `Proxy<{C}>`, `Array<{C}>`, `Section<{C}>` and `Group<{C}>`"
)]
pub trait SendTo<C: Chare>: Copy {
    type Reply<R>;
    /// What a call of an entry gives that returns nothing.
    type Sent;
    fn send<A: Args>(&self, entry: Entry<C, A>, args: A) -> Self::Sent;
    /// The same of an entry without a body, whose end nobody can wait for.
    fn post<A: Args>(&self, entry: Entry<C, A>, args: A);
    fn call<A: Args, R>(&self, entry: Entry<C, A, R>, args: A) -> Self::Reply<R>;
}

/// What is there already, so that its entries can be called. Nothing that is still to be created is.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this `{C}` is not created yet: the call of its `#[init]` is missing",
    label = "an entry of what is still to be created",
    note = "name the `#[init]` first, as in `{C}::array(4).new(…)`, and call entries on what that returns"
)]
pub trait Existing<C: Chare> {}

/// What a generated set of creation methods makes.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` creates no `{C}`",
    note = "`{C}::array(…)`, `{C}::group()` and `{C}::chare()` do, each for one kind of chare"
)]
pub trait Create<C: Chare> {
    type Made;
    fn create<A: Args>(&self, init: u16, args: A) -> Self::Made;
}

/// One object.
#[doc(hidden)]
pub struct One<C> {
    id: ObjId,
    chare: PhantomData<fn() -> C>,
}

/// One object, by messages of this priority.
#[doc(hidden)]
pub struct OneWith<'a, C> {
    id: ObjId,
    urgency: Urgency<'a>,
    chare: PhantomData<fn() -> C>,
}

/// How soon a message is wanted.
#[derive(Clone, Copy)]
enum Urgency<'a> {
    Priority(&'a Priority),
    Expedited,
}

/// All elements of a collection, or those of a section.
#[doc(hidden)]
pub struct Many<C> {
    collection: CollectionId,
    section: Option<SectionId>,
    chare: PhantomData<fn() -> C>,
}

impl<C> Clone for One<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C> Copy for One<C> {}

impl<C> Clone for OneWith<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C> Copy for OneWith<'_, C> {}

impl<C> Clone for Many<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C> Copy for Many<C> {}

impl<C: Chare> SendTo<C> for One<C> {
    type Reply<R> = Call<R>;
    type Sent = ();

    #[inline(always)]
    fn send<A: Args>(&self, entry: Entry<C, A>, args: A) {
        self.post(entry, args);
    }

    #[inline(always)]
    fn post<A: Args>(&self, entry: Entry<C, A>, args: A) {
        // SAFETY: used for this call only.
        let pe = unsafe { current_ref() };
        pe.invoke::<C::Index, A>(self.id, &C::ENTRIES[entry.number as usize], args, SendOptions::default());
    }

    fn call<A: Args, R>(&self, entry: Entry<C, A, R>, args: A) -> Call<R> {
        let id = self.id;
        Call::new(move |pe, reply| {
            pe.invoke::<C::Index, A>(id, &C::ENTRIES[entry.number as usize], args, reply_to(reply))
        })
    }
}

impl<C: Chare> SendTo<C> for OneWith<'_, C> {
    type Reply<R> = Call<R>;
    type Sent = ();

    fn send<A: Args>(&self, entry: Entry<C, A>, args: A) {
        self.post(entry, args);
    }

    fn post<A: Args>(&self, entry: Entry<C, A>, args: A) {
        let options = self.urgency.send_options();
        current(|pe| {
            pe.invoke::<C::Index, A>(self.id, &C::ENTRIES[entry.number as usize], args, options);
        });
    }

    fn call<A: Args, R>(&self, entry: Entry<C, A, R>, args: A) -> Call<R> {
        let (id, mut options) = (self.id, self.urgency.send_options());
        Call::new(move |pe, reply| {
            options.extra.get_or_insert_default().reply = Some(reply);
            pe.invoke::<C::Index, A>(id, &C::ENTRIES[entry.number as usize], args, options);
        })
    }
}

impl Urgency<'_> {
    #[inline]
    fn send_options(self) -> SendOptions {
        match self {
            Urgency::Priority(priority) => SendOptions::with_priority(priority),
            Urgency::Expedited => SendOptions::EXPEDITED,
        }
    }
}

fn reply_to(reply: Route) -> SendOptions {
    match reply {
        Route::Ignore => SendOptions::default(),
        reply => Extra { reply: Some(reply), ..Extra::default() }.into(),
    }
}

impl<C: Chare> SendTo<C> for Many<C> {
    type Reply<R> = Collective<R>;
    type Sent = Collective<()>;

    fn send<A: Args>(&self, entry: Entry<C, A>, args: A) -> Collective<()> {
        self.call(entry, args)
    }

    fn post<A: Args>(&self, entry: Entry<C, A>, args: A) {
        drop(self.send(entry, args));
    }

    fn call<A: Args, R>(&self, entry: Entry<C, A, R>, args: A) -> Collective<R> {
        Collective::new(self.collection, self.section, entry.number, pack::<C, A, R>(entry, args))
    }
}

/// Packs the arguments of a call to many.
fn pack<C: Chare, A: Args, R>(entry: Entry<C, A, R>, args: A) -> talisman_pup::Packed {
    let entry = &C::ENTRIES[entry.number as usize];
    talisman_kernel::entry_info::pack_args(&entry.args, args, || {
        format!("`{}::{}` for many", C::name(), entry.name)
    })
}

macro_rules! proxy {
    ($(#[$doc:meta])* $proxy:ident<$($life:lifetime,)? C>, $target:ty) => {
        $(#[$doc])*
        pub struct $proxy<$($life,)? C: Chare> {
            entries: C::Entries<$target>,
        }

        impl<$($life,)? C: Chare> Clone for $proxy<$($life,)? C> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($life,)? C: Chare> Copy for $proxy<$($life,)? C> {}

        impl<$($life,)? C: Chare> Deref for $proxy<$($life,)? C> {
            type Target = C::Entries<$target>;

            #[inline(always)]
            fn deref(&self) -> &Self::Target {
                &self.entries
            }
        }

        impl<$($life,)? C: Chare> $proxy<$($life,)? C> {
            #[inline(always)]
            fn of(target: $target) -> Self {
                $proxy { entries: Wrap::wrap(target) }
            }

            #[inline(always)]
            #[allow(dead_code, reason = "a prioritized proxy is only called")]
            fn target(&self) -> &$target {
                self.entries.__target()
            }
        }
    };
}

proxy!(
    /// A handle on one chare: an element of an array, a member of a group, a chare of its own.
    ///
    /// Its entries are methods; calling one sends a message. A plain value: send it, store it, compare it.
    Proxy<C>, One<C>
);
proxy!(
    /// A [`Proxy`] whose messages have a priority: `proxy.with_priority(&Priority::int(-1)).work(x)`.
    Prioritized<'a, C>, OneWith<'a, C>
);
proxy!(
    /// A handle on a whole array. Calling an entry on it calls it on every element: a broadcast. All elements receive the
    /// broadcasts to their array in the same order. Which elements those are while some are inserted and go, says
    /// [`insert`](Array::insert).
    Array<C>, Many<C>
);
proxy!(
    /// A handle on a chosen part of an array or group, with a multicast and reductions of its own.
    Section<C>, Many<C>
);
proxy!(
    /// A handle on a group or nodegroup.
    Group<C>, Many<C>
);

impl<C: Chare> Proxy<C> {
    pub(crate) fn to(id: ObjId) -> Self {
        Self::of(One { id, chare: PhantomData })
    }

    pub(crate) fn id(&self) -> ObjId {
        self.target().id
    }

    /// The index of the object.
    pub fn index(&self) -> C::Index {
        C::Index::from_bits(self.id().index)
    }

    /// A callback to an entry of this chare: `driver.callback(Driver::residual)`.
    pub fn callback<A: Args, R>(&self, entry: Entry<C, A, R>) -> Callback<A::Value> {
        Callback::to(Route::Entry(self.id(), entry.number))
    }

    /// The same chare, by messages of this priority (Charm++ manual: "message priorities"). Smaller is more urgent.
    pub fn with_priority<'a>(&self, priority: &'a Priority) -> Prioritized<'a, C> {
        self.urgent(Urgency::Priority(priority))
    }

    /// The same chare, by messages that wait for nothing but the entry that runs.
    pub fn expedited(&self) -> Prioritized<'static, C> {
        self.urgent(Urgency::Expedited)
    }

    fn urgent<'a>(&self, urgency: Urgency<'a>) -> Prioritized<'a, C> {
        Prioritized::of(OneWith { id: self.id(), urgency, chare: PhantomData })
    }
}

impl<C: Chare> PartialEq for Proxy<C> {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl<C: Chare> Eq for Proxy<C> {}

impl<C: Chare> fmt::Debug for Proxy<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{:?}]", C::name(), self.index())
    }
}

impl<C: Chare> Pup for Proxy<C> {
    const MIN_SIZE: usize = ObjId::MIN_SIZE;

    fn pack(&self, p: &mut Packer) {
        self.id().pack(p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(Self::to(ObjId::unpack(u)?))
    }
}

macro_rules! named {
    ($($proxy:ident)*) => { $(
        impl<C: Chare> Named for $proxy<C> {
            const KEY: u64 = join(key(stringify!($proxy)), C::KEY);

            fn name() -> String {
                format!("{}<{}>", stringify!($proxy), C::name())
            }
        }
    )* };
}
named!(Proxy Array Section Group);

macro_rules! handles_on_many {
    ($($proxy:ident)*) => { $(
        impl<C: Chare> $proxy<C> {
            pub(crate) fn make(collection: CollectionId, section: Option<SectionId>) -> Self {
                Self::of(Many { collection, section, chare: PhantomData })
            }

            /// A callback that broadcasts to these.
            pub fn callback<A: Args, R>(&self, entry: Entry<C, A, R>) -> Callback<A::Value> {
                let Many { collection, section, .. } = *self.target();
                Callback::to(Route::Broadcast(collection, section, entry.number))
            }
        }

        impl<C: Chare> PartialEq for $proxy<C> {
            fn eq(&self, other: &Self) -> bool {
                (self.target().collection, self.target().section) == (other.target().collection, other.target().section)
            }
        }

        impl<C: Chare> fmt::Debug for $proxy<C> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}<{}>({:?})", stringify!($proxy), C::name(), self.target().collection)
            }
        }

        impl<C: Chare> Pup for $proxy<C> {
            const MIN_SIZE: usize = CollectionId::MIN_SIZE + 1;

            fn pack(&self, p: &mut Packer) {
                self.target().collection.pack(p);
                self.target().section.pack(p);
            }

            fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
                Ok(Self::make(Pup::unpack(u)?, Pup::unpack(u)?))
            }
        }
    )* };
}
handles_on_many!(Array Section Group);

macro_rules! destroyed {
    ($($proxy:ident: $what:literal)*) => { $(
        impl<C: Chare> $proxy<C> {
            #[doc = concat!("Destroys the whole ", $what, ", on all PEs (Charm++: `ckDestroy`).")]
            ///
            /// Elements receive what was broadcast before, and then go, like those that [`cx.destroy()`](crate::Cx::destroy) themselves: they are
            /// dropped, and reductions that are open are complete without them. Its sections end with it. What all PEs kept of it is given
            /// back, and it is in no checkpoint any more.
            ///
            /// What was sent to single elements may come too late, and whatever is sent to it later does. Such messages are dropped: the first
            /// on each PE is said on standard error, and a job that gets stuck because somebody waits for an answer says so.
            ///
            /// ```
            /// use talisman::prelude::*;
            /// use talisman::testing::Test;
            ///
            /// #[derive(Pup)]
            /// struct Square;
            ///
            /// #[chare(array1d)]
            /// impl Square {
            ///     #[init]
            ///     fn new() -> Self {
            ///         Square
            ///     }
            ///
            ///     #[entry]
            ///     fn of_index(&mut self, cx: &mut Cx<Self>) -> i32 {
            ///         cx.index() * cx.index()
            ///     }
            /// }
            ///
            /// #[talisman::main]
            /// async fn main(cx: &mut Cx) {
            ///     for n in 1..100 {
            ///         let squares: Array<Square> = Square::array(n).new();
            ///         let sum: i32 = squares.of_index().reduce(Sum).await;
            ///         assert_eq!(sum, (n - 1) * n * (2 * n - 1) / 6);
            ///         squares.destroy();
            ///     }
            ///     cx.exit();
            /// }
            /// # fn test() { assert_eq!(Test::new().pes(2).run::<__Main>(()).status, 0); }
            /// # test();
            /// ```
            pub fn destroy(self) {
                let id = self.target().collection;
                current(|pe| pe.destroy_collection(id));
            }
        }
    )* };
}
destroyed!(Array: "array" Group: "group");

impl<C: Chare> Array<C> {
    /// One element. It need not exist yet, nor be here: what is called meanwhile waits for it. If it never comes, a job that gets stuck says so
    /// and fails, and one that ends well says so in a warning and in its report (`undelivered`).
    ///
    /// # Panics
    /// If the index does not fit into the type of this array's indices.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, index: impl IntoIndex<C::Index>) -> Proxy<C> {
        Proxy::to(self.object(index))
    }

    #[inline(always)]
    #[track_caller]
    fn object(&self, index: impl IntoIndex<C::Index>) -> ObjId {
        ObjId { collection: self.target().collection, index: index.into_index().to_bits() }
    }

    /// A part of the array with a multicast and reductions of its own. It lives as long as the array, or until it is
    /// [destroyed](Section::destroy); made once, it can be sent and kept like any value.
    pub fn section(&self, indices: impl IntoIterator<Item = C::Index>) -> Section<C> {
        let members = indices.into_iter().map(C::Index::to_bits).collect();
        let of = self.target().collection;
        Section::make(of, Some(current(|pe| pe.make_section(of, members))))
    }

    /// An element to be added: `pairs.insert(index).new(args)`.
    ///
    /// **Broadcasts.** Where an element is made, and when, has no part in which broadcasts it receives.
    ///
    /// - One that an element of the same array inserts receives those that this one receives after the entry, or would if it stayed: not the
    ///   one whose entry inserts it, and each that is called by whoever knows of the insertion, directly or by way of others. (One that has
    ///   just moved may have to catch up with broadcasts that were called before; it hands none of these on.)
    /// - One that is inserted from outside, by a chare of another type, comes into the order of broadcasts where its insertion comes
    ///   to the PE that made the array: after those that its inserter called before, and those that anybody had received of whom it had
    ///   heard; before those that whoever knows of the insertion calls later.
    ///
    /// **Reductions.** One that an element inserts contributes from the next reduction on to which this one contributes, so
    /// contribute first if the newborn is not told to. One that is inserted from outside contributes to the first
    /// that is not complete when the insertion comes to the PE that made the array: insert when none is open.
    ///
    /// An element that goes (`cx.destroy()`) receives nothing after the entry in which it says so.
    ///
    /// # Panics
    /// If the index does not fit into the type of this array's indices.
    #[track_caller]
    pub fn insert(&self, index: impl IntoIndex<C::Index>) -> Insert<C> {
        insert(self.object(index))
    }

    /// Says that every first element was inserted (or that its insertion was sent off): reductions over the array
    /// complete from now on.
    pub fn done_inserting(&self) {
        let id = self.target().collection;
        current(|pe| pe.done_inserting(id));
    }
}

impl<C: Chare> Section<C> {
    /// Ends the section, and not its members: what was kept of it is given back. Multicasts that were sent before reach them; whoever waits
    /// for a reduction over it that is not complete waits in vain, and what is contributed or sent to it later is dropped. Both are said
    /// as for an [array that is destroyed](Array::destroy).
    pub fn destroy(self) {
        let Many { collection, .. } = *self.target();
        let section = self.section();
        current(|pe| pe.destroy_section(collection, section));
    }

    pub(crate) fn section(&self) -> SectionId {
        self.target().section.expect("a section has a name")
    }
}

impl<C: Chare> Group<C> {
    /// The member on a PE (of a nodegroup: on a node). Of a lost one: that of the PE (node) in its place.
    ///
    /// # Panics
    /// If there is no such PE (node).
    #[track_caller]
    pub fn on(&self, place: PeId) -> Proxy<C> {
        match C::KIND {
            Kind::NodeGroup => check_node(place),
            _ => check_pe(place),
        }
        Proxy::to(ObjId { collection: self.target().collection, index: place.to_bits() })
    }

    /// The member on the caller's PE (of a nodegroup: node).
    pub fn here(&self) -> Proxy<C> {
        self.on(current(|pe| match C::KIND {
            Kind::NodeGroup => pe.node.number,
            _ => pe.id,
        }))
    }

    /// A part of the group, by PEs (nodes). Members of lost ones are left out.
    pub fn section(&self, places: impl IntoIterator<Item = PeId>) -> Section<C> {
        let of = self.target().collection;
        let section = current(|pe| {
            let view = pe.view();
            let there = |place| match C::KIND {
                Kind::NodeGroup => view.of_nodes().acting_for(place),
                _ => view.acting_for(place),
            };
            pe.make_section(of, places.into_iter().map(|place| there(place).to_bits()).collect())
        });
        Section::make(of, Some(section))
    }
}
