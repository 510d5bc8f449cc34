//! What several tests need.

use std::time::Duration;

use talisman::chare::{Args, MainChare};
use talisman::launch::checkpoints::{CkptEvery, FaultTolerance};
use talisman::launch::options::{Transport, TransportChoice};
use talisman::testing::{Test, Tested};

/// Runs a program in every manner: on threads and simulated, as it is, with every message packed, with every object
/// packed after each message, and without some of its nodes. The lines of its output, sorted where they come from several PEs,
/// are always these.
#[allow(dead_code, reason = "not every test binary has programs that do not")]
pub fn same_everywhere<C: MainChare, A: Args + Send>(args: impl Fn() -> A, expected: &[&str]) {
    let manners = manners().into_iter().chain(replayed()).chain(going_back()).chain(with_losses());
    same_in::<C, A>(manners.chain(logging()), args, expected);
}

/// The same where all nodes are there: for programs that look where they are.
#[allow(dead_code, reason = "not every test binary has programs that look where they are")]
pub fn same_with_all_nodes<C: MainChare, A: Args + Send>(args: impl Fn() -> A, expected: &[&str]) {
    same_in::<C, A>(manners().into_iter().chain(replayed()).chain(going_back()), args, expected);
}

fn same_in<C: MainChare, A: Args + Send>(
    manners: impl IntoIterator<Item = (String, Test)>,
    args: impl Fn() -> A,
    expected: &[&str],
) {
    for (name, test) in manners {
        eprintln!("{name}");
        let tested = test.run::<C>(args());
        assert_ended_well(&name, &tested);
        if name.starts_with(LOGGING) {
            // A line waits until nothing can take it back, on each node for itself.
            assert_eq!(sorted(tested.output), sorted(expected.to_vec()), "{name}");
        } else {
            assert_eq!(tested.output, expected, "{name}");
        }
    }
}

fn sorted<T: Ord>(mut lines: Vec<T>) -> Vec<T> {
    lines.sort_unstable();
    lines
}

pub fn assert_ended_well(name: &str, tested: &Tested) {
    assert_eq!((tested.status, &tested.message), (0, &None), "{name}: {:?}", tested.output);
}

/// Every manner of running a program, those among them in which it goes back, and in which nodes are lost.
#[allow(dead_code, reason = "not every test binary looks at ends by itself")]
pub fn manners_and_losses() -> impl Iterator<Item = (String, Test)> {
    manners().into_iter().chain(replayed()).chain(going_back()).chain(with_losses())
}

/// Every manner of running a program.
pub fn manners() -> Vec<(String, Test)> {
    let mut all = Vec::new();
    for pes in [1, 2, 8] {
        all.push((format!("{pes} PEs"), Test::new().pes(pes)));
        all.push((format!("{pes} PEs, packed messages"), Test::new().pes(pes).packing_messages()));
        let both = Test::new().pes(pes).packing_messages().repacking_objects();
        all.push((format!("{pes} PEs, packed messages and objects"), both));
    }
    for (nodes, pes, transport) in [
        (2, 1, Transport::Shm.into()),
        (2, 1, Transport::Tcp.into()),
        (2, 1, Transport::Unix.into()),
        (3, 2, TransportChoice::Mixed),
    ] {
        let test = Test::new().pes(pes).nodes(nodes, transport);
        all.push((format!("{nodes} nodes of {pes} PEs, {transport:?}"), test));
    }
    for seed in 0..5 {
        for nodes in [1, 3] {
            let test = Test::new().pes(2).simulated(nodes, seed);
            all.push((format!("simulated, {nodes} nodes, seed {seed}"), test.clone()));
            all.push((format!("simulated, {nodes} nodes, seed {seed}, repacked"), test.repacking_objects()));
        }
    }
    all.extend(with_checkpoints());
    all
}

/// The manners in which every PE is run again afterwards from what it was given, and has to send the same: with checkpoints too, and where the
/// job goes back to some.
pub fn replayed() -> Vec<(String, Test)> {
    let mut all = Vec::new();
    for seed in 0..3 {
        for nodes in [1, 3] {
            let test = Test::new().pes(2).simulated(nodes, seed).verifying_replay();
            all.push((format!("replayed, {nodes} nodes, seed {seed}"), test));
        }
    }
    all.extend(
        with_checkpoints()
            .into_iter()
            .chain(going_back())
            .filter(|(name, _)| name.starts_with("simulated"))
            .map(|(name, test)| (format!("replayed, {name}"), test.verifying_replay())),
    );
    all
}

/// The manners with checkpoints, in quick succession.
fn with_checkpoints() -> Vec<(String, Test)> {
    let every = |test: Test, period| {
        test.with_options(|options| {
            (options.ft, options.ckpt_every) = (FaultTolerance::Double, Some(CkptEvery::Time(period)));
        })
    };
    let mut all = vec![
        ("2 PEs, checkpoints".into(), every(Test::new().pes(2), Duration::from_micros(200))),
        (
            "2 nodes of 2 PEs, checkpoints".into(),
            every(Test::new().pes(2).nodes(2, TransportChoice::Mixed), Duration::from_millis(1)),
        ),
    ];
    for (seed, period) in (0..).zip([1, 30, 200].map(Duration::from_micros)) {
        let test = every(Test::new().pes(2).simulated(3, seed), period);
        all.push((format!("simulated, 3 nodes, checkpoints every {period:?}"), test));
    }
    all
}

/// The manners in which a job goes back to checkpoints, twice.
fn going_back() -> Vec<(String, Test)> {
    let manner = |(seed, after)| {
        let test = Test::new().pes(2).simulated(3, seed).going_back(after, &[]).going_back(after, &[]);
        (format!("simulated, 3 nodes that go back after {after} events, seed {seed}"), test)
    };
    (0..).zip([3, 20, 60, 150, 400]).map(manner).collect()
}

/// What the manners are called in which nodes log their messages.
const LOGGING: &str = "logging";

/// The manners in which nodes log their messages: those that are lost go back, and nobody else.
fn logging() -> Vec<(String, Test)> {
    let of = |nodes: u32, pes: u32, seed: u64| Test::new().pes(pes).simulated(nodes, seed).logging();
    let losing = |(after, lost, pes): (u64, &[u32], u32)| {
        let name = format!("{LOGGING}, 4 nodes of {pes} PEs that lose {lost:?} after {after} events");
        (name, of(4, pes, after).losing(after, lost))
    };
    let lost = [
        (10, &[1][..], 1),
        (25, &[0], 2),
        (60, &[0, 2], 1),
        (120, &[3], 2),
        (250, &[2], 1),
        (250, &[0], 3),
        (600, &[1, 3], 2),
    ];
    let mut all: Vec<_> = lost.map(losing).into();
    for (seed, pes) in (0..4).zip([1, 2].into_iter().cycle()) {
        // No two neighbours around the ring: a node and its keeper must not be away at the same time.
        let test = of(6, pes, seed).losing(40, &[0]).losing(30 + 20 * seed, &[2]).losing(150, &[4]);
        all.push((format!("{LOGGING}, 6 nodes of {pes} PEs, three are lost one by one, seed {seed}"), test));
        let test = of(3, pes, seed).cutting(30 + 50 * seed).losing(20 + 30 * seed, &[1]);
        all.push((format!("{LOGGING}, 3 nodes of {pes} PEs, cut before one is lost, seed {seed}"), test));
    }
    all
}

/// The manners in which some nodes are lost, from the start or later.
fn with_losses() -> Vec<(String, Test)> {
    let without = |lost: &[u32]| {
        (format!("simulated, 4 nodes without {lost:?}"), Test::new().pes(2).simulated(4, 7).without(lost))
    };
    let losing = |(after, lost): (u64, &[u32])| {
        let test = Test::new().pes(2).simulated(4, after).going_back(after, lost);
        (format!("simulated, 4 nodes that lose {lost:?} after {after} events"), test)
    };
    let from_the_start = [&[0][..], &[1, 3], &[0, 1, 2]].map(without);
    let later = [(10, &[0][..]), (30, &[1, 2]), (80, &[3]), (200, &[0, 1]), (500, &[0])].map(losing);
    from_the_start.into_iter().chain(later).collect()
}

/// A program that fails in every manner, with this status and a message that has all of these parts.
#[allow(dead_code, reason = "not every test binary has programs that fail")]
pub fn fails_everywhere<C: MainChare, A: Args + Send>(args: impl Fn() -> A, status: i32, parts: &[&str]) {
    for (name, test) in manners().into_iter().chain(going_back()).chain(with_losses()) {
        eprintln!("{name}");
        let tested = test.run::<C>(args());
        let message = tested.message.clone().unwrap_or_default();
        assert_eq!(tested.status, status, "{name}: {message} {:?}", tested.output);
        for part in parts {
            assert!(message.contains(part), "{name}: `{part}` is not in:\n{message}");
        }
    }
}
