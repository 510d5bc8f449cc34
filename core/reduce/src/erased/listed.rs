//! The list of all reducers in the program, which the linker puts together.
//!
//! A partial result may come to a process that has never used its reducer: the contributors of a reduction need not be
//! spread over all nodes. That process has to read, combine and finish it all the same, and the program should not
//! have to name its reducers for that. So [`enter`] is compiled into the path that looks a reducer up by its types. It
//! executes nothing, but its being in the program leaves a row in a section of the executable; a generic `static`
//! in a `#[link_section]` would do the same, if the language had one. The linker joins the rows, and every process of
//! the program finds all of them when it starts, whatever it has executed. All processes of a job run the same
//! executable (they compare its hash when they connect), so all have the same rows.
//!
//! Other ways were weighed. Sending the offset of the reducer's functions from the base of the executable needs no
//! section, but then bytes from a peer lead to a jump, and checks have to hold that off; here they are only
//! looked up in a table. Sending partial results on to a process that knows the reducer fails where nobody does any
//! more, as after a crash, and answers to a broadcast must be read where they are given. Constructors that run before
//! `main` (`.init_array`) would find the rows of shared libraries too, but need memory before `main`.
//!
//! What remains for the program: rows are looked for in the image that this crate is linked into, which is the executable
//! of an ordinary Rust program. A use in a shared library leaves its row there, and if this crate itself is in one, the
//! rows of the executable are not seen. [`register_reducer`](crate::register_reducer) is for these.

use talisman_pup::Pup;

use super::info::ReduceInfo;
use crate::Reducer;

/// Puts the reducer `R` of values of type `T` on the list: whatever compiles a call of this does, executed or not.
#[inline(always)]
pub(super) fn enter<T: Pup + Send + 'static, R: Reducer<T>>() {
    section::enter::<T, R>();
}

/// Every reducer on the list, in an order that is the same in all processes of a program. Some come more than once:
/// the compiler may copy the code around a call of [`enter`].
pub(super) fn all() -> impl Iterator<Item = ReduceInfo> {
    section::rows().iter().filter_map(section::Row::reducer)
}

#[cfg(all(not(miri), target_pointer_width = "64", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod section {
    use std::arch::asm;

    use super::*;

    /// The code that makes one reducer, as the assembly below lays it out.
    #[repr(C)]
    pub(super) struct Row {
        /// Where [`OWNER`] is, of the copy of this crate that made the row.
        owner: *const u8,
        make: Option<fn() -> ReduceInfo>,
    }

    /// Tells the rows of this copy of the crate from those of another version in the same program, whose `ReduceInfo`
    /// may look different.
    static OWNER: u8 = 0;

    impl Row {
        pub(super) fn reducer(&self) -> Option<ReduceInfo> {
            (self.owner == &raw const OWNER).then(|| self.make.map(|make| make()))?
        }
    }

    #[inline(always)]
    pub(super) fn enter<T: Pup + Send + 'static, R: Reducer<T>>() {
        // `R` among the flags keeps the rows from linkers that drop what nothing refers to.
        // SAFETY: no instruction, only a `Row` in another section; the section is the same again afterwards.
        unsafe {
            asm!(
                ".pushsection talisman_reducers, \"awR\", @progbits",
                ".balign 8",
                ".quad {owner}",
                ".quad {make}",
                ".popsection",
                owner = sym OWNER,
                make = sym ReduceInfo::new::<T, R>,
                options(nomem, nostack, preserves_flags),
            );
        }
    }

    // Linkers define these two for every section whose name is an identifier.
    unsafe extern "C" {
        #[link_name = "__start_talisman_reducers"]
        static START: [u64; 0];
        #[link_name = "__stop_talisman_reducers"]
        static STOP: [u64; 0];
    }

    pub(super) fn rows() -> &'static [Row] {
        // A row of nobody's, so that the section exists in a program without reducers.
        // SAFETY: as in `enter`; zeros are a `Row`.
        unsafe {
            asm!(
                ".pushsection talisman_reducers, \"awR\", @progbits",
                ".balign 8",
                ".quad 0, 0",
                ".popsection",
                options(nomem, nostack, preserves_flags),
            );
        }
        let (start, stop) = ((&raw const START).cast::<Row>(), &raw const STOP);
        let count = (stop.addr() - start.addr()) / size_of::<Row>();
        // SAFETY: between the two there are rows and nothing else, one after the other, since each is as long as a
        // multiple of their alignment; they live as long as the program, and nothing writes to them.
        unsafe { std::slice::from_raw_parts(start, count) }
    }
}

/// Where rows cannot be made, or nobody has tried whether they can (Miri executes no assembly), the list is empty: a
/// process knows what it has used or registered.
#[cfg(not(all(
    not(miri),
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod section {
    use super::*;

    pub(super) enum Row {}

    impl Row {
        pub(super) fn reducer(&self) -> Option<ReduceInfo> {
            match *self {}
        }
    }

    pub(super) fn enter<T: Pup + Send + 'static, R: Reducer<T>>() {}

    pub(super) fn rows() -> &'static [Row] {
        &[]
    }
}
