//! Opening and closing a file together, and deleting one (MPI-3.1, 13.2.1 to 13.2.3).

use std::ffi::{CStr, c_int};

use talisman_ampi::comm::Attributes;
use talisman_ampi::file::{Access, File, View};
use talisman_ampi::objects::{Info, Kind};

use super::file_system_prefix::without_kind;
use super::{descriptor, errors, file, known_file, replayed, shared_pointer};
use crate::abi::{Abi, NULL};
use crate::class::Class;
use crate::common::agreement::{from_all, from_first, from_number, new_number, to_number};
use crate::common::call::{Outcome, handler, known, known_or_null, local, put};
use crate::common::communicator::text_of;
use crate::common::info;
use crate::hooks::hooks;

const NAME: &str = "MPI_File_open";

/// What the number of a mode says.
fn access_of<A: Abi>(mode: c_int) -> Result<Access, Class> {
    let [reads, writes, both, creates, is_new, deletes, _unique, appends, is_sequential] =
        A::FILE_MODES.map(|bit| mode & bit != 0);
    let access = Access {
        reads: reads || both,
        writes: writes || both,
        creates,
        is_new,
        deletes,
        appends,
        is_sequential,
    };
    let is_one = u8::from(reads) + u8::from(writes) + u8::from(both) == 1;
    if is_one && access.is_possible() { Ok(access) } else { Err(Class::Amode) }
}

/// Opens a file for the rank. What is made is made by the first rank.
fn open_alone(path: &CStr, access: Access, is_first: bool) -> Result<i32, Class> {
    use rustix::fs::OFlags;
    let mut flags = match (access.reads, access.writes) {
        (true, false) => OFlags::RDONLY,
        (false, _) => OFlags::WRONLY,
        (true, true) => OFlags::RDWR,
    };
    if is_first && access.creates {
        flags |= OFlags::CREATE;
        if access.is_new {
            flags |= OFlags::EXCL;
        }
    }
    opened(path, (flags | OFlags::CLOEXEC).bits() as c_int)
}

/// Opens a file as a call of the program's would.
///
/// # Errors
/// What the system says.
pub fn opened(path: &CStr, flags: c_int) -> Result<i32, Class> {
    // SAFETY: a text that ends with a zero.
    match unsafe { (hooks().open)(path.as_ptr(), flags, 0o666) } {
        -1 => Err(errors::class_of(&std::io::Error::last_os_error())),
        descriptor => Ok(descriptor),
    }
}

/// Closes a descriptor as a call of the program's would.
pub fn closed(descriptor: i32) {
    // SAFETY: the rank's own.
    unsafe { (hooks().close)(descriptor) };
}

/// Deletes a file as a call of the program's would.
///
/// # Errors
/// What the system says.
pub fn deleted(path: &CStr) -> Outcome {
    // SAFETY: a text that ends with a zero.
    match unsafe { (hooks().delete)(path.as_ptr()) } {
        0 => Ok(()),
        _ => Err(errors::class_of(&std::io::Error::last_os_error())),
    }
}

/// A file that all have opened.
struct Opened {
    descriptor: i32,
    access: Access,
    /// Where its pointers begin.
    begin: u64,
}

/// Where the pointers of a file begin that the rank has opened.
fn begin_of(descriptor: i32, access: Access) -> Result<u64, Class> {
    if access.appends { descriptor::length(descriptor) } else { Ok(0) }
}

/// All open it, or none does: each gives what the first of them with an error has met with. Where its end is all have
/// seen before any goes on, and writes.
fn open_together<A: Abi>(communicator: u32, path: &CStr, mode: c_int) -> Result<Opened, Class> {
    let access = access_of::<A>(mode);
    let said = [to_number(access.map(|_| ())), i64::from(mode)];
    let all = from_all::<A, 2>(NAME, communicator, said)?;
    all.iter().try_for_each(|[error, _]| from_number(*error))?;
    if all.iter().any(|[_, other]| *other != i64::from(mode)) {
        return Err(Class::NotSame);
    }
    let access = access?;
    let is_first = local(|process| Ok(process.comms.get(communicator)?.rank() == Some(0)))?;
    let mut opened = Err(Class::Other);
    let mut of_first = [0];
    if is_first {
        shared_pointer::forget_former(communicator, path);
        opened = open_alone(path, access, true);
        of_first[0] = to_number(opened.map(|_| ()));
    }
    from_first::<A>(NAME, communicator, &mut of_first)?;
    from_number(of_first[0])?;
    if !is_first {
        opened = open_alone(path, access, false);
    }
    let begin = opened.and_then(|descriptor| begin_of(descriptor, access));
    let all = from_all::<A, 1>(NAME, communicator, [to_number(begin.map(|_| ()))])?;
    let outcome = all.iter().try_for_each(|[error]| from_number(*error));
    if let (Err(_), Ok(descriptor)) = (outcome, opened) {
        closed(descriptor);
    }
    outcome?;
    Ok(Opened { descriptor: opened?, access, begin: begin? })
}

/// Whether it was written since the rank began, perhaps by this job, which may write it again.
fn is_of_job(descriptor: i32) -> Result<bool, Class> {
    let began = local(|process| Ok(process.objects.life.began))?;
    replayed::then(|| descriptor::written(descriptor)).map(|written| written >= began)
}

/// Those who open it get a communicator of their own for it.
fn communicator_of_file<A: Abi>(parent: u32) -> Result<u32, Class> {
    if local(|process| Ok(process.comms.get(parent)?.remote_group().is_some()))? {
        return Err(Class::Comm);
    }
    let number = new_number::<A>(NAME, parent)?;
    local(|process| {
        let made = process.comms.get(parent)?.duplicate(number, Attributes::default());
        Ok(process.comms.insert(made))
    })
}

fn free_communicator(communicator: u32) -> Outcome {
    local(|process| {
        let freed = process.comms.free(communicator)?;
        process.objects.retire(communicator, freed);
        Ok(())
    })
}

/// The name of a file: a text of the program with a zero at its end, in the rank's memory.
unsafe fn path_of<A: Abi>(path: *const u8) -> Result<&'static CStr, Class> {
    // SAFETY: the caller's promise: it is there while the call lasts.
    let path = unsafe {
        text_of(path)?;
        CStr::from_ptr(path.cast())
    };
    Ok(if A::NAMES_HAVE_KINDS { without_kind(path) } else { path })
}

unsafe fn open<A: Abi>(
    communicator: A::Handle,
    path: *const u8,
    mode: c_int,
    hints: A::Handle,
    to: *mut A::File,
) -> Outcome {
    // SAFETY: the caller's promise.
    let (parent, hints, path) = unsafe {
        put(to, A::file(NULL))?;
        let parent = known::<A>(Kind::Comm, communicator)?;
        (parent, known_or_null::<A>(Kind::Info, hints)?, path_of::<A>(path)?)
    };
    let communicator = communicator_of_file::<A>(parent)?;
    let Opened { descriptor, access, begin } = match open_together::<A>(communicator, path, mode) {
        Ok(opened) => opened,
        Err(class) => {
            free_communicator(communicator)?;
            return Err(class);
        }
    };
    let gives_again = access.writes || access.is_sequential || is_of_job(descriptor)?;
    let number = local(|process| {
        let hints = hints.map_or(Ok(Info::default()), |hints| info::copy_of(process, hints))?;
        let handler = process.objects.handler_of_files.unwrap_or(handler::RETURN);
        Ok(process.objects.files.insert(File {
            descriptor,
            path: path.to_bytes().to_vec(),
            access,
            mode,
            communicator,
            is_shared: process.comms.get(communicator)?.size() > 1,
            gives_again,
            view: View::bytes(),
            begin,
            position: begin,
            shared: None,
            split: None,
            is_atomic: false,
            handler,
            hints,
        }))
    })?;
    if hooks().goes_back && super::is_first(number)? {
        shared_pointer::prepare(number);
    }
    // SAFETY: the caller's promise.
    unsafe { put(to, A::file(number)) }
}

/// When all have closed it, the first deletes what is to be deleted.
unsafe fn close<A: Abi>(handle: *mut A::File) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known_file::<A>(handle.read_unaligned()) }?;
    let (descriptor, shared, communicator, deletes) = local(|process| {
        let file = file(process, number)?;
        Ok((file.descriptor, file.shared, file.communicator, file.access.deletes))
    })?;
    closed(descriptor);
    let used = from_all::<A, 1>("MPI_File_close", communicator, [i64::from(shared.is_some())])?;
    let is_first = super::is_first(number)?;
    if is_first && used.iter().any(|[used]| *used != 0) {
        shared_pointer::spend(number, shared)?;
    }
    if let Some(shared) = shared {
        closed(shared);
    }
    if is_first && deletes {
        let path = path_in(number)?;
        // Another rank's program may have deleted it: then it is gone as well.
        let _gone = deleted(path.as_c_str());
    }
    free_communicator(communicator)?;
    local(|process| {
        process.objects.files.remove(number);
        Ok(())
    })?;
    // SAFETY: the caller's promise; nobody uses the handle any more.
    unsafe {
        A::forget_file(number, handle.read_unaligned());
        put(handle, A::file(NULL))
    }
}

/// The name of a file, in the rank's memory.
///
/// # Errors
/// If there is no such file.
pub fn path_in(number: u32) -> Result<std::ffi::CString, Class> {
    // State is the process's: it is copied by way of the stack.
    let (bytes, len) = local(|process| {
        let path = &file(process, number)?.path;
        let mut copy = [0u8; PATH];
        copy.get_mut(..path.len()).ok_or(Class::BadFile)?.copy_from_slice(path);
        Ok((copy, path.len()))
    })?;
    std::ffi::CString::new(&bytes[..len]).map_err(|_| Class::BadFile)
}

/// Longer names the system does not take.
pub const PATH: usize = 4096;

crate::common::calls! {
    "File_open" file_open<>(
        communicator: A::Handle, path: *const u8, mode: c_int, hints: A::Handle, to: *mut A::File,
    ) of nothing => open::<A>(communicator, path, mode, hints, to);
    "File_close" file_close<>(handle: *mut A::File) of nothing => close::<A>(handle);
    "File_delete" file_delete<>(path: *const u8, _hints: A::Handle) of nothing => deleted(path_of::<A>(path)?);
}
