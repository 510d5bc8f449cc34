//! MPI programs.
