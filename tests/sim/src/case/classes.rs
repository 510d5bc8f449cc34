//! Which classes of faults a seed has. Each is switched on or off as a whole: a run in which everything goes wrong a little
//! never gets far enough to see what one thing does alone.

use std::collections::BTreeMap;

use talisman::simulation::{DiskRates, Rates};

use super::{generator, magnitude};

/// Classes of faults that a job has to bear.
pub const BORNE: &[&str] = &[
    "lost",
    "doubled",
    "altered",
    "truncated",
    "reset",
    "late",
    "reset-at",
    "cut",
    "stop",
    "slow",
    "alter-at",
    "truncate-at",
    "impostor",
    "disk",
    "launcher-stop",
    "clock-jump",
    "clock-drift",
];
/// Classes of faults that may end a job.
pub const HARMFUL: &[&str] = &[
    "crash",
    "crash-amid",
    "crash-reset",
    "restart",
    "terminate",
    "host-loss",
    "launcher-loss",
    "long-stop",
    "stop-for-ever",
    "long-cut",
    "long-launcher-stop",
    "long-clock-jump",
];

/// Classes of faults that a job has to bear, each of which is drawn by itself: they came later, when lists of cases stood for what seeds drew.
pub const NEWER: &[&str] = &["disk-lies", "disk-misdirects", "disk-hangs", "crowd"];

/// One in so many seeds has one of those.
const ONE_IN_HAS_NEWER: u64 = 4;

/// The classes of a seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes(BTreeMap<&'static str, ()>);

impl Classes {
    /// Some classes; of half the seeds none that may end the job, so that they have to come to the right result. If any are
    /// said, all of those and no others.
    pub(super) fn draw(seed: u64, said: &[String]) -> Classes {
        if !said.is_empty() {
            let all = BORNE.iter().chain(HARMFUL).chain(NEWER);
            return Classes(
                all.filter(|class| said.iter().any(|said| said == *class))
                    .map(|class| (*class, ()))
                    .collect(),
            );
        }
        const ONE_IN_IS_ON: [u64; 5] = [1 << 20, 8, 4, 3, 2];
        let mut on = BTreeMap::new();
        let rng = &mut generator(seed, "classes");
        let one_in = super::one_of(rng, &ONE_IN_IS_ON);
        // Every class draws, whatever was drawn before.
        on.extend(BORNE.iter().filter(|_| rng.below(one_in) == 0).map(|class| (*class, ())));
        if rng.below(2) == 0 {
            on.insert(super::one_of(rng, HARMFUL), ());
            on.extend(HARMFUL.iter().filter(|_| rng.below(12) == 0).map(|class| (*class, ())));
        }
        let is_on = |class: &&&str| generator(seed, class).below(ONE_IN_HAS_NEWER) == 0;
        on.extend(NEWER.iter().filter(is_on).map(|class| (*class, ())));
        Classes(on)
    }

    pub(super) fn has(&self, class: &str) -> bool {
        self.0.contains_key(class)
    }

    /// How often things go wrong on disks, each kind in half the seeds that have any.
    pub(super) fn disk(&self, seed: u64) -> DiskRates {
        let mut rng = generator(seed, "disk");
        let mut rate = |most: u64| match (rng.below(2), magnitude(&mut rng, 1_000, most)) {
            (0, ppm) => ppm as u32,
            _ => 0,
        };
        let drawn = DiskRates {
            full_ppm: rate(300_000),
            sync_fails_ppm: rate(300_000),
            unreadable_ppm: rate(300_000),
            altered_ppm: rate(300_000),
            ..DiskRates::default()
        };
        let drawn = if self.has("disk") { drawn } else { DiskRates::default() };
        let newer = |class: &str, most| match self.has(class) {
            true => magnitude(&mut generator(seed, &format!("{class}, how often")), 3_000, most) as u32,
            false => 0,
        };
        // Some disks lie always. What comes down in wrong places is little, or nothing is ever committed.
        DiskRates {
            lying_ppm: newer("disk-lies", 1_000_000),
            misdirected_ppm: newer("disk-misdirects", 100_000),
            ..drawn
        }
    }

    /// How often things go wrong by themselves.
    pub(super) fn rates(&self, seed: u64) -> (Rates, u32) {
        let rate = |class: &str, most: u64| match self.has(class) {
            true => magnitude(&mut generator(seed, class), 100, most) as u32,
            false => 0,
        };
        // A loss costs twice as long each time it comes again: more of them than these, and greetings come too late. What
        // is altered may be a greeting, and a node gives up after a few that were refused.
        let rates = Rates {
            lost_ppm: rate("lost", 30_000),
            doubled_ppm: rate("doubled", 200_000),
            altered_ppm: rate("altered", 5_000),
            truncated_ppm: rate("truncated", 10_000),
            reset_ppm: rate("reset", 10_000),
        };
        (rates, rate("late", 200_000))
    }
}
