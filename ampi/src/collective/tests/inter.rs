//! Collectives between two groups of any sizes.

use super::*;

/// Groups of so many, all pairs of these.
const SIZES: [u32; 5] = [1, 2, 3, 5, 8];

/// A world whose first `left` ranks are one side.
struct Between {
    bench: Bench,
    left: u32,
    right: u32,
}

impl Between {
    fn new(left: u32, right: u32, room: usize) -> Between {
        Between { bench: Bench::new(left + right, room, u64::from(left * 10 + right)), left, right }
    }

    /// The ranks of one side.
    fn side(&self, is_left: bool) -> std::ops::Range<u32> {
        if is_left { 0..self.left } else { self.left..self.left + self.right }
    }

    /// Begins on one rank.
    fn begin(&mut self, rank: u32, schedule: &impl Fn(Sides, bool) -> Schedule) -> Token {
        let is_left = rank < self.left;
        let (own, other) = (self.side(is_left), self.side(!is_left));
        let me = Member { rank: rank - own.start, size: own.len() as u32 };
        let sides = Sides { me, remote: other.len() as u32 };
        let members: Vec<u32> = own.chain(other).collect();
        self.bench.begin_among(rank, schedule(sides, is_left), &members)
    }

    fn run(&mut self, schedule: impl Fn(Sides, bool) -> Schedule) {
        let begun: Vec<_> =
            (0..self.left + self.right).map(|rank| (rank, self.begin(rank, &schedule))).collect();
        self.bench.tag += 1;
        self.bench.world.run();
        for (rank, request) in begun {
            let process = &mut self.bench.world.processes[rank as usize];
            assert!(process.engine.test(request).unwrap().is_some());
            assert_eq!((process.engine.unexpected().count(), process.scratch()), (0, 0));
        }
    }
}

fn each_pair(test: impl Fn(u32, u32)) {
    SIZES.iter().for_each(|left| SIZES.iter().for_each(|right| test(*left, *right)));
}

/// Of a collective whose root is this member of the left side.
fn root_of(root: u32, sides: Sides, is_left: bool) -> Root {
    match (is_left, sides.me.rank == root) {
        (true, true) => Root::Me,
        (true, false) => Root::Here,
        (false, _) => Root::There(root),
    }
}

#[test]
fn from_and_to_a_root_on_the_other_side() {
    each_pair(|left, right| {
        for root in 0..left {
            let mut between = Between::new(left, right, 3 * right as usize);
            let (values, ranks) = (between.bench.values, between.side(false));
            between.bench.fill(Place::Receive, 3, operand);
            between.run(|sides, is_left| inter_bcast(sides, root_of(root, sides, is_left), 3, &values));
            assert!(ranks.clone().all(|rank| between.bench.received(rank, 2) == operand(root, 2)));

            between.bench.fill(Place::Send, 3 * right as usize, operand);
            between.run(|sides, is_left| inter_reduce(sides, root_of(root, sides, is_left), 3, &values));
            assert_eq!(between.bench.received(root, 1), combined(ranks.clone(), 1));

            let blocks = Blocks::even(right, 3, values);
            let own = |place| values.span(place, 0, 3);
            between.run(|sides, is_left| {
                inter_gather(sides, root_of(root, sides, is_left), own(Place::Send), &blocks)
            });
            for (at, rank) in ranks.clone().enumerate() {
                assert_eq!(between.bench.received(root, 3 * at + 2), operand(rank, 2));
            }
            between.run(|sides, is_left| {
                inter_scatter(sides, root_of(root, sides, is_left), own(Place::Receive), &blocks)
            });
            for (at, rank) in ranks.enumerate() {
                assert_eq!(between.bench.received(rank, 1), operand(root, 3 * at + 1));
            }
        }
    });
}

#[test]
fn each_side_gets_what_the_other_has() {
    each_pair(|left, right| {
        let most = left.max(right) as usize;
        let mut between = Between::new(left, right, most);
        let values = between.bench.values;
        between.bench.fill(Place::Send, most, operand);
        between.run(|sides, _| inter_allreduce(sides, 1, &values));
        for is_left in [false, true] {
            let (other, expected) = (between.side(is_left), combined(between.side(!is_left), 0));
            assert!(
                other.clone().all(|rank| between.bench.received(rank, 0) == expected),
                "{left} and {right}"
            );
        }
        between.run(|sides, _| {
            inter_allgather(sides, values.span(Place::Send, 0, 1), &Blocks::even(sides.remote, 1, values))
        });
        for (rank, is_left) in [(0, true), (left, false)] {
            for (at, other) in between.side(!is_left).enumerate() {
                assert_eq!(between.bench.received(rank, at), operand(other, 0));
            }
        }
        between.run(|sides, _| {
            let spans = |place| {
                (0..sides.remote)
                    .map(|at| Blocks::even(sides.remote, 1, values).of(place, at))
                    .collect::<Vec<_>>()
            };
            inter_alltoall(sides, &spans(Place::Send), &spans(Place::Receive))
        });
        for (at, other) in between.side(false).enumerate() {
            for (number, rank) in between.side(true).enumerate() {
                assert_eq!(between.bench.received(rank, at), operand(other, number));
                assert_eq!(between.bench.received(other, number), operand(rank, at));
            }
        }
    });
}

#[test]
fn combined_blocks_go_to_the_other_side() {
    each_pair(|left, right| {
        let total = u64::from(left * right);
        let mut between = Between::new(left, right, total as usize);
        let values = between.bench.values;
        between.bench.fill(Place::Send, total as usize, operand);
        between.run(|sides, _| {
            inter_reduce_scatter(sides, &vec![u64::from(sides.remote); sides.me.size as usize], &values)
        });
        for is_left in [false, true] {
            let each = between.side(!is_left).len();
            for (at, rank) in between.side(is_left).enumerate() {
                for index in 0..each {
                    let expected = combined(between.side(!is_left), at * each + index);
                    assert_eq!(between.bench.received(rank, index), expected);
                }
            }
        }
    });
}

#[test]
fn a_barrier_waits_for_the_other_side() {
    each_pair(|left, right| {
        for late in [0, left - 1, left, left + right - 1] {
            let mut between = Between::new(left, right, 1);
            let schedule = |sides, _| inter_barrier(sides);
            let begun: Vec<_> = (0..left + right)
                .filter(|rank| *rank != late)
                .map(|rank| (rank, between.begin(rank, &schedule)))
                .collect();
            between.bench.world.run();
            let other = between.side(late >= left);
            for (rank, request) in begun.iter().filter(|(rank, _)| other.contains(rank)) {
                let ended = between.bench.world.processes[*rank as usize].engine.status(*request).unwrap();
                assert_eq!(ended, None, "{rank} has left without {late}");
            }
            between.begin(late, &schedule);
            between.bench.world.run();
            for (rank, request) in begun {
                assert!(between.bench.world.processes[rank as usize].engine.test(request).unwrap().is_some());
            }
        }
    });
}
