//! Nodes that start, find each other, and end: see `tests/hosts.rs`.

fn main() -> std::process::ExitCode {
    talisman::testing::probe()
}
