//! Creation, as programs write it: `Block::array(dims).map(m).new(args)`.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::chare::{Args, Chare, Create, WrapInit};
use crate::chare_type::number_of;
use crate::lifecycle::CreationOnPe;
use crate::lifecycle::insert::InsertionsOnPe;
use crate::proxy::{Array, Group, Proxy};
use talisman_base::ids::{CollectionId, ObjId, PeId};
use talisman_base::index::{ArrayIndex, Bounds, Elements, Extent};
use talisman_base::map::{IntoMap, Map};
use talisman_kernel::collection::description::{Description, Fill};
use talisman_kernel::entry_info::pack_args;
use talisman_kernel::kind::Kind;
use talisman_kernel::message::send_options::SendOptions;
use talisman_kernel::pe::{Pe, check_pe, current};
use talisman_sched::priority::Priority;

/// An array about to be created. Name the `#[init]`: `Block::array((4, 4)).new(args)`.
#[must_use = "name the `#[init]` to create with: `T::array(n).new(…)`"]
pub struct ArrayBuilder<C: Chare> {
    inits: C::Inits<NewArray<C>>,
}

/// A group about to be created: `Counter::group().new()`.
#[must_use = "name the `#[init]` to create with: `T::group().new(…)`"]
pub struct GroupBuilder<C: Chare> {
    inits: C::Inits<NewGroup<C>>,
}

/// A chare of its own about to be created: `Tree::chare().new(args)`.
#[must_use = "name the `#[init]` to create with: `T::chare().new(…)`"]
pub struct SingleBuilder<C: Chare> {
    inits: C::Inits<NewSingle<C>>,
}

/// An element about to be inserted: `pairs.insert(index).new(args)`.
#[must_use = "name the `#[init]` to create with: `array.insert(index).new(…)`"]
pub struct Insert<C: Chare> {
    inits: C::Inits<NewElement<C>>,
}

macro_rules! builders {
    ($($builder:ident $new:ident)*) => { $(
        impl<C: Chare> Deref for $builder<C> {
            type Target = C::Inits<$new<C>>;

            fn deref(&self) -> &Self::Target {
                &self.inits
            }
        }
    )* };
}
builders!(ArrayBuilder NewArray GroupBuilder NewGroup SingleBuilder NewSingle Insert NewElement);

#[doc(hidden)]
pub struct NewArray<C> {
    bounds: Option<Bounds>,
    indices: Option<Vec<u128>>,
    map: Map,
    chare: PhantomData<fn() -> C>,
}

#[doc(hidden)]
pub struct NewGroup<C>(PhantomData<fn() -> C>);

#[doc(hidden)]
pub struct NewSingle<C> {
    pe: Option<PeId>,
    priority: Option<Priority>,
    chare: PhantomData<fn() -> C>,
}

#[doc(hidden)]
pub struct NewElement<C> {
    id: ObjId,
    pe: Option<PeId>,
    chare: PhantomData<fn() -> C>,
}

impl<C: Chare> ArrayBuilder<C> {
    #[track_caller]
    pub(crate) fn make(extent: impl Extent<C::Index>) -> Self {
        let (bounds, indices) = match extent.elements() {
            Elements::Dense(bounds) => (Some(bounds), None),
            Elements::Listed(indices) => (None, Some(indices.into_iter().map(C::Index::to_bits).collect())),
        };
        Self::of(NewArray { bounds, indices, map: Map::Block, chare: PhantomData })
    }

    fn of(new: NewArray<C>) -> Self {
        ArrayBuilder { inits: WrapInit::wrap(new) }
    }

    fn new_array(&self) -> &NewArray<C> {
        self.inits.__target()
    }

    /// Where elements are placed at first, and their home: [`Map::Block`] unless said, or a
    /// [`Placement`](talisman_base::map::Placement) of the program's own.
    pub fn map(self, map: impl IntoMap<C::Index>) -> Self {
        let NewArray { bounds, indices, .. } = self.new_array();
        Self::of(NewArray {
            bounds: *bounds,
            indices: indices.clone(),
            map: map.into_map(),
            chare: PhantomData,
        })
    }

    /// Arguments that differ per element: `.each(|(i, j), new| { new.new(table[i][j]); })`.
    pub fn each(self, mut f: impl FnMut(C::Index, Insert<C>)) -> Array<C> {
        let new = self.new_array();
        let id = current(|pe| new.announce(pe, None, None));
        new.each_index(|bits| f(C::Index::from_bits(bits), insert(ObjId { collection: id, index: bits })));
        let array: Array<C> = Array::make(id, None);
        array.done_inserting();
        array
    }
}

impl<C: Chare> NewArray<C> {
    fn announce(&self, pe: &Pe, elements: Option<u64>, fill: Option<Fill>) -> CollectionId {
        let (_, chare) = number_of::<C>();
        let id = pe.name_collection();
        let (bounds, map) = (self.bounds, self.map.clone());
        pe.announce(Description { id, key: chare.key, bounds, map, pes: pe.pes(), elements, fill });
        id
    }

    fn len(&self) -> u64 {
        self.bounds.as_ref().map_or_else(|| self.indices.as_ref().map_or(0, Vec::len) as u64, Bounds::len)
    }

    fn each_index(&self, mut f: impl FnMut(u128)) {
        match (&self.bounds, &self.indices) {
            (Some(bounds), _) => {
                bounds.indices::<C::Index>(0..bounds.len()).for_each(|index| f(index.to_bits()))
            }
            (None, indices) => indices.iter().flatten().for_each(|index| f(*index)),
        }
    }
}

impl<C: Chare> Create<C> for NewArray<C> {
    type Made = Array<C>;

    fn create<A: Args>(&self, init: u16, args: A) -> Array<C> {
        let fill = Fill { init, args: pack_init::<C, A>(init, args), indices: self.indices.clone() };
        Array::make(current(|pe| self.announce(pe, Some(self.len()), Some(fill))), None)
    }
}

/// The arguments of each element of a new collection.
fn pack_init<C: Chare, A: Args>(init: u16, args: A) -> talisman_pup::Packed {
    let init = &C::INITS[init as usize];
    pack_args(&init.args, args, || {
        format!("`{}::{}` for the elements of a new collection", C::name(), init.name)
    })
}

/// An array without elements yet.
pub(crate) fn sparse<C: Chare>() -> Array<C> {
    let new = NewArray::<C> { bounds: None, indices: None, map: Map::Hash, chare: PhantomData };
    Array::make(current(|pe| new.announce(pe, None, None)), None)
}

impl<C: Chare> GroupBuilder<C> {
    pub(crate) fn make() -> Self {
        GroupBuilder { inits: WrapInit::wrap(NewGroup(PhantomData)) }
    }
}

impl<C: Chare> Create<C> for NewGroup<C> {
    type Made = Group<C>;

    fn create<A: Args>(&self, init: u16, args: A) -> Group<C> {
        let fill = Fill { init, args: pack_init::<C, A>(init, args), indices: None };
        let (_, chare) = number_of::<C>();
        let id = current(|pe| {
            let id = pe.name_collection();
            let view = pe.view();
            let members = if C::KIND == Kind::NodeGroup { view.nodes().len() as u32 } else { view.pes() };
            let (bounds, map, elements) = (None, Map::Hash, Some(members.into()));
            let (pes, fill) = (pe.pes(), Some(fill));
            pe.announce(Description { id, key: chare.key, bounds, map, pes, elements, fill });
            id
        });
        Group::make(id, None)
    }
}

impl<C: Chare> SingleBuilder<C> {
    pub(crate) fn make() -> Self {
        Self::of(NewSingle { pe: None, priority: None, chare: PhantomData })
    }

    fn of(new: NewSingle<C>) -> Self {
        SingleBuilder { inits: WrapInit::wrap(new) }
    }

    /// On this PE, rather than where the runtime likes.
    ///
    /// # Panics
    /// If there is no such PE.
    #[track_caller]
    pub fn on(self, pe: PeId) -> Self {
        check_pe(pe);
        let NewSingle { priority, .. } = self.inits.__target();
        Self::of(NewSingle { pe: Some(pe), priority: priority.clone(), chare: PhantomData })
    }

    /// How urgent its creation is, among the other messages of its PE.
    pub fn with_priority(self, priority: &Priority) -> Self {
        let NewSingle { pe, .. } = *self.inits.__target();
        Self::of(NewSingle { pe, priority: Some(priority.clone()), chare: PhantomData })
    }
}

impl<C: Chare> Create<C> for NewSingle<C> {
    type Made = Proxy<C>;

    fn create<A: Args>(&self, init: u16, args: A) -> Proxy<C> {
        let (number, _) = number_of::<C>();
        let options = self.priority.as_ref().map(SendOptions::with_priority).unwrap_or_default();
        let collection = CollectionId::singles(number);
        let init = &C::INITS[init as usize];
        Proxy::to(current(|pe| pe.create_single(collection, self.pe, init, args, options)))
    }
}

/// An element to be inserted.
pub(crate) fn insert<C: Chare>(id: ObjId) -> Insert<C> {
    Insert { inits: WrapInit::wrap(NewElement { id, pe: None, chare: PhantomData }) }
}

impl<C: Chare> Insert<C> {
    /// On this PE, rather than at its home.
    ///
    /// # Panics
    /// If there is no such PE.
    #[track_caller]
    pub fn on(self, pe: PeId) -> Self {
        check_pe(pe);
        let id = self.inits.__target().id;
        Insert { inits: WrapInit::wrap(NewElement { id, pe: Some(pe), chare: PhantomData }) }
    }
}

impl<C: Chare> Create<C> for NewElement<C> {
    type Made = Proxy<C>;

    fn create<A: Args>(&self, init: u16, args: A) -> Proxy<C> {
        current(|pe| pe.insert(self.id, self.pe, &C::INITS[init as usize], args));
        Proxy::to(self.id)
    }
}
