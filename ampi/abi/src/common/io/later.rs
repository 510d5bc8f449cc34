//! Reading and writing with a request (MPI-3.1, 13.4): it is done at once, and the request has ended.

use talisman_ampi::engine::{Owner, Status};
use talisman_ampi::objects::{Kept, Kind};

use super::shared::take_turn;
use super::transfer::{From, Values, Way, transfer};
use crate::abi::Abi;
use crate::common::call::{Outcome, engine, put};
use crate::common::message::record;

/// The program gets a request that tells of so many bytes.
///
/// # Safety
/// `request` is the program's.
unsafe fn ended<A: Abi>(bytes: u64, request: *mut A::Handle) -> Outcome {
    let number = engine(|process, out| {
        let token = process.engine.open(Owner::User);
        process.engine.finish(token, Status { bytes, ..Status::EMPTY }, out);
        Ok(process.objects.requests.insert(record(token, 0, Kept::Receive)))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(request, A::handle(Kind::Request, number)) }
}

/// # Safety
/// Handles, memory and request are the program's.
unsafe fn begin<A: Abi>(
    handle: A::File,
    way: Way,
    from: From,
    values: Values<A::Handle>,
    request: *mut A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe { ended::<A>(transfer::<A>(handle, way, from, values)?, request) }
}

macro_rules! later {
    ($($name:literal $function:ident $way:ident; $at_name:literal $at_function:ident;)*) => {
        crate::common::calls! {
            $(
                $name $function<N>(
                    handle: A::File, at: usize, count: N, datatype: A::Handle, request: *mut A::Handle,
                ) of handle => {
                    let values = Values { at, count: count.get(), datatype };
                    begin::<A>(handle, Way::$way, From::Pointer, values, request)
                };
                $at_name $at_function<N>(
                    handle: A::File, offset: i64, at: usize, count: N, datatype: A::Handle, request: *mut A::Handle,
                ) of handle => {
                    let values = Values { at, count: count.get(), datatype };
                    begin::<A>(handle, Way::$way, From::At(offset), values, request)
                };
            )*
            "File_iread_shared" file_iread_shared<N>(
                handle: A::File, at: usize, count: N, datatype: A::Handle, request: *mut A::Handle,
            ) of handle => {
                let values = Values { at, count: count.get(), datatype };
                ended::<A>(take_turn::<A>(handle, Way::Read, values)?, request)
            };
            "File_iwrite_shared" file_iwrite_shared<N>(
                handle: A::File, at: usize, count: N, datatype: A::Handle, request: *mut A::Handle,
            ) of handle => {
                let values = Values { at, count: count.get(), datatype };
                ended::<A>(take_turn::<A>(handle, Way::Write, values)?, request)
            };
        }
    };
}

later! {
    "File_iread" file_iread Read; "File_iread_at" file_iread_at;
    "File_iwrite" file_iwrite Write; "File_iwrite_at" file_iwrite_at;
    "File_iread_all" file_iread_all Read; "File_iread_at_all" file_iread_at_all;
    "File_iwrite_all" file_iwrite_all Write; "File_iwrite_at_all" file_iwrite_at_all;
}
