//! Open MPI and MPICH on this machine, where they are installed: a small program in C, compiled when it is needed.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::common::Row;
use crate::job::{TRANSPORTS, Transport};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/between_nodes/mpi.c");

/// Most seconds for the program on one transport; and what `timeout` ends with when they are over.
const LIMIT_S: &str = "20";
const TIMED_OUT: i32 = 124;

/// How a system compiles and starts programs. Two of them are told apart by names that Debian gives their commands.
struct System {
    name: &'static str,
    compiler: &'static str,
    launcher: &'static str,
    /// For all runs, and for those over each transport.
    words: &'static [&'static str],
    tcp: &'static [&'static str],
    shm: &'static [&'static str],
    /// What its library wants to be told through the environment, over TCP.
    tcp_environment: &'static [(&'static str, &'static str)],
}

const SYSTEMS: [System; 2] = [
    System {
        name: "Open MPI",
        compiler: "mpicc.openmpi",
        launcher: "mpirun.openmpi",
        words: &["--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "0"],
        tcp: &["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"],
        shm: &["--mca", "pml", "ob1", "--mca", "btl", "vader,self"],
        tcp_environment: &[],
    },
    System {
        name: "MPICH",
        compiler: "mpicc.mpich",
        launcher: "mpirun.mpich",
        words: &[],
        tcp: &[],
        shm: &[],
        tcp_environment: &[("MPIR_CVAR_NOLOCAL", "1"), ("UCX_TLS", "tcp,self"), ("FI_PROVIDER", "tcp")],
    },
];

/// What a system took, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Measured {
    system: &'static str,
    transport: Transport,
    kind: String,
    bytes: usize,
    ns: f64,
}

/// What the systems took over one transport. All is measured once, at the first call.
pub fn measured(transport: Transport) -> Vec<Measured> {
    static ALL: OnceLock<Vec<Measured>> = OnceLock::new();
    let all = ALL.get_or_init(|| SYSTEMS.iter().flat_map(of_system).collect());
    all.iter().filter(|one| one.transport == transport).cloned().collect()
}

/// Adds to a row what the systems took for the same.
pub fn beside(row: Row, others: &[Measured], kind: &str, bytes: usize) -> Row {
    let same = others.iter().filter(|one| one.kind == kind && one.bytes == bytes);
    let in_unit = |ns: f64| if kind == "rate" { ns } else { ns / 1000.0 };
    same.fold(row, |row, one| row.beside(one.system, in_unit(one.ns)))
}

fn of_system(system: &System) -> Vec<Measured> {
    let program = std::env::temp_dir().join(format!("talisman-{}-{}", system.compiler, std::process::id()));
    let compiled = Command::new(system.compiler).args(["-O2", "-o"]).arg(&program).arg(SOURCE).output();
    let measured = match compiled {
        Ok(done) if done.status.success() => {
            TRANSPORTS.into_iter().flat_map(|transport| of_transport(system, &program, transport)).collect()
        }
        Ok(done) => {
            println!("{} skipped: {}", system.name, String::from_utf8_lossy(&done.stderr).trim());
            Vec::new()
        }
        Err(_) => {
            println!("{} skipped: there is no {}", system.name, system.compiler);
            Vec::new()
        }
    };
    // It is not there if it was not compiled.
    let _ = std::fs::remove_file(&program);
    measured
}

fn of_transport(system: &System, program: &Path, transport: Transport) -> Vec<Measured> {
    match run(system, program, transport) {
        Ok(printed) => printed.lines().filter_map(|line| read(system, transport, line)).collect(),
        Err(why) => {
            println!("{}, {transport}, skipped: {why}", system.name);
            Vec::new()
        }
    }
}

fn run(system: &System, program: &Path, transport: Transport) -> Result<String, String> {
    let (words, environment) = match transport {
        Transport::Tcp => (system.tcp, system.tcp_environment),
        Transport::Shm => (system.shm, &[][..]),
    };
    // On cores that others want too, ranks that poll may take for ever.
    let mut command = Command::new("timeout");
    command
        .args([LIMIT_S, system.launcher])
        .args(system.words)
        .args(words)
        .args(["-n", "2"])
        .arg(program)
        .envs(environment.iter().copied());
    let done = command.output().map_err(|error| format!("{}: {error}", system.launcher))?;
    match done.status.code() {
        Some(0) => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
        Some(TIMED_OUT) => Err(format!("it takes more than {LIMIT_S} s")),
        _ => Err(String::from_utf8_lossy(&done.stderr).trim().into()),
    }
}

/// A line `kind bytes nanoseconds`.
fn read(system: &System, transport: Transport, line: &str) -> Option<Measured> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [kind, bytes, ns] = words[..] else { return None };
    let (bytes, ns) = (bytes.parse().ok()?, ns.parse().ok()?);
    Some(Measured { system: system.name, transport, kind: kind.into(), bytes, ns })
}
