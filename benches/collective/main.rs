//! What many objects cost: to make, to keep, to reach and to move.
//!
//! `cargo bench --bench collective`, or a part of it: `-- create`, `keep`, `reach`, `move`, `spawn`, `flat`.

#[path = "../common/mod.rs"]
mod common;

mod create;
mod flat;
mod memory;
mod moving;
mod reach;
mod spawn;

use common::wanted;

fn main() {
    // `flat` comes first: in memory that others left behind, growth would not show.
    let parts: [(&str, fn()); 5] = [
        ("flat", flat::measure),
        ("create keep", create::measure),
        ("reach", reach::measure),
        ("move", moving::measure),
        ("spawn", spawn::measure),
    ];
    parts.into_iter().filter(|(name, _)| wanted(name)).for_each(|(_, measure)| measure());
}
