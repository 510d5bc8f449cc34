//! Random programs: messages of all lengths and modes, with and without wildcards, collectives, and moves.

use talisman::launch::balancing::Every;
use talisman::launch::options::Transport;
use talisman::prelude::*;
use talisman::testing::Test;
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{self as mpi, Communicator, Error, SystemOperation, Universe};
use talisman_ampi::engine::Mode;
use talisman_ampi::rank::Program;

/// What each rank runs: the same seed gives all the same plan.
#[derive(clap::Args, Clone, Copy, Pup)]
pub struct Storm {
    #[arg(long = "plan")]
    seed: u64,
    #[arg(long)]
    rounds: u64,
    /// Whether ranks move, by dice of their own.
    #[arg(long)]
    moves: bool,
}

/// A message of a round.
#[derive(Clone, Copy)]
struct Letter {
    from: i32,
    to: i32,
    tag: i32,
    values: usize,
    mode: Mode,
    /// Names its content.
    number: u64,
}

/// Lengths in values of 8 bytes: in the frame, copied, announced.
const LENGTHS: [usize; 7] = [1, 5, 6, 600, 1_024, 1_025, 4_000];
const MODES: [Mode; 4] = [Mode::Standard, Mode::Standard, Mode::Synchronous, Mode::Buffered];

impl Program for Storm {
    /// What the rank has received, or why it has failed.
    type Output = Result<u64, String>;

    fn main(self, universe: Universe) -> Result<u64, String> {
        self.run(universe).map_err(|error| error.to_string())
    }
}

impl Storm {
    fn run(self, universe: Universe) -> Result<u64, Error> {
        let world = universe.world();
        let own = world.duplicate()?;
        let mut plan = Dice(self.seed);
        let mut dice = Dice(self.seed ^ 0x5555 ^ world.rank() as u64);
        // State with pointers of all kinds, which has to be right in the end.
        let mut diary: Vec<String> = Vec::new();
        let mut digest = 0u64;
        for round in 0..self.rounds {
            let letters = letters(&mut plan, world.size(), round);
            let by_wildcard = plan.below(2) == 0;
            digest = mix(digest, exchange(own, &letters, by_wildcard)?);
            if self.moves && dice.below(3) == 0 {
                universe.move_to(dice.below(universe.pes().into()) as u32);
            }
            let mut all = 0;
            world.all_reduce_into(&digest, &mut all, SystemOperation::sum())?;
            digest = mix(mix(digest, all), long_ones(world, round)?);
            diary.push(format!("{round}: {digest:x}"));
        }
        let halves =
            world.split_by_color_with_key(mpi::Color::with_value(world.rank() % 2), -world.rank())?;
        let half = halves.expect("each has a colour");
        let mut last = [diary.len() as u64, half.rank() as u64];
        half.process_at_rank(0).broadcast_into(&mut last)?;
        Ok(diary.iter().fold(mix(digest, last[0]), |sum, line| mix(sum, line.len() as u64)))
    }
}

/// Collectives whose messages are long, so that they are announced.
fn long_ones(world: Communicator, round: u64) -> Result<u64, Error> {
    let (rank, size) = (world.rank() as u64, world.size() as u64);
    let mut values = vec![if rank == round % size { round + 1 } else { 0 }; 20_000];
    world.process_at_rank((round % size) as i32).broadcast_into(&mut values)?;
    assert!(values.iter().all(|value| *value == round + 1));
    let mut sums = vec![0; values.len()];
    world.all_reduce_into(&values, &mut sums, SystemOperation::sum())?;
    assert!(sums.iter().all(|sum| *sum == size * (round + 1)));
    Ok(sums[round as usize])
}

/// All messages of a round; each rank knows them.
fn letters(plan: &mut Dice, size: i32, round: u64) -> Vec<Letter> {
    let one = |plan: &mut Dice, number| Letter {
        from: plan.below(size as u64) as i32,
        to: plan.below(size as u64) as i32,
        tag: plan.below(3) as i32,
        values: LENGTHS[plan.below(LENGTHS.len() as u64) as usize],
        mode: MODES[plan.below(MODES.len() as u64) as usize],
        number: round << 32 | number,
    };
    (0..2 * size as u64).map(|number| one(plan, number)).collect()
}

/// Sends and receives this rank's messages. What came is added up, so that the order does not matter.
fn exchange(world: Communicator, letters: &[Letter], by_wildcard: bool) -> Result<u64, Error> {
    let rank = world.rank();
    let contents: Vec<(Letter, Vec<u64>)> = letters
        .iter()
        .filter(|letter| letter.from == rank)
        .map(|letter| (*letter, vec![letter.number; letter.values]))
        .collect();
    let expected: Vec<&Letter> = letters.iter().filter(|letter| letter.to == rank).collect();
    let mut received: Vec<Vec<u64>> = expected.iter().map(|_| vec![0; 4_000]).collect();
    let statuses = mpi::scope(|scope| {
        let mut receives = Vec::new();
        for (letter, buffer) in expected.iter().zip(&mut received) {
            receives.push(match by_wildcard {
                true => world.any_process().immediate_receive_into(scope, buffer)?,
                false => {
                    let from = world.process_at_rank(letter.from);
                    from.immediate_receive_into_with_tag(scope, buffer, letter.tag)?
                }
            });
        }
        for (letter, values) in &contents {
            let to = world.process_at_rank(letter.to);
            to.immediate_send_in_mode(scope, letter.mode, values, letter.tag)?;
        }
        mpi::request::wait_all(receives)
    })?;
    let mut sum = 0u64;
    for (status, buffer) in statuses.iter().zip(&received) {
        let letter =
            letters.iter().find(|letter| letter.number == buffer[0]).expect("a message of this round");
        assert_eq!(
            (status.source_rank(), status.tag(), status.count::<u64>()?),
            (letter.from, letter.tag, letter.values)
        );
        assert!(buffer[..letter.values].iter().all(|value| *value == letter.number), "its own bytes");
        sum = sum.wrapping_add(mix(letter.number, letter.values as u64));
    }
    if !by_wildcard {
        assert_order(&expected, &received);
    }
    world.barrier()?;
    Ok(sum)
}

/// Receives of one sender and tag get its messages in the order in which they were sent.
fn assert_order(expected: &[&Letter], received: &[Vec<u64>]) {
    for (letter, buffer) in expected.iter().zip(received) {
        assert_eq!(buffer[0], letter.number, "from {} with tag {}", letter.from, letter.tag);
    }
}

fn mix(a: u64, b: u64) -> u64 {
    Dice(a.rotate_left(17) ^ b).next()
}

/// Numbers that look random (SplitMix64).
#[derive(Clone, Copy)]
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let once = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let twice = (once ^ once >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        twice ^ twice >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

#[derive(clap::Parser, Clone, Copy, Pup)]
struct Options {
    #[arg(long)]
    ranks: u32,
    #[command(flatten)]
    storm: Storm,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let call = talisman_ampi::run(options.ranks, options.storm).map_err(|error| error.to_string())?;
    let ended: Vec<Result<u64, String>> = call.await;
    let digests: Vec<u64> = ended.into_iter().collect::<Result<_, _>>()?;
    digests.iter().for_each(|digest| writeln!(cx.output(), "{digest:x}"));
    Ok(())
}

fn output(name: &str, test: Test, ranks: u32, storm: Storm) -> Vec<String> {
    let tested = test.run::<__Main>((Options { ranks, storm },));
    crate::assert_ended_well(name, &tested);
    tested.output.clone()
}

fn expected(ranks: u32, storm: Storm) -> Vec<String> {
    output("undisturbed", crate::undisturbed(), ranks, Storm { moves: false, ..storm })
}

/// So many ranks on so many simulated nodes, by a seed.
fn sizes(seed: u64) -> (u32, u32) {
    (2 + seed as u32 * 5 % 9, 1 + seed as u32 % 4)
}

#[test]
fn ranks_that_move_get_their_messages() {
    for seed in 0..12 {
        let (ranks, nodes) = sizes(seed);
        let storm = Storm { seed, rounds: 6, moves: true };
        let (name, test) = (format!("seed {seed}"), Test::new().simulated(nodes, seed));
        assert_eq!(output(&name, test, ranks, storm), expected(ranks, storm), "{name}");
    }
}

#[test]
fn ranks_are_packed_after_each_message() {
    let storm = Storm { seed: 3, rounds: 3, moves: true };
    let test = Test::new().simulated(2, 5).repacking_objects().packing_messages();
    assert_eq!(output("repacked", test, 5, storm), expected(5, storm));
}

#[test]
fn ranks_go_back_to_checkpoints() {
    for seed in 0..16 {
        let (ranks, storm) = (3 + seed as u32 % 5, Storm { seed, rounds: 5, moves: true });
        let (after, later) = (10 + seed * 37 % 400, 5 + seed * 61 % 300);
        let lost: &[u32] = [&[][..], &[1], &[0], &[2, 1]][seed as usize % 4];
        let test = Test::new().simulated(4, seed).going_back(after, lost).going_back(later, &[]);
        let name = format!("seed {seed}, back after {after} and {later} events without {lost:?}");
        assert_eq!(output(&name, test, ranks, storm), expected(ranks, storm), "{name}");
    }
}

/// Nodes log their messages: ranks of those that are lost do again what they did, and no others. None of them moves: what a rank is
/// packed to has bytes that nothing determines.
#[test]
fn ranks_of_lost_nodes_alone_run_again() {
    let mut steps = 0;
    for seed in 0..16 {
        let (ranks, storm) = (3 + seed as u32 % 5, Storm { seed, rounds: 5, moves: false });
        let (after, later) = (10 + seed * 37 % 400, 5 + seed * 61 % 300);
        let lost: &[u32] = [&[2][..], &[1], &[0], &[3, 1]][seed as usize % 4];
        let test = Test::new().simulated(4, seed).logging().losing(after, lost);
        let test = if seed % 2 == 0 { test } else { test.cutting(100).losing(later, lost) };
        let name = format!("seed {seed}, without {lost:?} after {after} and perhaps {later} events");
        let tested = test.run::<__Main>((Options { ranks, storm },));
        crate::assert_ended_well(&name, &tested);
        let (mut said, mut once) = (tested.output.clone(), expected(ranks, storm));
        said.sort_unstable();
        once.sort_unstable();
        assert_eq!(said, once, "{name}");
        assert!(tested.went_back.restored.keys().all(|node| lost.contains(node)), "{name}");
        steps += tested.went_back.steps;
    }
    assert!(steps > 100, "{steps} steps were done again");
}

#[test]
fn ranks_are_balanced_while_they_wait() {
    for seed in 0..12 {
        let storm = Storm { seed, rounds: 4, moves: false };
        let every = Every::Time(std::time::Duration::from_micros(20 + 15 * seed));
        let test = Test::new().simulated(3, seed).balancing("rotate", every);
        assert_eq!(output("rotated", test, 7, storm), expected(7, storm), "seed {seed}");
    }
}

#[test]
fn ranks_send_over_real_links() {
    for transport in [Transport::Shm, Transport::Tcp] {
        let storm = Storm { seed: 8, rounds: 5, moves: true };
        let test = Test::new().nodes(3, transport);
        assert_eq!(output("links", test, 6, storm), expected(6, storm), "{transport:?}");
    }
}
