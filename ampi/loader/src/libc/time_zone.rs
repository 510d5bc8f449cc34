//! Local time, by the variable `TZ` of a rank.
//!
//! The C library has one time zone for the process, by the process's variable. So who asks for local time has that variable meanwhile, if
//! the rank's own says something else, and nobody else asks. What it finds of names it has in its own memory.

use std::ffi::{CStr, OsStr, c_char, c_int, c_long};
use std::os::unix::ffi::OsStrExt;
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use ::libc::{locale_t, time_t, tm};

use super::environment::value;
use super::pause::process_memory;
use super::{current, functions};

/// Bytes of a name of a zone, with a zero at its end. POSIX has names of six letters.
const NAME: usize = 32;

/// What a rank has of its zone.
#[repr(C)]
pub struct TimeZone {
    /// Of standard time, of summer time, and of a time before there were these.
    names: [[c_char; NAME]; 3],
}

impl TimeZone {
    pub const fn new() -> TimeZone {
        TimeZone { names: [[0; NAME]; 3] }
    }
}

functions! {
    "tzset" => set_zone,
    "__tzset" => set_zone,
    "localtime" => local_time,
    "localtime_r" => local_time_in,
    "__localtime_r" => local_time_in,
    "mktime" => time_of,
    "timelocal" => time_of,
    "ctime" => date_text,
    "ctime_r" => date_text_in,
    "strftime" => format,
    "strftime_l" => format_in_locale,
    "__strftime_l" => format_in_locale,
    "wcsftime" => format_wide,
    "wcsftime_l" => format_wide_in_locale,
    "__wcsftime_l" => format_wide_in_locale,
}

unsafe extern "C" {
    static tzname: [*const c_char; 2];
    static timezone: c_long;
    static daylight: c_int;
    fn tzset();
    fn asctime_r(time: *const tm, text: *mut c_char) -> *mut c_char;
    fn strftime_l(
        place: *mut c_char,
        most: usize,
        how: *const c_char,
        time: *const tm,
        locale: locale_t,
    ) -> usize;
    fn wcsftime(place: *mut u32, most: usize, how: *const u32, time: *const tm) -> usize;
    fn wcsftime_l(place: *mut u32, most: usize, how: *const u32, time: *const tm, locale: locale_t) -> usize;
}

/// The value of `TZ` by which the C library has read its zone last; none if it has not yet.
static LAST: Mutex<Option<Option<Vec<u8>>>> = Mutex::new(None);

/// Calls a function of the C library in the rank's zone.
fn in_zone<T>(call: impl FnOnce() -> T) -> T {
    let own = value(c"TZ");
    // What it reads of a zone it keeps.
    process_memory(true);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let of_process = std::env::var_os("TZ");
    let is_other = of_process.as_deref().map(OsStrExt::as_bytes) != own.map(CStr::to_bytes);
    if is_other {
        set_variable(own.map(|own| OsStr::from_bytes(own.to_bytes())));
    }
    let own = own.map(|own| own.to_bytes().to_vec());
    if last.as_ref() != Some(&own) {
        // SAFETY: nobody else looks at the zone.
        unsafe { tzset() };
        *last = Some(own);
    }
    let result = call();
    take_names();
    if is_other {
        set_variable(of_process.as_deref());
    }
    drop((last, of_process));
    process_memory(false);
    result
}

fn set_variable(to: Option<&OsStr>) {
    // SAFETY: the runtime looks at variables by Rust's functions, which wait for this; the C library at `TZ` where nobody else asks for
    // local time.
    unsafe {
        match to {
            Some(to) => std::env::set_var("TZ", to),
            None => std::env::remove_var("TZ"),
        }
    }
}

/// The rank's `tzname`, `timezone` and `daylight` are what the C library's are.
fn take_names() {
    // SAFETY: variables that only change while `LAST` is locked, and strings; the running rank's state, and its variables.
    unsafe {
        let state = &mut *current();
        for (name, found) in state.time_zone.names.iter_mut().zip(tzname) {
            copy(name, found);
        }
        let names = [state.time_zone.names[0].as_ptr(), state.time_zone.names[1].as_ptr()];
        *state.variables.zone_names = names;
        *state.variables.zone_seconds = timezone;
        *state.variables.has_summer_time = daylight;
    }
}

/// # Safety
/// `from` is a string, or null.
unsafe fn copy(name: &mut [c_char; NAME], from: *const c_char) {
    if from.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    let from = unsafe { CStr::from_ptr(from) }.to_bytes();
    let len = from.len().min(NAME - 1);
    name.fill(0);
    name.iter_mut().zip(&from[..len]).for_each(|(byte, from)| *byte = *from as c_char);
}

/// Its zone has a name that is the rank's.
///
/// # Safety
/// A time that was filled in by the C library, or null.
unsafe fn own_name(time: *mut tm) {
    // SAFETY: the caller's promise.
    let Some(time) = (unsafe { time.as_mut() }) else { return };
    // SAFETY: the running rank's state.
    let names = unsafe { &mut (*current()).time_zone.names };
    if time.tm_zone.is_null() {
        return;
    }
    // SAFETY: the caller's promise: a string. Names end with a zero.
    let is_same =
        |name: &[c_char; NAME]| unsafe { CStr::from_ptr(name.as_ptr()) == CStr::from_ptr(time.tm_zone) };
    let place = names.iter().position(is_same).unwrap_or_else(|| {
        // SAFETY: as above.
        unsafe { copy(&mut names[2], time.tm_zone) };
        2
    });
    time.tm_zone = names[place].as_ptr();
}

unsafe extern "C" fn set_zone() {
    in_zone(|| {
        // SAFETY: nobody else looks at the zone.
        unsafe { tzset() }
    });
}

unsafe extern "C" fn local_time_in(time: *const time_t, place: *mut tm) -> *mut tm {
    // SAFETY: called as C's function is, as all that follow.
    unsafe {
        let local = in_zone(|| ::libc::localtime_r(time, place));
        own_name(local);
        local
    }
}

unsafe extern "C" fn local_time(time: *const time_t) -> *mut tm {
    // SAFETY: as above; the running rank's state.
    unsafe { local_time_in(time, &raw mut (*current()).texts.time) }
}

unsafe extern "C" fn time_of(time: *mut tm) -> time_t {
    // SAFETY: as above.
    unsafe {
        let found = in_zone(|| ::libc::mktime(time));
        own_name(time);
        found
    }
}

unsafe extern "C" fn date_text_in(time: *const time_t, text: *mut c_char) -> *mut c_char {
    // SAFETY: as above; zero is a value of a time.
    unsafe {
        let mut local: tm = std::mem::zeroed();
        if local_time_in(time, &raw mut local).is_null() {
            null_mut()
        } else {
            asctime_r(&raw const local, text)
        }
    }
}

unsafe extern "C" fn date_text(time: *const time_t) -> *mut c_char {
    // SAFETY: as above. A date has 26 bytes.
    unsafe { date_text_in(time, (*current()).texts.date.as_mut_ptr()) }
}

unsafe extern "C" fn format(place: *mut c_char, most: usize, how: *const c_char, time: *const tm) -> usize {
    // SAFETY: as above.
    in_zone(|| unsafe { ::libc::strftime(place, most, how, time) })
}

unsafe extern "C" fn format_in_locale(
    place: *mut c_char,
    most: usize,
    how: *const c_char,
    time: *const tm,
    locale: locale_t,
) -> usize {
    // SAFETY: as above.
    in_zone(|| unsafe { strftime_l(place, most, how, time, locale) })
}

unsafe extern "C" fn format_wide(place: *mut u32, most: usize, how: *const u32, time: *const tm) -> usize {
    // SAFETY: as above.
    in_zone(|| unsafe { wcsftime(place, most, how, time) })
}

unsafe extern "C" fn format_wide_in_locale(
    place: *mut u32,
    most: usize,
    how: *const u32,
    time: *const tm,
    locale: locale_t,
) -> usize {
    // SAFETY: as above.
    in_zone(|| unsafe { wcsftime_l(place, most, how, time, locale) })
}
