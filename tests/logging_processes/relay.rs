//! Runners that pass sums on around a ring, and note in a file that they do: `logging_processes program --relay …`.

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{DumpableBehavior, Pid, Signal, getppid, kill_process, set_dumpable_behavior};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use talisman::prelude::*;

#[derive(clap::Parser, Clone, Debug, Pup)]
struct Options {
    /// Always `program`, which tells this from a run of the tests.
    program: String,
    /// Tells it from the other program.
    #[arg(long)]
    relay: bool,
    #[arg(long, default_value_t = 60)]
    rounds: u64,
    /// Numbers in a message
    #[arg(long, default_value_t = 8)]
    words: usize,
    /// Numbers that a runner has, in pages and in a vector each, and changes in each round
    #[arg(long, default_value_t = 0)]
    field: usize,
    /// Numbers that the runner on node 1 has and never changes
    #[arg(long, default_value_t = 0)]
    hoard: usize,
    /// No process may read the memory of another
    #[arg(long)]
    hidden: bool,
    /// What a runner takes for each message, in microseconds
    #[arg(long, default_value_t = 0)]
    pause_us: u64,
    /// Where each process notes what it executes
    #[arg(long)]
    notes: Option<String>,
    /// The runner that panics, or aborts its process
    #[arg(long, default_value_t = 1)]
    who: u32,
    /// The round in which it panics
    #[arg(long)]
    panic_at: Option<u64>,
    /// The round in which it aborts, each time
    #[arg(long)]
    abort_at: Option<u64>,
    /// Where whose runner kills whose process, once each: `pack:0>1` as its part is packed, `restored:0>1` as it is made anew, and
    /// `pack:0>launcher`
    #[arg(long, value_delimiter = ',')]
    trap: Vec<String>,
    /// Runners pass on something that is not the same when it is done again: `clock`, `hash`, `random`, `counter` or `pid`
    #[arg(long)]
    breaks: Option<String>,
    /// Each runner takes what it has itself: nothing but sums goes between PEs
    #[arg(long)]
    pairs: bool,
    /// In each round so many runners, all of a process, wait for each other in their entries: each needs a thread of its own
    #[arg(long)]
    meet: Option<u32>,
    /// Nothing is printed before the end
    #[arg(long)]
    quiet: bool,
    /// After this round, a checkpoint is asked for and waited for
    #[arg(long)]
    save_at: Option<u64>,
    /// A file that says which round is the last one to be begun, for as long as it is there
    #[arg(long)]
    hold: Option<String>,
}

impl Options {
    fn holds(&self, round: u64) -> bool {
        let Some(text) = self.hold.as_ref().and_then(|file| std::fs::read_to_string(file).ok()) else {
            return false;
        };
        text.trim().parse().is_ok_and(|last: u64| round > last)
    }
}

/// Runs it as the command line says.
pub fn start() -> ExitCode {
    talisman::start::main::<__Main, (Options,)>(talisman::program!())
}

/// One on each PE.
#[derive(Pup)]
struct Runner {
    options: Options,
    trap: Trap,
    pages: Pages<u64>,
    numbers: Vec<u64>,
    hoard: Vec<u64>,
    /// Of the rounds that are over.
    sum: u64,
    /// What has come in this one, perhaps before it has passed on its own.
    taken: u64,
}

#[chare(group)]
impl Runner {
    #[init]
    fn new(cx: &mut Cx<Self>, options: Options) -> Self {
        if options.hidden {
            hide();
        }
        let (pages, numbers) = (Pages::filled(1, options.field), vec![1; options.field]);
        let hoard = if cx.index() == 1 { vec![7; options.hoard] } else { Vec::new() };
        Runner { trap: Trap::new(cx.index(), &options), options, pages, numbers, hoard, sum: 1, taken: 0 }
    }

    #[restored]
    fn restored(&mut self, _: &mut Cx<Self>, _: Restored) {
        if self.options.hidden {
            hide();
        }
        self.trap.spring("restored");
    }

    /// The next one takes what this one has, in each round.
    #[entry]
    fn pass(&mut self, cx: &mut Cx<Self>, round: u64) {
        let next = if self.options.pairs { cx.index() } else { (cx.index() + 1) % cx.pes() };
        let broken = self.options.breaks.as_deref().map_or(0, what_is_never_the_same);
        cx.group().on(next).take(round, vec![self.sum ^ broken; self.options.words]);
    }

    #[entry]
    fn take(&mut self, cx: &mut Cx<Self>, round: u64, numbers: Vec<u64>) {
        self.note(cx.index(), round);
        let is_it = cx.index() == self.options.who;
        assert!(!is_it || self.options.panic_at != Some(round), "enough of it");
        if is_it && self.options.abort_at == Some(round) {
            std::process::abort();
        }
        self.taken = numbers.iter().fold(round, |sum, number| sum.wrapping_mul(31).wrapping_add(*number));
        self.change_field(round);
        std::thread::sleep(Duration::from_micros(self.options.pause_us));
    }

    /// All of it goes into what the runner has: pages are written anew every third round, and in part in others.
    fn change_field(&mut self, round: u64) {
        let taken = self.taken;
        let new = |place: usize, old: u64| old.rotate_left(5) ^ taken.wrapping_mul(place as u64 + 1);
        if round.is_multiple_of(3) {
            let old = self.pages.clone();
            let pages = self.pages.overwrite().iter_mut().zip(&*old).enumerate();
            pages.for_each(|(place, (number, old))| *number = new(place, *old));
        } else {
            let pages = self.pages.to_mut().iter_mut().enumerate().step_by(7);
            pages.for_each(|(place, number)| *number = new(place, *number));
        }
        let numbers = self.numbers.iter_mut().enumerate();
        numbers.for_each(|(place, number)| *number = new(place, *number));
        let all = self.pages.iter().chain(&self.numbers);
        self.taken = all.fold(taken, |sum, number| sum.wrapping_mul(31).wrapping_add(*number));
    }

    #[entry]
    fn sum(&mut self, cx: &mut Cx<Self>, round: u64) -> u64 {
        self.sum = self.sum.rotate_left(7) ^ self.taken;
        if !self.options.quiet {
            writeln!(cx.output(), "runner {} in round {round}: {:016x}", cx.index(), self.sum);
        }
        self.sum >> 8
    }

    /// Entries that wait for those of the other runners of their process, and come to nothing.
    #[entry]
    async fn meet(&mut self, cx: &mut Cx<Self>, round: u64, runners: u32) -> u64 {
        come(&BEGUN, round);
        // Until the others have heard of it, perhaps by this PE: they need nothing of anybody any more then.
        while talisman::testing::world(|| have_come(&BEGUN, round)) < runners {
            cx.sleep(Duration::from_micros(200)).await;
        }
        meet_in_process(round, runners);
        0
    }

    /// What a process executes, also when it runs again.
    fn note(&self, runner: u32, round: u64) {
        if let Some(file) = &self.options.notes {
            let line = format!("{} {runner} {round}\n", std::process::id());
            let file = OpenOptions::new().append(true).create(true).open(file);
            let noted = file.and_then(|mut file| file.write_all(line.as_bytes()));
            noted.expect("the scratch folder can be written");
        }
    }
}

/// Kills processes when its runner is packed or made anew.
struct Trap {
    runner: u32,
    /// As on the command line.
    specs: Vec<String>,
    notes: String,
}

impl Trap {
    fn new(runner: u32, options: &Options) -> Trap {
        Trap { runner, specs: options.trap.clone(), notes: options.notes.clone().unwrap_or_default() }
    }

    fn spring(&self, place: &str) {
        for (nth, spec) in self.specs.iter().enumerate() {
            let (at, victim) = spec.split_once('>').expect("a trap is PLACE:RUNNER>VICTIM");
            let is_once = || {
                OpenOptions::new().write(true).create_new(true).open(format!("{}.{nth}", self.notes)).is_ok()
            };
            if at == format!("{place}:{}", self.runner) && is_once() {
                kill_process(self.process_of(victim), Signal::KILL).expect("it is there");
            }
        }
    }

    /// The newest process of a runner, as it has noted.
    fn process_of(&self, runner: &str) -> Pid {
        if runner == "launcher" {
            return self.launcher();
        }
        let own = self.runner.to_string() == runner;
        let text = std::fs::read_to_string(&self.notes).expect("runners note what they do");
        let of_runner = text.lines().rev().map(|line| line.split(' ').collect::<Vec<_>>());
        let noted = of_runner
            .into_iter()
            .find(|words| words.get(1) == Some(&runner))
            .map(|words| words[0].to_owned());
        let pid =
            if own { std::process::id().to_string() } else { noted.expect("it has executed something") };
        process(&pid)
    }

    /// As the test has noted, where nodes are started by others.
    fn launcher(&self) -> Pid {
        match std::fs::read_to_string(format!("{}.launcher", self.notes)) {
            Ok(pid) => process(&pid),
            Err(_) => getppid().expect("its process was started by that"),
        }
    }
}

fn process(pid: &str) -> Pid {
    Pid::from_raw(pid.parse().expect("a process id")).expect("no process has the number 0")
}

impl Pup for Trap {
    const MIN_SIZE: usize = 0;

    fn pack(&self, packer: &mut Packer) {
        self.runner.pack(packer);
        self.specs.pack(packer);
        self.notes.pack(packer);
        self.spring("pack");
    }

    fn unpack(unpacker: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let (runner, specs, notes) = Pup::unpack(unpacker)?;
        Ok(Trap { runner, specs, notes })
    }
}

/// No other process may look into this one, and this thread into no other, whoever runs the test.
fn hide() {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).expect("a process may say so of itself");
    let mut sets = capabilities(None).expect("it is known");
    sets.effective.remove(CapabilitySet::SYS_PTRACE);
    set_capabilities(None, sets).expect("a thread may do less");
}

/// How many runners of this process have come somewhere, by round.
type Come = Mutex<BTreeMap<u64, u32>>;
/// To the beginning of their entries, and to where they wait for each other.
static BEGUN: Come = Mutex::new(BTreeMap::new());
static MET: Come = Mutex::new(BTreeMap::new());
/// No entry is waited for for longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns when so many runners of this process are in here at the same time, or have been.
fn meet_in_process(round: u64, runners: u32) {
    let met = || have_come(&MET, round);
    come(&MET, round);
    let since = Instant::now();
    while met() < runners {
        assert!(since.elapsed() < PATIENCE, "{} of {runners} runners of a process run at once", met());
        std::thread::sleep(Duration::from_micros(20));
    }
}

fn come(to: &Come, round: u64) {
    *to.lock().expect("nobody panics with it").entry(round).or_default() += 1;
}

fn have_come(to: &Come, round: u64) -> u32 {
    to.lock().expect("nobody panics with it").get(&round).copied().unwrap_or(0)
}

static COUNTER: AtomicU64 = AtomicU64::new(1);

/// What no entry may look at in a job that logs.
fn what_is_never_the_same(what: &str) -> u64 {
    match what {
        "clock" => SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64),
        "hash" => {
            let set: HashSet<u64> = (0..64).collect();
            set.into_iter().fold(1, |sum, number| sum.wrapping_mul(31).wrapping_add(number))
        }
        "random" => {
            let mut bytes = [0; 8];
            let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
            read.map_or(1, |()| u64::from_ne_bytes(bytes))
        }
        // Of all runners of this process.
        "counter" => COUNTER.fetch_add(1, Ordering::Relaxed),
        _ => u64::from(std::process::id()),
    }
}

/// Asks for a checkpoint, and says when it is there.
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
    async fn save(&mut self, cx: &mut Cx<Self>) -> u64 {
        let saved = cx.callback(Self::saved);
        cx.checkpoint(saved);
        cx.when(Self::saved).await;
        writeln!(cx.output(), "saved");
        1
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let runners: Group<Runner> = Runner::group().new(options.clone());
    let saver: Proxy<Saver> = Saver::chare().on(cx.pes() - 1).new();
    cx.expect_steps(options.rounds);
    let mut all: u64 = 0;
    for round in 1..=options.rounds {
        while options.hold.is_some() && talisman::testing::world(|| options.holds(round)) {
            cx.sleep(Duration::from_millis(2)).await;
        }
        runners.pass(round);
        cx.quiescence().await;
        let sum: u64 = runners.sum(round).reduce(Sum).await;
        all = all.rotate_left(3) ^ sum;
        if let Some(together) = options.meet {
            let met: u64 = runners.meet(round, together).reduce(Sum).await;
            all ^= met;
        }
        cx.step(round);
        if options.save_at == Some(round) {
            let saved: u64 = saver.save().await;
            all ^= saved;
        }
    }
    cx.result("all", all);
    writeln!(cx.output(), "all: {all:016x}");
}
