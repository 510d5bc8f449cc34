//! The agent's first line: plain text, so that every version of either side can read the other's.
//!
//! Pure. What a login shell prints of its own before it is passed over.

use talisman_base::frame::FrameError;

/// The version of what launcher and agent say to each other.
pub const VERSION: u16 = 8;

/// What the line begins with.
const MAGIC: &str = "talisman-agent";

/// Most bytes before the line: more is not the talk of a login shell.
const BEFORE_MAX: usize = 64 << 10;

/// Who the agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greeting {
    pub version: u16,
    /// What tells its executable from others.
    pub build: u64,
}

impl Greeting {
    /// The line, with its end.
    pub fn line(self) -> String {
        format!("{MAGIC} {} {:016x}\n", self.version, self.build)
    }

    /// The greeting of a line that is one.
    fn of(line: &[u8]) -> Option<Greeting> {
        let mut words = std::str::from_utf8(line).ok()?.split_whitespace();
        if words.next()? != MAGIC {
            return None;
        }
        let version = words.next()?.parse().ok()?;
        let build = u64::from_str_radix(words.next()?, 16).ok()?;
        Some(Greeting { version, build })
    }
}

/// Finds the greeting in what arrives.
#[derive(Debug, Default)]
pub struct Listener {
    bytes: Vec<u8>,
    before: usize,
}

impl Listener {
    /// Takes bytes; once the greeting is among them, gives it with the bytes after it.
    ///
    /// # Errors
    /// There are so many bytes without a greeting that there will be none.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Option<(Greeting, Vec<u8>)>, FrameError> {
        self.bytes.extend_from_slice(bytes);
        while let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
            let rest = self.bytes.split_off(end + 1);
            let line = std::mem::replace(&mut self.bytes, rest);
            if let Some(greeting) = Greeting::of(&line) {
                return Ok(Some((greeting, std::mem::take(&mut self.bytes))));
            }
            self.before += line.len();
        }
        let bytes = self.before + self.bytes.len();
        if bytes > BEFORE_MAX { Err(FrameError::TooLong { bytes }) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREETING: Greeting = Greeting { version: 7, build: 0xfeed };

    #[test]
    fn the_greeting_is_found_after_whatever_a_shell_prints() {
        let line = GREETING.line();
        let text = [b"Welcome to h1!\n\xff\n\n", line.as_bytes(), b"rest"].concat();
        for size in 1..=text.len() {
            let mut listener = Listener::default();
            let found = text.chunks(size).find_map(|piece| listener.push(piece).unwrap());
            let (greeting, rest) = found.expect("it is there");
            assert!(greeting == GREETING && b"rest".starts_with(&rest), "pieces of {size}");
        }
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        for line in ["talisman-agent\n", "talisman-agent 1\n", "talisman-agent x 1\n", "agent 1 1\n"] {
            assert_eq!(Listener::default().push(line.as_bytes()).unwrap(), None, "{line}");
        }
    }

    #[test]
    fn endless_talk_is_given_up() {
        for talk in [b"y\n".repeat(512), b"y".repeat(1024)] {
            let mut listener = Listener::default();
            let mut pieces = (0..=BEFORE_MAX / talk.len()).map(|_| listener.push(&talk));
            assert!(pieces.any(|piece| piece.is_err()));
        }
    }
}
