//! `talisman trace FILE`: what a trace says, summed up.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::html::page;
use super::merge::{Extras, MergeError, index_of_program, merge, parts_in};
use super::path::{Part, look_at};
use super::picture::picture;
use super::reader::{ReadError, TraceReader};
use super::summary::Summary;
use super::terminal::text;
use talisman_job::options::{TRACE_LOCK, TraceWindow, trace_parts};

/// Of a trace with more events no critical path is looked for unless that is said: it has to be read once more.
const EVENTS_MAX: u64 = 1 << 24;
/// A longer trace is not read at the end of its job.
const BYTES_AT_END: u64 = 64 << 20;

#[derive(clap::Args)]
pub(crate) struct Trace {
    /// What a program wrote with --trace
    #[arg(value_name = "FILE.pftrace")]
    pub(super) file: PathBuf,
    /// Write a page with plots too, which any browser shows
    #[arg(long, value_name = "FILE.html")]
    pub(super) html: Option<PathBuf>,
    /// Draw what each PE did, over the whole time or that of --path
    #[arg(long, value_name = "FILE.svg")]
    pub(super) svg: Option<PathBuf>,
    /// Find the critical path of this part of the time, not of the last step; since the program's start
    #[arg(long, value_name = "FROM..UNTIL")]
    pub(super) path: Option<TraceWindow>,
}

/// There is no summary.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TraceError {
    #[error("{0}")]
    Merge(#[from] MergeError),
    #[error("{0}")]
    Read(#[from] ReadError),
    #[error("{} cannot be written: {why}", file.display())]
    Refused { file: PathBuf, why: std::io::Error },
    #[error("{} is the trace, or named twice: --html and --svg are written to files of their own", .0.display())]
    Taken(PathBuf),
    #[error("--path begins {from:?} after the start, and nothing is in the trace from {end:?} on")]
    Behind { from: Duration, end: Duration },
}

impl Trace {
    /// What to print. Where there is no trace, but parts of one, these are put together before.
    pub(crate) fn run(&self) -> Result<String, TraceError> {
        let mut said = String::new();
        let parts = trace_parts(&self.file);
        if !self.file.exists() && parts.is_dir() {
            let merged = merge(&parts, &self.file, &raw_index, &Extras::default())?;
            said = format!(
                "{} was put together from the parts of {} nodes in {}; indices are numbers, as the program is not asked\n\n",
                self.file.display(),
                merged.nodes.len(),
                parts.display()
            );
        }
        self.spare_files()?;
        let mut summary = Summary::of(&self.file)?;
        let end = Duration::from_nanos(summary.end);
        if let Some(TraceWindow { from, .. }) = self.path.filter(|path| path.from >= end) {
            return Err(TraceError::Behind { from, end });
        }
        if let Some(part) = self.part(&summary) {
            let looked = look_at(TraceReader::open(&self.file)?, &part, &summary.job)?;
            summary.looked = Some((part, looked));
        }
        if let Some(file) = &self.html {
            let refused = |why| TraceError::Refused { file: file.clone(), why };
            fs::write(file, page(&summary)).map_err(refused)?;
        }
        if let Some(file) = &self.svg {
            let whole = || Part { what: "from its start to its end".into(), from: 0, until: summary.end };
            let part = self.said_part().unwrap_or_else(whole);
            let picture = picture(TraceReader::open(&self.file)?, &part, &summary)?;
            fs::write(file, picture).map_err(|why| TraceError::Refused { file: file.clone(), why })?;
        }
        Ok(said + &text(&summary))
    }

    /// Nothing is written over the trace, nor over what else is written.
    fn spare_files(&self) -> Result<(), TraceError> {
        let files = [Some(&self.file), self.html.as_ref(), self.svg.as_ref()];
        let mut taken: Vec<&Path> = Vec::new();
        for file in files.into_iter().flatten() {
            if taken.iter().any(|other| is_same(file, other)) {
                return Err(TraceError::Taken(file.clone()));
            }
            taken.push(file);
        }
        Ok(())
    }

    /// What --path says.
    fn said_part(&self) -> Option<Part> {
        let ns = |time: Duration| time.as_nanos() as u64;
        let part =
            |TraceWindow { from, until }| Part { what: "of --path".into(), from: ns(from), until: ns(until) };
        self.path.map(part)
    }

    /// The part whose critical path is to be found: of a long trace, only if it is said.
    fn part(&self, summary: &Summary) -> Option<Part> {
        self.said_part().or_else(|| (summary.events <= EVENTS_MAX).then(|| Part::last_of(summary)))
    }
}

/// Two names of a file, by links too.
fn is_same(one: &Path, other: &Path) -> bool {
    let id = |file: &Path| fs::metadata(file).map(|found| (found.dev(), found.ino())).ok();
    one == other || id(one).is_some_and(|found| id(other) == Some(found))
}

/// What a balancer would have saved of the last step of a trace, if it can be read in a second or so, and it is worth it; beside which
/// one the job had.
pub(crate) fn gain_in(file: &Path, had: Option<&str>) -> Option<String> {
    fs::metadata(file).ok().filter(|file| file.len() <= BYTES_AT_END)?;
    let summary = Summary::of(file).ok()?;
    let part = Part::last_of(&summary);
    let looked = look_at(TraceReader::open(file).ok()?, &part, &summary.job).ok()?;
    looked.gain.map(|gain| gain.sentence(&part.what, had))
}

/// An index of which only the program knows what it is.
fn raw_index(_: u32, index: u128) -> String {
    format!("{index:#x}")
}

/// The parts of a job that has ended, as one trace; the folder of parts goes then. What people are to know of it.
pub(crate) fn gather(file: &Path, nodes: u32, extras: &Extras<'_>) -> Result<Vec<String>, MergeError> {
    let parts = trace_parts(file);
    let merged = merge(&parts, file, &index_of_program, extras);
    if let Err(MergeError::NoParts(_)) = merged {
        // If anything else is in there, it stays.
        let _ = fs::remove_file(parts.join(TRACE_LOCK));
        let _ = fs::remove_dir(&parts);
    }
    let merged = merged?;
    let mut said = Vec::new();
    let missing: Vec<String> =
        (0..nodes).filter(|node| !merged.nodes.contains(node)).map(|node| node.to_string()).collect();
    if missing.is_empty() {
        // Whatever else is in there is not ours.
        let _ = remove(&parts);
    } else {
        said.push(format!(
            "the parts of nodes {} are missing: look in {} on their hosts",
            missing.join(", "),
            parts.display()
        ));
    }
    if let (Some(TraceWindow { from, until }), 0) = (extras.traced.window, merged.kept) {
        let (from, until) = (from.as_secs_f64(), until.as_secs_f64());
        said.push(format!("nothing was done from {from} to {until} s after the start (--trace-window)"));
    }
    if merged.cut > 0 {
        said.push(format!("of {} processes the last moments are missing", merged.cut));
    }
    if merged.dropped > 0 {
        said.push(format!("{} records were dropped, as there was no room for them", merged.dropped));
    }
    Ok(said)
}

fn remove(parts: &Path) -> std::io::Result<()> {
    for part in parts_in(parts).into_iter().flatten() {
        fs::remove_file(part)?;
    }
    let _ = fs::remove_file(parts.join(TRACE_LOCK));
    fs::remove_dir(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_over_the_trace_or_twice_to_a_file() {
        let folder = std::env::temp_dir().join(format!("talisman-trace-spared-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let in_folder = |name: &str| folder.join(name);
        fs::write(in_folder("trace"), "a trace").unwrap();
        std::os::unix::fs::symlink(in_folder("trace"), in_folder("link")).unwrap();
        let spares = |html: Option<&str>, svg: Option<&str>| {
            let [html, svg] = [html, svg].map(|name| name.map(in_folder));
            Trace { file: in_folder("trace"), html, svg, path: None }.spare_files().is_ok()
        };
        assert!(spares(None, None) && spares(Some("page"), Some("picture")));
        assert!(!spares(Some("trace"), None) && !spares(None, Some("trace")) && !spares(None, Some("link")));
        assert!(!spares(Some("page"), Some("page")));
        let none = Trace { file: in_folder("trace"), html: None, svg: Some(in_folder("link")), path: None };
        assert!(matches!(none.run(), Err(TraceError::Taken(_))));
        assert_eq!(fs::read(in_folder("trace")).unwrap(), b"a trace");
        fs::remove_dir_all(&folder).unwrap();
    }
}
