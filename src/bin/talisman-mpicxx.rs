//! `talisman-mpicxx`: as `talisman-mpicc`, for C++.

#[path = "talisman-mpicc/beside.rs"]
mod beside;

fn main() -> std::process::ExitCode {
    beside::call("talisman-mpicxx")
}
