//! `--progress`: how many steps are done and how fast they go, on standard error.
//!
//! On a terminal this is a bar; elsewhere (a file, a batch job's log) a plain line now and then. When a line is
//! due is decided by [`Pace`], which is told the time and reads no clock.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::{Deserialize, Serialize};

/// Shortest time between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(1);

/// How far the program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Steps {
    /// Steps done.
    pub done: u64,
    /// Steps there will be, if the program has said so.
    pub total: Option<u64>,
}

/// Shows progress, or nothing if it was not asked for.
///
/// ```
/// use std::time::Duration;
/// use talisman_job::Progress;
/// use talisman_job::progress::Steps;
///
/// let mut progress = Progress::lines(std::io::sink());
/// let (start, end) = (Duration::ZERO, Duration::from_secs(5));
/// progress.update(start, Steps { done: 1, total: Some(40) });
/// progress.finish(end, Steps { done: 40, total: Some(40) });
/// ```
pub struct Progress {
    pace: Pace,
    display: Display,
}

enum Display {
    Off,
    Bar(ProgressBar),
    Lines(Box<dyn Write + Send>),
}

impl Progress {
    /// Shows nothing.
    pub fn off() -> Progress {
        Progress::with(Display::Off)
    }

    /// Shows a bar if standard error is a terminal, plain lines otherwise.
    pub fn stderr() -> Progress {
        if io::stderr().is_terminal() {
            Progress::with(Display::Bar(bar()))
        } else {
            Progress::lines(io::stderr())
        }
    }

    /// Writes plain lines.
    pub fn lines(writer: impl Write + Send + 'static) -> Progress {
        Progress::with(Display::Lines(Box::new(writer)))
    }

    /// Takes note of how far the program is at `now` (since the job's start), and shows it if it is time to.
    pub fn update(&mut self, now: Duration, steps: Steps) {
        if self.is_shown() {
            let line = self.pace.update(now, steps);
            self.show(steps, line);
        }
    }

    /// The job is over: shows the last state whatever was shown before.
    pub fn finish(&mut self, now: Duration, steps: Steps) {
        if self.is_shown() {
            let line = self.pace.finish(now, steps);
            self.show(steps, Some(line));
            if let Display::Bar(bar) = &self.display {
                bar.abandon();
            }
        }
    }

    /// Prints something else to the terminal without the bar getting in its way.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.display {
            Display::Bar(bar) => bar.suspend(print),
            Display::Off | Display::Lines(_) => print(),
        }
    }

    fn with(display: Display) -> Progress {
        Progress { pace: Pace::default(), display }
    }

    fn is_shown(&self) -> bool {
        !matches!(self.display, Display::Off)
    }

    fn show(&mut self, steps: Steps, line: Option<String>) {
        match (&mut self.display, line) {
            (Display::Bar(bar), line) => move_bar(bar, steps, line),
            // Progress is a courtesy: a log that cannot be written must not end the job.
            (Display::Lines(writer), Some(line)) => drop(writeln!(writer, "{line}")),
            _ => {}
        }
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {msg}").expect("the template is constant");
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
}

/// The bar itself limits how often it is drawn; its text changes no oftener than plain lines would.
fn move_bar(bar: &ProgressBar, steps: Steps, text: Option<String>) {
    if let Some(total) = steps.total {
        bar.set_length(total);
    }
    bar.set_position(steps.done);
    if let Some(text) = text {
        bar.set_message(text);
    }
}

/// Decides when a line is due and what it says; the time is told to it, as time since the job's start.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    shown: Option<Duration>,
}

impl Pace {
    /// The line to show at `now`, unless the last one was less than a second ago; the first is due after a second.
    pub fn update(&mut self, now: Duration, steps: Steps) -> Option<String> {
        let since = self.shown.unwrap_or(Duration::ZERO);
        (now.saturating_sub(since) >= LINE_EVERY).then(|| self.finish(now, steps))
    }

    /// The line to show at `now` in any case.
    pub fn finish(&mut self, now: Duration, steps: Steps) -> String {
        self.shown = Some(now);
        line(now, steps)
    }
}

/// `step 40 of 100 (40 %), 8.0 steps/s, 5.0 s`.
fn line(now: Duration, steps: Steps) -> String {
    let seconds = now.as_secs_f64();
    let rate = if seconds > 0.0 { steps.done as f64 / seconds } else { 0.0 };
    format!("step {}{}, {rate:.1} steps/s, {seconds:.1} s", steps.done, of_total(steps))
}

fn of_total(steps: Steps) -> String {
    match steps.total {
        None => String::new(),
        Some(0) => " of 0".into(),
        Some(total) => {
            let percent = u128::from(steps.done) * 100 / u128::from(total);
            format!(" of {total} ({percent} %)")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    const KNOWN: Steps = Steps { done: 40, total: Some(100) };

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_line_says_steps_share_rate_and_time() {
        assert_eq!(line(at(5000), KNOWN), "step 40 of 100 (40 %), 8.0 steps/s, 5.0 s");
        assert_eq!(line(at(5000), Steps { done: 40, total: None }), "step 40, 8.0 steps/s, 5.0 s");
    }

    #[test]
    fn no_time_no_steps_and_huge_counts_are_no_trouble() {
        assert_eq!(line(at(0), Steps { done: 3, total: Some(0) }), "step 3 of 0, 0.0 steps/s, 0.0 s");
        let all = Steps { done: u64::MAX, total: Some(u64::MAX) };
        assert!(line(at(1000), all).contains("(100 %)"));
    }

    #[test]
    fn lines_are_at_least_a_second_apart() {
        let mut pace = Pace::default();
        let due: Vec<u64> =
            (0..=50).map(|tenth| tenth * 100).filter(|ms| pace.update(at(*ms), KNOWN).is_some()).collect();
        assert_eq!(due, [1000, 2000, 3000, 4000, 5000]);
    }

    #[test]
    fn a_clock_that_steps_back_shows_nothing_and_does_not_panic() {
        let mut pace = Pace::default();
        assert!(pace.update(at(2000), KNOWN).is_some());
        assert_eq!(pace.update(at(500), KNOWN), None);
        assert_eq!(pace.update(at(2999), KNOWN), None);
        assert!(pace.update(at(3000), KNOWN).is_some());
    }

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_last_state_is_always_shown() {
        let log = Log::default();
        let mut progress = Progress::lines(log.clone());
        progress.update(at(10), Steps { done: 1, total: Some(2) });
        progress.update(at(20), Steps { done: 2, total: Some(2) });
        progress.finish(at(40), Steps { done: 2, total: Some(2) });
        let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text, "step 2 of 2 (100 %), 50.0 steps/s, 0.0 s\n");
    }

    #[test]
    fn a_hidden_bar_follows_the_steps() {
        let bar = ProgressBar::hidden();
        move_bar(&bar, KNOWN, Some("text".into()));
        assert_eq!((bar.position(), bar.length(), bar.message().as_str()), (40, Some(100), "text"));
        let progress = Progress::with(Display::Bar(bar));
        assert_eq!(progress.aside(|| 5), 5);
    }
}
