//! What a program reads that is neither in its memory nor a message: clocks, numbers of the system.
//!
//! A rank that does again what it has done gets what it got then, by a hook ([`super::Hooks::world`]).

use std::ffi::{c_int, c_long, c_uint, c_void};

use ::libc::{clock_t, clockid_t, time_t, timespec, timeval};

use super::cpu_time::{Count, rising};
use super::pause::world;
use super::{functions, set_errno};

functions! {
    "clock_gettime" => clock_time,
    "__clock_gettime" => clock_time,
    "gettimeofday" => time_of_day,
    "__gettimeofday" => time_of_day,
    "time" => seconds,
    "timespec_get" => time_by_base,
    "clock" => processor_time,
    "getrandom" => random_bytes,
    "getentropy" => entropy,
    "arc4random" => random_number,
    "arc4random_uniform" => random_number_below,
    "arc4random_buf" => random_place,
}

unsafe extern "C" {
    fn clock() -> clock_t;
}

/// A number of random bits, as the C library's `arc4random` gives it.
unsafe extern "C" fn random_number() -> u32 {
    let mut bytes = [0; size_of::<u32>()];
    // SAFETY: as many bytes as there are.
    unsafe { random_place(bytes.as_mut_ptr().cast(), bytes.len()) };
    u32::from_ne_bytes(bytes)
}

/// All numbers below `bound` are as likely: those that would be there once more than others are not taken.
unsafe extern "C" fn random_number_below(bound: u32) -> u32 {
    if bound < 2 {
        return 0;
    }
    let surplus = (u32::MAX % bound + 1) % bound;
    loop {
        // SAFETY: takes nothing.
        let number = unsafe { random_number() };
        if number <= u32::MAX - surplus {
            return number % bound;
        }
    }
}

unsafe extern "C" fn random_place(place: *mut c_void, count: usize) {
    let mut filled = 0;
    while filled < count {
        // SAFETY: called as C's function is.
        let got = unsafe { random_bytes(place.byte_add(filled), count - filled, 0) };
        // It fails where a signal came first.
        filled += usize::try_from(got).unwrap_or(0);
    }
}

unsafe extern "C" fn clock_time(clock: clockid_t, place: *mut timespec) -> c_int {
    // SAFETY: called as C's function is.
    let result = unsafe { ::libc::clock_gettime(clock, place) };
    if result == 0 {
        // SAFETY: written by the call that has succeeded.
        unsafe {
            note_time(place);
            match clock {
                ::libc::CLOCK_PROCESS_CPUTIME_ID => rise(Count::OfProcess, &mut *place),
                ::libc::CLOCK_THREAD_CPUTIME_ID => rise(Count::OfThread, &mut *place),
                _ => {}
            }
        }
    }
    result
}

fn rise(count: Count, time: &mut timespec) {
    const NANOSECONDS: u64 = 1_000_000_000;
    let now = rising(count, time.tv_sec as u64 * NANOSECONDS + time.tv_nsec as u64);
    (time.tv_sec, time.tv_nsec) = ((now / NANOSECONDS) as time_t, (now % NANOSECONDS) as c_long);
}

/// # Safety
/// There is a time.
unsafe fn note_time(place: *mut timespec) {
    // SAFETY: the caller's promise.
    let time = unsafe { &mut *place };
    let [seconds, rest] = world(&mut || [time.tv_sec as u64, time.tv_nsec as u64]);
    (time.tv_sec, time.tv_nsec) = (seconds as time_t, rest as c_long);
}

/// Time zones are none of it: the second argument is obsolete, and the C library writes zeroes there.
unsafe extern "C" fn time_of_day(place: *mut timeval, zone: *mut c_void) -> c_int {
    // SAFETY: called as C's function is.
    let result = unsafe { ::libc::gettimeofday(place, zone.cast()) };
    if result == 0 && !place.is_null() {
        // SAFETY: written by the call that has succeeded.
        let time = unsafe { &mut *place };
        let [seconds, rest] = world(&mut || [time.tv_sec as u64, time.tv_usec as u64]);
        (time.tv_sec, time.tv_usec) = (seconds as time_t, rest as ::libc::suseconds_t);
    }
    result
}

unsafe extern "C" fn seconds(place: *mut time_t) -> time_t {
    // SAFETY: null is nowhere.
    let time = world(&mut || [unsafe { ::libc::time(std::ptr::null_mut()) } as u64, 0])[0] as time_t;
    if !place.is_null() {
        // SAFETY: called as C's function is.
        unsafe { place.write(time) };
    }
    time
}

unsafe extern "C" fn time_by_base(place: *mut timespec, base: c_int) -> c_int {
    const TIME_UTC: c_int = 1;
    // SAFETY: called as C's function is.
    let is_known = base == TIME_UTC && unsafe { clock_time(::libc::CLOCK_REALTIME, place) } == 0;
    if is_known { base } else { 0 }
}

unsafe extern "C" fn processor_time() -> clock_t {
    // SAFETY: takes nothing.
    let time = world(&mut || [unsafe { clock() } as u64, 0])[0];
    rising(Count::Clock, time) as clock_t
}

/// How many bytes two words have.
const PIECE: usize = 2 * size_of::<u64>();

unsafe extern "C" fn random_bytes(place: *mut c_void, count: usize, flags: c_uint) -> isize {
    // SAFETY: called as C's function is.
    let got = unsafe { ::libc::getrandom(place, count, flags) };
    if let Ok(got) = usize::try_from(got)
        && got > 0
    {
        // SAFETY: written by the call that has succeeded.
        let bytes = unsafe { std::slice::from_raw_parts_mut(place.cast::<u8>(), got) };
        bytes.chunks_mut(PIECE).for_each(note_bytes);
    }
    got
}

fn note_bytes(bytes: &mut [u8]) {
    let mut all = [0; PIECE];
    all[..bytes.len()].copy_from_slice(bytes);
    let halves = all.split_at(PIECE / 2);
    let word = |half: &[u8]| half.try_into().map_or(0, u64::from_ne_bytes);
    let [first, second] = world(&mut || [word(halves.0), word(halves.1)]);
    let all = [first.to_ne_bytes(), second.to_ne_bytes()].concat();
    bytes.copy_from_slice(&all[..bytes.len()]);
}

/// At most 256 bytes, by its contract.
unsafe extern "C" fn entropy(place: *mut c_void, count: usize) -> c_int {
    if count > 256 {
        set_errno(::libc::EIO);
        return -1;
    }
    // SAFETY: called as C's function is; so few bytes come at once.
    let got = unsafe { random_bytes(place, count, 0) };
    if usize::try_from(got) == Ok(count) { 0 } else { -1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_hook_values_are_what_they_are() {
        let mut bytes = *b"seventeen bytes..";
        bytes.chunks_mut(PIECE).for_each(note_bytes);
        assert_eq!(&bytes, b"seventeen bytes..");
        let (mut one, mut other) = ([0u8; 20], [0u8; 20]);
        // SAFETY: places for so many bytes.
        let got = unsafe { [&mut one, &mut other].map(|place| entropy(place.as_mut_ptr().cast(), 20)) };
        assert!(got == [0, 0] && one != other);
        let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: places for times, or none.
        let (given, now) = unsafe { (time_by_base(&raw mut time, 1), seconds(std::ptr::null_mut())) };
        // The second one is the time of the last tick.
        assert!(given == 1 && (time.tv_sec - 1..time.tv_sec + 60).contains(&now));
        // SAFETY: nothing is written.
        assert_eq!(unsafe { random_bytes(std::ptr::null_mut(), 0, 0) }, 0);
        // SAFETY: takes numbers.
        let below = |bound| unsafe { random_number_below(bound) };
        assert_eq!([0, 1].map(below), [0; 2]);
        let mut seen = [false; 5];
        (0..1000).for_each(|_| seen[below(5) as usize] = true);
        assert_eq!(seen, [true; 5]);
        assert!((0..100).all(|_| below(u32::MAX) < u32::MAX));
    }
}
