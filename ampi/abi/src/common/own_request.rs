//! Requests of the program's own (MPI-3.1, 12.2).

use std::ffi::c_int;

use talisman_ampi::engine::{Owner, Status};
use talisman_ampi::objects::{Asks, Kept, Kind};

use super::call::{Outcome, engine, known, put};
use super::message::{Ended, nothing, record};
use super::request::token_of;
use crate::abi::Abi;
use crate::class::Class;

type Query = unsafe extern "C" fn(u64, usize) -> c_int;
type Free = unsafe extern "C" fn(u64) -> c_int;
type Cancel = unsafe extern "C" fn(u64, c_int) -> c_int;
type FortranQuery = unsafe extern "C" fn(u64, usize, *mut c_int);
type FortranFree = unsafe extern "C" fn(u64, *mut c_int);
type FortranCancel = unsafe extern "C" fn(u64, *const c_int, *mut c_int);

/// The program is asked for the status of one that has ended, and it is freed.
pub fn ended<A: Abi>(asks: Asks) -> Result<Ended, Class> {
    // A status of any interface fits in.
    let mut status = [0u64; 8];
    let at = status.as_mut_ptr() as usize;
    // SAFETY: the place is large enough.
    unsafe { A::write_status(at, nothing::<A>()) };
    let code = query(asks, at);
    // SAFETY: the same.
    let told = unsafe { A::read_status(at) };
    free(asks);
    let error = (code != 0).then(|| A::class(code).unwrap_or(Class::Other));
    Ok(Ended { told, error })
}

fn query(asks: Asks, status: usize) -> c_int {
    let mut code = 0;
    // SAFETY: what the program has given for this.
    unsafe {
        if asks.is_fortran {
            let query = std::mem::transmute::<usize, FortranQuery>(asks.query as usize);
            query(asks.extra, status, &mut code);
            code
        } else {
            std::mem::transmute::<usize, Query>(asks.query as usize)(asks.extra, status)
        }
    }
}

/// The program frees what it has kept for one.
pub fn free(asks: Asks) {
    let mut code = 0;
    // SAFETY: what the program has given for this.
    unsafe {
        if asks.is_fortran {
            let free = std::mem::transmute::<usize, FortranFree>(asks.free as usize);
            free(asks.extra, &mut code);
        } else {
            std::mem::transmute::<usize, Free>(asks.free as usize)(asks.extra);
        }
    }
}

/// The program is asked to take one back.
pub fn cancel(asks: Asks, has_ended: bool) -> Outcome {
    let (has_ended, mut code) = (c_int::from(has_ended), 0);
    // SAFETY: what the program has given for this.
    unsafe {
        if asks.is_fortran {
            let cancel = std::mem::transmute::<usize, FortranCancel>(asks.cancel as usize);
            cancel(asks.extra, &has_ended, &mut code);
        } else {
            code = std::mem::transmute::<usize, Cancel>(asks.cancel as usize)(asks.extra, has_ended);
        }
    }
    if code == 0 { Ok(()) } else { Err(Class::Other) }
}

/// What MPICH's own library for Fortran 2008 calls after `MPI_Grequest_start` (`MPII_Grequest_set_lang_f77`): functions of
/// the request are Fortran's. It looks at nothing that is returned.
pub extern "C" fn set_fortran<A: Abi>(request: A::Handle) {
    // SAFETY: the handle of a request that was just made.
    let number = unsafe { known::<A>(Kind::Request, request) };
    let _known_ones_are_set = number.and_then(|number| {
        engine(|process, _| {
            let record = process.objects.requests.get_mut(number).ok_or(Class::Request)?;
            if let Kept::Own(asks) = &mut record.kind {
                asks.is_fortran = true;
            }
            Ok(())
        })
    });
}

super::calls! {
    "Grequest_start" grequest_start<>(
        query: u64, free: u64, cancel: u64, extra: u64, request: *mut A::Handle,
    ) => {
        if [query, free, cancel].contains(&0) {
            return Err(Class::Arg);
        }
        let asks = Asks { query, free, cancel, extra, is_fortran: A::IS_FORTRAN };
        let number = engine(|process, _| {
            let token = process.engine.open(Owner::User);
            Ok(process.objects.requests.insert(record(token, 0, Kept::Own(asks))))
        })?;
        put(request, A::handle(Kind::Request, number))
    };
    "Grequest_complete" grequest_complete<>(request: A::Handle) => {
        let number = known::<A>(Kind::Request, request)?;
        engine(|process, out| {
            let token = token_of(process, number)?;
            process.engine.finish(token, Status::EMPTY, out);
            Ok(())
        })
    };
}
