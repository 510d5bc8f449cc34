//! Answers that have arrived and that no async entry has looked at yet.

use super::{Awaitable, Begin};
use crate::ids::ObjId;
use crate::pup::{Packer, Pup, PupError, Unpacker, from_bytes};

/// The answers an object waits for, by number. Few at a time: as many as it has async entries running.
#[derive(Debug, Default)]
pub struct Replies {
    /// The last number given out.
    last: u64,
    arrived: Vec<(u64, Vec<u8>)>,
}

impl Replies {
    /// Sets a call going; the number under which its answer will arrive.
    pub fn begin<T, W: Awaitable<Output = T>>(&mut self, object: ObjId, what: W) -> u64 {
        self.last += 1;
        what.begin(Begin::new(object, self.last))
    }

    /// An answer has arrived.
    pub fn push(&mut self, wait: u64, value: &[u8]) {
        self.arrived.push((wait, value.to_vec()));
    }

    /// Whether the answer with this number is there.
    #[inline]
    pub fn has(&self, wait: u64) -> bool {
        self.find(wait).is_some()
    }

    /// The answer with this number, if it is there.
    ///
    /// # Panics
    /// If its bytes are no `T`: the entry that was called is another in the program that sent them. The panic is the
    /// waiting entry's, which the runtime names.
    pub fn take<T: Pup>(&mut self, wait: u64) -> Option<T> {
        let bytes = self.remove(wait)?;
        Some(from_bytes(&bytes).unwrap_or_else(|error| wrong_answer::<T>(&error)))
    }

    /// Drops the answer with this number, if it is there.
    pub fn drop_one(&mut self, wait: u64) -> Option<()> {
        self.remove(wait).map(|_| ())
    }

    fn find(&self, wait: u64) -> Option<usize> {
        self.arrived.iter().position(|(number, _)| *number == wait)
    }

    fn remove(&mut self, wait: u64) -> Option<Vec<u8>> {
        let at = self.find(wait)?;
        Some(self.arrived.remove(at).1)
    }
}

#[cold]
fn wrong_answer<T>(error: &PupError) -> ! {
    panic!("an answer that should be a `{}` cannot be read: {error}", std::any::type_name::<T>())
}

impl Pup for Replies {
    fn pack(&self, p: &mut Packer) {
        self.last.pack(p);
        self.arrived.pack(p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(Replies { last: Pup::unpack(u)?, arrived: Pup::unpack(u)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pup::to_bytes;

    #[test]
    fn finds_answers_by_number_whatever_their_order() {
        let mut replies = Replies::default();
        replies.push(2, &to_bytes(&"two".to_string()));
        replies.push(1, &to_bytes(&1.5f64));
        assert!(replies.has(1) && !replies.has(3));
        assert_eq!(replies.take::<f64>(1), Some(1.5));
        assert_eq!(replies.take::<f64>(1), None);
        assert_eq!(replies.drop_one(2), Some(()));
        assert_eq!(replies.drop_one(2), None);
    }

    #[test]
    fn numbers_go_on_after_a_checkpoint() {
        let mut replies = Replies { last: 6, ..Default::default() };
        replies.push(6, &to_bytes(&7u32));
        let mut again: Replies = from_bytes(&to_bytes(&replies)).unwrap();
        assert_eq!((again.last, again.take::<u32>(6)), (6, Some(7)));
    }

    #[test]
    #[should_panic(expected = "an answer that should be a `u64` cannot be read")]
    fn a_wrong_answer_is_told() {
        let mut replies = Replies::default();
        replies.push(1, &[1, 2, 3]);
        let _ = replies.take::<u64>(1);
    }
}
