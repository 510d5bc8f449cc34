//! Beginning collectives: blocking, nonblocking (MPI-3.1, 5.12) and persistent ones (MPI-4.0, 6.12).
//!
//! Each collective is there three times. A body makes a schedule; how it is started is said by [`How`].

use std::ffi::c_int;

use talisman_ampi::collective::{Call, Member, Root, Schedule, Sides, Values};
use talisman_ampi::engine::Token;
use talisman_ampi::objects::{Kept, Kind, Record};
use talisman_ampi::process::Process;

use super::call::{Outcome, engine, known, put};
use super::message::wait_without_status;
use crate::abi::{Abi, Count};
use crate::class::Class;

/// How a collective is begun.
#[derive(Clone, Copy)]
pub enum How<H> {
    /// It is waited for.
    Now,
    /// The program gets a request.
    Later(*mut H),
    /// The program gets a request that it starts.
    Again(*mut H),
}

/// A call of a collective.
#[derive(Clone, Copy)]
pub struct Called<H> {
    /// The function.
    pub name: &'static str,
    /// How it is begun.
    pub how: How<H>,
    /// Among whom.
    pub communicator: H,
}

/// Where a collective reads and writes, and which operation it uses.
#[derive(Clone, Copy, Default)]
pub struct Memory {
    /// The address of the send buffer.
    pub send: usize,
    /// The address of the receive buffer.
    pub receive: usize,
    /// The operation.
    pub op: u32,
}

/// Who takes part, as one of them sees it.
#[derive(Clone, Copy)]
pub enum Side {
    /// All members of a communicator.
    One(Member),
    /// Two groups.
    Two(Sides),
}

impl Side {
    /// How many blocks a member sends or gets in all: one for each peer.
    pub fn peers(self) -> u32 {
        match self {
            Side::One(me) => me.size,
            Side::Two(sides) => sides.remote,
        }
    }

    /// Those of one communicator.
    pub fn one(self) -> Result<Member, Class> {
        match self {
            Side::One(me) => Ok(me),
            Side::Two(_) => Err(Class::Comm),
        }
    }
}

/// Begins a collective, and waits for it if it is blocking.
///
/// # Safety
/// Handles and buffers are the program's.
pub unsafe fn run<A: Abi>(
    called: Called<A::Handle>,
    memory: Memory,
    build: impl FnOnce(&Process, Side) -> Result<Schedule, Class>,
) -> Outcome {
    // SAFETY: the caller's promise.
    let communicator = unsafe { known::<A>(Kind::Comm, called.communicator) }?;
    let is_persistent = matches!(called.how, How::Again(_));
    let is_blocking = matches!(called.how, How::Now);
    let (token, number) = engine(|process, out| {
        let (schedule, call, members) = prepare(process, communicator, memory, build)?;
        let token = match is_persistent {
            true => process.keep(schedule, call, &members),
            false => process.begin(schedule, call, &members, out),
        };
        let record = Record { token, communicator, is_persistent, kind: Kept::Send };
        let number = if is_blocking { 0 } else { process.objects.requests.insert(record) };
        Ok((token, number))
    })?;
    match called.how {
        How::Now => wait_without_status::<A>(called.name, token),
        // SAFETY: the caller's promise.
        How::Later(to) | How::Again(to) => unsafe { put(to, A::handle(Kind::Request, number)) },
    }
}

/// Begins a collective of a communicator by its number, and waits for it.
pub fn run_now<A: Abi>(
    name: &'static str,
    communicator: u32,
    memory: Memory,
    build: impl FnOnce(&Process, Side) -> Result<Schedule, Class>,
) -> Outcome {
    let token = engine(|process, out| {
        let (schedule, call, members) = prepare(process, communicator, memory, build)?;
        Ok(process.begin(schedule, call, &members, out))
    })?;
    wait_without_status::<A>(name, token)
}

/// The schedule of a collective, its call, and the ranks that take part.
///
/// # Errors
/// If the communicator is not there, or no schedule can be made.
pub fn prepare(
    process: &mut Process,
    communicator: u32,
    Memory { send, receive, op }: Memory,
    build: impl FnOnce(&Process, Side) -> Result<Schedule, Class>,
) -> Result<(Schedule, Call, Vec<u32>), Class> {
    let found = process.comms.get(communicator)?;
    let me = found.member().ok_or(Class::Comm)?;
    let (mut members, context) = (found.group().members(), found.contexts().collective);
    let side = match found.remote_group() {
        None => Side::One(me),
        Some(remote) => {
            members.extend(remote.members());
            Side::Two(Sides { me, remote: remote.size() })
        }
    };
    let schedule = build(process, side)?;
    let tag = process.comms.get_mut(communicator)?.next_collective();
    // Replaced by that of the collective.
    let request = Token { index: 0, generation: 0 };
    Ok((schedule, Call { context, tag, send: send as u64, receive: receive as u64, op, request }, members))
}

/// What a schedule knows of values of a datatype.
pub fn values(process: &Process, datatype: u32) -> Result<Values, Class> {
    Ok(Values::of(datatype, process.datatypes.get(datatype)?))
}

/// A count of the program.
pub fn checked(count: i64) -> Result<u64, Class> {
    u64::try_from(count).map_err(|_| Class::Count)
}

/// Counts of the program, one for each of so many.
///
/// # Safety
/// The list has so many.
pub unsafe fn counts<N: Count>(at: *const N, of: u32) -> Result<Vec<u64>, Class> {
    // SAFETY: the caller's promise.
    unsafe { numbers(at, of) }?.into_iter().map(checked).collect()
}

/// Displacements of the program, one for each of so many.
///
/// # Safety
/// The list has so many.
pub unsafe fn numbers<N: Count>(at: *const N, of: u32) -> Result<Vec<i64>, Class> {
    if at.is_null() && of > 0 {
        return Err(Class::Arg);
    }
    // SAFETY: the caller's promise.
    Ok((0..of as usize).map(|place| unsafe { at.add(place).read_unaligned() }.get()).collect())
}

/// A member of a communicator that is the root.
pub fn root_of(root: c_int, me: Member) -> Result<u32, Class> {
    u32::try_from(root).ok().filter(|root| *root < me.size).ok_or(Class::Root)
}

/// The root of a collective between two groups.
pub fn root_between<A: Abi>(root: c_int, sides: Sides) -> Result<Root, Class> {
    match root {
        root if root == A::ROOT => Ok(Root::Me),
        root if root == A::PROC_NULL => Ok(Root::Here),
        root => {
            let number = u32::try_from(root).ok().filter(|root| *root < sides.remote);
            number.map(Root::There).ok_or(Class::Root)
        }
    }
}

/// Functions of a chapter whose body is `body(called, arguments…)`: the names of the blocking, the nonblocking and the
/// persistent one, and arguments but the communicator.
macro_rules! collectives {
    ($($name:literal $later_name:literal $now:ident $later:ident $again:ident<$($n:ident)?>(
        $($argument:ident: $type:ty),* $(,)?
    ) => $body:ident;)*) => {
        $crate::common::calls! {
            $(
                $name $now<$($n)?>($($argument: $type,)* communicator: A::Handle) on communicator => {
                    let name = concat!("MPI_", $name);
                    let called = $crate::common::collective::Called { name, how: How::Now, communicator };
                    $body::<A $(, $n)?>(called $(, $argument)*)
                };
                $later_name $later<$($n)?>(
                    $($argument: $type,)* communicator: A::Handle, request: *mut A::Handle,
                ) on communicator => {
                    let (name, how) = (concat!("MPI_", $later_name), How::Later(request));
                    let called = $crate::common::collective::Called { name, how, communicator };
                    $body::<A $(, $n)?>(called $(, $argument)*)
                };
            )*
        }

        /// The persistent ones of this chapter.
        pub mod again {
            use super::*;

            $(
                #[doc = concat!("`MPI_", $name, "_init`.")]
                ///
                /// # Safety
                /// Arguments are as MPI says.
                pub unsafe extern "C-unwind" fn $again<A: Abi $(, $n: Count)?>(
                    $($argument: $type,)* communicator: A::Handle, _info: A::Handle, request: *mut A::Handle,
                ) -> c_int {
                    let (name, how) = (concat!("MPI_", $name, "_init"), How::Again(request));
                    let called = Called { name, how, communicator };
                    // SAFETY: handles, buffers and places for results are the program's, by its promise.
                    unsafe {
                        let outcome = $body::<A $(, $n)?>(called $(, $argument)*);
                        $crate::common::call::done::<A>(name, communicator, outcome)
                    }
                }
            )*

            /// Their names and addresses, for one interface.
            pub fn functions<A: Abi>() -> Vec<(&'static str, usize)> {
                [$(&$crate::common::collective::collectives!(@entry $name, $again $(, $n)?)[..]),*].concat()
            }
        }
    };
    (@entry $name:literal, $again:ident) => {
        [(concat!("MPI_", $name, "_init"), $again::<A> as *const () as usize)]
    };
    (@entry $name:literal, $again:ident, $n:ident) => {
        [
            (concat!("MPI_", $name, "_init"), $again::<A, c_int> as *const () as usize),
            (concat!("MPI_", $name, "_init_c"), $again::<A, i64> as *const () as usize),
        ]
    };
}
pub(crate) use collectives;
