//! Items, as a PE that runs again takes them: an input, then what it read and sent because of it.

use std::collections::VecDeque;

use super::file::{RecordError, RecordFile};
use super::item::{Item, Sent};

/// An input, and what came of it.
#[derive(Debug)]
pub struct Step {
    /// What the PE is given: none of what came of an input.
    pub input: Item,
    /// Values of the world that it read, packed.
    pub values: VecDeque<Vec<u8>>,
    /// What it sent.
    pub sent: VecDeque<Sent>,
    /// Nothing follows, though the process had not come to its end: all that came of it need not be here.
    pub is_last: bool,
}

/// The steps of a record, in order.
pub struct Steps {
    file: RecordFile,
    /// Items that were read and not taken.
    items: VecDeque<Item>,
    /// The process came to its end.
    ended: bool,
}

impl Steps {
    /// Of a record.
    pub fn of(file: RecordFile) -> Steps {
        Steps { file, items: VecDeque::new(), ended: false }
    }

    /// The next one; none at the record's end.
    ///
    /// # Errors
    /// It is not what was written.
    pub fn next_step(&mut self) -> Result<Option<Step>, RecordError> {
        let Some(input) = self.take()? else { return Ok(None) };
        if input == Item::Ends {
            self.ended = true;
            return Ok(None);
        }
        let mut step = Step { input, values: VecDeque::new(), sent: VecDeque::new(), is_last: false };
        while self.fill()? {
            if !matches!(self.items.front(), Some(Item::Value(_) | Item::Sent(_))) {
                return Ok(Some(step));
            }
            match self.items.pop_front() {
                Some(Item::Value(value)) => step.values.push_back(value),
                Some(Item::Sent(sent)) => step.sent.push_back(sent),
                _ => {}
            }
        }
        step.is_last = true;
        Ok(Some(step))
    }

    /// How it ended, if the process had not come to its end, for people.
    pub fn cut_off(&self) -> Option<&'static str> {
        match (self.ended, self.file.is_torn()) {
            (true, _) => None,
            (false, false) => Some("its process died: nothing more was recorded"),
            (false, true) => Some("its process died while it wrote: the last block is not whole"),
        }
    }

    fn take(&mut self) -> Result<Option<Item>, RecordError> {
        self.fill()?;
        Ok(self.items.pop_front())
    }

    /// Whether there is another item.
    fn fill(&mut self) -> Result<bool, RecordError> {
        while self.items.is_empty() {
            match self.file.next_items()? {
                Some(items) => self.items.extend(items),
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}
