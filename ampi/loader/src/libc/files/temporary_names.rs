//! Files and folders whose names the C library makes up. A rank that does again what it did gets the names that it got then, and
//! makes them again if they have gone since: it may have told others.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::null_mut;

use ::libc::{O_CREAT, O_EXCL, O_RDWR};

use super::makers::adopt_opened;
use super::openers::{Made, make_again};
use crate::libc::functions;
use crate::libc::made_again::{Identity, Place, note_made};
use crate::libc::outcome::{Outcome, is_again, told, told_with};
use crate::libc::pause::give_way;

/// A string of C whose last characters are replaced.
type Template = *mut c_char;

functions! {
    "mkstemp" => make_file,
    "mkstemp64" => make_file,
    "mkostemp" => make_file_with_flags,
    "mkostemp64" => make_file_with_flags,
    "mkstemps" => make_file_with_ending,
    "mkstemps64" => make_file_with_ending,
    "mkostemps" => make_file_with_both,
    "mkostemps64" => make_file_with_both,
    "mkdtemp" => make_folder,
    "mktemp" => make_name,
}

/// What the C library makes of a template. It is not called again by who does again what it did, and gets what it got then.
///
/// # Safety
/// The template is a string of C.
unsafe fn named(template: Template, call: impl FnMut() -> c_int) -> Outcome {
    // SAFETY: the caller's promise.
    let bytes = unsafe {
        let len = CStr::from_ptr(template).to_bytes_with_nul().len();
        std::slice::from_raw_parts_mut(template.cast::<u8>(), len)
    };
    told_with(bytes, call)
}

/// Makes a file by `call`, which opens it with these flags.
///
/// # Safety
/// The template is a string of C.
unsafe fn made(template: Template, flags: c_int, call: impl Fn(Template) -> c_int) -> c_int {
    let mut descriptor = -1;
    // SAFETY: takes nothing; the caller's promise.
    let named = unsafe {
        give_way();
        named(template, || {
            descriptor = call(template);
            descriptor
        })
    };
    if !named.is_done() {
        return named.give();
    }
    let made = || Identity::of(descriptor).map_or(0, Identity::mark);
    let told = told(|| Outcome { result: 0, error: 0, mark: made() });
    if told.is_again {
        // SAFETY: a string of C.
        let open = |flags| unsafe { ::libc::open(template, flags, 0o600) };
        descriptor =
            make_again(Place::at(template), Made::anew(told.then.mark), O_RDWR | O_CREAT | flags, open);
    }
    adopt_opened(descriptor, O_CREAT | O_EXCL)
}

unsafe extern "C" fn make_file(template: Template) -> c_int {
    // SAFETY: called as C's function is, as all that follow.
    unsafe { made(template, 0, |template| ::libc::mkstemp(template)) }
}

unsafe extern "C" fn make_file_with_flags(template: Template, flags: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { made(template, flags, |template| ::libc::mkostemp(template, flags)) }
}

unsafe extern "C" fn make_file_with_ending(template: Template, ending: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { made(template, 0, |template| ::libc::mkstemps(template, ending)) }
}

unsafe extern "C" fn make_file_with_both(template: Template, ending: c_int, flags: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { made(template, flags, |template| ::libc::mkostemps(template, ending, flags)) }
}

unsafe extern "C" fn make_folder(template: Template) -> Template {
    // SAFETY: as above.
    let named = unsafe {
        give_way();
        named(template, || if ::libc::mkdtemp(template).is_null() { -1 } else { 0 })
    };
    if !named.is_done() {
        named.give();
        return null_mut();
    }
    // SAFETY: as above.
    if is_again() && unsafe { ::libc::mkdir(template, 0o700) } == 0 {
        note_made(Place::at(template).identity());
    }
    template
}

/// A name that is free, or an empty one.
unsafe extern "C" fn make_name(template: Template) -> Template {
    unsafe extern "C" {
        fn mktemp(template: Template) -> Template;
    }
    // SAFETY: as above.
    unsafe {
        give_way();
        named(template, || {
            mktemp(template);
            0
        });
    }
    template
}
