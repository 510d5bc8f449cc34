//! MPI programs on Talisman: virtual ranks.
//!
//! Nothing is here yet.
