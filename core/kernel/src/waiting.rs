//! What a running entry waits for: the first thing to know when nothing moves any more.

use std::borrow::Cow;
use std::fmt;

/// One place where an object waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The async entry.
    pub entry: &'static str,
    /// What for: an entry, or an answer.
    pub what: String,
    /// The source file where it waits.
    pub file: Cow<'static, str>,
    /// Its line there.
    pub line: u32,
}

impl Waiting {
    /// The entry waits for `what` in this line.
    pub fn new(entry: &'static str, what: &str, file: impl Into<Cow<'static, str>>, line: u32) -> Self {
        Waiting { entry, what: what.into(), file: file.into(), line }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} waits for {} ({}:{})", self.entry, self.what, self.file, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_a_sentence() {
        let waiting = Waiting::new("run", "`ghost`", "src/main.rs", 7);
        assert_eq!(waiting.to_string(), "run waits for `ghost` (src/main.rs:7)");
    }
}
