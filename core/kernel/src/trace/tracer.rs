//! What a PE that is traced has for it: it puts items into its ring.

use std::cell::{Cell, RefCell};
use std::num::NonZero;

use super::channels::Channels;
use super::short_calls::{Row, ShortCalls};
use super::sink::Desk;
use talisman_base::ids::PeId;
use talisman_observe::trace::words::{
    CAUSE_OF_LAST, Called, FAR, Item, Leaving, NOT_CALLED, WIDE, Way, first, moment,
};
use talisman_observe::trace::{Kind, Record};

/// What a PE that is traced has for it.
pub struct Tracer {
    desk: Desk,
    pub(super) pe: PeId,
    /// When the last item was that has a time, in ticks.
    last: Cell<u64>,
    /// Items are missing: the next one says so.
    has_gap: Cell<bool>,
    /// When the last call ended, if nothing was done since.
    pub(super) boundary: Cell<Option<NonZero<u64>>>,
    /// By which message calls are called that have none of their own: one of [`cause`], or the place of an envelope that it was in,
    /// of which the reader has not been told.
    cause: Cell<u64>,
    /// What was called last, the first of two words; none if the reader may not know.
    called: Cell<u64>,
    short_calls: ShortCalls,
    /// The call that runs is thought to be short.
    is_in_short: Cell<bool>,
    /// The place of a message that it has sent here, which has not been told. None is 0.
    untold: Cell<u64>,
    /// When it last did something again, in ticks, while it does what a lost PE did: its messages have been told.
    pub(super) again: Cell<Option<u64>>,
    pub(super) channels: RefCell<Channels>,
}

/// A call that has begun.
pub struct Begun {
    ticks: u64,
    row: Row,
}

/// No item is near to this moment: the next one says its own.
const NEVER: u64 = u64::MAX / 2;

/// What is known of the message that calls. No envelope has one of these as its place.
mod cause {
    /// There is none.
    pub const NONE: u64 = 0;
    /// The reader has been told with the last call, of that alone.
    pub const WITH_CALL: u64 = 1;
    /// The reader has been told.
    pub const TOLD: u64 = 2;
    /// There is none any more, and the reader has not been told: mostly another one is told first.
    pub const OVER: u64 = 3;
}

impl Tracer {
    pub(super) fn new(desk: Desk, pe: PeId) -> Tracer {
        Tracer {
            desk,
            pe,
            last: Cell::new(NEVER),
            has_gap: Cell::new(false),
            boundary: Cell::new(None),
            cause: Cell::new(cause::NONE),
            called: Cell::new(NOT_CALLED),
            short_calls: ShortCalls::default(),
            is_in_short: Cell::new(false),
            untold: Cell::new(0),
            again: Cell::new(None),
            channels: RefCell::default(),
        }
    }

    /// Something that happened then.
    #[inline(always)]
    pub(super) fn put<const N: usize>(&self, item: Item, ticks: u64, place: u64, more: [u64; N]) {
        self.tell_untold();
        self.put_next(item, ticks, place, more);
    }

    /// The same where no message is untold, or the item tells it.
    #[inline(always)]
    fn put_next<const N: usize>(&self, item: Item, ticks: u64, place: u64, more: [u64; N]) {
        let mut since = ticks.wrapping_sub(self.last.get());
        if since >= FAR || !self.desk.is_on() {
            if !self.begins_anew(ticks) {
                return;
            }
            since = 0;
        }
        match self.desk.ring.put(first(item, since, place), more) {
            true => self.last.set(ticks),
            false => self.miss(),
        }
    }

    /// Something that says how others are to be read.
    #[inline(always)]
    pub(super) fn note<const N: usize>(&self, item: Item, place: u64, more: [u64; N]) {
        self.tell_untold();
        self.note_next(item, place, more);
    }

    #[inline(always)]
    fn note_next<const N: usize>(&self, item: Item, place: u64, more: [u64; N]) {
        self.note_words(first(item, 0, place), more);
    }

    #[inline(always)]
    fn note_words<const N: usize>(&self, word: u64, more: [u64; N]) {
        if (self.last.get() == NEVER || !self.desk.is_on()) && !self.goes_on() {
            return;
        }
        if !self.desk.ring.put(word, more) {
            self.miss();
        }
    }

    /// Something about a message that came by this way and is in no envelope.
    #[inline(always)]
    pub(super) fn note_way(&self, item: Item, way: Way) {
        self.tell_untold();
        match way.narrow(item) {
            Some(word) => self.note_words(word, []),
            None => self.note_words(first(item, WIDE, 0), way.wide()),
        }
    }

    /// A message that came by this way is in the envelope of this place.
    #[inline(always)]
    pub(super) fn keep(&self, place: u64, way: Way) {
        self.tell_untold();
        match way.narrow_in(Item::Kept, place) {
            Some((word, number)) => self.note_words(word, [number]),
            None => self.note_words(first(Item::Kept, WIDE, place), way.wide()),
        }
    }

    /// A message that was sent here is told with what comes next, if the call that runs is thought to be short; whether it is.
    #[inline(always)]
    pub(super) fn defers(&self, place: u64) -> bool {
        let defers = place != 0 && self.is_in_short.get();
        if defers {
            self.tell_untold();
            self.untold.set(place);
        }
        defers
    }

    #[inline(always)]
    fn tell_untold(&self) {
        if self.untold.get() != 0 {
            self.tell(self.untold.take());
        }
        // Its envelope may have another message next.
        if self.cause.get() > cause::OVER {
            self.tell_cause(self.cause.get());
        }
    }

    /// A message was sent when the last item with a time was, as far as is known.
    #[inline(never)]
    fn tell(&self, place: u64) {
        match self.last.get() {
            NEVER => self.breaks_off(),
            _ => self.note_next(Item::Made, place, []),
        }
    }

    /// What is called from now on is called by a message that has come by this way, and is in no envelope.
    #[inline(always)]
    pub(super) fn caused_directly(&self, way: Way) {
        self.note_way(Item::CausesDirectly, way);
        self.cause.set(cause::TOLD);
    }

    /// It is called by the message in the envelope of this place, which is in there no more.
    #[inline(always)]
    pub(super) fn caused_in(&self, place: u64) {
        // Mostly it calls one entry, and is told with that.
        if self.cause.get() == cause::NONE && place > cause::OVER {
            self.cause.set(place);
        } else {
            self.note(Item::Causes, place, []);
            self.cause.set(cause::TOLD);
        }
    }

    /// It is called by none in particular.
    #[inline(always)]
    pub(super) fn caused_no_more(&self) {
        match self.cause.get() {
            cause::TOLD => self.cause.set(cause::OVER),
            cause::NONE | cause::WITH_CALL | cause::OVER => self.cause.set(cause::NONE),
            place => {
                self.cause.set(cause::NONE);
                self.note(Item::Taken, place, []);
            }
        }
    }

    /// A call of what is in the envelope of this place, if it is in one, is about to be told; the place to tell.
    #[inline(always)]
    fn caused(&self, place: u64) -> u64 {
        let state = self.cause.get();
        if state == cause::NONE || state == cause::TOLD {
            return place;
        }
        if state > cause::OVER && (place == 0 || place == state) {
            self.cause.set(cause::WITH_CALL);
            return state;
        }
        self.tell_cause(state);
        place
    }

    #[inline(never)]
    fn tell_cause(&self, state: u64) {
        let (place, then) = match state {
            cause::WITH_CALL => (CAUSE_OF_LAST, cause::TOLD),
            cause::OVER => (0, cause::NONE),
            place => (place, cause::TOLD),
        };
        self.cause.set(then);
        self.note(Item::Causes, place, []);
    }

    /// A call begins.
    #[inline(always)]
    pub(super) fn begin(&self, ticks: u64, place: u64, called: Called) -> Begun {
        let place = self.caused(place);
        let row = ShortCalls::row(&called);
        match called.narrow() {
            Some([word, low]) if word == self.called.get() => {
                self.put(Item::BeginsAlike, ticks, place, [low])
            }
            Some(words) => {
                self.put(Item::Begins, ticks, place, words);
                if !self.has_gap.get() {
                    self.called.set(words[0]);
                }
            }
            None => self.put(Item::BeginsWide, ticks, place, called.wide()),
        }
        self.is_in_short.set(self.short_calls.is_short(row));
        Begun { ticks, row }
    }

    /// It ends.
    #[inline(always)]
    pub(super) fn end(&self, ticks: u64, begun: Begun) {
        self.put_next(Item::Ends, ticks, self.untold.take(), []);
        self.short_calls.took(begun.row, ticks.wrapping_sub(begun.ticks));
        // One that it was called in is looked at as if it were long.
        self.is_in_short.set(false);
        self.boundary.set(NonZero::new(ticks));
    }

    /// A record that is not among what happens most.
    pub(super) fn whole(&self, record: Record) {
        self.boundary.set(None);
        self.note(Item::Whole, 0, record.to_words());
    }

    /// Tells that items are missing, if some are; `false` if this one is, too.
    #[cold]
    fn goes_on(&self) -> bool {
        if !self.desk.is_on() {
            self.breaks_off();
            return false;
        }
        if self.has_gap.get() {
            match self.desk.ring.put(first(Item::Gap, 0, 0), []) {
                true => self.has_gap.set(false),
                false => self.miss(),
            }
        }
        !self.has_gap.get()
    }

    /// The same, and tells the time.
    #[cold]
    fn begins_anew(&self, ticks: u64) -> bool {
        if !self.goes_on() {
            return false;
        }
        let has_room = self.desk.ring.put(moment(ticks), []);
        if !has_room {
            self.miss();
        }
        has_room
    }

    /// There is no room for an item.
    #[cold]
    fn miss(&self) {
        self.desk.drop_one();
        self.breaks_off();
    }

    fn breaks_off(&self) {
        self.has_gap.set(true);
        self.last.set(NEVER);
        self.called.set(NOT_CALLED);
    }

    /// A message leaves for the end of a way: the one that was taken last, if so.
    pub(super) fn leaves(&self, ticks: u64, to: PeId, bytes: u64, is_taken: bool) {
        let number = self.channels.borrow_mut().sent(to);
        if self.again.get().is_some() {
            return;
        }
        self.boundary.set(None);
        match (Leaving { to, number, bytes, is_taken }).narrow() {
            Some((place, word)) => self.put(Item::Leaves, ticks, place, [word]),
            None => {
                let sent = Record { wide: to, low: number, high: bytes, ..Record::at(ticks, Kind::Sent) };
                self.note(Item::Whole, is_taken.into(), sent.to_words());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sink::{TraceSettings, TraceSink};
    use super::*;
    use talisman_observe::trace::words::{moment_in, parts_of};

    /// The envelope of what is sent, and that of what calls.
    const SENT: u64 = 0x40;
    const CALLS: u64 = 0x80;

    /// Items, by their places and times, that a PE has put into its ring since the last call.
    fn told(sink: &TraceSink) -> Vec<(Item, u64, u64)> {
        let mut bytes = Vec::new();
        sink.drain(|mut of| _ = of.take(&mut bytes));
        let words: Vec<_> = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let (mut items, mut at, mut ticks) = (Vec::new(), 0, 0);
        while at < words.len() {
            let item = Item::of(words[at]).unwrap();
            let (since, place) = parts_of(words[at]);
            ticks = if item == Item::Moment { moment_in(words[at]) } else { ticks + since };
            if item != Item::Moment {
                items.push((item, place, ticks));
            }
            at += 1 + item.more(words[at]);
        }
        items
    }

    /// A call that takes so long, in which so many messages are sent here, each a tick after the one before.
    fn call(tracer: &Tracer, index: u128, from: u64, ticks: u64, sends: u64) {
        let begun = tracer.begin(from, CALLS, Called { call: 1, chare: 2, index });
        for n in 1..=sends {
            if !tracer.defers(SENT) {
                tracer.put(Item::Made, from + n, SENT, []);
            }
        }
        tracer.end(from + ticks, begun);
    }

    #[test]
    fn in_short_calls_messages_have_no_time_of_their_own() {
        let sink = TraceSink::new(TraceSettings::default());
        let tracer = sink.tracer(0, 0);
        let short = |from, sends| call(&tracer, 7, from, 100, sends);
        use Item::{Begins, BeginsAlike, Ends, Made};
        (0..31).for_each(|n| short(100 * n, 0));
        drop(told(&sink));
        short(3_100, 1);
        assert_eq!(told(&sink), [(BeginsAlike, CALLS, 0), (Made, SENT, 1), (Ends, 0, 100)]);
        short(3_200, 1);
        assert_eq!(told(&sink), [(BeginsAlike, CALLS, 0), (Ends, SENT, 100)]);
        short(3_300, 2);
        assert_eq!(told(&sink), [(BeginsAlike, CALLS, 0), (Made, SENT, 0), (Ends, SENT, 100)]);
        call(&tracer, 1 << 70, 3_400, 5_000, 1);
        assert_eq!(
            told(&sink),
            [(Begins, CALLS, 0), (Ends, SENT, 5_000)],
            "nobody could know that it is long"
        );
        short(8_400, 1);
        assert_eq!(told(&sink), [(Begins, CALLS, 0), (Made, SENT, 1), (Ends, 0, 100)]);
    }

    #[test]
    fn a_message_is_told_before_whatever_else_is() {
        let sink = TraceSink::new(TraceSettings::default());
        let tracer = sink.tracer(0, 0);
        (0..32).for_each(|n| call(&tracer, 7, 100 * n, 100, 0));
        drop(told(&sink));
        let begun = tracer.begin(3_200, CALLS, Called { call: 1, chare: 2, index: 7 });
        assert!(tracer.defers(SENT));
        tracer.whole(Record::at(3_250, Kind::Step));
        let init = tracer.begin(3_260, 0, Called { call: 3, chare: 2, index: 8 });
        tracer.end(3_270, init);
        assert!(!tracer.defers(SENT), "it has taken a call of another");
        tracer.end(3_300, begun);
        let items: Vec<_> = told(&sink).into_iter().map(|(item, place, _)| (item, place)).collect();
        use Item::{Begins, BeginsAlike, Ends, Made, Whole};
        let calls = [(Begins, 0), (Ends, 0), (Ends, 0)];
        assert_eq!(items, [&[(BeginsAlike, CALLS), (Made, SENT), (Whole, 0)][..], &calls].concat());
    }

    #[test]
    fn a_message_that_calls_is_told_with_its_call() {
        let sink = TraceSink::new(TraceSettings::default());
        let tracer = sink.tracer(0, 0);
        let run = |place| {
            let begun = tracer.begin(7, place, Called { call: 1, chare: 2, index: 7 });
            tracer.end(7, begun);
        };
        let items = || -> Vec<_> { told(&sink).into_iter().map(|(item, place, _)| (item, place)).collect() };
        use Item::{Begins, BeginsAlike, Causes, Ends, Made, Taken};
        tracer.caused_in(CALLS);
        run(0);
        tracer.caused_no_more();
        run(0);
        assert_eq!(items(), [(Begins, CALLS), (Ends, 0), (BeginsAlike, 0), (Ends, 0)]);
        tracer.caused_in(CALLS);
        [CALLS, 0, 0].into_iter().for_each(run);
        tracer.caused_no_more();
        run(0);
        let calls = [(BeginsAlike, 0), (Ends, 0)];
        let again = [(BeginsAlike, CALLS), (Ends, 0), (Causes, CAUSE_OF_LAST)];
        assert_eq!(items(), [&again[..], &calls, &calls, &[(Causes, 0)], &calls].concat());
        tracer.caused_in(CALLS);
        tracer.caused_no_more();
        assert_eq!(items(), [(Taken, CALLS)], "it has called nobody");
        tracer.caused_in(CALLS);
        tracer.put(Made, 8, CALLS, []);
        run(0);
        tracer.caused_in(SENT);
        run(0);
        tracer.caused_no_more();
        let other = [&[(Causes, CALLS), (Made, CALLS)][..], &calls, &[(Causes, SENT)], &calls].concat();
        assert_eq!(items(), other, "the envelope has another message");
    }

    #[test]
    fn messages_that_are_sent_again_are_counted_and_not_told() {
        let sink = TraceSink::new(TraceSettings::default());
        let tracer = sink.tracer(0, 0);
        tracer.leaves(1, 3, 8, false);
        tracer.again.set(Some(2));
        tracer.leaves(3, 3, 8, false);
        tracer.again.set(None);
        tracer.leaves(4, 3, 8, false);
        let mut bytes = Vec::new();
        sink.drain(|mut of| _ = of.take(&mut bytes));
        let words: Vec<_> = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let [first, again] = [1, 3].map(|number| Leaving { to: 3, number, bytes: 8, is_taken: false });
        let told = [words[2], words[4]].map(|more| Leaving::of_narrow(0, more));
        assert_eq!(words.len(), 5, "a moment and two items");
        assert_eq!([words[1], words[3]].map(|word| parts_of(word).1), [first.number, again.number]);
        assert_eq!(told, [first, again].map(|leaving| Leaving { number: 0, ..leaving }));
    }

    #[test]
    fn what_a_reader_may_not_know_is_said_again() {
        let sink = TraceSink::new(TraceSettings::default());
        let tracer = sink.tracer(0, 0);
        call(&tracer, 7, 0, 100, 0);
        call(&tracer, 7, 100, 100, 0);
        sink.turn(false);
        call(&tracer, 7, 200, 100, 0);
        sink.turn(true);
        call(&tracer, 7, 300, 100, 0);
        let items: Vec<_> = told(&sink).into_iter().map(|(item, ..)| item).collect();
        use Item::{Begins, BeginsAlike, Ends, Gap};
        assert_eq!(items, [Begins, Ends, BeginsAlike, Ends, Gap, Begins, Ends]);
    }
}
