//! Reading, writing and combining values of other ranks' memory (MPI-4.1, 12.3).

use std::ffi::c_int;

use talisman_ampi::engine::{Actions, Buffer, Inline, Token};
use talisman_ampi::objects::{Kept, Kind};
use talisman_ampi::process::Process;
use talisman_ampi::raw;
use talisman_ampi::window::{Deed, Wanted};

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

/// Does it or asks for it. The number of a request that ends when the program may use its memory again, if it wants one.
fn begin<A: Abi>(found: &Found, wants_request: bool) -> Result<u32, Class> {
    // SAFETY: as in `engine`; windows are memory of their ranks until all have freed them.
    let token = match unsafe { raw::access_near(|process| wanted::<A>(process, found)) }?? {
        None | Some((_, true)) => None,
        Some((wanted, false)) => {
            engine(|process, out| ask_for(process, out, (found.window, wants_request), &wanted))?
        }
    };
    if !wants_request {
        return Ok(0);
    }
    if token.is_none() {
        // Who waits for it again and again lets others run.
        let _may_look_again = raw::has_looked(false);
    }
    engine(|process, _| {
        let token = token.unwrap_or_else(|| process.engine.null());
        let communicator = window(process, found.window)?.communicator;
        Ok(process.objects.requests.insert(record(token, communicator, Kept::Send)))
    })
}

/// What is wanted of the target; of no process nothing.
fn wanted<'a, A: Abi>(process: &mut Process, found: &'a Found) -> Result<Option<Wanted<'a>>, Class> {
    let (target, at, count, datatype) = found.there;
    let Some(target) = member::<A>(process, found.window, target)? else { return Ok(None) };
    let epochs = &window(process, found.window)?.epochs;
    if !epochs.admit(target) {
        return Err(Class::RmaSync);
    }
    let at_once = epochs.has_nothing_from(target).then(|| epochs.locked.get(&target) == Some(&true));
    let there = buffer(process, 0, count, datatype)?;
    if let Deed::Combine { op } = found.deed {
        process.combines(op, process.datatypes.get(datatype)?)?;
    }
    let of = |process: &Process, (at, count, datatype)| {
        let here = buffer(process, at, count, datatype)?;
        if here.bytes == there.bytes { Ok(here) } else { Err(Class::Truncate) }
    };
    let brings = found.brings.map_or(Ok(Buffer::EMPTY), |brings| of(process, brings))?;
    let gets = found.gets.map(|gets| of(process, gets)).transpose()?;
    let (context, count, deed) = (context_of(process, found.window)?, there.count, &found.deed);
    Ok(Some(Wanted { target, context, at, count, datatype, deed, brings, gets, at_once }))
}

/// Asks the target for it. The request that ends when that has answered, if it is to.
fn ask_for(
    process: &mut Process,
    out: &mut Actions,
    (number, wants_request): (u32, bool),
    wanted: &Wanted<'_>,
) -> Result<Option<Token>, Class> {
    let lie = process.datatypes.get(wanted.datatype)?.clone();
    let Some(gets) = wanted.gets else {
        process.engine.access((wanted.target, wanted.context), wanted.access(lie, None), wanted.brings, out);
        window(process, number)?.epochs.touched.insert(wanted.target);
        return Ok(None);
    };
    let buffers = (wanted.brings, gets);
    let token =
        ask(process, out, (number, wanted.target), buffers, |answer| wanted.access(lie, Some(answer)))?;
    let pending = &mut window(process, number)?.epochs.pending;
    if let Some(own) = pending.last_mut() {
        own.is_asked_for = wants_request;
    }
    Ok(Some(token))
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
