//! What MPI-4 has added and Open MPI 4 lacks: messages in parts, sessions. Programs are built for MPICH, and for the interface of the
//! standard.

use crate::groups::{built, fortran, is_the_same, is_the_same_everywhere, native_with, wrappers};
use crate::job::{Interface, mpirun, output, text};
use crate::trials::checks;
use crate::wrappers;

checks!(
    messages_in_parts needs wrappers,
    messages_in_parts_in_fortran needs fortran,
    sessions needs wrappers,
    sessions_in_fortran needs fortran,
    a_session_that_stays_open_is_named needs wrappers,
    a_group_that_is_not_whole_is_named needs wrappers,
);

fn messages_in_parts() {
    everywhere("partitioned.c", "1");
}

fn messages_in_parts_in_fortran() {
    as_mpich("partitioned.f90", "2");
}

fn sessions() {
    everywhere("sessions.c", "16");
}

fn sessions_in_fortran() {
    // The module of MPICH 4.0 for Fortran 2008 ends at them with a fault, where its own library is.
    let file = built("sessions.f90", Interface::Mpich);
    is_the_same_everywhere(file.to_str().expect("a name that is text"), "60", None);
}

/// How the program of sessions ends when it is told to do this; it must not end well.
fn misused(how: &str) -> String {
    let file = built("sessions.c", Interface::Mpich);
    let file = file.to_str().expect("a name that is text");
    let output = output(&mut mpirun(&["-n", "3", "--nodes", "2", file, "1", how]));
    assert!(!output.status.success(), "{output:?}");
    text(&output.stderr)
}

fn a_session_that_stays_open_is_named() {
    let said = misused("open");
    assert!(said.contains(" ended before it called MPI_Session_finalize"), "{said}");
}

fn a_group_that_is_not_whole_is_named() {
    let said = misused("stuck");
    let why = "waits for 0 to come, in a group that makes a communicator; 0 has ended";
    assert!(said.contains("rank 1 in MPI_Comm_create_from_group (made, sessions.c:"), "{said}");
    assert!(said.contains(why), "{said}");
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
    let ways: [&[&str]; 2] = [&["--nodes", "3"], &["--move-always"]];
    is_the_same(&ways, file.to_str().expect("a name that is text"), rounds, expected);
}
