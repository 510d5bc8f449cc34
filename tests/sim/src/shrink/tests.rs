use std::sync::atomic::{AtomicU32, Ordering};

use talisman::simulation::{Plan, What};

use super::*;
use crate::played::Played;

/// Fails when a predicate says so.
struct Artificial<F> {
    fails: F,
    runs: AtomicU32,
}

impl<F: Fn(&Case, &Plan) -> bool + Sync> Artificial<F> {
    fn new(fails: F) -> Self {
        Artificial { fails, runs: AtomicU32::new(0) }
    }

    /// The shrunk case of the first seed that fails and is large enough for this.
    fn shrunk(&self, from: impl Fn(&Case) -> bool, tries: u32) -> Shrunk {
        let drawn = |seed| Case::draw(seed, &Overrides::default()).expect("it can be drawn");
        let case = (0..100_000).map(drawn).find(|case| from(case) && self.judged(case).failures.len() == 1);
        let case = case.expect("a seed fails");
        let judged = self.judged(&case);
        self.runs.store(0, Ordering::Relaxed);
        shrink(self, case, judged, tries)
    }

    fn judged(&self, case: &Case) -> Judged {
        judged(self, case, false, false)
    }
}

impl<F: Fn(&Case, &Plan) -> bool + Sync> Stage for Artificial<F> {
    fn play(&self, case: &Case, plan: &Plan, _: bool) -> Played {
        self.runs.fetch_add(1, Ordering::Relaxed);
        // The calm run is told by its want of faults and rates.
        let is_calm = *plan == case.calm_plan();
        let wrong = (!is_calm && (self.fails)(case, plan)).then(|| "so it is".into());
        let never = Played { lasted_ns: 1_000_000, events: 1_000, ..Played::default() };
        Played { wrong: wrong.into_iter().collect(), ..never }
    }
}

fn count(plan: &Plan, kind: &str) -> usize {
    plan.faults.iter().filter(|fault| fault.what.kind() == kind).count()
}

#[test]
fn the_least_set_of_faults_is_found() {
    // It takes two stops and a reset, wherever they are among the others.
    let stage = Artificial::new(|_, plan: &Plan| count(plan, "stop") >= 2 && count(plan, "reset") >= 1);
    let shrunk = stage.shrunk(|case| case.faults.len() > 12, 1_000);
    let kinds: Vec<_> = shrunk.case.faults.iter().map(|drawn| drawn.what.kind()).collect();
    assert_eq!(kinds.len(), 3, "{kinds:?}");
    assert_eq!(
        (shrunk.case.nodes(), shrunk.case.pes, shrunk.case.size),
        (2, 1, 1),
        "a reset needs two nodes"
    );
    assert!(shrunk.judged.fails_like(&Failure { calm: false, kind: Kind::Check, what: String::new() }));
    assert_eq!(Case::draw(shrunk.case.seed, &shrunk.case.overrides).as_ref(), Ok(&shrunk.case));
}

#[test]
fn rates_are_left_out_unless_they_matter() {
    let stage = Artificial::new(|_, plan: &Plan| plan.network.rates.lost_ppm > 0);
    let shrunk = stage.shrunk(|case| case.network.rates.reset_ppm > 0 && case.faults.len() > 2, 1_000);
    let rates = shrunk.case.network.rates;
    assert!(rates.lost_ppm > 0);
    assert_eq!((rates.reset_ppm, rates.altered_ppm, rates.doubled_ppm), (0, 0, 0));
    assert_eq!(shrunk.case.faults, []);
}

#[test]
fn what_fails_otherwise_is_not_taken_for_the_same() {
    // On fewer than three nodes it fails, but by an oracle.
    struct Two;
    impl Stage for Two {
        fn play(&self, case: &Case, plan: &Plan, _: bool) -> Played {
            let text = || vec!["so it is".into()];
            match (*plan == case.calm_plan(), case.nodes() < 3) {
                (true, _) => Played::default(),
                (false, true) => Played { violations: text(), ..Played::default() },
                (false, false) => Played { wrong: text(), ..Played::default() },
            }
        }
    }
    let drawn = |seed| Case::draw(seed, &Overrides::default()).expect("it can be drawn");
    // What is left without any fault is the calm run: it must not be that this fails no more.
    let case = (0..)
        .map(drawn)
        .find(|case| case.nodes() > 4 && case.limits != drawn(0).limits)
        .expect("there is one");
    let found = judged(&Two, &case, false, false);
    let shrunk = shrink(&Two, case, found, 1_000);
    assert_eq!(shrunk.case.nodes(), 3);
}

#[test]
fn no_more_is_tried_than_may_be() {
    let stage = Artificial::new(|_, plan: &Plan| count(plan, "stop") >= 2);
    let shrunk = stage.shrunk(|case| case.faults.len() > 12, 5);
    assert_eq!(shrunk.tried, 5);
    assert!(stage.runs.load(Ordering::Relaxed) <= 10);
    assert!(count(shrunk.judged.plan.as_ref().expect("it came so far"), "stop") >= 2);
}

#[test]
fn a_crash_point_keeps_its_victim() {
    let strikes: crate::case::Strikes = "1@17".parse().expect("it is of the form");
    let stage = Artificial::new(|_, plan: &Plan| {
        plan.faults.iter().any(|fault| fault.what == What::Crash { node: 1 })
    });
    let overrides = Overrides { strikes: Some(strikes.clone()), nodes: Some(5), ..Overrides::default() };
    let case = Case::draw(3, &overrides).expect("it can be drawn");
    let found = stage.judged(&case);
    let shrunk = shrink(&stage, case, found, 100);
    assert_eq!(shrunk.case.overrides.strikes, Some(strikes));
    assert_eq!(shrunk.case.nodes(), 2);
}
