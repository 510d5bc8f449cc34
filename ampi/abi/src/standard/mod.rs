//! The interface of the standard (MPI-5.0, chapter 20): handles are pointers, of which the small values are predefined.

mod datatypes;
mod functions;

use std::ffi::c_int;

use talisman_ampi::datatype::Combiner;
use talisman_ampi::objects::Kind;

use crate::Interface;
use crate::abi::{Abi, Attribute, NULL, Told, WindowAttribute};
use crate::class::{CLASSES, Class};
use crate::common::call::handler;
use crate::common::message::NO_PROC;

pub use datatypes::DATATYPES;
pub use functions::functions;

/// The interface of MPI-5.0, with constants of version 1.0 of it.
#[derive(Clone, Copy, Debug)]
pub struct Standard;

/// Handles of the program begin here: predefined ones have less than 10 bits, and page 0 is no address.
const DYNAMIC: usize = 0x1000;

/// Predefined operations: handle, and number in [`Ops`](talisman_ampi::op::Ops).
const OPS: [(usize, u32); 14] = [
    (0x21, 2),
    (0x22, 1),
    (0x23, 0),
    (0x24, 3),
    (0x28, 7),
    (0x29, 8),
    (0x2a, 9),
    (0x30, 4),
    (0x31, 5),
    (0x32, 6),
    (0x38, 13),
    (0x39, 12),
    (0x3c, 10),
    (0x3d, 11),
];

/// The others: kind, handle, number.
const OTHERS: [(Kind, usize, u32); 19] = [
    (Kind::Request, 0x180, NULL),
    (Kind::Comm, 0x101, 0),
    (Kind::Comm, 0x102, 1),
    (Kind::Comm, 0x100, NULL),
    (Kind::Group, 0x108, NULL),
    (Kind::Group, 0x109, 0),
    (Kind::Win, 0x110, NULL),
    (Kind::File, 0x118, NULL),
    (Kind::Session, 0x120, NULL),
    (Kind::Message, 0x128, NULL),
    (Kind::Message, 0x129, NO_PROC),
    (Kind::Info, 0x130, NULL),
    (Kind::Info, 0x131, 0),
    (Kind::Errhandler, 0x140, NULL),
    (Kind::Errhandler, 0x141, handler::FATAL),
    (Kind::Errhandler, 0x142, handler::ABORT),
    (Kind::Errhandler, 0x143, handler::RETURN),
    (Kind::Op, 0x20, NULL),
    (Kind::Datatype, 0x200, NULL),
];

const KEYS: [Attribute; 7] = [
    Attribute::TagUb,
    Attribute::Io,
    Attribute::Host,
    Attribute::WtimeIsGlobal,
    Attribute::AppNum,
    Attribute::LastUsedCode,
    Attribute::UniverseSize,
];

/// Predefined attributes of windows in the order of their keys, from 601 on.
const WINDOW_KEYS: [WindowAttribute; 5] = [
    WindowAttribute::Base,
    WindowAttribute::Unit,
    WindowAttribute::Size,
    WindowAttribute::Flavor,
    WindowAttribute::Model,
];

fn predefined(kind: Kind, handle: usize) -> Option<u32> {
    let other = OTHERS.iter().find(|(of, at, _)| *of == kind && *at == handle).map(|(.., number)| *number);
    other.or_else(|| match kind {
        Kind::Op => OPS.iter().find(|(at, _)| *at == handle).map(|(_, number)| *number),
        Kind::Datatype => datatypes::number(handle),
        _ => None,
    })
}

fn of_predefined(kind: Kind, number: u32) -> Option<usize> {
    let other = OTHERS.iter().find(|(of, _, at)| *of == kind && *at == number).map(|(_, handle, _)| *handle);
    other.or_else(|| match kind {
        Kind::Op => OPS.iter().find(|(_, at)| *at == number).map(|(handle, _)| *handle),
        Kind::Datatype => datatypes::handle(number),
        _ => None,
    })
}

impl Abi for Standard {
    type Handle = usize;
    type File = usize;
    type C = Standard;
    type Fortran = Standard;

    const INTERFACE: Interface = Interface::Standard;
    const ANY_SOURCE: c_int = -1;
    const ANY_TAG: c_int = -2;
    const PROC_NULL: c_int = -3;
    const ROOT: c_int = -4;
    const IN_PLACE: usize = 1;
    const STATUS_IGNORE: usize = 0;
    const WEIGHTS: fn() -> [usize; 2] = || [10, 11];
    const STATUS_SIZE: usize = 32;
    const COMBINER_NAMED: c_int = 101;
    const ORDERS: [c_int; 2] = [0xc, 0xf];
    const DISTRIBUTE: [c_int; 4] = [17, 18, 16, 19];
    const TOPOLOGIES: [c_int; 3] = [212, 211, 213];
    const TYPECLASSES: [c_int; 3] = [193, 192, 194];
    const TYPE_SHARED: c_int = 221;
    const KEYVAL_INVALID: c_int = 0;
    const FIRST_KEYVAL: c_int = 1_000;
    const VERSION: [c_int; 2] = [5, 0];
    const BSEND_OVERHEAD: c_int = 512;
    const NAME_ROOM: [usize; 3] = [128, 256, 512];
    const TOOLS: [c_int; 3] = [9, 1, 1];
    const ALL_HANDLES: fn() -> usize = || 1;
    const LOCKS: [c_int; 2] = [301, 302];
    const FLAVORS: [c_int; 4] = [311, 312, 313, 314];
    const UNIFIED: c_int = 321;
    const LAST_CODE: c_int = 16_383;
    const IDENT: c_int = 201;
    const FILE_MODES: [c_int; 9] = [16, 256, 32, 2, 8, 4, 128, 1, 64];
    const SEEKS: [c_int; 3] = [403, 401, 402];
    const DISPLACEMENT_CURRENT: i64 = -1;
    const THREADS: [c_int; 4] = [0, 1_024, 2_048, 4_096];

    unsafe fn number(kind: Kind, handle: usize) -> Option<u32> {
        match handle.checked_sub(DYNAMIC) {
            None => predefined(kind, handle),
            Some(own) => (own & 15 == kind as usize).then(|| u32::try_from(own >> 4).ok()).flatten(),
        }
    }

    fn handle(kind: Kind, number: u32) -> usize {
        of_predefined(kind, number).unwrap_or_else(|| DYNAMIC + ((number as usize) << 4 | kind as usize))
    }

    unsafe fn forget(_: Kind, _: u32, _: usize) {}

    unsafe fn file_number(handle: usize) -> Option<u32> {
        // SAFETY: the caller's promise.
        unsafe { Self::number(Kind::File, handle) }
    }

    fn file(number: u32) -> usize {
        Self::handle(Kind::File, number)
    }

    unsafe fn forget_file(number: u32, handle: usize) {
        // SAFETY: the caller's promise.
        unsafe { Self::forget(Kind::File, number, handle) };
    }

    fn code(class: Class) -> c_int {
        CLASSES[class as usize].5
    }

    fn class(code: c_int) -> Option<Class> {
        CLASSES.iter().find(|row| row.5 == code).map(|row| row.0)
    }

    fn combiner(combiner: Combiner) -> c_int {
        let place = match combiner {
            Combiner::Named => 0,
            Combiner::Dup => 1,
            Combiner::Contiguous => 2,
            Combiner::Vector => 3,
            Combiner::Hvector => 4,
            Combiner::Indexed => 5,
            Combiner::Hindexed => 6,
            Combiner::IndexedBlock => 7,
            Combiner::HindexedBlock => 8,
            Combiner::Struct => 9,
            Combiner::Subarray => 10,
            Combiner::Darray => 11,
            Combiner::F90Real => 12,
            Combiner::F90Complex => 13,
            Combiner::F90Integer => 14,
            Combiner::Resized => 15,
        };
        Self::COMBINER_NAMED + place
    }

    fn attribute(key: c_int) -> Option<Attribute> {
        KEYS.get(usize::try_from(key.checked_sub(501)?).ok()?).copied()
    }

    fn window_attribute(key: c_int) -> Option<WindowAttribute> {
        WINDOW_KEYS.get(usize::try_from(key.checked_sub(601)?).ok()?).copied()
    }

    unsafe fn write_status(at: usize, told: Told) {
        let fields = at as *mut c_int;
        // SAFETY: a status of the program, by the caller's promise: source, tag, error, five of ours.
        unsafe {
            fields.write_unaligned(told.source);
            fields.add(1).write_unaligned(told.tag);
            fields.add(3).write_unaligned(c_int::from(told.is_cancelled));
            fields.add(4).cast::<u64>().write_unaligned(told.bytes);
        }
    }

    unsafe fn read_status(at: usize) -> Told {
        let fields = at as *const c_int;
        // SAFETY: as above.
        unsafe {
            Told {
                source: fields.read_unaligned(),
                tag: fields.add(1).read_unaligned(),
                bytes: fields.add(4).cast::<u64>().read_unaligned(),
                is_cancelled: fields.add(3).read_unaligned() != 0,
            }
        }
    }

    fn error_of(status: usize) -> *mut c_int {
        (status + 8) as *mut c_int
    }
}
