//! Items, as a PE that runs again takes them: an input, then what it read and sent because of it.

use std::collections::VecDeque;

use super::file::{RecordError, RecordFile};
use super::item::{Item, Sent};
use talisman_pup::Packed;

/// An input, and what came of it.
#[derive(Debug)]
pub struct Step {
    /// What the PE is given: none of what came of an input.
    pub input: Item,
    /// Values of the world that it read, packed.
    pub values: VecDeque<Vec<u8>>,
    /// What it sent.
    pub sent: VecDeque<Sent>,
    /// Read-only values that other PEs of its node had for it, by name.
    pub shared: Vec<(u64, Packed)>,
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
        let (values, sent) = (VecDeque::new(), VecDeque::new());
        let mut step = Step { input, values, sent, shared: Vec::new(), is_last: false };
        while self.fill()? {
            match self.items.pop_front() {
                Some(Item::Value(value)) => step.values.push_back(value),
                Some(Item::Sent(sent)) => step.sent.push_back(sent),
                Some(Item::Shared { id, value }) => step.shared.push((id, value)),
                other => {
                    other.into_iter().for_each(|item| self.items.push_front(item));
                    return Ok(Some(step));
                }
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
