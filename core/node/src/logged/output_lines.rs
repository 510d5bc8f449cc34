//! Lines that a program prints, before anybody knows that no loss can take them back.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Takes the lines of a program, for the thread that looks for them.
#[derive(Clone, Default)]
pub(crate) struct OutputLines(Arc<Mutex<Vec<u8>>>);

impl OutputLines {
    /// Those since this was last asked, without their ends.
    pub(super) fn take(&self) -> Vec<String> {
        let bytes = std::mem::take(&mut *self.lock());
        let Some(bytes) = bytes.strip_suffix(b"\n") else { return Vec::new() };
        bytes.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whole lines come at once.
impl Write for OutputLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().extend_from_slice(bytes);
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
    fn lines_are_taken_once_and_in_order() {
        let lines = OutputLines::default();
        let output = Output::to(lines.clone());
        assert_eq!(lines.take(), [""; 0]);
        output.print("one\ntwo");
        output.print("");
        assert_eq!(lines.take(), ["one", "two", ""]);
        assert_eq!(lines.take(), [""; 0]);
    }
}
