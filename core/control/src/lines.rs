//! The output of several nodes as one: no line is torn by another node's.
//!
//! Pure: bytes in, bytes out, whatever they are. Lines longer than [`HOLD_MAX`] go on in pieces, so that memory is bounded.

/// Most bytes kept back while the end of their line has not come.
pub const HOLD_MAX: usize = 64 << 10;

/// Collects what one node writes until lines are whole.
#[derive(Debug, Default)]
pub struct Collector {
    held: Vec<u8>,
}

impl Collector {
    /// Takes bytes, and gives what can go on: whole lines, or a piece of one that is too long to keep.
    pub fn push(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.held.extend_from_slice(bytes);
        let end = match self.held.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => last + 1,
            None if self.held.len() >= HOLD_MAX => self.held.len(),
            None => return None,
        };
        let rest = self.held.split_off(end);
        Some(std::mem::replace(&mut self.held, rest))
    }

    /// The node writes no more: the rest, a line without an end.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        let rest = std::mem::take(&mut self.held);
        (!rest.is_empty()).then_some(rest)
    }
}

/// Puts the lines of all nodes in one stream.
#[derive(Debug)]
pub struct Merger {
    label: bool,
    /// Who wrote last, if the line has no end yet.
    open: Option<u32>,
}

impl Merger {
    /// With `label`, each line begins with its node's number.
    pub fn new(label: bool) -> Self {
        Merger { label, open: None }
    }

    /// What ends the line of another node that has no end yet.
    pub fn end_line_of_others(&mut self, node: u32) -> &'static [u8] {
        match self.open.take_if(|open| *open != node) {
            Some(_) => b"\n",
            None => b"",
        }
    }

    /// What to write for these bytes of a node.
    pub fn merge(&mut self, node: u32, bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(bytes.len() + 16);
        text.extend_from_slice(self.end_line_of_others(node));
        let goes_on = self.open == Some(node);
        for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if self.label && !(goes_on && number == 0) {
                text.extend_from_slice(format!("[{node}] ").as_bytes());
            }
            text.extend_from_slice(line);
        }
        if let Some(last) = bytes.last() {
            self.open = (*last != b'\n').then_some(node);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_until_they_are_whole() {
        let mut collector = Collector::default();
        assert_eq!(collector.push(b"one"), None);
        assert_eq!(collector.push(b" line\ntwo\nthr").unwrap(), b"one line\ntwo\n");
        assert_eq!(collector.push(b"ee\n").unwrap(), b"three\n");
        assert_eq!(collector.finish(), None);
        collector.push(b"\xff\0 no end");
        assert_eq!(collector.finish().unwrap(), b"\xff\0 no end");
    }

    #[test]
    fn a_line_without_end_is_not_kept_for_ever() {
        let mut collector = Collector::default();
        let pieces: Vec<usize> =
            (0..64).filter_map(|_| collector.push(&[b'x'; 4096])).map(|piece| piece.len()).collect();
        assert_eq!(pieces, [HOLD_MAX; 4]);
    }

    #[test]
    fn each_line_has_its_label() {
        let mut merger = Merger::new(true);
        assert_eq!(merger.merge(1, b"a\nb\n"), b"[1] a\n[1] b\n");
        assert_eq!(merger.merge(0, b"\n"), b"[0] \n");
    }

    #[test]
    fn an_open_line_goes_on_unless_another_node_comes_in_between() {
        let mut merger = Merger::new(true);
        let all = [(3, &b"long "[..]), (3, b"line"), (2, b"other\n"), (3, b" end\n")];
        let text: Vec<u8> = all.iter().flat_map(|(node, bytes)| merger.merge(*node, bytes)).collect();
        assert_eq!(String::from_utf8(text).unwrap(), "[3] long line\n[2] other\n[3]  end\n");
    }

    #[test]
    fn without_labels_bytes_are_as_they_were() {
        let mut merger = Merger::new(false);
        assert_eq!(merger.merge(0, b"\xff\0\nrest"), b"\xff\0\nrest");
        assert_eq!(merger.merge(0, b" of it"), b" of it");
        assert_eq!(merger.merge(1, b"next\n"), b"\nnext\n");
    }
}
