//! What the system does not give.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, prlimit, setrlimit};

use super::checks;
use crate::job::{Job, Scratch, Shape, example, program, run};
use crate::system::rights;

checks!(
    of_dev_shm needs rights,
    of_descriptors,
    of_memory,
    of_memory_at_the_start,
    of_ports needs rights,
);

const SHAPE: Shape = (4, 1, "shm");

/// Shared memory is no file of anybody: it does not matter what `/dev/shm` is.
fn of_dev_shm() {
    let tiny = "mount -t tmpfs -o size=4k none /dev/shm";
    let read_only = "mount -t tmpfs -o ro none /dev/shm";
    let none = "mount -t tmpfs none /dev && mknod /dev/null c 1 3 && mknod /dev/urandom c 1 9";
    for mount in [tiny, read_only, none] {
        let program = program("traffic --messages 200", SHAPE);
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", &format!("{mount} && exec \"$@\""), "sh"]);
        command.arg(program.get_program()).args(program.get_args());
        run(command).expect(0, &[]).quietly().prints("800 sent, 800 received");
    }
}

/// With fewer descriptors than it needs, a job either runs or says what it lacks; it never hangs.
fn of_descriptors() {
    for transport in ["tcp", "shm"] {
        for limit in [6, 8, 12, 13, 14, 16, 20, 24, 30, 45] {
            let mut command = example("hello", "", (8, 2, transport));
            limited(&mut command, Resource::Nofile, limit);
            let ended = run(command).at_once();
            let text = ended.stderr.join("\n");
            let clear = text.contains("error: ")
                && text.contains("Too many open files")
                && text.contains("ulimit -n");
            let well = ended.status.success() && ended.stdout.len() == 16;
            assert!(well || (ended.status.code() == Some(3) && clear), "limit {limit}: {}", ended.said());
            assert!(!text.contains("panicked"), "{}", ended.said());
        }
    }
}

/// A node that gets no more memory ends the job, which says which one.
fn of_memory() {
    for transport in ["tcp", "shm"] {
        let wake = Scratch::new("wake");
        let words = format!("flood --sender 0 --messages 6 --bytes 104857600 --wake {}", wake.name());
        let job = Job::start(program(&words, (2, 1, transport)));
        job.wait_for("asleep");
        let node = job.nodes(2)[1];
        // Less than it has: it gets no more.
        let limit = Rlimit { current: Some(1 << 20), maximum: Some(1 << 20) };
        prlimit(Pid::from_raw(node), Resource::As, limit).expect("it is our own");
        wake.touch();
        let ended = job.end().at_once();
        let text = ended.stderr.join("\n");
        assert!(matches!(ended.status.code(), Some(1 | 3)), "{}", ended.said());
        let (error, named) = (text.contains("error: "), text.contains("node 1"));
        assert!(error && named && text.contains("memory"), "{}", ended.said());
    }
}

/// Too little for a launcher, a node, or its threads: it ends, and whoever could say something did.
fn of_memory_at_the_start() {
    for transport in ["tcp", "shm"] {
        // With less than 5 MiB beside the program itself the loader lacks memory for libraries, or the system for the first stack,
        // before the program can do anything about it. Which thread lacks some differs with each quarter of a MiB.
        for quarters in (28..48).chain([52, 80]) {
            let mut command = example("hello", "", (4, 4, transport));
            let limit = (loaded(Path::new(command.get_program())).div_ceil(1 << 18) + quarters) << 18;
            limited(&mut command, Resource::As, limit);
            let ended = run(command).at_once();
            let well = ended.status.success() && ended.stdout.len() == 16;
            assert!(well || !ended.stderr.is_empty(), "with {limit} bytes: {}", ended.said());
        }
    }
}

/// The memory that a program takes when it is loaded, as its file says (ELF, 64 bits, program headers of the kind `PT_LOAD`).
fn loaded(program: &Path) -> u64 {
    let file = std::fs::read(program).expect("it has been built");
    let number = |at: usize, len: usize| {
        let bytes = file[at..at + len].iter().rev();
        bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    let (first, size, count) = (number(32, 8) as usize, number(54, 2) as usize, number(56, 2) as usize);
    let headers = (0..count).map(|header| first + header * size);
    headers.filter(|at| number(*at, 4) == 1).map(|at| number(at + 40, 8)).sum()
}

fn of_ports() {
    let program = program("traffic --messages 200", (4, 1, "tcp"));
    let mut command = Command::new("unshare");
    command.arg("--net").arg(program.get_program()).args(program.get_args());
    run(command).expect(3, &["error: node ", "Network is unreachable"]).at_once();
    // Shared memory needs no network.
    let program = crate::job::program("traffic --messages 200", SHAPE);
    let mut command = Command::new("unshare");
    command.arg("--net").arg(program.get_program()).args(program.get_args());
    run(command).expect(0, &[]).quietly();
}

fn limited(command: &mut Command, what: Resource, most: u64) {
    // SAFETY: only a system call is made between fork and exec.
    unsafe {
        command.pre_exec(move || Ok(setrlimit(what, Rlimit { current: Some(most), maximum: Some(most) })?));
    }
}
