//! What the system does not give.

use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::checks;
use crate::job::{Shape, example, program, run};
use crate::system::has_rights;

checks!(of_dev_shm, of_descriptors, of_memory, of_processes, of_ports);

const SHAPE: Shape = (4, 1, "shm");

/// Shared memory is no file of anybody: it does not matter what `/dev/shm` is.
fn of_dev_shm() {
    if !has_rights("taking /dev/shm away") {
        return;
    }
    let tiny = "mount -t tmpfs -o size=4k none /dev/shm";
    let read_only = "mount -t tmpfs -o ro none /dev/shm";
    let none = "mount -t tmpfs none /dev && mknod /dev/null c 1 3 && mknod /dev/urandom c 1 9";
    for mount in [tiny, read_only, none] {
        let program = program("traffic --messages 200", SHAPE);
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", &format!("{mount} && exec \"$@\""), "sh"]);
        command.arg(program.get_program()).args(program.get_args());
        let ended = run(command).expect(0, &[]).quietly();
        assert_eq!(ended.stdout.last().map(String::as_str), Some("800 sent, 800 received"), "{mount}");
    }
}

/// With fewer descriptors than it needs, a job either runs or says what it lacks; it never hangs.
fn of_descriptors() {
    for transport in ["tcp", "shm"] {
        for limit in [12, 20, 30, 45] {
            let mut command = example("hello", "", (8, 2, transport));
            limited(&mut command, Resource::Nofile, limit);
            let ended = run(command).at_once();
            let text = ended.stderr.join("\n");
            let clear = text.contains("error: ") && text.contains("Too many open files");
            let well = ended.status.success() && ended.stdout.len() == 16;
            assert!(well || (ended.status.code() == Some(3) && clear), "limit {limit}: {}", ended.said());
            assert!(!text.contains("panicked"), "{}", ended.said());
        }
    }
}

/// A node that gets no more memory ends the job, which says which one.
fn of_memory() {
    for transport in ["tcp", "shm"] {
        let words = "flood --sender 0 --messages 40 --bytes 104857600";
        let mut command = program(words, (2, 1, transport));
        limited(&mut command, Resource::As, 900 << 20);
        let ended = run(command).at_once();
        let code = ended.status.code();
        // 4 GB in all, but hardly ever at once: it may even work.
        if code == Some(0) {
            continue;
        }
        let text = ended.stderr.join("\n");
        assert!(matches!(code, Some(1 | 3)), "{}", ended.said());
        assert!(text.contains("error: ") && text.contains("node "), "{}", ended.said());
    }
}

/// A node that cannot have its threads, or a launcher that cannot have its nodes, says so.
fn of_processes() {
    for transport in ["tcp", "shm"] {
        let mut command = example("hello", "", (4, 4, transport));
        // So little that the libraries can be loaded, but no stack for so many threads.
        limited(&mut command, Resource::As, 40 << 20);
        let ended = run(command).at_once();
        let text = ended.stderr.join("\n");
        assert!(!ended.status.success(), "{}", ended.said());
        assert!(text.contains("error: ") || text.contains("memory allocation"), "{}", ended.said());
    }
}

fn of_ports() {
    if !has_rights("a network without a loopback interface") {
        return;
    }
    let program = program("traffic --messages 200", (4, 1, "tcp"));
    let mut command = Command::new("unshare");
    command.arg("--net").arg(program.get_program()).args(program.get_args());
    run(command).at_once().expect(3, &["error: ", "node "]);
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
