//! What it costs to survive: the time between checkpoints, that of a checkpoint, and that of going back to one after a loss; on
//! processes of this machine, each against what the machine itself takes for the bytes that have to be copied, in the same run.
//!
//! `cargo build --profile bench --examples && cargo bench --bench recovery`, or a part of it: `-- overhead` (between
//! checkpoints), `checkpoint` (one of 50 MB to 1 GB), `disk` (one in files), `figure3` (eight in a hundred steps),
//! `phases` (from a kill to running again), `silence` (a node that is stopped), `losses` (twelve nodes lose ten),
//! `crashes` (128 modelled nodes lose ten), `logging`, or of it `messages` (those that are kept), `streams` (the same, one
//! way), `calls` (within a node), `replay` (what a lost node does again), `kills` (eight nodes lose up to seven), `stencil`
//! (where nobody is lost) `progress` (of each node; draws logging-progress.svg) and `said` (until a line is there). `--smoke` takes one short round of each, `--check` ends with status 1 if a budget is
//! missed. How likely it is that both copies are lost: `cargo bench -p talisman-ft --bench reliability`.
//!
//! The limits are processes of this program: it is started again with a first word that begins with `@`.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/machine.rs"]
mod machine;
#[path = "../common/streamer.rs"]
mod streamer;

mod checkpoint;
mod copying;
mod crashes;
mod disk;
mod eight;
mod kernel;
mod local_calls;
mod logging;
mod losses;
mod molecules;
mod overhead;
mod own_program;
mod phases;
mod plot;
mod progress;
mod progress_plot;
mod replay;
mod said;
mod silence;
mod size;
mod stencil;
mod step_notes;
mod streams;
mod writing;

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(copying::PROGRAM) => copying::program(),
        Some(kernel::PROGRAM) => kernel::program(),
        Some(writing::PROGRAM) => writing::program(),
        Some(progress::PROGRAM) => return progress::program(),
        Some(streams::PROGRAM) => return streams::program(),
        Some(local_calls::PROGRAM) => return local_calls::program(),
        Some(replay::PROGRAM) => return replay::program(),
        _ => measure(),
    }
    ExitCode::SUCCESS
}

fn measure() {
    let parts: [(&str, fn()); 16] = [
        ("overhead", overhead::measure),
        ("checkpoint", checkpoint::measure),
        ("disk", disk::measure),
        ("figure3", eight::measure),
        ("phases", phases::measure),
        ("silence", silence::measure),
        ("losses", losses::measure),
        ("crashes", crashes::measure),
        ("logging messages", logging::messages),
        ("logging streams", streams::measure),
        ("logging calls", local_calls::measure),
        ("logging replay", replay::measure),
        ("logging kills", logging::losses),
        ("logging stencil", stencil::measure),
        ("logging progress", progress::measure),
        ("logging said", said::measure),
    ];
    parts.into_iter().filter(|(name, _)| common::wanted(name)).for_each(|(_, measure)| measure());
}

/// Whether it is only to be seen that all goes: `--smoke` on the command line.
fn is_smoke() -> bool {
    std::env::args().any(|word| word == "--smoke")
}

/// As many rounds, or one.
fn rounds(usual: u32) -> u32 {
    if is_smoke() { 1 } else { usual }
}

/// The words of a command line.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}
