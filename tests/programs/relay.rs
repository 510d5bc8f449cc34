//! What jobs that log survive on several hosts is seen on this: see `tests/hosts/logged.rs`.

#[path = "../logging_processes/relay.rs"]
mod program;

fn main() -> std::process::ExitCode {
    program::start()
}
