//! From what a PE wrote to records: which message a call was made by is found here.

use std::collections::HashMap;

use talisman_observe::trace::words::{CAUSE_OF_LAST, Called, Item, Leaving, Way, moment_in, parts_of};
use talisman_observe::trace::{Kind, Record};

/// Messages that wait on one PE, as many are known: more are in no program's queue.
const WAITING_MAX: usize = 1 << 22;

/// A process's PE sends itself fewer messages than have as many bits.
const LIFE: u32 = 40;

/// What is known of a PE from what it has written so far.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pe: u32,
    ticks: u64,
    /// The ways of messages that wait, by the places of their envelopes.
    waiting: HashMap<u64, Way>,
    /// That of the message that is being run, where it is in no envelope any more.
    cause: Option<Way>,
    /// That of the one that the last call was by, if it had an envelope.
    of_last: Option<Way>,
    /// That of the one that is to leave.
    taken: Option<Way>,
    /// Messages that stayed on the PE.
    made: u64,
    /// The first word of what was called last, where that has two.
    called: Option<u64>,
}

impl Decoder {
    /// That of a PE of this process of its node: what it sends to itself is numbered from there, so that it is not what another
    /// process's sent.
    pub(super) fn of(pe: u32, life: u64) -> Decoder {
        Decoder { pe, made: life << LIFE, ..Decoder::default() }
    }

    /// Goes on with these words, whole items; the records that they are.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(super) fn read(&mut self, words: &[u64]) -> Result<Vec<Record>, String> {
        let (mut records, mut at) = (Vec::with_capacity(words.len() / 2), 0);
        while let Some(first) = words.get(at) {
            let item = Item::of(*first).ok_or_else(|| format!("its word {at} begins nothing"))?;
            let end = at + 1 + item.more(*first);
            let more = words.get(at + 1..end).ok_or("it ends within an item")?;
            if item == Item::BeginsAlike && self.called.is_none() {
                return Err(format!("its word {at} is a call like one that there was not"));
            }
            self.item(item, *first, more, &mut records);
            at = end;
        }
        Ok(records)
    }

    fn item(&mut self, item: Item, first: u64, more: &[u64], records: &mut Vec<Record>) {
        let (since, place) = parts_of(first);
        if item.is_timed() {
            self.ticks = self.ticks.wrapping_add(since);
        }
        match (item, more) {
            (Item::Moment, _) => self.ticks = moment_in(first),
            (Item::Begins, [word, low]) => self.begin_narrow(place, *word, *low, records),
            (Item::BeginsAlike, [low]) => {
                self.called.into_iter().for_each(|word| self.begin_narrow(place, word, *low, records));
            }
            (Item::BeginsWide, [one, two, three]) => {
                self.begin(place, Called::of_wide([*one, *two, *three]), records);
            }
            (Item::Ends, _) => {
                if place != 0 {
                    self.make(place, records);
                }
                records.push(Record::at(self.ticks, Kind::Ends));
            }
            (Item::Made, _) => self.make(place, records),
            (Item::Stays, _) if !self.waiting.contains_key(&place) => self.make(place, records),
            (Item::Kept, more) => {
                let (way, place) = Way::of_words(first, more);
                self.keep(place, way);
            }
            (Item::Causes, _) if place == CAUSE_OF_LAST => self.cause = self.of_last,
            (Item::Causes, _) => self.cause = self.waiting.remove(&place),
            (Item::CausesDirectly, more) => self.cause = Some(Way::of_words(first, more).0),
            (Item::Taken, _) => self.taken = self.waiting.remove(&place),
            (Item::TakenDirectly, more) => self.taken = Some(Way::of_words(first, more).0),
            (Item::Leaves, [more]) => {
                let Leaving { to, number, bytes, is_taken } = Leaving::of_narrow(place, *more);
                let sent =
                    Record { wide: to, low: number, high: bytes, ..Record::at(self.ticks, Kind::Sent) };
                self.leave(sent, is_taken, records);
            }
            (Item::Whole, [ticks, what, low, high]) => {
                self.leave(Record::of_words([*ticks, *what, *low, *high]), place != 0, records);
            }
            (Item::Gap, _) => *self = Decoder { made: self.made, ..Decoder::of(self.pe, 0) },
            // As many words are behind an item as it has.
            _ => {}
        }
    }

    fn begin_narrow(&mut self, place: u64, word: u64, low: u64, records: &mut Vec<Record>) {
        self.called = Some(word);
        self.begin(place, Called::of_narrow(word, low), records);
    }

    fn begin(&mut self, place: u64, called: Called, records: &mut Vec<Record>) {
        self.of_last = self.waiting.remove(&place);
        let cause = self.of_last.or(self.cause);
        records.extend(cause.map(|way| by(way, self.ticks, Kind::Caused)));
        let begins = Record::at(self.ticks, Kind::Begins);
        records.push(Record { small: called.call, wide: called.chare, ..begins }.of_index(called.index));
    }

    /// This is told next; it is about the message that was taken last, if so.
    fn leave(&mut self, record: Record, is_taken: bool, records: &mut Vec<Record>) {
        if is_taken {
            records.extend(self.taken.take().map(|way| by(way, record.ticks, Kind::Relayed)));
        }
        records.push(record);
    }

    /// A message stays on the PE, which gets from itself what it sends to itself.
    fn make(&mut self, place: u64, records: &mut Vec<Record>) {
        self.made += 1;
        let way = Way { from: self.pe, number: self.made };
        self.keep(place, way);
        records.push(by(way, self.ticks, Kind::Sent));
    }

    fn keep(&mut self, place: u64, way: Way) {
        if place != 0 && self.waiting.len() < WAITING_MAX {
            self.waiting.insert(place, way);
        }
    }
}

fn by(way: Way, ticks: u64, kind: Kind) -> Record {
    Record { wide: way.from, low: way.number, ..Record::at(ticks, kind) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_observe::trace::words::{first, moment};

    fn read(words: &[u64]) -> Vec<Record> {
        Decoder::of(3, 0).read(words).unwrap()
    }

    fn way(from: u32, number: u64) -> Way {
        Way { from, number }
    }

    fn call(place: u64) -> [u64; 3] {
        let called = Called { call: 1, chare: 2, index: 7 };
        let [word, low] = called.narrow().unwrap();
        [first(Item::Begins, 10, place), word, low]
    }

    fn begins(ticks: u64) -> Record {
        Record { small: 1, wide: 2, ..Record::at(ticks, Kind::Begins) }.of_index(7)
    }

    #[test]
    fn a_call_is_made_by_the_message_of_its_envelope() {
        let made = [moment(100), first(Item::Made, 5, 0x40)];
        let kept = [first(Item::Kept, 1, 0x80), 9];
        let words = [&made[..], &kept, &call(0x80), &[first(Item::Ends, 20, 0)], &call(0x40), &call(0x40)];
        let told = read(&words.concat());
        let expected = [
            by(way(3, 1), 105, Kind::Sent),
            by(way(1, 9), 115, Kind::Caused),
            begins(115),
            Record::at(135, Kind::Ends),
            by(way(3, 1), 145, Kind::Caused),
            begins(145),
            begins(155),
        ];
        assert_eq!(told, expected, "the last one has an envelope in which nothing came");
    }

    #[test]
    fn a_call_like_the_last_one_and_a_message_before_its_end_have_fewer_words() {
        let alike = [first(Item::BeginsAlike, 1, 0x80), 8];
        let words = [&call(0)[..], &[first(Item::Ends, 20, 0x80)], &alike, &[first(Item::Ends, 2, 0)]];
        let told = read(&words.concat());
        let expected = [
            begins(10),
            by(way(3, 1), 30, Kind::Sent),
            Record::at(30, Kind::Ends),
            by(way(3, 1), 31, Kind::Caused),
            begins(31).of_index(8),
            Record::at(33, Kind::Ends),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_message_that_is_in_no_envelope_any_more_calls_all_until_its_end() {
        let words = [
            &[first(Item::Made, 0, 0x40), first(Item::Causes, 0, 0x40)][..],
            &call(0),
            &call(0),
            &[first(Item::Causes, 0, 0)],
            &call(0),
        ];
        let kinds: Vec<_> =
            read(&words.concat()).iter().map(|record| Kind::of(record.kind).unwrap()).collect();
        use Kind::{Begins, Caused, Sent};
        assert_eq!(kinds, [Sent, Caused, Begins, Caused, Begins, Begins]);
        let again = [first(Item::Causes, 0, CAUSE_OF_LAST)];
        let words = [&[first(Item::Made, 0, 0x40)][..], &call(0x40), &again, &call(0), &call(0)];
        let told = read(&words.concat());
        let caused = told.iter().filter(|record| record.kind == Caused as u16);
        assert_eq!(caused.map(|record| record.low).collect::<Vec<_>>(), [1; 3]);
    }

    #[test]
    fn a_message_is_told_once_and_passed_on_with_its_way() {
        let sent = by(way(0, 4), 50, Kind::Sent);
        let leaves = |is_taken| {
            let (number, more) = Leaving { to: 0, number: 4, bytes: 0, is_taken }.narrow().unwrap();
            [first(Item::Leaves, 0, number), more]
        };
        let whole = [&[first(Item::Whole, 0, 0)][..], &sent.to_words()].concat();
        let twice = [first(Item::Made, 1, 0x40), first(Item::Stays, 1, 0x40), first(Item::Taken, 0, 0x40)];
        let told = read(&[&twice[..], &[moment(50)], &leaves(true), &leaves(true), &whole].concat());
        let expected = [by(way(3, 1), 1, Kind::Sent), by(way(3, 1), 50, Kind::Relayed), sent, sent, sent];
        assert_eq!(told, expected);
        let directly = way(9, 8).narrow(Item::TakenDirectly).unwrap();
        let told = read(&[&[moment(50), directly][..], &leaves(false), &leaves(true)].concat());
        assert_eq!(told, [sent, by(way(9, 8), 50, Kind::Relayed), sent]);
    }

    #[test]
    fn nothing_is_believed_of_what_was_before_a_gap() {
        let told = read(&[&[first(Item::Made, 0, 0x40), first(Item::Gap, 0, 0)][..], &call(0x40)].concat());
        assert_eq!(told[1..], [begins(10)]);
    }

    #[test]
    fn what_is_no_item_or_cut_off_is_refused() {
        let mut decoder = Decoder::of(0, 0);
        assert!(decoder.read(&[1]).unwrap_err().contains("begins nothing"));
        assert!(decoder.read(&call(0)[..2]).unwrap_err().contains("within an item"));
        let alike = [first(Item::BeginsAlike, 1, 0), 8];
        let after_gap = [&call(0)[..], &[first(Item::Gap, 0, 0)], &alike].concat();
        for words in [&alike[..], &after_gap] {
            assert!(decoder.read(words).unwrap_err().contains("there was not"));
        }
    }
}
