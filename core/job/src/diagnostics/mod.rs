//! What the runtime says to people and operators, beside the program's output: events of `tracing`, as lines on standard error.
//!
//! Events of the levels `error`, `warn` and `info` are shown as plain lines. `--log`, or `TALISMAN_LOG`, or `RUST_LOG`, chooses others, and
//! then each line has its time, level and target (`talisman_observe::subjects`). A program that has installed a subscriber of its own gets
//! all events instead.
//!
//! What people are to see even where no subscriber is (a test, a process that has not got so far) is said by [`say`]; `debug!` and `trace!`
//! need no more than themselves. Both are for rare decisions, never for a message's way.

mod events;
mod filter;
mod format;
mod standard_error;

use std::sync::OnceLock;

use tracing::subscriber::{NoSubscriber, Subscriber, set_global_default};
use tracing::{Dispatch, dispatcher};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{fmt, registry};

pub use events::Diagnostics;
pub use filter::readable;
use format::{Form, Lines};
use standard_error::StandardError;
pub use talisman_observe::subjects;

/// What is read where `--log` is not given; other programs read it as well.
const COMMON_VARIABLE: &str = "RUST_LOG";

/// From now on events become lines, as `--log` says if it is given; unless the program has a subscriber of its own. What people should know of that.
pub fn install(log: Option<&str>) -> Option<String> {
    if is_heard() {
        return log.map(|_| "--log has no effect: the program has installed a subscriber of its own".into());
    }
    let (chosen, note) = match log {
        // It has been read before.
        Some(log) => (filter::read(log).ok(), None),
        None => of_common_variable(),
    };
    let form = if chosen.is_some() { Form::Full } else { Form::Plain };
    // Should anybody have been quicker, its subscriber it is.
    let _ = set_global_default(subscriber(form, chosen.unwrap_or_else(filter::usual)));
    note
}

/// Has an event heard that people are to see: by our own subscriber if there is none.
pub fn say(event: impl FnOnce()) {
    if is_heard() {
        return event();
    }
    static UNHEARD: OnceLock<Dispatch> = OnceLock::new();
    let ours = UNHEARD.get_or_init(|| Dispatch::new(subscriber(Form::Plain, filter::usual())));
    dispatcher::with_default(ours, event);
}

fn is_heard() -> bool {
    !dispatcher::get_default(|subscriber| subscriber.is::<NoSubscriber>())
}

/// A variable that is not ours alone is no reason not to begin.
fn of_common_variable() -> (Option<Targets>, Option<String>) {
    let text = std::env::var_os(COMMON_VARIABLE).filter(|text| !text.is_empty());
    match text.map(|text| filter::read(&text.to_string_lossy())) {
        None => (None, None),
        Some(Ok(chosen)) => (Some(chosen), None),
        Some(Err(why)) => (None, Some(format!("{COMMON_VARIABLE} is not read: {why}; --log goes before it"))),
    }
}

fn subscriber(form: Form, chosen: Targets) -> impl Subscriber + Send + Sync {
    let lines = fmt::layer()
        .event_format(Lines::new(form))
        .with_writer(StandardError::default())
        .with_ansi(false)
        // A standard error that cannot be written leaves no place to say so.
        .log_internal_errors(false);
    registry().with(lines).with(chosen)
}

#[cfg(test)]
mod tests;
