//! How an event becomes a line.

use std::fmt::{self, Debug, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::time::SystemTime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// How much a line has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// What is said, and no more.
    Plain,
    /// Also when, at which level, and the target.
    Full,
}

/// Lines of the runtime in their form. What other crates say has the full one always.
pub(super) struct Lines {
    form: Form,
    full: Format<Full, SystemTime>,
}

impl Lines {
    pub(super) fn new(form: Form) -> Lines {
        Lines { form, full: Format::default() }
    }
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if self.form == Form::Full || !is_ours(event.metadata()) {
            return self.full.format_event(context, writer, event);
        }
        let mut said = Said::default();
        event.record(&mut said);
        writeln!(writer, "{}{}", said.beginning(event.metadata().level()), said.message)
    }
}

/// Whether the runtime says it.
pub(super) fn is_ours(metadata: &Metadata<'_>) -> bool {
    super::subjects::ALL.contains(&metadata.target())
}

/// What people read of an event.
#[derive(Default)]
struct Said {
    message: String,
    /// Who says it, if that is to stand before it.
    program: Option<String>,
}

impl Said {
    /// `program: warning: `, where the program is named.
    fn beginning(&self, level: &Level) -> String {
        let word = match *level {
            Level::ERROR => "error: ",
            Level::WARN => "warning: ",
            _ => "",
        };
        self.program.as_ref().map(|program| format!("{program}: {word}")).unwrap_or_default()
    }
}

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            // Writing to a string does not fail.
            let _ = write!(self.message, "{value:?}");
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message.push_str(value),
            "program" => self.program = Some(value.to_owned()),
            _ => {}
        }
    }
}
