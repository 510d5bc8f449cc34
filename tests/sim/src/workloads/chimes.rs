//! Rounds that end in quiescence: members of a group, and of an array whose elements move, reduce over sections, and are told what
//! came of it by multicasts.
//!
//! Whoever is left of the group, after losses too, has had a part in each round and knows that it is over when it is quiet. Members that are made
//! later, when the job is started again or is given nodes again, hear of all rounds from then on and have no part in any.

use talisman::prelude::*;
use talisman::rng::Rng;
use talisman::simulation::{self, simulate};

use super::ledger::{self, HERE};
use super::{Checked, Size};

#[derive(Clone, Copy, Pup, clap::Parser)]
struct Chimes {
    #[arg(skip)]
    seed: u64,
    #[arg(skip)]
    bells: i32,
    #[arg(skip)]
    rounds: u32,
}

pub fn run(seed: u64, size: Size, plan: &simulation::Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let chimes = Chimes {
        seed,
        bells: 2 + rng.below(4 * u64::from(size.0)) as i32,
        rounds: 2 + 2 * size.0 + rng.below(4) as u32,
    };
    let ledger = ledger::open(HERE, 0);
    let ran = simulate::<__Main>((chimes,), plan, logging);
    ledger::close(HERE);
    Checked::by_ledger(ran, &ledger)
}

/// What somebody has to say in a round.
fn voice(seed: u64, index: u64, round: u32) -> u64 {
    Rng::new(seed ^ index << 32 ^ u64::from(round)).next_u64()
}

/// Some of them chime.
#[derive(Pup)]
struct Bell {
    chimes: Chimes,
    rng: Rng,
    heard: u64,
}

#[chare(array1d)]
impl Bell {
    #[init]
    fn new(cx: &mut Cx<Self>, chimes: Chimes) -> Self {
        Bell { chimes, rng: Rng::new(chimes.seed ^ (cx.index() as u64) << 40), heard: 0 }
    }

    #[entry]
    fn chime(&mut self, cx: &mut Cx<Self>, part: Section<Self>, round: u32) {
        let voice = voice(self.chimes.seed, cx.index() as u64, round);
        cx.contribute_to(part, (1_u64, voice), (Sum, BitXor), part.callback(Bell::hear));
        self.wander(cx);
    }

    #[entry]
    fn hear(&mut self, cx: &mut Cx<Self>, chord: (u64, u64)) {
        let (voices, bits) = chord;
        self.heard = self.heard.rotate_left(7) ^ bits ^ voices;
        self.wander(cx);
    }

    #[entry]
    fn heard(&mut self) -> (u64, u64, u64) {
        (1, self.heard, self.heard)
    }
}

impl Bell {
    fn wander(&mut self, cx: &mut Cx<Self>) {
        let pe = self.rng.below(3 * u64::from(cx.pes())) as u32;
        if pe < cx.pes() {
            cx.migrate_to(pe);
        }
    }
}

/// One on each PE, where it stays.
#[derive(Pup)]
struct Clock {
    /// It was made when the program had begun.
    late: bool,
    /// In which round it chimed first; 0 if it has not.
    first: u32,
    /// How often it has chimed.
    chimes: u32,
    /// Who chimed the last time, and in which round.
    heard: (Vec<u32>, u32),
}

/// What a clock has to say.
#[derive(Debug, Pup)]
struct Word {
    clock: u32,
    late: bool,
    first: u32,
    chimes: u32,
    heard: (Vec<u32>, u32),
}

#[chare(group)]
impl Clock {
    #[init]
    fn new() -> Self {
        let late = ledger::of(HERE).has_gone_on();
        Clock { late, first: 0, chimes: 0, heard: (Vec::new(), 0) }
    }

    #[entry]
    fn chime(&mut self, cx: &mut Cx<Self>, all: Section<Self>, round: u32) {
        self.chimes += 1;
        if self.first == 0 {
            self.first = round;
        }
        cx.contribute_to(all, (cx.index(), round), (Concat, Max), all.callback(Clock::hear));
    }

    #[entry]
    fn hear(&mut self, heard: (Vec<u32>, u32)) {
        self.heard = heard;
    }

    #[entry]
    fn heard(&mut self, cx: &mut Cx<Self>) -> Word {
        let Clock { late, first, chimes, ref heard } = *self;
        Word { clock: cx.index(), late, first, chimes, heard: heard.clone() }
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, chimes: Chimes) {
    ledger::of(HERE).begin();
    let bells: Array<Bell> = Bell::array(chimes.bells).new(chimes);
    let some: Vec<i32> = some(chimes);
    let part: Section<Bell> = bells.section(some.iter().copied());
    let clocks: Group<Clock> = Clock::group().new();
    let all: Section<Clock> = clocks.section(0..cx.pes());
    let mut most: Vec<u32> = (0..cx.pes()).collect();
    let mut expected: u64 = 0;
    for round in 1..=chimes.rounds {
        part.chime(part, round);
        all.chime(all, round);
        cx.quiescence().await;
        ledger::of(HERE).quiet("after a round");
        cx.step(round.into());
        expected = expected.rotate_left(7) ^ chord(chimes, &some, round);
        let heard: (u64, u64, u64) = part.heard().reduce((Sum, Min, Max)).await;
        expect("what those bells heard", heard, (some.len() as u64, expected, expected));
        let words: Vec<Word> = all.heard().reduce(Concat).await;
        check(words, round, &mut most);
        cx.result(&format!("round {round}"), heard.1);
    }
    // Whatever the last round has left behind, such as word of where a bell is now, comes to its end before the job does.
    cx.quiescence().await;
    ledger::of(HERE).finish();
}

/// What clocks say after a round, to which those had a part at most that had one in all before.
fn check(words: Vec<Word>, round: u32, most: &mut Vec<u32>) {
    // Without any that was there from the beginning, nobody chimes, and nobody hears anything.
    let rings = words.iter().any(|word| !word.late);
    for Word { clock, late, first, chimes, heard: (who, last) } in words {
        // One that was made in the midst of a round may know nothing of that.
        let knows = first > 0 || !late;
        expect("the first chime of a clock", first == 1 || late, true);
        expect("the chimes of a clock", chimes, if knows { round + 1 - first } else { 0 });
        if knows && rings {
            expect("what a clock heard last", last, round);
        }
        if last == round {
            expect("whether a clock heard itself", late || who.contains(&clock), true);
            // In the round in which it was made, the one before it may have had a part.
            let has_no_part = late && 0 < first && first < round;
            expect("whether a late clock has no part", has_no_part && who.contains(&clock), false);
            expect("whether each has chimed once", who.is_sorted_by(|one, next| one < next), true);
            expect("whether they have all chimed before", who.iter().all(|one| most.contains(one)), true);
            *most = who;
        }
    }
}

/// The bells that chime.
fn some(chimes: Chimes) -> Vec<i32> {
    let chime = |bell: &i32| *bell == 0 || voice(chimes.seed, *bell as u64, 0).is_multiple_of(2);
    (0..chimes.bells).filter(chime).collect()
}

/// What these hear in a round.
fn chord(chimes: Chimes, some: &[i32], round: u32) -> u64 {
    let voices = some.iter().map(|bell| voice(chimes.seed, *bell as u64, round));
    voices.fold(some.len() as u64, |chord, voice| chord ^ voice)
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) {
    if found != expected {
        ledger::of(HERE).violation(format!("{what}: {found:?} instead of {expected:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a clock is late, when it chimed first, and whom it heard last.
    type Said = (bool, u32, &'static [u32]);

    /// What is wrong if clocks say that after a round.
    fn wrong(round: u32, said: &[Said]) -> Vec<String> {
        let word = |(clock, &(late, first, who)): (u32, &Said)| {
            let chimes = if first > 0 { round + 1 - first } else { 0 };
            Word { clock, late, first, chimes, heard: (who.to_vec(), round) }
        };
        let ledger = ledger::open(HERE, 0);
        check((0..).zip(said).map(word).collect(), round, &mut (0..said.len() as u32).collect());
        ledger::close(HERE);
        ledger.wrong()
    }

    #[test]
    fn who_was_there_from_the_beginning_has_a_part_in_each_round() {
        assert_eq!(wrong(3, &[(false, 1, &[0, 1]), (false, 1, &[0, 1])]), [""; 0]);
        assert!(wrong(3, &[(false, 1, &[0, 1]), (false, 2, &[0, 1])])[0].contains("first chime"));
        assert!(wrong(3, &[(false, 1, &[0]), (false, 1, &[0])])[0].contains("heard itself"));
    }

    #[test]
    fn who_is_late_has_a_part_in_no_round_but_that_of_the_one_before_it() {
        let heard = |who: &'static [u32]| [(false, 1, who), (true, 2, who)];
        assert_eq!(wrong(3, &heard(&[0])), [""; 0]);
        assert_eq!(wrong(2, &heard(&[0, 1])), [""; 0]);
        assert!(wrong(3, &heard(&[0, 1]))[0].contains("late clock"));
    }
}
