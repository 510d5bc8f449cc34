//! Functions of the process's libraries, by addresses in them: to say where a rank has met with a fault.

use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::OnceLock;

use ::libc::Dl_info;

/// Functions that the C library has several of, and chooses by the processor. What it has chosen has no name in its
/// table.
const CHOSEN: [&CStr; 33] = [
    c"memcpy",
    c"memmove",
    c"memset",
    c"memchr",
    c"memrchr",
    c"memcmp",
    c"memmem",
    c"mempcpy",
    c"strlen",
    c"strnlen",
    c"strcpy",
    c"strncpy",
    c"stpcpy",
    c"stpncpy",
    c"strcat",
    c"strncat",
    c"strcmp",
    c"strncmp",
    c"strcasecmp",
    c"strncasecmp",
    c"strchr",
    c"strrchr",
    c"strchrnul",
    c"strstr",
    c"strcspn",
    c"strspn",
    c"strpbrk",
    c"rawmemchr",
    c"wcslen",
    c"wcscpy",
    c"wcschr",
    c"wmemset",
    c"wmemcmp",
];

/// None of them is longer.
const LEN: usize = 8 << 10;

static PLACES: OnceLock<Vec<(usize, &CStr)>> = OnceLock::new();

/// Finds those that are chosen by the processor. To be called once, on the process's heap, before programs run.
pub fn prepare_names() {
    PLACES.get_or_init(|| {
        // SAFETY: a string of C.
        let place = |name: &CStr| unsafe { ::libc::dlsym(::libc::RTLD_DEFAULT, name.as_ptr()) }.addr();
        let mut places: Vec<_> = CHOSEN.into_iter().map(|name| (place(name), name)).collect();
        // The first of several names of one function stays the first.
        places.sort_by_key(|(place, _)| *place);
        places.dedup_by_key(|(place, _)| *place);
        places
    });
}

/// The function of a library of this process that an address is in, with the library: the nearest one before it that
/// has a name, `?` if none has. Allocates, on the heap of who calls, and nothing else: a handler may call it where code
/// was interrupted that holds nothing of the process's.
pub fn function_at(address: usize) -> Option<String> {
    let found = object_at(address)?;
    // SAFETY: strings that live as long as the library, or null.
    let text = |text: *const c_char| (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) });
    let exported = text(found.dli_sname).map(|name| (found.dli_saddr.addr(), name));
    let nearest = exported.into_iter().chain(chosen_before(address)).max_by_key(|(place, _)| *place);
    let name = nearest.map_or("?".into(), |(_, name)| name.to_string_lossy());
    let own = object_at(function_at as *const () as usize);
    if own.is_some_and(|own| own.dli_fbase == found.dli_fbase) {
        return Some(format!("{name} (the runtime)"));
    }
    let library = text(found.dli_fname)?.to_string_lossy();
    Some(format!("{name} ({})", Path::new(&*library).file_name()?.to_string_lossy()))
}

/// The process's own file that has this address.
pub(crate) fn object_at(address: usize) -> Option<Dl_info> {
    let mut found = MaybeUninit::<Dl_info>::zeroed();
    // SAFETY: a place for what is found; all zeroes is a value of it.
    let found =
        unsafe { (::libc::dladdr(address as *const c_void, found.as_mut_ptr()), found.assume_init()) };
    (found.0 != 0).then_some(found.1)
}

fn chosen_before(address: usize) -> Option<(usize, &'static CStr)> {
    let places = PLACES.get()?;
    let (place, name) =
        *places.get(places.partition_point(|(place, _)| *place <= address).checked_sub(1)?)?;
    (address - place < LEN).then_some((place, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_c_library_have_their_names() {
        prepare_names();
        let known = |at: usize| function_at(at).expect("it is in a library");
        for name in [c"getenv", c"strlen"] {
            // SAFETY: a string of C.
            let at = unsafe { ::libc::dlsym(::libc::RTLD_DEFAULT, name.as_ptr()) }.addr();
            let expected = format!("{} (libc", name.to_string_lossy());
            assert!(known(at + 3).starts_with(&expected), "{}", known(at + 3));
        }
        assert!(known(prepare_names as *const () as usize).ends_with(" (the runtime)"));
        assert_eq!(function_at(64), None);
    }
}
