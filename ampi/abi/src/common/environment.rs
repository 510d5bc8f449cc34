//! Beginning, ending, time, names (MPI-3.1, chapter 8).

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use talisman_ampi::comm::Communicators;
use talisman_ampi::rank::{is_other_thread, let_threads_call};
use talisman_ampi::raw;

use super::call::{Outcome, done_anywhere, fatal, local, put};
use super::collective::{Memory, Side, run_now};
use super::communicator::put_text;
use super::io;
use crate::abi::Abi;
use crate::class::Class;
use crate::hooks::hooks;

fn begin(threads: c_int) -> Outcome {
    let is_other = is_other_thread();
    let [began, _] = (hooks().world)(&mut || [seconds(), 0]);
    local(|process| {
        let life = &mut process.objects.life;
        if life.has_begun {
            return Err(Class::Other);
        }
        (life.has_begun, life.began, life.threads, life.is_of_other) = (true, began, threads, is_other);
        Ok(())
    })?;
    HAS_BEGUN.set(is_other);
    wtime();
    (hooks().init)();
    Ok(())
}

/// The system's clock.
fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

thread_local! {
    /// This thread, which a rank has started, has called `MPI_Init`.
    static HAS_BEGUN: Cell<bool> = const { Cell::new(false) };
}

/// The level of threads that a program gets which wants this one.
pub fn granted_level<A: Abi>(wanted: c_int) -> c_int {
    let [single, _, serialized, multiple] = A::THREADS;
    let level = wanted.clamp(single, multiple);
    if level >= serialized {
        let_threads_call();
    }
    level
}

/// All ranks come before any goes.
fn end<A: Abi>() -> Outcome {
    super::attribute::delete_all::<A>(Communicators::ALONE)?;
    run_now::<A>("MPI_Finalize", Communicators::WORLD, Memory::default(), |_, side| match side {
        Side::One(me) => Ok(talisman_ampi::collective::barrier(me)),
        Side::Two(_) => Err(Class::Comm),
    })?;
    io::shared_pointer::delete_spent();
    local(|process| {
        process.objects.life.has_ended = true;
        Ok(())
    })?;
    (hooks().finalize)();
    Ok(())
}

/// When the job has begun, by the clock of threads that are no ranks.
static BEGAN: OnceLock<Instant> = OnceLock::new();

/// `MPI_Wtime`: seconds since the job started. Programs measure so in threads, too.
pub extern "C" fn wtime() -> f64 {
    let of_others = || BEGAN.get().map_or(Duration::ZERO, Instant::elapsed);
    let now = raw::now().inspect(|now| {
        BEGAN.get_or_init(|| Instant::now().checked_sub(*now).unwrap_or_else(Instant::now));
    });
    now.unwrap_or_else(|_| of_others()).as_secs_f64()
}

/// `MPI_Wtick`: the clock counts nanoseconds.
pub extern "C" fn wtick() -> f64 {
    1e-9
}

/// `MPI_Abort`: ends the job.
///
/// # Safety
/// Arguments are as MPI says.
pub unsafe extern "C" fn abort<A: Abi>(_: A::Handle, code: c_int) -> c_int {
    if is_other_thread() {
        // Its rank may be where it does not hear of it.
        fatal(code, &format!("MPI_Abort was called with {code}"));
    }
    let rank = local(|process| Ok(process.engine.rank()));
    match rank {
        Ok(rank) => fatal(code, &format!("rank {rank}: MPI_Abort was called with {code}")),
        Err(class) => done_anywhere::<A>("MPI_Abort", Err(class)),
    }
}

/// `MPI_Pcontrol`: for tools, of which there is none. It takes any arguments.
pub extern "C" fn pcontrol(_: c_int) -> c_int {
    0
}

/// `MPIX_Query_cuda_support` and its kin: whether buffers may be on a device. None may.
pub extern "C" fn query_device() -> c_int {
    0
}

/// `MPIX_GPU_query_support`, as MPICH has it.
///
/// # Safety
/// Arguments are as MPICH says.
pub unsafe extern "C" fn query_devices(_kind: c_int, is_supported: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    let _nowhere_is_nothing = unsafe { put(is_supported, 0) };
    0
}

/// `MPI_Aint_add`.
pub extern "C" fn aint_add(base: i64, displacement: i64) -> i64 {
    base.wrapping_add(displacement)
}

/// `MPI_Aint_diff`.
pub extern "C" fn aint_diff(one: i64, other: i64) -> i64 {
    one.wrapping_sub(other)
}

/// What the library is, in words.
fn library() -> &'static str {
    concat!("Talisman ", env!("CARGO_PKG_VERSION"), ", virtual MPI ranks")
}

/// Functions of this chapter that are not as the others: names and addresses.
pub fn others<A: Abi>() -> Vec<(&'static str, usize)> {
    vec![
        ("MPI_Wtime", wtime as *const () as usize),
        ("MPI_Wtick", wtick as *const () as usize),
        ("MPI_Abort", abort::<A> as *const () as usize),
        ("MPI_Pcontrol", pcontrol as *const () as usize),
        ("MPIX_Query_cuda_support", query_device as *const () as usize),
        ("MPIX_Query_hip_support", query_device as *const () as usize),
        ("MPIX_Query_rocm_support", query_device as *const () as usize),
        ("MPIX_Query_ze_support", query_device as *const () as usize),
        ("MPIX_GPU_query_support", query_devices as *const () as usize),
        ("MPI_Aint_add", aint_add as *const () as usize),
        ("MPI_Aint_diff", aint_diff as *const () as usize),
    ]
}

super::calls! {
    "Init" init<>(_argc: usize, _argv: usize) => begin(0);
    "Init_thread" init_thread<>(_argc: usize, _argv: usize, wanted: c_int, granted: *mut c_int) => {
        let level = granted_level::<A>(wanted);
        put(granted, level)?;
        begin(level)
    };
    "Initialized" initialized<>(flag: *mut c_int) => {
        put(flag, c_int::from(local(|process| Ok(process.objects.life.has_begun)).unwrap_or(false)))
    };
    "Finalize" finalize<>() => end::<A>();
    "Finalized" finalized<>(flag: *mut c_int) => {
        put(flag, c_int::from(local(|process| Ok(process.objects.life.has_ended)).unwrap_or(false)))
    };
    "Query_thread" query_thread<>(level: *mut c_int) => {
        put(level, local(|process| Ok(process.objects.life.threads))?)
    };
    "Is_thread_main" is_thread_main<>(flag: *mut c_int) => {
        put(flag, c_int::from(match is_other_thread() {
            true => HAS_BEGUN.get(),
            false => local(|process| Ok(!process.objects.life.is_of_other)).unwrap_or(false),
        }))
    };
    "Get_version" get_version<>(version: *mut c_int, subversion: *mut c_int) => {
        put(version, A::VERSION[0])?;
        put(subversion, A::VERSION[1])
    };
    "Get_library_version" get_library_version<>(text: *mut u8, len: *mut c_int) => {
        put_text(text, 256, len, library().as_bytes())
    };
    "Get_processor_name" get_processor_name<>(name: *mut u8, len: *mut c_int) => {
        put_text(name, A::NAME_ROOM[1], len, rustix::system::uname().nodename().to_bytes())
    };
}
