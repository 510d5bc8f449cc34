//! Tests in a list, of which some need what not every machine has. Where that is missing they are shown as ignored, not as passed, and a line on
//! standard error says why. [`REQUIRED`] has them fail instead, and so has whoever runs them all the same (`--include-ignored`).

use std::collections::BTreeMap;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};

/// For machines that are known to have all it takes: no test is ignored where this variable is set.
const REQUIRED: &str = "TALISMAN_TEST_HOSTS_REQUIRED";

/// What a test needs: says what of it is not there, if anything.
pub type Need = fn() -> Option<String>;

/// How many tests are ignored for what reason.
static IGNORED: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

/// What takes as long is shown at the end.
const SLOW: Duration = Duration::from_secs(8);

/// How long tests took that were slow.
static SLOW_ONES: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

/// A test that runs everywhere.
pub fn trial(name: impl Into<String>, test: fn()) -> Trial {
    let name = name.into();
    Trial::test(name.clone(), move || {
        let begun = Instant::now();
        test();
        if begun.elapsed() > SLOW {
            SLOW_ONES.lock().expect("nobody panics with it").push((begun.elapsed(), name));
        }
        Ok(())
    })
}

/// A test that needs something.
pub fn needing(need: Need, test: Trial) -> Trial {
    let Some(missing) = need() else { return test };
    let is_ignored = std::env::var_os(REQUIRED).is_none();
    if is_ignored {
        let mut ignored = IGNORED.lock().expect("nobody panics with it");
        *ignored.entry(missing.clone()).or_default() += 1;
    }
    let fails = move || Err(format!("this cannot be tested here: {missing}").into());
    Trial::test(test.name(), fails).with_ignored_flag(is_ignored)
}

/// Runs them, more than there are processors at a time: they wait for other processes mostly.
pub fn run(tests: Vec<Trial>) -> ExitCode {
    take_interrupts();
    let mut arguments = Arguments::from_args();
    let processors = available_parallelism().map_or(1, NonZero::get);
    arguments.test_threads.get_or_insert(2 * processors);
    if !arguments.list {
        say_what_is_ignored();
    }
    let ran = libtest_mimic::run(&arguments, tests);
    say_what_was_slow();
    ran.exit_code()
}

fn say_what_was_slow() {
    let mut slow = SLOW_ONES.lock().expect("nobody panics with it");
    slow.sort_unstable();
    for (time, name) in slow.iter().rev() {
        eprintln!("SLOW: {:.0} s {name}", time.as_secs_f64());
    }
}

fn say_what_is_ignored() {
    for (why, count) in &*IGNORED.lock().expect("nobody panics with it") {
        eprintln!("SKIPPED: {count} of these tests, shown as ignored: {why}");
    }
}

/// Tests of a subject, named after their functions: `checks!(this, that needs rights)`; behind `ignored:` those that take too long for every run.
#[allow(unused_macros, reason = "not every binary has tests by subject")]
macro_rules! checks {
    ($($name:ident $(needs $need:path)?),+ $(,)? $(; ignored: $($ignored:ident),+ $(,)?)?) => {
        pub fn all() -> Vec<libtest_mimic::Trial> {
            let subject = module_path!().rsplit("::").next().unwrap_or_default();
            let named = |name: &str| format!("{subject}::{name}");
            vec![
                $(crate::trials::one!(named(stringify!($name)), $name $(needs $need)?),)+
                $($(crate::trials::one!(named(stringify!($ignored)), $ignored).with_ignored_flag(true),)+)?
            ]
        }
    };
}
#[allow(unused_imports, reason = "not every binary has tests by subject")]
pub(crate) use checks;

/// One test, under a name.
#[allow(unused_macros, reason = "not every binary has its tests in a list of names")]
macro_rules! one {
    ($name:expr, $test:path) => {
        crate::trials::trial($name, $test)
    };
    ($name:expr, $test:ident needs $need:path) => {
        crate::trials::needing($need, crate::trials::trial($name, $test))
    };
}
#[allow(unused_imports, reason = "not every binary has its tests in a list of names")]
pub(crate) use one;

/// Interrupts end the programs of these tests that have not asked for another end. A shell starts what it runs in the background with them ignored,
/// and that is passed on: what was sent to a job before it had its own handler was lost, and the job waited for ever.
fn take_interrupts() {
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
        // SAFETY: what the system does by itself is no handler of this program.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}
