//! Sizes, modes and hints (MPI-3.1, 13.2.4 to 13.2.8 and 13.6).

use std::ffi::c_int;

use talisman_ampi::file::File;
use talisman_ampi::objects::Kind;

use super::{descriptor, file, is_first, known_file, replayed, together};
use crate::abi::Abi;
use crate::class::Class;
use crate::common::agreement::{from_first, from_number, to_number};
use crate::common::call::{Outcome, known, known_or_null, local, put};
use crate::common::group;
use crate::common::info;

/// Something of a file.
unsafe fn look<A: Abi, T: Copy>(
    handle: A::File,
    at: impl FnOnce(&File) -> Result<T, Class>,
) -> Result<T, Class> {
    // SAFETY: the caller's promise.
    let number = unsafe { known_file::<A>(handle) }?;
    local(|process| at(file(process, number)?))
}

/// The extent of a datatype in a file, by how values are written there.
unsafe fn extent_of<A: Abi>(handle: A::File, datatype: A::Handle) -> Result<i64, Class> {
    // SAFETY: the caller's promise.
    let (number, datatype) = unsafe { (known_file::<A>(handle)?, known::<A>(Kind::Datatype, datatype)?) };
    local(|process| {
        let is_external32 = file(process, number)?.view.is_external32();
        let datatype = process.datatypes.get(datatype)?;
        Ok(if is_external32 { datatype.in_external32().extent().1 } else { datatype.extent().1 })
    })
}

/// What one rank does for all, once all have come.
unsafe fn by_first<A: Abi>(
    name: &'static str,
    handle: A::File,
    work: impl FnOnce(i32, bool) -> Outcome,
) -> Outcome {
    // SAFETY: the caller's promise.
    let (number, (own, is_shared, communicator)) = unsafe {
        let look = look::<A, _>(handle, |file| Ok((file.descriptor, file.is_shared, file.communicator)))?;
        (known_file::<A>(handle)?, look)
    };
    together::<A>(name, number)?;
    let mut outcome = [if is_first(number)? { to_number(work(own, is_shared)) } else { 0 }];
    from_first::<A>(name, communicator, &mut outcome)?;
    from_number(outcome[0])
}

fn size(size: i64) -> Result<u64, Class> {
    u64::try_from(size).map_err(|_| Class::Arg)
}

/// Only what may be written changes its size.
fn is_writable(file: &File) -> Outcome {
    if file.access.writes { Ok(()) } else { Err(Class::ReadOnly) }
}

crate::common::calls! {
    "File_get_size" file_get_size<>(handle: A::File, size: *mut i64) of handle => {
        let own = look::<A, _>(handle, |file| Ok(file.descriptor))?;
        put(size, descriptor::length(own)? as i64)
    };
    "File_set_size" file_set_size<>(handle: A::File, to: i64) of handle => {
        look::<A, _>(handle, is_writable)?;
        let to = size(to)?;
        by_first::<A>("MPI_File_set_size", handle, |own, is_shared| {
            let set = || descriptor::set_length(own, to).map(|()| to);
            if is_shared { replayed::changed(set) } else { set() }.map(|_| ())
        })
    };
    "File_preallocate" file_preallocate<>(handle: A::File, to: i64) of handle => {
        look::<A, _>(handle, is_writable)?;
        let to = size(to)?;
        by_first::<A>("MPI_File_preallocate", handle, |own, _| {
            if to == 0 { Ok(()) } else { descriptor::reserve(own, to) }
        })
    };
    "File_sync" file_sync<>(handle: A::File) of handle => {
        let number = known_file::<A>(handle)?;
        let outcome = look::<A, _>(handle, |file| descriptor::sync(file.descriptor));
        together::<A>("MPI_File_sync", number)?;
        outcome
    };
    "File_get_amode" file_get_amode<>(handle: A::File, mode: *mut c_int) of handle => {
        put(mode, look::<A, _>(handle, |file| Ok(file.mode))?)
    };
    "File_get_group" file_get_group<>(handle: A::File, to: *mut A::Handle) of handle => {
        let communicator = look::<A, _>(handle, |file| Ok(file.communicator))?;
        group::make::<A>(to, |process| Ok(process.comms.get(communicator)?.group().clone()))
    };
    "File_set_info" file_set_info<>(handle: A::File, hints: A::Handle) of handle => {
        let number = known_file::<A>(handle)?;
        if let Some(hints) = known_or_null::<A>(Kind::Info, hints)? {
            local(|process| {
                let hints = info::copy_of(process, hints)?;
                file(process, number)?.hints = hints;
                Ok(())
            })?;
        }
        together::<A>("MPI_File_set_info", number)
    };
    "File_get_info" file_get_info<>(handle: A::File, to: *mut A::Handle) of handle => {
        let number = known_file::<A>(handle)?;
        info::make::<A>(to, |process| Ok(file(process, number)?.hints.clone()))
    };
    "File_set_atomicity" file_set_atomicity<>(handle: A::File, flag: c_int) of handle => {
        let number = known_file::<A>(handle)?;
        local(|process| {
            file(process, number)?.is_atomic = flag != 0;
            Ok(())
        })?;
        together::<A>("MPI_File_set_atomicity", number)
    };
    "File_get_atomicity" file_get_atomicity<>(handle: A::File, flag: *mut c_int) of handle => {
        put(flag, c_int::from(look::<A, _>(handle, |file| Ok(file.is_atomic))?))
    };
    "File_get_type_extent" file_get_type_extent<>(
        handle: A::File, datatype: A::Handle, extent: *mut i64,
    ) of handle => {
        put(extent, extent_of::<A>(handle, datatype)?)
    };
    "File_get_type_extent_c" file_get_type_extent_c<>(
        handle: A::File, datatype: A::Handle, extent: *mut i64,
    ) of handle => {
        put(extent, extent_of::<A>(handle, datatype)?)
    };
}
