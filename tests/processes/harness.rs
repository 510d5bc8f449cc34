//! How many of these tests run at a time.

use std::num::NonZero;
use std::process::ExitCode;
use std::thread::available_parallelism;

use libtest_mimic::{Arguments, Trial};

/// Runs them, more than there are processors at a time: they wait for other processes mostly.
pub fn run(tests: Vec<Trial>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    let processors = available_parallelism().map_or(1, NonZero::get);
    arguments.test_threads.get_or_insert(2 * processors);
    libtest_mimic::run(&arguments, tests).exit_code()
}
