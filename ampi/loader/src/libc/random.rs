//! Random numbers, by the C library's own reentrant functions: the same sequences as without ranks.

use std::ffi::{c_char, c_double, c_int, c_long, c_uint, c_ushort};
use std::ptr::null_mut;

use super::{current, functions};

/// Bytes of state that `random` begins with.
const DEFAULT: usize = 128;

/// The state of `random` and of `drand48`.
#[repr(C)]
pub struct Random {
    data: RandomData,
    first: [u8; DEFAULT],
    small: Drand48Data,
}

/// `struct random_data` of the C library.
#[repr(C)]
struct RandomData {
    front: *mut i32,
    rear: *mut i32,
    state: *mut i32,
    kind: c_int,
    degree: c_int,
    separation: c_int,
    end: *mut i32,
}

/// `struct drand48_data` of the C library.
#[repr(C)]
struct Drand48Data {
    now: [c_ushort; 3],
    former: [c_ushort; 3],
    addend: c_ushort,
    is_set: c_ushort,
    factor: u64,
}

impl Random {
    pub const fn new() -> Random {
        Random {
            data: RandomData {
                front: null_mut(),
                rear: null_mut(),
                state: null_mut(),
                kind: 0,
                degree: 0,
                separation: 0,
                end: null_mut(),
            },
            first: [0; DEFAULT],
            small: Drand48Data { now: [0; 3], former: [0; 3], addend: 0, is_set: 0, factor: 0 },
        }
    }
}

functions! {
    "rand" => rand,
    "srand" => seed,
    "random" => random,
    "srandom" => seed,
    "initstate" => begin_state,
    "setstate" => set_state,
    "drand48" => drand48,
    "erand48" => erand48,
    "lrand48" => lrand48,
    "nrand48" => nrand48,
    "mrand48" => mrand48,
    "jrand48" => jrand48,
    "srand48" => srand48,
    "seed48" => seed48,
    "lcong48" => lcong48,
}

/// Without a seed it is as with 1.
fn data() -> *mut RandomData {
    // SAFETY: the running rank's state, which stays where it is.
    unsafe {
        let random = &raw mut (*current()).random;
        if (*random).data.state.is_null() {
            initstate_r(1, (&raw mut (*random).first).cast(), DEFAULT, &raw mut (*random).data);
        }
        &raw mut (*random).data
    }
}

fn small() -> *mut Drand48Data {
    // SAFETY: the running rank's state.
    unsafe { &raw mut (*current()).random.small }
}

unsafe extern "C" fn random() -> c_long {
    let mut number = 0;
    // SAFETY: a state that was begun.
    unsafe { random_r(data(), &raw mut number) };
    c_long::from(number)
}

unsafe extern "C" fn rand() -> c_int {
    // SAFETY: needs nothing.
    unsafe { random() as c_int }
}

unsafe extern "C" fn seed(seed: c_uint) {
    // SAFETY: a state that was begun.
    unsafe { srandom_r(seed, data()) };
}

unsafe extern "C" fn begin_state(seed: c_uint, state: *mut c_char, len: usize) -> *mut c_char {
    former_state(|data| {
        // SAFETY: called as C's function is.
        unsafe { initstate_r(seed, state, len, data) }
    })
}

unsafe extern "C" fn set_state(state: *mut c_char) -> *mut c_char {
    former_state(|data| {
        // SAFETY: called as C's function is.
        unsafe { setstate_r(state, data) }
    })
}

/// The state that was used until now, as programs gave it: one word before the numbers.
fn former_state(change: impl FnOnce(*mut RandomData) -> c_int) -> *mut c_char {
    let data = data();
    // SAFETY: a state that was begun.
    let former = unsafe { (*data).state.wrapping_sub(1) };
    if change(data) < 0 { null_mut() } else { former.cast() }
}

unsafe extern "C" fn drand48() -> c_double {
    let mut number = 0.0;
    // SAFETY: a state of the rank's, and a place for the number.
    unsafe { drand48_r(small(), &raw mut number) };
    number
}

unsafe extern "C" fn erand48(now: *mut c_ushort) -> c_double {
    let mut number = 0.0;
    // SAFETY: as above; called as C's function is.
    unsafe { erand48_r(now, small(), &raw mut number) };
    number
}

unsafe extern "C" fn lrand48() -> c_long {
    let mut number = 0;
    // SAFETY: as above.
    unsafe { lrand48_r(small(), &raw mut number) };
    number
}

unsafe extern "C" fn nrand48(now: *mut c_ushort) -> c_long {
    let mut number = 0;
    // SAFETY: as above; called as C's function is.
    unsafe { nrand48_r(now, small(), &raw mut number) };
    number
}

unsafe extern "C" fn mrand48() -> c_long {
    let mut number = 0;
    // SAFETY: as above.
    unsafe { mrand48_r(small(), &raw mut number) };
    number
}

unsafe extern "C" fn jrand48(now: *mut c_ushort) -> c_long {
    let mut number = 0;
    // SAFETY: as above; called as C's function is.
    unsafe { jrand48_r(now, small(), &raw mut number) };
    number
}

unsafe extern "C" fn srand48(seed: c_long) {
    // SAFETY: as above.
    unsafe { srand48_r(seed, small()) };
}

unsafe extern "C" fn seed48(seed: *mut c_ushort) -> *mut c_ushort {
    // SAFETY: as above; called as C's function is.
    unsafe {
        seed48_r(seed, small());
        (&raw mut (*small()).former).cast()
    }
}

unsafe extern "C" fn lcong48(parameters: *mut c_ushort) {
    // SAFETY: as above; called as C's function is.
    unsafe { lcong48_r(parameters, small()) };
}

unsafe extern "C" {
    fn random_r(data: *mut RandomData, number: *mut i32) -> c_int;
    fn srandom_r(seed: c_uint, data: *mut RandomData) -> c_int;
    fn initstate_r(seed: c_uint, state: *mut c_char, len: usize, data: *mut RandomData) -> c_int;
    fn setstate_r(state: *mut c_char, data: *mut RandomData) -> c_int;
    fn drand48_r(data: *mut Drand48Data, number: *mut c_double) -> c_int;
    fn erand48_r(now: *mut c_ushort, data: *mut Drand48Data, number: *mut c_double) -> c_int;
    fn lrand48_r(data: *mut Drand48Data, number: *mut c_long) -> c_int;
    fn nrand48_r(now: *mut c_ushort, data: *mut Drand48Data, number: *mut c_long) -> c_int;
    fn mrand48_r(data: *mut Drand48Data, number: *mut c_long) -> c_int;
    fn jrand48_r(now: *mut c_ushort, data: *mut Drand48Data, number: *mut c_long) -> c_int;
    fn srand48_r(seed: c_long, data: *mut Drand48Data) -> c_int;
    fn seed48_r(seed: *mut c_ushort, data: *mut Drand48Data) -> c_int;
    fn lcong48_r(parameters: *mut c_ushort, data: *mut Drand48Data) -> c_int;
}
