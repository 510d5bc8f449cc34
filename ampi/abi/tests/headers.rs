//! Constants and layouts are those of the libraries' own headers, and of this crate's for the standard's interface: a
//! program in C is compiled with them, and says.
//! Where there is no compiler or no header, that is said, and nothing is compared. `TALISMAN_MPICH_INCLUDE`,
//! `TALISMAN_OPENMPI_INCLUDE` and `TALISMAN_STANDARD_INCLUDE` name the folders of headers that are elsewhere than
//! Debian puts them.

#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use talisman_abi::Interface;
use talisman_abi::abi::{Abi, NULL, WindowAttribute};
use talisman_abi::class::CLASSES;
use talisman_abi::mpich::{self, Mpich};
use talisman_abi::openmpi::OpenMpi;
use talisman_abi::standard::{self, Standard};
use talisman_ampi::datatype::Combiner;
use talisman_ampi::objects::Kind;

/// What the trait says, by the names of the headers.
fn constants<A: Abi>() -> Vec<(String, i64)> {
    let named = |names: &[&str], values: &[i32]| -> Vec<(String, i64)> {
        names.iter().zip(values).map(|(name, value)| (format!("MPI_{name}"), i64::from(*value))).collect()
    };
    let codes: Vec<(&str, i32)> = CLASSES.iter().map(|row| (row.1, A::code(row.0))).collect();
    let status = |at: usize| (at - 4096) as i64;
    let offset = |name: &str, at: usize| (format!("offsetof(MPI_Status, {name})"), status(at));
    let mut all = [
        named(
            &["ANY_SOURCE", "ANY_TAG", "PROC_NULL", "ROOT", "UNDEFINED"],
            &[A::ANY_SOURCE, A::ANY_TAG, A::PROC_NULL, A::ROOT, A::UNDEFINED],
        ),
        named(&["ORDER_C", "ORDER_FORTRAN"], &A::ORDERS),
        named(
            &["DISTRIBUTE_BLOCK", "DISTRIBUTE_CYCLIC", "DISTRIBUTE_NONE", "DISTRIBUTE_DFLT_DARG"],
            &A::DISTRIBUTE,
        ),
        named(&["GRAPH", "CART", "DIST_GRAPH"], &A::TOPOLOGIES),
        named(&["TYPECLASS_REAL", "TYPECLASS_INTEGER", "TYPECLASS_COMPLEX"], &A::TYPECLASSES),
        named(&["VERSION", "SUBVERSION"], &A::VERSION),
        named(
            &["COMBINER_NAMED", "COMM_TYPE_SHARED", "KEYVAL_INVALID", "BSEND_OVERHEAD"],
            &[A::COMBINER_NAMED, A::TYPE_SHARED, A::KEYVAL_INVALID, A::BSEND_OVERHEAD],
        ),
        named(&["LOCK_EXCLUSIVE", "LOCK_SHARED"], &A::LOCKS),
        named(&["T_VERBOSITY_USER_BASIC", "T_BIND_NO_OBJECT", "T_SCOPE_CONSTANT"], &A::TOOLS),
        named(
            &["WIN_FLAVOR_CREATE", "WIN_FLAVOR_ALLOCATE", "WIN_FLAVOR_DYNAMIC", "WIN_FLAVOR_SHARED"],
            &A::FLAVORS,
        ),
        named(&["WIN_UNIFIED", "MODE_NOCHECK", "MODE_NOSUCCEED"], &[A::UNIFIED, A::NO_CHECK, A::NO_SUCCEED]),
        window_keys::<A>(),
        named(&["IDENT", "CONGRUENT", "UNEQUAL"], &[A::IDENT, A::IDENT + 1, A::IDENT + 3]),
        named(&["THREAD_SINGLE", "THREAD_FUNNELED", "THREAD_SERIALIZED", "THREAD_MULTIPLE"], &A::THREADS),
        named(
            &["COMBINER_STRUCT", "COMBINER_SUBARRAY", "COMBINER_RESIZED", "COMBINER_HINDEXED_BLOCK"],
            &[Combiner::Struct, Combiner::Subarray, Combiner::Resized, Combiner::HindexedBlock]
                .map(A::combiner),
        ),
        named(
            &["MAX_OBJECT_NAME", "MAX_PROCESSOR_NAME", "MAX_ERROR_STRING"],
            &A::NAME_ROOM.map(|room| room as i32),
        ),
        codes.into_iter().map(|(name, code)| (name.to_owned(), i64::from(code))).collect(),
    ]
    .concat();
    all.push(("sizeof(MPI_Status)".to_owned(), A::STATUS_SIZE as i64));
    all.push(("sizeof(MPI_Comm)".to_owned(), size_of::<A::Handle>() as i64));
    if A::INTERFACE != Interface::OpenMpi {
        let null = handle_value::<A>(A::handle(Kind::Session, NULL));
        all.push(("(long) MPI_SESSION_NULL".to_owned(), null));
    }
    all.push(("(long) MPI_IN_PLACE".to_owned(), A::IN_PLACE as i64));
    all.push(("(long) MPI_STATUS_IGNORE".to_owned(), A::STATUS_IGNORE as i64));
    all.push(offset("MPI_ERROR", A::error_of(4096) as usize));
    all.push(offset("MPI_SOURCE", 4096 + 4 * source_and_tag::<A>()[0]));
    all.push(offset("MPI_TAG", 4096 + 4 * source_and_tag::<A>()[1]));
    all
}

/// A handle as a number.
fn handle_value<A: Abi>(handle: A::Handle) -> i64 {
    let at = (&raw const handle).cast::<u8>();
    // SAFETY: handles are of four or eight bytes.
    unsafe {
        match size_of::<A::Handle>() {
            4 => i64::from(at.cast::<i32>().read_unaligned()),
            _ => at.cast::<i64>().read_unaligned(),
        }
    }
}

/// The keys of predefined attributes of windows.
fn window_keys<A: Abi>() -> Vec<(String, i64)> {
    use WindowAttribute::{Base, Flavor, Model, Size, Unit};
    let candidates = || (0..1_000).chain(0x6600_0000..0x6600_0100);
    let key = |asked| candidates().find(|key| A::window_attribute(*key) == Some(asked)).expect("it has one");
    let names =
        [("BASE", Base), ("SIZE", Size), ("DISP_UNIT", Unit), ("CREATE_FLAVOR", Flavor), ("MODEL", Model)];
    names.map(|(name, asked)| (format!("MPI_WIN_{name}"), i64::from(key(asked)))).to_vec()
}

/// Where the source and the tag are in a status, in ints.
fn source_and_tag<A: Abi>() -> [usize; 2] {
    let mut status = [0i32; 8];
    let told = talisman_abi::abi::Told { source: 71, tag: 72, bytes: 0, is_cancelled: false };
    // SAFETY: a status fits in.
    unsafe { A::write_status(status.as_mut_ptr() as usize, told) };
    [71, 72].map(|value| status.iter().position(|found| *found == value).expect("it is written"))
}

/// What the header says, or why it cannot be asked.
fn from_header(
    variable: &str,
    folder: &str,
    names: &[(String, i64)],
) -> Result<BTreeMap<String, i64>, String> {
    let include = std::env::var_os(variable).map_or_else(|| PathBuf::from(folder), PathBuf::from);
    if !include.join("mpi.h").exists() {
        return Err(format!("there is no {}", include.join("mpi.h").display()));
    }
    let mut program =
        "#include <mpi.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n".to_owned();
    for (name, _) in names {
        writeln!(program, "    printf(\"%s=%ld\\n\", \"{name}\", (long) ({name}));").unwrap();
    }
    program.push_str("    return 0;\n}\n");
    let folder = std::env::temp_dir().join(format!("talisman-headers-{variable}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, executable) = (folder.join("says.c"), folder.join("says"));
    std::fs::write(&source, program).unwrap();
    let mut compiler = Command::new("cc");
    compiler.arg("-w").arg("-I").arg(&include).arg(&source).arg("-o").arg(&executable);
    let compiled = compiler.output().map_err(|error| format!("there is no compiler of C: {error}"))?;
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let said = Command::new(&executable).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let line =
        |line: &str| line.rsplit_once('=').map(|(name, value)| (name.to_owned(), value.parse().unwrap()));
    Ok(said.lines().filter_map(line).collect())
}

/// What Open MPI has from its version 5 on, with the same binary interface as 4.
const OF_OPEN_MPI_5: [&str; 1] = ["MPI_ERR_SESSION"];

fn compare(variable: &str, folder: &str, expected: &[(String, i64)]) {
    match from_header(variable, folder, expected) {
        Err(reason) => println!("not compared: {reason}"),
        Ok(said) => {
            for (name, value) in expected {
                assert_eq!(said.get(name), Some(value), "{name}");
            }
        }
    }
}

#[test]
fn constants_are_those_of_mpich() {
    let datatypes =
        mpich::DATATYPES.iter().map(|(handle, name)| ((*name).to_owned(), i64::from(*handle as i32)));
    let expected: Vec<_> = constants::<Mpich>().into_iter().chain(datatypes).collect();
    compare("TALISMAN_MPICH_INCLUDE", "/usr/include/x86_64-linux-gnu/mpich", &expected);
}

#[test]
fn constants_are_those_of_open_mpi() {
    let mut expected = constants::<OpenMpi>();
    if std::env::var_os("TALISMAN_OPENMPI_INCLUDE").is_none() {
        expected.retain(|(name, _)| !OF_OPEN_MPI_5.contains(&name.as_str()));
    }
    compare("TALISMAN_OPENMPI_INCLUDE", "/usr/lib/x86_64-linux-gnu/openmpi/include", &expected);
}

#[test]
fn constants_are_those_of_the_standard() {
    let datatypes =
        standard::DATATYPES.iter().map(|(handle, name)| (format!("(long) {name}"), *handle as i64));
    let expected: Vec<_> = constants::<Standard>().into_iter().chain(datatypes).collect();
    compare("TALISMAN_STANDARD_INCLUDE", concat!(env!("CARGO_MANIFEST_DIR"), "/include"), &expected);
}
