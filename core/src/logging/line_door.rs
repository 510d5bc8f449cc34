//! What comes from other nodes, by the line that its sender was in when it left.
//!
//! A node that has begun the next line may be heard before one is told of that: what it says waits. What is of a former line, and was
//! under way when the next one began, has no meaning any more: nothing goes back behind a line, and all are counted from 0 in the next.

use talisman_ft::Version;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// The door of a node.
pub struct LineDoor<T> {
    /// The line that the node is in.
    line: Version,
    /// What is of a line that has not begun here, in the order in which it came.
    later: Vec<(Version, T)>,
}

impl<T> Default for LineDoor<T> {
    fn default() -> Self {
        LineDoor { line: 0, later: Vec::new() }
    }
}

impl<T> LineDoor<T> {
    /// Something has come whose sender was in that line: it is given back if it is taken in now.
    pub fn admit(&mut self, line: Version, came: T) -> Option<T> {
        match line {
            _ if line == self.line => Some(came),
            _ if line > self.line && !mutated("next-line-taken-in-early") => {
                self.later.push((line, came));
                None
            }
            _ if line < self.line && !mutated("former-line-taken-in") => None,
            _ => Some(came),
        }
    }

    /// The node is in this line from now on: what has come of it already is taken in now.
    pub fn enter(&mut self, line: Version) -> Vec<T> {
        self.line = line;
        let later = std::mem::take(&mut self.later);
        if !later.is_empty() {
            sometimes("a node heard of others in the next line before it was told that this has begun");
        }
        later.into_iter().filter_map(|(line, came)| self.admit(line, came)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_a_former_line_is_dropped_and_what_is_of_a_later_one_waits() {
        let mut door = LineDoor::default();
        assert_eq!(door.admit(0, "now"), Some("now"));
        for (line, came) in [(4, "first"), (9, "much later"), (4, "second")] {
            assert_eq!(door.admit(line, came), None);
        }
        assert_eq!(door.enter(4), ["first", "second"]);
        assert_eq!((door.admit(0, "former"), door.admit(4, "now")), (None, Some("now")));
        assert_eq!(door.enter(9), ["much later"]);
        assert_eq!(door.enter(10), [""; 0]);
    }
}
