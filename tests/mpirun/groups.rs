//! Programs in C, C++ and Fortran for each group of MPI's functions, as the compilers of MPICH and of Open MPI build them.
//! What they print is what they print under the library that they were built for, however their ranks are moved and
//! whichever nodes are lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

use crate::job::{
    BOTH, Interface, folder, missing, mpirun, output, printed, sorted, text, under_open_mpi, yielding,
};
use crate::trials::checks;

checks!(
    messages needs wrappers,
    collectives needs wrappers,
    communicators needs wrappers,
    intercommunicators_and_functions_of_attributes needs wrappers,
    datatypes needs wrappers,
    operations needs wrappers,
    predefined needs wrappers,
    windows needs wrappers,
    tools needs wrappers,
    windows_that_are_misused_are_named needs wrappers,
    memory_that_ranks_share needs wrappers,
    classes needs wrappers,
    handlers needs wrappers,
    the_interface_for_cplusplus needs wrappers,
    fortran_with_its_header needs fortran,
    fortran_with_its_module needs fortran,
    fortran_of_2008 needs fortran,
    windows_of_fortran needs fortran,
);

fn messages() {
    everywhere("messages.c", "6");
}

fn collectives() {
    everywhere("collectives.c", "6");
}

fn communicators() {
    everywhere("communicators.c", "6");
}

/// Open MPI 4.1 does not come to the end of it.
fn intercommunicators_and_functions_of_attributes() {
    let [of_mpich, of_open_mpi] = [Interface::Mpich, Interface::OpenMpi].map(|one| built("sides.c", one));
    let of_mpich = of_mpich.to_str().expect("a name that is text");
    let expected = native(Interface::Mpich, of_mpich, "4");
    is_the_same_everywhere(of_mpich, "4", expected.clone());
    is_the_same_everywhere(of_open_mpi.to_str().expect("a name that is text"), "4", expected);
}

fn datatypes() {
    everywhere("datatypes.c", "10");
}

/// Functions of the program that MPI calls, and that call MPI.
fn operations() {
    everywhere("operations.c", "10");
}

/// What MPI brings along, and messages that are taken back.
fn predefined() {
    everywhere("predefined.c", "4");
}

/// One-sided communication.
fn windows() {
    everywhere("windows.c", "3");
}

/// Where it is mapped they stay.
fn memory_that_ranks_share() {
    let lines =
        |kind: &str, rest: &str| (0..4).map(|rank| format!("{kind} {rank}: {rest}")).collect::<Vec<_>>();
    let found = "wrong 0, base 1, shared 1, follows 1";
    let expected = [lines("apart", found), lines("signals", "20"), lines("together", found)].concat();
    for interface in BOTH {
        let file = built("shared_memory.c", interface);
        let file = file.to_str().expect("a name that is text");
        for way in &WAYS[..4] {
            let printed = printed(&mut mpirun(&[&["-n", RANKS], *way, &[file, "1"]].concat()));
            assert_eq!(sorted(&printed), expected, "{interface:?} {way:?}");
        }
    }
}

/// Variables of the library. They are the same however nodes are lost.
fn tools() {
    for interface in BOTH {
        let file = built("tools.c", interface);
        let file = file.to_str().expect("a name that is text");
        is_the_same(&WAYS[..4], file, "3", native(interface, file, "3"));
    }
}

fn windows_that_are_misused_are_named() {
    for interface in BOTH {
        let file = built("misused.c", interface);
        let file = file.to_str().expect("a name that is text");
        for (how, why) in [
            ("outside", "rank 0 cannot go on: rank 1 accesses values from displacement 4 on"),
            ("closed", "rank 1: MPI_Put failed: MPI_ERR_RMA_SYNC"),
            ("locked", "rank 1: MPI_Win_free failed: MPI_ERR_RMA_SYNC: wrong synchronisation of a window"),
            ("null", "rank 1: MPI_Win_flush failed: invalid window (MPI_ERR_WIN)"),
            ("kept", "in MPI_Win_flush (main, misused.c:"),
        ] {
            for way in [&[][..], &["--nodes", "2"]] {
                let output = output(&mut mpirun(&[&["-n", "3"], way, &[file, how]].concat()));
                let said = text(&output.stderr);
                assert!(
                    !output.status.success() && said.contains(why),
                    "{how} {interface:?} {way:?}: {said}"
                );
            }
        }
    }
}

fn windows_of_fortran() {
    everywhere("windows.f90", "2");
}

fn classes() {
    everywhere("classes.cc", "1");
}

/// Codes that functions of the program change or give.
fn handlers() {
    everywhere("handlers.c", "3");
}

/// MPICH's library for it is loaded as it is; that of Open MPI needs the inside of Open MPI.
fn the_interface_for_cplusplus() {
    let file = built("bindings.cc", Interface::Mpich);
    let file = file.to_str().expect("a name that is text");
    is_the_same_everywhere(file, "3", native(Interface::Mpich, file, "3"));
}

fn fortran_with_its_header() {
    everywhere("fixed.f", "1");
}

fn fortran_with_its_module() {
    everywhere("modern.f90", "1");
    everywhere("sizeof.f90", "1");
}

/// What the libraries have for it is theirs.
fn fortran_of_2008() {
    everywhere("described.f90", "1");
}

/// How each program is run. With `--move-always` a rank moves whenever it waits.
pub const WAYS: [&[&str]; 6] = [
    &[],
    &["--nodes", "3"],
    &["--move-always"],
    &["--nodes", "3", "--move-always"],
    &["--nodes", "3", "--move-always", "--ft", "double", "--ckpt-every", "50ms", "--kill", "1@300ms"],
    &["--nodes", "3", "--move-always", "--ft", "logging", "--kill", "1@300ms"],
];

const RANKS: &str = "4";

/// So many rounds of it.
fn everywhere(source: &str, rounds: &str) {
    for interface in BOTH {
        let file = built(source, interface);
        let file = file.to_str().expect("a name that is text");
        is_the_same_everywhere(file, rounds, native(interface, file, rounds));
    }
}

/// So many rounds of a program, which print what is expected, if that is known; else the same in all ways.
pub fn is_the_same_everywhere(file: &str, rounds: &str, expected: Option<String>) {
    is_the_same(&WAYS, file, rounds, expected);
}

/// The same in these ways.
pub fn is_the_same(ways: &[&[&str]], file: &str, rounds: &str, expected: Option<String>) {
    is_the_same_with(ways, file, &[rounds], expected);
}

/// The same with these arguments.
pub fn is_the_same_with(ways: &[&[&str]], file: &str, arguments: &[&str], expected: Option<String>) {
    let job = |way: &[&str]| printed(&mut mpirun(&[&["-n", RANKS], way, &[file], arguments].concat()));
    let expected = expected.unwrap_or_else(|| job(&[]));
    assert!(expected.lines().count() >= 4, "{expected}");
    for way in ways {
        assert_eq!(sorted(&job(way)), sorted(&expected), "{file} {way:?}");
    }
}

/// What it prints under its own library, if that can start it here.
fn native(interface: Interface, file: &str, rounds: &str) -> Option<String> {
    native_with(interface, file, &[rounds])
}

/// The same with these arguments.
pub fn native_with(interface: Interface, file: &str, arguments: &[&str]) -> Option<String> {
    let launcher = if interface == Interface::Mpich { "mpiexec.hydra" } else { "mpirun.openmpi" };
    if missing(launcher).is_some() {
        return None;
    }
    let words = [&[file], arguments].concat();
    let mut command = under_open_mpi(RANKS, &words);
    // What Open MPI 4.1 would choose for one-sided communication on one host ends in a fault where processes may not read each other.
    command.env("OMPI_MCA_osc", "pt2pt,sm");
    if interface == Interface::Mpich {
        command = Command::new(launcher);
        command.args(["-n", RANKS]).args(words).env("LD_PRELOAD", yielding()).stdin(Stdio::null());
    }
    Some(printed(&mut command))
}

/// The compilers, and what they compile with.
pub fn wrappers() -> Option<String> {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    let look = || BOTH.iter().flat_map(|of| ["c", "cc"].map(|ending| compiles(*of, ending))).flatten().next();
    MISSING.get_or_init(look).clone()
}

pub fn fortran() -> Option<String> {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    MISSING.get_or_init(|| BOTH.iter().filter_map(|of| compiles(*of, "f90")).next()).clone()
}

/// What is missing to compile for an interface.
fn compiles(interface: Interface, ending: &str) -> Option<String> {
    let wrapper = wrapper(interface, ending);
    if let Some(missing) = missing(&wrapper) {
        return Some(missing);
    }
    let empty = folder().join(format!("empty.{}.{ending}", interface_name(interface)));
    let text = if ending == "f90" { "use mpi\nend\n" } else { "#include <mpi.h>\n" };
    fs::write(&empty, text).expect("the folder of this run");
    let compiled =
        Command::new(&wrapper).arg("-fsyntax-only").arg(&empty).output().expect("the compiler was found");
    (!compiled.status.success()).then(|| format!("{wrapper} has no headers or modules of MPI"))
}

fn interface_name(interface: Interface) -> &'static str {
    if interface == Interface::Mpich { "mpich" } else { "openmpi" }
}

fn wrapper(interface: Interface, ending: &str) -> String {
    let compiler = match ending {
        "c" => "mpicc",
        "cc" => "mpicxx",
        _ => "mpif90",
    };
    format!("{compiler}.{}", interface_name(interface))
}

/// A program of `programs/groups`, compiled once in a run.
pub fn built(source: &str, interface: Interface) -> PathBuf {
    static COMPILING: Mutex<()> = Mutex::new(());
    // One that failed is to be reported by each test.
    let _alone = COMPILING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let file = folder().join(format!("group-{source}.{}", interface_name(interface)));
    if file.exists() {
        return file;
    }
    let ending = source.rsplit('.').next().unwrap_or_default();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpirun/programs/groups");
    let mut command = Command::new(wrapper(interface, ending));
    command.args(["-O1", "-g", "-w"]);
    if ending.starts_with('c') {
        command.arg("-fstack-protector-all");
    }
    command.arg("-o").arg(&file).arg(sources.join(source));
    // Files of modules are written there.
    command.current_dir(folder());
    // One function takes buffers of any type.
    command.args((ending == "f").then_some("-fallow-argument-mismatch"));
    let output = command.output().expect("the compiler was found");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    file
}
