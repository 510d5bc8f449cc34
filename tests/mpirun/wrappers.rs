//! `talisman-mpicc` and its kin: programs that are compiled with them need no other MPI.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use crate::job::{c_compiler, cxx_compiler, folder, missing, mpirun, output, printed, sorted, text};
use crate::trials::checks;

checks!(
    programs_in_c_run needs c_compiler,
    programs_in_cxx_run needs cxx_compiler,
    programs_in_fortran_run needs fortran_compiler,
    a_program_that_is_started_alone_says_how_it_is_started needs c_compiler,
    options_are_shown needs c_compiler,
    a_compiler_that_is_not_there_is_named,
);

fn fortran_compiler() -> Option<String> {
    missing("gfortran")
}

/// A compiler of ours, which keeps its files in the folder of this run.
pub fn wrapper(name: &str) -> Command {
    let file = Path::new(env!("CARGO_BIN_EXE_talisman-mpicc")).with_file_name(name);
    let mut command = Command::new(file);
    command.env("XDG_CACHE_HOME", folder().join("cache"));
    for variable in ["TALISMAN_CC", "TALISMAN_CXX", "TALISMAN_FC"] {
        command.env_remove(variable);
    }
    command
}

/// A program of `programs/groups`, built once: others may be running it.
pub fn built(name: &str, source: &str) -> PathBuf {
    static BUILDING: Mutex<()> = Mutex::new(());
    // One that failed is to be reported by each test.
    let _alone = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let file = folder().join(format!("own-{source}"));
    if file.exists() {
        return file;
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpirun/programs/groups");
    let mut command = wrapper(name);
    command.args(["-O1", "-g", "-w"]).arg(sources.join(source)).arg("-o").arg(&file);
    let output = output(&mut command);
    assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    file
}

/// It prints the same however it is run; so many lines.
fn runs(name: &str, source: &str, lines: usize) {
    let file = built(name, source);
    let job = |way: &[&str]| {
        printed(&mut mpirun(&[&["-n", "4"], way, &[file.to_str().expect("a name that is text")]].concat()))
    };
    let alone = job(&[]);
    assert_eq!(alone.lines().count(), lines, "{alone}");
    for way in [&["--nodes", "3"][..], &["--nodes", "3", "--move-always"]] {
        assert_eq!(sorted(&job(way)), sorted(&alone), "{source} {way:?}");
    }
}

fn programs_in_c_run() {
    for (source, lines) in [
        ("messages.c", 20),
        ("collectives.c", 24),
        ("communicators.c", 20),
        ("datatypes.c", 44),
        ("operations.c", 28),
        ("tools.c", 4),
    ] {
        runs("talisman-mpicc", source, lines);
    }
}

fn programs_in_cxx_run() {
    runs("talisman-mpicxx", "classes.cc", 8);
}

fn programs_in_fortran_run() {
    runs("talisman-mpifort", "fixed.f", 20);
    runs("talisman-mpifort", "modern.f90", 12);
}

fn a_program_that_is_started_alone_says_how_it_is_started() {
    let output: Output = output(&mut Command::new(built("talisman-mpicc", "messages.c")));
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("start it with `talisman mpirun -n RANKS PROGRAM`"), "{output:?}");
}

fn options_are_shown() {
    let shown = |words: &[&str]| printed(wrapper("talisman-mpicc").args(words));
    let all = shown(&["-show", "-O2", "x.c", "-o", "x"]);
    assert!(all.starts_with("cc -I") && all.contains(" -O2 x.c -o x -L"), "{all}");
    let (compiling, linking) = (shown(&["-showme:compile"]), shown(&["-showme:link"]));
    assert!(compiling.starts_with("-I") && !compiling.contains("-l"), "{compiling}");
    assert!(linking.contains("-lmpi_abi") && !linking.contains("-I"), "{linking}");
}

fn a_compiler_that_is_not_there_is_named() {
    let output = output(wrapper("talisman-mpicc").env("TALISMAN_CC", "no-such-compiler").args(["-c", "x.c"]));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("talisman-mpicc: `no-such-compiler` cannot"), "{said}");
}
