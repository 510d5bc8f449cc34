//! Nodes that are killed at random moments, in every example.

use std::time::Duration;

use talisman::rng::Rng;

use crate::disk::Folder;
use crate::job::Shape;
use crate::subjects::{
    GARDEN, GOLOMB, HELLO, IMBALANCE, JACOBI, LEANMD, Left, NQUEENS, PINGPONG, RING, ROUNDS, Said, Subject,
};

/// All of them, on several numbers of nodes and all links. Members of `hello` are not missed, so that lost nodes of that have to be
/// replaced; and it is over so soon that most are killed when it has ended.
const WAYS: [(Subject, Shape, &str); 15] = [
    (ROUNDS, (4, 2, "mixed"), ""),
    (ROUNDS, (3, 1, "tcp"), ""),
    (GARDEN, (4, 1, "shm"), ""),
    (GARDEN, (3, 2, "mixed"), ""),
    (JACOBI, (3, 2, "tcp"), ""),
    (LEANMD, (4, 1, "mixed"), ""),
    (LEANMD, (2, 2, "shm"), ""),
    (IMBALANCE, (4, 1, "tcp"), "--balancer greedy"),
    (GOLOMB, (3, 1, "mixed"), ""),
    (NQUEENS, (4, 1, "shm"), ""),
    (RING, (3, 1, "shm"), ""),
    (PINGPONG, (2, 1, "tcp"), ""),
    (HELLO, (3, 1, "mixed"), "--respawn"),
    (LEANMD, (4, 2, "unix"), ""),
    (ROUNDS, (3, 1, "unix"), "--respawn"),
];

/// In memory and on disk in turn. A kill may come when the program has just ended, or before there is any checkpoint: goes on until enough have not.
pub fn random_moments() {
    let rounds =
        std::env::var("TALISMAN_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20);
    let mut rng = Rng::new(13);
    let mut ways = WAYS.map(|(subject, shape, options)| Way::of(subject, shape, options));
    let (mut lost, mut gone_back) = (0, 0);
    for round in 0.. {
        let is_enough = lost >= rounds / 2 && gone_back >= rounds / 4;
        if round >= rounds && is_enough {
            break;
        }
        assert!(round < 5 * rounds, "of {round} jobs, {lost} lost a node, and {gone_back} of them went back");
        let every = ["1h", "2ms", "20ms", "7steps"][rng.below(4) as usize];
        let (turn, way) = (round / WAYS.len(), round % WAYS.len());
        // The number of ways is odd: each takes turns.
        let on_disk = round % 2 == 1;
        let left = ways[way].run((turn / 2 + way) as u32, on_disk, every, rng.unit_f64());
        if !left.failures.is_empty() {
            lost += 1;
            gone_back += usize::from(has_gone_back(&left, every));
        }
    }
    println!("{lost} jobs lost a node, and {gone_back} of them went back to a checkpoint");
}

/// Whether the job went back to a checkpoint after its only loss. It did if any was committed by then: to the newest one, or to one that nobody yet
/// knew to be committed.
#[track_caller]
fn has_gone_back(left: &Left, every: &str) -> bool {
    let (version, taken) = (left.gone_back_to(), left.taken());
    assert!(version.is_none() || every != "1h", "there was none by then: {}", left.ended.said());
    // No version is used twice: the first one that was committed later is not number 1.
    let began_anew_for_nothing = version.is_none() && taken.first().is_some_and(|(first, _)| *first == 1);
    assert!(!began_anew_for_nothing, "there was a checkpoint: {}", left.ended.said());
    // All before the one that makes lost copies again.
    let later = taken.iter().position(|(_, trigger)| *trigger == "failure");
    let committed = later.and_then(|later| taken[..later].last()).map(|(version, _)| *version);
    assert!(version.is_none() || version >= committed, "{committed:?} was committed: {}", left.ended.said());
    version.is_some()
}

/// A subject on a number of nodes, and what it says undisturbed.
struct Way {
    subject: Subject,
    shape: Shape,
    options: &'static str,
    expected: Said,
    /// How long it takes, so that kills come in that time for the most part.
    wall: Duration,
}

impl Way {
    fn of(subject: Subject, shape: Shape, options: &'static str) -> Self {
        let Left { said: expected, wall, .. } = subject.start(shape, "").end();
        Way { subject, shape, options, expected, wall }
    }

    /// A run that may lose a node at this part of its time: each node of a way in turn.
    fn run(&mut self, turn: u32, on_disk: bool, every: &str, at: f64) -> Left {
        let (victim, at_s) = (turn % self.shape.0, self.wall.mul_f64(at).as_secs_f64());
        let options = format!("{} --ckpt-every {every} --kill {victim}@{}ms", self.options, at_s * 1e3);
        let folder = Folder::new();
        let way = if on_disk { folder.disk("") } else { "--ft double".into() };
        let left = self.subject.start(self.shape, &format!("{way} {options}")).survives(&self.expected);
        assert!(!folder.0.exists(), "a job that has ended leaves no checkpoints");
        if left.failures.is_empty() {
            // The kill came too late: the machine was busier before.
            self.wall = left.wall;
        }
        left
    }
}
