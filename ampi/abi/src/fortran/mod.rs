//! The functions that Fortran calls.

use crate::abi::Abi;

/// Names and addresses of one interface.
pub fn functions<A: Abi<Handle = std::ffi::c_int>>() -> Vec<(&'static str, usize)> {
    Vec::new()
}

/// The name that a function of Fortran has in the table.
pub fn canonical(_name: &str) -> Option<String> {
    None
}
