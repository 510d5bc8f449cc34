//! MPICH and Open MPI, where they are installed, and the program in C that all are measured with.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use crate::common::Row;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/mpi/figures.c");

/// Most seconds for one run of a system: ranks that poll may take for ever on cores that others want too.
const LIMIT_S: &str = "60";
const TIMED_OUT: i32 = 124;

/// A system, by the names that Debian gives its commands.
pub struct System {
    pub name: &'static str,
    pub compiler: &'static str,
    pub launcher: &'static str,
    words: &'static [&'static str],
    /// NetPIPE, built for it.
    pub netpipe: &'static str,
}

pub const MPICH: &str = "MPICH";

pub const SYSTEMS: [System; 2] = [
    System {
        name: "Open MPI",
        compiler: "mpicc.openmpi",
        launcher: "mpirun.openmpi",
        words: &["--allow-run-as-root", "--oversubscribe"],
        netpipe: "NPopenmpi",
    },
    System {
        name: MPICH,
        compiler: "mpicc.mpich",
        launcher: "mpirun.mpich",
        words: &[],
        netpipe: "NPmpich2",
    },
];

/// What the program in C is asked for.
pub struct Asked {
    pub task: &'static str,
    pub ranks: u32,
}

/// Messages between two ranks.
pub const PAIR: Asked = Asked { task: "pair", ranks: 2 };
/// Sums over many.
pub const MANY: Asked = Asked { task: "allreduce", ranks: 64 };

/// What a line is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    PingPong,
    AllReduce,
}

/// What a system took, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Peer {
    pub system: &'static str,
    pub kind: Kind,
    pub bytes: usize,
    pub ns: f64,
}

/// What the systems take; why one does not is said.
pub fn measured(asked: &Asked) -> Vec<Peer> {
    SYSTEMS.iter().flat_map(|system| of_system(system, asked)).collect()
}

/// Adds to a row what the systems took for the same.
pub fn beside(row: Row, peers: &[Peer], kind: Kind, bytes: usize) -> Row {
    let same = peers.iter().filter(|peer| peer.kind == kind && peer.bytes == bytes);
    same.fold(row, |row, peer| row.beside(peer.system, peer.ns))
}

/// What one of them took.
pub fn of(peers: &[Peer], system: &str, kind: Kind, bytes: usize) -> Option<f64> {
    let same = |peer: &&Peer| peer.system == system && peer.kind == kind && peer.bytes == bytes;
    peers.iter().find(same).map(|peer| peer.ns)
}

fn of_system(system: &System, asked: &Asked) -> Vec<Peer> {
    let told = compiled(system).and_then(|program| {
        let ranks = asked.ranks.to_string();
        let mut words = launch(system);
        words.extend(["-n".into(), ranks, program.display().to_string(), asked.task.into()]);
        run(&words)
    });
    match told {
        Ok(printed) => printed.lines().filter_map(|line| peer(system.name, line)).collect(),
        Err(why) => {
            println!("{} skipped: {why}", system.name);
            Vec::new()
        }
    }
}

/// The command that starts programs of a system.
pub fn launch(system: &System) -> Vec<String> {
    std::iter::once(system.launcher).chain(system.words.iter().copied()).map(String::from).collect()
}

/// The program in C, compiled for a system once in a run.
pub fn compiled(system: &System) -> Result<PathBuf, String> {
    static COMPILED: Mutex<Vec<(&str, Result<PathBuf, String>)>> = Mutex::new(Vec::new());
    let mut all = COMPILED.lock().expect("no one panics with it");
    if let Some((_, program)) = all.iter().find(|(name, _)| *name == system.name) {
        return program.clone();
    }
    let program = compile(system);
    all.push((system.name, program.clone()));
    program
}

fn compile(system: &System) -> Result<PathBuf, String> {
    let program = folder().join(system.compiler);
    let mut command = Command::new(system.compiler);
    let done = command.args(["-O2", "-fPIE", "-pie", "-o"]).arg(&program).arg(SOURCE).output();
    match done {
        Ok(done) if done.status.success() => Ok(program),
        Ok(done) => Err(String::from_utf8_lossy(&done.stderr).trim().into()),
        Err(_) => Err(format!("there is no {}", system.compiler)),
    }
}

/// A folder of this run, which the system's temporary folder is cleared with.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("talisman-bench-mpi-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        folder
    })
}

/// What a command prints, on both streams.
pub fn run(words: &[String]) -> Result<String, String> {
    run_in(Path::new("."), words)
}

/// The same in a folder.
pub fn run_in(folder: &Path, words: &[String]) -> Result<String, String> {
    let done = Command::new("timeout").arg(LIMIT_S).args(words).current_dir(folder).output();
    let done = done.map_err(|error| error.to_string())?;
    let printed = [&done.stdout, &done.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat();
    match done.status.code() {
        Some(0) => Ok(printed),
        Some(TIMED_OUT) => Err(format!("`{}` takes more than {LIMIT_S} s", words.join(" "))),
        _ => Err(format!("`{}`: {}", words.join(" "), printed.trim())),
    }
}

/// A line `kind bytes nanoseconds`.
pub fn peer(system: &'static str, line: &str) -> Option<Peer> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [kind, bytes, ns] = words[..] else { return None };
    let kind = match kind {
        "ping_pong" => Kind::PingPong,
        "allreduce" => Kind::AllReduce,
        _ => return None,
    };
    Some(Peer { system, kind, bytes: bytes.parse().ok()?, ns: ns.parse().ok()? })
}
