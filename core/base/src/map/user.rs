//! Maps of the user's own.
//!
//! A map has to be the same function on every PE, so it must have a name on the wire. It is a value with a `pe`
//! method, rather than a function, because a value can be parametrised (a stripe width, a table), is packed
//! like everything else, and gets its name from `#[derive(Pup)]`; a function pointer has neither. It is registered with
//! [`register_map!`](crate::register_map), because the other processes must be able to unpack it without having
//! run the code that made it; the compiler asks for that. The type of the index is part of the impl, so a map for
//! another kind of array does not compile.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use talisman_pup::{Object, Packer, Pup, PupError, Unpacker, Value, pack_object, unpack_object};

use super::{Map, MapError};
use crate::index::{ArrayIndex, Bounds};

#[doc(hidden)]
pub use talisman_pup::{ObjectEntry, inventory};

/// A placement map of the user's own, given as `Block::array(dims).map(Stripes { width: 4 })`.
///
/// ```
/// # extern crate talisman_base as talisman;
/// use talisman::index::Bounds;
/// use talisman::map::Placement;
/// use talisman::pup::Pup;
///
/// /// `width` columns to a PE, then the next.
/// #[derive(Pup)]
/// struct Stripes {
///     width: i32,
/// }
///
/// impl Placement for Stripes {
///     type Index = (i32, i32);
///
///     fn pe(&self, (_, column): (i32, i32), _: Option<&Bounds>, pes: u32) -> u32 {
///         (column / self.width) as u32 % pes
///     }
/// }
///
/// talisman::register_map!(Stripes);
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a map of the program's own",
    note = "`impl Placement for {Self}` says where elements go, and `talisman::register_map!({Self});` makes it known"
)]
pub trait Placement: Registered + Value + Sync {
    /// The index of the arrays it places.
    type Index: ArrayIndex;

    /// The home PE of an element, below `pes`: a function of its arguments and the map's own data alone. `bounds` are
    /// those of an array created as a dense box.
    fn pe(&self, index: Self::Index, bounds: Option<&Bounds>, pes: u32) -> u32;
}

/// Types named in a [`register_map!`](crate::register_map).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not registered as a map, so other PEs could not unpack it",
    note = "add `talisman::register_map!({Self});` beside its `impl Placement`"
)]
pub trait Registered {}

/// Registers a type with `impl Placement`, so that every process can unpack it.
#[macro_export]
macro_rules! register_map {
    ($map:ty) => {
        impl $crate::map::Registered for $map {}
        $crate::map::inventory::submit! {
            $crate::map::map_entry::<$map>((file!(), line!()))
        }
    };
}

/// What `.map(…)` of an array with index `I` accepts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a map for arrays whose index is `{I}`",
    note = "`Map::Block`, `Map::RoundRobin`, `Map::Hash`, or a value with `impl Placement` for this index"
)]
pub trait IntoMap<I> {
    /// The map meant.
    fn into_map(self) -> Map;
}

impl<I: ArrayIndex> IntoMap<I> for Map {
    fn into_map(self) -> Map {
        self
    }
}

impl<P: Placement> IntoMap<P::Index> for P {
    fn into_map(self) -> Map {
        Map::User(UserMap(Arc::new(self)))
    }
}

/// A [`Placement`] without its types.
#[derive(Clone)]
pub struct UserMap(Arc<dyn Place>);

/// What remains of a [`Placement`].
trait Place: Object + Sync {
    fn place(&self, bits: u128, bounds: Option<&Bounds>, pes: u32) -> u32;
}

impl<P: Placement> Place for P {
    fn place(&self, bits: u128, bounds: Option<&Bounds>, pes: u32) -> u32 {
        self.pe(P::Index::from_bits(bits), bounds, pes)
    }
}

impl UserMap {
    /// What the map says, unchecked.
    pub(super) fn pe(&self, bits: u128, bounds: Option<&Bounds>, pes: u32) -> u32 {
        self.0.place(bits, bounds, pes)
    }

    #[cold]
    pub(super) fn error(&self, index: impl ArrayIndex, pe: u32, pes: u32) -> MapError {
        MapError { map: self.0.object_name(), index: format!("{index:?}"), pe, pes }
    }
}

impl fmt::Debug for UserMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.object_name())
    }
}

/// Its name, then its data.
impl Pup for UserMap {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        pack_object(&*self.0, p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let map: Box<dyn Place> = unpack_object("placement map (`talisman::register_map!`)", u)?;
        Ok(UserMap(map.into()))
    }
}

/// The entry that finds a map by its name.
#[doc(hidden)]
pub const fn map_entry<P: Placement>(place: (&'static str, u32)) -> ObjectEntry {
    fn unpack<P: Placement>(u: &mut Unpacker<'_>) -> Result<Box<dyn Any>, PupError> {
        let map: Box<dyn Place> = Box::new(P::unpack(u)?);
        Ok(Box::new(map))
    }
    ObjectEntry {
        of: TypeId::of::<dyn Place>,
        trait_name: "Placement",
        name: P::name,
        place,
        unpack: unpack::<P>,
    }
}

#[cfg(test)]
mod tests {
    use talisman_pup::{from_bytes, to_bytes};

    use super::*;

    /// Everything on one PE.
    #[derive(Pup)]
    #[pup(name = "tests::Only")]
    struct Only(u32);

    impl Placement for Only {
        type Index = (i32, i32);
        fn pe(&self, (i, j): (i32, i32), _: Option<&Bounds>, _: u32) -> u32 {
            assert_eq!((i, j), (-3, 7), "the index comes back from its bits");
            self.0
        }
    }

    crate::register_map!(Only);

    fn map_of<I>(map: impl IntoMap<I>) -> Map {
        map.into_map()
    }

    #[test]
    fn a_map_travels_by_its_name() {
        let map: Map = from_bytes(&to_bytes(&map_of(Only(2)))).unwrap();
        assert_eq!(map.pe((-3, 7), None, 4), Ok(2));
        assert_eq!(format!("{map:?}"), "User(tests::Only)");
    }

    #[test]
    fn a_pe_that_there_is_not() {
        let error = map_of(Only(4)).pe((-3, 7), None, 4).unwrap_err().to_string();
        let wanted = "the map `tests::Only` puts the element (-3, 7) on PE 4, but there are only PEs 0 to 3";
        assert_eq!(error, wanted);
    }

    #[test]
    fn an_unknown_map_is_named() {
        let bytes = to_bytes(&(3u8, String::from("elsewhere::Spiral")));
        let error = from_bytes::<Map>(&bytes).unwrap_err().to_string();
        assert!(error.contains("elsewhere::Spiral") && error.contains("register_map"), "{error}");
    }
}
