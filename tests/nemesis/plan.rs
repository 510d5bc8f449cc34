//! What is done to a job: all of it follows from a seed.

use std::fmt;
use std::time::Duration;

use talisman::rng::Rng;

use crate::job::Shape;

/// What a round is about. Its seed says which: each of as many seeds in a row has another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Kill,
    OutOfMemory,
    ShortStop,
    LongStop,
    TwoAtOnce,
    AtTheStart,
    DuringRecovery,
    DuringCheckpoint,
    Launcher,
    LauncherAndNode,
    LauncherAtTheStart,
    LauncherStopped,
    Everybody,
}

pub const KINDS: [Kind; 13] = [
    Kind::Kill,
    Kind::OutOfMemory,
    Kind::ShortStop,
    Kind::LongStop,
    Kind::TwoAtOnce,
    Kind::AtTheStart,
    Kind::DuringRecovery,
    Kind::DuringCheckpoint,
    Kind::Launcher,
    Kind::LauncherAndNode,
    Kind::LauncherAtTheStart,
    Kind::LauncherStopped,
    Kind::Everybody,
];

/// What a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// An example, or this binary itself, as `rounds`.
    pub name: &'static str,
    pub options: &'static str,
}

/// The only one whose processes take more memory when they are asked to.
pub const ROUNDS: Program = Program { name: "rounds", options: "--rounds 80" };

pub const PROGRAMS: [Program; 5] = [
    ROUNDS,
    Program { name: "jacobi3d", options: "--grid 44,42,21 --block 21,21,21 --steps 200 --check" },
    Program {
        name: "leanmd",
        options: "--cells 3,3,3 --atoms-per-cell 8 --steps 40 --migrate-every 10 --check",
    },
    Program { name: "golomb", options: "--marks 8 --depth 4" },
    Program { name: "nqueens", options: "--queens 13 --grain 9" },
];

const SHAPES: [Shape; 4] = [(3, 1, "tcp"), (4, 1, "shm"), (3, 2, "mixed"), (5, 1, "tcp")];

/// What silence is borne where somebody is stopped. Longer than a busy machine lets anybody wait for a processor.
const SILENCE: Duration = Duration::from_secs(4);

/// Whom it strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    Launcher,
    /// All that are there: what is on disk is left.
    Everybody,
    /// Any other process of the job, by this number among those that have not been struck, modulo how many these are. One that waits, or stands by, may
    /// be among them.
    Other(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Kill,
    /// For so long.
    Stop(Duration),
    OutOfMemory,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// At this part of the time that an undisturbed run takes before the program begins.
    Starting(f64),
    /// At this part of the time that the program of an undisturbed run takes.
    Running(f64),
    /// So long after the job has told of a loss.
    Recovering(Duration),
    /// So long after the strike before.
    After(Duration),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strike {
    pub when: When,
    pub whom: Whom,
    pub how: How,
}

/// A round.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub seed: u64,
    pub kind: Kind,
    pub program: Program,
    pub shape: Shape,
    /// Checkpoints are on disk.
    pub disk: bool,
    /// `--respawn`, `--spares`, or nothing.
    pub replacing: &'static str,
    pub every: &'static str,
    pub silence: Option<Duration>,
    pub strikes: Vec<Strike>,
}

impl Plan {
    pub fn of(seed: u64) -> Plan {
        let kind = KINDS[(seed % KINDS.len() as u64) as usize];
        let mut rng = Rng::new(seed);
        let program = match kind {
            Kind::OutOfMemory => ROUNDS,
            _ => one_of(&mut rng, &PROGRAMS),
        };
        let shape = one_of(&mut rng, &SHAPES);
        let disk = rng.below(3) == 0 || kind == Kind::Everybody;
        let replacing = one_of(&mut rng, &["", "", "--respawn", "--spares 1"]);
        let every = match kind {
            Kind::DuringCheckpoint => "1ms",
            _ => one_of(&mut rng, &["1h", "5ms", "20ms", "100ms"]),
        };
        let stops = matches!(kind, Kind::ShortStop | Kind::LongStop | Kind::LauncherStopped);
        let mut strikes = strikes(kind, &mut rng);
        // One more, of whatever kind the round is, if there is anybody left.
        if rng.below(3) == 0 && kind != Kind::Everybody {
            strikes.push(Strike {
                when: When::After(millis(&mut rng, 0, 600)),
                whom: Whom::Other(rng.next_u64()),
                how: How::Kill,
            });
        }
        Plan {
            seed,
            kind,
            program,
            shape,
            disk,
            replacing,
            every,
            silence: stops.then_some(SILENCE),
            strikes,
        }
    }

    /// The options of the runtime that are about fault tolerance. Checkpoints on disk go to this folder.
    pub fn options(&self, checkpoints: &str) -> String {
        let way =
            if self.disk { format!("--ft disk --ckpt-dir {checkpoints}") } else { "--ft double".into() };
        let silence =
            self.silence.map_or(String::new(), |silence| format!(" --silence {}s", silence.as_secs()));
        let more = if self.replacing.is_empty() { String::new() } else { format!(" {}", self.replacing) };
        format!("{way} --ft-log --ckpt-every {}{silence}{more}", self.every)
    }

    pub fn wants_memory(&self) -> bool {
        self.strikes.iter().any(|strike| strike.how == How::OutOfMemory)
    }
}

fn strikes(kind: Kind, rng: &mut Rng) -> Vec<Strike> {
    let running = When::Running(rng.unit_f64());
    let starting = When::Starting(rng.unit_f64());
    let other = Whom::Other(rng.next_u64());
    let second = Whom::Other(rng.next_u64());
    let at_once = When::After(Duration::ZERO);
    let kill = |when, whom| Strike { when, whom, how: How::Kill };
    match kind {
        Kind::Kill | Kind::DuringCheckpoint => vec![kill(running, other)],
        Kind::OutOfMemory => {
            // Early enough for the program to come to the point at which it takes memory.
            let when = When::Running(rng.unit_f64() / 2.0);
            vec![Strike { when, whom: other, how: How::OutOfMemory }]
        }
        Kind::ShortStop => {
            let whom = if rng.below(4) == 0 { Whom::Launcher } else { other };
            let short = millis(rng, 1, SILENCE.as_millis() as u64 / 2);
            vec![Strike { when: running, whom, how: How::Stop(short) }]
        }
        Kind::LongStop => vec![Strike { when: running, whom: other, how: How::Stop(beyond_silence(rng)) }],
        Kind::LauncherStopped => {
            vec![Strike { when: running, whom: Whom::Launcher, how: How::Stop(beyond_silence(rng)) }]
        }
        Kind::TwoAtOnce => vec![kill(running, other), kill(at_once, second)],
        Kind::AtTheStart => vec![kill(starting, other)],
        Kind::DuringRecovery => {
            let soon = When::Recovering(Duration::from_micros(rng.below(20_000)));
            vec![kill(running, other), kill(soon, second)]
        }
        Kind::Launcher => vec![kill(running, Whom::Launcher)],
        Kind::LauncherAndNode => {
            let soon = When::After(Duration::from_micros(rng.below(20_000)));
            vec![kill(running, Whom::Launcher), kill(soon, second)]
        }
        Kind::LauncherAtTheStart => vec![kill(starting, Whom::Launcher)],
        Kind::Everybody => vec![kill(running, Whom::Everybody)],
    }
}

fn beyond_silence(rng: &mut Rng) -> Duration {
    SILENCE + millis(rng, 300, 2000)
}

fn millis(rng: &mut Rng, least: u64, most: u64) -> Duration {
    Duration::from_millis(least + rng.below(most - least))
}

fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len() as u64) as usize]
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Kill => "a node is killed",
            Kind::OutOfMemory => "a node is out of memory",
            Kind::ShortStop => "a stop shorter than silence is borne",
            Kind::LongStop => "a stop longer than silence is borne",
            Kind::TwoAtOnce => "two at once",
            Kind::AtTheStart => "a node before the program begins",
            Kind::DuringRecovery => "a node during a recovery",
            Kind::DuringCheckpoint => "a node during a checkpoint",
            Kind::Launcher => "the launcher is killed",
            Kind::LauncherAndNode => "the launcher and a node",
            Kind::LauncherAtTheStart => "the launcher before the program begins",
            Kind::LauncherStopped => "the launcher is stopped",
            Kind::Everybody => "everybody at once and a restart",
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nodes, pes, transport) = self.shape;
        let (name, way) = (self.program.name, self.options("…"));
        write!(f, "seed {}: {name} on {nodes} nodes of {pes} PEs, {transport}, {way}; ", self.seed)?;
        let strikes: Vec<String> = self.strikes.iter().map(Strike::to_string).collect();
        f.write_str(&strikes.join(", then "))
    }
}

impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whom = match self.whom {
            Whom::Launcher => "launcher",
            Whom::Everybody => "everybody",
            Whom::Other(_) => "node",
        };
        match self.how {
            How::Kill => write!(f, "kill {whom}")?,
            How::Stop(time) => write!(f, "stop {whom} for {time:.1?}")?,
            How::OutOfMemory => write!(f, "no memory for {whom}")?,
        }
        match self.when {
            When::Starting(part) => write!(f, " at {:.0} % of the start", 100.0 * part),
            When::Running(part) => write!(f, " at {:.0} % of the program", 100.0 * part),
            When::Recovering(time) => write!(f, " {time:.1?} into the recovery"),
            When::After(time) => write!(f, " {time:.1?} later"),
        }
    }
}

/// The same plan each time, and every kind among as many seeds.
pub fn plans_follow_from_seeds() {
    for seed in 0..1000 {
        let plan = Plan::of(seed);
        assert_eq!(plan, Plan::of(seed));
        assert_eq!(plan.kind, KINDS[seed as usize % KINDS.len()]);
        assert!((1..=3).contains(&plan.strikes.len()), "{plan}");
        assert!(plan.program == ROUNDS || !plan.wants_memory(), "{plan}");
    }
    assert_ne!(Plan::of(0), Plan { seed: 0, ..Plan::of(KINDS.len() as u64) });
}
