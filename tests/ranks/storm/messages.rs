//! A round of messages: of all lengths and modes, received in several ways, and looked at one by one.

use talisman_ampi::api::traits::*;
use talisman_ampi::api::{self as mpi, Communicator, Error, Status};
use talisman_ampi::engine::Mode;

use super::random::{Dice, mix};

/// A message of a round.
#[derive(Clone, Copy, Debug)]
pub struct Letter {
    from: i32,
    to: i32,
    tag: i32,
    values: usize,
    mode: Mode,
    /// Names its content. Rises in the order in which a rank sends.
    number: u64,
}

/// How a receive names what it accepts.
#[derive(Clone, Copy, Debug)]
pub enum By {
    SourceAndTag,
    Source,
    Tag,
    /// Neither.
    Nothing,
    /// Neither: a probe takes the message out, and its length is known then.
    Probe,
}

impl By {
    pub const ALL: [By; 5] = [By::SourceAndTag, By::Source, By::Tag, By::Nothing, By::Probe];
}

/// Lengths in values of 8 bytes: in the frame, copied, announced.
const LENGTHS: [usize; 7] = [1, 5, 6, 600, 1_024, 1_025, 2_000];
const LONGEST: usize = 2_000;
const MODES: [Mode; 4] = [Mode::Standard, Mode::Standard, Mode::Synchronous, Mode::Buffered];

/// All messages of a round; each rank knows them.
pub fn drawn(seed: u64, round: u64, size: i32) -> Vec<Letter> {
    let mut plan = Dice(mix(seed, round));
    let one = |number| Letter {
        from: plan.below(size as u64) as i32,
        to: plan.below(size as u64) as i32,
        tag: plan.below(3) as i32,
        values: LENGTHS[plan.below(LENGTHS.len() as u64) as usize],
        mode: MODES[plan.below(MODES.len() as u64) as usize],
        number: round << 32 | number,
    };
    (0..2 * size as u64).map(one).collect()
}

/// Sends and receives this rank's messages. What came is added up, so that the order of sources does not matter.
pub fn exchange(
    communicator: Communicator,
    letters: &[Letter],
    by: By,
    mut pause: impl FnMut(),
) -> Result<u64, Error> {
    let rank = communicator.rank();
    let contents: Vec<(&Letter, Vec<u64>)> = letters
        .iter()
        .filter(|letter| letter.from == rank)
        .map(|letter| (letter, vec![letter.number; letter.values]))
        .collect();
    let expected: Vec<&Letter> = letters.iter().filter(|letter| letter.to == rank).collect();
    let mut buffers: Vec<Vec<u64>> = expected.iter().map(|_| vec![0; LONGEST]).collect();
    let statuses = mpi::scope(|scope| {
        let mut receives = Vec::new();
        let (posted, probed) = match by {
            By::Probe => (&mut [][..], &mut buffers[..]),
            _ => (&mut buffers[..], &mut [][..]),
        };
        for (letter, buffer) in expected.iter().zip(posted) {
            receives.push(begin_receive(communicator, letter, by, scope, buffer)?);
        }
        for (letter, values) in &contents {
            let to = communicator.process_at_rank(letter.to);
            to.immediate_send_in_mode(scope, letter.mode, values, letter.tag)?;
        }
        pause();
        let mut statuses = Vec::new();
        for buffer in probed {
            let (message, _) = communicator.any_process().matched_probe()?;
            pause();
            statuses.push(message.receive_into(buffer)?);
        }
        statuses.extend(mpi::request::wait_all(receives)?);
        Ok::<_, Error>(statuses)
    })?;
    let received: Vec<&Letter> = statuses
        .iter()
        .zip(&buffers)
        .map(|(status, buffer)| assert_known(letters, rank, status, buffer))
        .collect();
    assert_order(by, &expected, &received);
    communicator.barrier()?;
    Ok(received.iter().fold(0, |sum, letter| sum.wrapping_add(mix(letter.number, letter.values as u64))))
}

fn begin_receive<'a, 's>(
    communicator: Communicator,
    letter: &Letter,
    by: By,
    scope: &'s mpi::Scope<'a>,
    buffer: &'a mut Vec<u64>,
) -> Result<mpi::Request<'s>, Error> {
    let (from, any) = (communicator.process_at_rank(letter.from), communicator.any_process());
    match by {
        By::SourceAndTag => from.immediate_receive_into_with_tag(scope, buffer, letter.tag),
        By::Source => from.immediate_receive_into(scope, buffer),
        By::Tag => any.immediate_receive_into_with_tag(scope, buffer, letter.tag),
        By::Nothing | By::Probe => any.immediate_receive_into(scope, buffer),
    }
}

/// The message that this is: one of this round, for this rank, with all of its own bytes.
fn assert_known<'a>(letters: &'a [Letter], rank: i32, status: &Status, buffer: &[u64]) -> &'a Letter {
    let is_it = |letter: &&Letter| letter.number == buffer[0] && letter.to == rank;
    let letter = letters.iter().find(is_it).expect("a message of this round, for this rank");
    let known = (status.source_rank(), status.tag(), status.count::<u64>().expect("whole values"));
    assert_eq!(
        known,
        (letter.from, letter.tag, letter.values),
        "what is known of message {:x}",
        letter.number
    );
    let own = |value: &u64| *value == letter.number;
    assert!(buffer[..letter.values].iter().all(own), "message {:x} has its own bytes", letter.number);
    letter
}

/// Messages of one sender are received in the order in which they were sent, by receives that accept them alike.
fn assert_order(by: By, expected: &[&Letter], received: &[&Letter]) {
    let numbers = |letters: &[&Letter]| letters.iter().map(|letter| letter.number).collect::<Vec<_>>();
    match by {
        By::SourceAndTag | By::Source => assert_eq!(numbers(received), numbers(expected), "{by:?}"),
        By::Tag | By::Nothing | By::Probe => {
            let mut once = numbers(received);
            once.sort_unstable();
            assert_eq!(once, numbers(expected), "each once, by {by:?}");
            received.iter().enumerate().for_each(|(at, letter)| {
                let is_like = |other: &&&Letter| {
                    other.from == letter.from && (!matches!(by, By::Tag) || other.tag == letter.tag)
                };
                let before = received[..at].iter().filter(is_like).map(|other| other.number).max();
                assert!(before < Some(letter.number), "{:x} after {before:x?}, by {by:?}", letter.number);
            });
        }
    }
}
