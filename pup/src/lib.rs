//! Pack and unpack.
