//! What MPICH's library for C++ asks of MPICH's inside (`libmpichcxx.so.12` calls these, 4.0): error handlers and operations
//! whose functions take objects of C++ are called by functions of that library.

use std::ffi::c_int;

use talisman_ampi::objects::Kind;
use talisman_ampi::process::UserCombine;

use super::Mpich;
use crate::abi::Abi;
use crate::class::Class;
use crate::common::call::{Outcome, handler, known, local};

/// The functions, by name.
pub fn functions() -> Vec<(&'static str, usize)> {
    vec![
        ("MPII_Errhandler_set_cxx", set_caller_of_handler as *const () as usize),
        ("MPII_Op_set_cxx", set_caller_of_op as *const () as usize),
    ]
}

/// It looks at nothing that is returned: the handle is that of an object that it has just made.
extern "C" fn set_caller_of_handler(handle: c_int, proxy: u64) {
    let set = || -> Outcome {
        // SAFETY: a handle of this interface is a number.
        let own = unsafe { known::<Mpich>(Kind::Errhandler, handle) }?;
        local(|process| {
            let own = own.checked_sub(handler::FIRST).ok_or(Class::Arg)?;
            process.objects.handlers.get_mut(own).ok_or(Class::Arg)?.proxy = proxy;
            Ok(())
        })
    };
    let outcome = set();
    debug_assert!(outcome.is_ok(), "it was just made");
}

/// The same for an operation. All are called by one function.
extern "C" fn set_caller_of_op(handle: c_int, proxy: u64) {
    let set = || -> Outcome {
        // SAFETY: as above.
        let number = unsafe { known::<Mpich>(Kind::Op, handle) }?;
        local(|process| {
            process.objects.op_proxy = proxy;
            let by: fn(UserCombine<'_>) = combine;
            Ok(process.ops.call_by(number, by as usize as u64)?)
        })
    };
    let outcome = set();
    debug_assert!(outcome.is_ok(), "it was just made");
}

/// Calls an operation of the program: `right[i] = left[i] op right[i]`.
fn combine(operands: UserCombine<'_>) {
    type Proxy = unsafe extern "C" fn(*const u8, *mut u8, c_int, c_int, u64);
    let UserCombine { argument, left, right, origin, count, datatype, .. } = operands;
    let (left, right) = (left.as_ptr().wrapping_add(origin), right.as_mut_ptr().wrapping_add(origin));
    let count = c_int::try_from(count).unwrap_or(c_int::MAX);
    let datatype = Mpich::handle(Kind::Datatype, datatype);
    let proxy = local(|process| Ok(process.objects.op_proxy)).unwrap_or(0);
    debug_assert!(proxy != 0, "set before the operation was called by this");
    // SAFETY: the library has given it as such a function; the operands are of this datatype.
    unsafe {
        let proxy = std::mem::transmute::<usize, Proxy>(proxy as usize);
        proxy(left, right, count, datatype, argument);
    }
}
