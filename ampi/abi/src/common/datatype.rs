//! Making datatypes (MPI-3.1, 4.1.2 to 4.1.10).

use std::ffi::c_int;

use talisman_ampi::datatype::{BuildError, Combiner, Datatype, Envelope, NAMED, Order, Shape};
use talisman_ampi::objects::Kind;
use talisman_ampi::process::Process;

use super::attribute::{copy_of_datatype, delete_all_of_datatype};
use super::call::{Outcome, known, list, local, put};
use super::collective::{checked, numbers};
use crate::abi::{Abi, Count, NULL};
use crate::class::Class;

/// Makes a datatype of others, and gives the program its handle.
unsafe fn make<A: Abi>(
    to: *mut A::Handle,
    from: impl FnOnce(&Process) -> Result<(Datatype, Envelope), Class>,
) -> Result<u32, Class> {
    let number = local(|process| {
        let (datatype, envelope) = from(process)?;
        Ok(process.datatypes.insert_made(datatype, envelope))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Datatype, number)) }?;
    Ok(number)
}

/// Of one datatype, with the numbers that its making is told by. `N`: those of the function.
unsafe fn of_one<A: Abi, N: Count>(
    of: A::Handle,
    to: *mut A::Handle,
    (combiner, integers, addresses): (Combiner, &[i64], &[i64]),
    build: impl FnOnce(&Datatype) -> Result<Datatype, BuildError>,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let number = known::<A>(Kind::Datatype, of)?;
        make::<A>(to, |process| {
            let made = build(process.datatypes.get(number)?)?;
            let (integers, addresses) = (integers.to_vec(), addresses.to_vec());
            let is_large = N::IS_LARGE;
            Ok((made, Envelope { combiner, is_large, integers, addresses, datatypes: vec![number] }))
        })?;
    }
    Ok(())
}

/// Counts, each not negative.
fn lengths_of(numbers: &[i64]) -> Result<Vec<u64>, Class> {
    numbers.iter().map(|number| checked(*number)).collect()
}

unsafe fn of_blocks<A: Abi, N: Count, D: Count>(
    combiner: Combiner,
    n: N,
    (lengths, displacements): (*const N, *const D),
    of: A::Handle,
    to: *mut A::Handle,
) -> Outcome {
    let count = u32::try_from(n.get()).map_err(|_| Class::Count)?;
    // SAFETY: the caller's promise.
    unsafe {
        let (lengths, places) = (numbers(lengths, count)?, numbers(displacements, count)?);
        let blocks = lengths_of(&lengths)?;
        let mut integers = [vec![n.get()], lengths].concat();
        let mut addresses = Vec::new();
        match combiner {
            Combiner::Indexed => integers.extend(&places),
            _ => addresses.extend(&places),
        }
        of_one::<A, N>(of, to, (combiner, &integers, &addresses), |datatype| match combiner {
            Combiner::Indexed => datatype.indexed(&blocks, &places),
            _ => datatype.hindexed(&blocks, &places),
        })
    }
}

unsafe fn of_even_blocks<A: Abi, N: Count, D: Count>(
    combiner: Combiner,
    (n, each): (N, N),
    displacements: *const D,
    of: A::Handle,
    to: *mut A::Handle,
) -> Outcome {
    let (count, block) = (u32::try_from(n.get()).map_err(|_| Class::Count)?, checked(each.get())?);
    // SAFETY: the caller's promise.
    unsafe {
        let places = numbers(displacements, count)?;
        let mut integers = vec![n.get(), each.get()];
        let mut addresses = Vec::new();
        match combiner {
            Combiner::IndexedBlock => integers.extend(&places),
            _ => addresses.extend(&places),
        }
        of_one::<A, N>(of, to, (combiner, &integers, &addresses), |datatype| match combiner {
            Combiner::IndexedBlock => datatype.indexed_block(block, &places),
            _ => datatype.hindexed(&vec![block; places.len()], &places),
        })
    }
}

unsafe fn of_several<A: Abi, N: Count, D: Count>(
    n: N,
    (lengths, displacements, datatypes): (*const N, *const D, *const A::Handle),
    to: *mut A::Handle,
) -> Outcome {
    let count = u32::try_from(n.get()).map_err(|_| Class::Count)?;
    // SAFETY: the caller's promise.
    unsafe {
        let (lengths, places) = (numbers(lengths, count)?, numbers(displacements, count)?);
        let blocks = lengths_of(&lengths)?;
        let handles = list(datatypes, count as usize)?;
        let parts: Vec<u32> =
            handles.iter().map(|handle| known::<A>(Kind::Datatype, *handle)).collect::<Result<_, _>>()?;
        make::<A>(to, |process| {
            let made = structure(process, &blocks, &places, &parts)?;
            let integers = [&[n.get()], &lengths[..]].concat();
            let envelope = Envelope {
                combiner: Combiner::Struct,
                is_large: N::IS_LARGE,
                integers,
                addresses: places.clone(),
                datatypes: parts.clone(),
            };
            Ok((made, envelope))
        })?;
    }
    Ok(())
}

/// A structure. `MPI_LB` and `MPI_UB` among its parts are its bounds (MPI-1).
fn structure(process: &Process, blocks: &[u64], places: &[i64], parts: &[u32]) -> Result<Datatype, Class> {
    let bound = |name: &str| {
        let is_it = |part: &u32| NAMED.get(*part as usize).is_some_and(|named| named.name == name);
        parts.iter().zip(places).find(|(part, _)| is_it(part)).map(|(_, at)| *at)
    };
    let datatypes: Vec<&Datatype> =
        parts.iter().map(|part| process.datatypes.get(*part)).collect::<Result<_, _>>()?;
    let (mut values, mut displacements) = (Vec::new(), Vec::new());
    for ((length, datatype), at) in blocks.iter().zip(&datatypes).zip(places) {
        values.push((*length, *datatype));
        displacements.push(*at);
    }
    let (low, high) = (bound("MPI_LB"), bound("MPI_UB"));
    if low.is_none() && high.is_none() {
        return Ok(Datatype::structure(&values, &displacements)?.padded());
    }
    let is_bound = |part: u32| NAMED.get(part as usize).is_some_and(|named| named.shape == Shape::Bound);
    let kept = parts.iter().map(|part| !is_bound(*part));
    let (values, displacements): (Vec<_>, Vec<_>) = values
        .into_iter()
        .zip(displacements)
        .zip(kept)
        .filter(|(_, kept)| *kept)
        .map(|(part, _)| part)
        .unzip();
    let made = Datatype::structure(&values, &displacements)?;
    let (lower, extent) = made.extent();
    let low = low.unwrap_or(lower);
    Ok(made.resized(low, high.unwrap_or(lower + extent) - low))
}

unsafe fn subarray<A: Abi, N: Count>(
    dimensions: c_int,
    (wholes, parts, starts): (*const N, *const N, *const N),
    order: c_int,
    of: A::Handle,
    to: *mut A::Handle,
) -> Outcome {
    let n = u32::try_from(dimensions).map_err(|_| Class::Arg)?;
    let by = order_of::<A>(order)?;
    // SAFETY: the caller's promise.
    unsafe {
        let lists = [numbers(wholes, n)?, numbers(parts, n)?, numbers(starts, n)?];
        let [wholes, parts, starts] =
            [lengths_of(&lists[0])?, lengths_of(&lists[1])?, lengths_of(&lists[2])?];
        let all: Vec<(u64, u64, u64)> =
            (0..n as usize).map(|at| (wholes[at], parts[at], starts[at])).collect();
        let [whole, part, start] = &lists;
        let integers =
            [&[i64::from(dimensions)], &whole[..], &part[..], &start[..], &[i64::from(order)]].concat();
        of_one::<A, N>(of, to, (Combiner::Subarray, &integers, &[]), |datatype| datatype.subarray(&all, by))
    }
}

fn order_of<A: Abi>(order: c_int) -> Result<Order, Class> {
    match A::ORDERS.iter().position(|known| *known == order) {
        Some(0) => Ok(Order::RowMajor),
        Some(_) => Ok(Order::ColumnMajor),
        None => Err(Class::Arg),
    }
}

unsafe fn free<A: Abi>(handle: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let number = known::<A>(Kind::Datatype, handle.read_unaligned())?;
        let is_last = local(|process| Ok(process.datatypes.made(number).ok_or(Class::Type)?.is_held_once()))?;
        if is_last {
            delete_all_of_datatype::<A>(number)?;
        }
        local(|process| {
            process.datatypes.release(number)?;
            process.sweep_datatypes();
            Ok(())
        })?;
        if is_last {
            A::forget(Kind::Datatype, number, handle.read_unaligned());
        }
        put(handle, A::handle(Kind::Datatype, NULL))
    }
}

super::calls! {
    "Type_contiguous" type_contiguous<N>(count: N, of: A::Handle, to: *mut A::Handle) => {
        let n = checked(count.get())?;
        let told = (Combiner::Contiguous, &[count.get()][..], &[][..]);
        of_one::<A, N>(of, to, told, |datatype| datatype.contiguous(n))
    };
    "Type_vector" type_vector<N>(count: N, each: N, stride: N, of: A::Handle, to: *mut A::Handle) => {
        let (n, length) = (checked(count.get())?, checked(each.get())?);
        let told = (Combiner::Vector, &[count.get(), each.get(), stride.get()][..], &[][..]);
        of_one::<A, N>(of, to, told, |datatype| datatype.vector(n, length, stride.get()))
    };
    "Type_create_hvector" type_create_hvector<N>(count: N, each: N, stride: i64, of: A::Handle, to: *mut A::Handle) => {
        let (n, length) = (checked(count.get())?, checked(each.get())?);
        let told = (Combiner::Hvector, &[count.get(), each.get()][..], &[stride][..]);
        of_one::<A, N>(of, to, told, |datatype| datatype.hvector(n, length, stride))
    };
    "Type_hvector" type_hvector<>(count: c_int, each: c_int, stride: i64, of: A::Handle, to: *mut A::Handle) => {
        let (n, length) = (checked(i64::from(count))?, checked(i64::from(each))?);
        let told = (Combiner::Hvector, &[i64::from(count), i64::from(each)][..], &[stride][..]);
        of_one::<A, c_int>(of, to, told, |datatype| datatype.hvector(n, length, stride))
    };
    "Type_indexed" type_indexed<N>(
        n: N, lengths: *const N, displacements: *const N, of: A::Handle, to: *mut A::Handle,
    ) => of_blocks::<A, N, N>(Combiner::Indexed, n, (lengths, displacements), of, to);
    "Type_create_hindexed" type_create_hindexed<N>(
        n: N, lengths: *const N, displacements: *const i64, of: A::Handle, to: *mut A::Handle,
    ) => of_blocks::<A, N, i64>(Combiner::Hindexed, n, (lengths, displacements), of, to);
    "Type_hindexed" type_hindexed<>(
        n: c_int, lengths: *const c_int, displacements: *const i64, of: A::Handle, to: *mut A::Handle,
    ) => of_blocks::<A, c_int, i64>(Combiner::Hindexed, n, (lengths, displacements), of, to);
    "Type_create_indexed_block" type_create_indexed_block<N>(
        n: N, each: N, displacements: *const N, of: A::Handle, to: *mut A::Handle,
    ) => of_even_blocks::<A, N, N>(Combiner::IndexedBlock, (n, each), displacements, of, to);
    "Type_create_hindexed_block" type_create_hindexed_block<N>(
        n: N, each: N, displacements: *const i64, of: A::Handle, to: *mut A::Handle,
    ) => of_even_blocks::<A, N, i64>(Combiner::HindexedBlock, (n, each), displacements, of, to);
    "Type_create_struct" type_create_struct<N>(
        n: N, lengths: *const N, displacements: *const i64, datatypes: *const A::Handle, to: *mut A::Handle,
    ) => of_several::<A, N, i64>(n, (lengths, displacements, datatypes), to);
    "Type_struct" type_struct<>(
        n: c_int, lengths: *const c_int, displacements: *const i64, datatypes: *const A::Handle, to: *mut A::Handle,
    ) => of_several::<A, c_int, i64>(n, (lengths, displacements, datatypes), to);
    "Type_create_subarray" type_create_subarray<N>(
        dimensions: c_int, wholes: *const N, parts: *const N, starts: *const N, order: c_int,
        of: A::Handle, to: *mut A::Handle,
    ) => subarray::<A, N>(dimensions, (wholes, parts, starts), order, of, to);
    "Type_create_resized" type_create_resized<>(of: A::Handle, lower: i64, extent: i64, to: *mut A::Handle) => {
        let told = (Combiner::Resized, &[][..], &[lower, extent][..]);
        of_one::<A, c_int>(of, to, told, |datatype| Ok(datatype.resized(lower, extent)))
    };
    "Type_create_resized_c" type_create_resized_c<>(of: A::Handle, lower: i64, extent: i64, to: *mut A::Handle) => {
        let told = (Combiner::Resized, &[][..], &[lower, extent][..]);
        of_one::<A, i64>(of, to, told, |datatype| Ok(datatype.resized(lower, extent)))
    };
    "Type_dup" type_dup<>(of: A::Handle, to: *mut A::Handle) => {
        let number = known::<A>(Kind::Datatype, of)?;
        let made = make::<A>(to, |process| {
            let datatypes = vec![number];
            let envelope = Envelope { combiner: Combiner::Dup, datatypes, ..Envelope::NAMED };
            Ok((process.datatypes.get(number)?.clone(), envelope))
        })?;
        let copied = copy_of_datatype::<A>(number, made);
        if copied.is_err() {
            // One of its functions has failed: there is no duplicate.
            free::<A>(to)?;
        }
        copied
    };
    "Type_commit" type_commit<>(datatype: *mut A::Handle) => {
        known::<A>(Kind::Datatype, datatype.read_unaligned()).map(|_| ())
    };
    "Type_free" type_free<>(datatype: *mut A::Handle) => free::<A>(datatype);
    "Get_address" get_address<>(at: usize, address: *mut i64) => put(address, at as i64);
    "Address" address_of<>(at: usize, address: *mut i64) => put(address, at as i64);
}
