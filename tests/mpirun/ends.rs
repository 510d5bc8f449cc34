//! How jobs end, and what is said of a rank that fails.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::job::{Interface, c_compiler, mpirun, output, program, text};
use crate::trials::checks;

checks!(
    the_status_of_the_first_rank_that_fails needs c_compiler,
    a_program_that_says_why_it_ends_ends_its_rank needs c_compiler,
    a_stack_that_is_too_small_is_named needs c_compiler,
    a_fault_names_rank_address_and_function needs c_compiler,
    a_fault_for_what_a_call_is_given_names_the_rank needs c_compiler,
    a_fault_in_a_thread_names_the_rank_that_has_started_it needs c_compiler,
    a_thread_ends_its_rank needs c_compiler,
    all_say_what_they_can_before_the_job_fails needs c_compiler,
    a_rank_that_computes_for_ever_does_not_keep_a_job_that_has_failed needs c_compiler,
    a_thread_may_end_the_job needs c_compiler,
    a_failed_assertion_says_where needs c_compiler,
    a_signal_ends_a_rank_that_computes_for_ever needs c_compiler,
);

fn end(how: &str) -> Output {
    end_on("1", how)
}

fn end_on(nodes: &str, how: &str) -> Output {
    let file = program("ends.c", Interface::Mpich);
    output(&mut mpirun(&["-n", "3", "--nodes", nodes, file.to_str().expect("a name that is text"), how]))
}

fn the_status_of_the_first_rank_that_fails() {
    for (how, status, said) in [
        ("status", 5, "rank 1 ended with status 5"),
        ("abort", 7, "rank "),
        ("abort-below-0", 255, "MPI_Abort was called with -1"),
        ("abort-256", 1, "MPI_Abort was called with 256"),
        ("aborts", 134, " aborted"),
        ("early", 1, "rank 1 ended before it called MPI_Finalize"),
        ("returns", 9, " ended with status 9"),
    ] {
        let output = end(how);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{how}: {error}");
        assert!(error.contains(said), "{how}: {error}");
    }
    let well = end("well");
    assert_eq!((well.status.code(), text(&well.stderr)), (Some(0), String::new()));
    assert_eq!(text(&well.stdout), "last words\n".repeat(3));
}

/// Of a rank whose program has its name in front of what it says last.
fn a_program_that_says_why_it_ends_ends_its_rank() {
    let file = program("ends.c", Interface::Mpich);
    let (long, short) =
        (file.to_str().expect("text"), file.file_name().and_then(|name| name.to_str()).expect("text"));
    let first =
        [format!("{short}: warned 1 2.5 of 3 4 5 6 7.25\n"), format!("{long}: went on 1 2.5 3 4 5 6 7\n")];
    for (how, said) in [
        ("says-err", format!("{short}: 1 0.5 1 2 3 4 no file: No such file or directory\n")),
        ("says-errx", format!("{short}: 0.5 1 nothing more\n")),
        ("says-verrx", format!("{short}: 0.5 1 nothing more\n")),
        ("says-error", format!("{long}: 1 0.5 1 2 3 4 no file: No such file or directory\n")),
        ("says-where", format!("{long}:file:7: 1 0.5 1 2\n")),
    ] {
        for nodes in ["1", "3"] {
            let output = end_on(nodes, how);
            let error = text(&output.stderr);
            assert_eq!(output.status.code(), Some(5), "{how} {nodes}: {error}");
            for line in first.iter().chain([&said]) {
                assert!(error.contains(line.as_str()), "{how} {nodes}: {error}, not {line}");
            }
            assert!(error.contains("rank 1 ended with status 5"), "{how} {nodes}: {error}");
        }
    }
}

/// By so much that it is no fault at the end itself.
fn a_stack_that_is_too_small_is_named() {
    let error = text(&end("large").stderr);
    assert!(
        error.contains("rank 1: segmentation fault") && error.contains("in function has_many_variables"),
        "{error}"
    );
    assert!(error.contains("stack of 8388608 bytes; --rank-stack gives it more"), "{error}");
    let file = program("ends.c", Interface::Mpich);
    let file = file.to_str().expect("a name that is text");
    let well = output(&mut mpirun(&["-n", "2", "--rank-stack", "32MiB", file, "large"]));
    assert!(well.status.success() && text(&well.stdout).contains("0.000000"), "{well:?}");
    // As much as other programs have here.
    let job = mpirun(&["-n", "2", file, "large"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -s 32768 && exec \"$0\" \"$@\""]).arg(job.get_program()).args(job.get_args());
    let well = output(&mut limited);
    assert!(well.status.success() && text(&well.stdout).contains("0.000000"), "{well:?}");
}

fn a_fault_names_rank_address_and_function() {
    let output = end("fault");
    let error = text(&output.stderr);
    assert!(!output.status.success());
    assert!(error.contains("rank 1: segmentation fault at address 0x40"), "{error}");
    assert!(error.contains("in function fault_here"), "{error}");
}

/// The runtime was interrupted: the process ends.
fn a_fault_for_what_a_call_is_given_names_the_rank() {
    for nodes in ["1", "2"] {
        for how in ["given", "given-much"] {
            let output = end_on(nodes, how);
            let error = text(&output.stderr);
            assert!(!output.status.success(), "{error}");
            let said = "rank 1: segmentation fault at address 0x40 in a call of MPI";
            assert!(error.contains(said), "{how} {nodes}: {error}");
        }
    }
}

fn a_fault_in_a_thread_names_the_rank_that_has_started_it() {
    let own = end("thread-fault");
    let error = text(&own.stderr);
    assert_eq!(own.status.code(), Some(139), "{error}");
    let said =
        "rank 1: segmentation fault at address 0x40 in function fault_here, in a thread that it has started";
    assert!(error.contains(said), "{error}");
    // What the C library has locked nobody knows: the process ends.
    let library = end("thread-fault-in-library");
    let error = text(&library.stderr);
    assert_eq!(library.status.signal(), Some(Signal::SEGV.as_raw()), "{error}");
    let said = "rank 1: segmentation fault at address 0x40 in a thread that it has started\n";
    assert!(error.contains(said), "{error}");
}

/// Each with its own exit handlers, whether the first thread waits for it or computes.
fn a_thread_ends_its_rank() {
    for nodes in ["1", "2"] {
        for (how, status, said, words) in [
            ("threads-end-well", 0, "", 3),
            ("thread-exit5", 5, "rank 1 ended with status 5", 1),
            ("thread-exit0", 1, "rank 1 ended before it called MPI_Finalize", 1),
            ("thread-aborts", 134, "rank 1 aborted", 0),
        ] {
            let output = end_on(nodes, how);
            let error = text(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "{how} on {nodes}: {error}");
            assert!(error.contains(said) && error.is_empty() == said.is_empty(), "{how} on {nodes}: {error}");
            let stdout = text(&output.stdout);
            assert_eq!(stdout.matches("last words\n").count(), words, "{how} on {nodes}: {stdout}");
        }
    }
}

/// Rank 0 tells how the program is used, and all end with a status: not before it has told.
fn all_say_what_they_can_before_the_job_fails() {
    for _ in 0..5 {
        let output = end("usage");
        let (said, error) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(3), "{error}");
        assert!(said.contains("usage: give another word\n"), "{said}");
        assert_eq!(said.matches("last words\n").count(), 3, "{said}");
        assert!(error.contains(" ended with status 3") && error.lines().count() == 1, "{error}");
    }
}

fn a_rank_that_computes_for_ever_does_not_keep_a_job_that_has_failed() {
    let output = end("status-forever");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{error}");
    assert!(error.contains("rank 1 ended with status 5"), "{error}");
}

/// Also one whose rank does not hear of it, as it is in a function of the system.
fn a_thread_may_end_the_job() {
    let file = program("ends.c", Interface::Mpich);
    let file = file.to_str().expect("a name that is text");
    for (nodes, how) in [("1", "thread"), ("2", "thread"), ("1", "deaf")] {
        let output = output(&mut mpirun(&["-n", "3", "--nodes", nodes, file, how]));
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(9), "{how} {nodes}: {error}");
        let said = "MPI_Abort was called with 9; a thread that the rank has started called it";
        assert!(error.contains(said) && !error.contains("panicked"), "{how} {nodes}: {error}");
    }
}

fn a_failed_assertion_says_where() {
    let output = end("assert");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(134), "{error}");
    assert!(error.contains("ends.c:") && error.contains("assertion `rank == 100` failed"), "{error}");
}

/// In one process and in several: by the signal's status.
fn a_signal_ends_a_rank_that_computes_for_ever() {
    let file = program("ends.c", Interface::Mpich);
    let file = file.to_str().expect("a name that is text");
    for nodes in ["1", "2"] {
        let mut command = mpirun(&["-n", "2", "--nodes", nodes, file, "forever"]);
        let mut job =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("`talisman` was built");
        let mut said = BufReader::new(job.stderr.take().expect("a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it says so");
        let pid = Pid::from_raw(job.id() as i32).expect("no process has number 0");
        kill_process(pid, Signal::TERM).expect("it runs");
        let status = job.wait().expect("it ends");
        // Whatever it said, it does not run any more.
        assert_eq!((line.as_str(), status.code()), ("for ever\n", Some(143)), "{nodes} nodes");
    }
}
