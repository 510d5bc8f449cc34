use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tracing::level_filters::LevelFilter;
use tracing::{Level, debug, error, info, subscriber, warn};
use tracing_subscriber::layer::SubscriberExt as _;

use super::format::{Form, Lines};
use super::{filter, fmt, registry, subjects};

/// What is written.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The lines that these events become.
fn lines(form: Form, chosen: &str, events: impl FnOnce()) -> Vec<String> {
    let written = Written::default();
    let writer = written.clone();
    let layer =
        fmt::layer().event_format(Lines::new(form)).with_writer(move || writer.clone()).with_ansi(false);
    let subscriber = registry().with(layer).with(filter::read(chosen).unwrap());
    subscriber::with_default(subscriber, events);
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn people_see_what_is_said_and_no_more() {
    let lines = lines(Form::Plain, "", || {
        error!(target: subjects::LAUNCH, program = "jacobi3d", "no such file");
        warn!(target: subjects::LAUNCH, program = "jacobi3d", "{} is set", "TALISMAN_SEDE");
        info!(target: subjects::LAUNCH, program = "jacobi3d", nodes = 3, "nothing has begun");
        warn!(target: subjects::COLLECTION, "talisman: PE 2: dropped");
        debug!(target: subjects::BALANCE, "a step begins");
    });
    assert_eq!(
        lines,
        [
            "jacobi3d: error: no such file",
            "jacobi3d: warning: TALISMAN_SEDE is set",
            "jacobi3d: nothing has begun",
            "talisman: PE 2: dropped"
        ]
    );
}

#[test]
fn whoever_chooses_sees_level_and_target() {
    let lines = lines(Form::Full, "warn,talisman::balance=debug", || {
        info!(target: subjects::LAUNCH, "hidden");
        debug!(target: subjects::BALANCE, step = 3, "a step begins");
        warn!(target: "others", "theirs");
    });
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].ends_with("DEBUG talisman::balance: a step begins step=3"), "{lines:?}");
    assert!(lines[1].ends_with("WARN others: theirs"), "{lines:?}");
}

#[test]
fn what_other_crates_say_has_its_target() {
    let lines = lines(Form::Plain, "", || info!(target: "jacobi3d::grid", "a line of the program's"));
    assert!(lines[0].ends_with(" INFO jacobi3d::grid: a line of the program's"), "{lines:?}");
}

#[test]
fn a_filter_changes_what_it_is_about() {
    let shown = |text: &str, target: &str, level| filter::read(text).unwrap().would_enable(target, &level);
    assert!(shown("", "talisman::balance", Level::INFO) && !shown("", "talisman::balance", Level::DEBUG));
    let balance = "talisman::balance=debug";
    assert!(shown(balance, "talisman::balance", Level::DEBUG));
    assert!(!shown(balance, "talisman::recovery", Level::DEBUG));
    assert!(shown(balance, "talisman::recovery", Level::INFO), "lines of everyone stay");
    assert!(shown("TRACE", "anything", Level::TRACE));
    assert!(shown(" warn , talisman=info,", "talisman::launch", Level::INFO));
    assert!(!shown("warn,talisman=info", "jacobi3d", Level::INFO));
    assert!(shown("talisman::recovery", "talisman::recovery", Level::TRACE));
    assert!(!shown("off", "talisman::launch", Level::ERROR));
    assert_eq!(filter::usual().default_level(), Some(LevelFilter::INFO));
}

#[test]
fn a_wrong_filter_is_refused_with_what_is_wanted() {
    for (text, why) in [
        ("talisman::balance=loud", "`loud` is no level"),
        ("debug,talisman::ballance=debug", "`talisman::ballance=debug`: there are talisman::launch"),
        ("talisman::balances", "there are talisman::launch"),
        ("debgu", "is it to be `debug`"),
        ("wran", "is it to be `warn`"),
        ("talisman::balance[step]=debug", "spans and fields cannot be chosen"),
        ("a=b=debug", "is no level"),
        ("=", "`` is no level"),
        ("=debug", "`` is no target"),
        ("talisman::balance=", "`` is no level"),
        ("%%%", "`%%%` is no target"),
        ("my crate=debug", "`my crate` is no target"),
        ("a{b=c}=debug", "is no level"),
    ] {
        let error = filter::readable(text).expect_err(text);
        assert!(error.contains(why) && error.contains("for example talisman::balance=debug"), "{error}");
    }
    assert_eq!(filter::readable("talisman::balance=debug").as_deref(), Ok("talisman::balance=debug"));
}
