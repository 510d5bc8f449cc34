//! Which events are shown: `debug`, `talisman::balance=debug`, `warn,talisman::recovery=trace`.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

use super::subjects;
use crate::slips::distance;

/// What a level is called.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// What is shown where nothing says otherwise.
const USUAL: LevelFilter = LevelFilter::INFO;

/// What all targets of the runtime begin with.
const OURS: &str = "talisman::";

/// What is shown if nobody has chosen.
pub(super) fn usual() -> Targets {
    Targets::new().with_default(USUAL)
}

/// Reads a filter: directives with commas between them, each a level, a target, or `target=level`. What none of them is about stays as it
/// is. Spans and fields cannot be chosen: that takes regular expressions, and four times the code.
///
/// # Errors
/// The first that is none; the message says how one is written.
pub(super) fn read(text: &str) -> Result<Targets, String> {
    let mut chosen = usual();
    for directive in text.split(',').map(str::trim).filter(|directive| !directive.is_empty()) {
        let read = of(directive)?;
        if let Some(level) = read.default_level() {
            chosen = chosen.with_default(level);
        }
        chosen.extend(read);
    }
    Ok(chosen)
}

/// The same for the command line, which keeps the text.
///
/// # Errors
/// The text is no filter.
pub fn readable(text: &str) -> Result<String, String> {
    read(text).map(|_| text.to_owned())
}

fn of(directive: &str) -> Result<Targets, String> {
    let wrong = |why: &str| {
        format!(
            "`{directive}`: {why}; write a level ({}), or target=level, for example talisman::balance=debug",
            LEVELS.join(", ")
        )
    };
    let (target, level) =
        directive.split_once('=').map_or((directive, None), |(target, level)| (target, Some(level)));
    // An empty one would be read as `error`.
    let is_level = |level: &str| !level.is_empty() && level.parse::<LevelFilter>().is_ok();
    if let Some(level) = level.filter(|level| !is_level(level)) {
        return Err(wrong(&format!("`{level}` is no level")));
    }
    if target.contains(['[', '{', '"']) {
        return Err(wrong("spans and fields cannot be chosen"));
    }
    if !is_path(target) {
        return Err(wrong(&format!("`{target}` is no target")));
    }
    if is_unknown(target) {
        return Err(wrong(&format!("there are {}", subjects::ALL.join(", "))));
    }
    if level.is_none()
        && let Some(meant) = slip(target)
    {
        return Err(wrong(&format!("is it to be `{meant}`")));
    }
    directive.parse().map_err(|_| wrong("it is no directive"))
}

/// Whether it may be a target: those of a crate are paths, and others look like them.
fn is_path(target: &str) -> bool {
    let fits = |letter: char| letter.is_alphanumeric() || "_:-./".contains(letter);
    !target.is_empty() && target.chars().all(fits)
}

/// A target of the runtime that no event has.
fn is_unknown(target: &str) -> bool {
    target.starts_with(OURS) && !subjects::ALL.contains(&target)
}

/// The level that a word is likely to mean, which would be a target otherwise.
fn slip(word: &str) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    let is_near = |level: &&&str| (1..=2).contains(&distance(&lower, level)) && level.len() > 3;
    (!LEVELS.contains(&&*lower)).then(|| LEVELS.iter().find(is_near).copied()).flatten()
}
