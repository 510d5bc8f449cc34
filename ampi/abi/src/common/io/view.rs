//! What a rank sees of a file (MPI-3.1, 13.3).

use talisman_ampi::datatype::{Datatype, NAMED};
use talisman_ampi::file::{Unfit, View};
use talisman_ampi::objects::Kind;

use super::{file, is_first, known_file, shared_pointer};
use crate::abi::Abi;
use crate::class::Class;
use crate::common::agreement::{from_all, from_number, to_number};
use crate::common::call::{Outcome, known, known_or_null, local, put};
use crate::common::communicator::text_of;
use crate::common::info;

/// How values are written: as they are in memory, or as all machines read them.
const NATIVE: &[u8] = b"native";
const EXTERNAL32: &[u8] = b"external32";

/// Whether values are written in external32.
fn is_external32(representation: &[u8]) -> Result<bool, Class> {
    match representation {
        EXTERNAL32 => Ok(true),
        NATIVE | b"internal" => Ok(false),
        _ => Err(Class::UnsupportedDatarep),
    }
}

/// What a program is told of datatypes that are no view.
fn class_of(unfit: Unfit) -> Class {
    match unfit {
        Unfit::Unit => Class::Arg,
        Unfit::Layout => Class::Io,
    }
}

unsafe fn set<A: Abi>(
    handle: A::File,
    displacement: i64,
    (etype, filetype): (A::Handle, A::Handle),
    representation: *const u8,
    hints: A::Handle,
) -> Outcome {
    const NAME: &str = "MPI_File_set_view";
    // SAFETY: the caller's promise.
    let number = unsafe { known_file::<A>(handle) }?;
    // SAFETY: the caller's promise.
    let made = unsafe { change::<A>(number, displacement, (etype, filetype), representation, hints) };
    let communicator = local(|process| Ok(file(process, number)?.communicator))?;
    let all = from_all::<A, 1>(NAME, communicator, [to_number(made)])?;
    made?;
    all.iter().try_for_each(|[error]| from_number(*error))?;
    let reset = if is_first(number)? { shared_pointer::reset(number) } else { Ok(()) };
    let all = from_all::<A, 1>(NAME, communicator, [to_number(reset)])?;
    all.iter().try_for_each(|[error]| from_number(*error))
}

unsafe fn change<A: Abi>(
    number: u32,
    displacement: i64,
    (etype, filetype): (A::Handle, A::Handle),
    representation: *const u8,
    hints: A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    let (etype, filetype, hints, representation) = unsafe {
        (
            known::<A>(Kind::Datatype, etype)?,
            known::<A>(Kind::Datatype, filetype)?,
            known_or_null::<A>(Kind::Info, hints)?,
            text_of(representation)?,
        )
    };
    let is_external32 = is_external32(representation)?;
    let is_sequential = local(|process| Ok(file(process, number)?.access.is_sequential))?;
    let displacement = match displacement {
        // Where the pointer of all is (MPI-3.1, 13.3).
        current if current == A::DISPLACEMENT_CURRENT && is_sequential => {
            let now = shared_pointer::now(number)?;
            local(|process| Ok(file(process, number)?.view.offset_of(now)))?
        }
        displacement => u64::try_from(displacement).map_err(|_| Class::Arg)?,
    };
    local(|process| {
        let both = [etype, filetype].map(|of| {
            let datatype = process.datatypes.get(of)?.clone();
            Ok::<_, Class>((datatype, ((of as usize) < NAMED.len()).then_some(of)))
        });
        let [etype, filetype] = both;
        let said = hints.map(|hints| info::copy_of(process, hints)).transpose()?;
        let file = file(process, number)?;
        let view = View::new(displacement, etype?, filetype?, file.access.writes).map_err(class_of)?;
        (file.view, file.position) = (view.in_external32(is_external32), 0);
        if let Some(said) = said {
            file.hints = said;
        }
        Ok(())
    })
}

/// The program gets a datatype: a predefined one as it was, or one that it has to free.
unsafe fn give<A: Abi>(
    number: u32,
    of: impl FnOnce(&View) -> &(Datatype, Option<u32>),
    to: *mut A::Handle,
) -> Outcome {
    let datatype = local(|process| {
        let (datatype, predefined) = of(&file(process, number)?.view).clone();
        Ok(predefined.unwrap_or_else(|| process.datatypes.insert(datatype)))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Datatype, datatype)) }
}

crate::common::calls! {
    "File_set_view" file_set_view<>(
        handle: A::File, displacement: i64, etype: A::Handle, filetype: A::Handle, representation: *const u8,
        hints: A::Handle,
    ) of handle => set::<A>(handle, displacement, (etype, filetype), representation, hints);
    "File_get_view" file_get_view<>(
        handle: A::File, displacement: *mut i64, etype: *mut A::Handle, filetype: *mut A::Handle,
        representation: *mut u8,
    ) of handle => {
        let number = known_file::<A>(handle)?;
        put(displacement, local(|process| Ok(file(process, number)?.view.displacement()))? as i64)?;
        give::<A>(number, View::etype, etype)?;
        give::<A>(number, View::filetype, filetype)?;
        let is_external32 = local(|process| Ok(file(process, number)?.view.is_external32()))?;
        let name = if is_external32 { EXTERNAL32 } else { NATIVE };
        std::ptr::copy_nonoverlapping(name.as_ptr(), representation, name.len());
        put(representation.add(name.len()), 0)
    };
}
