//! The answers an object waits for.

use std::marker::PhantomData;

use super::{Awaitable, Begin};
use talisman_base::ids::ObjId;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::{Fault, Lender, Packed, Packer, Pup, PupError, Unpacker};

/// The type of an answer, from the place where it is asked for to the place where it is taken: the compiler finds it out,
/// and neither place has to name it.
#[derive(Debug)]
pub struct Answer<T>(PhantomData<fn() -> T>);

impl<T> Answer<T> {
    /// Of a type that the first use tells.
    #[inline(always)]
    #[allow(clippy::new_without_default, reason = "a default type would have to be named")]
    pub fn of_any_type() -> Self {
        Answer(PhantomData)
    }
}

/// The answers an object waits for, by number. Few at a time: as many as it has async entries running.
#[derive(Debug, Default)]
pub struct Replies {
    /// The last number given out.
    last: u64,
    /// What is waited for and has not arrived. An answer that is not among them is dropped: the result of an
    /// all-reduce goes to every element, also to one that contributed and does not wait.
    open: Vec<u64>,
    /// What has arrived, and no async entry has looked at yet.
    arrived: Vec<(u64, Packed)>,
}

impl Replies {
    /// Sets a call going; the number under which its answer will arrive.
    pub fn begin<W: Awaitable>(&mut self, object: ObjId, what: W, _: &Answer<W::Output>) -> u64 {
        self.last += 1;
        let wait = what.begin(Begin::new(object, self.last));
        self.open.push(wait);
        wait
    }

    /// An answer has arrived. Tells whether anything waits for it.
    pub fn push(&mut self, wait: u64, value: Packed) -> bool {
        let Some(at) = self.open.iter().position(|open| *open == wait) else {
            sometimes("an answer came that nobody waited for");
            return false;
        };
        self.open.swap_remove(at);
        self.arrived.push((wait, value));
        true
    }

    /// Whether the answer with this number is there.
    #[inline]
    pub fn has(&self, wait: u64) -> bool {
        self.find(wait).is_some()
    }

    /// The answer with this number, if it is there; `asked` says what was asked.
    ///
    /// # Panics
    /// If its bytes are no `T`. The types of question and answer are checked when the program is compiled, so the bytes
    /// were damaged, or written by another build of the program. An entry that cannot have what it waits for cannot go
    /// on: the panic ends the job, under the name of the object and with this text.
    pub fn take<T: Pup>(&mut self, wait: u64, asked: &str, _: &Answer<T>) -> Option<T> {
        let value = self.remove(wait)?;
        Some(value.into_value().unwrap_or_else(|error| unreadable::<T>(asked, &error)))
    }

    /// Drops the answer with this number, if it is there.
    pub fn drop_one(&mut self, wait: u64) -> Option<()> {
        self.remove(wait).map(|_| ())
    }

    fn find(&self, wait: u64) -> Option<usize> {
        self.arrived.iter().position(|(number, _)| *number == wait)
    }

    fn remove(&mut self, wait: u64) -> Option<Packed> {
        let at = self.find(wait)?;
        Some(self.arrived.remove(at).1)
    }
}

#[cold]
fn unreadable<T>(asked: &str, error: &PupError) -> ! {
    let why = match error.fault() {
        // The value itself says what is wrong with it.
        Fault::Invalid(_) => "",
        _ => ": the bytes were damaged on their way, or sent by another build of the program",
    };
    panic!(
        "{asked}: what arrived cannot be read as `{}`: {error}. This is no mistake of the entry that waits{why}",
        std::any::type_name::<T>()
    )
}

impl Pup for Replies {
    fn pack(&self, p: &mut Packer) {
        self.last.pack(p);
        self.open.pack(p);
        self.arrived.pack(p);
    }

    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        self.last.lend(l);
        if mutated("answer-waited-for-stays-behind") {
            Vec::<u64>::new().pack(l.packer());
        } else {
            self.open.lend(l);
        }
        self.arrived.lend(l);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let last = u64::unpack(u)?;
        if last > u64::MAX >> 1 {
            return Err(u.invalid(format!("{last} waits in one object's life")));
        }
        Ok(Replies { last, open: Pup::unpack(u)?, arrived: Pup::unpack(u)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_base::ids::CollectionId;
    use talisman_pup::{from_bytes, to_bytes};

    /// What sends nothing.
    struct Asked;

    impl Awaitable for Asked {
        type Output = ();

        fn begin(self, at: Begin) -> u64 {
            at.fresh()
        }
    }

    /// Waits for this many answers, numbered from 1.
    fn waiting_for(count: u64) -> Replies {
        let mut replies = Replies::default();
        let object = ObjId { collection: CollectionId::singles(0), index: 0 };
        (1..=count)
            .for_each(|number| assert_eq!(replies.begin(object, Asked, &Answer::of_any_type()), number));
        replies
    }

    #[test]
    fn finds_answers_by_number_whatever_their_order() {
        let mut replies = waiting_for(3);
        assert!(replies.push(2, Packed::of(&"two".to_string())));
        assert!(replies.push(1, Packed::of(&1.5f64)));
        assert!(replies.has(1) && !replies.has(3));
        assert_eq!(replies.take::<f64>(1, "one", &Answer::of_any_type()), Some(1.5));
        assert_eq!(replies.take::<f64>(1, "one", &Answer::of_any_type()), None);
        assert_eq!(replies.drop_one(2), Some(()));
        assert_eq!(replies.drop_one(2), None);
    }

    #[test]
    fn an_answer_that_nobody_waits_for_is_dropped() {
        let mut replies = waiting_for(1);
        assert!(
            !replies.push(1 << 63, Packed::default()),
            "the result of a reduction that nobody here waits for"
        );
        assert!(replies.push(1, Packed::default()));
        assert!(!replies.push(1, Packed::default()), "an answer comes once");
        assert_eq!(replies.drop_one(1), Some(()));
        assert!(replies.open.is_empty() && replies.arrived.is_empty(), "{replies:?}");
    }

    #[test]
    fn waits_go_on_after_a_checkpoint() {
        let mut replies = waiting_for(6);
        replies.push(6, Packed::of(&7u32));
        let mut again: Replies = from_bytes(&to_bytes(&replies)).unwrap();
        assert_eq!((again.last, again.take::<u32>(6, "six", &Answer::of_any_type())), (6, Some(7)));
        assert!(again.push(5, Packed::default()), "it still waits for this one");
    }

    #[test]
    #[should_panic(expected = "the answer of `size`: what arrived cannot be read as `u64`")]
    fn an_unreadable_answer_is_told() {
        let mut replies = waiting_for(1);
        replies.push(1, Packed::of(&[1u8, 2, 3]));
        let _ = replies.take::<u64>(1, "the answer of `size`", &Answer::of_any_type());
    }
}
