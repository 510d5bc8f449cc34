//! What jobs on several hosts survive is seen on this: see `tests/hosts/surviving.rs`.

#[path = "../recovery/program.rs"]
mod program;

fn main() -> std::process::ExitCode {
    program::start()
}
