//! What the system says of itself and of the process: time that was used, room that is left, the name of the host.
//!
//! A rank that does again what it has done is told what it was told then ([`super::outcome`]).

use std::ffi::{c_char, c_int, c_long, c_uint};
use std::mem::size_of;

use ::libc::{
    clock_t, cpu_set_t, mallinfo, mallinfo2, pid_t, rusage, statfs, statvfs, suseconds_t, sysinfo, time_t,
    timeval, tms, utsname,
};

use super::cpu_time::{Count, rising};
use super::outcome::told_with;
use super::pause::world;
use super::process_number::for_system;
use super::{errno, functions, set_errno};

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
    "getloadavg" => load,
    "sysconf" => configured,
    "__sysconf" => configured,
    "get_nprocs" => processors,
    "get_nprocs_conf" => processors_configured,
    "get_phys_pages" => pages,
    "get_avphys_pages" => pages_available,
    "sched_getcpu" => processor,
    "getcpu" => processor_and_node,
    "sched_getaffinity" => processors_allowed,
    "getppid" => parent,
    "gettid" => thread,
    "mallinfo" => allocated,
    "mallinfo2" => allocated_in_all,
}

unsafe extern "C" {
    fn get_nprocs() -> c_int;
    fn get_nprocs_conf() -> c_int;
    fn get_phys_pages() -> c_long;
    fn get_avphys_pages() -> c_long;
    fn getcpu(processor: *mut c_uint, node: *mut c_uint) -> c_int;
}

/// A number that the system gives, or -1 with an error.
fn told_number(call: impl Fn() -> c_long) -> c_long {
    let before = errno();
    let [number, error] = world(&mut || {
        set_errno(0);
        let number = call();
        [number as u64, errno() as u64]
    });
    let has_failed = number as c_long == -1 && error != 0;
    set_errno(if has_failed { error as c_int } else { before });
    number as c_long
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

/// A time in two numbers.
fn rise(count: Count, time: &mut timeval) {
    const MICROSECONDS: u64 = 1_000_000;
    let now = rising(count, time.tv_sec as u64 * MICROSECONDS + time.tv_usec as u64);
    (time.tv_sec, time.tv_usec) = ((now / MICROSECONDS) as time_t, (now % MICROSECONDS) as suseconds_t);
}

unsafe extern "C" fn used(whose: c_int, place: *mut rusage) -> c_int {
    // SAFETY: called as C's function is, as all that follow.
    unsafe {
        let result = fill(place, 1, || ::libc::getrusage(whose, place));
        if let Some(used) = place.as_mut()
            && result == 0
            && whose == ::libc::RUSAGE_SELF
        {
            rise(Count::User, &mut used.ru_utime);
            rise(Count::System, &mut used.ru_stime);
        }
        result
    }
}

unsafe extern "C" fn times(place: *mut tms) -> clock_t {
    let mut result = 0;
    // SAFETY: as above.
    unsafe {
        fill(place, 1, || {
            result = ::libc::times(place);
            0
        });
        if let Some(ticks) = place.as_mut() {
            for (count, time) in
                [(Count::UserTicks, &mut ticks.tms_utime), (Count::SystemTicks, &mut ticks.tms_stime)]
            {
                *time = rising(count, *time as u64) as clock_t;
            }
        }
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

unsafe extern "C" fn load(place: *mut f64, count: c_int) -> c_int {
    let mut samples = 0;
    let wanted = usize::try_from(count).unwrap_or(0).min(3);
    // SAFETY: as above.
    let filled = unsafe {
        fill(place, wanted, || {
            samples = ::libc::getloadavg(place, count);
            samples
        })
    };
    if filled < 0 { filled } else { world(&mut || [samples as u64, 0])[0] as c_int }
}

unsafe extern "C" fn configured(name: c_int) -> c_long {
    // SAFETY: a number.
    told_number(|| unsafe { ::libc::sysconf(name) })
}

unsafe extern "C" fn processors() -> c_int {
    // SAFETY: takes nothing, as those that follow.
    told_number(|| unsafe { get_nprocs() }.into()) as c_int
}

unsafe extern "C" fn processors_configured() -> c_int {
    // SAFETY: as above.
    told_number(|| unsafe { get_nprocs_conf() }.into()) as c_int
}

unsafe extern "C" fn pages() -> c_long {
    // SAFETY: as above.
    told_number(|| unsafe { get_phys_pages() })
}

unsafe extern "C" fn pages_available() -> c_long {
    // SAFETY: as above.
    told_number(|| unsafe { get_avphys_pages() })
}

unsafe extern "C" fn processor() -> c_int {
    // SAFETY: as above.
    told_number(|| unsafe { ::libc::sched_getcpu() }.into()) as c_int
}

unsafe extern "C" fn processor_and_node(processor: *mut c_uint, node: *mut c_uint) -> c_int {
    let mut seen = [0; 2];
    let [own, of_node] = &mut seen;
    // SAFETY: places for numbers.
    let result = unsafe { getcpu(own, of_node) };
    let [own, of_node] = world(&mut || seen.map(u64::from));
    for (place, number) in [(processor, own), (node, of_node)] {
        if !place.is_null() {
            // SAFETY: called as C's function is.
            unsafe { place.write(number as c_uint) };
        }
    }
    result
}

unsafe extern "C" fn processors_allowed(process: pid_t, len: usize, place: *mut cpu_set_t) -> c_int {
    // SAFETY: as above.
    unsafe { fill(place.cast::<u8>(), len, || ::libc::sched_getaffinity(for_system(process), len, place)) }
}

unsafe extern "C" fn parent() -> pid_t {
    // SAFETY: takes nothing, as those that follow.
    told_number(|| unsafe { ::libc::getppid() }.into()) as pid_t
}

unsafe extern "C" fn thread() -> pid_t {
    // SAFETY: as above.
    told_number(|| unsafe { ::libc::gettid() }.into()) as pid_t
}

unsafe extern "C" fn allocated() -> mallinfo {
    // SAFETY: as above, and a place for what it returns.
    unsafe {
        let mut seen = ::libc::mallinfo();
        fill(&raw mut seen, 1, || 0);
        seen
    }
}

unsafe extern "C" fn allocated_in_all() -> mallinfo2 {
    // SAFETY: as above.
    unsafe {
        let mut seen = ::libc::mallinfo2();
        fill(&raw mut seen, 1, || 0);
        seen
    }
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
        // SAFETY: numbers, and places for what is asked for.
        unsafe {
            let (mut loads, mut allowed): ([f64; 3], cpu_set_t) = zeroed();
            set_errno(::libc::E2BIG);
            assert!(
                configured(::libc::_SC_PAGESIZE) >= 4096 && processors() > 0 && pages() > pages_available()
            );
            assert_eq!(errno(), ::libc::E2BIG, "as it was");
            assert_eq!((configured(-7), errno()), (-1, ::libc::EINVAL));
            assert_eq!(load(loads.as_mut_ptr(), 3), 3);
            assert_eq!((load(loads.as_mut_ptr(), 1), load(loads.as_mut_ptr(), 0)), (1, 0));
            assert!(
                processors_allowed(0, size_of::<cpu_set_t>(), &raw mut allowed) == 0
                    && ::libc::CPU_COUNT(&allowed) > 0
            );
            let (mut own, mut node) = (c_uint::MAX, c_uint::MAX);
            assert_eq!(processor_and_node(&raw mut own, &raw mut node), 0);
            assert!(own < c_uint::MAX && node < c_uint::MAX && processor() >= 0);
            assert_eq!((parent(), thread()), (::libc::getppid(), ::libc::gettid()));
        }
    }
}
