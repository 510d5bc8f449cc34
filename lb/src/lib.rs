//! Load balancing of Talisman. It knows nothing of chares: measurements come in, and (in later versions) plans go out.
//!
//! So far there is the measuring: [`load`].

pub mod load;
