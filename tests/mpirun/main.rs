//! `talisman mpirun`: MPI programs that know nothing of the runtime.
//!
//! Small programs of these tests (`programs/`) are compiled and linked as for MPICH and as for Open MPI, neither of which
//! has to be there: a header and an empty library of the same names are enough. Programs of the distribution are run if
//! they are installed. What is missing is said, and its tests are shown as ignored.

#![allow(missing_docs)]

mod basics;
mod ends;
mod fairness;
mod groups;
mod job;
mod losses;
mod operations;
mod packages;
mod refusals;
mod several_programs;
#[path = "../common/trials.rs"]
mod trials;
mod wrappers;

use std::process::ExitCode;

fn main() -> ExitCode {
    let subjects = [
        refusals::all(),
        basics::all(),
        ends::all(),
        losses::all(),
        groups::all(),
        fairness::all(),
        operations::all(),
        several_programs::all(),
        packages::all(),
        wrappers::all(),
    ];
    trials::run(subjects.into_iter().flatten().collect())
}
