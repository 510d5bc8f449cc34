//! Which values can be sent, and in which buffers they are.

use talisman_pup::Plain;

use crate::collective::Values;
use crate::datatype::{Basic, Datatype, Datatypes};
use crate::engine::Buffer as EngineBuffer;

/// A value that can be sent. All ranks of a job are of one program on machines of one kind, so a value is sent as its
/// bytes; [`Plain`] is the proof that it can be. Reductions work on its basic values.
///
/// A structure of the program's own derives it, and `Pup` with `#[pup(plain)]`:
///
/// ```
/// # extern crate talisman_core as talisman;
/// use talisman_ampi::api::{Error, Universe, traits::*};
/// use talisman_pup::Pup;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Pup, Equivalence)]
/// #[repr(C)]
/// #[pup(plain)]
/// struct Atom {
///     at: [f64; 3],
///     number: u64,
/// }
///
/// fn program(universe: Universe) -> Result<(), Error> {
///     let (world, rank) = (universe.world(), universe.world().rank());
///     let peer = world.process_at_rank(1 - rank);
///     peer.send(&Atom { at: [0.5; 3], number: rank as u64 })?;
///     assert_eq!(peer.receive::<Atom>()?.0, Atom { at: [0.5; 3], number: 1 - rank as u64 });
///     Ok(())
/// }
/// # fn main() {
/// # talisman_ampi::api::run_alone(2, program);
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent between ranks",
    note = "integers of a fixed width, floats, and plain structures that derive `Equivalence` can"
)]
pub trait Equivalence: Plain {
    /// What reductions work on; bytes have none.
    const BASIC: Basic = Basic::Byte;
}

macro_rules! basics {
    ($($type:ty => $basic:ident),*) => {
        $(impl Equivalence for $type {
            const BASIC: Basic = Basic::$basic;
        })*
    };
}

basics! {
    i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f32 => F32, f64 => F64
}

/// The same as deriving it, for structures that others have declared.
///
/// ```
/// use talisman_pup::Pup;
/// # extern crate talisman_core as talisman;
///
/// #[derive(Clone, Copy, Pup)]
/// #[repr(C)]
/// #[pup(plain)]
/// struct Atom {
///     at: [f64; 3],
///     speed: [f64; 3],
/// }
///
/// talisman_ampi::equivalence!(Atom);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! equivalence {
    ($($type:ty),+ $(,)?) => {
        $(impl $crate::api::datatype::Equivalence for $type {})+
    };
}

/// Values to be sent: one, an array, a slice, a vector.
pub trait Buffer {
    /// What they are.
    type Value: Equivalence;

    /// The values.
    fn values(&self) -> &[Self::Value];
}

/// Values to be received into.
pub trait BufferMut: Buffer {
    /// The values.
    fn values_mut(&mut self) -> &mut [Self::Value];
}

impl<T: Equivalence> Buffer for T {
    type Value = T;

    fn values(&self) -> &[T] {
        std::slice::from_ref(self)
    }
}

impl<T: Equivalence> BufferMut for T {
    fn values_mut(&mut self) -> &mut [T] {
        std::slice::from_mut(self)
    }
}

impl<T: Equivalence, const N: usize> Buffer for [T; N] {
    type Value = T;

    fn values(&self) -> &[T] {
        self
    }
}

impl<T: Equivalence, const N: usize> BufferMut for [T; N] {
    fn values_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: Equivalence> Buffer for [T] {
    type Value = T;

    fn values(&self) -> &[T] {
        self
    }
}

impl<T: Equivalence> BufferMut for [T] {
    fn values_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: Equivalence> Buffer for Vec<T> {
    type Value = T;

    fn values(&self) -> &[T] {
        self
    }
}

impl<T: Equivalence> BufferMut for Vec<T> {
    fn values_mut(&mut self) -> &mut [T] {
        self
    }
}

/// Where values lie, for messages.
pub(super) fn bytes_of<T>(values: &[T]) -> EngineBuffer {
    EngineBuffer::of_bytes(address_of(values), size_of_val(values) as u64)
}

/// The same for values that are written to.
pub(super) fn bytes_of_mut<T>(values: &mut [T]) -> EngineBuffer {
    EngineBuffer::of_bytes(address_of_mut(values), size_of_val(values) as u64)
}

/// The address under which collectives know a buffer.
pub(super) fn address_of<T>(values: &[T]) -> u64 {
    values.as_ptr().expose_provenance() as u64
}

/// The same for a buffer that is written to.
pub(super) fn address_of_mut<T>(values: &mut [T]) -> u64 {
    values.as_mut_ptr().expose_provenance() as u64
}

/// How collectives see basic values of `T`.
pub(super) fn basic_values<T: Equivalence>() -> Values {
    Values::of(Datatypes::handle_of(T::BASIC), &Datatype::of(T::BASIC))
}

/// Basic values in `count` values of `T`.
pub(super) fn basics_in<T: Equivalence>(count: usize) -> u64 {
    (count * size_of::<T>()) as u64 / T::BASIC.size()
}
