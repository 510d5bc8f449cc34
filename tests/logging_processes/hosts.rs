//! Jobs over several hosts whose launcher is killed, alone or with more: an agent starts another, and nobody goes back but who is lost as well.
//!
//! The hosts are this one ([`StandIn`]); `tests/hosts/logged.rs` has some that are not.

use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use talisman::rng::Rng;

use crate::executions::{Left, Relay};
use crate::job::{Shape, until};
use crate::losses::{NO_CUTS, ROUNDS, SLOW, kill, undisturbed};
use crate::ssh_stand_in::{self, SSH, StandIn};
use crate::system::{children, signal};
use crate::variants::{STRICT, TICKET};

crate::trials::checks!(
    the_launcher_is_lost_and_nobody_goes_back,
    the_launcher_is_lost_with_a_node_of_another_host,
    the_launcher_is_lost_while_a_node_goes_back,
    the_launcher_is_lost_during_a_cut,
    one_launcher_after_another_is_lost,
    the_launcher_is_lost_with_its_whole_host,
    with_tickets_the_launchers_host_may_have_one_node,
    one_host_after_another_is_lost_with_whoever_leads,
);

const LOGGING: &str = "logging";
const SHAPE: Shape = (4, 1, "mixed");
/// Two hosts beside that of the launcher.
const TWO: &str = "one slots=2\ntwo slots=2";
/// The launcher's own takes part.
const WITH_OWN: &str = "localhost slots=2 address=127.0.0.1\none slots=1\ntwo slots=1";
/// Each variant, on hosts of both kinds.
const ALL: [(&str, &str); 3] = [(LOGGING, WITH_OWN), (STRICT, WITH_OWN), (TICKET, TWO)];
const LEADS: &str = "leads now";
/// The job has got over a loss.
const SETTLED: &str = "went back";

/// A relay on several hosts.
struct Spread {
    relay: Relay,
    hosts: StandIn,
}

impl Spread {
    fn start(variant: &str, hosts: &str, options: &str) -> Spread {
        Spread::start_with(SHAPE, variant, hosts, options)
    }

    fn start_with(shape: Shape, variant: &str, hosts: &str, options: &str) -> Spread {
        let hosts = StandIn::new(SSH, hosts);
        let options = format!("--ft {variant} --hosts hosts {SLOW} {options}");
        let relay = Relay::start_by(shape, &options, |command| hosts.around(command));
        relay.note_launcher();
        Spread { relay, hosts }
    }

    fn agent(&self, host: &str) -> i32 {
        ssh_stand_in::agent(&self.relay.job, host)
    }

    /// The first node of a host.
    fn node(&self, host: &str) -> i32 {
        children(self.agent(host))[0]
    }

    fn kill_launcher(&self) {
        kill(self.relay.job.launcher_pid());
    }

    /// With its agent and its nodes, and no process of another host. It shall not hear of it, and the agent not start another one.
    fn kill_launchers_host(&self) {
        signal(self.relay.job.launcher_pid(), Signal::STOP);
        self.kill_host("");
        self.kill_launcher();
    }

    fn kill_host(&self, host: &str) {
        let agent = self.agent(host);
        [vec![agent], children(agent)].concat().into_iter().for_each(kill);
    }

    /// The process that leads on another host than the first launcher's.
    fn leader_elsewhere(&self) -> i32 {
        let errors = self.hosts.printed_elsewhere("err");
        let told = errors.iter().find_map(|line| line.split_once("the launcher is gone; process "));
        let pid = told.and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
        pid.expect("somebody leads there")
    }

    /// What launchers have said, on whichever host.
    fn errors(&self) -> Vec<String> {
        [self.relay.job.errors(), self.hosts.printed_elsewhere("err")].concat()
    }

    /// Waits until so many launchers have taken the former one's place, and the last one has said this since.
    #[track_caller]
    fn wait_for(&self, launchers: usize, text: &str) {
        let is_said = || {
            let errors = self.errors();
            let led: Vec<_> = (0..errors.len()).filter(|line| errors[*line].contains(LEADS)).collect();
            let since = *led.get(launchers.checked_sub(1)?)?;
            errors[since..].iter().any(|line| line.contains(text)).then_some(())
        };
        until(is_said)
            .unwrap_or_else(|| panic!("no {text:?}: {:?} {}", self.errors(), self.relay.job.said()));
    }

    /// To its end in order, which came to what an undisturbed job comes to. Lines that were printed on another host may have been printed before.
    #[track_caller]
    fn ends(self) -> Left {
        let expected = undisturbed(SHAPE, "");
        self.ends_like(&expected, 1)
    }

    /// The same, where so many launchers have printed on hosts of their own.
    #[track_caller]
    fn ends_like(self, expected: &Left, launchers: usize) -> Left {
        let Spread { relay, hosts } = self;
        let left = relay.end_without_launcher(&[]).and_elsewhere(hosts.printed_elsewhere("out"), launchers);
        left.is_like(expected);
        left
    }
}

fn the_launcher_is_lost_and_nobody_goes_back() {
    for (variant, hosts) in ALL {
        let spread = Spread::start(variant, hosts, NO_CUTS);
        spread.relay.wait_for(1, 20, &[]);
        spread.kill_launcher();
        spread.wait_for(1, "nobody went back");
        let left = spread.ends();
        left.only_these_went_back(ROUNDS, &[]);
        assert_eq!(left.lost_with_launchers(), [None], "{}", left.ended.said());
    }
}

fn the_launcher_is_lost_with_a_node_of_another_host() {
    for (variant, hosts) in ALL {
        let spread = Spread::start(variant, hosts, NO_CUTS);
        spread.relay.wait_for(1, 20, &[]);
        let victim = spread.node("two");
        spread.kill_launcher();
        kill(victim);
        spread.wait_for(1, "nobody else went back");
        let lost = if hosts == TWO { 2 } else { 3 };
        let left = spread.ends();
        left.only_these_went_back(ROUNDS, &[(lost, 2)]);
        assert_eq!(left.lost_with_launchers(), [None, Some(lost.into())], "{}", left.ended.said());
    }
}

/// It is not known how far that has come: it may have to begin once more.
fn the_launcher_is_lost_while_a_node_goes_back() {
    let mut rng = Rng::new(33);
    for (variant, hosts) in ALL {
        let spread = Spread::start(variant, hosts, NO_CUTS);
        spread.relay.wait_for(1, 20, &[]);
        kill(spread.node("two"));
        sleep(Duration::from_micros(rng.below(40_000)));
        spread.kill_launcher();
        spread.wait_for(1, SETTLED);
        let lost = if hosts == TWO { 2 } else { 3 };
        let left = spread.ends();
        for (runner, processes) in &left.executed {
            assert!(*runner == lost || processes.len() == 1, "{runner}: {}", left.ended.said());
        }
    }
}

/// By a runner whose part is taken, or that is made anew: the others do not have theirs, or have not heard of the next line.
fn the_launcher_is_lost_during_a_cut() {
    for (variant, hosts, traps, lost) in [
        (TICKET, WITH_OWN, "pack:0>launcher", &[][..]),
        (LOGGING, TWO, "pack:1>launcher,pack:1>2", &[(2, 2)]),
        (LOGGING, WITH_OWN, "restored:1>launcher", &[]),
        (STRICT, TWO, "restored:1>launcher,restored:1>2", &[(2, 2)]),
    ] {
        let spread = Spread::start(variant, hosts, &format!("--ckpt-every 15steps --trap {traps}"));
        // Far behind the first cut, and not to the end.
        spread.relay.go_on_to(49);
        spread.wait_for(1, SETTLED);
        let left = spread.ends();
        let begins = left.went_back_to(ROUNDS, lost);
        let is_of_next_line = traps.starts_with("restored");
        let are_right = begins.values().flatten().all(|begin| (*begin > 1) == is_of_next_line);
        assert!(are_right && left.checkpoints() >= 2, "{traps}: {begins:?}: {}", left.ended.said());
    }
}

/// By a process that the same agent starts; and the last one with that agent and its nodes.
fn one_launcher_after_another_is_lost() {
    for (variant, hosts) in [(LOGGING, WITH_OWN), (TICKET, TWO)] {
        let spread = Spread::start(variant, hosts, "--ckpt-every 15steps");
        spread.relay.wait_for(1, 20, &[]);
        spread.kill_launcher();
        for before in 0..2 {
            let leader = ssh_stand_in::leader(&spread.relay.job, before);
            spread.wait_for(before + 1, "nobody went back");
            kill(leader);
        }
        let last = ssh_stand_in::leader(&spread.relay.job, 2);
        spread.wait_for(3, "nobody went back");
        signal(last, Signal::STOP);
        spread.kill_host("");
        kill(last);
        spread.wait_for(4, SETTLED);
        let left = spread.ends();
        let lost: &[_] = if hosts == TWO { &[] } else { &[(0, 2), (1, 2)] };
        left.went_back_to(ROUNDS, lost);
        assert_eq!(left.lost_with_launchers()[..4], [None; 4], "{}", left.ended.said());
    }
}

fn the_launcher_is_lost_with_its_whole_host() {
    for (variant, hosts, lost) in [
        (LOGGING, TWO, &[][..]),
        (STRICT, WITH_OWN, &[(0, 2), (1, 2)]),
        (TICKET, "localhost slots=1 address=127.0.0.1\none slots=2\ntwo slots=1", &[(0, 2)]),
    ] {
        let spread = Spread::start(variant, hosts, NO_CUTS);
        spread.relay.wait_for(1, 20, &[]);
        spread.kill_launchers_host();
        spread.wait_for(1, SETTLED);
        assert!(spread.errors().iter().any(|line| line.contains("on the host one leads now")));
        spread.ends().only_these_went_back(ROUNDS, lost);
    }
}

fn with_tickets_the_launchers_host_may_have_one_node() {
    let spread = Spread::start(TICKET, WITH_OWN, NO_CUTS);
    spread.relay.wait_for(1, 20, &[]);
    spread.kill_launchers_host();
    spread.wait_for(1, "the job cannot go on: nodes 0 and 1 were away at once");
    let left = spread.relay.leave();
    assert_eq!(left.report["status"], 3, "{}", left.ended.said());
}

/// Lost nodes come to other hosts, and one to that of its keeper. After the next cut that host may be lost as well.
fn one_host_after_another_is_lost_with_whoever_leads() {
    let shape = (6, 1, "tcp");
    let expected = undisturbed(shape, "");
    let hosts = "localhost slots=2 address=127.0.0.1\none slots=2\ntwo slots=2";
    for variant in [LOGGING, STRICT] {
        let spread = Spread::start_with(shape, variant, hosts, &format!("{NO_CUTS} --ft-log"));
        spread.relay.wait_for(1, 20, &[]);
        spread.kill_launchers_host();
        spread.wait_for(1, SETTLED);
        // Nobody has asked for one but whoever leads.
        spread.wait_for(1, "committed after");
        spread.relay.wait_for(0, 45, &[]);
        kill(spread.leader_elsewhere());
        spread.kill_host("one");
        spread.wait_for(2, SETTLED);
        let left = spread.ends_like(&expected, 2);
        for survivor in [4, 5] {
            assert_eq!(left.executed[&survivor].len(), 1, "{}", left.ended.said());
        }
    }
}
