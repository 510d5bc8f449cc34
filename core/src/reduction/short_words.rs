//! Parts of reductions that are so short that they travel within a node as a few words: counts, and a number.

use super::{Contribution, Tally};
use talisman_base::ids::{CollectionId, ReductionKey};
use talisman_kernel::message::service::ShortWords;
use talisman_kernel::route::Route;
use talisman_reduce::AnyPartial;

/// Bits of the first word: what is there, above the byte that is not ours.
const OF_ANSWERS: u64 = 1 << 8;
const HAS_VALUE: u64 = 1 << 9;
const TO_ALL: u64 = 1 << 10;
/// Bytes of the value.
const LEN: u32 = 16;
/// The number of the reduction.
const NUMBER: u32 = 32;

fn two(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn halves(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

impl Contribution {
    /// It in words, if it fits.
    pub(super) fn to_words(&self) -> Option<ShortWords> {
        let (of, number) = match self.key {
            ReductionKey::All(number) => (0, number),
            ReductionKey::Answers(number) => (OF_ANSWERS, number),
            _ => return None,
        };
        let Tally { old, old_gone: 0, newborn: None, reports, expected, heard } = self.tally else {
            return None;
        };
        if self.made_again.is_some() {
            return None;
        }
        let (old, expected) = (u32::try_from(old).ok()?, u32::try_from(expected).ok()?);
        let (has_value, id, (len, [low, mut high])) = match &self.value {
            None => (0, 0, (0, [0; 2])),
            Some(value) => (HAS_VALUE, value.id(), value.short()?),
        };
        let to_all = match self.to {
            None => 0,
            // All elements of the collection wait for it; beside that there is room for half as much.
            Some(Route::ReplyAll(of, wait)) if of == self.collection && len <= 8 => {
                high = wait;
                TO_ALL
            }
            Some(_) => return None,
        };
        let first = of | has_value | to_all | (len as u64) << LEN | u64::from(number) << NUMBER;
        let CollectionId { creator, serial } = self.collection;
        Some([first, two(creator, serial), two(reports, expected), two(old, heard), id, low, high])
    }

    /// What is in those words.
    pub(super) fn of_words(words: &ShortWords) -> Option<Self> {
        let [first, collection, told, made, id, low, high] = *words;
        let (creator, serial) = halves(collection);
        let ((reports, expected), (old, heard)) = (halves(told), halves(made));
        let number = (first >> NUMBER) as u32;
        let key = match first & OF_ANSWERS {
            0 => ReductionKey::All(number),
            _ => ReductionKey::Answers(number),
        };
        let collection = CollectionId { creator, serial };
        let to_all = first & TO_ALL != 0;
        let value = match first & HAS_VALUE {
            0 => None,
            _ => {
                let len = usize::from((first >> LEN) as u8);
                Some(AnyPartial::of_short(id, len, [low, if to_all { 0 } else { high }]).ok()?)
            }
        };
        let to = to_all.then_some(Route::ReplyAll(collection, high));
        let (old, expected) = (old.into(), expected.into());
        let tally = Tally { old, reports, expected, heard, ..Tally::default() };
        Some(Contribution { value, to, ..Contribution::count(collection, key, tally) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_pup::to_bytes;
    use talisman_reduce::{Concat, Max, Nothing, Sum};

    const OF: CollectionId = CollectionId { creator: 3, serial: 70_000 };

    fn tally(old: u64) -> Tally {
        Tally { old, reports: 2, expected: 7, heard: u32::MAX, ..Tally::default() }
    }

    fn part(key: ReductionKey, value: Option<AnyPartial>, to: Option<Route>) -> Contribution {
        Contribution { value, to, ..Contribution::count(OF, key, tally(5)) }
    }

    #[test]
    fn what_fits_comes_as_it_went() {
        let sum = AnyPartial::lift::<i64, Sum>(-3, 1).expect("no clash");
        let max = AnyPartial::lift::<f64, Max>(0.1, 1).expect("no clash");
        let none = AnyPartial::lift::<(), Nothing>((), 1).expect("no clash");
        let to = Some(Route::ReplyAll(OF, u64::MAX));
        let (all, answers) = (ReductionKey::All(u32::MAX), ReductionKey::Answers(9));
        let parts = [
            part(answers, None, None),
            part(answers, Some(sum), None),
            part(all, Some(max), to.clone()),
            part(all, Some(none), to.clone()),
            part(all, None, to),
        ];
        for part in parts {
            let words = part.to_words().expect("it fits");
            assert_eq!(words[0] as u8, 0, "this byte is not ours");
            let come = Contribution::of_words(&words).expect("it is one");
            assert_eq!(to_bytes(&come), to_bytes(&part));
        }
    }

    #[test]
    fn what_does_not_fit_goes_as_it_is() {
        let answers = ReductionKey::Answers(9);
        let sum = || Some(AnyPartial::lift::<i64, Sum>(-3, 1).expect("no clash"));
        let elsewhere = CollectionId { creator: 3, serial: 1 };
        let many = Tally { old: 1 << 32, ..Tally::default() };
        let gone = Tally { old_gone: 1, ..Tally::default() };
        let mut born = Tally::default();
        born.announce(1, 1);
        let made_again = Contribution { made_again: Some(1), ..part(answers, None, None) };
        let others = [
            part(answers, Some(AnyPartial::lift::<u8, Concat>(1, 1).expect("no clash")), None),
            part(answers, sum(), Some(Route::ReplyAll(OF, 1))),
            part(answers, None, Some(Route::ReplyAll(elsewhere, 1))),
            part(answers, None, Some(Route::Exit(1))),
            part(ReductionKey::Late { member: 1, nth: 1 }, None, None),
            Contribution::count(OF, answers, many),
            Contribution::count(OF, answers, gone),
            Contribution::count(OF, answers, born),
            made_again,
        ];
        assert!(others.iter().all(|part| part.to_words().is_none()));
    }
}
