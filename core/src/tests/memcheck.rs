//! What a test asks of valgrind's memcheck that it runs under; of nobody, if it does not.

use super::valgrind::ask as ask_valgrind;

/// These bytes may not be read from now on.
pub(super) fn forbid(place: *const (), bytes: usize) {
    ask(0, place, bytes);
}

/// They may be, and have values.
pub(super) fn allow(place: *const (), bytes: usize) {
    ask(2, place, bytes);
}

/// `VG_USERREQ__MAKE_MEM_NOACCESS` and its neighbours, of `valgrind/memcheck.h`.
fn ask(request: u64, place: *const (), bytes: usize) {
    const MEMCHECK: u64 = (b'M' as u64) << 24 | (b'C' as u64) << 16;
    ask_valgrind(MEMCHECK + request, [place.addr() as u64, bytes as u64, 0, 0, 0]);
}
