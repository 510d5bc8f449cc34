//! Jobs over several hosts whose launcher is killed, alone or with more: an agent starts another.
//!
//! The hosts are this one ([`StandIn`]).

use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use talisman::rng::Rng;

use crate::asking::{ask, said};
use crate::buddies::{BOTH, EITHER, says_what_is_lost};
use crate::disk::Folder;
use crate::early::{DEATHS, deaths, started_again};
use crate::job::{Shape, until};
use crate::ssh_stand_in::{self, SSH, StandIn};
use crate::standby::{started_again_by, wait_for_standby};
use crate::strangers::{Crowd, doors};
use crate::subjects::{HELD_AT, LONG, Left, NEVER, Run, Said, led};
use crate::system::{children, signal, state};

/// A checkpoint now and then.
pub const OFTEN: &str = "--ckpt-every 4steps --ft-log";
/// Two hosts beside that of the launcher.
pub const TWO: &str = "one slots=2\ntwo slots=2";
/// The launcher's own takes part.
const WITH_OWN: &str = "localhost slots=2 address=127.0.0.1\none slots=1\ntwo slots=1";
pub const SHAPE: Shape = (4, 1, "shm");

/// A run that does not end before it is let go, in a folder of its own.
pub struct Spread {
    pub run: Run,
    holding: Folder,
    hosts: StandIn,
}

pub fn begin(hosts: &str, options: &str) -> Spread {
    begin_with(SHAPE, hosts, options)
}

fn begin_with(shape: Shape, hosts: &str, options: &str) -> Spread {
    begin_by(SSH, shape, hosts, options)
}

fn begin_by(ssh: &str, shape: Shape, hosts: &str, options: &str) -> Spread {
    let (hosts, holding) = (StandIn::new(ssh, hosts), Folder::new());
    let options = format!("--ft double --hosts hosts {options} {}", holding.holding());
    let run = LONG.start_by(shape, &options, |command| hosts.around(command));
    Spread { run, holding, hosts }
}

impl Spread {
    pub fn kill_launcher(&self) {
        signal(self.run.job.launcher_pid(), Signal::KILL);
    }

    #[track_caller]
    pub fn agent(&self, host: &str) -> i32 {
        ssh_stand_in::agent(&self.run.job, host)
    }

    #[track_caller]
    fn leader(&self, after: usize) -> i32 {
        ssh_stand_in::leader(&self.run.job, after)
    }

    /// What is left, and what was printed elsewhere; how many processes have led the job after the first.
    #[track_caller]
    fn ends(self) -> (Left, Vec<String>, usize) {
        self.holding.let_go();
        let left = self.run.ends_without_its_launcher();
        let [elsewhere, errors] = ["out", "err"].map(|kind| self.hosts.printed_elsewhere(kind));
        let led = led(&left.ended.stderr) + led(&errors);
        (left, elsewhere, led)
    }

    /// The same of a program that had begun when its launcher was lost.
    #[track_caller]
    pub fn survives(self, expected: &Said) -> Left {
        let left = self.goes_on(expected);
        assert!(left.failures.iter().any(|failure| failure["node"].is_null()), "{:?}", left.failures);
        left
    }

    /// No output is missing or wrong, though lines may have come twice, wherever it was printed.
    #[track_caller]
    fn goes_on(self, expected: &Said) -> Left {
        let (left, elsewhere, led) = self.ends();
        left.said.check_repeats(1, 0);
        left.said.and_elsewhere(&elsewhere).check_repeats(1 + led, HELD_AT);
        let said = left.said.and_before(&elsewhere);
        let (missing, wrong) = (expected.without(&said), said.without(expected));
        assert_eq!((missing, wrong), (vec![], vec![]), "{}", left.ended.said());
        assert!(said.has_the_results_of(expected), "{}", left.ended.said());
        assert_eq!(left.status, Some(0), "{}", left.ended.said());
        left
    }
}

/// Whether somebody stood by to the end of its launcher, and could not tell whether the job goes on.
fn is_unclear(left: &Left) -> bool {
    left.ended.stderr.iter().any(|line| line.contains("cannot be told here"))
}

/// Its agent is killed, and its nodes with that, while the first of them joins the job.
pub fn a_host_that_is_lost_before_the_program_begins() {
    let expected = LONG.undisturbed(SHAPE);
    let deaths = deaths(1, "host");
    let Spread { run, holding, hosts: _hosts } = begin_by(&ssh_with(&deaths), SHAPE, TWO, NEVER);
    holding.let_go();
    let left = run.survives(&expected);
    assert_eq!(started_again(&left.ended.stderr, "two"), 1, "{}", left.ended.said());
    assert_eq!(left.failures.len(), 0, "the program that ran has lost nobody");
}

/// What is called as ssh, where nodes of one host find these deaths.
fn ssh_with(deaths: &Folder) -> String {
    let on_two = format!("[ \"$2\" = two ] && export {DEATHS}='{}'\nexec 3<&0", deaths.0.display());
    let ssh = SSH.replacen("exec 3<&0", &on_two, 1);
    assert_ne!(ssh, SSH);
    ssh
}

/// A node elsewhere has stopped, so that none is told to begin.
pub fn the_launcher_of_several_hosts_before_the_program_begins() {
    let expected = LONG.undisturbed(SHAPE);
    for hosts in [TWO, WITH_OWN] {
        let deaths = deaths(1, "stopped");
        let Spread { run, holding, hosts: _hosts } = begin_by(&ssh_with(&deaths), SHAPE, hosts, NEVER);
        let launcher = run.job.launcher_pid();
        let standby = wait_for_standby(&run.job, launcher);
        let has_stopped = || run.job.processes().into_iter().any(|node| state(node) == Some('T'));
        until(|| has_stopped().then_some(())).unwrap_or_else(|| panic!("{}", run.job.said()));
        signal(launcher, Signal::KILL);
        holding.let_go();
        let left = run.ends_without_its_launcher();
        assert_eq!(left.said, expected, "{}", left.ended.said());
        assert_eq!(left.status, Some(0), "{}", left.ended.said());
        assert_eq!(started_again_by(&left.ended.stderr), [standby], "{}", left.ended.said());
        assert_eq!(left.failures.len(), 0, "the program that ran has lost nobody");
    }
}

/// Strangers hold every place at every door of agents and nodes, and more come all the time.
pub fn crowds_at_the_doors_of_agents_without_the_launcher() {
    let expected = LONG.undisturbed(SHAPE);
    let spread = begin(TWO, OFTEN);
    spread.run.job.wait_for("at 14");
    let crowd = Crowd::at(&doors(&spread.run.job.processes()));
    spread.kill_launcher();
    let left = spread.survives(&expected);
    assert!(crowd.leave() > 500, "nobody came");
    assert_eq!(left.status, Some(0), "{}", left.ended.said());
}

pub fn the_launcher_of_several_hosts() {
    let expected = LONG.undisturbed(SHAPE);
    for (hosts, every) in [(TWO, NEVER), (WITH_OWN, OFTEN)] {
        let spread = begin(hosts, every);
        spread.run.job.wait_for("at 14");
        spread.kill_launcher();
        let left = spread.survives(&expected);
        assert_eq!(left.losses, [], "{}", left.ended.said());
        assert!(!is_unclear(&left), "{}", left.ended.said());
    }
}

/// What agents and the one that leads next say to each other is encrypted, too.
pub fn the_launcher_of_several_hosts_with_encryption() {
    let expected = LONG.undisturbed(SHAPE);
    let spread = begin(WITH_OWN, &format!("{OFTEN} --respawn --tls"));
    spread.run.job.wait_for("at 14");
    spread.kill_launcher();
    spread.run.job.wait_until_held_twice("after the loss of the launcher");
    signal(children(spread.agent("two"))[0], Signal::KILL);
    spread.run.job.wait_until_held_twice("with node 3 in a new process");
    signal(spread.leader(0), Signal::KILL);
    let second = spread.leader(1);
    spread.run.job.wait_until_held_twice(&format!("process {second} leads"));
    let own = spread.agent("");
    let nodes = children(own);
    signal(second, Signal::STOP);
    [own].into_iter().chain(nodes).chain([second]).for_each(|process| signal(process, Signal::KILL));
    let left = spread.survives(&expected);
    assert_eq!(left.lost()[..3], [None, Some(3), None], "{}", left.ended.said());
}

/// By a process that the same agent starts.
pub fn one_successor_after_another() {
    let expected = LONG.undisturbed(SHAPE);
    let spread = begin(TWO, OFTEN);
    spread.run.job.wait_for("at 14");
    spread.kill_launcher();
    for before in 0..3 {
        let leader = spread.leader(before);
        spread.run.job.wait_for_error_after(&format!("process {leader} leads"), "went back to");
        signal(leader, Signal::KILL);
    }
    spread.leader(3);
    spread.survives(&expected);
}

/// With all that runs on the launcher's host: an agent of another starts one, which prints to files there.
pub fn the_launcher_with_its_whole_host() {
    let expected = LONG.undisturbed(SHAPE);
    for (hosts, lost) in [(TWO, vec![]), (WITH_OWN, vec![(0, false), (1, false)])] {
        let spread = begin(hosts, OFTEN);
        spread.run.job.wait_for("at 14");
        let own = spread.agent("");
        let nodes = children(own);
        // The launcher shall not hear of it, and the agent not start another one, which could do without it. To stop the agent and kill the
        // launcher first would not do: the system has stopped processes go on that lose their parent.
        signal(spread.run.job.launcher_pid(), Signal::STOP);
        signal(own, Signal::KILL);
        nodes.into_iter().for_each(|node| signal(node, Signal::KILL));
        spread.kill_launcher();
        let told = until(|| {
            spread
                .hosts
                .printed_elsewhere("err")
                .iter()
                .any(|line| line.contains(" on the host one leads now"))
                .then_some(())
        });
        told.unwrap_or_else(|| panic!("nobody leads: {}", spread.run.job.said()));
        let left = spread.survives(&expected);
        assert_eq!(left.losses, lost);
        // Who stood by for the launcher is left. Without nodes on its host it has not been told that any has begun.
        assert_eq!(is_unclear(&left), hosts == TWO, "{}", left.ended.said());
    }
}

/// Until one host is left.
pub fn one_host_after_another() {
    let expected = LONG.undisturbed(SHAPE);
    let spread = begin(TWO, OFTEN);
    spread.run.job.wait_for("at 14");
    spread.kill_launcher();
    let leader = spread.leader(0);
    spread.run.job.wait_until_held_twice(" went back to ");
    signal(spread.agent("one"), Signal::KILL);
    spread.run.job.wait_until_held_twice("after the loss of node");
    let own = spread.agent("");
    signal(leader, Signal::KILL);
    signal(own, Signal::KILL);
    let left = spread.survives(&expected);
    assert_eq!(left.lost(), [None, Some(0), Some(1), None], "{}", left.ended.said());
}

/// While the others halt, restore, or make lost copies again.
pub fn the_launcher_of_several_hosts_during_a_recovery() {
    let mut rng = Rng::new(25);
    let expected = LONG.undisturbed(SHAPE);
    for round in 0..4 {
        let spread = begin([TWO, WITH_OWN][round % 2], &format!("{OFTEN} {}", ["", "--respawn"][round / 2]));
        spread.run.job.wait_for("at 14");
        signal(children(spread.agent("two"))[0], Signal::KILL);
        sleep(Duration::from_micros(rng.below(30_000)));
        spread.kill_launcher();
        spread.survives(&expected);
    }
}

/// It is there, and does not answer: its own host's agent kills it.
pub fn a_launcher_of_several_hosts_that_is_stopped_is_fenced() {
    let expected = LONG.undisturbed(SHAPE);
    let spread = begin(TWO, &format!("{NEVER} --silence 3s"));
    spread.run.job.wait_for("at 14");
    signal(spread.run.job.launcher_pid(), Signal::STOP);
    let first = spread.leader(0);
    spread.run.job.wait_for_error("began the program anew");
    signal(first, Signal::STOP);
    spread.leader(1);
    spread.survives(&expected);
}

/// Its agent and its nodes, after the others have gone on without them: they end, while the job does not.
pub fn a_host_that_was_stopped_does_no_harm_when_it_goes_on() {
    let expected = LONG.undisturbed(SHAPE);
    // The launcher kills what it has started with all that is in its group. What is on another host is not.
    let ssh = SSH.replace(" sh -c ", " setsid sh -c ");
    let spread = begin_by(&ssh, SHAPE, TWO, &format!("{OFTEN} --silence 3s"));
    spread.run.job.wait_for("at 14");
    let agent = spread.agent("two");
    let stopped = [vec![agent], children(agent)].concat();
    assert_eq!(stopped.len(), 3, "{}", spread.run.job.said());
    stopped.iter().for_each(|pid| signal(*pid, Signal::STOP));
    spread.run.job.wait_for_error("it said nothing for 3s");
    spread.run.job.wait_until_held_twice("after the loss of nodes 2 and 3");
    let states: Vec<_> = stopped.iter().map(|pid| state(*pid)).collect();
    assert_eq!(states, [Some('T'); 3], "nobody can kill them: {}", spread.run.job.said());
    stopped.iter().for_each(|pid| signal(*pid, Signal::CONT));
    let left = || spread.run.job.processes().into_iter().any(|pid| stopped.contains(&pid));
    until(|| (!left()).then_some(())).unwrap_or_else(|| panic!("they go on: {}", spread.run.job.said()));
    let Spread { run, holding, hosts: _hosts } = spread;
    holding.let_go();
    let mut losses = run.survives(&expected).losses;
    losses.sort_unstable();
    assert_eq!(losses, [(2, false), (3, false)]);
}

/// Where they were, or on another host if that is lost.
pub fn nodes_of_several_hosts_are_replaced_without_the_launcher() {
    let expected = LONG.undisturbed(SHAPE);
    let spread = begin(TWO, &format!("{OFTEN} --respawn"));
    spread.run.job.wait_for("at 14");
    spread.kill_launcher();
    spread.run.job.wait_until_held_twice("after the loss of the launcher");
    let two = spread.agent("two");
    signal(children(two)[0], Signal::KILL);
    spread.run.job.wait_until_held_twice("in a new process");
    signal(two, Signal::KILL);
    spread.run.job.wait_until_held_twice("with nodes 2 and 3 in a new process");
    let left = spread.survives(&expected);
    assert!(left.losses.iter().all(|(_, replaced)| *replaced), "{}", left.ended.said());
}

/// A host that had no node has two then, and is lost with them.
pub fn nodes_are_added_on_several_hosts_without_the_launcher() {
    let shape = (2, 1, "shm");
    let expected = LONG.undisturbed(shape);
    let spread = begin_with(shape, TWO, &format!("{OFTEN} --max-nodes 4 --balancer greedy"));
    spread.run.job.wait_for("at 14");
    spread.kill_launcher();
    spread.run.job.wait_until_held_twice("after the loss of the launcher");
    said(&ask(&spread.run, "grow", ""), 0, "the job goes on with nodes 2 and 3");
    said(&ask(&spread.run, "checkpoint", ""), 0, "is taken");
    let two = spread.agent("two");
    assert_eq!(children(two).len(), 2, "{}", spread.run.job.said());
    signal(two, Signal::KILL);
    spread.run.job.wait_for_error("after the loss of nodes 2 and 3");
    let mut losses = spread.survives(&expected).losses;
    losses.sort_unstable();
    assert_eq!(losses, [(2, false), (3, false)]);
}

/// Who waited has ended with the launcher: another one does, for whoever leads then, and is the first node that is added.
pub fn a_spare_is_added_on_several_hosts_without_the_launcher() {
    let shape = (2, 1, "tcp");
    let expected = LONG.undisturbed(shape);
    let hosts = "one slots=1\ntwo slots=2\nthree slots=2";
    let spread = begin_with(shape, hosts, &format!("{OFTEN} --max-nodes 4 --spares 1"));
    spread.run.job.wait_for("at 14");
    spread.kill_launcher();
    spread.run.job.wait_until_held_twice("after the loss of the launcher");
    said(&ask(&spread.run, "grow", "1"), 0, "the job goes on with node 2");
    said(&ask(&spread.run, "grow", ""), 0, "the job goes on with node 3");
    said(&ask(&spread.run, "checkpoint", ""), 0, "is taken");
    signal(spread.agent("two"), Signal::KILL);
    spread.run.job.wait_for_error("nodes went back to");
    let losses = spread.survives(&expected).losses;
    assert!(losses.contains(&(1, false)), "{losses:?}");
}

/// Whoever leads knows where lost nodes have come to: the copy of what node 1 has is not on the host where that is by then.
pub fn replaced_nodes_are_found_where_they_are_without_the_launcher() {
    let shape = (3, 1, "tcp");
    let expected = LONG.undisturbed(shape);
    let hosts = "one slots=2\ntwo slots=1\nthree slots=1";
    let spread = begin_with(shape, hosts, &format!("{NEVER} --respawn --max-nodes 4"));
    let has = |host: &str, count: usize| {
        let agent = spread.agent(host);
        let there = until(|| Some(children(agent)).filter(|nodes| nodes.len() == count));
        there.unwrap_or_else(|| panic!("not {count} on {host}: {}", spread.run.job.said()));
        agent
    };
    let checkpoint = || said(&ask(&spread.run, "checkpoint", ""), 0, "is taken");
    spread.run.job.wait_for("at 14");
    checkpoint();
    signal(spread.agent("one"), Signal::KILL);
    spread.run.job.wait_for_error("with nodes 0 and 1 in a new process");
    has("three", 1);
    checkpoint();
    spread.kill_launcher();
    spread.run.job.wait_for_error("after the loss of the launcher");
    checkpoint();
    signal(has("two", 2), Signal::KILL);
    spread.run.job.wait_for_error("with nodes 1 and 2 in a new process");
    has("three", 3);
    let mut losses = spread.survives(&expected).losses;
    losses.sort_unstable();
    assert_eq!(losses, [(0, true), (1, true), (1, true), (2, true)]);
}

/// As many wait again.
pub fn spares_of_several_hosts_without_the_launcher() {
    let expected = LONG.undisturbed(SHAPE);
    let spread = begin("one slots=3\ntwo slots=3", &format!("{OFTEN} --spares 2"));
    spread.run.job.wait_for("at 14");
    spread.kill_launcher();
    spread.run.job.wait_until_held_twice("after the loss of the launcher");
    signal(children(spread.agent("one"))[0], Signal::KILL);
    spread.run.job.wait_for_error("with node 0 in a new process");
    assert_eq!(spread.survives(&expected).losses, [(0, true)]);
}

/// Under the number of the process that was started.
pub fn a_job_on_several_hosts_without_its_launcher_is_asked() {
    let expected = LONG.undisturbed(SHAPE);
    let spread = begin(TWO, OFTEN);
    spread.run.job.wait_for("at 14");
    spread.kill_launcher();
    spread.run.job.wait_for_error_after("leads now", " went back to ");
    said(&ask(&spread.run, "checkpoint", ""), 0, "is taken; after the loss of all nodes: --restart");
    said(&ask(&spread.run, "shrink", "3"), 0, "the job goes on without node 3");
    signal(spread.leader(0), Signal::KILL);
    spread.leader(1);
    let left = spread.survives(&expected);
    assert_eq!(left.losses, [], "{}", left.ended.said());
}

/// A failure of the program, and somebody who asks it to end.
pub fn other_ends_of_several_hosts_without_the_launcher() {
    let spread = begin(TWO, &format!("{OFTEN} --panic-at 70"));
    spread.run.job.wait_for("at 14");
    spread.kill_launcher();
    let (left, ..) = spread.ends();
    assert_eq!(left.status, Some(1), "{}", left.ended.said());
    let spread = begin(TWO, OFTEN);
    spread.run.job.wait_for("at 14");
    spread.kill_launcher();
    signal(spread.leader(0), Signal::TERM);
    // It is not let go: that alone ends it.
    let Spread { run, holding: _holding, hosts: _hosts } = spread;
    assert_eq!(run.ends_without_its_launcher().status, Some(143));
}

/// Whoever leads then says what was lost with them, and so do the nodes that are left on each host.
pub fn both_buddies_of_several_hosts_without_the_launcher() {
    for more in EITHER {
        let hosts = "one slots=2\ntwo slots=2\nthree slots=2";
        let spread = begin_with((5, 1, "shm"), hosts, &format!("{OFTEN} {BOTH} {more}"));
        spread.run.job.wait_for("at 14");
        spread.kill_launcher();
        spread.run.job.wait_until_held_twice("after the loss of the launcher");
        let (left, ..) = spread.ends();
        assert_eq!(left.status, Some(3), "{}", left.ended.said());
        says_what_is_lost(&left.ended, "");
    }
}

/// The launcher at any moment, and soon after it something else: an agent, a node, or whoever leads.
pub fn the_launcher_of_several_hosts_and_more_at_random_moments() {
    let mut rng = Rng::new(35);
    let expected = LONG.undisturbed(SHAPE);
    for round in 0..rounds() {
        let hosts = [TWO, WITH_OWN][round % 2];
        let spread = begin(hosts, &format!("{NEVER} {}", ["", "--respawn"][round / 2 % 2]));
        spread.run.job.wait_for(&format!("at {}", 2 + rng.below(50)));
        let agents = ["", "one", "two"].map(|host| spread.agent(host));
        let nodes: Vec<i32> = agents.into_iter().flat_map(children).collect();
        spread.kill_launcher();
        sleep(Duration::from_micros(rng.below(300_000)));
        let left = spread.run.job.processes();
        let all: Vec<i32> = agents.into_iter().chain(nodes).chain(left).collect();
        let victim = all[rng.below(all.len() as u64) as usize];
        signal(victim, Signal::KILL);
        spread.survives(&expected);
    }
}

/// At its start, from when somebody stands by, all goes on. Near its end the job may be over: whatever becomes of it, nothing is left.
pub fn the_launcher_of_several_hosts_at_the_start_and_at_the_end() {
    let mut rng = Rng::new(45);
    let expected = LONG.undisturbed(SHAPE);
    let (mut starts, mut again) = (0, 0);
    for round in 0..rounds() {
        let spread = begin([TWO, WITH_OWN][round % 2], OFTEN);
        if round / 2 % 2 == 0 {
            wait_for_standby(&spread.run.job, spread.run.job.launcher_pid());
            sleep(Duration::from_micros(rng.below(250_000)));
            spread.kill_launcher();
            let left = spread.goes_on(&expected);
            assert!(!is_unclear(&left), "{}", left.ended.said());
            starts += 1;
            again += started_again_by(&left.ended.stderr).len();
            continue;
        }
        spread.holding.let_go();
        spread.run.job.wait_for("at 80");
        sleep(Duration::from_micros(rng.below(60_000)));
        spread.kill_launcher();
        assert!(spread.run.job.is_over(), "left behind: {}", spread.run.job.said());
    }
    println!("of {starts} jobs whose launcher was killed at the start, {again} were started again");
}

/// So many, or as many as are asked for.
fn rounds() -> usize {
    std::env::var("TALISMAN_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(4)
}
