//! A round: a job that is struck as planned, is over in time or is ended, and leaves evidence.

use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::job::{self, Ended, Job, Shape};
use crate::judge::{Ending, Evidence, Struck, Verdict};
use crate::memory::Group;
use crate::plan::{Plan, Program, ROUNDS};
use crate::said::Said;
use crate::striking::{Pace, Striking};
use crate::system;

/// A launcher that ends by itself has seen all others end; the system may need a moment until nothing is seen of them.
const GRACE: Duration = Duration::from_secs(20);
/// Between two looks, of which the second costs more.
const LOOK: Duration = Duration::from_millis(1);
const LOOK_AT_ALL: Duration = Duration::from_millis(20);

/// In the folder of a job.
const CHECKPOINTS: &str = "checkpoints";
/// The status of a job that is to go on from a folder without a whole checkpoint.
const NOTHING_TO_GO_ON_FROM: i32 = 2;

/// An undisturbed run.
#[derive(Clone, Debug)]
pub struct Reference {
    pub said: Said,
    pub pace: Pace,
}

/// What came of a round.
#[derive(Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    pub took: Duration,
    pub losses: usize,
    /// Strikes that came when the job was over.
    pub late: usize,
    /// The kernel has ended a process for want of memory.
    pub out_of_memory: bool,
    /// It could not go on, and another went on from its checkpoints.
    pub restarted: bool,
    /// What it said, of a failed one.
    pub said: String,
    /// Where a failed one has left everything.
    pub left: PathBuf,
}

/// Where and how long rounds are.
#[derive(Clone, Debug)]
pub struct Ground {
    /// A job of its own in it has a folder.
    pub folder: PathBuf,
    /// Nothing is waited for longer.
    pub bound: Duration,
    /// More options of [`ROUNDS`].
    pub more: &'static str,
    /// What every round leaves is kept.
    pub keeps: bool,
}

impl Reference {
    /// Nothing of an undisturbed run may be wrong.
    pub fn of(program: Program, shape: Shape, ground: &Ground) -> Result<Reference, Outcome> {
        let place = Place::new(&ground.folder, "undisturbed");
        let started = Instant::now();
        let run = over(place.command(program, shape, ""), ground, |_| {});
        let took = started.elapsed();
        let report = place.report().filter(|_| run.unfinished.is_none() && run.ended.status.success());
        let Some(report) = report else {
            place.keep(&run.said());
            let why = format!("an undisturbed run of {} fails", program.name);
            return Err(Outcome::failed(why, run.said(), place.0));
        };
        let program = Duration::from_secs_f64(report["wall_s"].as_f64().unwrap_or(0.0));
        let pace = Pace { start: took.saturating_sub(program), program };
        place.clear();
        Ok(Reference { said: Said::reported(&run.ended.stdout, &report), pace })
    }
}

impl Outcome {
    /// Of a round that could not be.
    fn failed(why: String, said: String, left: PathBuf) -> Self {
        Outcome {
            left,
            verdict: Verdict::Failed(why),
            took: Duration::ZERO,
            losses: 0,
            late: 0,
            out_of_memory: false,
            restarted: false,
            said,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { verdict, took, losses, late, out_of_memory, restarted, .. } = self;
        write!(f, "{verdict} ({:.1} s, {losses} lost", took.as_secs_f64())?;
        if *out_of_memory {
            f.write_str(", the kernel was out of memory")?;
        }
        if *restarted {
            f.write_str(", went on with --restart")?;
        }
        if *late > 0 {
            write!(f, ", {late} too late")?;
        }
        f.write_str(")")
    }
}

/// Runs the job, and judges it. If it could not go on, but its checkpoints are on disk, another has to go on from these. What a failed one leaves
/// stays in its folder.
pub fn run(plan: &Plan, reference: &Reference, group: Option<Group>, ground: &Ground) -> Outcome {
    let place = Place::new(&ground.folder, &plan.seed.to_string());
    let hunger = place.0.join("hunger");
    fs::create_dir_all(&hunger).expect("the folder can be written");
    let mut options = plan.options(&place.checkpoints());
    if plan.program == ROUNDS {
        options = format!("{options} --hunger {} {}", hunger.display(), ground.more);
    }
    let started = Instant::now();
    let mut striking = Striking::new(plan, reference.pace, hunger, group);
    let struck_one =
        over(place.command(plan.program, plan.shape, &options), ground, |job| striking.look(job));
    striking.wake_all();
    let evidence = struck_one.evidence(&place, reference, &striking.struck);
    let (mut verdict, mut said) = (evidence.verdict(), struck_one.said());
    let mut restarted = None;
    if plan.disk && matches!(verdict, Verdict::Ended(_)) {
        let again = over(place.again(plan), ground, |_| {});
        restarted = again.goes_on_from(&evidence, &place, reference);
        if let Some(Verdict::Failed(why)) = &restarted {
            verdict = Verdict::Failed(format!("it {verdict}; then, with --restart: {why}"));
            said = format!("{said}\nand then {}", again.said());
        }
    }
    match &verdict {
        Verdict::Failed(why) => {
            said = format!("{plan}\n{why}\n{:?}\n{said}\nexpected: {:#?}", striking.struck, reference.said);
            place.keep(&said);
        }
        _ if ground.keeps => place.keep(&format!("{plan}\n{verdict}\n{:?}\n{said}", striking.struck)),
        _ => place.clear(),
    }
    Outcome {
        verdict,
        took: started.elapsed(),
        losses: evidence.losses,
        late: striking.late(),
        out_of_memory: striking.out_of_memory().is_some_and(|ended| ended > 0),
        restarted: restarted == Some(Verdict::Survived),
        said,
        left: place.0,
    }
}

/// A job that is over, or was ended.
struct Over {
    ended: Ended,
    unfinished: Option<Unfinished>,
    bound: Duration,
    /// What it did when it was ended, and its processes then.
    stacks: String,
    left: Vec<String>,
}

/// Runs a job until it is over, and looks at it meanwhile. If it does not end, it is ended.
fn over(command: Command, ground: &Ground, look: impl FnMut(&Job)) -> Over {
    let mut job = Job::start(command);
    let unfinished = watch(&mut job, Instant::now(), ground.bound, look).err();
    let (stacks, left) = match unfinished {
        Some(_) => (stacks(&job), job.processes().iter().map(i32::to_string).collect()),
        None => (String::new(), Vec::new()),
    };
    Over { ended: end(job, unfinished.is_some()), unfinished, bound: ground.bound, stacks, left }
}

impl Over {
    fn evidence(&self, place: &Place, reference: &Reference, struck: &[Struck]) -> Evidence {
        let report = place.report();
        let mut lines = self.ended.stdout.clone();
        // Whoever was killed while it printed, and had no successor, may have broken a line off.
        if report.is_none() {
            lines.pop_if(|last| !Said::of(std::slice::from_ref(last)).without(&reference.said).is_empty());
        }
        let is_left_behind = self.unfinished == Some(Unfinished::LeftBehind);
        Evidence {
            expected: reference.said.clone(),
            said: Said::reported(&lines, report.as_ref().unwrap_or(&Value::Null)),
            ending: match self.unfinished {
                Some(Unfinished::Hangs) => Ending::Hung(self.bound),
                _ => ending(&self.ended),
            },
            reported: report.as_ref().and_then(|report| report["status"].as_i64()),
            losses: report.as_ref().map_or(0, losses),
            errors: self.ended.stderr.clone(),
            struck: struck.to_vec(),
            processes_left: if is_left_behind { self.left.clone() } else { Vec::new() },
            files_left: place.left(),
        }
    }

    /// What is to be said of a job that was started again after this one. Nothing if no checkpoint had been told of.
    fn goes_on_from(&self, former: &Evidence, place: &Place, reference: &Reference) -> Option<Verdict> {
        let had_any = former.errors.iter().any(|line| line.contains("committed after"));
        if !had_any && self.ended.status.code() == Some(NOTHING_TO_GO_ON_FROM) {
            return None;
        }
        let mut evidence = self.evidence(place, reference, &[]);
        evidence.said = evidence.said.and_before(former.said.lines());
        evidence.expected = evidence.expected.and_before(&[]);
        // The folder was there before this job.
        evidence.files_left.retain(|file| file != CHECKPOINTS);
        Some(evidence.verdict())
    }

    fn said(&self) -> String {
        format!("{}\n{}", self.ended.said(), self.stacks)
    }
}

/// Why a job is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unfinished {
    /// Its launcher has ended by itself, and others have not.
    LeftBehind,
    Hangs,
}

/// Until all its processes have ended, but no longer than this.
fn watch(
    job: &mut Job,
    started: Instant,
    bound: Duration,
    mut look: impl FnMut(&Job),
) -> Result<(), Unfinished> {
    let mut looked = Instant::now();
    let mut ended_by_itself: Option<Instant> = None;
    loop {
        look(job);
        if looked.elapsed() >= LOOK_AT_ALL {
            looked = Instant::now();
            // One that has ended and is not waited for has no environment.
            if job.processes().is_empty() {
                return Ok(());
            }
            let status = job.launcher.try_wait().expect("it is our child");
            if status.is_some_and(|status| status.code().is_some()) {
                ended_by_itself.get_or_insert_with(Instant::now);
            }
        }
        if ended_by_itself.is_some_and(|since| since.elapsed() > GRACE) {
            return Err(Unfinished::LeftBehind);
        }
        if started.elapsed() > bound {
            return Err(Unfinished::Hangs);
        }
        sleep(LOOK);
    }
}

/// Takes what a job has left, by force if it is not over.
fn end(job: Job, by_force: bool) -> Ended {
    if by_force {
        job.processes().into_iter().for_each(|pid| system::signal(pid, rustix::process::Signal::KILL));
    }
    job.end()
}

fn ending(ended: &Ended) -> Ending {
    match (ended.status.code(), ended.status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, signal) => Ending::Signalled(signal.unwrap_or(0)),
    }
}

/// Losses of nodes in a report.
fn losses(report: &Value) -> usize {
    let failures = report["failures"].as_array().into_iter().flatten();
    failures.filter(|failure| failure["node"].is_u64()).count()
}

/// What every thread of every process of a job does, as the system knows it.
fn stacks(job: &Job) -> String {
    let of_thread = |thread: fs::DirEntry| {
        let read = |name: &str| fs::read_to_string(thread.path().join(name)).unwrap_or_default();
        let (name, state) = (read("comm"), read("stat"));
        let state = state.rsplit(')').next().unwrap_or("").trim_start().chars().next().unwrap_or('?');
        format!("  {} {state} {}\n{}", name.trim(), read("wchan"), read("stack"))
    };
    let of_process = |pid: i32| {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let threads: Vec<String> = threads.map(of_thread).collect();
        format!("process {pid}: {}\n{}", system::arguments(pid).join(" "), threads.join(""))
    };
    job.processes().into_iter().map(of_process).collect()
}

/// The folder of a job.
struct Place(PathBuf);

impl Place {
    fn new(ground: &Path, name: &str) -> Place {
        let place = Place(ground.join(name));
        place.clear();
        fs::create_dir_all(place.temporary()).expect("the folder can be written");
        place
    }

    /// Short, as names of sockets in it are limited.
    fn temporary(&self) -> PathBuf {
        self.0.join("t")
    }

    fn checkpoints(&self) -> String {
        self.0.join(CHECKPOINTS).display().to_string()
    }

    fn command(&self, program: Program, shape: Shape, options: &str) -> Command {
        let words =
            format!("{} --report {} {options}", program.options, self.0.join("report.json").display());
        let mut command = match program == ROUNDS {
            true => job::program(&words, shape),
            false => job::example(program.name, &words, shape),
        };
        command.env("TMPDIR", self.temporary()).env_remove("XDG_RUNTIME_DIR");
        command
    }

    /// The same job once more, from the checkpoints of the former one.
    fn again(&self, plan: &Plan) -> Command {
        // What that has reported is not this one's.
        let _ = fs::remove_file(self.0.join("report.json"));
        self.command(
            plan.program,
            plan.shape,
            &format!("--ft disk --ft-log --restart {}", self.checkpoints()),
        )
    }

    fn report(&self) -> Option<Value> {
        serde_json::from_str(&fs::read_to_string(self.0.join("report.json")).ok()?).ok()
    }

    /// Files that are nobody's now; empty folders may stay.
    fn left(&self) -> Vec<String> {
        let mut files = Vec::new();
        for folder in [self.temporary(), PathBuf::from(self.checkpoints())] {
            add_files(&folder, &mut files);
        }
        let checkpoints = PathBuf::from(self.checkpoints());
        if checkpoints.exists() {
            files.push(checkpoints);
        }
        files.iter().map(|file| file.strip_prefix(&self.0).unwrap_or(file).display().to_string()).collect()
    }

    fn keep(&self, said: &str) {
        if let Err(error) = fs::write(self.0.join("round"), said) {
            eprintln!("what was said cannot be kept: {error}");
        }
    }

    fn clear(&self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn add_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => add_files(&entry.path(), files),
            false => files.push(entry.path()),
        }
    }
}
