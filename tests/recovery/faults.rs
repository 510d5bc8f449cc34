//! Processes that end by a fault of their own: made up for, unless it happens again each time.

use rustix::process::Signal;

use crate::held::begin;
use crate::job::{program, run};
use crate::subjects::LONG;
use crate::system::signal;

/// Whoever comes in its place does the same.
pub fn a_process_that_aborts_in_the_same_round_each_time() {
    for options in [
        "--ckpt-every 4steps --respawn",
        "--ckpt-every 1h --respawn",
        "--ckpt-every 4steps --ft disk --respawn",
    ] {
        let ft = if options.contains("--ft") { "" } else { "--ft double" };
        let left = run(program(&format!("--rounds 40 --abort-at 22 {ft} {options}"), (3, 1, "shm")));
        left.expect(
            3,
            &[
                "SIGABRT",
                "the 4th process in a row that ends by a fault of its own",
                "it would go back for ever",
            ],
        );
    }
}

/// Memory, say, may have been at fault. (Segmentation faults that are sent do nothing: programs in Rust look whether it was the stack.)
pub fn a_process_that_has_a_fault_once() {
    for (victim, fault) in [(1, Signal::ABORT), (0, Signal::ILL), (2, Signal::FPE)] {
        let shape = (3, 1, "mixed");
        let expected = LONG.undisturbed(shape);
        let held = begin(LONG, shape, "--ckpt-every 4steps");
        let nodes = held.run.job.nodes(3);
        held.run.job.wait_for("at 12");
        signal(nodes[victim], fault);
        held.run.job.wait_for_error("2 nodes went back to checkpoint");
        let left = held.survives(&expected);
        assert_eq!(left.losses, [(victim as u64, false)], "{}", left.ended.said());
    }
}
