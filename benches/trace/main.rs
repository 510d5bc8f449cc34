//! What it costs to be seen: to be traced (`--trace`), to have one's page open (`--dashboard`), and how long a long trace takes to be
//! summed up.
//!
//! `cargo build --profile bench --examples --bins && cargo bench --bench trace`, or a part of it: `-- event`, `jacobi3d`, `leanmd`,
//! `page`, `events` (this writes 3 GB). The examples run as their users would run them.

mod beside_pes;
#[path = "../common/mod.rs"]
mod common;
mod event;
mod examples;
mod page;
mod summary;

fn main() {
    event::measure();
    examples::measure();
    page::measure();
    summary::measure();
}
