//! Nodes and launchers that are stopped, and go on in time, or are killed.

use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::held::begin;
use crate::job::until;
use crate::subjects::LONG;
use crate::system::{signal, state};

/// Its loss is not known before it has said nothing for as long as that is borne. Then it is gone: nothing can wake it.
pub fn a_node_that_is_stopped_is_fenced() {
    for (victim, transport) in [(0, "shm"), (2, "tcp"), (3, "mixed")] {
        let shape = (4, 1, transport);
        let expected = LONG.undisturbed(shape);
        let held = begin(LONG, shape, "--ckpt-every 4steps --silence 3s");
        let nodes = held.run.job.nodes(4);
        let process = Pid::from_raw(nodes[victim]).expect("it is the id of a process");
        let process = pidfd_open(process, PidfdFlags::empty()).expect("it is there");
        held.run.job.wait_for("at 12");
        // Silence counts from its last word on, which would else be one from before the program began.
        sleep(Duration::from_secs(1));
        signal(nodes[victim], Signal::STOP);
        held.run.job.wait_for_error("said nothing for 3s");
        held.run.job.wait_for_error("3 nodes went back to checkpoint");
        assert!(matches!(state(nodes[victim]), None | Some('Z')), "{}", held.run.job.said());
        let is_gone = || (pidfd_send_signal(&process, Signal::CONT) == Err(Errno::SRCH)).then_some(());
        until(is_gone).unwrap_or_else(|| panic!("it can be woken: {}", held.run.job.said()));
        let left = held.survives(&expected);
        assert_eq!(left.losses, [(victim as u64, false)], "{}", left.ended.said());
        let failure = &left.failures[0];
        assert_eq!(failure["detected"], "silence", "{failure}");
        assert!(["detect_s", "at_s"].iter().all(|time| failure[time].as_f64() >= Some(3.0)), "{failure}");
    }
}

/// It does not halt before its entry returns, and people are told that it is waited for.
pub fn a_node_that_computes_is_waited_for_and_named() {
    let shape = (3, 1, "shm");
    let expected = LONG.undisturbed(shape);
    let held = begin(LONG, shape, "--ckpt-every 4steps --busy");
    let nodes = held.run.job.nodes(3);
    held.run.job.wait_for_error("busy");
    signal(nodes[1], Signal::KILL);
    // For ten seconds, if the launcher has a processor then.
    held.run.job.wait_for_error("node 0 has not halted for ");
    assert!(!held.run.job.said().contains("went back"), "{}", held.run.job.said());
    let left = held.survives(&expected);
    assert_eq!(left.losses, [(1, false)], "{}", left.ended.said());
}

/// Each node in turn, and the launcher: the checkpoint that is under way waits, and so does the program.
pub fn who_is_stopped_for_a_while_is_not_lost() {
    for transport in ["tcp", "shm"] {
        let shape = (3, 1, transport);
        let expected = LONG.undisturbed(shape);
        let held = begin(LONG, shape, "--ckpt-every 20ms --silence 1m --ft-log");
        let job = &held.run.job;
        let nodes = job.nodes(3);
        let committed = || job.said().matches("committed after").count();
        for pid in nodes.iter().copied().chain([job.launcher_pid()]) {
            let before = committed();
            until(|| (committed() > before).then_some(())).expect("there are checkpoints");
            signal(pid, Signal::STOP);
            until(|| (state(pid) == Some('T')).then_some(())).expect("it stops");
            // Longer than the others hear nothing of it otherwise: here the time itself is the matter, and longer is as good.
            sleep(Duration::from_millis(600));
            let before = committed();
            signal(pid, Signal::CONT);
            let is_lost = || job.said().contains("said nothing");
            let goes_on = || (is_lost() || committed() > before + 1).then_some(());
            until(goes_on).unwrap_or_else(|| panic!("it does not go on: {}", job.said()));
            assert!(!is_lost(), "{}", job.said());
        }
        assert_eq!(job.nodes(3), nodes, "all are still there");
        let left = held.survives(&expected);
        assert!(left.failures.is_empty(), "{}", left.ended.said());
        let complaint = |line: &&String| !line.contains("committed after");
        assert_eq!(left.ended.stderr.iter().find(complaint), None, "{}", left.ended.said());
    }
}
