//! Whole jobs in worlds.

use super::*;
use crate::prelude::*;

#[derive(Pup)]
struct Hopper {
    hops: u32,
}

#[chare(array1d)]
impl Hopper {
    #[init]
    fn new(_cx: &mut Cx<Self>) -> Self {
        Hopper { hops: 0 }
    }

    #[entry]
    fn hop(&mut self, cx: &mut Cx<Self>, left: u32) {
        self.hops += 1;
        if left > 0 {
            cx.array().at((cx.index() + 1) % 12).hop(left - 1);
        }
        let pe = cx.rng().below(cx.pes().into()) as u32;
        cx.migrate_to(pe);
    }

    #[entry]
    fn hops(&mut self, _cx: &mut Cx<Self>) -> u64 {
        self.hops.into()
    }
}

#[crate::main]
async fn main(cx: &mut Cx) {
    let all: Array<Hopper> = Hopper::array(12).new();
    for start in 0..12 {
        all.at(start).hop(30);
    }
    cx.quiescence().await;
    let hops: u64 = all.hops().reduce(Sum).await;
    writeln!(cx.output(), "{hops} hops");
}

const HOPS: &str = "372 hops";

fn in_world(plan: &Plan) -> Ran {
    simulate::<__Main>((), plan, std::env::var_os("TALISMAN_WORLD_LOG").is_some())
}

fn came_out_right(ran: &Ran) {
    let log = ran.log.join("\n");
    assert_eq!((ran.outcome.status, &ran.outcome.message, &ran.flaws), (0, &None, &Vec::new()), "{log}");
    assert_eq!(ran.output, [HOPS], "{log}");
}

#[test]
fn a_job_comes_out_right_in_a_calm_world() {
    for (nodes, pes) in [(1, 1), (1, 3), (2, 1), (3, 2), (5, 1)] {
        for seed in 0..5 {
            came_out_right(&in_world(&Plan::calm(seed, nodes, pes)));
        }
    }
}

#[test]
fn the_same_plan_gives_the_same_events() {
    let hash = |seed| in_world(&Plan::calm(seed, 3, 2)).outcome.trace;
    let hashes: Vec<_> = (0..5).map(hash).collect();
    assert_eq!(hashes, (0..5).map(hash).collect::<Vec<_>>());
    assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]));
}

/// A world in which one thing goes wrong.
fn with(fault: What, at: u64) -> Plan {
    Plan { faults: vec![Fault { when: When::At(at), what: fault }], ..Plan::calm(1, 4, 2) }
}

/// So many moments from the launcher's start to the end of that world's job if nothing goes wrong.
fn moments(count: u64) -> impl Iterator<Item = u64> {
    let over = in_world(&with(What::ClockDrift { node: 0, ppm: 0 }, 0)).over_ns.expect("it ends");
    (0..count).map(move |moment| over * moment / count)
}

/// Right, or with a loss that names this.
fn ended_as_it_may(ran: &Ran, name: &str) -> bool {
    let log = ran.log.join("\n");
    assert_eq!(ran.flaws, Vec::<String>::new(), "{log}");
    let message = ran.outcome.message.clone().unwrap_or_default();
    let lost = ran.outcome.status != 0;
    assert!(!lost || (ran.outcome.status == 3 && message.contains(name)), "{message}\n{log}");
    lost
}

#[test]
fn connections_that_break_are_made_again() {
    let mut broken = 0;
    for at in moments(40) {
        let ran = in_world(&with(What::Reset { one: 1, other: 2 }, at));
        came_out_right(&ran);
        broken += ran.log.iter().filter(|line| line.contains("misses")).count();
    }
    assert!(broken > 10, "{broken}");
}

#[test]
fn a_node_that_crashes_is_named_and_the_others_end() {
    let crashed = |at| in_world(&with(What::Crash { node: 2 }, at));
    assert!(moments(40).filter(|at| ended_as_it_may(&crashed(*at), "node 2")).count() > 30);
}

#[test]
fn nobody_outlives_a_launcher_that_is_killed() {
    for at in moments(40) {
        let ran = in_world(&with(What::LauncherLoss, at));
        assert_eq!((ran.outcome.status, ran.flaws), (137, Vec::new()), "{}", ran.log.join("\n"));
    }
}

#[test]
fn a_node_that_stands_still_is_waited_for_and_killed_in_the_end() {
    for at in moments(10) {
        came_out_right(&in_world(&with(What::Stop { node: 3, for_ns: 2_000_000_000 }, at)));
    }
    let stopped = |at| in_world(&with(What::Stop { node: 3, for_ns: 60_000_000_000 }, at));
    assert!(moments(10).filter(|at| ended_as_it_may(&stopped(*at), "node 3")).count() > 7);
}

#[test]
fn a_host_that_loses_its_power_is_noticed_by_its_silence() {
    let lost = |at| in_world(&with(What::HostLoss { host: 2 }, at));
    assert!(moments(20).filter(|at| ended_as_it_may(&lost(*at), "host2")).count() > 15);
}

#[test]
fn a_former_life_of_a_node_is_not_let_in() {
    for at in moments(20) {
        came_out_right(&in_world(&with(What::Impostor { node: 1, with_disk: false }, at)));
    }
}

#[test]
fn clocks_that_jump_and_drift_change_nothing() {
    for at in moments(10) {
        came_out_right(&in_world(&with(What::ClockJump { node: 1, by_ns: 3_600_000_000_000 }, at)));
        came_out_right(&in_world(&with(What::ClockDrift { node: 1, ppm: -900_000 }, at)));
    }
}
