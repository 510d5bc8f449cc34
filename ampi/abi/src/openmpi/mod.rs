//! Open MPI's interface: handles are addresses of objects.
//!
//! A predefined object is a data symbol of the library. Its first word is our number, so translating is reading that
//! word: also of the copy that an executable has by a COPY relocation. An object that the program makes is a word in
//! the rank's heap.

mod conversions;
mod datatypes;
mod fortran;
mod mpi_f08;
mod objects;

use std::ffi::c_int;

use talisman_ampi::objects::Kind;
use talisman_ampi::rank::call;

use crate::abi::{Abi, Attribute, NULL, Told, WindowAttribute};
use crate::class::{CLASSES, Class};
use crate::data::{self, Cell};
use crate::{Interface, data::number_in};

pub use conversions::conversions;
pub use fortran::{OpenMpiFortran, SENTINELS};
pub use mpi_f08::inner_name;
pub use objects::DATA;

/// The interface of Open MPI 4 and 5.
#[derive(Clone, Copy, Debug)]
pub struct OpenMpi;

/// The largest predefined object has 2048 bytes.
static CELLS: [Cell<256>; DATA.len()] = [const { Cell::zeroes() }; DATA.len()];

/// Where the interface's own data of a symbol are.
pub fn own(symbol: u32) -> usize {
    data::fill(&CELLS, DATA);
    data::address(&CELLS, symbol)
}

const KEYS: [Attribute; 7] = [
    Attribute::TagUb,
    Attribute::Host,
    Attribute::Io,
    Attribute::WtimeIsGlobal,
    Attribute::AppNum,
    Attribute::LastUsedCode,
    Attribute::UniverseSize,
];

/// Where the program has the predefined object of this symbol.
fn place(symbol: u32) -> usize {
    // SAFETY: no buffer is given.
    let elsewhere = unsafe { call(|process, _| process.objects.places.get(symbol)) };
    elsewhere.ok().flatten().map_or_else(|| own(symbol), |address| address as usize)
}

/// The word of an object of the program: a new one unless it has one. Requests and messages have one for each handle.
fn word_of(kind: Kind, number: u32) -> usize {
    // SAFETY: no buffer is given.
    let found = unsafe { call(|process, _| process.objects.words.get(kind, number)) };
    if let Ok(Some(address)) = found {
        return address as usize;
    }
    // On the rank's heap, as the rank calls.
    let address = Box::into_raw(Box::new(data::word(kind, number))) as usize;
    if !matches!(kind, Kind::Request | Kind::Message) {
        // SAFETY: no buffer is given; a number is kept.
        let _kept = unsafe { call(|process, _| process.objects.words.set(kind, number, address as u64)) };
    }
    address
}

/// Frees the word of an object.
///
/// # Safety
/// `handle` is of the object, and nobody uses it any more.
unsafe fn free_word(kind: Kind, number: u32, handle: usize) {
    // SAFETY: no buffer is given.
    let registered = unsafe { call(|process, _| process.objects.words.remove(kind, number)) };
    let address = match registered {
        Ok(Some(address)) => address as usize,
        _ if matches!(kind, Kind::Request | Kind::Message) => handle,
        _ => return,
    };
    // SAFETY: made by `word_of`, and given to nobody else.
    drop(unsafe { Box::from_raw(address as *mut u64) });
}

impl Abi for OpenMpi {
    type Handle = usize;
    type File = usize;
    type C = OpenMpi;
    type Fortran = OpenMpiFortran;

    const INTERFACE: Interface = Interface::OpenMpi;
    const ANY_SOURCE: c_int = -1;
    const PROC_NULL: c_int = -2;
    const ROOT: c_int = -4;
    const IN_PLACE: usize = 1;
    const STATUS_IGNORE: usize = 0;
    const WEIGHTS: fn() -> [usize; 2] = || [2, 3];
    const STATUS_SIZE: usize = 24;
    const COMBINER_NAMED: c_int = 0;
    const ORDERS: [c_int; 2] = [0, 1];
    const DISTRIBUTE: [c_int; 4] = [0, 1, 2, -1];
    const TOPOLOGIES: [c_int; 3] = [2, 1, 3];
    const TYPECLASSES: [c_int; 3] = [2, 1, 3];
    const TYPE_SHARED: c_int = 0;
    const KEYVAL_INVALID: c_int = -1;
    const FIRST_KEYVAL: c_int = 1_000;
    const VERSION: [c_int; 2] = [3, 1];
    const BSEND_OVERHEAD: c_int = 128;
    const NAME_ROOM: [usize; 3] = [64, 256, 256];
    const TOOLS: [c_int; 3] = [0; 3];
    const ALL_HANDLES: fn() -> usize = || usize::MAX;
    const LOCKS: [c_int; 2] = [1, 2];
    const UNIFIED: c_int = 0;
    const NO_CHECK: c_int = 1;
    const NO_SUCCEED: c_int = 16;
    const HANDLERS_CHANGE_CODES: bool = false;
    const NAMES_HAVE_KINDS: bool = false;
    const LAST_CODE: c_int = 92;

    #[inline]
    unsafe fn number(kind: Kind, handle: usize) -> Option<u32> {
        if handle < 4096 {
            return None;
        }
        // SAFETY: a handle points to an object, by the caller's promise.
        let found = unsafe { (handle as *const u64).read_unaligned() };
        if found == 0 {
            // The interface's own, in a process where nobody has asked for them yet.
            data::fill(&CELLS, DATA);
        }
        // SAFETY: as above.
        number_in(kind, unsafe { (handle as *const u64).read_unaligned() })
    }

    fn handle(kind: Kind, number: u32) -> usize {
        match objects::symbol_of(kind, number) {
            Some(symbol) => place(symbol),
            None => word_of(kind, number),
        }
    }

    unsafe fn forget(kind: Kind, number: u32, handle: usize) {
        if number != NULL && objects::symbol_of(kind, number).is_none() {
            // SAFETY: the caller's promise.
            unsafe { free_word(kind, number, handle) };
        }
    }

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
        CLASSES[class as usize].4
    }

    fn class(code: c_int) -> Option<Class> {
        CLASSES.iter().find(|row| row.4 == code).map(|row| row.0)
    }

    fn attribute(key: c_int) -> Option<Attribute> {
        KEYS.get(usize::try_from(key).ok()?).copied()
    }

    fn window_attribute(key: c_int) -> Option<WindowAttribute> {
        // They follow those of communicators.
        WindowAttribute::ALL.get(usize::try_from(key).ok()?.checked_sub(KEYS.len())?).copied()
    }

    unsafe fn write_status(at: usize, told: Told) {
        let fields = at as *mut c_int;
        // SAFETY: a status of the program, by the caller's promise.
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
