//! The command: rounds for some minutes, or so many of them.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use clap::Parser;

use crate::guard::Guard;
use crate::judge::Verdict;
use crate::memory::Group;
use crate::plan::{KINDS, Kind, PROGRAMS, Plan, ROUNDS};
use crate::round::{self, Ground, Outcome, Reference};
use crate::summary::Summary;

/// The word before its options.
pub const COMMAND: &str = "go";
/// Of [`ROUNDS`]: the first recovery makes its results wrong.
const WRONG: &str = "--wrong-after-recovery";

/// Strikes real jobs at random, and looks whether they go on as if nothing had happened or end as the documentation says
///
/// Exit status 0 if every round did. What a failed round has left is kept, and the command to repeat it is said.
#[derive(Parser, Debug)]
#[command(name = "nemesis go")]
struct Options {
    /// Goes on for so long
    #[arg(long, conflicts_with = "rounds", value_parser = minutes)]
    minutes: Option<f64>,
    /// So many rounds [default: as many as there are kinds]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,
    /// The first round's; the next one's is one more [default: another each time]
    #[arg(long)]
    seed: Option<u64>,
    /// A job that is not over after so many seconds hangs
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..))]
    bound: u64,
    /// The program of the rounds counts wrong after each recovery: to see that this is found
    #[arg(long)]
    mistake: bool,
    /// Keeps what every round leaves, not only failed ones
    #[arg(long)]
    keep: bool,
}

/// A time that ends, and in which something can be done.
fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes| (0.01..=100_000.0).contains(minutes));
    minutes.ok_or_else(|| "minutes are a number from 0.01 to 100000".into())
}

/// Runs the command: its options follow on [`COMMAND`].
pub fn main() -> ExitCode {
    let options = Options::parse_from(std::env::args().skip(1));
    if let Err(why) = build_examples() {
        eprintln!("nemesis: {why}");
        return ExitCode::from(2);
    }
    let _guard = Guard::post();
    let ground = ground(&options);
    let first = options.seed.unwrap_or_else(fresh);
    let (start, mut summary) = (Instant::now(), Summary::default());
    let mut rounds = Rounds::new(ground.clone());
    for number in 0.. {
        let is_over = match options.minutes {
            Some(minutes) => start.elapsed().as_secs_f64() >= 60.0 * minutes,
            None => number >= options.rounds.unwrap_or(KINDS.len() as u64),
        };
        if is_over {
            break;
        }
        let plan = Plan::of(first.wrapping_add(number));
        summary.add(plan.kind, &rounds.play(&plan, Some(number + 1)));
    }
    // Only what failed rounds have left stays.
    let _ = std::fs::remove_dir(&ground.folder);
    println!("{summary}");
    if summary.has_failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// `cargo test` builds examples only where all tests are run.
fn build_examples() -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--quiet"]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    for program in PROGRAMS.iter().filter(|program| **program != ROUNDS) {
        command.args(["--example", program.name]);
    }
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("the examples cannot be built: {command:?}")) }
}

/// Rounds, and what they have in common.
pub struct Rounds {
    ground: Ground,
    /// Of each program and shape so far.
    references: Vec<(Plan, Reference)>,
}

/// What became of a planned round.
pub enum Played {
    Over(Outcome),
    /// The rights for it are not there.
    Skipped,
}

impl Rounds {
    pub fn new(ground: Ground) -> Self {
        Rounds { ground, references: Vec::new() }
    }

    /// A round, and a line about it.
    pub fn play(&mut self, plan: &Plan, number: Option<u64>) -> Played {
        let round = number.map_or(String::new(), |number| format!("round {number}, "));
        let group = match plan.wants_memory().then(Group::new).transpose() {
            Ok(group) => group,
            Err(why) => {
                println!("{round}{plan}: skipped: {why}");
                return Played::Skipped;
            }
        };
        let outcome = match self.reference(plan) {
            Ok(reference) => round::run(plan, &reference, group, &self.ground),
            Err(failed) => failed,
        };
        println!("{round}{plan}: {outcome}");
        if matches!(outcome.verdict, Verdict::Failed(_)) && number.is_some() {
            println!("  left in {}", outcome.left.display());
            println!(
                "  likely the same (its moments are those of real time): cargo nemesis --rounds 1 --seed {}{}",
                plan.seed,
                if self.ground.more.is_empty() { "" } else { " --mistake" }
            );
        }
        Played::Over(outcome)
    }

    fn reference(&mut self, plan: &Plan) -> Result<Reference, Outcome> {
        let is_same = |known: &Plan| known.program == plan.program && known.shape == plan.shape;
        if let Some((_, reference)) = self.references.iter().find(|(known, _)| is_same(known)) {
            return Ok(reference.clone());
        }
        let reference = Reference::of(plan.program, plan.shape, &self.ground)?;
        self.references.push((plan.clone(), reference.clone()));
        Ok(reference)
    }
}

fn ground(options: &Options) -> Ground {
    Ground {
        folder: folder(""),
        bound: Duration::from_secs(options.bound),
        more: if options.mistake { WRONG } else { "" },
        keeps: options.keep,
    }
}

/// A folder among the temporary ones, with a short name.
pub fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("nemesis-{}{name}", std::process::id()))
}

/// A seed that nobody has chosen, small enough to be typed.
fn fresh() -> u64 {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::from(time.map_or(0, |time| time.subsec_nanos())) ^ u64::from(std::process::id())
}

/// It finds a program that counts wrong after a recovery.
pub fn a_wrong_sum_is_found() {
    let ground =
        Ground { folder: folder("-wrong"), bound: Duration::from_secs(120), more: WRONG, keeps: false };
    let mut rounds = Rounds::new(ground.clone());
    // Those that lose a node of this program while it runs: most of them go back.
    let plans = (0..).map(Plan::of).filter(|plan| {
        plan.program == ROUNDS && plan.kind == Kind::DuringCheckpoint && plan.replacing.is_empty()
    });
    println!("it counts wrong on purpose:");
    let found = plans.take(8).any(|plan| match rounds.play(&plan, None) {
        Played::Over(Outcome { verdict: Verdict::Failed(why), .. }) => {
            assert!(why.contains("wrong lines"), "{why}");
            true
        }
        _ => false,
    });
    let _ = std::fs::remove_dir_all(&ground.folder);
    assert!(found, "nobody has noticed that it counts wrong");
}
