//! Operations of reductions (MPI-3.1, 5.9).

use std::ffi::c_int;

use talisman_ampi::objects::Kind;
use talisman_ampi::op::Op;
use talisman_ampi::process::UserCombine;

use super::call::{known, local, put};
use super::reductions::combine_here;
use crate::abi::{Abi, NULL};
use crate::class::Class;

/// Calls an operation of the program: `right[i] = left[i] op right[i]`. Its rank runs, and may call MPI in it.
fn combine<A: Abi>(operands: UserCombine<'_>) {
    type Function<H> = unsafe extern "C" fn(*const u8, *mut u8, *mut c_int, *mut H);
    let UserCombine { argument, left, right, origin, count, datatype, .. } = operands;
    let (left, right) = (left.as_ptr().wrapping_add(origin), right.as_mut_ptr().wrapping_add(origin));
    let mut count = c_int::try_from(count).unwrap_or(c_int::MAX);
    let mut datatype = A::handle(Kind::Datatype, datatype);
    // SAFETY: the program has given it as such a function; the operands are of this datatype.
    unsafe {
        let function = std::mem::transmute::<usize, Function<A::Handle>>(argument as usize);
        function(left, right, &raw mut count, &raw mut datatype);
    }
}

/// The same for operations whose count is of 64 bits.
fn combine_many<A: Abi>(operands: UserCombine<'_>) {
    type Function<H> = unsafe extern "C" fn(*const u8, *mut u8, *mut i64, *mut H);
    let UserCombine { argument, left, right, origin, count, datatype, .. } = operands;
    let (left, right) = (left.as_ptr().wrapping_add(origin), right.as_mut_ptr().wrapping_add(origin));
    let (mut count, mut datatype) = (count as i64, A::handle(Kind::Datatype, datatype));
    // SAFETY: as above.
    unsafe {
        let function = std::mem::transmute::<usize, Function<A::Handle>>(argument as usize);
        function(left, right, &raw mut count, &raw mut datatype);
    }
}

/// An operation of the program, called by this function of ours.
unsafe fn create<A: Abi>(
    by: fn(UserCombine<'_>),
    function: u64,
    commutes: c_int,
    op: *mut A::Handle,
) -> Result<(), Class> {
    if function == 0 {
        return Err(Class::Arg);
    }
    let number = local(|process| Ok(process.ops.insert_with(by as usize as u64, function, commutes != 0)))?;
    // SAFETY: the caller's promise.
    unsafe { put(op, A::handle(Kind::Op, number)) }
}

super::calls! {
    "Op_create" op_create<>(function: u64, commutes: c_int, op: *mut A::Handle) => {
        create::<A>(combine::<A>, function, commutes, op)
    };
    "Op_create_c" op_create_c<>(function: u64, commutes: c_int, op: *mut A::Handle) => {
        create::<A>(combine_many::<A>, function, commutes, op)
    };
    "Op_free" op_free<>(op: *mut A::Handle) => {
        let handle = op.read_unaligned();
        let number = known::<A>(Kind::Op, handle)?;
        local(|process| match process.ops.get(number)? {
            // A collective under way may still use it.
            Op::User { .. } if process.collectives.under_way() > 0 => Ok(()),
            Op::User { .. } => Ok(process.ops.free(number)?),
            Op::Predefined(_) | Op::Location(_) => Err(Class::Op),
        })?;
        A::forget(Kind::Op, number, handle);
        put(op, A::handle(Kind::Op, NULL))
    };
    "Op_commutative" op_commutative<>(op: A::Handle, commutes: *mut c_int) => {
        let number = known::<A>(Kind::Op, op)?;
        put(commutes, c_int::from(local(|process| Ok(process.ops.get(number)?.is_commutative()))?))
    };
    "Reduce_local" reduce_local<N>(left: usize, right: usize, count: N, datatype: A::Handle, op: A::Handle) => {
        combine_here::<A>(left, right, count.get(), datatype, op)
    };
}
