//! What the process answers for programs.

/// What the process answers for programs: functions of MPI, of the C library with hidden state, `malloc` ….
pub trait Imports {
    /// Libraries (sonames) that are not loaded because this answers for them: `libmpi.so.40`, `libmpich.so.12`.
    fn answers_for(&self, soname: &str) -> bool;

    /// The address that this symbol has in every rank, if it is answered here. Asked before anything else: what a
    /// program defines itself under this name is used by nobody else.
    ///
    /// A variable that programs have copies of is copied when they are loaded; 4 KiB from its address on have to be
    /// readable.
    fn symbol(&self, name: &str) -> Option<usize>;

    /// Whether what is answered for this symbol is that it cannot be done: for [`crate::explain`] alone.
    fn refuses(&self, name: &str) -> bool {
        crate::libc::refuses(name)
    }

    /// As [`Imports::symbol`], for symbols that the program or one of its private libraries may define: asked before the
    /// libraries that are shared with the process, after all private ones. So a program's own `getopt` is used, and a
    /// profiler's own `MPI_Send`.
    fn fallback(&self, name: &str) -> Option<usize> {
        let _ = name;
        None
    }
}

/// Answers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoImports;

impl Imports for NoImports {
    fn answers_for(&self, _soname: &str) -> bool {
        false
    }

    fn symbol(&self, _name: &str) -> Option<usize> {
        None
    }
}
