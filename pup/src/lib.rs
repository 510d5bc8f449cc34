//! PUP, *pack and unpack*: how an object's state and its messages become bytes and come back.
//!
//! One trait, [`Pup`], serves messages, migration and checkpoints, and `#[derive(Pup)]` writes it:
//!
//! ```
//! # extern crate talisman_pup as talisman;
//! use talisman::pup::{Pup, from_bytes, to_bytes};
//!
//! #[derive(Pup, PartialEq, Debug)]
//! struct Block {
//!     cells: Vec<f64>,
//!     at: (i32, i32),
//!     #[pup(skip)] // rebuilt with `Default`
//!     scratch: Vec<f64>,
//! }
//!
//! # fn main() {
//! let block = Block { cells: vec![0.5; 3], at: (1, -1), scratch: vec![] };
//! let bytes = to_bytes(&block);
//! assert_eq!(from_bytes::<Block>(&bytes).unwrap(), block);
//!
//! // Bytes from outside never panic; the error has the path of the field.
//! let error = from_bytes::<Block>(&bytes[..34]).unwrap_err();
//! assert_eq!(error.to_string(), "Block.at.0: 4 bytes wanted, 2 left (at byte 32)");
//! # }
//! ```
//!
//! The format is little-endian, of fixed width and independent of the pointer size; `format.md` of the package has it byte
//! by byte. The attributes of the derive are listed at the derive macro [`macro@Pup`].
//!
//! What cannot be packed, by design: `Rc`, `Arc` and references, because sharing would not survive the trip.

#[cfg(target_endian = "big")]
compile_error!(
    "Talisman's format is little-endian and plain slices travel as memory: big-endian targets need a port"
);

// Generated code says `::talisman::pup::…`, because programs depend on the root package. These two lines make the same
// paths work inside this crate.
extern crate self as talisman;
#[doc(hidden)]
pub mod pup {
    pub use crate::*;
}

mod bulk;
mod depth;
mod error;
mod found;
mod id;
mod impls;
mod keep;
mod lender;
pub mod limits;
mod mapped;
mod object;
mod packed;
mod packer;
mod page;
mod pages;
mod scratch;
mod segment;
mod streamed;
mod tail;
mod unpacker;
pub mod via_serde;
mod whole;

pub use bulk::{Plain, PlainProof};
pub use error::{Fault, PupError};
pub use found::{FoundAtOnce, find_at_once, found_at_once};
pub use id::{Named, Value, join, key};
pub use keep::{Kept, PutOff, PuttingOff};
pub use lender::{Lender, pack_away, pack_away_with};
pub use object::{Object, ObjectClash, ObjectEntry, check_object_names, pack_object, unpack_object};
pub use packed::Packed;
pub use packer::{Packer, Purpose};
pub use page::{Page, PageRun};
pub use pages::{Leasing, PageMemory, PageSource, Pages, lease_from};
pub use scratch::ScratchPacker;
pub use segment::{ALIGN_MAX, SEGMENT_MIN, Segment, SegmentBuffer, SegmentError};
pub use tail::Tail;
pub use unpacker::Unpacker;
pub use whole::{from_bytes, moves_between_threads, size_of_packed, to_bytes, try_to_bytes};

/// Writes [`trait@Pup`] and [`Named`].
///
/// ```
/// # extern crate talisman_pup as talisman;
/// use talisman::pup::{Pup, from_bytes, to_bytes};
///
/// #[derive(Pup)]
/// #[pup(version = 2, restore = Leaf::index)]
/// struct Leaf<T> {
///     value: T,
///     #[pup(since = 2, default = 1.0)] // not in checkpoints of version 1
///     weight: f64,
///     #[pup(skip)] // not packed: `index` fills it again
///     names: Vec<String>,
/// }
///
/// impl<T> Leaf<T> {
///     fn index(&mut self) {
///         self.names.push("the leaf".into());
///     }
/// }
///
/// # fn main() {
/// let version_1 = [1, 0, 42];
/// let leaf: Leaf<u8> = from_bytes(&version_1).unwrap();
/// assert_eq!((leaf.value, leaf.weight, leaf.names.len()), (42, 1.0, 1));
/// assert_eq!(to_bytes(&leaf)[..3], [2, 0, 42]);
/// # }
/// ```
pub use talisman_pup_derive::Pup;

/// Makes the boxed objects of a trait packable.
///
/// ```
/// # extern crate talisman_pup as talisman;
/// use talisman::pup::{Pup, from_bytes, pup_object, to_bytes};
///
/// #[pup_object]
/// trait Shape {
///     fn area(&self) -> f64;
/// }
///
/// #[derive(Pup)]
/// struct Square(f64);
///
/// #[pup_object]
/// impl Shape for Square {
///     fn area(&self) -> f64 {
///         self.0 * self.0
///     }
/// }
///
/// # fn main() {
/// let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(3.0))];
/// let back: Vec<Box<dyn Shape>> = from_bytes(&to_bytes(&shapes)).unwrap();
/// assert_eq!(back[0].area(), 9.0);
/// # }
/// ```
pub use talisman_pup_derive::pup_object;

#[doc(hidden)]
pub use impls::{Carries, Trip};
#[doc(hidden)]
pub use inventory;

/// State that can be packed, sent, checkpointed and rebuilt.
///
/// Normally derived. A hand-written one is the place where an invariant is checked as bytes come in:
///
/// ```
/// # extern crate talisman_pup as talisman;
/// use talisman::pup::{Packer, Pup, PupError, Unpacker};
///
/// struct Matrix { columns: usize, values: Vec<f64> }
///
/// impl Pup for Matrix {
///     fn pack(&self, p: &mut Packer) {
///         self.columns.pack(p);
///         self.values.pack(p);
///     }
///     fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
///         let columns = usize::unpack(u).map_err(|e| e.field("columns"))?;
///         let values = Vec::<f64>::unpack(u).map_err(|e| e.field("values"))?;
///         if columns == 0 || values.len() % columns != 0 {
///             return Err(u.invalid(format!("{} values do not fill rows of {columns}", values.len())));
///         }
///         Ok(Matrix { columns, values })
///     }
/// }
/// ```
///
/// Corresponds to the `pup` method of Charm++, split in two so that no default value is needed to unpack into.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent or checkpointed: it does not implement `Pup`",
    label = "this type is not `Pup`",
    note = "if it is yours, add `#[derive(Pup)]` to it",
    note = "as a field: `#[pup(skip)]` leaves it out (rebuilt with `Default`), `#[pup(serde)]` uses its serde impl, `#[pup(with = module)]` names your own two functions"
)]
pub trait Pup: Sized {
    /// The fewest bytes a value can take. It bounds what a hostile length can make a reader allocate, so the truth
    /// matters: too high refuses good data, and 0 is always safe.
    const MIN_SIZE: usize = 0;

    /// Evidence that slices of this type may be copied as memory.
    #[doc(hidden)]
    const PLAIN: Option<PlainProof<Self>> = None;

    /// Writes `self`. May be called twice for one trip, to size and to pack, and has to write the same both times.
    fn pack(&self, p: &mut Packer);

    /// Writes `self` where it stays alive for `'a`: large plain slices of it need no copy. By default everything is
    /// copied, which is right for whatever `pack` makes on its way.
    ///
    /// Forwards to the parts' own, in the order of [`Pup::pack`], wherever that packs a part as it is.
    #[inline]
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        self.pack(l.packer());
    }

    /// Rebuilds a value. Never trusts its input.
    ///
    /// # Errors
    /// When the bytes are not those of a value; the error names the field and the offset.
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError>;

    /// Writes the elements, without their number.
    #[doc(hidden)]
    #[inline]
    fn pack_slice(slice: &[Self], p: &mut Packer) {
        bulk::pack_slice(slice, p)
    }

    /// Reads `len` elements.
    #[doc(hidden)]
    #[inline]
    fn unpack_vec(len: usize, u: &mut Unpacker<'_>) -> Result<Vec<Self>, PupError> {
        bulk::unpack_vec(len, u)
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
