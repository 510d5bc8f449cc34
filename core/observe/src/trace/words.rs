//! What a PE writes down of its doing, in words of 64 bits: as few as will do, and without looking anything up.
//!
//! | bits of an item's first word | are |
//! |---|---|
//! | 60 to 63 | what it is, an [`Item`] |
//! | 44 to 59 | ticks since the last item that has a time; of others with a way, the PE that it is from, or [`WIDE`] |
//! | 0 to 43 | a place: an envelope's address in units of 64 bytes, 0 is none; where there is no envelope, a number on a way |
//!
//! By which way a message has come is found when the words are read: a PE says into which envelope a message came, and
//! from which envelope it was run.

use super::Record;

/// Bits of a place.
const PLACE: u32 = 44;
/// Ticks from which on an item needs an [`Item::Moment`] before it.
pub const FAR: u64 = 1 << 16;
/// Stands in the place of a PE that has no room there, or whose way has come to a number without room: both are in the two words
/// behind.
pub const WIDE: u64 = FAR - 1;
/// The place of an [`Item::Causes`] of the message that has called last, and is in no envelope any more.
pub const CAUSE_OF_LAST: u64 = 1;
/// Bits of a PE in the second word of an [`Item::Leaves`]. One more is set if the message is the one that was taken last; those above
/// are its bytes.
const TO: u32 = 20;
/// What an index has beside its lower half, where [`Item::Begins`] is enough.
const UPPER: u32 = 32;
/// The first word of no [`Called`].
pub const NOT_CALLED: u64 = u64::MAX;

/// What an item is, and which words are behind the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Item {
    /// The time is this: all bits below are ticks.
    Moment = 1,
    /// A call begins, by the message in the envelope if there is one. Two words: [`Called`].
    Begins = 2,
    /// The same of a chare or an index that has no room there. Three words.
    BeginsWide = 3,
    /// It ends. With a place: a message was put into the envelope right before, which stays on the PE.
    Ends = 4,
    /// A message was put into the envelope, which stays on the PE.
    Made = 5,
    /// The same, unless it has been told.
    Stays = 6,
    /// A message came into the envelope. One word: its number on its way. If wide two: its way.
    Kept = 7,
    /// What is called from now on is called by the message in the envelope, which is in there no more; by none in particular if
    /// there is no place; by that of the last call, for a place of [`CAUSE_OF_LAST`].
    Causes = 8,
    /// It is called by the message that came by this way. If wide two words.
    CausesDirectly = 9,
    /// As [`Item::Begins`], with the same call, chare and upper half of the index as the last of these items. One word: the
    /// lower half.
    BeginsAlike = 10,
    /// The message in the envelope is in there no more; what is passed on next is this one.
    Taken = 11,
    /// What is passed on next is the message that came by this way. If wide two words.
    TakenDirectly = 12,
    /// A message leaves, as so many-th on its way. One word: where to, and its bytes.
    Leaves = 13,
    /// A [`Record`] as it is, in four words. A place of 1: it is about the message that was taken last.
    Whole = 14,
    /// Items are missing before this one.
    Gap = 15,
}

impl Item {
    const ALL: [Item; 15] = [
        Item::Moment,
        Item::Begins,
        Item::BeginsWide,
        Item::Ends,
        Item::Made,
        Item::Stays,
        Item::Kept,
        Item::Causes,
        Item::CausesDirectly,
        Item::BeginsAlike,
        Item::Taken,
        Item::TakenDirectly,
        Item::Leaves,
        Item::Whole,
        Item::Gap,
    ];

    /// What begins with this word; none if nothing does.
    pub fn of(first: u64) -> Option<Item> {
        Item::ALL.get(((first >> 60) as usize).checked_sub(1)?).copied()
    }

    /// Words behind this first one.
    pub fn more(self, first: u64) -> usize {
        let is_wide = parts_of(first).0 == WIDE;
        match self {
            Item::Kept if !is_wide => 1,
            Item::CausesDirectly | Item::TakenDirectly if !is_wide => 0,
            Item::Begins | Item::Kept | Item::CausesDirectly | Item::TakenDirectly => 2,
            Item::BeginsAlike | Item::Leaves => 1,
            Item::BeginsWide => 3,
            Item::Whole => 4,
            _ => 0,
        }
    }

    /// Whether it happened at a time.
    pub fn is_timed(self) -> bool {
        matches!(
            self,
            Item::Begins
                | Item::BeginsWide
                | Item::BeginsAlike
                | Item::Ends
                | Item::Made
                | Item::Stays
                | Item::Leaves
        )
    }
}

/// The first word of an item, fewer than [`FAR`] ticks after the one before.
#[inline(always)]
pub fn first(item: Item, ticks: u64, place: u64) -> u64 {
    (item as u64) << 60 | ticks << PLACE | place
}

/// A moment.
pub fn moment(ticks: u64) -> u64 {
    (Item::Moment as u64) << 60 | (ticks & (u64::MAX >> 4))
}

/// The ticks of a moment.
pub fn moment_in(first: u64) -> u64 {
    first & (u64::MAX >> 4)
}

/// Ticks and place of another item.
pub fn parts_of(first: u64) -> (u64, u64) {
    (first >> PLACE & (FAR - 1), first & ((1 << PLACE) - 1))
}

/// The place of an envelope at this address: none if no envelope can be there.
#[inline(always)]
pub fn place_of(address: usize) -> u64 {
    let place = (address as u64).rotate_right(6);
    if place >> PLACE == 0 { place } else { 0 }
}

/// By which way a message has come: from this PE, as so many-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub from: u32,
    pub number: u64,
}

impl Way {
    /// The one word of an item that has no envelope, if there is room in it.
    #[inline(always)]
    pub fn narrow(self, item: Item) -> Option<u64> {
        let has_room = u64::from(self.from) < WIDE && self.number >> PLACE == 0;
        has_room.then(|| first(item, self.from.into(), self.number))
    }

    /// The two of one that has, if there is room.
    #[inline(always)]
    pub fn narrow_in(self, item: Item, place: u64) -> Option<(u64, u64)> {
        (u64::from(self.from) < WIDE).then(|| (first(item, self.from.into(), place), self.number))
    }

    /// The words behind a first one that is wide.
    pub fn wide(self) -> [u64; 2] {
        [self.from.into(), self.number]
    }

    /// That of an item with these words, and the place of the envelope if one is in it.
    pub fn of_words(first: u64, more: &[u64]) -> (Way, u64) {
        let (from, low) = parts_of(first);
        match *more {
            [from, number] => (Way { from: from as u32, number }, low),
            [number] => (Way { from: from as u32, number }, low),
            _ => (Way { from: from as u32, number: low }, 0),
        }
    }
}

/// A message that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// The PE at the other end of its way.
    pub to: u32,
    /// Its number on the way.
    pub number: u64,
    /// As [`Kind::Sent`](super::Kind::Sent) has them.
    pub bytes: u64,
    /// It is the one that was taken last.
    pub is_taken: bool,
}

impl Leaving {
    /// What [`Item::Leaves`] has in the place of an envelope, and its second word, if there is room.
    #[inline(always)]
    pub fn narrow(&self) -> Option<(u64, u64)> {
        let has_room = self.to >> TO == 0 && self.number >> PLACE == 0 && self.bytes >> (63 - TO) == 0;
        let more = self.bytes << (TO + 1) | u64::from(self.is_taken) << TO | u64::from(self.to);
        has_room.then_some((self.number, more))
    }

    /// The same back.
    pub fn of_narrow(number: u64, more: u64) -> Leaving {
        let to = (more & ((1 << TO) - 1)) as u32;
        Leaving { to, number, bytes: more >> (TO + 1), is_taken: more >> TO & 1 == 1 }
    }
}

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called {
    /// As [`Kind::Begins`](super::Kind::Begins) has it.
    pub call: u16,
    /// See there.
    pub chare: u32,
    /// See there.
    pub index: u128,
}

impl Called {
    /// The two words of [`Item::Begins`], if there is room for it.
    #[inline(always)]
    pub fn narrow(&self) -> Option<[u64; 2]> {
        let upper = (self.index >> 64) as u64;
        let has_room = self.chare >> 16 == 0 && upper >> UPPER == 0;
        let word = u64::from(self.call) << 48 | u64::from(self.chare) << 32 | upper;
        has_room.then_some([word, self.index as u64])
    }

    /// The three of [`Item::BeginsWide`].
    pub fn wide(&self) -> [u64; 3] {
        let word = u64::from(self.call) << 32 | u64::from(self.chare);
        [word, self.index as u64, (self.index >> 64) as u64]
    }

    /// The same back.
    pub fn of_narrow(word: u64, low: u64) -> Called {
        let upper = u128::from(word & ((1 << UPPER) - 1));
        let chare = (word >> 32 & 0xffff) as u32;
        Called { call: (word >> 48) as u16, chare, index: upper << 64 | u128::from(low) }
    }

    /// The same back.
    pub fn of_wide([word, low, high]: [u64; 3]) -> Called {
        let index = u128::from(high) << 64 | u128::from(low);
        Called { call: (word >> 32) as u16, chare: word as u32, index }
    }
}

impl Record {
    /// The four words of [`Item::Whole`].
    pub fn to_words(&self) -> [u64; 4] {
        let what = u64::from(self.kind) | u64::from(self.small) << 16 | u64::from(self.wide) << 32;
        [self.ticks, what, self.low, self.high]
    }

    /// The same back.
    pub fn of_words([ticks, what, low, high]: [u64; 4]) -> Record {
        Record { ticks, kind: what as u16, small: (what >> 16) as u16, wide: (what >> 32) as u32, low, high }
    }
}

/// Records as they are, each an item: for those that are made up.
pub fn whole(records: &[Record]) -> Vec<u64> {
    let item = |record: &Record| [first(Item::Whole, 0, 0)].into_iter().chain(record.to_words());
    records.iter().flat_map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    #[test]
    fn items_come_back() {
        for (number, item) in (1..).zip(Item::ALL) {
            assert_eq!(item as u64, number);
            assert_eq!(Item::of(first(item, FAR - 1, (1 << PLACE) - 1)), Some(item));
        }
        assert_eq!(Item::of(0), None);
        assert_eq!(parts_of(first(Item::Made, 7, 9)), (7, 9));
        assert_eq!(moment_in(moment(1 << 59)), 1 << 59);
    }

    #[test]
    fn a_place_is_one_of_an_envelope() {
        assert_eq!(place_of(0x7fff_ffff_ffc0), 0x7fff_ffff_ffc0 >> 6);
        assert_eq!(place_of(0x7fff_ffff_ffc8), 0, "it has no envelope's alignment");
        assert_eq!(place_of(1 << 51), 0, "it has too many bits");
    }

    #[test]
    fn a_way_has_as_many_words_as_it_needs() {
        let way = Way { from: WIDE as u32 - 1, number: (1 << PLACE) - 1 };
        let word = way.narrow(Item::CausesDirectly).unwrap();
        assert_eq!(Item::CausesDirectly.more(word), 0);
        assert_eq!(Way::of_words(word, &[]), (way, 0));
        let far = Way { number: u64::MAX, ..way };
        let (word, more) = far.narrow_in(Item::Kept, 0x40).unwrap();
        assert_eq!(Item::Kept.more(word), 1);
        assert_eq!(Way::of_words(word, &[more]), (far, 0x40));
        let other = Way { from: WIDE as u32, number: 1 };
        assert_eq!(other.narrow_in(Item::Kept, 0x40), None);
        for way in [far, other] {
            assert_eq!(way.narrow(Item::TakenDirectly), None);
            let word = first(Item::TakenDirectly, WIDE, 0);
            assert_eq!(Item::TakenDirectly.more(word), 2);
            assert_eq!(Way::of_words(word, &way.wide()), (way, 0));
        }
    }

    #[test]
    fn a_message_that_leaves_has_two_words_if_there_is_room() {
        let bytes = u64::MAX >> (TO + 1);
        let leaving = Leaving { to: (1 << TO) - 1, number: (1 << PLACE) - 1, bytes, is_taken: true };
        for leaving in [leaving, Leaving { is_taken: false, ..leaving }, Leaving { bytes: 0, ..leaving }] {
            let (place, more) = leaving.narrow().unwrap();
            assert_eq!(Leaving::of_narrow(place, more), leaving);
        }
        let without_room = [
            Leaving { to: 1 << TO, ..leaving },
            Leaving { number: 1 << PLACE, ..leaving },
            Leaving { bytes: bytes + 1, ..leaving },
        ];
        assert_eq!(without_room.map(|leaving| leaving.narrow()), [None; 3]);
    }

    #[test]
    fn a_call_has_as_many_words_as_it_needs() {
        let called = Called { call: 0xfff4, chare: 0xffff, index: u128::MAX >> 32 };
        let [word, low] = called.narrow().unwrap();
        assert_eq!(Called::of_narrow(word, low), called);
        for called in [Called { chare: 1 << 16, ..called }, Called { index: 1 << 96, ..called }] {
            assert_eq!(called.narrow(), None);
            assert_eq!(Called::of_wide(called.wide()), called);
        }
        let record = Record { small: 7, wide: 8, low: 9, high: 10, ..Record::at(11, Kind::Moves) };
        assert_eq!(Record::of_words(record.to_words()), record);
    }
}
