//! Handles of the standard's predefined datatypes.

use std::sync::LazyLock;

use talisman_ampi::datatype::{NAMED, Named};

/// Handles and names, in the order of the handles.
pub const DATATYPES: &[(usize, &str)] = &[
    (0x201, "MPI_AINT"),
    (0x202, "MPI_COUNT"),
    (0x203, "MPI_OFFSET"),
    (0x207, "MPI_PACKED"),
    (0x208, "MPI_SHORT"),
    (0x209, "MPI_INT"),
    (0x20a, "MPI_LONG"),
    (0x20b, "MPI_LONG_LONG_INT"),
    (0x20c, "MPI_UNSIGNED_SHORT"),
    (0x20d, "MPI_UNSIGNED"),
    (0x20e, "MPI_UNSIGNED_LONG"),
    (0x20f, "MPI_UNSIGNED_LONG_LONG"),
    (0x210, "MPI_FLOAT"),
    (0x212, "MPI_C_COMPLEX"),
    (0x213, "MPI_CXX_FLOAT_COMPLEX"),
    (0x214, "MPI_DOUBLE"),
    (0x216, "MPI_C_DOUBLE_COMPLEX"),
    (0x217, "MPI_CXX_DOUBLE_COMPLEX"),
    (0x218, "MPI_LOGICAL"),
    (0x219, "MPI_INTEGER"),
    (0x21a, "MPI_REAL"),
    (0x21b, "MPI_COMPLEX"),
    (0x21c, "MPI_DOUBLE_PRECISION"),
    (0x21d, "MPI_DOUBLE_COMPLEX"),
    (0x21e, "MPI_CHARACTER"),
    (0x220, "MPI_LONG_DOUBLE"),
    (0x224, "MPI_C_LONG_DOUBLE_COMPLEX"),
    (0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX"),
    (0x228, "MPI_FLOAT_INT"),
    (0x229, "MPI_DOUBLE_INT"),
    (0x22a, "MPI_LONG_INT"),
    (0x22b, "MPI_2INT"),
    (0x22c, "MPI_SHORT_INT"),
    (0x22d, "MPI_LONG_DOUBLE_INT"),
    (0x230, "MPI_2REAL"),
    (0x231, "MPI_2DOUBLE_PRECISION"),
    (0x232, "MPI_2INTEGER"),
    (0x238, "MPI_C_BOOL"),
    (0x239, "MPI_CXX_BOOL"),
    (0x23c, "MPI_WCHAR"),
    (0x240, "MPI_INT8_T"),
    (0x241, "MPI_UINT8_T"),
    (0x243, "MPI_CHAR"),
    (0x244, "MPI_SIGNED_CHAR"),
    (0x245, "MPI_UNSIGNED_CHAR"),
    (0x247, "MPI_BYTE"),
    (0x248, "MPI_INT16_T"),
    (0x249, "MPI_UINT16_T"),
    (0x250, "MPI_INT32_T"),
    (0x251, "MPI_UINT32_T"),
    (0x258, "MPI_INT64_T"),
    (0x259, "MPI_UINT64_T"),
    (0x2c0, "MPI_LOGICAL1"),
    (0x2c1, "MPI_INTEGER1"),
    (0x2c8, "MPI_LOGICAL2"),
    (0x2c9, "MPI_INTEGER2"),
    (0x2d0, "MPI_LOGICAL4"),
    (0x2d1, "MPI_INTEGER4"),
    (0x2d2, "MPI_REAL4"),
    (0x2d8, "MPI_LOGICAL8"),
    (0x2d9, "MPI_INTEGER8"),
    (0x2da, "MPI_REAL8"),
    (0x2db, "MPI_COMPLEX8"),
    (0x2e2, "MPI_REAL16"),
    (0x2e3, "MPI_COMPLEX16"),
    (0x2eb, "MPI_COMPLEX32"),
];

/// Both ways.
struct Both {
    numbers: [Option<u32>; 256],
    handles: [Option<usize>; NAMED.len()],
}

/// The first handle of the range.
const FIRST: usize = 0x200;

static BOTH: LazyLock<Both> = LazyLock::new(|| {
    let mut both = Both { numbers: [None; 256], handles: [None; NAMED.len()] };
    for (handle, name) in DATATYPES {
        let number = Named::handle(name).expect("the name of a datatype");
        both.numbers[handle - FIRST] = Some(number);
        both.handles[number as usize] = Some(*handle);
    }
    both
});

/// The number of a predefined datatype.
pub fn number(handle: usize) -> Option<u32> {
    BOTH.numbers.get(handle.checked_sub(FIRST)?).copied().flatten()
}

/// The handle of a predefined datatype.
pub fn handle(number: u32) -> Option<usize> {
    BOTH.handles.get(number as usize).copied().flatten()
}
