//! The secret of a job is nowhere where others look.

use super::checks;
use super::results::results_in;
use crate::job::{Job, Scratch, Shape, program};
use crate::system::{arguments, environment};

checks!(are_in_no_arguments, are_in_no_environment, are_in_no_output);

const SHAPE: Shape = (4, 1, "mixed");

/// A node has the launcher's arguments, and no other.
fn are_in_no_arguments() {
    let job = Job::start(program("traffic", SHAPE));
    job.wait_for("under way");
    let known = arguments(job.launcher_pid());
    assert!(known.len() > 4, "{known:?}");
    // The first is what a process is called.
    assert!(job.nodes(4).iter().all(|pid| arguments(*pid)[1..] == known[1..]));
}

/// A node has the launcher's environment, the number of a descriptor, and what its job is called.
fn are_in_no_environment() {
    let job = Job::start(program("traffic", SHAPE));
    job.wait_for("under way");
    let known = environment(job.launcher_pid());
    for pid in job.nodes(4) {
        let all = environment(pid);
        assert!(known.iter().all(|variable| all.contains(variable)));
        let new: Vec<&String> = all.iter().filter(|variable| !known.contains(variable)).collect();
        let value = |name: &str| new.iter().find_map(|variable| variable.strip_prefix(name));
        let number = value("TALISMAN_CONTROL=").and_then(|number| number.parse::<u16>().ok());
        let called = value("TALISMAN_JOB=") == Some(&format!("{} 4 4 talisman", job.launcher_pid()));
        assert!(new.len() == 2 && number.is_some() && called, "a node has {new:?} in its environment");
    }
}

/// Every word that a job writes is one that it has to write.
fn are_in_no_output() {
    let report = Scratch::new("report.json");
    let words = format!("--label-output --report {} traffic --messages 100", report.name());
    let ended = Job::start(program(&words, SHAPE)).end().expect(0, &[]).quietly();
    assert_eq!(ended.stdout, ["[3] under way", "[0] 400 sent, 400 received"]);
    let text = std::fs::read_to_string(&report.0).expect("it was asked for");
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '/';
    // Any way to write the 256 bits, or half of them, in one piece takes more.
    let long = text.split(|c| !is_part(c)).find(|word| word.len() > 20);
    assert_eq!(long, None, "{text}");
    // And as a list of numbers, it would be among lists of bytes.
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
    assert!(text.len() < 8000 && numbers.count() < 400, "{text}");
    assert_eq!(results_in(&report).len(), 2);
}
