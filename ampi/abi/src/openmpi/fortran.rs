//! Open MPI's handles in Fortran: integers, small ones for predefined objects.

use std::ffi::c_int;

use talisman_ampi::objects::Kind;

use super::OpenMpi;
use super::datatypes::DATATYPES;
use super::objects::FIRST_SENTINEL;
use crate::abi::{Abi, NULL, as_in_c};
use crate::common::message::NO_PROC;
use crate::data::Sentinel;
use talisman_ampi::datatype::Named;

/// The interface of Open MPI as Fortran sees it: all but handles is C's.
#[derive(Clone, Copy, Debug)]
pub struct OpenMpiFortran;

/// Where the special values are: by the number of the symbol, and the offset in it.
pub const SENTINELS: &[(Sentinel, u32, usize)] = &[
    (Sentinel::Bottom, FIRST_SENTINEL, 0),
    (Sentinel::InPlace, FIRST_SENTINEL + 1, 0),
    (Sentinel::StatusIgnore, FIRST_SENTINEL + 2, 0),
    (Sentinel::StatusIgnore, FIRST_SENTINEL + 3, 0),
    (Sentinel::Unweighted, FIRST_SENTINEL + 4, 0),
    (Sentinel::WeightsEmpty, FIRST_SENTINEL + 5, 0),
    (Sentinel::ErrcodesIgnore, FIRST_SENTINEL + 6, 0),
    (Sentinel::ArgvNull, FIRST_SENTINEL + 7, 0),
    (Sentinel::ArgvNull, FIRST_SENTINEL + 8, 0),
];

/// The handles of objects of the program begin here.
const DYNAMIC: u32 = 1_000;

/// Predefined operations in the order of their handles, from 1 on, as numbers of [`Ops`](talisman_ampi::op::Ops).
const OPS: [u32; 14] = [0, 1, 2, 3, 4, 7, 5, 8, 6, 9, 12, 13, 10, 11];

fn predefined(kind: Kind, handle: u32) -> Option<u32> {
    match (kind, handle) {
        (Kind::Comm, 0 | 1) => Some(handle),
        (Kind::Comm, 2) => Some(NULL),
        (Kind::Comm, _) => None,
        (_, 0) => Some(NULL),
        (Kind::Group | Kind::Info, 1) => Some(0),
        (Kind::Message, 1) => Some(NO_PROC),
        (Kind::Errhandler, 1..=3) => Some(handle - 1),
        (Kind::Op, _) => OPS.get(handle as usize - 1).copied(),
        (Kind::Datatype, _) => {
            let at = DATATYPES.binary_search_by_key(&(handle as i32), |row| row.1).ok()?;
            Named::handle(DATATYPES[at].2)
        }
        _ => None,
    }
}

fn of_predefined(kind: Kind, number: u32) -> Option<u32> {
    match (kind, number) {
        (Kind::Comm, NULL) => Some(2),
        (_, NULL) => Some(0),
        (Kind::Comm, 0 | 1) => Some(number),
        (Kind::Group | Kind::Info, 0) => Some(1),
        (Kind::Message, NO_PROC) => Some(1),
        (Kind::Errhandler, 0..=2) => Some(number + 1),
        (Kind::Op, _) => OPS.iter().position(|op| *op == number).map(|at| at as u32 + 1),
        (Kind::Datatype, _) => {
            let name = talisman_ampi::datatype::NAMED.get(number as usize)?.name;
            DATATYPES.iter().find(|row| row.2 == name).map(|row| row.1 as u32)
        }
        _ => None,
    }
}

impl Abi for OpenMpiFortran {
    type Handle = c_int;
    type File = c_int;

    as_in_c!(OpenMpi);

    unsafe fn number(kind: Kind, handle: c_int) -> Option<u32> {
        let handle = u32::try_from(handle).ok()?;
        match handle.checked_sub(DYNAMIC) {
            Some(number) => Some(number),
            None => predefined(kind, handle),
        }
    }

    fn handle(kind: Kind, number: u32) -> c_int {
        of_predefined(kind, number).unwrap_or_else(|| DYNAMIC + number) as c_int
    }

    unsafe fn file_number(handle: c_int) -> Option<u32> {
        // SAFETY: the caller's promise.
        unsafe { Self::number(Kind::File, handle) }
    }

    fn file(number: u32) -> c_int {
        Self::handle(Kind::File, number)
    }

    unsafe fn forget_file(number: u32, handle: c_int) {
        // SAFETY: the caller's promise.
        unsafe { Self::forget(Kind::File, number, handle) };
    }

    /// C may have had a handle of it as well.
    unsafe fn forget(kind: Kind, number: u32, _: c_int) {
        if !matches!(kind, Kind::Request | Kind::Message) {
            // SAFETY: the object is gone, and no handle of it is used any more; its word is found by its number.
            unsafe { OpenMpi::forget(kind, number, 0) };
        }
    }
}
