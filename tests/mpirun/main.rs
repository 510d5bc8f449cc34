//! `talisman mpirun`: MPI programs that know nothing of the runtime.
//!
//! Small programs of these tests (`programs/`) are compiled and linked as for MPICH and as for Open MPI, neither of which
//! has to be there: a header and an empty library of the same names are enough. Programs of the distribution are run if
//! they are installed. What is missing is said, and its tests are shown as ignored.

#![allow(missing_docs)]

mod absent;
mod basics;
mod builds;
mod child_programs;
mod coarrays;
mod ends;
mod errors;
mod fairness;
mod fixed;
mod gdb;
mod groups;
mod held;
mod hosts;
mod job;
mod jumps;
mod logged_moves;
mod logging;
mod long_messages;
mod losses;
mod mixed;
mod mpi_4;
mod mpi_files;
#[allow(dead_code, unused_imports, reason = "other tests need more of it")]
#[path = "../common/network/mod.rs"]
mod network;
mod operations;
mod overwritten_files;
mod packages;
mod ports;
mod ranks;
mod recorded;
mod redirects;
mod refusals;
mod scalapack;
mod several_programs;
mod shared_files;
mod slice;
mod spawn;
mod stuck;
mod surroundings;
mod threads;
#[path = "../common/trials.rs"]
mod trials;
mod waits_without_mpi;
mod windows;
mod wrappers;

use std::process::ExitCode;

fn main() -> ExitCode {
    let subjects = [
        refusals::all(),
        absent::all(),
        basics::all(),
        waits_without_mpi::all(),
        ends::all(),
        errors::all(),
        held::all(),
        jumps::all(),
        fixed::all(),
        builds::all(),
        coarrays::all(),
        shared_files::all(),
        overwritten_files::all(),
        long_messages::all(),
        losses::all(),
        logging::all(),
        logged_moves::all(),
        recorded::all(),
        hosts::all(),
        groups::all(),
        mixed::all(),
        mpi_4::all(),
        mpi_files::all(),
        ports::all(),
        fairness::all(),
        operations::all(),
        several_programs::all(),
        spawn::all(),
        child_programs::all(),
        redirects::all(),
        stuck::all(),
        surroundings::all(),
        threads::all(),
        ranks::all(),
        slice::all(),
        gdb::all(),
        windows::all(),
        wrappers::all(),
        packages::all(),
        scalapack::all(),
    ];
    trials::run(subjects.into_iter().flatten().collect())
}
