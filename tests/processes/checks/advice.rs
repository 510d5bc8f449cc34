//! What a job says at its end that would have made it faster, without a trace.

use super::checks;
use crate::job::{Scratch, program, run};

checks!(names_the_balancer_that_would_have_helped needs two_cores);

/// PEs that share one are told of that first.
fn two_cores() -> Option<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (cores < 2).then(|| "there is one core".into())
}

fn names_the_balancer_that_would_have_helped() {
    let report = Scratch::new("advice");
    let mut command = program(&format!("--report {} uneven", report.name()), (2, 1, "shm"));
    command.env_remove("TALISMAN_NO_ADVICE");
    let ended = run(command).expect(0, &["advice: PE 0 was busy for "]);
    let line = ended.stderr.iter().find(|line| line.contains("PE 0 was busy")).expect("it was looked for");
    // Where other programs had half of the machine, loads explain too little of the time, and what may be saved is an estimate.
    assert!(line.contains("--balancer greedy-refine ") || line.contains("--balancer greedy "), "{line}");
    if !line.contains(" may save up to ") {
        // Two of the four objects, which had nearly all of the work, can go to the other PE: half of the time less a little.
        let saves = line.split("would have saved ").nth(1).and_then(|rest| rest.split(' ').next());
        let saves: u32 = saves.and_then(|share| share.parse().ok()).unwrap_or_else(|| panic!("{line}"));
        assert!((20..=55).contains(&saves), "{line}");
    }
    let told = std::fs::read(&report.0).expect("the job has written it");
    let told: serde_json::Value = serde_json::from_slice(&told).expect("it is JSON");
    let told = told["advice"][0].clone();
    assert!(told.as_str().is_some_and(|told| line.ends_with(told)), "{told}: {line}");
}
