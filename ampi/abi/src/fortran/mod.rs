//! The functions that Fortran calls: `mpi_send_` and its kin, for `mpif.h` and `use mpi`.
//!
//! All arguments are addresses, the last one is that of the error code, and texts have their lengths behind all others.
//! Each function translates what differs and calls the function of C. Handles are integers under both interfaces;
//! that of Open MPI's Fortran is an [`Abi`] of its own ([`OpenMpiFortran`]).

mod attributes;
mod convert;
mod files;
mod first;
mod lists;
mod plain;
pub mod sizeof;
mod spawn;
mod texts;
mod windows;

use std::ffi::c_int;

use crate::abi::Abi;
use crate::data::Sentinel;
use crate::mpich::MpichFortran;
use crate::openmpi::OpenMpiFortran;

/// An interface as Fortran sees it.
pub trait Fortran: Abi<Handle = c_int, File = c_int> {
    /// Special values that are known by their addresses: by the number of their symbol, and the offset in it.
    const SENTINELS: &'static [(Sentinel, u32, usize)];

    /// Where the interface's own data of a symbol are.
    fn own(symbol: u32) -> usize;
}

impl Fortran for MpichFortran {
    const SENTINELS: &'static [(Sentinel, u32, usize)] = crate::mpich::SENTINELS;

    fn own(symbol: u32) -> usize {
        crate::mpich::own(symbol)
    }
}

impl Fortran for OpenMpiFortran {
    const SENTINELS: &'static [(Sentinel, u32, usize)] = crate::openmpi::SENTINELS;

    fn own(symbol: u32) -> usize {
        crate::openmpi::own(symbol)
    }
}

/// Functions of Fortran that call one of C. Before each argument stands how it is given to that:
///
/// | letter | is |
/// |---|---|
/// | `v` | the number at the address |
/// | `a` | the same, of 64 bits |
/// | `p` | the address: results, lists |
/// | `f` | the address, of a function |
/// | `b` | the address of a buffer, unless it is a special value |
/// | `s` | that of a status |
/// | `w` | that of weights |
macro_rules! fortran {
    ($($name:ident($($kind:ident $argument:ident),* $(,)?) => $function:expr;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`.")]
            ///
            /// # Safety
            /// Arguments are as MPI says.
            pub unsafe extern "C" fn $name<A: $crate::fortran::Fortran>(
                $($argument: *mut std::ffi::c_void,)* error: *mut std::ffi::c_int,
            ) {
                // SAFETY: addresses are the program's, by its promise.
                #[allow(unused_unsafe, reason = "functions without arguments convert nothing")]
                unsafe {
                    let code = $function($($crate::fortran::convert::$kind!($argument)),*);
                    $crate::fortran::convert::put_error(error, code);
                }
            }
        )*

        /// Names without the underscores behind them, and addresses.
        pub fn functions<A: $crate::fortran::Fortran>() -> Vec<(&'static str, usize)> {
            vec![$((stringify!($name), $name::<A> as *const () as usize)),*]
        }
    };
}
pub(crate) use fortran;

/// Names and addresses of one interface.
pub fn functions<A: Fortran>() -> Vec<(&'static str, usize)> {
    [
        plain::functions::<A>(),
        attributes::functions::<A>(),
        attributes::others::<A>(),
        files::functions::<A>(),
        first::functions::<A>(),
        lists::functions::<A>(),
        spawn::functions::<A>(),
        texts::functions::<A>(),
        windows::functions::<A>(),
    ]
    .concat()
}

/// The name that a function of Fortran has in the table, by how a compiler spells it: in small letters or in large
/// ones, with no underscore, one or two behind, and of profiling. None if it is no such name.
pub fn canonical(name: &str) -> Option<String> {
    let has_small = name.bytes().any(|byte| byte.is_ascii_lowercase());
    let has_large = name.bytes().any(|byte| byte.is_ascii_uppercase());
    if has_small && has_large {
        return None;
    }
    let small = name.to_ascii_lowercase();
    let bare = small.strip_suffix("__").or_else(|| small.strip_suffix('_')).unwrap_or(&small);
    let bare = bare.strip_prefix('p').filter(|rest| rest.starts_with("mpi_")).unwrap_or(bare);
    bare.starts_with("mpi_").then(|| bare.to_owned())
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn names_are_spelt_in_many_ways() {
        for name in ["mpi_send", "mpi_send_", "mpi_send__", "MPI_SEND", "pmpi_send_", "PMPI_SEND"] {
            assert_eq!(canonical(name).as_deref(), Some("mpi_send"));
        }
        assert_eq!((canonical("MPI_Send"), canonical("dgemm_")), (None, None));
    }
}
