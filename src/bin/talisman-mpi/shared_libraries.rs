//! The parts of the C library that ranks may use and this executable does not are opened before `main`: so they are at
//! the same addresses in all nodes, and are compared with what else is mapped.

/// The dynamic linker calls what is in this section when a process begins.
#[used]
#[unsafe(link_section = ".init_array")]
static OPEN: extern "C" fn() = open;

extern "C" fn open() {
    talisman_loader::open_shared_libraries();
}
