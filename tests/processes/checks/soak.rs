//! Traffic for a long time: memory and descriptors stay what they are, though connections are cut now and then.
//!
//! Only if `TALISMAN_TEST_SOAK` says how many seconds; otherwise there is nothing to see.

use std::thread::sleep;
use std::time::{Duration, Instant};

use talisman::rng::Rng;

use super::cuts::cut_one;
use crate::job::{Job, Scratch, program};
use crate::system::{descriptors, rights, status};
use crate::trials;

/// For how many seconds; ignored where nobody says.
const SECONDS: &str = "TALISMAN_TEST_SOAK";

pub fn all() -> Vec<libtest_mimic::Trial> {
    let trial = trials::trial("soak::of_random_traffic", of_random_traffic);
    vec![trial.with_ignored_flag(std::env::var_os(SECONDS).is_none())]
}

/// Of the time, before which memory may grow: buffers are as large as they ever have to be.
const WARM_UP: f64 = 0.2;
/// Growth that is no leak: a few of the longest messages more than there ever were at once.
const GROWTH_MAX_KIB: u64 = 8 << 10;
/// While connections are replaced there are some more for a moment.
const MORE_DESCRIPTORS_MAX: usize = 6;
/// Between two looks, at each of which a connection is cut too.
const EVERY: Duration = Duration::from_millis(200);

fn of_random_traffic() {
    let seconds = std::env::var(SECONDS).ok().and_then(|text| text.parse::<f64>().ok());
    let seconds = seconds.unwrap_or_else(|| panic!("{SECONDS}=seconds says for how long"));
    let each = Duration::from_secs_f64(seconds / 3.0);
    ["tcp", "shm", "mixed"].iter().for_each(|transport| soak(transport, each));
}

/// The first half after the beginning is compared with the second.
fn soak(transport: &'static str, time: Duration) {
    let stop = Scratch::new("stop");
    let job = Job::start(program(&format!("traffic --stop {}", stop.name()), (4, 2, transport)));
    job.wait_for("under way");
    let mut watch = Watch::of(&job, transport);
    watch.highest(time.mul_f64(WARM_UP));
    let half = time.mul_f64((1.0 - WARM_UP) / 2.0);
    let (before, after) = (watch.highest(half), watch.highest(half));
    let both = format!("{transport}: KiB and descriptors at most, {before:?} and later {after:?}");
    eprintln!("{both}");
    for (before, after) in before.iter().zip(&after) {
        assert!(after.0 < before.0 + GROWTH_MAX_KIB && after.1 <= before.1 + MORE_DESCRIPTORS_MAX, "{both}");
    }
    stop.touch();
    let ended = job.end().expect(0, &[]);
    eprintln!("{transport}: {}", ended.stdout.last().cloned().unwrap_or_default());
}

/// The processes of a job, the launcher last.
struct Watch {
    pids: Vec<i32>,
    cuts: bool,
    rng: Rng,
}

impl Watch {
    fn of(job: &Job, transport: &str) -> Watch {
        let pids = [job.nodes(4), vec![job.launcher_pid()]].concat();
        let cuts = transport != "shm" && rights().is_none();
        Watch { pids, cuts, rng: Rng::new(11) }
    }

    /// The most memory and descriptors that each of them has during this time.
    fn highest(&mut self, time: Duration) -> Vec<(u64, usize)> {
        let start = Instant::now();
        let mut highest = vec![(0, 0); self.pids.len()];
        while start.elapsed() < time {
            for (high, pid) in highest.iter_mut().zip(&self.pids) {
                let memory = status(*pid, "VmRSS").expect("it runs");
                *high = (high.0.max(memory), high.1.max(descriptors(*pid)));
            }
            if self.cuts {
                cut_one(&self.pids[..4], &mut self.rng);
            }
            sleep(EVERY);
        }
        highest
    }
}
