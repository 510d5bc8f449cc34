//! Making windows together, and freeing them (MPI-4.1, 12.2).

use std::ffi::c_int;

use talisman_ampi::comm::Attributes;
use talisman_ampi::objects::{Info, Kind};
use talisman_ampi::window::{Flavor, Region, SharedMemory, Window};

use super::shared_memory::{self, Share};
use super::{known_window, window};
use crate::abi::{Abi, Count, NULL};
use crate::class::Class;
use crate::common::agreement::{from_all, new_number};
use crate::common::attribute::delete_all_of_window;
use crate::common::buffers::{give, take_back};
use crate::common::call::{Outcome, known, known_or_null, local, put};
use crate::common::info;

/// Values of predefined attributes, in the program's memory: it gets their addresses.
#[repr(C)]
pub struct Facts {
    /// The length of the rank's memory in bytes.
    pub size: i64,
    /// The unit of displacements.
    pub unit: c_int,
    /// How the window was made.
    pub flavor: c_int,
    /// Whether the memory is what loads and stores see.
    pub model: c_int,
}

/// What a window is made with.
struct Asked {
    name: &'static str,
    flavor: Flavor,
    base: u64,
    size: u64,
    unit: u64,
    hints: Option<u32>,
    shared: Option<SharedMemory>,
}

/// A length in bytes that the program gives.
fn size(bytes: i64) -> Result<u64, Class> {
    u64::try_from(bytes).map_err(|_| Class::Size)
}

/// A unit of displacements that the program gives.
fn unit(bytes: i64) -> Result<u64, Class> {
    u64::try_from(bytes).ok().filter(|bytes| *bytes > 0).ok_or(Class::Disp)
}

/// All members of a communicator make it.
unsafe fn make<A: Abi>(parent: u32, asked: Asked, to: *mut A::Handle) -> Outcome {
    let Asked { name, flavor, base, size, unit, hints, shared } = asked;
    let made_by_number = new_number::<A>(name, parent)?;
    let (number, communicator) = local(|process| {
        let hints = hints.map_or(Ok(Info::default()), |hints| info::copy_of(process, hints))?;
        let parent = process.comms.get(parent)?;
        let mut made = parent.duplicate(made_by_number, Attributes::default());
        made.name = format!("a window of {}", parent.name);
        let context = made.contexts().user;
        let communicator = process.comms.insert(made);
        let mut window = Window::new(communicator, Region::new(flavor, base, size, unit), hints);
        // What the state keeps is allocated here.
        window.shared.clone_from(&shared);
        Ok((process.windows.insert(context, window), communicator))
    })?;
    let facts = Facts {
        size: size as i64,
        unit: unit as c_int,
        flavor: A::FLAVORS[flavor as usize],
        model: A::UNIFIED,
    };
    // On the rank's heap, as the rank calls.
    let facts = Box::into_raw(Box::new(facts)) as u64;
    local(|process| {
        window(process, number)?.facts = facts;
        Ok(())
    })?;
    // Nobody accesses it before all have it.
    from_all::<A, 1>(name, communicator, [0])?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Win, number)) }
}

/// The communicator of those who make one, and their hints.
unsafe fn parent_of<A: Abi>(
    communicator: A::Handle,
    hints: A::Handle,
    to: *mut A::Handle,
) -> Result<(u32, Option<u32>), Class> {
    // SAFETY: the caller's promise.
    let (parent, hints) = unsafe {
        put(to, A::handle(Kind::Win, NULL))?;
        (known::<A>(Kind::Comm, communicator)?, known_or_null::<A>(Kind::Info, hints)?)
    };
    let has_two_groups = local(|process| Ok(process.comms.get(parent)?.remote_group().is_some()))?;
    if has_two_groups { Err(Class::Comm) } else { Ok((parent, hints)) }
}

unsafe fn create<A: Abi>(
    (base, bytes, by): (usize, i64, i64),
    (hints, communicator): (A::Handle, A::Handle),
    to: *mut A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let (parent, hints) = parent_of::<A>(communicator, hints, to)?;
        let (size, unit) = (size(bytes)?, unit(by)?);
        let (name, flavor) = ("MPI_Win_create", Flavor::Create);
        make::<A>(parent, Asked { name, flavor, base: base as u64, size, unit, hints, shared: None }, to)
    }
}

unsafe fn allocate<A: Abi>(
    (bytes, by): (i64, i64),
    (hints_given, communicator): (A::Handle, A::Handle),
    (at, to): (*mut usize, *mut A::Handle),
    (name, flavor): (&'static str, Flavor),
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let (parent, hints) = parent_of::<A>(communicator, hints_given, to)?;
        let (size, unit) = (size(bytes)?, unit(by)?);
        let is_alone = local(|process| Ok(process.comms.get(parent)?.size() == 1))?;
        if flavor == Flavor::Shared && !is_alone {
            let may_be_apart = may_be_apart::<A>(hints_given)?;
            let shared = shared_memory::map::<A>(name, parent, Share { size, unit, may_be_apart })?;
            let base = local(|process| {
                let rank = process.comms.get(parent)?.rank().ok_or(Class::Comm)?;
                Ok(shared.start + shared.parts[rank as usize].offset)
            })?;
            put(at, base as usize)?;
            let shared = Some(shared);
            return make::<A>(parent, Asked { name, flavor, base, size, unit, hints, shared }, to);
        }
        let mut base = 0usize;
        give(bytes, &raw mut base)?;
        put(at, base)?;
        make::<A>(parent, Asked { name, flavor, base: base as u64, size, unit, hints, shared: None }, to)
    }
}

unsafe fn create_dynamic<A: Abi>(hints: A::Handle, communicator: A::Handle, to: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let (parent, hints) = parent_of::<A>(communicator, hints, to)?;
        let (name, flavor) = ("MPI_Win_create_dynamic", Flavor::Dynamic);
        make::<A>(parent, Asked { name, flavor, base: 0, size: 0, unit: 1, hints, shared: None }, to)
    }
}

/// When all have come, nobody accesses it any more.
unsafe fn free<A: Abi>(handle: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle.read_unaligned()) }?;
    let communicator = local(|process| {
        let window = window(process, number)?;
        if window.epochs.are_over() { Ok(window.communicator) } else { Err(Class::RmaSync) }
    })?;
    delete_all_of_window::<A>(number)?;
    super::asking::wait_until_done("MPI_Win_free", number, None)?;
    from_all::<A, 1>("MPI_Win_free", communicator, [0])?;
    let mut shared = None;
    let (facts, flavor, base) = local(|process| {
        let freed = process.windows.remove(number).ok_or(Class::Win)?;
        shared = freed.shared;
        let communicator = process.comms.free(freed.communicator)?;
        process.objects.retire(freed.communicator, communicator);
        Ok((freed.facts, freed.region.flavor, freed.region.base))
    })?;
    // SAFETY: made by `make` on the rank's heap, and given to nobody else.
    drop(unsafe { Box::from_raw(facts as *mut Facts) });
    // SAFETY: the memory is what `allocate` was given; nobody uses the handle any more.
    unsafe {
        match &shared {
            Some(shared) => shared_memory::unmap(shared)?,
            None if matches!(flavor, Flavor::Allocate | Flavor::Shared) => take_back(base as usize)?,
            None => {}
        }
        A::forget(Kind::Win, number, handle.read_unaligned());
        put(handle, A::handle(Kind::Win, NULL))
    }
}

/// Whether the parts of ranks need not follow each other, by what the program has said.
unsafe fn may_be_apart<A: Abi>(hints: A::Handle) -> Result<bool, Class> {
    let mut value = [0u8; 8];
    // SAFETY: the caller's promise.
    let found = unsafe {
        match known_or_null::<A>(Kind::Info, hints)? {
            Some(_) => info::value_of::<A>(hints, b"alloc_shared_noncontig", &mut value)?,
            None => None,
        }
    };
    Ok(found.is_some_and(|len| value.get(..len) == Some(b"true")))
}

/// The memory of a member, where the program addresses that; of no member the first one's that has any.
unsafe fn shared<A: Abi, N: Count>(
    handle: A::Handle,
    member: c_int,
    (size, unit, base): (*mut i64, *mut N, *mut usize),
) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    let found = local(|process| {
        let is_none = super::member::<A>(process, number, member)?.is_none();
        let Window { region, shared, .. } = window(process, number)?;
        match shared {
            _ if region.flavor != Flavor::Shared => Err(Class::RmaFlavor),
            None => Ok((region.base, region.size, region.unit)),
            Some(shared) => {
                let first = || shared.parts.iter().find(|part| part.size > 0).or(shared.parts.first());
                let part = if is_none { first() } else { shared.parts.get(member as usize) };
                let part = part.ok_or(Class::Rank)?;
                Ok((shared.start + part.offset, part.size, part.unit))
            }
        }
    })?;
    // SAFETY: the caller's promise.
    unsafe {
        put(size, found.1 as i64)?;
        put(unit, N::of(found.2 as i64).ok_or(Class::Disp)?)?;
        put(base, found.0 as usize)
    }
}

crate::common::calls! {
    "Win_create" win_create<N>(
        base: usize, size: i64, unit: N, hints: A::Handle, communicator: A::Handle, to: *mut A::Handle,
    ) on communicator => create::<A>((base, size, unit.get()), (hints, communicator), to);
    "Win_allocate" win_allocate<N>(
        size: i64, unit: N, hints: A::Handle, communicator: A::Handle, at: *mut usize, to: *mut A::Handle,
    ) on communicator => {
        let how = ("MPI_Win_allocate", Flavor::Allocate);
        allocate::<A>((size, unit.get()), (hints, communicator), (at, to), how)
    };
    "Win_allocate_shared" win_allocate_shared<N>(
        size: i64, unit: N, hints: A::Handle, communicator: A::Handle, at: *mut usize, to: *mut A::Handle,
    ) on communicator => {
        let how = ("MPI_Win_allocate_shared", Flavor::Shared);
        allocate::<A>((size, unit.get()), (hints, communicator), (at, to), how)
    };
    "Win_create_dynamic" win_create_dynamic<>(
        hints: A::Handle, communicator: A::Handle, to: *mut A::Handle,
    ) on communicator => create_dynamic::<A>(hints, communicator, to);
    "Win_free" win_free<>(handle: *mut A::Handle) at handle => free::<A>(handle);
    "Win_attach" win_attach<>(handle: A::Handle, at: usize, bytes: i64) in handle => {
        let (number, bytes) = (known_window::<A>(handle)?, size(bytes)?);
        local(|process| match window(process, number)?.region.attach(at as u64, bytes) {
            true => Ok(()),
            false => Err(Class::RmaAttach),
        })
    };
    "Win_detach" win_detach<>(handle: A::Handle, at: usize) in handle => {
        let number = known_window::<A>(handle)?;
        local(|process| match window(process, number)?.region.detach(at as u64) {
            true => Ok(()),
            false => Err(Class::RmaAttach),
        })
    };
    "Win_shared_query" win_shared_query<N>(
        handle: A::Handle, member: c_int, size: *mut i64, unit: *mut N, base: *mut usize,
    ) in handle => shared::<A, N>(handle, member, (size, unit, base));
}
