//! Nodes that start, find each other, and end: see `tests/hosts/`.

fn main() -> std::process::ExitCode {
    talisman::testing::probe()
}
