//! Programs of these tests, compiled, and jobs of them.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The two binary interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    Mpich,
    OpenMpi,
}

pub const BOTH: [Interface; 2] = [Interface::Mpich, Interface::OpenMpi];

impl Interface {
    fn folder(self) -> &'static str {
        if self == Interface::Mpich { "mpich" } else { "openmpi" }
    }

    fn soname(self) -> &'static str {
        if self == Interface::Mpich { "libmpich.so.12" } else { "libmpi.so.40" }
    }
}

pub fn c_compiler() -> Option<String> {
    missing("gcc")
}

pub fn cxx_compiler() -> Option<String> {
    missing("g++")
}

/// What is said of a program that is not installed.
pub fn missing(program: &str) -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    (!is_there).then(|| format!("{program} is not installed"))
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpirun")
}

/// A folder of this run.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mpirun-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the folder of this run");
        folder
    })
}

fn run_compiler(command: &mut Command) {
    let output = command.output().expect("the compiler was found");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The library that programs of an interface are linked to.
fn library(interface: Interface) -> PathBuf {
    let file = folder().join(interface.soname());
    if !file.exists() {
        let mut command = Command::new("gcc");
        command.args(["-shared", "-fPIC", "-o"]).arg(&file).arg(sources().join("stub.c"));
        command.arg(format!("-Wl,-soname,{}", interface.soname()));
        command.args(["-I"]).arg(sources()).arg("-I").arg(sources().join(interface.folder()));
        command.args((interface == Interface::OpenMpi).then_some("-DOPENMPI"));
        run_compiler(&mut command);
    }
    file
}

/// A library for ranks, of the parts of a program's source that are built with `-DLIBRARY`. Compiled once in a run.
pub fn library_of(source: &str, interface: Interface) -> PathBuf {
    let file = folder().join(format!("{source}.{}.so", interface.folder()));
    if !file.exists() {
        let mut command = Command::new("gcc");
        command.args(["-O1", "-g", "-shared", "-fPIC", "-DLIBRARY", "-o"]).arg(&file);
        command.arg(sources().join("programs").join(source)).arg("-I").arg(sources());
        command.arg("-I").arg(sources().join(interface.folder())).arg(library(interface));
        run_compiler(&mut command);
    }
    file
}

/// What is loaded into ranks under MPICH, so that they give way to each other. Compiled once in a run.
pub fn yielding() -> &'static Path {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        let file = folder().join("yielding.so");
        let mut command = Command::new("gcc");
        run_compiler(
            command.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&file).arg(sources().join("yielding.c")),
        );
        file
    })
}

/// A program of `programs/`, compiled once in a run.
pub fn program(source: &str, interface: Interface) -> PathBuf {
    compiled(source, interface, "", &["-fPIE", "-pie"])
}

/// The same with other options, under a name that ends so.
pub fn compiled(source: &str, interface: Interface, name: &str, options: &[&str]) -> PathBuf {
    static COMPILING: Mutex<()> = Mutex::new(());
    // One that failed is to be reported by each test.
    let _alone = COMPILING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let file = folder().join(format!("{source}.{}{name}", interface.folder()));
    if !file.exists() {
        let mut command = Command::new(if source.ends_with(".cc") { "g++" } else { "gcc" });
        command
            .args(["-O1", "-g", "-rdynamic", "-Wall", "-fstack-protector-all"])
            .args(options)
            .arg("-o")
            .arg(&file);
        command.arg(sources().join("programs").join(source)).arg("-I").arg(sources());
        command.arg("-I").arg(sources().join(interface.folder())).arg(library(interface)).arg("-lm");
        run_compiler(&mut command);
    }
    file
}

/// `talisman mpirun` with these words.
pub fn mpirun(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
    command.arg("mpirun").args(words);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"TALISMAN_") {
            command.env_remove(name);
        }
    }
    // A job gets advice if it takes long, as it may on a crowded machine.
    command.env("TALISMAN_NO_ADVICE", "1").stdin(Stdio::null());
    command
}

/// A program with its words under Open MPI, which is [`missing`] under the name `mpirun.openmpi` otherwise.
pub fn under_open_mpi(ranks: &str, words: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.arg(sources().join("open_mpi.sh")).arg(ranks).args(words);
    command.stdin(Stdio::null()).env("OMP_NUM_THREADS", "1");
    command
}

/// `talisman mpirun` by another name.
pub fn called(name: &str, words: &[&str]) -> Command {
    let mut command = mpirun(&[]);
    let program = command.get_program().to_owned();
    command = Command::new(program);
    command.arg0(name).args(words).stdin(Stdio::null());
    command
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn output(command: &mut Command) -> Output {
    command.output().expect("`talisman` was built")
}

/// What is printed by a job that must end well.
pub fn printed(command: &mut Command) -> String {
    let output = output(command);
    let (said, printed) = (text(&output.stderr), text(&output.stdout));
    assert!(output.status.success(), "{command:?} ended with {}: {printed}{said}", output.status);
    printed
}

/// Lines in an order that does not depend on when each was written.
pub fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// The same with input.
pub fn printed_of(command: &mut Command, input: &str) -> String {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("`talisman` was built");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("the job reads it");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// A rank has come to where it is seen by then.
const PATIENCE: Duration = Duration::from_secs(60);

/// A job that ends with this. Whoever asks it in order waits for the rank that computes.
pub struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let own = self.0.id();
        let nodes = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
        for node in nodes.split_whitespace().filter_map(|node| node.parse().ok().and_then(Pid::from_raw)) {
            let _gone = kill_process(node, Signal::KILL);
        }
        let _gone = self.0.kill();
        let _ended = self.0.wait();
    }
}

pub fn begun(command: &mut Command) -> Running {
    Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("`talisman` was built"))
}

pub fn asked(job: u32, options: &[&str]) -> Output {
    let job = job.to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
    output(command.args(["ranks", &job]).args(options))
}

/// What is said of the job, once it is this.
pub fn said(job: &Running, options: &[&str], is_it: impl Fn(&str) -> bool) -> String {
    let begun = Instant::now();
    loop {
        let answer = asked(job.0.id(), options);
        let said = text(&answer.stdout);
        if answer.status.success() && is_it(&said) {
            return said;
        }
        assert!(begun.elapsed() < PATIENCE, "{said}{}", text(&answer.stderr));
        std::thread::sleep(Duration::from_millis(50));
    }
}
