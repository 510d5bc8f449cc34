//! The numerics of the examples, which know nothing of chares. Their unit tests stand beside them and run here, since an
//! example that Cargo builds as a test is not built as a program.

mod golomb;
mod imbalance;
mod jacobi3d;
mod leanmd;
mod nqueens;
