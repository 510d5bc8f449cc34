//! Whole jobs in worlds.

use std::time::Duration;

mod measuring;
mod succession;

use super::*;
use talisman_core::main_chare::beginning;
use talisman_core::prelude::*;
use talisman_job::checkpoints::{CkptEvery, FaultTolerance};
use talisman_job::job::Job;
use talisman_job::{Output, RunArgs};

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

#[talisman_core::main]
async fn main(cx: &mut Cx) {
    let all: Array<Hopper> = Hopper::array(12).new();
    for start in 0..12 {
        all.at(start).hop(30);
    }
    cx.quiescence().await;
    cx.step(1);
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
fn a_node_that_dies_in_the_midst_of_a_turn_says_a_part_of_it() {
    let at = |at, kept_ppm| in_world(&with(What::CrashAmid { node: 2, kept_ppm }, at));
    for kept_ppm in [0, 300_000, 1_000_000] {
        assert!(moments(20).filter(|moment| ended_as_it_may(&at(*moment, kept_ppm), "node 2")).count() > 10);
    }
    // What gets out decides what the others do.
    let whole = at(3_000_000, 1_000_000).outcome.trace;
    assert_ne!(at(3_000_000, 0).outcome.trace, whole);
}

#[test]
fn connections_that_break_with_their_node_are_no_reason_of_their_own() {
    let crashed = |at| in_world(&with(What::CrashReset { node: 2 }, at));
    let lost = moments(40).map(crashed).filter(|ran| ended_as_it_may(ran, "node 2"));
    assert!(lost.count() > 30);
}

#[test]
fn a_process_that_is_asked_to_end_ends_the_job_in_order() {
    let mut asked = 0;
    for at in moments(40) {
        let ran = in_world(&with(What::Terminate { node: 2 }, at));
        match ran.outcome.status {
            143 => asked += 1,
            _ => _ = ended_as_it_may(&ran, "node 2"),
        }
        assert_eq!(ran.flaws, Vec::<String>::new());
    }
    assert!(asked > 5, "{asked}");
}

#[test]
fn who_comes_back_from_the_dead_is_not_let_in_and_finds_its_disk() {
    let (mut kept, mut empty, mut answered) = (0, 0, 0);
    for at in moments(20) {
        for with_disk in [true, false] {
            let restart = What::Restart { node: 2, after_ns: 200_000, with_disk };
            let ran = in_world(&Plan { silence: Duration::from_secs(5), ..with(restart, at) });
            ended_as_it_may(&ran, "node 2");
            let says = |what: &str| ran.log.iter().any(|line| line.contains("node 2") && line.contains(what));
            kept += u32::from(with_disk && says("its diary: Entry"));
            empty += u32::from(!with_disk && says("its diary: Nothing"));
            answered += u32::from(says("a former life of it is refused"));
        }
    }
    assert!(kept > 10 && empty > 10 && answered > 10, "{kept} {empty} {answered}");
}

#[test]
fn disks_that_fail_change_nothing_for_the_job() {
    let disk = DiskRates { full_ppm: 500_000, sync_fails_ppm: 500_000, ..DiskRates::default() };
    let ran = in_world(&Plan { disk, ..Plan::calm(1, 4, 2) });
    came_out_right(&ran);
    assert!(ran.injected["disk-full"] > 0 && ran.injected["disk-sync-failed"] > 0, "{:?}", ran.injected);
}

#[test]
fn a_node_is_killed_when_the_launcher_is_asked_to() {
    let kill = |kill: &str| Plan { kills: vec![kill.parse().expect("a kill")], ..Plan::calm(1, 4, 2) };
    for when in ["2@0ms", "2@step1"] {
        let ran = in_world(&kill(when));
        let message = ran.outcome.message.clone().unwrap_or_default();
        assert_eq!((ran.outcome.status, &ran.flaws), (3, &Vec::new()), "{}", ran.log.join("\n"));
        assert!(message.contains("node 2") && message.contains("--kill 2@"), "{message}");
    }
    came_out_right(&in_world(&kill("2@1h")));
    came_out_right(&in_world(&kill("2@step7")));
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

/// The same world for a job that survives losses, with checkpoints this often.
fn surviving(every: CkptEvery, plan: Plan) -> Plan {
    let options = RunArgs { ft: FaultTolerance::Double, ckpt_every: Some(every), ..RunArgs::default() };
    Plan { options: Box::new(options), ..plan }
}

const NEVER: CkptEvery = CkptEvery::Steps(u64::MAX);

#[test]
fn a_job_that_survives_begins_anew_if_there_is_no_checkpoint() {
    let calm = in_world(&surviving(NEVER, Plan::calm(1, 4, 2)));
    came_out_right(&calm);
    let crashed = |node: u32, percent: u64| {
        in_world(&surviving(NEVER, with(What::Crash { node }, calm.lasted_ns * percent / 100)))
    };
    let all: Vec<_> = (0..4).flat_map(|node| (5..100).step_by(5).map(move |at| (node, at))).collect();
    let runs: Vec<_> = all.iter().map(|(node, percent)| crashed(*node, *percent)).collect();
    let cannot_start =
        |ran: &&Ran| ran.outcome.message.as_ref().is_some_and(|why| why.contains("cannot start"));
    let (early, others): (Vec<_>, Vec<_>) = runs.iter().partition(cannot_start);
    others.iter().for_each(|ran| came_out_right(ran));
    assert!(others.len() > early.len(), "most are killed when the program has begun");
}

#[test]
fn a_job_that_survives_goes_back_to_its_last_checkpoint() {
    let often = CkptEvery::Time(Duration::from_micros(200));
    let calm = in_world(&surviving(often, Plan::calm(1, 4, 2)));
    came_out_right(&calm);
    let mut later = Vec::new();
    for (node, percent) in (0..4).flat_map(|node| (20..100).step_by(5).map(move |at| (node, at))) {
        let ran = in_world(&surviving(often, with(What::Crash { node }, calm.lasted_ns * percent / 100)));
        came_out_right(&ran);
        later.extend(
            ran.outcome.failures.iter().filter(|failure| failure.version.is_some()).map(|_| ran.lasted_ns),
        );
    }
    assert!(later.len() > 20, "most find a checkpoint: {later:?}");
}

/// A job with a checkpoint now and then on these hosts, and what befalls it.
fn befallen(hosts: &[u32], faults: Vec<Fault>) -> Ran {
    let plan = surviving(CkptEvery::Time(Duration::from_micros(200)), Plan::calm(1, 4, 2));
    let ran = simulate::<__Main>((), &Plan { hosts: hosts.to_vec(), faults, ..plan }, true);
    came_out_right(&ran);
    ran
}

/// What the launcher does of this kind first: when, and what it says of that.
fn first_said<'a>(ran: &'a Ran, what: &str) -> Option<(u64, &'a str)> {
    let (before, after) = ran.log.iter().find_map(|line| line.split_once(what))?;
    let time: f64 = before.trim_start().split(' ').next()?.parse().ok()?;
    Some(((time * 1000.0) as u64, after))
}

/// A step of load balancing that somebody asks for at any moment is answered, or the job had not begun or ended.
#[test]
fn a_balancing_step_that_is_asked_for_is_answered() {
    let mut done = 0;
    for at in moments(12) {
        let ran = in_world(&with(What::Ask(Asked::Balance), at));
        came_out_right(&ran);
        let (_, answer) = first_said(&ran, "answers request 1: ").expect("it is answered");
        done += u32::from(answer.contains("balancing step") || answer.contains("nothing is balanced"));
    }
    assert!(done >= 4, "{done} were answered by a PE");
}

/// Of all that a node had that was released there are two copies, and of what it had copies of: no later checkpoint is needed.
#[test]
fn a_loss_right_after_a_release_is_survived() {
    for hosts in [vec![1; 4], vec![2, 2], vec![3, 1]] {
        let half = befallen(&hosts, Vec::new()).over_ns.expect("it ends") / 2;
        let mut from_the_same = 0;
        for (released, lost) in [(1, 0), (1, 2), (1, 3), (0, 1)] {
            let ask = Fault { when: When::At(half), what: What::Ask(Asked::Shrink(released)) };
            let calm = befallen(&hosts, vec![ask.clone()]);
            let said =
                |what: &str| first_said(&calm, what).unwrap_or_else(|| panic!("{}", calm.log.join("\n")));
            let (at, _) = said("answers request 1: Ok");
            let (_, version) = said("3 nodes went back to checkpoint ");
            let version = version.split(';').next().and_then(|version| version.parse().ok());
            for after in (0..4).map(|step| step * 80_000) {
                let crash = Fault { when: When::At(at + after), what: What::Crash { node: lost } };
                let ran = befallen(&hosts, vec![ask.clone(), crash]);
                let lost = ran.outcome.failures.first().and_then(|failure| failure.version);
                from_the_same += u32::from(lost.is_some() && lost == version);
            }
        }
        assert!(from_the_same >= 5, "{hosts:?}: {from_the_same} were before there was a later checkpoint");
    }
}

#[test]
fn users_kill_nodes_of_simulated_jobs_that_survive() {
    let kill = ["2@step1", "1@1ms"].map(|kill| kill.parse().expect("it is of the form"));
    let options = RunArgs {
        nodes: 4,
        pes: Some(2),
        simulate: true,
        ft: FaultTolerance::Double,
        ckpt_every: Some(CkptEvery::Time(Duration::from_millis(1))),
        kill: kill.into(),
        ..RunArgs::default()
    };
    let job = Job::new(Output::capture());
    let outcome = run_for_user(&options, beginning::<__Main, _>(()), &job);
    assert_eq!((outcome.status, &outcome.message), (0, &None));
    assert_eq!(job.output.captured(), [HOPS]);
    let lost: Vec<_> = outcome.failures.iter().map(|failure| failure.node).collect();
    assert!(lost.contains(&Some(2)), "{lost:?}");
}

/// Such a job on one host, whose nodes take the launcher's place.
fn with_heirs(every: CkptEvery, plan: Plan) -> Plan {
    Plan { hosts: vec![4], heirs: true, ..surviving(every, plan) }
}

/// Lines may come twice: the launcher had not said yet that they were printed.
fn came_out_right_perhaps_twice(mut ran: Ran) -> Ran {
    ran.output.dedup();
    came_out_right(&ran);
    ran
}

#[test]
fn a_job_goes_on_without_its_launcher() {
    for every in [NEVER, CkptEvery::Time(Duration::from_micros(200))] {
        let lost = |at| in_world(&with_heirs(every, with(What::LauncherLoss, at)));
        let calm = in_world(&with_heirs(every, Plan::calm(1, 4, 2)));
        came_out_right(&calm);
        let runs = (0..50).map(|moment| lost(calm.lasted_ns * moment / 50));
        // Before the program had begun, there was nothing to save; when all had left, nobody was left to lead.
        let (lost, led): (Vec<_>, Vec<_>) = runs.partition(|ran| ran.outcome.status == 137);
        lost.iter().for_each(|ran| assert_eq!(ran.flaws, [""; 0], "{}", ran.log.join("\n")));
        let failures = led.into_iter().map(came_out_right_perhaps_twice).flat_map(|ran| ran.outcome.failures);
        let led = failures.filter(|failure| failure.node.is_none()).count();
        assert!(led > 10, "{led} of 50");
    }
}

#[test]
fn a_job_goes_on_without_its_launcher_and_who_took_its_place() {
    let often = CkptEvery::Time(Duration::from_micros(200));
    let calm = in_world(&with_heirs(often, Plan::calm(1, 4, 2)));
    let mut led = 0;
    for (first, second) in (0..40).step_by(2).flat_map(|at| (0..40).step_by(6).map(move |after| (at, after)))
    {
        let at = |moment: u64| When::At(calm.lasted_ns * moment / 40);
        let faults = [(first, What::LauncherLoss), (first + second, What::Crash { node: 0 })];
        let faults = faults.map(|(moment, what)| Fault { when: at(moment), what }).into();
        let ran = in_world(&with_heirs(often, Plan { faults, ..Plan::calm(1, 4, 2) }));
        // Before the program had begun.
        if ran.outcome.status == 137 {
            assert_eq!(ran.flaws, [""; 0], "{}", ran.log.join("\n"));
            continue;
        }
        let failures = came_out_right_perhaps_twice(ran).outcome.failures;
        led += usize::from(failures.iter().any(|failure| failure.what.contains("node 1 (pid 1001) leads")));
    }
    assert!(led > 5, "{led}");
}

/// Two nodes cannot reach each other any more, and have said so; a third does not answer, so that nothing is done about it before the launcher
/// is lost.
#[test]
fn a_complaint_is_made_to_the_next_launcher_too() {
    const MILLISECOND: u64 = 1_000_000;
    let at = |ns, what| Fault { when: When::At(ns), what };
    let calm = in_world(&with_heirs(NEVER, Plan::calm(1, 4, 2)));
    let (gone, _) = first_said(&calm, "is told Go").expect("the program begins");
    // In the midst of the program: before it no loss is survived, and after it there is none.
    let begun = u64::midpoint(gone, calm.over_ns.expect("it ends"));
    let damaged = (0..1_000).flat_map(|moment| {
        let ns = begun + moment * 5 * MILLISECOND;
        [What::Alter { from: 1, to: 2 }, What::Alter { from: 2, to: 1 }].map(|what| at(ns, what))
    });
    let others = [
        at(begun, What::Reset { one: 1, other: 2 }),
        at(begun, What::Stop { node: 3, for_ns: 6_000 * MILLISECOND }),
        at(begun + 4_000 * MILLISECOND, What::LauncherLoss),
    ];
    let faults = damaged.chain(others).collect();
    let plan = Plan { faults, patience_ns: 60_000 * MILLISECOND, ..Plan::calm(1, 4, 2) };
    let ran = came_out_right_perhaps_twice(in_world(&with_heirs(NEVER, plan)));
    let lost: Vec<_> = ran.outcome.failures.iter().map(|failure| failure.node).collect();
    assert!(lost == [None, Some(1)] || lost == [None, Some(2)], "{lost:?}");
    assert_eq!(ran.outcome.failures[1].detected, "suspicion");
}

/// The same world for a job with checkpoints on disks, this often.
fn on_disk(every: CkptEvery, plan: Plan) -> Plan {
    let options = RunArgs { ft: FaultTolerance::Disk, ckpt_every: Some(every), ..RunArgs::default() };
    Plan { options: Box::new(options), ..plan }
}

#[test]
fn a_disk_that_hangs_is_waited_for() {
    let often = CkptEvery::Time(Duration::from_micros(200));
    let calm = in_world(&on_disk(often, Plan::calm(1, 4, 2)));
    came_out_right(&calm);
    let hang = What::DiskHang { node: 2, for_ns: 20_000_000_000 };
    let at = |percent: u64| When::At(calm.lasted_ns * percent / 100);
    let mut waited = 0;
    for percent in (35..90).step_by(10) {
        let crash = Fault { when: at(percent + 5), what: What::Crash { node: 1 } };
        let faults = vec![Fault { when: at(percent), what: hang.clone() }, crash];
        let ran = in_world(&on_disk(often, Plan { faults, ..Plan::calm(1, 4, 2) }));
        came_out_right(&ran);
        waited += u32::from(ran.lasted_ns > 20_000_000_000);
    }
    assert!(waited > 1, "{waited}");
}

#[test]
fn crowds_of_strangers_keep_nobody_from_anything() {
    for at in moments(20) {
        for strangers in [5, 300] {
            let crowd = What::Crowd { node: 1, strangers, for_ns: 1_000_000 };
            let ran = in_world(&with(crowd, at));
            came_out_right(&ran);
        }
    }
}
