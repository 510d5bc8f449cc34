//! Which of the program's streams a line is for.
//!
//! Lines that are held are text, on the wire and in checkpoints. Nearly all are for standard output, and are as they are.
//! One for standard error has a mark in front, and so has one for standard output that begins with the mark itself.

/// A control character of Unicode for private use.
const MARK: char = '\u{91}';
const OF_OUTPUT: char = 'o';
const OF_ERRORS: char = 'e';

/// A line, without its end, by where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// To standard output.
    Output(&'a str),
    /// To standard error.
    Errors(&'a str),
}

impl<'a> Line<'a> {
    /// As it is held.
    pub fn held(self) -> String {
        match self {
            Line::Output(line) if line.starts_with(MARK) => format!("{MARK}{OF_OUTPUT}{line}"),
            Line::Output(line) => line.to_owned(),
            Line::Errors(line) => format!("{MARK}{OF_ERRORS}{line}"),
        }
    }

    /// Of a line that was held.
    pub fn read(held: &'a str) -> Line<'a> {
        let Some(marked) = held.strip_prefix(MARK) else { return Line::Output(held) };
        match (marked.strip_prefix(OF_ERRORS), marked.strip_prefix(OF_OUTPUT)) {
            (Some(line), _) => Line::Errors(line),
            (None, Some(line)) => Line::Output(line),
            // Nobody holds such a line.
            (None, None) => Line::Output(held),
        }
    }
}

/// Text for standard output and for standard error, of lines that were held.
pub fn divided<'a>(held: impl IntoIterator<Item = &'a String>) -> (Vec<u8>, Vec<u8>) {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    for line in held {
        let (text, line) = match Line::read(line) {
            Line::Output(line) => (&mut output, line),
            Line::Errors(line) => (&mut errors, line),
        };
        text.extend(line.as_bytes());
        text.push(b'\n');
    }
    (output, errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_as_they_were() {
        for text in ["", "plain", "\u{91}", "\u{91}e not an error", "\u{91}o", "e", "\u{91}\u{91}e"] {
            for line in [Line::Output(text), Line::Errors(text)] {
                assert_eq!(Line::read(&line.held()), line, "{text:?}");
            }
        }
    }

    #[test]
    fn each_line_goes_to_its_stream() {
        let held = [Line::Output("one"), Line::Errors("two"), Line::Output("")].map(Line::held);
        assert_eq!(divided(&held), (b"one\n\n".to_vec(), b"two\n".to_vec()));
    }
}
