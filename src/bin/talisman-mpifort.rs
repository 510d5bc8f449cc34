//! `talisman-mpifort`: as `talisman-mpicc`, for Fortran.

#[path = "talisman-mpicc/beside.rs"]
mod beside;

fn main() -> std::process::ExitCode {
    beside::call("talisman-mpifort")
}
