//! Ranks of executables that are recorded (`--record`), and run again, those of each node in a process for itself (`talisman
//! replay`).

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::job::{
    BOTH, Interface, c_compiler, folder, mpirun, output, printed, printed_of, program, sorted, text,
};
use crate::trials::checks;

checks!(
    ranks_run_again_and_print_what_they_printed needs c_compiler,
    ranks_that_log_and_are_lost_run_again needs c_compiler,
    values_of_the_world_are_in_the_record needs c_compiler,
    ranks_that_move_run_again needs c_compiler,
    ranks_with_threads_run_again needs c_compiler,
    several_programs_run_again needs c_compiler,
    how_a_rank_ends_comes_again needs c_compiler,
    programs_that_were_built_anew_are_refused needs c_compiler,
    a_rank_that_does_something_else_is_told_of needs c_compiler,
    executables_are_checked needs c_compiler,
);

/// A folder that a job writes to.
struct Record(PathBuf);

impl Record {
    fn new() -> Record {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        Record(folder().join(format!("record-{}", NUMBER.fetch_add(1, Ordering::Relaxed))))
    }

    fn name(&self) -> &str {
        self.0.to_str().expect("a name that is text")
    }

    /// Runs the ranks of a node again, in an environment that has little of the job's.
    fn replay(&self, pe: u32) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
        command.args(["replay", self.name(), "--pe", &pe.to_string()]);
        command.env_remove("HOME").env("NOT_OF_THE_JOB", "1");
        output(&mut command)
    }

    /// Those of all nodes, to their ends; what they print together.
    #[track_caller]
    fn replay_all(&self, nodes: u32) -> String {
        let again = |pe| {
            let again = self.replay(pe);
            let said = text(&again.stderr);
            assert!(again.status.success() && said.contains(": to the end of its record"), "PE {pe}: {said}");
            assert!(nodes == 1 || !said.contains(" and 0 that it sent"), "PE {pe}: {said}");
            text(&again.stdout)
        };
        (0..nodes).map(again).collect()
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The file of a program, as a word.
fn file(source: &str, interface: Interface) -> String {
    program(source, interface).into_os_string().into_string().expect("a name that is text")
}

fn ranks_run_again_and_print_what_they_printed() {
    for (interface, nodes) in [(BOTH[0], "2"), (BOTH[1], "3"), (BOTH[0], "1")] {
        let (record, file) = (Record::new(), file("heat.c", interface));
        let words = ["-n", "6", "--nodes", nodes, "--record", record.name(), &file, "500", "100", "25"];
        let printed = printed(&mut mpirun(&words));
        let again = record.replay_all(nodes.parse().expect("a number"));
        assert_eq!(sorted(&again), sorted(&printed), "{interface:?} {nodes}");
        assert!(!again.is_empty());
    }
}

/// What a lost node's process was given: the memory of its ranks, as they were at the checkpoint, is a part of that.
fn ranks_that_log_and_are_lost_run_again() {
    for moves in [&[][..], &["--balancer", "rotate", "--lb-every", "50ms"]] {
        let (record, file) = (Record::new(), file("heat.c", Interface::Mpich));
        let words =
            ["-n", "4", "--nodes", "2", "--ft", "logging", "--ckpt-every", "200ms", "--kill", "1@500ms"];
        let task = ["--record", record.name(), &file, "2000", "2000", "250"];
        let printed = printed(&mut mpirun(&[&words[..], moves, &task].concat()));
        let again = record.replay_all(2);
        assert!(!again.is_empty() && again.lines().all(|line| printed.contains(line)), "{moves:?}: {again}");
    }
}

/// Clocks, random numbers, the process's number, the input: ranks send them on.
fn values_of_the_world_are_in_the_record() {
    let (record, file) = (Record::new(), file("world.c", Interface::Mpich));
    let input: String = (0..50).map(|number| format!("{number}\n")).collect();
    let words = ["-n", "4", "--nodes", "2", "--record", record.name(), &file, "50"];
    let printed = printed_of(&mut mpirun(&words), &input);
    assert_eq!(sorted(&record.replay_all(2)), sorted(&printed));
    assert_eq!(printed.matches("as it was").count(), 4, "{printed}");
}

fn ranks_that_move_run_again() {
    for way in [&["--move-always"][..], &["--balancer", "rotate", "--lb-every", "20ms"]] {
        let (record, file) = (Record::new(), file("heat.c", Interface::OpenMpi));
        let words = ["-n", "4", "--nodes", "2", "--record", record.name()];
        let printed = printed(&mut mpirun(&[&words[..], way, &[&file, "300", "60", "20"]].concat()));
        assert_eq!(sorted(&record.replay_all(2)), sorted(&printed), "{way:?}");
    }
}

/// They are started again, and do what they did as long as their order makes no difference.
fn ranks_with_threads_run_again() {
    let record = Record::new();
    let file = crate::job::compiled("openmp.c", Interface::Mpich, "", &["-fPIE", "-pie", "-fopenmp"]);
    let file = file.to_str().expect("a name that is text");
    let words = ["-n", "4", "--nodes", "2", "-x", "OMP_NUM_THREADS=3", "--record", record.name(), file];
    let printed = printed(&mut mpirun(&words));
    assert_eq!(sorted(&record.replay_all(2)), sorted(&printed));
    assert_eq!(printed.matches(": 3 threads").count(), 4, "{printed}");
}

fn several_programs_run_again() {
    let (record, file) = (Record::new(), file("breaks.c", Interface::Mpich));
    let first = ["-n", "2", "--nodes", "2", "--record", record.name(), &file, "nothing"];
    let printed =
        printed(&mut mpirun(&[&first[..], &[":", "-n", "2", "-x", "OF=it", &file, "nothing"]].concat()));
    assert_eq!(sorted(&record.replay_all(2)), sorted(&printed));
    assert_eq!(printed.lines().count(), 4, "{printed}");
}

/// The same status, and the same words, of the same rank.
fn how_a_rank_ends_comes_again() {
    let file = file("ends.c", Interface::Mpich);
    for (how, status, said) in [
        ("status", 5, "rank 1 ended with status 5"),
        ("fault", 139, "rank 1: segmentation fault at address 0x40"),
        ("abort", 7, "rank "),
    ] {
        let record = Record::new();
        let words = ["-n", "4", "--nodes", "2", "--record", record.name(), &file, how];
        let first = output(&mut mpirun(&words));
        let again = record.replay(0);
        for output in [&first, &again] {
            let error = text(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "{how}: {error}");
            assert!(error.contains(said), "{how}: {error}");
        }
    }
}

fn programs_that_were_built_anew_are_refused() {
    let (record, at) = (Record::new(), folder().join("built-anew"));
    let build =
        |source| fs::copy(program(source, Interface::Mpich), &at).expect("the folder is the tests' own");
    build("heat.c");
    let file = at.to_str().expect("a name that is text");
    printed(&mut mpirun(&["-n", "4", "--nodes", "2", "--record", record.name(), file, "500", "10", "5"]));
    build("breaks.c");
    for pe in [0, 1] {
        let again = record.replay(pe);
        let error = text(&again.stderr);
        assert_eq!(again.status.code(), Some(1), "PE {pe}: {error}");
        assert!(error.contains("built-anew is another build here"), "PE {pe}: {error}");
    }
}

/// How rank 1 is called.
const WHO: &str = "RankElement<talisman_mpi::rank::MpiProgram>[1], entry `";

fn a_rank_that_does_something_else_is_told_of() {
    let file = file("breaks.c", Interface::Mpich);
    for what in ["clock", "pid"] {
        let record = Record::new();
        printed(&mut mpirun(&["-n", "4", "--nodes", "2", "--record", record.name(), &file, what]));
        let again = record.replay(0);
        let error = text(&again.stderr);
        assert_eq!(again.status.code(), Some(1), "{what}: {error}");
        let is_told = error.contains("PE 0 does not do the same") && error.contains(WHO);
        assert!(is_told, "{what}: {error}");
        let other = record.replay(1);
        assert!(other.status.success(), "{what}: {}", text(&other.stderr));
    }
}

fn executables_are_checked() {
    let file = file("breaks.c", Interface::OpenMpi);
    for (what, status) in [("nothing", 0), ("pid", 1)] {
        let mut command = mpirun(&[]);
        let talisman = command.get_program().to_owned();
        command = Command::new(&talisman);
        command.args(["check", "--replay", "--"]).arg(&talisman).args(["mpirun", "-n", "4", &file, what]);
        let output = output(&mut command);
        let (said, error) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "{what}: {said}{error}");
        let is_told = said.contains("PE 0 does not do the same") && said.contains(WHO);
        assert_eq!(is_told, what == "pid", "{said}");
    }
}
