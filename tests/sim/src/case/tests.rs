use talisman::simulation::Asked;

use super::*;

fn case(seed: u64, overrides: Overrides) -> Case {
    Case::draw(seed, &overrides).expect("it can be drawn")
}

fn drawn(seed: u64) -> Case {
    case(seed, Overrides::default())
}

const LENGTH: Length = Length { ns: 10_000_000, events: 5_000 };

/// What is said of a case does not count when two are compared.
fn unsaid(case: Case) -> Case {
    Case { overrides: Overrides::default(), ..case }
}

#[test]
fn a_seed_is_always_the_same_case_and_seeds_differ() {
    assert!((0..100).all(|seed| drawn(seed) == drawn(seed)));
    assert!((0..100).all(|seed| drawn(seed).plan(LENGTH) != drawn(seed + 1).plan(LENGTH)));
}

#[test]
fn seeds_draw_everything_there_is() {
    let cases: Vec<_> = (0..2_000).map(drawn).collect();
    let kinds: std::collections::BTreeSet<_> =
        cases.iter().flat_map(|case| &case.faults).map(|drawn| drawn.what.kind()).collect();
    assert_eq!(kinds.len(), 22, "{kinds:?}");
    for drawn in [
        (|case| case.respawn) as fn(&Case) -> bool,
        |case| case.requests,
        |case| case.lingers,
        |case| case.succession,
        |case| !case.staffing.spares.is_empty(),
    ] {
        let with = cases.iter().filter(|case| drawn(case)).count();
        assert!((60..1_000).contains(&with), "{with}");
    }
    // One in eighteen.
    let with_more = cases.iter().filter(|case| case.staffing.more > 0).count();
    assert!((50..200).contains(&with_more), "{with_more}");
    for rate in [
        (|rates| rates.lost_ppm) as fn(&Rates) -> u32,
        |rates| rates.doubled_ppm,
        |rates| rates.altered_ppm,
        |rates| rates.truncated_ppm,
        |rates| rates.reset_ppm,
    ] {
        let with = cases.iter().filter(|case| rate(&case.network.rates) > 0).count();
        assert!((100..1_000).contains(&with), "{with}");
    }
    let calm = cases.iter().filter(|case| case.faults.is_empty() && case.network.rates == Rates::default());
    assert!((100..1_000).contains(&calm.count()));
    assert!(crate::workloads::NAMES.iter().all(|name| cases.iter().any(|case| case.workload == *name)));
}

#[test]
fn every_fault_hits_somebody_who_is_there() {
    for seed in 0..1_000 {
        for nodes in [None, Some(2), Some(3)] {
            let case = case(seed, Overrides { nodes, ..Overrides::default() });
            let waiting = case.staffing.spares.len() as u32;
            let (nodes, hosts) = (case.nodes() + case.staffing.more + waiting, case.hosts.len() as u32);
            for Drawn { what, .. } in &case.faults {
                assert!(is_there(what, nodes, hosts), "{what:?} on {:?}", case.hosts);
            }
        }
    }
}

fn is_there(what: &What, nodes: u32, hosts: u32) -> bool {
    match what {
        What::Crash { node }
        | What::CrashAmid { node, .. }
        | What::CrashReset { node }
        | What::Restart { node, .. }
        | What::Terminate { node }
        | What::Impostor { node, .. }
        | What::Stop { node, .. }
        | What::Slow { node, .. }
        | What::ClockJump { node, .. }
        | What::ClockDrift { node, .. }
        | What::DiskHang { node, .. }
        | What::Crowd { node, .. }
        | What::Ask(Asked::Shrink(node)) => *node < nodes,
        What::HostLoss { host } => *host < hosts,
        What::Reset { one: from, other: to } | What::Alter { from, to } | What::Truncate { from, to } => {
            from != to && *from.max(to) < nodes
        }
        What::Cut { from, to, .. } => {
            !from.is_empty() && !to.is_empty() && from.iter().all(|host| *host < hosts && !to.contains(host))
        }
        What::LauncherLoss
        | What::LauncherStop { .. }
        | What::Ask(Asked::Checkpoint | Asked::Balance | Asked::Grow) => true,
    }
}

#[test]
fn what_is_said_of_one_thing_changes_nothing_else() {
    for seed in 0..200 {
        let whole = drawn(seed);
        let sized = case(seed, Overrides { size: Some(7), ..Overrides::default() });
        assert_eq!(unsaid(Case { size: whole.size, ..sized }), whole);
        let calm = case(seed, Overrides { calm: vec!["lost".into()], ..Overrides::default() });
        assert_eq!(calm.network.rates, Rates { lost_ppm: 0, ..whole.network.rates });
        assert_eq!(unsaid(Case { network: whole.network.clone(), ..calm }), whole);
        let numbers: Vec<_> = whole.faults.iter().map(|drawn| drawn.number).skip(1).step_by(2).collect();
        let few = case(seed, Overrides { faults: Some(Kept(numbers.clone())), ..Overrides::default() });
        assert_eq!(few.faults.iter().map(|drawn| drawn.number).collect::<Vec<_>>(), numbers);
        assert!(few.faults.iter().all(|drawn| whole.faults.contains(drawn)));
        let (faults, again) = (whole.faults.clone(), whole.again.clone());
        assert_eq!(unsaid(Case { faults, again, ..few }), whole);
    }
}

#[test]
fn said_again_what_was_drawn_is_the_same_case() {
    for seed in 0..200 {
        let whole = drawn(seed);
        let said = Overrides {
            workload: Some(whole.workload.into()),
            size: Some(whole.size),
            nodes: Some(whole.nodes()),
            pes: Some(whole.pes),
            ft: Some(whole.survival),
            heirs: Some(whole.heirs),
            respawn: Some(whole.respawn),
            requests: Some(whole.requests),
            spares: Some(whole.staffing.spares.len() as u32),
            more: Some(whole.staffing.more),
            succession: Some(whole.succession),
            lingers: Some(whole.lingers),
            faults: Some(Kept(whole.all_faults().map(|drawn| drawn.number).collect())),
            ..Overrides::default()
        };
        assert_eq!(unsaid(case(seed, said)), whole);
    }
}

#[test]
fn overrides_are_read_as_they_are_written() {
    #[derive(clap::Parser)]
    #[command(no_binary_name = true)]
    struct Line {
        #[command(flatten)]
        overrides: Overrides,
    }
    let all = Overrides {
        workload: Some("ring".into()),
        size: Some(2),
        hosts: Some(HostSizes(vec![1, 2])),
        nodes: Some(3),
        pes: Some(1),
        ft: Some(Survival::InMemory(Checkpoints::Steps(3))),
        heirs: Some(true),
        respawn: Some(false),
        requests: Some(true),
        spares: Some(2),
        more: Some(1),
        succession: Some(false),
        lingers: Some(true),
        only: vec!["cut".into(), "stop".into()],
        faults: Some(Kept(vec![0, 3])),
        calm: vec!["lost".into(), "limits".into()],
        strikes: Some(strikes("2@17,resets@40")),
    };
    let none = Overrides { faults: Some(Kept(Vec::new())), ..Overrides::default() };
    let launcher = Overrides { strikes: Some(strikes("launcher@0")), ..Overrides::default() };
    for overrides in [all, none, launcher, Overrides::default()] {
        let words = overrides.to_string();
        let line: Line = clap::Parser::try_parse_from(words.split_whitespace()).expect("it can be read");
        assert_eq!(line.overrides, overrides, "{words}");
    }
}

#[test]
fn a_strike_comes_instead_of_all_else() {
    let strikes = Some(strikes("1@99"));
    for seed in 0..50 {
        let overrides = Overrides { strikes: strikes.clone(), nodes: Some(3), ..Overrides::default() };
        let case = case(seed, overrides);
        let plan = case.plan(LENGTH);
        assert_eq!(plan.faults, [Fault { when: When::Step(99), what: What::Crash { node: 1 } }]);
        assert_eq!(
            (plan.network.rates, plan.healed_ns),
            (Rates::default(), 0),
            "nothing keeps it from striking"
        );
    }
    let absent = Overrides { strikes, nodes: Some(1), ..Overrides::default() };
    assert!(Case::draw(0, &absent).is_err());
}

fn strikes(text: &str) -> Strikes {
    text.parse().expect("it is of the form")
}

#[test]
fn hosts_and_classes_that_are_said_count() {
    let hosts = Some(HostSizes(vec![2, 1, 3]));
    let only = vec!["long-cut".to_string(), "launcher-stop".to_string()];
    let of =
        |seed| case(seed, Overrides { hosts: hosts.clone(), only: only.clone(), ..Overrides::default() });
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let case = of(seed);
        assert_eq!((&case.hosts[..], case.network.rates), (&[2, 1, 3][..], Rates::default()));
        kinds.extend(case.faults.iter().map(|drawn| drawn.what.kind()));
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["cut", "launcher-stop"]);
    let fewer = Overrides { hosts, nodes: Some(4), ..Overrides::default() };
    assert_eq!(case(1, fewer).hosts, [2, 1, 1]);
}

#[test]
fn what_is_not_there_is_refused() {
    let workload = Overrides { workload: Some("nothing".into()), ..Overrides::default() };
    assert!(Case::draw(0, &workload).expect_err("no such workload").contains("nothing"));
    let fault = Overrides { faults: Some(Kept(vec![1_000])), ..Overrides::default() };
    assert!(Case::draw(0, &fault).expect_err("no such fault").contains("1000"));
}

#[test]
fn times_of_faults_are_measured_by_the_calm_run() {
    let at = |moment| Drawn { number: 0, moment, what: What::LauncherLoss }.in_run_of(LENGTH, &[]).when;
    assert_eq!(at(Moment::OfTime(500_000)), When::At(5_000_000));
    assert_eq!(at(Moment::OfEvents(100_000)), When::Event(500));
    assert_eq!(at(Moment::Step(7)), When::Step(7));
}

#[test]
fn a_world_that_is_healed_in_the_end_is_so_when_all_is_over() {
    for seed in 0..500 {
        let case = drawn(seed);
        let plan = case.plan(LENGTH);
        assert!(plan.patience_ns > plan.healed_ns);
        for fault in plan.faults.iter().filter(|_| case.unsettled.to_the_end) {
            let end = begins_ns(fault.when, LENGTH, &plan.faults) + lasts_ns(&fault.what).unwrap_or(0);
            assert!(plan.healed_ns >= end, "{fault:?} until {}", plan.healed_ns);
        }
    }
}

#[test]
fn what_has_to_be_borne_adds_up_to_less_than_the_bound() {
    for seed in 0..3_000 {
        let case = drawn(seed);
        let classes = Classes::draw(seed, &[]);
        let long = ["long-stop", "long-cut", "long-launcher-stop", "long-clock-jump"];
        // Hosts that lose their launcher may be cut off for as long as it takes to miss each other.
        if case.succession || long.iter().any(|class| classes.has(class)) {
            continue;
        }
        let answers = |what: &What| matches!(what, What::Slow { .. } | What::DiskHang { .. });
        let outages = case.faults.iter().filter(|drawn| !answers(&drawn.what));
        let sum: u64 = outages.filter_map(|drawn| lasts_ns(&drawn.what)).sum();
        assert!(sum <= crate::verdict::borne_ns(case.silence), "seed {seed}");
    }
}
