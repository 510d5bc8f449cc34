//! Message logging in a world of its own: random programs on a few nodes, losses at any step, recoveries that are cut
//! short.
//!
//! The world runs what ships (`talisman_ft::logging`), and sees what nobody in it does: what was taken, run and
//! printed, and by whom.

mod image;
mod job;
mod letters;
mod mail;
#[cfg(feature = "mutations")]
mod mistakes;
mod process;
mod program;
mod random;
mod shadow;

use std::collections::BTreeSet;

use job::Job;
use talisman_ft::NodeId;
use talisman_ft::logging::Shape;

/// A random life: so many losses of so many nodes at once.
fn live(seed: u64, nodes: u32, pes_per_node: u32, losses: u32, at_once: usize) -> Job {
    let _named = Named(format!(
        "seed {seed}: {nodes} nodes of {pes_per_node} PEs, {losses} losses of {at_once} at once"
    ));
    run(Job::new(Shape { nodes, pes_per_node }, seed, 24), losses, at_once)
}

/// Says which life it was, if it fails.
struct Named(String);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.0);
        }
    }
}

fn run(mut job: Job, losses: u32, at_once: usize) -> Job {
    let mut left = losses;
    let pause = 100 + 200 * job.random.below(4);
    for _ in 0..4000 {
        job.step();
        if left > 0 && job.random.one_in(pause) {
            left -= 1;
            let lost = draw_lost(&mut job, at_once);
            job.lose(&lost);
        }
        if job.given_up.is_some() {
            return job;
        }
    }
    job.settle();
    job.check_end();
    job
}

/// Some nodes; seldom one with its keeper, those included that are lost already.
fn draw_lost(job: &mut Job, at_once: usize) -> BTreeSet<NodeId> {
    let nodes = job.shape.nodes;
    loop {
        let count = 1 + job.random.below(at_once);
        let lost: BTreeSet<_> = (0..count).map(|_| job.random.below(nodes as usize) as NodeId).collect();
        if job.is_within_promise(&lost) || job.random.one_in(30) {
            return lost;
        }
    }
}

/// `TALISMAN_TEST_TIMES=50` for so many times as many lives as usual.
fn times() -> u64 {
    let times = std::env::var_os("TALISMAN_TEST_TIMES").and_then(|times| times.to_str()?.parse().ok());
    times.unwrap_or(1)
}

/// So many lives. Returns how many messages were run again, and how many lives were given up, as far as nobody
/// promises otherwise.
fn lives(seeds: u64, nodes: u32, pes_per_node: u32, losses: u32, at_once: usize) -> (u64, usize) {
    let (mut guided, mut given_up) = (0, 0);
    for seed in 0..seeds * times() {
        let job = live(seed, nodes, pes_per_node, losses, at_once);
        guided += job.shadow.guided;
        given_up += usize::from(job.given_up.is_some());
    }
    (guided, given_up)
}

#[test]
fn without_losses() {
    assert_eq!(lives(20, 3, 1, 0, 1), (0, 0));
    assert_eq!(lives(20, 3, 2, 0, 1), (0, 0));
}

#[test]
fn single_losses() {
    let (guided, given_up) = lives(200, 3, 1, 4, 1);
    assert!(guided > 1000, "{guided} messages were run again");
    assert!(given_up < 100 * times() as usize, "{given_up} jobs lost a node with its keeper");
}

#[test]
fn single_losses_of_nodes_with_two_pes() {
    let (guided, _) = lives(200, 3, 2, 4, 1);
    assert!(guided > 1000, "{guided} messages were run again");
}

#[test]
fn several_at_once() {
    let (guided, _) = lives(150, 5, 1, 5, 2);
    assert!(guided > 1000, "{guided} messages were run again");
    let (guided, _) = lives(100, 4, 2, 5, 2);
    assert!(guided > 1000, "{guided} messages were run again");
    let (guided, _) = lives(40, 6, 1, 6, 3);
    assert!(guided > 300, "{guided} messages were run again");
}

fn live_strictly(shape: Shape, seed: u64) -> Job {
    let _named = Named(format!("seed {seed}, strict"));
    run(Job::strict(shape, seed, 24), 5, 2)
}

#[test]
fn strict_jobs_that_lose_several_at_once() {
    let shape = Shape { nodes: 4, pes_per_node: 2 };
    let guided: u64 = (0..80 * times()).map(|seed| live_strictly(shape, seed).shadow.guided).sum();
    assert!(guided > 300, "{guided} messages were run again");
}

#[cfg(feature = "mutations")]
#[test]
fn a_strict_job_that_is_not_is_noticed() {
    talisman_observe::mutations::choose(Some("strict-leaves-before-stable"));
    let shape = Shape { nodes: 4, pes_per_node: 2 };
    let fails = |seed| std::panic::catch_unwind(|| run(Job::strict(shape, seed, 24), 5, 2)).is_err();
    let noticed = (0..200).any(fails);
    talisman_observe::mutations::choose(None);
    assert!(noticed);
}

/// A job that goes on to its end after these are lost.
fn lose_and_finish(mut job: Job, lost: &[NodeId]) {
    job.lose(&lost.iter().copied().collect());
    job.settle();
    assert!(job.given_up.is_none(), "given up");
    job.check_end();
}

/// Each node is lost at every step of a job.
fn lose_at_every_step(shape: Shape, steps: u32) {
    let mut job = Job::new(shape, 1, 10);
    for _ in 0..steps {
        (0..shape.nodes).for_each(|node| lose_and_finish(job.clone(), &[node]));
        job.step();
    }
}

#[test]
fn a_loss_at_every_step() {
    lose_at_every_step(Shape { nodes: 3, pes_per_node: 1 }, 300);
    lose_at_every_step(Shape { nodes: 3, pes_per_node: 2 }, 150);
}

/// Node 0 is lost now and then, and at every few steps of its recovery it is again, or another one that is neither
/// its keeper nor kept by it, or both.
#[test]
fn a_second_loss_at_every_step_of_a_recovery() {
    let mut job = Job::new(Shape { nodes: 4, pes_per_node: 1 }, 2, 10);
    for _ in 0..8 {
        (0..60).for_each(|_| job.step());
        let mut recovering = job.clone();
        recovering.lose(&BTreeSet::from([0]));
        while !recovering.leader.is_running() {
            for lost in [&[0][..], &[2], &[0, 2]] {
                lose_and_finish(recovering.clone(), lost);
            }
            (0..7).for_each(|_| recovering.step());
        }
    }
}
