//! What a program says, before anybody knows that no loss can take it back: lines that it prints, and that the job ends.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use talisman_core::logging::words::Said;
use talisman_job::job::End;
use talisman_kernel::pe::try_current;

/// Takes what a program says on each PE of a node, by its rank.
#[derive(Clone, Default)]
pub(crate) struct OutputLines(Arc<Lines>);

#[derive(Default)]
struct Lines {
    /// Whether anything may be there: it is looked at each time that a PE has done something.
    has_any: AtomicBool,
    said: Mutex<BTreeMap<u32, Vec<Said>>>,
}

impl OutputLines {
    /// What was said on the PE of this rank since this was last asked: lines without their ends.
    pub(super) fn take(&self, rank: u32) -> Vec<Said> {
        if !self.0.has_any.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut all = self.lock();
        let said = all.remove(&rank).unwrap_or_default();
        self.0.has_any.store(!all.is_empty(), Ordering::Release);
        said
    }

    /// The job has ended on the PE of this thread.
    pub(super) fn end(&self, end: End) {
        self.say([Said::End(end)]);
    }

    fn say(&self, said: impl IntoIterator<Item = Said>) {
        // Nobody but PEs has anything to say.
        let rank = try_current(|pe| pe.id - pe.first_pe).unwrap_or(0);
        let mut all = self.lock();
        all.entry(rank).or_default().extend(said);
        self.0.has_any.store(true, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Vec<Said>>> {
        self.0.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whole lines come at once.
impl Write for OutputLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n');
        self.say(lines.map(|line| Said::Line(String::from_utf8_lossy(line).into_owned())));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_job::Output;

    #[test]
    fn what_is_said_is_taken_once_and_in_order() {
        let lines = OutputLines::default();
        let output = Output::to(lines.clone());
        assert_eq!(lines.take(0), []);
        output.print("one\ntwo");
        output.print("");
        lines.end(End { status: 7, message: None });
        assert_eq!(lines.take(1), []);
        let line = |text: &str| Said::Line(text.into());
        let end = Said::End(End { status: 7, message: None });
        assert_eq!(lines.take(0), [line("one"), line("two"), line(""), end]);
        assert_eq!(lines.take(0), []);
    }
}
