//! The parts of message logging by themselves. All of them together run in `ft/tests/logging`.

mod codec;
mod leading;
mod line;
mod spreading;
mod standing;
mod storage;
mod voting;

use super::{Entry, Input, Lane, LogId, Shape};

const SHAPE: Shape = Shape { nodes: 4, pes_per_node: 1 };

fn log(node: u32) -> LogId {
    LogId { node, rank: 0 }
}

fn lane(from: u32, to: u32) -> Lane {
    Lane { from, to, rank: 0 }
}

fn entry(at: u64) -> Entry {
    Entry { at, input: Input::Cut }
}

/// Whether a check fails if this mistake is made.
#[cfg(feature = "mutations")]
fn notices(mistake: &'static str, check: fn()) -> bool {
    talisman_observe::mutations::choose(Some(mistake));
    let failed = std::panic::catch_unwind(check).is_err();
    talisman_observe::mutations::choose(None);
    failed
}
