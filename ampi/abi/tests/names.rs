//! Every function that the libraries export is answered: by a function, or by one that ends the job with its name.

#![allow(missing_docs)]

use std::collections::BTreeSet;

use talisman_abi::{Answer, Interface, answer, interface_of, names, symbol};

const MPICH: &str = include_str!("names/mpich.txt");
const OPEN_MPI: &str = include_str!("names/openmpi.txt");
const STANDARD: &str = include_str!("names/standard.txt");
const FORTRAN: &str = include_str!("names/fortran.txt");

fn missing(interface: Interface, names: &str, ending: &str) -> Vec<String> {
    let names = names.lines().map(|name| format!("{name}{ending}"));
    names.filter(|name| symbol(interface, name).is_none()).collect()
}

#[test]
fn functions_of_mpich_are_answered() {
    assert_eq!(missing(Interface::Mpich, MPICH, ""), [""; 0]);
}

#[test]
fn functions_of_open_mpi_are_answered() {
    assert_eq!(missing(Interface::OpenMpi, OPEN_MPI, ""), [""; 0]);
}

#[test]
fn functions_of_the_standard_are_answered() {
    assert_eq!(missing(Interface::Standard, STANDARD, ""), [""; 0]);
}

#[test]
fn functions_of_fortran_are_answered() {
    for interface in [Interface::Mpich, Interface::OpenMpi] {
        assert_eq!(missing(interface, FORTRAN, "_"), [""; 0]);
    }
}

/// What is refused: representations of data, and a few others.
#[test]
fn parts_that_are_not_there_are_refused() {
    let is_refused = |name: &str| matches!(answer(Interface::Mpich, name), Some(Answer::Refusal(_)));
    for name in ["MPI_Register_datarep", "PMPI_Register_datarep", "mpi_register_datarep_"] {
        assert!(is_refused(name), "{name}");
    }
    assert!(
        [
            "MPI_Send",
            "mpi_send_",
            "PMPI_Barrier",
            "MPI_Put",
            "mpi_win_create_",
            "MPI_Comm_spawn",
            "mpi_comm_spawn_",
            "mpi_comm_join_"
        ]
        .iter()
        .all(|name| !is_refused(name))
    );
}

#[test]
fn profiling_and_spellings_are_the_same_functions() {
    for interface in [Interface::Mpich, Interface::OpenMpi] {
        let of = |name| symbol(interface, name).unwrap();
        assert_eq!(of("PMPI_Isend"), of("MPI_Isend"));
        assert_eq!([of("mpi_isend__"), of("MPI_ISEND"), of("pmpi_isend_")], [of("mpi_isend_"); 3]);
        assert_ne!(of("mpi_isend_"), of("MPI_Isend"));
        assert_eq!(
            [symbol(interface, "malloc"), symbol(interface, "dgemm_"), symbol(interface, "MPI_Nothing")],
            [None; 3]
        );
        let all: BTreeSet<_> = names(interface).collect();
        assert!(all.contains("MPI_Send") && all.contains("mpi_send"));
    }
}

#[test]
fn objects_have_room_for_their_copies() {
    for name in ["ompi_mpi_comm_world", "ompi_mpi_double", "ompi_mpi_op_sum", "ompi_request_null"] {
        let Some(Answer::Data(at, bytes)) = answer(Interface::OpenMpi, name) else { panic!("{name}") };
        assert!(at > 0 && bytes >= 256);
    }
    assert_eq!(answer(Interface::Mpich, "ompi_mpi_comm_world"), None);
}

#[test]
fn libraries_are_known_by_their_names() {
    assert_eq!(interface_of("libmpifort.so.12"), Some(Interface::Mpich));
    assert_eq!(interface_of("libmpi_mpifh.so.40"), Some(Interface::OpenMpi));
    assert_eq!(interface_of("libmpi_abi.so.1"), Some(Interface::Standard));
    assert_eq!((interface_of("libmpi.so.1"), interface_of("libmpi_cxx.so.40")), (None, None));
}

#[test]
fn functions_of_the_header_are_answered() {
    let declared = |line: &'static str| {
        let (_, arguments) = line.strip_prefix("MPI_FUNCTION(")?.split_once(", ")?;
        arguments.split_once(',').map(|(name, _)| name)
    };
    let all: Vec<&str> = talisman_abi::HEADER.lines().filter_map(declared).collect();
    assert!(all.len() > 600, "{all:?}");
    for name in all {
        assert!(symbol(Interface::Standard, &format!("MPI_{name}")).is_some(), "MPI_{name}");
    }
}
