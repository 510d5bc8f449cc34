//! What is printed about options that are wrong: the words of the C library.

use std::io::Write;

use super::Scan;
use super::long::Spelling;

impl Scan {
    pub(super) fn say_short(&self, what: &str, option: u8) {
        self.say(&[what.as_bytes(), b" -- '", &[option], b"'"]);
    }

    pub(super) fn say_long(&self, what: &str, spelling: Spelling, name: &[u8], end: &str) {
        self.say(&[what.as_bytes(), b" '", spelling.dashes().as_bytes(), name, b"'", end.as_bytes()]);
    }

    pub(super) fn say_ambiguous(&self, spelling: Spelling, name: &[u8], possible: &[u8]) {
        let dashes = spelling.dashes().as_bytes();
        self.say(&[b"option '", dashes, name, b"' is ambiguous; possibilities:", possible]);
    }

    fn say(&self, parts: &[&[u8]]) {
        if self.speaks() {
            let line = [self.arguments.program().to_bytes(), b": ", &parts.concat(), b"\n"].concat();
            // If nobody reads it there is nobody to tell.
            let _lost = std::io::stderr().write_all(&line);
        }
    }
}
