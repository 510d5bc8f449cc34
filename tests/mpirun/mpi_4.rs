//! What MPI-4 has added and Open MPI 4 lacks: messages in parts. Programs are built for MPICH, and for the interface of the
//! standard.

use crate::groups::{built, fortran, is_the_same_everywhere, native_with, wrappers};
use crate::job::Interface;
use crate::trials::checks;
use crate::wrappers;

checks!(
    messages_in_parts needs wrappers,
    messages_in_parts_in_fortran needs fortran,
);

fn messages_in_parts() {
    everywhere("partitioned.c", "2");
}

fn messages_in_parts_in_fortran() {
    as_mpich("partitioned.f90", "2");
}

/// As MPICH does it, whose lines are returned.
fn as_mpich(source: &str, rounds: &str) -> Option<String> {
    let file = built(source, Interface::Mpich);
    let file = file.to_str().expect("a name that is text");
    let expected = native_with(Interface::Mpich, file, &[rounds]);
    is_the_same_everywhere(file, rounds, expected.clone());
    expected
}

/// The same, also under the interface of the standard.
fn everywhere(source: &str, rounds: &str) {
    let expected = as_mpich(source, rounds);
    let file = wrappers::built("talisman-mpicc", source);
    is_the_same_everywhere(file.to_str().expect("a name that is text"), rounds, expected);
}
