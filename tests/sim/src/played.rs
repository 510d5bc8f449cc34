//! One run of a program in a world, and all that was seen of it.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use talisman::simulation::{Plan, Ran, What};
use talisman::{mutations, sometimes};

use crate::case::Case;
use crate::memory;
use crate::oracles::{self, Expected, Watched};
use crate::workloads::{self, Checked, Size};

/// What is known of a run when it is over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Played {
    /// The job's exit status.
    pub status: i32,
    /// What it said about its end.
    pub message: Option<String>,
    /// The hash of all events.
    pub trace: Option<u64>,
    /// How many there were.
    pub events: u64,
    /// Simulated nanoseconds.
    pub lasted_ns: u64,
    /// When the launcher first heard how the job ends, if it did.
    pub over_ns: Option<u64>,
    /// How many things happened, of which not all are events.
    pub steps: u64,
    /// The step by which the job had got over the last loss, and knew a later checkpoint to be committed.
    pub recovered: Option<u64>,
    /// How many faults of each kind happened.
    pub injected: BTreeMap<&'static str, u64>,
    /// Those that may have cost the job something, before its end.
    pub hurt: Vec<(u64, What)>,
    /// Nodes that they killed before these had said all.
    pub cut_short: Vec<u32>,
    /// What hung, or was left over.
    pub flaws: Vec<String>,
    /// The lines of its output.
    pub printed: Vec<String>,
    /// What became of the job when it was started again from its disks, if it was: how that one ended, and what it printed.
    pub again: Option<Box<Played>>,
    /// What must be the same in every run of the case; of jobs that were started one after the other, that of the last one.
    pub result: Vec<String>,
    /// What the program itself found wrong.
    pub wrong: Vec<String>,
    /// What oracles saw.
    pub violations: Vec<String>,
    /// A panic that nothing in the runtime caught.
    pub panic: Option<String>,
    /// The rare paths that it took, with how often.
    pub marks: BTreeMap<&'static str, u64>,
    /// Bytes of memory that it had, at the most.
    pub memory_most: u64,
    /// Bytes of memory that it left behind, besides what is said here.
    pub memory_left: u64,
    /// Events, as they can be read.
    pub log: Vec<String>,
}

/// Something that runs cases: simulated worlds, or what tests put in their place.
pub trait Stage: Sync {
    /// Runs a case in a world. `logging`: the log has all events.
    fn play(&self, case: &Case, plan: &Plan, logging: bool) -> Played;
}

/// Simulated worlds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Worlds {
    /// A deliberate mistake that is made in them.
    pub mutation: Option<&'static str>,
}

/// Deep enough for a debug build's frames of packing within packing.
const STACK_BYTES: usize = 64 << 20;

/// With a mistake, a run that takes longer than this, and mostly takes milliseconds, hangs.
const HANGS: Duration = Duration::from_secs(60);

impl Stage for Worlds {
    /// In a thread of its own, so that nothing that a run leaves in thread-locals, least of all after a panic, is met by the
    /// next one.
    ///
    /// A mistake may make it hang outside of simulated time: then its thread is left alone, which cannot be ended.
    fn play(&self, case: &Case, plan: &Plan, logging: bool) -> Played {
        keep_panics();
        let (played, done) = channel();
        let (worlds, case, plan) = (*self, case.clone(), plan.clone());
        let play = move || drop(played.send(worlds.play_here(&case, &plan, logging)));
        thread::Builder::new().stack_size(STACK_BYTES).spawn(play).expect("a thread can be started");
        let hangs = "it hangs outside of simulated time";
        match self.mutation {
            None => done.recv().expect("its panics are caught"),
            Some(_) => done.recv_timeout(HANGS).unwrap_or_else(|_| Played::panicked(hangs.into())),
        }
    }
}

impl Worlds {
    fn play_here(&self, case: &Case, plan: &Plan, logging: bool) -> Played {
        mutations::choose(self.mutation);
        let before = memory::bytes();
        let expected = Expected { drained: workloads::is_drained(case.workload), ..Expected::default() };
        let book = Box::new(workloads::Ledgers);
        let watched = Watched::beside(oracles::all_expecting(expected), Some(book));
        let run = || workloads::run(case.workload, case.seed, Size(case.size), plan, logging);
        let checked = catch_unwind(AssertUnwindSafe(run));
        let mut played = match checked {
            Ok(checked) => Played::of(checked),
            Err(payload) => Played::panicked(described(&*payload)),
        };
        let violation = watched.end(played.panic.is_none() && played.ended_well()).err();
        played.violations = violation.iter().map(ToString::to_string).collect();
        played.marks = sometimes::take_marks();
        let most = memory::bytes().most;
        // Texts and lists that grew have more room than is in them: a copy has not, and a long log is not left behind.
        played.log = played.log.to_vec();
        let (now, told) = (memory::bytes().now, held_by(&played));
        played.memory_most = (most - held_by(&played.log) - before.now).max(0) as u64;
        played.memory_left = (now - told - before.now).max(0) as u64;
        played
    }
}

impl Played {
    /// Whether the job, or the last of those that were started after it, came to its end.
    pub fn ended_well(&self) -> bool {
        self.jobs().last().is_some_and(|last| last.status == 0)
    }

    fn panicked(what: String) -> Played {
        Played { panic: Some(what), ..Played::default() }
    }

    fn of(checked: Checked) -> Played {
        let wrong = checked.complaints();
        let Checked { ran, result, .. } = checked;
        Played { result, wrong, ..Played::of_job(ran) }
    }

    /// What is known of one job after the other.
    fn of_job(mut ran: Ran) -> Played {
        let again = ran.again.take().map(|again| Box::new(Played::of_job(*again)));
        let log_again = again.iter().flat_map(|again| again.log.clone());
        ran.log.extend(log_again);
        Played {
            status: ran.outcome.status,
            message: ran.outcome.message,
            trace: ran.outcome.trace,
            events: ran.outcome.events,
            lasted_ns: ran.lasted_ns,
            over_ns: ran.over_ns,
            steps: ran.steps,
            recovered: ran.recovered,
            injected: ran.injected,
            hurt: ran.hurt,
            cut_short: ran.cut_short,
            flaws: ran.flaws,
            log: ran.log,
            printed: ran.output,
            again,
            ..Played::default()
        }
    }

    /// The job, and all that were started again after it.
    pub fn jobs(&self) -> impl Iterator<Item = &Played> {
        std::iter::successors(Some(self), |played| played.again.as_deref())
    }
}

/// Bytes that are asked for to have the same again.
fn held_by<T: Clone>(what: &T) -> i64 {
    let before = memory::bytes().now;
    let _same = what.clone();
    memory::bytes().now - before
}

thread_local! {
    /// Where the last panic of this thread was, and what it said.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on panics in threads that play are kept instead of being printed: thousands of seeds would print thousands.
fn keep_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        set_hook(Box::new(|info| {
            let place = info.location().map(|place| format!("at {}:{}: ", place.file(), place.line()));
            LAST.set(Some(format!("{}{}", place.unwrap_or_default(), text(info.payload()))));
            if thread::current().name().is_some() {
                eprintln!("{info}");
            }
        }));
    });
}

fn described(payload: &(dyn Any + Send)) -> String {
    LAST.take().unwrap_or_else(|| text(payload).into())
}

fn text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
}
