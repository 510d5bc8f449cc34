//! Ports, names of services, and sockets between ranks: how ranks that have no communicator together come to one.

use crate::groups::{WAYS, built, fortran, is_the_same, native_with, wrappers};
use crate::job::{BOTH, Interface, mpirun, output, text};
use crate::trials::checks;
use crate::wrappers;

checks!(
    ports_and_names needs wrappers,
    ports_and_names_in_fortran needs fortran,
    ranks_with_a_socket needs wrappers,
    a_port_that_nobody_comes_to_is_named needs wrappers,
);

/// As Open MPI does it; and the same under the interface of the standard. Debian's MPICH can do nothing of it, where it
/// sends its messages by UCX.
fn everywhere(ways: &[&[&str]], source: &str, rounds: &str) {
    let name = |file: &std::path::Path| file.to_str().expect("a name that is text").to_owned();
    let expected = native_with(Interface::OpenMpi, &name(&built(source, Interface::OpenMpi)), &[rounds]);
    for interface in BOTH {
        is_the_same(ways, &name(&built(source, interface)), rounds, expected.clone());
    }
    if source.ends_with(".c") {
        let file = wrappers::built("talisman-mpicc", source);
        is_the_same(&ways[..1], &name(&file), rounds, expected);
    }
}

fn ports_and_names() {
    everywhere(&WAYS, "ports.c", "8");
}

fn ports_and_names_in_fortran() {
    everywhere(&WAYS, "ports.f90", "8");
}

/// They stay where they are as long as they have it.
fn ranks_with_a_socket() {
    everywhere(&[&["--nodes", "4"], &[], &["--nodes", "3", "--move-always"]], "join.c", "3");
}

fn a_port_that_nobody_comes_to_is_named() {
    let file = built("ports.c", Interface::Mpich);
    let file = file.to_str().expect("a name that is text");
    let output = output(&mut mpirun(&["-n", "3", "--nodes", "2", file, "1", "alone"]));
    let said = text(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("rank 0 in MPI_Comm_accept (main, ports.c:"), "{said}");
    assert!(said.contains("waits for another rank at a port of 0"), "{said}");
}
