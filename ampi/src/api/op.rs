//! Operations of reductions (MPI-3.1, 5.9).

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::Error;
use super::datatype::{Equivalence, basic_values, basics_in};
use crate::collective::Values;
use crate::datatype::{Basic, Datatype};
use crate::op::{Ops, Predefined, Unfit};
use crate::process::{PerformError, UserCombine};
use crate::rank::call;

/// What a reduction does with values of `T`.
pub trait Operation<T: Equivalence> {
    #[doc(hidden)]
    fn plan(&self, count: usize) -> Result<Plan, Error>;
}

/// How a collective knows an operation, and the values that it works on.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub(super) op: u32,
    pub(super) values: Values,
    /// Values in one that the program gives.
    pub(super) count: u64,
    pub(super) is_commutative: bool,
}

/// An operation that MPI brings along. It works on the basic values of what it is given: on the numbers of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemOperation(Predefined);

impl SystemOperation {
    /// The largest.
    pub fn max() -> Self {
        SystemOperation(Predefined::Max)
    }

    /// The smallest.
    pub fn min() -> Self {
        SystemOperation(Predefined::Min)
    }

    /// The sum; integers wrap around. That of floats is formed in the order of ranks, so its bits are always the same.
    pub fn sum() -> Self {
        SystemOperation(Predefined::Sum)
    }

    /// The product; integers wrap around.
    pub fn product() -> Self {
        SystemOperation(Predefined::Product)
    }

    /// Whether all are not zero.
    pub fn logical_and() -> Self {
        SystemOperation(Predefined::LogicalAnd)
    }

    /// Whether one is not zero.
    pub fn logical_or() -> Self {
        SystemOperation(Predefined::LogicalOr)
    }

    /// Whether an odd number of them is not zero.
    pub fn logical_xor() -> Self {
        SystemOperation(Predefined::LogicalXor)
    }

    /// Bits that all have.
    pub fn bitwise_and() -> Self {
        SystemOperation(Predefined::BitAnd)
    }

    /// Bits that one has.
    pub fn bitwise_or() -> Self {
        SystemOperation(Predefined::BitOr)
    }

    /// Bits that an odd number of them has.
    pub fn bitwise_xor() -> Self {
        SystemOperation(Predefined::BitXor)
    }
}

impl<T: Equivalence> Operation<T> for SystemOperation {
    fn plan(&self, count: usize) -> Result<Plan, Error> {
        let SystemOperation(op) = *self;
        if !op.fits(T::BASIC) {
            return Err(PerformError::from(Unfit { op, basic: T::BASIC }).into());
        }
        let op = Ops::handle_of(op);
        Ok(Plan { op, values: basic_values::<T>(), count: basics_in::<T>(count), is_commutative: true })
    }
}

/// An operation of the program's own on two values of `T`: `into` becomes `left op into`.
#[derive(Debug)]
pub struct UserOperation<T> {
    op: u32,
    /// That of a whole value: no algorithm cuts one in pieces.
    datatype: u32,
    is_commutative: bool,
    values: PhantomData<fn(T)>,
}

impl<T: Equivalence> UserOperation<T> {
    /// One whose operands may change places (`MPI_Op_create`).
    ///
    /// # Errors
    /// If no rank calls.
    pub fn commutative<F: Fn(&T, &mut T) + Copy>(function: F) -> Result<Self, Error> {
        Self::new(function, true)
    }

    /// One whose operands are combined in the order of ranks.
    ///
    /// # Errors
    /// If no rank calls.
    pub fn non_commutative<F: Fn(&T, &mut T) + Copy>(function: F) -> Result<Self, Error> {
        Self::new(function, false)
    }

    /// `_function` is known by its type alone, so that it is the same wherever the rank is.
    fn new<F: Fn(&T, &mut T) + Copy>(_function: F, is_commutative: bool) -> Result<Self, Error> {
        const { assert!(size_of::<F>() == 0, "an operation is a function, or a closure that captures nothing") };
        let function = combine::<T, F> as fn(UserCombine<'_>) as usize as u64;
        let bytes = size_of::<T>() as u64;
        // SAFETY: no buffer is given; the function is one of this type.
        let (op, datatype) = unsafe {
            call(|process, _| {
                let value = Datatype::of(Basic::Byte).contiguous(bytes).unwrap_or(Datatype::of(Basic::Byte));
                (process.ops.insert(function, is_commutative), process.datatypes.insert(value))
            })
        }?;
        Ok(UserOperation { op, datatype, is_commutative, values: PhantomData })
    }
}

impl<T: Equivalence> Operation<T> for UserOperation<T> {
    fn plan(&self, count: usize) -> Result<Plan, Error> {
        let size = size_of::<T>() as u64;
        let values = Values { datatype: self.datatype, size, extent: size as i64, lead: 0, reach: size };
        Ok(Plan { op: self.op, values, count: count as u64, is_commutative: self.is_commutative })
    }
}

/// An operation can be used again and again.
impl<T: Equivalence, O: Operation<T>> Operation<T> for &O {
    fn plan(&self, count: usize) -> Result<Plan, Error> {
        (**self).plan(count)
    }
}

impl<T> Drop for UserOperation<T> {
    fn drop(&mut self) {
        // Where no rank runs any more there is nothing to free.
        // SAFETY: no buffer is given.
        let _gone = unsafe {
            call(|process, _| {
                let _op = process.ops.free(self.op);
                let _datatype = process.datatypes.free(self.datatype);
            })
        };
    }
}

/// Calls `F` for each pair of values.
fn combine<T: Equivalence, F: Fn(&T, &mut T)>(operands: UserCombine<'_>) {
    // SAFETY: `F` has no size, and one was given: any place that is aligned has one.
    let function = unsafe { NonNull::<F>::dangling().as_ref() };
    let size = size_of::<T>();
    let count = (operands.left.len().min(operands.right.len())) / size.max(1);
    for at in (0..count).map(|value| value * size) {
        // SAFETY: within both, and every bit pattern is a value. They need not be aligned.
        unsafe {
            let left = operands.left.as_ptr().add(at).cast::<T>().read_unaligned();
            let into = operands.right.as_mut_ptr().add(at).cast::<T>();
            let mut value = into.read_unaligned();
            function(&left, &mut value);
            into.write_unaligned(value);
        }
    }
}
