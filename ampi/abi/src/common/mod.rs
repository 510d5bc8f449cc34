//! The functions of MPI, each with one body for all interfaces: a file for each chapter.

/// The functions of a chapter: name without `MPI_`, function, arguments, the communicator whose error handler is
/// called, and a body that gives an [`Outcome`](call::Outcome). Functions of files have the file instead of the
/// communicator, or `nothing`, where no file is open yet; those of windows the window, or the place of its handle, those
/// of sessions the session. A function with a parameter `N` is there twice: with counts of 32 bits, and, as `…_c`, with
/// counts of 64. Handlers of C++ may throw: that goes through the functions of C.
macro_rules! calls {
    ($($name:literal $function:ident<$($n:ident)?>($($argument:ident: $type:ty),* $(,)?)
        $(on $communicator:ident)? $(of $file:ident)? $(in $window:ident)? $(at $place:ident)?
        $(by $session:ident)? => $body:expr;)*) => {
        $(
            #[doc = concat!("`MPI_", $name, "`.")]
            ///
            /// # Safety
            /// Arguments are as MPI says.
            pub unsafe extern "C-unwind" fn $function<A: $crate::abi::Abi $(, $n: $crate::abi::Count)?>(
                $($argument: $type),*
            ) -> std::ffi::c_int {
                #[allow(unused_unsafe, reason = "some bodies need nothing of what is unsafe")]
                let body = || -> $crate::common::call::Outcome {
                    // SAFETY: handles, buffers and places for results are the program's, by its promise.
                    unsafe { $body }
                };
                let _traced = talisman_ampi::raw::TracedCall::begin(concat!("MPI_", $name));
                let outcome = body();
                $crate::common::calls!(
                    @done $name, outcome
                    $(, $communicator)? $(; $file)? $(=> $window)? $(=> *$place)? $(, @ $session)?
                )
            }
        )*

        /// The functions of this chapter for one interface: names and addresses.
        pub fn functions<A: $crate::abi::Abi>() -> Vec<(&'static str, usize)> {
            [$(&$crate::common::calls!(@entry $name, $function $(, $n)?)[..]),*].concat()
        }
    };
    (@done $name:literal, $outcome:expr) => {
        $crate::common::call::done_anywhere::<A>(concat!("MPI_", $name), $outcome)
    };
    (@done $name:literal, $outcome:expr, $communicator:expr) => {
        // SAFETY: the handle is the program's.
        unsafe { $crate::common::call::done::<A>(concat!("MPI_", $name), $communicator, $outcome) }
    };
    (@done $name:literal, $outcome:expr; nothing) => {
        // SAFETY: no handle is given.
        unsafe { $crate::common::io::errors::done::<A>(concat!("MPI_", $name), None, $outcome) }
    };
    (@done $name:literal, $outcome:expr; $file:expr) => {
        // SAFETY: the handle is the program's.
        unsafe { $crate::common::io::errors::done::<A>(concat!("MPI_", $name), Some($file), $outcome) }
    };
    (@done $name:literal, $outcome:expr => *$place:expr) => {
        // SAFETY: the handle at the place is the program's.
        unsafe {
            $crate::common::window::errors::done::<A>(concat!("MPI_", $name), $place.read_unaligned(), $outcome)
        }
    };
    (@done $name:literal, $outcome:expr => $window:expr) => {
        // SAFETY: the handle is the program's.
        unsafe { $crate::common::window::errors::done::<A>(concat!("MPI_", $name), $window, $outcome) }
    };
    (@done $name:literal, $outcome:expr, @ $session:expr) => {
        // SAFETY: the handle is the program's.
        unsafe { $crate::common::session::done::<A>(concat!("MPI_", $name), $session, $outcome) }
    };
    (@entry $name:literal, $function:ident) => {
        [(concat!("MPI_", $name), $function::<A> as *const () as usize)]
    };
    (@entry $name:literal, $function:ident, $n:ident) => {
        [
            (concat!("MPI_", $name), $function::<A, std::ffi::c_int> as *const () as usize),
            (concat!("MPI_", $name, "_c"), $function::<A, i64> as *const () as usize),
        ]
    };
}
pub(crate) use calls;

pub mod agreement;
pub mod attribute;
pub mod buffers;
pub mod call;
pub mod collective;
pub mod communicator;
pub mod darray;
pub mod datatype;
pub mod described;
pub mod environment;
pub mod errhandler;
pub mod graphs;
pub mod group;
pub mod info;
pub mod io;
pub mod matched;
pub mod message;
pub mod neighborhood;
pub mod op;
pub mod own_request;
pub mod pack;
pub mod partitioned;
pub mod parts;
pub mod persistent;
pub mod point_to_point;
pub mod ports;
pub mod probe;
pub mod reductions;
pub mod request;
pub mod request_statuses;
pub mod rooted;
pub mod session;
pub mod several;
pub mod spawn;
pub mod status;
pub mod to_all;
pub mod tool;
pub mod topology;
pub mod window;
