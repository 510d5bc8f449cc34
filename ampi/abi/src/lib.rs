//! The binary interfaces of MPI over Talisman's virtual ranks: tables of C functions by the names that executables
//! have.
//!
//! An executable that was linked with MPICH or with Open MPI finds here what it wants of its library: functions, and
//! data that it knows by name. Each function has one body for all interfaces; what they differ in is the trait
//! [`abi::Abi`].
//!
//! | module | is |
//! |---|---|
//! | [`common`] | the functions, a file for each chapter |
//! | [`mpich`] | MPICH's handles, constants, layouts |
//! | [`openmpi`] | Open MPI's |
//! | [`standard`] | MPI-5.0's |
//! | [`fortran`] | the functions that Fortran calls |
//! | [`class`](mod@class) | classes of errors |
//! | [`data`] | predefined objects and special values that are data symbols |
//! | [`refused`] | functions that end the job with their names |
//!
//! Who embeds it loads executables into ranks, resolves their symbols by [`symbol`], says once by [`set_hooks`] what
//! beginning and ending mean, and calls [`bind`] on the thread of each rank before its program begins.

// Functions have the arguments that MPI gives them.
#![allow(clippy::too_many_arguments)]

pub mod abi;
pub mod class;
pub mod common;
pub mod data;
pub mod fortran;
mod hooks;
pub mod mpich;
pub mod openmpi;
pub mod refused;
pub mod standard;
mod tables;

pub use hooks::{Hooks, set_hooks};
pub use tables::{Answer, answer, bind, interface_of, names, set_program, symbol};

/// `mpi.h` of the standard's interface, for programs that are compiled for it.
pub const HEADER: &str = include_str!("../include/mpi.h");

/// `mpif.h` of MPICH's interface, for programs in Fortran: the standard has none for them.
pub const FORTRAN_HEADER: &str = include_str!("../include/mpif.h");

/// A binary interface of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interface {
    /// MPICH's, which many libraries share (Intel MPI, MVAPICH, Cray).
    Mpich,
    /// Open MPI's, of its versions 4 and 5.
    OpenMpi,
    /// That of the standard (MPI-5.0, chapter 20), which all may have.
    Standard,
}
