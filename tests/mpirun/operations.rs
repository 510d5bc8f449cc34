//! Operations of programs may call MPI, but not communicate. What they may do is in `groups.rs`.

use crate::job::{c_compiler, mpirun, output, text};
use crate::trials::checks;
use crate::wrappers::built;

checks!(an_operation_that_communicates_is_named needs c_compiler);

fn an_operation_that_communicates_is_named() {
    let file = built("talisman-mpicc", "communicates.c");
    let file = file.to_str().expect("a name that is text");
    for function in ["MPI_Send", "MPI_Irecv", "MPI_Iprobe", "MPI_Barrier"] {
        let output = output(&mut mpirun(&["-n", "2", file, function]));
        let said = text(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{function}: {said}");
        let expected = format!("{function} was called by an operation of MPI_Op_create");
        assert!(said.contains(&expected), "{function}: {said}");
    }
}
