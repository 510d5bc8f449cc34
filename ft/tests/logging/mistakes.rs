//! Each deliberate mistake is noticed.

use crate::live;

/// What is tried, in this order, until one life shows that something is wrong: seeds, nodes, PEs of each, losses, at
/// once.
const SWEEPS: [(u64, u32, u32, u32, usize); 4] =
    [(100, 3, 2, 5, 1), (250, 4, 2, 6, 2), (400, 5, 1, 6, 2), (400, 6, 1, 8, 3)];

fn lives_until_noticed(mistake: &'static str) -> Option<u64> {
    talisman_observe::mutations::choose(Some(mistake));
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut lives = 0;
    let noticed = SWEEPS.iter().any(|(seeds, nodes, pes, losses, at_once)| {
        (0..*seeds).any(|seed| {
            lives += 1;
            std::panic::catch_unwind(|| live(seed, *nodes, *pes, *losses, *at_once)).is_err()
        })
    });
    std::panic::set_hook(hook);
    talisman_observe::mutations::choose(None);
    noticed.then_some(lives)
}

/// Those about stale entries, about the line, and about what a line of output depends on are noticed in
/// `ft/src/logging/tests`: here the others see to it that they do no harm, or hardly ever.
#[test]
fn every_mistake_is_noticed() {
    let mistakes = [
        "log-not-riding",
        "others-log-not-riding",
        "carried-per-node",
        "written-counts-as-stable",
        "new-keeper-gets-the-rest-only",
        "prefix-not-cut",
        "ring-length-not-told",
        "image-without-retained",
        "image-without-own-log",
        "image-without-others-log",
        "image-counts-when-sent",
        "old-link-not-read-out",
        "live-before-horizon",
        "second-loss-forgets-first",
        "not-remade-before-live",
        "line-before-stable",
        "line-forgotten-when-sent",
    ];
    let mut unnoticed = Vec::new();
    for mistake in mistakes {
        match lives_until_noticed(mistake) {
            Some(lives) => eprintln!("{mistake}: noticed in life {lives}"),
            None => unnoticed.push(mistake),
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
}
