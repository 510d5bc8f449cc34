//! How programs end by themselves while messages are on their way.

use std::process::Command;

use rustix::process::Signal;

use super::checks;
use crate::job::{Job, program, run};
use crate::system::signal;

checks!(
    in_order,
    with_a_status_from_the_last_node,
    by_a_panic_on_another_node,
    by_an_interrupt,
    by_interrupts_while_an_entry_does_not_return,
    by_an_interrupt_in_simulation,
    without_room_for_its_output
);

const TRANSPORTS: [&str; 4] = ["tcp", "shm", "unix", "mixed"];

fn in_order() {
    for transport in TRANSPORTS {
        let ended = run(program("traffic --messages 200", (4, 2, transport))).expect(0, &[]).quietly();
        ended.prints("1600 sent, 1600 received");
    }
}

fn with_a_status_from_the_last_node() {
    for transport in TRANSPORTS {
        let ended = run(program("traffic --exit-after 100", (4, 1, transport)));
        ended.expect(7, &[]).quietly().at_once();
    }
}

fn by_a_panic_on_another_node() {
    for transport in TRANSPORTS {
        let ended = run(program("traffic --panic-after 100", (4, 2, transport)));
        ended.expect(1, &["error: ", "Talker", "this one was asked to panic", "node 2"]).at_once();
    }
}

/// To the launcher alone, or to all processes, as Ctrl-C in a terminal goes.
fn by_an_interrupt() {
    for transport in TRANSPORTS {
        let job = Job::start(program("traffic", (4, 1, transport)));
        job.wait_for("under way");
        signal(job.launcher_pid(), Signal::TERM);
        job.end().expect(143, &[]).at_once();
        let job = Job::start(program("traffic", (4, 1, transport)));
        job.wait_for("under way");
        job.processes().into_iter().for_each(|pid| signal(pid, Signal::INT));
        job.end().expect(130, &[]).at_once();
    }
}

/// Who asks is told what is waited for, and that is not waited for long.
fn by_interrupts_while_an_entry_does_not_return() {
    for transport in TRANSPORTS {
        let job = Job::start(program("spin", (2, 2, transport)));
        job.wait_for("under way");
        signal(job.launcher_pid(), Signal::INT);
        job.end()
            .expect(130, &["waits for entries to return: PE 3: ", "Spinner[3], entry `spin`, since"])
            .at_once();
    }
    let job = Job::start(program("spin", (1, 2, "shm")));
    job.wait_for("under way");
    signal(job.launcher_pid(), Signal::INT);
    let line = job.wait_for_error("waits for entries to return");
    assert!(line.contains("PE 1: ") && line.contains("Spinner[1], entry `spin`, since"), "{line}");
    assert!(!line.contains("PE 0"), "it has stopped: {line}");
    job.end().expect(130, &["entries have not returned: the process ends"]).at_once();
}

/// As on threads: in order, with the same statuses, and told what is waited for.
fn by_an_interrupt_in_simulation() {
    let simulated = |words: &str| program(&format!("--simulate {words}"), (4, 1, "mixed"));
    for words in ["traffic", "--ft double --ckpt-every 1ms traffic"] {
        for (asked, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
            let job = Job::start(simulated(words));
            job.wait_for("under way");
            signal(job.launcher_pid(), asked);
            let ended = job.end().expect(status, &[]).at_once();
            let is_known = |line: &String| line.contains("trace of ") || line.contains("has no effect");
            assert!(ended.stderr.iter().all(is_known), "{}", ended.said());
        }
    }
    let job = Job::start(simulated("spin"));
    job.wait_for("under way");
    signal(job.launcher_pid(), Signal::INT);
    let line = job.wait_for_error("waits for entries to return");
    assert!(line.contains("PE 3: ") && line.contains("Spinner[3], entry `spin`, since"), "{line}");
    job.end().expect(130, &[]).at_once();
}

fn without_room_for_its_output() {
    let program = program("lines --lines 100", (3, 1, "mixed"));
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$@\" >/dev/full", "sh"]).arg(program.get_program()).args(program.get_args());
    run(shell).expect(1, &["error: cannot write the program's output: No space left on device"]).at_once();
}
