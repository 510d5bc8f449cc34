//! Collectives that move values (MPI-3.1, 5.3 to 5.8 and 5.12; persistent ones: MPI-4.0, 6.12).
//!
//! Each is there three times: blocking, nonblocking and persistent. A body makes a schedule; how it is started is said by
//! [`How`].

use std::ffi::c_int;

use talisman_ampi::collective::{
    self as schedules, Blocks, Call, Member, Place, Root, Schedule, Sides, Span, Values,
};
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

fn prepare(
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

/// Values of the program: where they are, how many, of which datatype.
#[derive(Clone, Copy)]
pub struct Part<H> {
    /// The address.
    pub at: usize,
    /// How many.
    pub count: i64,
    /// Of which datatype.
    pub datatype: H,
}

/// Blocks of the program, one for each peer: where the first is, how many values each has, where each begins.
#[derive(Clone, Copy)]
pub struct Parts<H, N> {
    /// The address.
    pub at: usize,
    /// How many values each has.
    pub counts: *const N,
    /// Where each begins, in values.
    pub displacements: *const N,
    /// Of which datatype.
    pub datatype: H,
}

impl<H: Copy> Part<H> {
    /// All values, as one span. What is in place has none.
    unsafe fn span<A: Abi<Handle = H>>(
        &self,
        process: &Process,
        place: Place,
    ) -> Result<Option<Span>, Class> {
        if self.at == A::IN_PLACE {
            return Ok(None);
        }
        // SAFETY: the caller's promise.
        let datatype = unsafe { known::<A>(Kind::Datatype, self.datatype) }?;
        Ok(Some(values(process, datatype)?.span(place, 0, checked(self.count)?)))
    }

    /// As many for each peer.
    unsafe fn blocks<A: Abi<Handle = H>>(&self, process: &Process, of: u32) -> Result<Blocks, Class> {
        // SAFETY: the caller's promise.
        let datatype = unsafe { known::<A>(Kind::Datatype, self.datatype) }?;
        Ok(Blocks::even(of, checked(self.count)?, values(process, datatype)?))
    }
}

impl<H: Copy, N: Count> Parts<H, N> {
    unsafe fn blocks<A: Abi<Handle = H>>(&self, process: &Process, of: u32) -> Result<Blocks, Class> {
        // SAFETY: the caller's promise.
        unsafe {
            let datatype = known::<A>(Kind::Datatype, self.datatype)?;
            let (counts, displacements) = (counts(self.counts, of)?, numbers(self.displacements, of)?);
            Ok(Blocks::uneven(&counts, &displacements, values(process, datatype)?))
        }
    }
}

/// Blocks that nobody looks at.
fn no_blocks(of: u32) -> Blocks {
    Blocks::even(of, 0, Values::BYTES)
}

fn spans(blocks: &Blocks, place: Place) -> Vec<Span> {
    (0..blocks.counts.len() as u32).map(|peer| blocks.of(place, peer)).collect()
}

unsafe fn barrier_as<A: Abi>(called: Called<A::Handle>) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, Memory::default(), |_, side| match side {
            Side::One(me) => Ok(schedules::barrier(me)),
            Side::Two(sides) => Ok(schedules::inter_barrier(sides)),
        })
    }
}

unsafe fn bcast_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    at: usize,
    count: N,
    datatype: A::Handle,
    root: c_int,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, Memory { receive: at, ..Memory::default() }, |process, side| {
            let values = values(process, known::<A>(Kind::Datatype, datatype)?)?;
            let count = checked(count.get())?;
            match side {
                Side::One(me) => Ok(schedules::bcast(me, root_of(root, me)?, count, &values)),
                Side::Two(sides) => {
                    Ok(schedules::inter_bcast(sides, root_between::<A>(root, sides)?, count, &values))
                }
            }
        })
    }
}

/// Blocks at the root, and what the others give: of one length or of different ones.
unsafe fn gather_with<A: Abi>(
    called: Called<A::Handle>,
    (send, receive_at, root): (Part<A::Handle>, usize, c_int),
    is_even: bool,
    blocks: impl FnOnce(&Process, u32) -> Result<Blocks, Class>,
) -> Outcome {
    let memory = Memory { send: send.at, receive: receive_at, op: 0 };
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, memory, |process, side| match side {
            Side::One(me) => {
                let root = root_of(root, me)?;
                let (own, is_root) = (send.span::<A>(process, Place::Send)?, me.rank == root);
                let blocks = if is_root { blocks(process, me.size)? } else { no_blocks(me.size) };
                let gather = if is_even { schedules::gather } else { schedules::gatherv };
                Ok(gather(me, root, own, &blocks))
            }
            Side::Two(sides) => {
                let root = root_between::<A>(root, sides)?;
                let blocks =
                    if root == Root::Me { blocks(process, sides.remote)? } else { no_blocks(sides.remote) };
                let is_given = matches!(root, Root::There(_));
                let own = if is_given { send.span::<A>(process, Place::Send)? } else { None };
                Ok(schedules::inter_gather(sides, root, own.unwrap_or(Span::EMPTY), &blocks))
            }
        })
    }
}

unsafe fn gather_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_count: N,
    send_datatype: A::Handle,
    at: usize,
    count: N,
    datatype: A::Handle,
    root: c_int,
) -> Outcome {
    let send = Part { at: send_at, count: send_count.get(), datatype: send_datatype };
    let receive = Part { at, count: count.get(), datatype };
    // SAFETY: the caller's promise.
    unsafe {
        gather_with::<A>(called, (send, at, root), true, |process, of| receive.blocks::<A>(process, of))
    }
}

unsafe fn gatherv_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_count: N,
    send_datatype: A::Handle,
    at: usize,
    counts: *const N,
    displacements: *const N,
    datatype: A::Handle,
    root: c_int,
) -> Outcome {
    let send = Part { at: send_at, count: send_count.get(), datatype: send_datatype };
    let receive = Parts { at, counts, displacements, datatype };
    // SAFETY: the caller's promise.
    unsafe {
        gather_with::<A>(called, (send, at, root), false, |process, of| receive.blocks::<A>(process, of))
    }
}

/// The same the other way round.
unsafe fn scatter_with<A: Abi>(
    called: Called<A::Handle>,
    (send_at, receive, root): (usize, Part<A::Handle>, c_int),
    is_even: bool,
    blocks: impl FnOnce(&Process, u32) -> Result<Blocks, Class>,
) -> Outcome {
    let memory = Memory { send: send_at, receive: receive.at, op: 0 };
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, memory, |process, side| match side {
            Side::One(me) => {
                let root = root_of(root, me)?;
                let (own, is_root) = (receive.span::<A>(process, Place::Receive)?, me.rank == root);
                let blocks = if is_root { blocks(process, me.size)? } else { no_blocks(me.size) };
                let scatter = if is_even { schedules::scatter } else { schedules::scatterv };
                Ok(scatter(me, root, own, &blocks))
            }
            Side::Two(sides) => {
                let root = root_between::<A>(root, sides)?;
                let blocks =
                    if root == Root::Me { blocks(process, sides.remote)? } else { no_blocks(sides.remote) };
                let is_given = matches!(root, Root::There(_));
                let own = if is_given { receive.span::<A>(process, Place::Receive)? } else { None };
                Ok(schedules::inter_scatter(sides, root, own.unwrap_or(Span::EMPTY), &blocks))
            }
        })
    }
}

unsafe fn scatter_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_count: N,
    send_datatype: A::Handle,
    at: usize,
    count: N,
    datatype: A::Handle,
    root: c_int,
) -> Outcome {
    let send = Part { at: send_at, count: send_count.get(), datatype: send_datatype };
    let receive = Part { at, count: count.get(), datatype };
    // SAFETY: the caller's promise.
    unsafe {
        scatter_with::<A>(called, (send_at, receive, root), true, |process, of| send.blocks::<A>(process, of))
    }
}

unsafe fn scatterv_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    counts: *const N,
    displacements: *const N,
    send_datatype: A::Handle,
    at: usize,
    count: N,
    datatype: A::Handle,
    root: c_int,
) -> Outcome {
    let send = Parts { at: send_at, counts, displacements, datatype: send_datatype };
    let receive = Part { at, count: count.get(), datatype };
    // SAFETY: the caller's promise.
    unsafe {
        scatter_with::<A>(called, (send_at, receive, root), false, |process, of| {
            send.blocks::<A>(process, of)
        })
    }
}

unsafe fn allgather_with<A: Abi>(
    called: Called<A::Handle>,
    (send, receive_at): (Part<A::Handle>, usize),
    is_even: bool,
    blocks: impl FnOnce(&Process, u32) -> Result<Blocks, Class>,
) -> Outcome {
    let memory = Memory { send: send.at, receive: receive_at, op: 0 };
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, memory, |process, side| {
            let own = send.span::<A>(process, Place::Send)?;
            let blocks = blocks(process, side.peers())?;
            Ok(match side {
                Side::One(me) if is_even => schedules::allgather(me, own, &blocks),
                Side::One(me) => schedules::allgatherv(me, own, &blocks),
                Side::Two(sides) => schedules::inter_allgather(sides, own.unwrap_or(Span::EMPTY), &blocks),
            })
        })
    }
}

unsafe fn allgather_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_count: N,
    send_datatype: A::Handle,
    at: usize,
    count: N,
    datatype: A::Handle,
) -> Outcome {
    let send = Part { at: send_at, count: send_count.get(), datatype: send_datatype };
    let receive = Part { at, count: count.get(), datatype };
    // SAFETY: the caller's promise.
    unsafe { allgather_with::<A>(called, (send, at), true, |process, of| receive.blocks::<A>(process, of)) }
}

unsafe fn allgatherv_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_count: N,
    send_datatype: A::Handle,
    at: usize,
    counts: *const N,
    displacements: *const N,
    datatype: A::Handle,
) -> Outcome {
    let send = Part { at: send_at, count: send_count.get(), datatype: send_datatype };
    let receive = Parts { at, counts, displacements, datatype };
    // SAFETY: the caller's promise.
    unsafe { allgather_with::<A>(called, (send, at), false, |process, of| receive.blocks::<A>(process, of)) }
}

unsafe fn alltoall_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_count: N,
    send_datatype: A::Handle,
    at: usize,
    count: N,
    datatype: A::Handle,
) -> Outcome {
    let send = Part { at: send_at, count: send_count.get(), datatype: send_datatype };
    let receive = Part { at, count: count.get(), datatype };
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, Memory { send: send_at, receive: at, op: 0 }, |process, side| {
            let of = side.peers();
            let into = receive.blocks::<A>(process, of)?;
            let from = if send_at == A::IN_PLACE { None } else { Some(send.blocks::<A>(process, of)?) };
            match side {
                Side::One(me) => Ok(schedules::alltoall(me, from.as_ref(), &into)),
                Side::Two(sides) => {
                    let from = spans(&from.ok_or(Class::Buffer)?, Place::Send);
                    Ok(schedules::inter_alltoall(sides, &from, &spans(&into, Place::Receive)))
                }
            }
        })
    }
}

/// Each sends something of its own to each: of different lengths, or of different datatypes too.
unsafe fn alltoall_with<A: Abi>(
    called: Called<A::Handle>,
    memory: Memory,
    send: impl FnOnce(&Process, u32) -> Result<Vec<Span>, Class>,
    receive: impl FnOnce(&Process, u32) -> Result<Vec<Span>, Class>,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, memory, |process, side| {
            let of = side.peers();
            let into = receive(process, of)?;
            let from = if memory.send == A::IN_PLACE { None } else { Some(send(process, of)?) };
            match side {
                Side::One(me) => Ok(schedules::alltoallw(me, from.as_deref(), &into)),
                Side::Two(sides) => Ok(schedules::inter_alltoall(sides, &from.ok_or(Class::Buffer)?, &into)),
            }
        })
    }
}

unsafe fn alltoallv_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_counts: *const N,
    send_displacements: *const N,
    send_datatype: A::Handle,
    at: usize,
    counts: *const N,
    displacements: *const N,
    datatype: A::Handle,
) -> Outcome {
    let (counts_sent, displacements_sent) = (send_counts, send_displacements);
    let send = Parts {
        at: send_at,
        counts: counts_sent,
        displacements: displacements_sent,
        datatype: send_datatype,
    };
    let receive = Parts { at, counts, displacements, datatype };
    // SAFETY: the caller's promise.
    unsafe {
        alltoall_with::<A>(
            called,
            Memory { send: send_at, receive: at, op: 0 },
            |process, of| Ok(spans(&send.blocks::<A>(process, of)?, Place::Send)),
            |process, of| Ok(spans(&receive.blocks::<A>(process, of)?, Place::Receive)),
        )
    }
}

/// Spans of their own counts, displacements in bytes and datatypes.
///
/// # Safety
/// The lists have so many.
pub unsafe fn each_of_its_own<A: Abi, N: Count, D: Count>(
    process: &Process,
    of: u32,
    place: Place,
    (counted, displaced, datatypes): (*const N, *const D, *const A::Handle),
) -> Result<Vec<Span>, Class> {
    // SAFETY: the caller's promise.
    unsafe {
        let (counts, displacements) = (counts(counted, of)?, numbers(displaced, of)?);
        let span = |at: usize| {
            let datatype = known::<A>(Kind::Datatype, datatypes.add(at).read_unaligned())?;
            Ok(values(process, datatype)?.span(place, displacements[at], counts[at]))
        };
        (0..of as usize).map(span).collect()
    }
}

unsafe fn alltoallw_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_counts: *const N,
    send_displacements: *const N,
    send_datatypes: *const A::Handle,
    at: usize,
    counts: *const N,
    displacements: *const N,
    datatypes: *const A::Handle,
) -> Outcome {
    let send = (send_counts, send_displacements, send_datatypes);
    let receive = (counts, displacements, datatypes);
    // SAFETY: the caller's promise.
    unsafe {
        alltoall_with::<A>(
            called,
            Memory { send: send_at, receive: at, op: 0 },
            |process, of| each_of_its_own::<A, N, N>(process, of, Place::Send, send),
            |process, of| each_of_its_own::<A, N, N>(process, of, Place::Receive, receive),
        )
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
                pub unsafe extern "C" fn $again<A: Abi $(, $n: Count)?>(
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

collectives! {
    "Barrier" "Ibarrier" barrier ibarrier barrier_init<>() => barrier_as;
    "Bcast" "Ibcast" bcast ibcast bcast_init<N>(at: usize, count: N, datatype: A::Handle, root: c_int) => bcast_as;
    "Gather" "Igather" gather igather gather_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle, at: usize, count: N, datatype: A::Handle, root: c_int,
    ) => gather_as;
    "Gatherv" "Igatherv" gatherv igatherv gatherv_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle,
        at: usize, counts: *const N, displacements: *const N, datatype: A::Handle, root: c_int,
    ) => gatherv_as;
    "Scatter" "Iscatter" scatter iscatter scatter_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle, at: usize, count: N, datatype: A::Handle, root: c_int,
    ) => scatter_as;
    "Scatterv" "Iscatterv" scatterv iscatterv scatterv_init<N>(
        send_at: usize, counts: *const N, displacements: *const N, send_datatype: A::Handle,
        at: usize, count: N, datatype: A::Handle, root: c_int,
    ) => scatterv_as;
    "Allgather" "Iallgather" allgather iallgather allgather_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle, at: usize, count: N, datatype: A::Handle,
    ) => allgather_as;
    "Allgatherv" "Iallgatherv" allgatherv iallgatherv allgatherv_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle,
        at: usize, counts: *const N, displacements: *const N, datatype: A::Handle,
    ) => allgatherv_as;
    "Alltoall" "Ialltoall" alltoall ialltoall alltoall_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle, at: usize, count: N, datatype: A::Handle,
    ) => alltoall_as;
    "Alltoallv" "Ialltoallv" alltoallv ialltoallv alltoallv_init<N>(
        send_at: usize, send_counts: *const N, send_displacements: *const N, send_datatype: A::Handle,
        at: usize, counts: *const N, displacements: *const N, datatype: A::Handle,
    ) => alltoallv_as;
    "Alltoallw" "Ialltoallw" alltoallw ialltoallw alltoallw_init<N>(
        send_at: usize, send_counts: *const N, send_displacements: *const N, send_datatypes: *const A::Handle,
        at: usize, counts: *const N, displacements: *const N, datatypes: *const A::Handle,
    ) => alltoallw_as;
}
