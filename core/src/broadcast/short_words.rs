//! Broadcasts that are so short that they travel within a node as a few words.

use talisman_base::ids::CollectionId;
use talisman_kernel::message::control::{Cast, CastCall};
use talisman_kernel::message::service::ShortWords;
use talisman_kernel::route::Route;
use talisman_pup::Packed;

/// Bits of the first word: what is there, above the byte that is not ours.
const IS_REPLY: u64 = 1 << 8;
const HAS_ANSWERS: u64 = 1 << 9;
/// Bytes of the arguments.
const LEN: u32 = 10;
const LEN_MAX: usize = 32;
const ENTRY: u32 = 16;
const NUMBER: u32 = 32;

/// A broadcast on its way down in words, if it fits: with the reducer of its answers, whose receiver only the root knows.
pub(super) fn to_words(collection: CollectionId, number: u32, cast: &Cast) -> Option<ShortWords> {
    let args = &cast.args;
    let is_bytes = args.segments().is_empty() && args.needs().is_empty() && args.refusal().is_none();
    if !is_bytes || args.bytes().len() > LEN_MAX {
        return None;
    }
    let (call, word) = match (cast.call, &cast.collect) {
        (CastCall::Entry(entry), None) => (u64::from(entry) << ENTRY, 0),
        (CastCall::Entry(entry), Some((reducer, _))) => (HAS_ANSWERS | u64::from(entry) << ENTRY, *reducer),
        (CastCall::Reply(wait), None) => (IS_REPLY, wait),
        _ => return None,
    };
    let first = call | (args.bytes().len() as u64) << LEN | u64::from(number) << NUMBER;
    let CollectionId { creator, serial } = collection;
    let mut words = [first, u64::from(creator) << 32 | u64::from(serial), word, 0, 0, 0, 0];
    for (word, bytes) in words[3..].iter_mut().zip(args.bytes().chunks(8)) {
        let mut full = [0; 8];
        full[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(full);
    }
    Some(words)
}

/// The collection, the number and the broadcast that are in those words.
pub(super) fn of_words(words: &ShortWords) -> (CollectionId, u32, Cast) {
    let [first, collection, word, bytes @ ..] = *words;
    let collection = CollectionId { creator: (collection >> 32) as u32, serial: collection as u32 };
    let call = match first & IS_REPLY {
        0 => CastCall::Entry((first >> ENTRY) as u16),
        _ => CastCall::Reply(word),
    };
    let collect = (first & HAS_ANSWERS != 0).then_some((word, Route::Ignore));
    let len = (first >> LEN) as usize & (2 * LEN_MAX - 1);
    let args = match len.min(LEN_MAX) {
        0 => Packed::default(),
        len => {
            let all: Vec<u8> = bytes.iter().flat_map(|word| word.to_le_bytes()).take(len).collect();
            Packed::new(all.into(), Vec::new(), Vec::new())
        }
    };
    (collection, (first >> NUMBER) as u32, Cast { call, args, collect })
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_base::ids::SectionId;
    use talisman_pup::to_bytes;

    const OF: CollectionId = CollectionId { creator: 70_000, serial: 3 };

    fn cast(call: CastCall, bytes: usize, collect: Option<(u64, Route)>) -> Cast {
        let bytes: Vec<u8> = (1..=bytes as u8).collect();
        Cast { call, args: Packed::new(bytes.into(), Vec::new(), Vec::new()), collect }
    }

    #[test]
    fn what_fits_comes_as_it_went() {
        let answers = Some((u64::MAX - 1, Route::Ignore));
        for bytes in [0, 1, 8, 9, 31, 32] {
            let casts = [
                cast(CastCall::Entry(u16::MAX), bytes, None),
                cast(CastCall::Entry(7), bytes, answers.clone()),
                cast(CastCall::Reply(u64::MAX), bytes, None),
            ];
            for cast in casts {
                let words = to_words(OF, u32::MAX - 1, &cast).expect("it fits");
                assert_eq!(words[0] as u8, 0, "this byte is not ours");
                let (collection, number, come) = of_words(&words);
                assert_eq!((collection, number), (OF, u32::MAX - 1));
                assert_eq!(to_bytes(&come), to_bytes(&cast));
            }
        }
    }

    #[test]
    fn who_gets_the_answers_stays_at_the_root() {
        let cast = cast(CastCall::Entry(7), 0, Some((5, Route::Exit(1))));
        let come = of_words(&to_words(OF, 1, &cast).expect("it fits")).2;
        assert_eq!(come.collect, Some((5, Route::Ignore)));
    }

    #[test]
    fn what_does_not_fit_goes_as_it_is() {
        let section = SectionId { creator: 0, serial: 0 };
        let needs = Packed::new(Vec::new().into(), Vec::new(), vec![3]);
        let others = [
            cast(CastCall::Entry(1), 33, None),
            cast(CastCall::Destroy, 0, None),
            cast(CastCall::Forget(section), 0, None),
            Cast { args: needs, ..cast(CastCall::Entry(1), 0, None) },
        ];
        assert!(others.iter().all(|cast| to_words(OF, 1, cast).is_none()));
    }
}
