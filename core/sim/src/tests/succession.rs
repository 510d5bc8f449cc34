//! Jobs of several hosts that go on without their launcher.

use super::*;

/// A job with a node on each host.
fn on_hosts(every: CkptEvery, hosts: u32, plan: Plan) -> Plan {
    Plan { hosts: vec![1; hosts as usize], heirs: true, ..surviving(every, plan) }
}

const OFTEN: CkptEvery = CkptEvery::Time(Duration::from_micros(200));

fn ran(every: CkptEvery, hosts: u32, faults: Vec<Fault>) -> Ran {
    in_world(&on_hosts(every, hosts, Plan { faults, ..Plan::calm(1, hosts, 2) }))
}

fn at(ns: u64, what: What) -> Fault {
    Fault { when: When::At(ns), what }
}

/// When its program is in the midst of its work.
fn amid(hosts: u32) -> u64 {
    let calm = ran(OFTEN, hosts, Vec::new());
    came_out_right(&calm);
    calm.lasted_ns / 2
}

fn leaders(ran: &Ran) -> Vec<String> {
    let leads = |failure: &&talisman_job::Failure| failure.node.is_none();
    ran.outcome.failures.iter().filter(leads).map(|failure| failure.what.clone()).collect()
}

#[test]
fn a_job_of_several_hosts_goes_on_without_its_launcher() {
    for every in [NEVER, OFTEN] {
        let calm = ran(every, 3, Vec::new());
        came_out_right(&calm);
        let runs =
            (0..50).map(|moment| ran(every, 3, vec![at(calm.lasted_ns * moment / 50, What::LauncherLoss)]));
        let (lost, led): (Vec<_>, Vec<_>) = runs.partition(|ran| ran.outcome.status == 137);
        lost.iter().for_each(|ran| assert_eq!(ran.flaws, [""; 0], "{}", ran.log.join("\n")));
        let led: Vec<Ran> = led.into_iter().map(came_out_right_perhaps_twice).collect();
        let led = led.iter().filter(|ran| !leaders(ran).is_empty()).count();
        assert!(led > 10, "{led} of 50");
    }
}

#[test]
fn a_host_that_is_lost_with_its_launcher_is_survived_by_the_others() {
    let middle = amid(3);
    for lost in 0..3 {
        let ran =
            came_out_right_perhaps_twice(ran(OFTEN, 3, vec![at(middle, What::HostLoss { host: lost })]));
        let led = leaders(&ran);
        assert_eq!(led.len(), usize::from(lost == 0), "{led:?}");
        assert!(led.iter().all(|what| what.contains("on the host host1 leads")), "{led:?}");
    }
}

#[test]
fn hosts_that_are_lost_one_after_the_other_are_survived_by_those_that_are_left() {
    let middle = ran(NEVER, 4, Vec::new()).lasted_ns / 2;
    let mut led = 0;
    for after_s in [1, 45, 90, 200] {
        let second = at(middle + after_s * 1_000_000_000, What::HostLoss { host: 1 });
        let ran = ran(NEVER, 4, vec![at(middle, What::HostLoss { host: 0 }), second]);
        match ran.outcome.status {
            // Two of four are gone at once, and nobody knows whether they go on.
            137 => assert_eq!(ran.flaws, [""; 0], "{}", ran.log.join("\n")),
            _ => led += leaders(&came_out_right_perhaps_twice(ran)).len(),
        }
    }
    assert!(led > 1, "{led}");
}

#[test]
fn whoever_takes_the_launchers_place_may_be_lost_too() {
    let middle = amid(3);
    let mut led = 0;
    for after_us in (0..40).map(|step| step * 1_000) {
        let second = at(middle + after_us * 1_000, What::LauncherLoss);
        let ran = ran(OFTEN, 3, vec![at(middle, What::LauncherLoss), second]);
        led += leaders(&came_out_right_perhaps_twice(ran)).len();
    }
    assert!(led >= 40, "{led}");
}

/// Its agent starts another process when that ends which it has started, also before it has found it: no host is given up.
#[test]
fn no_host_is_lost_with_a_process_that_was_to_lead() {
    for hosts in [2, 3] {
        let middle = amid(hosts);
        let mut killed_early = 0;
        for after_us in (0..60).map(|step| step * 250).chain([550, 600]) {
            let second = at(middle + after_us * 1_000, What::LauncherLoss);
            let faults = vec![at(middle, What::LauncherLoss), second];
            let plan = on_hosts(OFTEN, hosts, Plan { faults, ..Plan::calm(1, hosts, 2) });
            let ran = simulate::<__Main>((), &plan, true);
            killed_early +=
                u32::from(ran.log.iter().any(|line| line.contains("ended before host 0 had found it")));
            let nodes: Vec<_> =
                ran.outcome.failures.iter().filter(|failure| failure.node.is_some()).collect();
            assert!(nodes.is_empty(), "{hosts} hosts, after {after_us} us: {nodes:?}");
            came_out_right_perhaps_twice(ran);
        }
        assert!(killed_early > 0, "the moment was never met");
    }
}

/// Of two hosts one cannot tell that the other is lost from that it is cut off, unless it has the launcher.
#[test]
fn a_host_alone_goes_on_only_if_it_has_the_launcher() {
    let middle = amid(2);
    let other = came_out_right_perhaps_twice(ran(OFTEN, 2, vec![at(middle, What::HostLoss { host: 1 })]));
    assert_eq!(leaders(&other), [""; 0]);
    let own = ran(OFTEN, 2, vec![at(middle, What::HostLoss { host: 0 })]);
    assert_eq!((own.outcome.status, own.flaws), (137, Vec::new()), "{}", own.log.join("\n"));
}

#[test]
fn of_hosts_that_are_cut_off_from_each_other_only_the_larger_part_goes_on() {
    let middle = amid(3);
    let mut led = 0;
    for (alone, others) in [(0, vec![1, 2]), (1, vec![0, 2]), (2, vec![0, 1])] {
        for for_ns in [1_000_000_000, 15_000_000_000, 200_000_000_000] {
            let from = at(middle, What::Cut { from: vec![alone], to: others.clone(), for_ns });
            let to = at(middle, What::Cut { from: others.clone(), to: vec![alone], for_ns });
            led += leaders(&came_out_right_perhaps_twice(ran(OFTEN, 3, vec![from, to]))).len();
        }
    }
    assert!(led > 0, "the first host was cut off for long");
}

#[test]
fn crowds_at_the_doors_keep_no_agent_out() {
    let middle = amid(3);
    for strangers in [50, 1_000] {
        for node in 0..3 {
            let crowd = at(middle - 1_000_000, What::Crowd { node, strangers, for_ns: 60_000_000 });
            let ran = ran(OFTEN, 3, vec![crowd, at(middle, What::LauncherLoss)]);
            assert_eq!(leaders(&came_out_right_perhaps_twice(ran)).len(), 1);
        }
    }
}

#[test]
fn the_same_plan_gives_the_same_succession() {
    let middle = amid(3);
    let faults = [
        at(middle - 1_000_000, What::Crowd { node: 0, strangers: 100, for_ns: 20_000_000 }),
        at(middle, What::HostLoss { host: 0 }),
    ];
    let hash = || ran(OFTEN, 3, faults.to_vec()).outcome.trace;
    assert_eq!(hash(), hash());
}
