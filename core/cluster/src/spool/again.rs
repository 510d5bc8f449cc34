//! Lines that a lost launcher had printed at the job's end, and that are said again, as the job has gone back.
//!
//! Who says them, and in which order, may differ; what they are does not, of a program whose results have the same bits each time. So of
//! each line as many are left out as were printed. What is not the same is printed.

use std::collections::HashMap;

#[derive(Debug, Default)]
pub struct Again(HashMap<Vec<u8>, u32>);

impl Again {
    /// These lines were printed, behind a label each or not.
    pub fn printed(text: &[u8], label: bool) -> Self {
        let mut all = HashMap::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            *all.entry(without_label(line, label).to_owned()).or_default() += 1;
        }
        Again(all)
    }

    /// Of lines that are said, those that are to be printed.
    pub fn without(&mut self, text: Vec<u8>) -> Vec<u8> {
        if self.0.is_empty() {
            return text;
        }
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        lines.filter(|line| !self.was_printed(line)).collect::<Vec<_>>().concat()
    }

    fn was_printed(&mut self, line: &[u8]) -> bool {
        let Some(count) = self.0.get_mut(line) else { return false };
        *count -= 1;
        if *count == 0 {
            self.0.remove(line);
        }
        true
    }
}

/// A label is the node's number in brackets.
fn without_label(line: &[u8], label: bool) -> &[u8] {
    let end = line.windows(2).position(|two| two == b"] ").filter(|_| label && line.starts_with(b"["));
    end.map_or(line, |end| &line[end + 2..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_of_each_line_are_left_out_as_were_printed() {
        for (printed, label) in [(&b"a\nb\na\nc\n"[..], false), (b"[0] a\n[1] b\n[0] a\n[12] c\n", true)] {
            let mut again = Again::printed(printed, label);
            assert_eq!(again.without(b"b\na\nd\n".to_vec()), b"d\n");
            assert_eq!(again.without(b"a\na\nb\n[0] a\n".to_vec()), b"a\nb\n[0] a\n");
            assert_eq!(again.without(b"c\nc\n".to_vec()), b"c\n");
        }
    }
}
