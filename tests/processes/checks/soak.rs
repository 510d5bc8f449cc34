//! Traffic for a long time: memory and descriptors stay what they are.
//!
//! Only if `TALISMAN_SOAK` says how many seconds; otherwise there is nothing to see.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::checks;
use crate::job::{Job, Scratch, program};
use crate::system::{descriptors, status};

checks!(of_random_traffic);

/// Of the time, before which memory may grow: buffers are as large as they ever have to be.
const WARM_UP: f64 = 0.2;
/// Growth that is no leak: a longest message or two, here and there.
const GROWTH_MAX_KIB: u64 = 24 << 10;

fn of_random_traffic() {
    let Some(seconds) = std::env::var("TALISMAN_SOAK").ok().and_then(|text| text.parse::<f64>().ok()) else {
        return eprintln!("skipped: TALISMAN_SOAK=seconds says for how long");
    };
    let each = seconds / 3.0;
    ["tcp", "shm", "mixed"].iter().for_each(|transport| soak(transport, each));
}

fn soak(transport: &'static str, seconds: f64) {
    let stop = Scratch::new("stop");
    let job = Job::start(program(&format!("traffic --stop {}", stop.name()), (4, 2, transport)));
    job.wait_for("under way");
    let pids = [job.nodes(4), vec![job.launcher_pid()]].concat();
    let look =
        || pids.iter().map(|pid| (status(*pid, "VmRSS").unwrap_or(0), descriptors(*pid))).collect::<Vec<_>>();
    sleep(Duration::from_secs_f64(seconds * WARM_UP));
    let (start, mut most) = (Instant::now(), look());
    let first_half = Duration::from_secs_f64(seconds * (1.0 - WARM_UP) / 2.0);
    let mut later = most.clone();
    while start.elapsed() < 2 * first_half {
        sleep(Duration::from_millis(200));
        let now = look();
        let highest = if start.elapsed() < first_half { &mut most } else { &mut later };
        highest.iter_mut().zip(&now).for_each(|(high, now)| *high = (high.0.max(now.0), high.1.max(now.1)));
    }
    eprintln!("{transport}: KiB and descriptors at most, {most:?} and later {later:?}");
    for (before, after) in most.iter().zip(&later) {
        assert!(
            after.0 < before.0 + GROWTH_MAX_KIB && after.1 <= before.1,
            "{transport}: {most:?} {later:?}"
        );
    }
    stop.touch();
    let ended = job.end().expect(0, &[]).quietly();
    eprintln!("{transport}: {}", ended.stdout.last().cloned().unwrap_or_default());
}
