//! Broadcasts, section multicasts and reductions, many at once and from several places, over an array whose elements
//! move and insert others.
//!
//! Some *askers* each let off a volley of them at a time, and know what every one must come to for the elements that
//! were there from the start; a choir, an array of its own, reduces to all its members meanwhile.

use talisman::prelude::*;
use talisman::rng::Rng;
use talisman::simulation::{self, simulate};

use super::ledger::{self, Cast, HERE};
use super::{Checked, Size};

#[derive(Clone, Copy, Pup, clap::Parser)]
struct Casts {
    #[arg(skip)]
    seed: u64,
    /// Members that are there from the start.
    #[arg(skip)]
    core: i32,
    #[arg(skip)]
    askers: u32,
    /// Volleys of each asker.
    #[arg(skip)]
    volleys: u32,
    /// Casts of a volley.
    #[arg(skip)]
    shots: u32,
}

pub fn run(seed: u64, size: Size, plan: &simulation::Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let casts = Casts {
        seed,
        core: 2 + rng.below(6 * u64::from(size.0)) as i32,
        askers: 1 + rng.below(3) as u32,
        volleys: 1 + size.0,
        shots: 1 + rng.below(5) as u32,
    };
    let ledger = ledger::open(HERE, casts.core);
    let ran = simulate::<__Main>((casts,), plan, logging);
    ledger::close(HERE);
    let mut checked = Checked::by_ledger(ran, &ledger);
    let received = ledger.casts(casts.core);
    checked.result.extend(received.iter().map(|(cast, times)| format!("{cast:?} {times}")));
    checked
}

/// What the elements of a cast come to: their number, a sum of floats that depends on its order unless it is exact,
/// bits, and who they are.
type Total = (u64, f64, u64, Vec<i32>);

const REDUCERS: (Sum, Sum, BitXor, Concat) = (Sum, Sum, BitXor, Concat);

/// What an element has to say to a cast. Who was not there from the start says nothing that is counted.
fn voice(casts: Casts, index: i32, number: u32) -> (u64, f64, u64, i32) {
    if index >= casts.core {
        return (0, 0.0, 0, -1);
    }
    let mut rng = Rng::new(casts.seed ^ (u64::from(number) << 32) ^ index as u64);
    let rough = rng.unit_f64() * 10f64.powi(rng.below(17) as i32 - 8);
    (1, rough, rng.next_u64(), index)
}

/// What these elements come to. The sum is rounded once only if nothing is lost before, as in the runtime's.
fn total(casts: Casts, who: &[i32], number: u32) -> Total {
    let mut all = Sum::lift(0.0, 0);
    let mut bits = 0;
    for index in who {
        let (_, rough, theirs, _) = voice(casts, *index, number);
        Sum::add(&mut all, rough, 0);
        bits ^= theirs;
    }
    let sum = <Sum as Reducer<f64>>::finish(all).expect("floats do not overflow here");
    (who.len() as u64, sum, bits, who.to_vec())
}

#[derive(Pup)]
struct Member {
    casts: Casts,
    rng: Rng,
}

#[chare(array1d)]
impl Member {
    #[init]
    fn new(cx: &mut Cx<Self>, casts: Casts) -> Self {
        let born = ledger::of(HERE).born(cx.index());
        Member { casts, rng: Rng::new(casts.seed ^ born << 32) }
    }

    /// A broadcast or multicast that is answered.
    #[entry]
    fn speak(&mut self, cx: &mut Cx<Self>, number: u32) -> (u64, f64, u64, i32) {
        ledger::of(HERE).cast(Cast::Count(number), cx.index());
        self.wander(cx);
        voice(self.casts, cx.index(), number)
    }

    /// A multicast to a section that is answered by contributions to it.
    #[entry]
    fn join_in(&mut self, cx: &mut Cx<Self>, part: Section<Self>, number: u32, to: Callback<Total>) {
        ledger::of(HERE).cast(Cast::Part(number), cx.index());
        cx.contribute_to(part, voice(self.casts, cx.index(), number), REDUCERS, to);
        self.wander(cx);
    }

    /// A broadcast that nobody answers; each from the start inserts another for some of them.
    #[entry]
    fn listen(&mut self, cx: &mut Cx<Self>, number: u32) {
        ledger::of(HERE).cast(Cast::Step(number), cx.index());
        let (_, _, bits, _) = voice(self.casts, cx.index(), number);
        if cx.index() < self.casts.core && bits.is_multiple_of(4) {
            let index = (number as i32 + 1) * self.casts.core + cx.index();
            let pe = self.some_pe(cx);
            cx.array().insert(index).on(pe).new(self.casts);
        }
        self.wander(cx);
    }
}

impl Member {
    fn some_pe(&mut self, cx: &Cx<Self>) -> u32 {
        self.rng.below(cx.pes().into()) as u32
    }

    fn wander(&mut self, cx: &mut Cx<Self>) {
        if self.rng.below(3) == 0 {
            let pe = self.some_pe(cx);
            cx.migrate_to(pe);
        }
    }
}

/// Lets off volleys of casts, from one place after the other.
#[derive(Pup)]
struct Asker {
    casts: Casts,
    rng: Rng,
    /// Casts so far, and who was to answer those that are not answered yet.
    asked: u32,
    open: Vec<(u32, Vec<i32>)>,
    /// Broadcasts that nobody answers.
    told: Vec<u32>,
    checksum: u64,
}

#[chare(array1d)]
impl Asker {
    #[init]
    fn new(cx: &mut Cx<Self>, casts: Casts) -> Self {
        let rng = Rng::new(casts.seed ^ ((cx.index() as u64 + 1) << 48));
        Asker { casts, rng, asked: 0, open: vec![], told: vec![], checksum: 0 }
    }

    #[entry]
    fn came(number: u32, total: Total);

    /// Gives a checksum of all answers.
    #[entry]
    async fn ask(&mut self, cx: &mut Cx<Self>, members: Array<Member>) -> u64 {
        for _ in 0..self.casts.volleys {
            for _ in 0..self.casts.shots {
                self.shoot(cx, members);
            }
            self.wander(cx);
            let answers: usize = self.open.len();
            for _ in 0..answers {
                let number: u32 = self.open[self.rng.below(self.open.len() as u64) as usize].0;
                let total: Total = cx.when(Self::came, number).await;
                self.check(number, total);
                // Answers that have come, and nobody has asked for yet, come along.
                self.wander(cx);
            }
        }
        self.checksum
    }

    #[entry]
    fn told(&self) -> Vec<u32> {
        self.told.clone()
    }
}

impl Asker {
    fn wander(&mut self, cx: &mut Cx<Self>) {
        cx.migrate_to(self.rng.below(1 << 30) as u32 % cx.pes());
    }

    fn shoot(&mut self, cx: &mut Cx<Self>, members: Array<Member>) {
        let number = 1000 * cx.index() as u32 + self.asked;
        self.asked += 1;
        let answer = cx.callback(Self::came).with(number);
        let everybody: Vec<i32> = (0..self.casts.core).collect();
        match self.rng.below(4) {
            0 => {
                members.listen(number);
                self.told.push(number);
            }
            1 => {
                members.speak(number).reduce(REDUCERS).reply(answer);
                self.open.push((number, everybody));
            }
            2 => {
                let (part, who) = self.part(members);
                part.speak(number).reduce(REDUCERS).reply(answer);
                self.open.push((number, who));
            }
            _ => {
                let (part, who) = self.part(members);
                part.join_in(part, number, answer);
                self.open.push((number, who));
            }
        }
    }

    /// Some members, the first of them named twice.
    fn part(&mut self, members: Array<Member>) -> (Section<Member>, Vec<i32>) {
        let core = self.casts.core as u64;
        let mut who: Vec<_> = (0..=self.rng.below(core)).map(|_| self.rng.below(core) as i32).collect();
        let part = members.section(who.iter().copied().chain([who[0]]));
        who.sort_unstable();
        who.dedup();
        (part, who)
    }

    fn check(&mut self, number: u32, mut answer: Total) {
        // Those who came later heard of some broadcasts, and not of others.
        answer.3.retain(|index| *index >= 0);
        let Some(at) = self.open.iter().position(|(open, _)| *open == number) else {
            return ledger::of(HERE).violation(format!("cast {number} is answered again"));
        };
        let (_, who) = self.open.swap_remove(at);
        let expected = total(self.casts, &who, number);
        if answer != expected {
            ledger::of(HERE).violation(format!("cast {number} came to {answer:?} instead of {expected:?}"));
        }
        self.checksum ^= answer.1.to_bits().rotate_left(number % 64) ^ answer.2;
    }
}

/// Reduces to all its members, time and again, while they move.
#[derive(Pup)]
struct Singer {
    casts: Casts,
}

#[chare(array1d)]
impl Singer {
    #[init]
    fn new(casts: Casts) -> Self {
        Singer { casts }
    }

    #[entry]
    async fn sing(&mut self, cx: &mut Cx<Self>, rounds: u32) -> u64 {
        let mut right: u64 = 0;
        for round in 0..rounds {
            let (note, bits): (f64, u64) = self.note(cx, round);
            cx.migrate_to(bits as u32 % cx.pes());
            let chord: f64 = cx.all_reduce(note, Sum).await;
            let choir: Vec<i32> = (0..self.casts.core).collect();
            let (_, expected, _, _) = total(self.casts, &choir, round);
            right += u64::from(chord == expected);
            if bits % 2 == 0 {
                cx.migrate_to((bits >> 32) as u32 % cx.pes());
            }
            if round % 3 == 2 {
                cx.barrier().await;
            }
        }
        right
    }
}

impl Singer {
    fn note(&self, cx: &Cx<Self>, round: u32) -> (f64, u64) {
        let (_, note, bits, _) = voice(self.casts, cx.index(), round);
        (note, bits)
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, casts: Casts) {
    let members: Array<Member> = Member::array(casts.core).new(casts);
    let singers: Array<Singer> = Singer::array(casts.core).new(casts);
    let askers: Array<Asker> = Asker::array(casts.askers as i32).new(casts);
    let rounds: u32 = 3 * casts.volleys;
    let mut sung: u64 = 0;
    let mut asked: Vec<u64> = vec![];
    cx.overlap(
        async {
            let right: u64 = singers.sing(rounds).reduce(Sum).await;
            sung = right;
        },
        async {
            let checksums: Vec<u64> = askers.ask(members).reduce(Concat).await;
            asked = checksums;
        },
    )
    .await;
    cx.quiescence().await;

    let chords: u64 = u64::from(rounds) * casts.core as u64;
    expect("right chords", sung, chords);
    let told: Vec<Vec<u32>> = askers.told().reduce(Concat).await;
    for number in told.concat() {
        ledger::of(HERE).was_received_by_all(Cast::Step(number), 0..casts.core);
    }
    let there: Total = members.speak(u32::MAX).reduce(REDUCERS).await;
    cx.quiescence().await;
    expect("members in the end", there.3.len() as u64, ledger::of(HERE).alive());
    cx.result("members", there.3.len());
    cx.result("checksums", format!("{asked:?}"));
    ledger::of(HERE).finish();
}

fn expect(what: &str, found: u64, expected: u64) {
    if found != expected {
        ledger::of(HERE).violation(format!("{what}: {found} instead of {expected}"));
    }
}
