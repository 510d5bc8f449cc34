//! What the system says of itself and of the process: time that was used, room that is left, the name of the host.
//!
//! A rank that does again what it has done is told what it was told then ([`super::outcome`]).

use std::ffi::{c_char, c_int};
use std::mem::size_of;

use ::libc::{clock_t, rusage, statfs, statvfs, sysinfo, tms, utsname};

use super::functions;
use super::outcome::told_with;
use super::pause::world;

functions! {
    "getrusage" => used,
    "times" => times,
    "sysinfo" => memory,
    "uname" => system_name,
    "gethostname" => host_name,
    "statfs" => room,
    "statfs64" => room,
    "fstatfs" => room_of_open,
    "fstatfs64" => room_of_open,
    "statvfs" => room_in_general,
    "statvfs64" => room_in_general,
    "fstatvfs" => room_in_general_of_open,
    "fstatvfs64" => room_in_general_of_open,
}

/// What is written to `place`, which has room for `count` of them.
///
/// # Safety
/// It has, if it is not null, and `call` writes nowhere else.
unsafe fn fill<T>(place: *mut T, count: usize, mut call: impl FnMut() -> c_int) -> c_int {
    if place.is_null() {
        return call();
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts_mut(place.cast::<u8>(), count * size_of::<T>()) };
    told_with(bytes, call).give()
}

unsafe extern "C" fn used(whose: c_int, place: *mut rusage) -> c_int {
    // SAFETY: called as C's function is, as all that follow.
    unsafe { fill(place, 1, || ::libc::getrusage(whose, place)) }
}

unsafe extern "C" fn times(place: *mut tms) -> clock_t {
    let mut result = 0;
    // SAFETY: as above.
    unsafe {
        fill(place, 1, || {
            result = ::libc::times(place);
            0
        });
    }
    world(&mut || [result as u64, 0])[0] as clock_t
}

unsafe extern "C" fn memory(place: *mut sysinfo) -> c_int {
    // SAFETY: as above.
    unsafe { fill(place, 1, || ::libc::sysinfo(place)) }
}

unsafe extern "C" fn system_name(place: *mut utsname) -> c_int {
    // SAFETY: as above.
    unsafe { fill(place, 1, || ::libc::uname(place)) }
}

unsafe extern "C" fn host_name(place: *mut c_char, len: usize) -> c_int {
    /// The longest that the system has, and the zero behind it. Programs say that they have more room than they do.
    const NAME_MAX: usize = 65;
    let room = len.min(NAME_MAX);
    // SAFETY: as above.
    unsafe { fill(place, room, || ::libc::gethostname(place, room)) }
}

unsafe extern "C" fn room(path: *const c_char, place: *mut statfs) -> c_int {
    // SAFETY: as above.
    unsafe { fill(place, 1, || ::libc::statfs(path, place)) }
}

unsafe extern "C" fn room_of_open(descriptor: c_int, place: *mut statfs) -> c_int {
    // SAFETY: as above.
    unsafe { fill(place, 1, || ::libc::fstatfs(descriptor, place)) }
}

unsafe extern "C" fn room_in_general(path: *const c_char, place: *mut statvfs) -> c_int {
    // SAFETY: as above.
    unsafe { fill(place, 1, || ::libc::statvfs(path, place)) }
}

unsafe extern "C" fn room_in_general_of_open(descriptor: c_int, place: *mut statvfs) -> c_int {
    // SAFETY: as above.
    unsafe { fill(place, 1, || ::libc::fstatvfs(descriptor, place)) }
}

#[cfg(test)]
mod tests {
    use std::mem::zeroed;

    use super::*;

    #[test]
    fn without_a_hook_it_is_what_the_system_says() {
        let mut name = [0; 256];
        // SAFETY: places for what is asked for, of which zero is a value.
        unsafe {
            let (mut of_times, mut of_system): (tms, utsname) = zeroed();
            let mut of_room: statfs = zeroed();
            assert_eq!(host_name(name.as_mut_ptr(), name.len()), 0);
            assert_eq!(system_name(&raw mut of_system), 0);
            assert_eq!(name[..of_system.nodename.len()], of_system.nodename);
            assert!(times(&raw mut of_times) > 0 && times(std::ptr::null_mut()) > 0);
            assert_eq!(room(c"/".as_ptr(), &raw mut of_room), 0);
            assert!(of_room.f_blocks >= of_room.f_bfree && of_room.f_bsize > 0);
            assert_eq!(room(c"/no/such/place".as_ptr(), &raw mut of_room), -1);
        }
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(::libc::ENOENT));
    }
}
