//! MPICH's interface: handles are ints whose highest bits say what they are.

pub mod attributes;
pub mod cplusplus;
mod datatypes;

pub use datatypes::DATATYPES;

use std::ffi::c_int;

use talisman_ampi::objects::Kind;

use crate::abi::{Abi, Attribute, NULL, Told, WindowAttribute, as_in_c};
use crate::class::{CLASSES, Class};
use crate::common::message::NO_PROC;
use crate::data::{Cell, Content, Data, Sentinel};
use crate::{Interface, data};

/// The interface of MPICH and its derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Mpich;

/// Predefined operations in the order of their handles, from 0x58000001 on, as numbers of
/// [`Ops`](talisman_ampi::op::Ops).
const OPS: [u32; 14] = [0, 1, 2, 3, 4, 7, 5, 8, 6, 9, 13, 12, 10, 11];

/// Keys of attributes in the order of their values, which are odd from 0x64400001 on.
const KEYS: [Attribute; 7] = [
    Attribute::TagUb,
    Attribute::Host,
    Attribute::Io,
    Attribute::WtimeIsGlobal,
    Attribute::UniverseSize,
    Attribute::LastUsedCode,
    Attribute::AppNum,
];

/// Data that programs know by name.
pub const DATA: &[Data] = &[
    Data { name: "MPI_UNWEIGHTED", content: Content::PointerTo(5), of_bytes: 8 },
    Data { name: "MPI_WEIGHTS_EMPTY", content: Content::PointerTo(6), of_bytes: 8 },
    Data { name: "MPI_F_STATUS_IGNORE", content: Content::PointerInto(7, 8), of_bytes: 8 },
    Data { name: "MPI_F_STATUSES_IGNORE", content: Content::PointerTo(8), of_bytes: 8 },
    Data { name: "mpiprivc_", content: Content::Zeroes, of_bytes: 8 },
    Data { name: "mpifcmb5_", content: Content::Zeroes, of_bytes: 4 },
    Data { name: "mpifcmb9_", content: Content::Zeroes, of_bytes: 4 },
    Data { name: "mpipriv1_", content: Content::Zeroes, of_bytes: 28 },
    Data { name: "mpipriv2_", content: Content::Zeroes, of_bytes: 24 },
    Data { name: "MPIR_F08_MPI_BOTTOM", content: Content::Zeroes, of_bytes: 4 },
    Data { name: "MPIR_F08_MPI_IN_PLACE", content: Content::Zeroes, of_bytes: 4 },
    Data { name: "MPIR_F08_MPI_STATUS_IGNORE_OBJ", content: Content::Zeroes, of_bytes: 20 },
    Data { name: "MPIR_F08_MPI_STATUSES_IGNORE_OBJ", content: Content::Zeroes, of_bytes: 20 },
    Data { name: "MPI_T_PVAR_ALL_HANDLES", content: Content::PointerTo(ALL_HANDLES), of_bytes: 8 },
];

/// The number of `MPI_T_PVAR_ALL_HANDLES`, which is a pointer to itself here.
const ALL_HANDLES: u32 = 13;

/// Pointers in MPICH's library for Fortran 2008 that `MPI_Init` fills, by name: the number of the symbol that they point to.
pub const POINTERS_OF_2008: [(&str, u32); 2] =
    [("MPIR_C_MPI_UNWEIGHTED", 5), ("MPIR_C_MPI_WEIGHTS_EMPTY", 6)];

/// Where the special values of Fortran are: by the number of the symbol, and the offset in it.
pub const SENTINELS: &[(Sentinel, u32, usize)] = &[
    (Sentinel::Bottom, 7, 0),
    (Sentinel::InPlace, 7, 4),
    (Sentinel::StatusIgnore, 7, 8),
    (Sentinel::StatusIgnore, 8, 0),
    (Sentinel::Unweighted, 5, 0),
    (Sentinel::WeightsEmpty, 6, 0),
    // Behind MPI_STATUSES_IGNORE.
    (Sentinel::ErrcodesIgnore, 8, 20),
    (Sentinel::ArgvNull, 4, 0),
    (Sentinel::ArgvNull, 4, 1),
];

static CELLS: [Cell<8>; DATA.len()] = [const { Cell::zeroes() }; DATA.len()];

/// Where the interface's own data of a symbol are.
pub fn own(symbol: u32) -> usize {
    data::fill(&CELLS, DATA);
    data::address(&CELLS, symbol)
}

/// Bits 26 to 29 of a handle.
const fn code(kind: Kind) -> u32 {
    let code: u32 = match kind {
        Kind::Comm => 1,
        Kind::Group => 2,
        Kind::Datatype => 3,
        Kind::File => 4,
        Kind::Errhandler => 5,
        Kind::Op => 6,
        Kind::Info => 7,
        Kind::Win => 8,
        Kind::Request | Kind::Message => 11,
        Kind::Session => 14,
    };
    code << 26
}

const BUILTIN: u32 = 1 << 30;
const DYNAMIC: u32 = 2 << 30;
const NUMBER: u32 = (1 << 26) - 1;

fn predefined(kind: Kind, handle: u32) -> Option<u32> {
    let low = handle & NUMBER;
    match kind {
        Kind::Comm if low < 2 => Some(low),
        Kind::Group if low == 0 => Some(0),
        Kind::Datatype => datatypes::number(handle),
        Kind::Errhandler if low < 4 => Some(low),
        Kind::Op => OPS.get(low.wrapping_sub(1) as usize).copied(),
        Kind::Info if low == 1 => Some(0),
        Kind::Message if low == 0 => Some(NO_PROC),
        _ => None,
    }
}

fn of_predefined(kind: Kind, number: u32) -> Option<u32> {
    let builtin = BUILTIN | code(kind);
    match kind {
        Kind::Comm if number < 2 => Some(builtin | number),
        Kind::Group if number == 0 => Some(builtin),
        Kind::Datatype => datatypes::handle(number),
        Kind::Errhandler if number < 4 => Some(builtin | number),
        Kind::Op => OPS.iter().position(|op| *op == number).map(|at| builtin | (at as u32 + 1)),
        Kind::Info if number == 0 => Some(builtin | 1),
        Kind::Message if number == NO_PROC => Some(builtin),
        _ => None,
    }
}

impl Abi for Mpich {
    type Handle = c_int;
    type File = usize;
    type C = Mpich;
    type Fortran = MpichFortran;

    const INTERFACE: Interface = Interface::Mpich;
    const ANY_SOURCE: c_int = -2;
    const PROC_NULL: c_int = -1;
    const ROOT: c_int = -3;
    const IN_PLACE: usize = usize::MAX;
    const STATUS_IGNORE: usize = 1;
    const WEIGHTS: fn() -> [usize; 2] = || [own(5), own(6)];
    const STATUS_SIZE: usize = 20;
    const COMBINER_NAMED: c_int = 1;
    const ORDERS: [c_int; 2] = [56, 57];
    const DISTRIBUTE: [c_int; 4] = [121, 122, 123, -49_767];
    const TOPOLOGIES: [c_int; 3] = [1, 2, 3];
    const TYPECLASSES: [c_int; 3] = [1, 2, 3];
    const TYPE_SHARED: c_int = 1;
    const KEYVAL_INVALID: c_int = 0x2400_0000;
    const FIRST_KEYVAL: c_int = 0xa440_0000u32 as c_int;
    const VERSION: [c_int; 2] = [4, 0];
    const BSEND_OVERHEAD: c_int = 96;
    const NAME_ROOM: [usize; 3] = [128, 128, 512];
    const TOOLS: [c_int; 3] = [221, 9_700, 60_438];
    const ALL_HANDLES: fn() -> usize = || own(ALL_HANDLES);
    const LOCKS: [c_int; 2] = [234, 235];
    const UNIFIED: c_int = 2;

    #[inline]
    unsafe fn number(kind: Kind, handle: c_int) -> Option<u32> {
        let handle = handle as u32;
        match handle & (3 << 30) {
            _ if handle & (15 << 26) != code(kind) => None,
            0 => (handle == code(kind)).then_some(NULL),
            BUILTIN => predefined(kind, handle),
            // Pairs are predefined ones of this form.
            DYNAMIC if kind == Kind::Datatype => datatypes::number(handle).or(Some(handle & NUMBER)),
            DYNAMIC => Some(handle & NUMBER),
            _ => None,
        }
    }

    #[inline(always)]
    unsafe fn datatype_number(handle: c_int) -> Option<u32> {
        match datatypes::builtin(handle as u32) {
            Some(number) => Some(number),
            // SAFETY: any number may be given.
            None => unsafe { Mpich::number(Kind::Datatype, handle) },
        }
    }

    fn handle(kind: Kind, number: u32) -> c_int {
        let handle = match number {
            NULL => code(kind),
            _ => of_predefined(kind, number).unwrap_or(DYNAMIC | code(kind) | (number & NUMBER)),
        };
        handle as c_int
    }

    unsafe fn forget(_: Kind, _: u32, _: c_int) {}

    unsafe fn file_number(handle: usize) -> Option<u32> {
        match handle {
            0 => Some(NULL),
            // SAFETY: any number may be given.
            handle => unsafe { Mpich::number(Kind::File, handle as c_int) },
        }
    }

    fn file(number: u32) -> usize {
        if number == NULL { 0 } else { Mpich::handle(Kind::File, number) as u32 as usize }
    }

    unsafe fn forget_file(_: u32, _: usize) {}

    fn code(class: Class) -> c_int {
        CLASSES[class as usize].3
    }

    fn class(code: c_int) -> Option<Class> {
        CLASSES.iter().find(|row| row.3 == code).map(|row| row.0)
    }

    fn attribute(key: c_int) -> Option<Attribute> {
        let at = key.checked_sub(0x6440_0001)?;
        // Fortran's keys are larger by one.
        KEYS.get(usize::try_from(at).ok()? / 2).copied()
    }

    fn window_attribute(key: c_int) -> Option<WindowAttribute> {
        // As those of communicators.
        let at = key.checked_sub(0x6600_0001)?;
        WindowAttribute::ALL.get(usize::try_from(at).ok()? / 2).copied()
    }

    unsafe fn write_status(at: usize, told: Told) {
        let fields = at as *mut c_int;
        let high = (told.bytes >> 32) as c_int;
        // SAFETY: a status of the program, by the caller's promise.
        unsafe {
            fields.write_unaligned(told.bytes as c_int);
            fields.add(1).write_unaligned((high << 1) | c_int::from(told.is_cancelled));
            fields.add(2).write_unaligned(told.source);
            fields.add(3).write_unaligned(told.tag);
        }
    }

    unsafe fn read_status(at: usize) -> Told {
        let fields = at as *const c_int;
        // SAFETY: as above.
        let [low, high, source, tag] = unsafe { fields.cast::<[c_int; 4]>().read_unaligned() };
        let bytes = u64::from(low as u32) | (u64::from(high as u32 >> 1) << 32);
        Told { source, tag, bytes, is_cancelled: high & 1 == 1 }
    }

    fn error_of(status: usize) -> *mut c_int {
        (status + 16) as *mut c_int
    }
}

/// The interface of MPICH as Fortran sees it. Handles are the same numbers; functions that a program gives are called
/// as Fortran's.
#[derive(Clone, Copy, Debug)]
pub struct MpichFortran;

impl Abi for MpichFortran {
    type Handle = c_int;
    type File = c_int;

    as_in_c!(Mpich);

    unsafe fn number(kind: Kind, handle: c_int) -> Option<u32> {
        // SAFETY: the caller's promise.
        unsafe { Mpich::number(kind, handle) }
    }

    fn handle(kind: Kind, number: u32) -> c_int {
        Mpich::handle(kind, number)
    }

    unsafe fn forget(_: Kind, _: u32, _: c_int) {}

    unsafe fn file_number(handle: c_int) -> Option<u32> {
        // SAFETY: the caller's promise.
        unsafe { Mpich::file_number(handle as u32 as usize) }
    }

    fn file(number: u32) -> c_int {
        Mpich::file(number) as c_int
    }

    unsafe fn forget_file(_: u32, _: c_int) {}
}
