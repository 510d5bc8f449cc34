//! Members that send each other numbers in rounds, wander, and say where they are: `recovery program …`, and the example `rounds`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use talisman::prelude::*;

#[derive(clap::Parser, Clone, Debug, Pup)]
struct Options {
    /// Always `program`, which tells this from a run of the tests.
    program: String,
    #[arg(long, default_value_t = 40)]
    rounds: u64,
    #[arg(long, default_value_t = 24)]
    members: i32,
    /// Numbers in a large message
    #[arg(long, default_value_t = 3000)]
    words: usize,
    /// The round in which a member panics
    #[arg(long)]
    panic_at: Option<u64>,
    /// The round in which a member aborts the process
    #[arg(long)]
    abort_at: Option<u64>,
    /// Members do not wander, and all have equally much to do, whatever else the machine does
    #[arg(long)]
    stay: bool,
    /// Has clocks on nodes, too
    #[arg(long)]
    tower: bool,
    /// Has pendulums, which contribute long after they are told to
    #[arg(long)]
    pendulums: bool,
    /// Waits before its 60th round for as long as this file is there
    #[arg(long)]
    hold: Option<String>,
    /// Says so many lines more in each round
    #[arg(long, default_value_t = 0)]
    loud: u64,
    /// Takes a checkpoint after every so many rounds, and waits for it
    #[arg(long)]
    save_every: Option<u64>,
    /// Meanwhile the last PE is told something again and again, so that it is missed when it cannot be reached
    #[arg(long)]
    talk: bool,
    /// Waits for it within an entry, which does not return meanwhile
    #[arg(long)]
    busy: bool,
    /// A process takes a lot of memory once there is a file in this folder that is called by its number
    #[arg(long)]
    hunger: Option<String>,
    /// Members that go back to a checkpoint count wrong from then on, so that tests have something to find
    #[arg(long)]
    wrong_after_recovery: bool,
}

impl Options {
    fn holds(&self) -> bool {
        self.hold.as_ref().is_some_and(|file| Path::new(file).exists())
    }
}

/// Runs it as the command line says.
pub fn start() -> ExitCode {
    talisman::start::main::<__Main, (Options,)>(talisman::program!())
}

#[derive(Pup)]
struct Member {
    members: i32,
    words: usize,
    panic_at: Option<u64>,
    abort_at: Option<u64>,
    stays: bool,
    hunger: Option<String>,
    wrong_after_recovery: bool,
    /// Of the rounds that are over.
    value: u64,
    /// Of this round, so far.
    taken: u64,
    /// What has gone into the value: in each round one of the first numbers changes.
    past: Vec<u64>,
}

/// Enough for a slice that travels beside what is packed.
const PAST: usize = 2100;
const ROUNDS_BACK: u64 = 64;

#[chare(array1d)]
impl Member {
    #[init]
    fn new(cx: &mut Cx<Self>, options: Options) -> Self {
        let Options { members, words, panic_at, abort_at, stay: stays, hunger, wrong_after_recovery, .. } =
            options;
        let (value, past) = (cx.index() as u64, vec![cx.index() as u64; PAST]);
        Member {
            members,
            words,
            panic_at,
            abort_at,
            stays,
            hunger,
            wrong_after_recovery,
            value,
            taken: 0,
            past,
        }
    }

    #[restored]
    fn restored(&mut self, _: &mut Cx<Self>, why: Restored) {
        self.value += u64::from(self.wrong_after_recovery && why != Restored::AfterMigration);
    }

    #[entry]
    fn send(&mut self, cx: &mut Cx<Self>, round: u64) {
        if self.stays {
            cx.set_load(1.0);
        }
        for to in 1..=3 {
            let words = if to == 2 { self.words } else { 2 };
            let whom = (cx.index() + to * (1 + (round % 5) as i32)) % self.members;
            cx.array().at(whom).take([mixed(self.value, round + to as u64)].repeat(words));
        }
    }

    /// In any order.
    #[entry]
    fn take(&mut self, numbers: Vec<u64>) {
        assert!(are_all(&numbers, numbers[0]), "numbers are mixed up");
        self.taken = self.taken.wrapping_add(numbers[0]);
    }

    #[entry]
    fn settle(&mut self, cx: &mut Cx<Self>, round: u64) -> u64 {
        assert!(self.panic_at != Some(round) || cx.index() != 5, "enough of it");
        if self.abort_at == Some(round) && cx.index() == 5 {
            std::process::abort();
        }
        self.hunger.iter().for_each(|folder| take_memory_if_asked(folder));
        let (now, then) = (round % ROUNDS_BACK, mixed(self.value, 3) % ROUNDS_BACK);
        let rest = &self.past[ROUNDS_BACK as usize..];
        assert!(are_all(rest, cx.index() as u64), "the past is another's");
        self.past[now as usize] = std::mem::take(&mut self.taken);
        self.value =
            self.value.wrapping_mul(3).wrapping_add(self.past[then as usize] ^ self.past[now as usize]);
        if (cx.index() as u64 + round).is_multiple_of(8) {
            writeln!(cx.output(), "member {} after {round} rounds: {:016x}", cx.index(), self.value);
        }
        if !self.stays && mixed(self.value, 7).is_multiple_of(4) {
            let place = mixed(self.value, 9) % u64::from(cx.pes());
            cx.migrate_to(place as u32);
        }
        self.value >> 16
    }
}

/// Whether each number is this one: the first is, and each is like the one before it. Slices are compared by the system's library,
/// whereas a loop of a program that is not optimized took more time than all else that these programs do.
fn are_all(numbers: &[u64], expected: u64) -> bool {
    numbers.is_empty() || numbers[0] == expected && numbers[1..] == numbers[..numbers.len() - 1]
}

/// One on each PE: all of them ring in a round, and then know the time.
#[derive(Pup)]
struct Clock {
    time: u64,
    /// The first round in which it chimed: not the first of all if it was made again on a PE that is back.
    since: u64,
    /// How often it has chimed.
    chimes: u64,
    /// The last round in which all that were to chime did, as far as it has heard.
    chimed: u64,
}

/// A clock's number, and what it knows of chimes: `since`, `chimes` and `chimed`.
type Chimes = (u32, u64, u64, u64);

#[chare(group)]
impl Clock {
    #[init]
    fn new(_: &mut Cx<Self>, time: Shared<u64>) -> Self {
        Clock { time: *time, since: 0, chimes: 0, chimed: 0 }
    }

    #[entry]
    fn ring(&mut self, cx: &mut Cx<Self>, round: u64) {
        let all = cx.group();
        cx.contribute(round, Max, all.callback(Clock::set));
    }

    #[entry]
    fn set(&mut self, time: u64) {
        self.time = time;
    }

    #[entry]
    fn time(&mut self) -> u64 {
        self.time
    }

    #[entry]
    fn listen(&mut self) {}

    #[entry]
    fn chime(&mut self, cx: &mut Cx<Self>, some: Section<Self>, round: u64) {
        if self.chimes == 0 {
            self.since = round;
        }
        self.chimes += 1;
        cx.contribute_to(some, round, Max, some.callback(Clock::all_chimed));
    }

    #[entry]
    fn all_chimed(&mut self, round: u64) {
        self.chimed = round;
    }

    #[entry]
    fn chimes(&mut self, cx: &mut Cx<Self>) -> Chimes {
        (cx.index(), self.since, self.chimes, self.chimed)
    }
}

/// Members that contribute several times in a round, the later ones long after they were told to.
#[derive(Pup)]
struct Pendulum {
    to: Proxy<Watch>,
}

#[chare(group)]
impl Pendulum {
    #[init]
    fn new(_: &mut Cx<Self>, to: Proxy<Watch>) -> Self {
        Pendulum { to }
    }

    #[entry]
    fn swing(&mut self, cx: &mut Cx<Self>, round: u64) {
        self.contribute(cx, 3 * round);
        cx.me().go_on(cx.index(), 3 * round + 1);
    }

    /// What a lost member sends itself comes to its acting node.
    #[entry]
    fn go_on(&mut self, cx: &mut Cx<Self>, whose: u32, what: u64) {
        if whose == cx.index() {
            self.contribute(cx, what);
            cx.me().come_to_rest(whose, what + 1);
        }
    }

    #[entry]
    async fn come_to_rest(&mut self, cx: &mut Cx<Self>, whose: u32, what: u64) {
        cx.sleep(Duration::from_micros(300 * (1 + u64::from(cx.pe()) % 3))).await;
        if whose == cx.index() {
            self.contribute(cx, what);
        }
    }

    fn contribute(&self, cx: &mut Cx<Self>, what: u64) {
        cx.contribute((1_u64, what, what), (Sum, Min, Max), self.to.callback(Watch::swung));
    }
}

/// Looks whether all pendulums swing alike.
#[derive(Pup)]
struct Watch {
    last: u64,
    count: u64,
}

#[chare(single)]
impl Watch {
    #[init]
    fn new() -> Self {
        Watch { last: 2, count: 0 }
    }

    #[entry]
    fn swung(&mut self, sums: (u64, u64, u64)) {
        let (count, least, most) = sums;
        assert_eq!((least, most), (self.last + 1, self.last + 1), "{count} pendulums do not swing alike");
        (self.last, self.count) = (most, count);
    }

    #[entry]
    fn count(&mut self, round: u64) -> u64 {
        assert_eq!(self.last, 3 * round + 2, "pendulums stand still");
        self.count
    }
}

/// One on each node, of those that there were in the first round or were made later.
#[derive(Pup)]
struct Tower {
    /// The last round in which it rang, and the first.
    time: u64,
    first: u64,
    /// How often it has rung.
    rings: u64,
    /// Towers of the first round whose memory it has: its own, and those of lost ones. There are always as many in all.
    remembers: u64,
}

#[chare(nodegroup)]
impl Tower {
    #[init]
    fn new(_: &mut Cx<Self>, time: u64) -> Self {
        Tower { time, first: 0, rings: 0, remembers: 0 }
    }

    #[entry]
    fn ring(&mut self, cx: &mut Cx<Self>, round: u64) -> (u64, u64) {
        let lanes = cx.pes() / cx.nodes();
        // Whoever is lost rings once more at most, where its acting node is.
        assert!(cx.index() != cx.node() || cx.pe() == cx.node() * lanes, "it is on the first PE of its node");
        if self.rings == 0 {
            self.first = round;
            self.remembers += u64::from(round == 1);
        }
        self.rings += 1;
        self.time = round;
        assert_eq!(self.rings, round + 1 - self.first, "it has rung in each round since its first");
        (round, self.remembers)
    }

    #[lost]
    fn take_over(&mut self, lost: Self) {
        self.remembers += lost.remembers;
    }
}

/// Takes checkpoints when it is told to.
#[derive(Pup)]
struct Saver;

#[chare(single)]
impl Saver {
    #[init]
    fn new() -> Self {
        Saver
    }

    #[entry]
    fn saved();

    #[entry]
    async fn save(&mut self, cx: &mut Cx<Self>, round: u64) -> u64 {
        let saved = cx.callback(Self::saved);
        cx.checkpoint(saved);
        cx.when(Self::saved).await;
        round
    }
}

/// Far more than whoever asks lets it have, and little for the machine.
const A_LOT: usize = 256;

/// Until the system ends the process, or it has a lot.
fn take_memory_if_asked(folder: &str) {
    let asked = Path::new(folder).join(std::process::id().to_string());
    if asked.exists() {
        let taken: Vec<Vec<u8>> = (0..A_LOT).map(|_| vec![1; 1 << 20]).collect();
        std::hint::black_box(taken);
    }
}

/// Computes, as far as anybody can see.
fn stay_busy(options: &Options) {
    eprintln!("busy");
    while options.holds() {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Some number that depends on both.
fn mixed(one: u64, other: u64) -> u64 {
    let mixed = (one ^ other.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

/// Whether all that are left have chimed together in a round. Whoever was made again has no part in what they contribute, and hears
/// of it only while one of them is left to do that.
fn have_chimed(chimes: &[Chimes], round: u64) -> bool {
    let mut left = chimes.iter().filter(|(_, since, ..)| *since == 1);
    left.all(|(_, _, chimes, chimed)| *chimes == round && *chimed == round)
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let members: Array<Member> = Member::array(options.members).new(options.clone());
    let begin = cx.share(0_u64);
    let clocks: Group<Clock> = Clock::group().new(begin);
    let some: Section<Clock> = clocks.section(0..cx.pes());
    let towers: Option<Group<Tower>> = options.tower.then(|| Tower::group().new(0));
    let watch: Option<Proxy<Watch>> = options.pendulums.then(|| Watch::chare().new());
    let pendulums: Option<Group<Pendulum>> = watch.map(|watch| Pendulum::group().new(watch));
    let saves: Option<Proxy<Saver>> = options.save_every.map(|_| Saver::chare().on(cx.pes() - 1).new());
    let mut remembers: u64 = 0;
    cx.expect_steps(options.rounds);
    for round in 1..=options.rounds {
        if round == 60 && options.busy {
            stay_busy(&options);
        }
        while round == 60 && options.holds() {
            if options.talk {
                clocks.on(cx.pes() - 1).listen();
            }
            cx.sleep(Duration::from_millis(2)).await;
        }
        members.send(round);
        clocks.ring(round);
        some.chime(some, round);
        pendulums.into_iter().for_each(|pendulums| pendulums.swing(round).ignore());
        cx.quiescence().await;
        if options.pendulums {
            let one: Proxy<Watch> = watch.expect("it was made");
            let swung: u64 = one.count(round).await;
            assert!((1..=u64::from(cx.pes())).contains(&swung), "{swung} pendulums");
        }
        let time: u64 = clocks.time().reduce(Max).await;
        // Those that know it may be lost, and others made in their place.
        assert!(time == round || time == 0, "the clocks stopped at {time} in round {round}");
        let chimes: Vec<Chimes> = some.chimes().reduce(Concat).await;
        if !have_chimed(&chimes, round) {
            // Was it said too early that it is quiet, or is something lost?
            cx.sleep(Duration::from_millis(500)).await;
            cx.quiescence().await;
            let later: Vec<Chimes> = some.chimes().reduce(Concat).await;
            panic!("in round {round}, not all that were left chimed: {chimes:?}, and later {later:?}");
        }
        if options.tower {
            let tower: Group<Tower> = towers.expect("it was made");
            let (rung, remembered): (u64, u64) = tower.ring(round).reduce((Min, Sum)).await;
            assert_eq!(rung, round, "no bell rings");
            if round == 1 {
                remembers = remembered;
            }
            assert_eq!(remembered, remembers, "towers whose memory is there in round {round}");
        }
        let sum: u64 = members.settle(round).reduce(Sum).await;
        writeln!(cx.output(), "{round} rounds: {sum}");
        for line in 0..options.loud {
            writeln!(
                cx.output(),
                "{round} rounds, and in so many words, line {line}: {:032x}",
                mixed(sum, line)
            );
        }
        println!("at {round}");
        cx.step(round);
        if options.save_every.is_some_and(|every| round.is_multiple_of(every)) {
            let saver: Proxy<Saver> = saves.expect("it was made");
            let saved: u64 = saver.save(round).await;
            assert_eq!(saved, round);
        }
        if round == options.rounds {
            cx.result("sum", sum);
        }
    }
}
