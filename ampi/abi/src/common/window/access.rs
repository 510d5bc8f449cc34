//! Reading, writing and combining values of other ranks' memory (MPI-4.1, 12.3).

use std::ffi::c_int;

use talisman_ampi::engine::{Actions, Buffer, Inline, Rank};
use talisman_ampi::objects::{Kept, Kind};
use talisman_ampi::process::Process;
use talisman_ampi::window::{Access, Deed};

use super::asking::ask;
use super::{context_of, known_window, member, window};
use crate::abi::Abi;
use crate::class::Class;
use crate::common::call::{Outcome, engine, known, local, put};
use crate::common::message::{buffer, record};

/// Values as the program names them: where, how many, of which datatype.
type Named<H> = (usize, i64, H);

/// Values of the window of a member: whose, from which displacement on, how many, of which datatype.
type There<H> = (c_int, i64, i64, H);

/// What is to be done with values of a window.
enum What<H> {
    Put,
    Get,
    /// With this operation.
    Combine(H),
    /// If they are what is there.
    Swap(usize),
}

/// A call.
struct Asked<H> {
    window: H,
    there: There<H>,
    what: What<H>,
    /// What it brings.
    brings: Option<Named<H>>,
    /// Where what was there comes.
    gets: Option<Named<H>>,
}

/// The same in numbers.
struct Found {
    window: u32,
    there: (c_int, i64, i64, u32),
    deed: Deed,
    brings: Option<(usize, i64, u32)>,
    gets: Option<(usize, i64, u32)>,
}

unsafe fn named<A: Abi>(values: Option<Named<A::Handle>>) -> Result<Option<(usize, i64, u32)>, Class> {
    let Some((at, count, datatype)) = values else { return Ok(None) };
    // SAFETY: the caller's promise.
    Ok(Some((at, count, unsafe { known::<A>(Kind::Datatype, datatype) }?)))
}

/// The bytes that a value is compared with.
unsafe fn compared(at: usize, datatype: u32) -> Result<Inline, Class> {
    let size = local(|process| Ok(process.datatypes.get(datatype)?.size()))?;
    if at == 0 || size > 16 {
        return Err(Class::Arg);
    }
    // SAFETY: a value of the program, by the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(at as *const u8, size as usize) };
    Inline::of(bytes).ok_or(Class::Type)
}

unsafe fn found<A: Abi>(asked: Asked<A::Handle>) -> Result<Found, Class> {
    let (target, at, count, datatype) = asked.there;
    // SAFETY: the caller's promise.
    unsafe {
        let datatype = known::<A>(Kind::Datatype, datatype)?;
        let deed = match asked.what {
            What::Put => Deed::Put,
            What::Get => Deed::Get,
            What::Combine(op) => Deed::Combine { op: known::<A>(Kind::Op, op)? },
            What::Swap(compare) => Deed::Swap { compare: compared(compare, datatype)? },
        };
        Ok(Found {
            window: known_window::<A>(asked.window)?,
            there: (target, at, count, datatype),
            deed,
            brings: named::<A>(asked.brings)?,
            gets: named::<A>(asked.gets)?,
        })
    }
}

/// Asks for it. The number of a request that ends when the program may use its memory again, if it wants one.
fn begin<A: Abi>(found: &Found, wants_request: bool) -> Result<u32, Class> {
    engine(|process, out| {
        let token = begin_in::<A>(process, out, found, wants_request)?;
        if !wants_request {
            return Ok(0);
        }
        let token = token.unwrap_or_else(|| process.engine.null());
        let communicator = window(process, found.window)?.communicator;
        Ok(process.objects.requests.insert(record(token, communicator, Kept::Send)))
    })
}

fn begin_in<A: Abi>(
    process: &mut Process,
    out: &mut Actions,
    found: &Found,
    wants_request: bool,
) -> Result<Option<talisman_ampi::engine::Token>, Class> {
    let (target, at, count, datatype) = found.there;
    let Some(target) = member::<A>(process, found.window, target)? else { return Ok(None) };
    if !window(process, found.window)?.epochs.admit(target) {
        return Err(Class::RmaSync);
    }
    let there = buffer(process, 0, count, datatype)?;
    let lie = process.datatypes.get(datatype)?.clone();
    if let Deed::Combine { op } = found.deed {
        process.combines(op, &lie)?;
    }
    let of = |process: &Process, values: Option<(usize, i64, u32)>| match values {
        None => Ok(Buffer::EMPTY),
        Some((at, count, datatype)) => {
            let here = buffer(process, at, count, datatype)?;
            if here.bytes == there.bytes { Ok(here) } else { Err(Class::Truncate) }
        }
    };
    let (brings, gets) = (of(process, found.brings)?, of(process, found.gets)?);
    let values =
        |answer| Access::Values { at, datatype: lie, count: there.count, deed: found.deed.clone(), answer };
    match found.gets {
        Some(_) => {
            let whom = (found.window, target);
            let token = ask(process, out, whom, (brings, gets), |answer| values(Some(answer)))?;
            let pending = &mut window(process, found.window)?.epochs.pending;
            if let Some(own) = pending.last_mut() {
                own.is_asked_for = wants_request;
            }
            Ok(Some(token))
        }
        None => {
            touch(process, out, (found.window, target), values(None), brings)?;
            Ok(None)
        }
    }
}

/// Asks for what has no answer.
fn touch(
    process: &mut Process,
    out: &mut Actions,
    (number, target): (u32, Rank),
    access: Access,
    brings: Buffer,
) -> Outcome {
    let context = context_of(process, number)?;
    process.engine.access((target, context), access, brings, out);
    window(process, number)?.epochs.touched.insert(target);
    Ok(())
}

unsafe fn now<A: Abi>(asked: Asked<A::Handle>) -> Outcome {
    // SAFETY: the caller's promise.
    let found = unsafe { found::<A>(asked) }?;
    begin::<A>(&found, false).map(|_| ())
}

unsafe fn later<A: Abi>(asked: Asked<A::Handle>, request: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let found = found::<A>(asked)?;
        put(request, A::handle(Kind::Request, begin::<A>(&found, true)?))
    }
}

/// A number of this interface's `MPI_NO_OP` brings nothing: what the program gives for it is not looked at.
unsafe fn brought<A: Abi>(
    values: Named<A::Handle>,
    op: A::Handle,
) -> Result<Option<Named<A::Handle>>, Class> {
    // SAFETY: the caller's promise.
    let op = unsafe { known::<A>(Kind::Op, op) }?;
    let is_nothing = op == talisman_ampi::op::Ops::handle_of(talisman_ampi::op::Predefined::NoOp);
    Ok((!is_nothing).then_some(values))
}

crate::common::calls! {
    "Put" put_values<N>(
        at: usize, n: N, datatype: A::Handle, target: c_int, displacement: i64, count: N, there: A::Handle,
        window: A::Handle,
    ) in window => now::<A>(Asked {
        window, there: (target, displacement, count.get(), there), what: What::Put,
        brings: Some((at, n.get(), datatype)), gets: None,
    });
    "Get" get_values<N>(
        at: usize, n: N, datatype: A::Handle, target: c_int, displacement: i64, count: N, there: A::Handle,
        window: A::Handle,
    ) in window => now::<A>(Asked {
        window, there: (target, displacement, count.get(), there), what: What::Get,
        brings: None, gets: Some((at, n.get(), datatype)),
    });
    "Accumulate" accumulate<N>(
        at: usize, n: N, datatype: A::Handle, target: c_int, displacement: i64, count: N, there: A::Handle,
        op: A::Handle, window: A::Handle,
    ) in window => now::<A>(Asked {
        window, there: (target, displacement, count.get(), there), what: What::Combine(op),
        brings: brought::<A>((at, n.get(), datatype), op)?, gets: None,
    });
    "Get_accumulate" get_accumulate<N>(
        at: usize, n: N, datatype: A::Handle, into: usize, into_n: N, into_datatype: A::Handle, target: c_int,
        displacement: i64, count: N, there: A::Handle, op: A::Handle, window: A::Handle,
    ) in window => now::<A>(Asked {
        window, there: (target, displacement, count.get(), there), what: What::Combine(op),
        brings: brought::<A>((at, n.get(), datatype), op)?, gets: Some((into, into_n.get(), into_datatype)),
    });
    "Fetch_and_op" fetch_and_op<>(
        at: usize, into: usize, datatype: A::Handle, target: c_int, displacement: i64, op: A::Handle,
        window: A::Handle,
    ) in window => now::<A>(Asked {
        window, there: (target, displacement, 1, datatype), what: What::Combine(op),
        brings: brought::<A>((at, 1, datatype), op)?, gets: Some((into, 1, datatype)),
    });
    "Compare_and_swap" compare_and_swap<>(
        at: usize, compare: usize, into: usize, datatype: A::Handle, target: c_int, displacement: i64,
        window: A::Handle,
    ) in window => now::<A>(Asked {
        window, there: (target, displacement, 1, datatype), what: What::Swap(compare),
        brings: Some((at, 1, datatype)), gets: Some((into, 1, datatype)),
    });
}

/// The same with requests.
pub mod asked {
    use super::*;

    crate::common::calls! {
        "Rput" rput<N>(
            at: usize, n: N, datatype: A::Handle, target: c_int, displacement: i64, count: N, there: A::Handle,
            window: A::Handle, request: *mut A::Handle,
        ) in window => later::<A>(Asked {
            window, there: (target, displacement, count.get(), there), what: What::Put,
            brings: Some((at, n.get(), datatype)), gets: None,
        }, request);
        "Rget" rget<N>(
            at: usize, n: N, datatype: A::Handle, target: c_int, displacement: i64, count: N, there: A::Handle,
            window: A::Handle, request: *mut A::Handle,
        ) in window => later::<A>(Asked {
            window, there: (target, displacement, count.get(), there), what: What::Get,
            brings: None, gets: Some((at, n.get(), datatype)),
        }, request);
        "Raccumulate" raccumulate<N>(
            at: usize, n: N, datatype: A::Handle, target: c_int, displacement: i64, count: N, there: A::Handle,
            op: A::Handle, window: A::Handle, request: *mut A::Handle,
        ) in window => later::<A>(Asked {
            window, there: (target, displacement, count.get(), there), what: What::Combine(op),
            brings: brought::<A>((at, n.get(), datatype), op)?, gets: None,
        }, request);
        "Rget_accumulate" rget_accumulate<N>(
            at: usize, n: N, datatype: A::Handle, into: usize, into_n: N, into_datatype: A::Handle, target: c_int,
            displacement: i64, count: N, there: A::Handle, op: A::Handle, window: A::Handle, request: *mut A::Handle,
        ) in window => later::<A>(Asked {
            window, there: (target, displacement, count.get(), there), what: What::Combine(op),
            brings: brought::<A>((at, n.get(), datatype), op)?, gets: Some((into, into_n.get(), into_datatype)),
        }, request);
    }
}
