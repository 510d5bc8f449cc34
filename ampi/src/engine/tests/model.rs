//! Random calls and frames, against matching by brute force.

use proptest::prelude::*;

use super::*;

/// What happens to a rank. Messages are named by the order of their sending among all, receives by that of posting.
#[derive(Clone, Debug)]
enum Event {
    /// The frame of one of the messages that have not come, chosen by this number.
    Arrive(usize),
    Post(Option<Rank>, Option<Tag>),
    /// As `Post`, but the rank waits for it: without a request, if it does not wait for another one.
    Await(Option<Rank>, Option<Tag>),
    Probe(Option<Rank>, Option<Tag>),
    MatchedProbe(Option<Rank>, Option<Tag>),
    /// One of the receives so far, chosen by this number.
    Cancel(usize),
    Move,
}

/// Matching by brute force: lists in order of time, searched from the beginning.
#[derive(Default)]
struct Model {
    come: Vec<Head>,
    messages: Vec<Head>,
    posted: Vec<(usize, Pattern)>,
    matched: Vec<(usize, Head)>,
    next: [u32; 3],
}

impl Model {
    fn arrive(&mut self, head: Head) {
        self.come.push(head);
        while let Some(at) = self.come.iter().position(|h| h.number == self.next[h.source as usize]) {
            let head = self.come.remove(at);
            self.next[head.source as usize] += 1;
            match self.posted.iter().position(|(_, pattern)| pattern.accepts(&head)) {
                Some(at) => self.matched.push((self.posted.remove(at).0, head)),
                None => self.messages.push(head),
            }
        }
    }

    fn find(&self, pattern: Pattern) -> Option<usize> {
        self.messages.iter().position(|head| pattern.accepts(head))
    }

    fn post(&mut self, receive: usize, pattern: Pattern) {
        match self.find(pattern) {
            Some(at) => self.matched.push((receive, self.messages.remove(at))),
            None => self.posted.push((receive, pattern)),
        }
    }

    fn cancel(&mut self, receive: usize) -> bool {
        let before = self.posted.len();
        self.posted.retain(|(posted, _)| *posted != receive);
        self.posted.len() < before
    }
}

fn wildcard<T: std::fmt::Debug + Clone + 'static>(
    of: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Option<T>> {
    prop_oneof![3 => of.prop_map(Some), 1 => Just(None)]
}

fn event() -> impl Strategy<Value = Event> {
    let source = || wildcard(0..3u32);
    let tag = || wildcard(0..3i32);
    prop_oneof![
        6 => any::<usize>().prop_map(Event::Arrive),
        5 => (source(), tag()).prop_map(|(source, tag)| Event::Post(source, tag)),
        2 => (source(), tag()).prop_map(|(source, tag)| Event::Await(source, tag)),
        1 => (source(), tag()).prop_map(|(source, tag)| Event::Probe(source, tag)),
        1 => (source(), tag()).prop_map(|(source, tag)| Event::MatchedProbe(source, tag)),
        1 => any::<usize>().prop_map(Event::Cancel),
        1 => Just(Event::Move),
    ]
}

/// Its length tells a message from all others.
fn message(head: Head, announced: bool) -> Frame<Payload> {
    if announced {
        let send = Token { index: head.bytes as u32, generation: 0 };
        return Frame { head, body: Body::Announce { send, synchronous: false, loan: None } };
    }
    Frame { head, body: Body::Eager(Payload::of(&vec![0; head.bytes as usize])) }
}

/// The engine and the model, side by side.
struct Both {
    rank: Driven,
    model: Model,
    /// The requests of the receives; that which the rank waits for may have none.
    receives: Vec<Option<Token>>,
    /// The receive that the rank waits for.
    awaited: Option<usize>,
    /// How the receives ended, and how they should.
    statuses: Vec<Option<Status>>,
    cancelled: Vec<usize>,
}

impl Both {
    fn apply(&mut self, event: Event, coming: &mut Vec<(Head, bool)>) {
        match event {
            Event::Arrive(which) if !coming.is_empty() => {
                let (head, announced) = coming.remove(which % coming.len());
                self.model.arrive(head);
                self.come(head, message(head, announced));
            }
            Event::Post(source, tag) => {
                self.model.post(self.receives.len(), pattern(source, tag));
                let token = self.rank.receive(source, tag, 100);
                self.add(Some(token));
            }
            Event::Await(source, tag) if self.awaited.is_some() || self.has_for(pattern(source, tag)) => {
                return self.apply(Event::Post(source, tag), coming);
            }
            Event::Await(source, tag) => {
                self.model.post(self.receives.len(), pattern(source, tag));
                self.rank.engine.await_message(pattern(source, tag), memory(100));
                self.awaited = Some(self.receives.len());
                self.add(None);
            }
            Event::Probe(source, tag) => {
                let wanted = pattern(source, tag);
                let expected = self.model.find(wanted).map(|at| of(&self.model.messages[at]));
                assert_eq!(self.rank.engine.probe(&wanted), expected);
            }
            Event::MatchedProbe(source, tag) => self.matched_probe(pattern(source, tag)),
            Event::Cancel(which) if !self.receives.is_empty() => {
                let which = which % self.receives.len();
                let Some(token) = self.receives[which] else { return };
                if self.model.cancel(which) {
                    self.cancelled.push(which);
                }
                self.rank.engine.cancel(token, &mut self.rank.out).ok();
            }
            Event::Move => self.rank.moved(),
            Event::Arrive(_) | Event::Cancel(_) => {}
        }
        self.settle();
    }

    /// Half of the whole messages go to their receives at once, if they can.
    fn come(&mut self, head: Head, frame: Frame<Payload>) {
        let is_whole = matches!(frame.body, Body::Eager(_)) && head.bytes.is_multiple_of(2);
        match is_whole.then(|| self.rank.engine.meet(&head, head.bytes)).flatten() {
            Some((met, into)) => self.rank.engine.met(&head, met, &into, &mut self.rank.out),
            None => self.rank.frame(frame),
        }
    }

    fn has_for(&self, wanted: Pattern) -> bool {
        let has = self.model.find(wanted).is_some();
        assert_eq!(self.rank.engine.has_for(&wanted), has);
        has
    }

    fn add(&mut self, token: Option<Token>) {
        self.receives.push(token);
        self.statuses.push(None);
    }

    fn matched_probe(&mut self, wanted: Pattern) {
        let expected = self.model.find(wanted).map(|at| self.model.messages.remove(at));
        let found = self.rank.engine.matched_probe(&wanted);
        assert_eq!(found.map(|(_, status)| status), expected.as_ref().map(of));
        if let (Some((held, _)), Some(head)) = (found, expected) {
            self.model.matched.push((self.receives.len(), head));
            let (engine, out) = (&mut self.rank.engine, &mut self.rank.out);
            let token = engine.receive_held(held, memory(100), USER, out).expect("it was held just now");
            self.add(Some(token));
        }
    }

    /// Answers pulls at once, and notes how receives have ended.
    fn settle(&mut self) {
        for action in self.rank.actions() {
            if let Action::Send { to, frame: Frame { body: Body::Pull { send, receive }, .. } } = action {
                let bytes = u64::from(send.index);
                let data = Body::Data { receive, payload: Payload::of(&vec![0; send.index as usize]) };
                self.rank.frame(Frame { head: head(to, 0, 0, bytes), body: data });
            }
        }
        for (token, seen) in self.receives.iter().zip(&mut self.statuses) {
            if let Some(Ok(Some(status))) = token.map(|token| self.rank.engine.test(token)) {
                *seen = Some(status);
            }
        }
        if let Some(at) = self.awaited.filter(|_| self.rank.engine.waits_for().is_none()) {
            self.awaited = None;
            self.statuses[at] =
                Some(self.rank.engine.end_awaited().expect("the rank waits for nothing else"));
        }
    }

    fn check(&self) {
        let expected = |at: usize| match self.model.matched.iter().find(|(receive, _)| *receive == at) {
            Some((_, head)) => Some(of(head)),
            None => self.cancelled.contains(&at).then_some(Status::CANCELLED),
        };
        let all: Vec<_> = (0..self.receives.len()).map(expected).collect();
        assert_eq!(self.statuses, all);
        let lengths = |mut all: Vec<u64>| {
            all.sort_unstable();
            all
        };
        let left = lengths(self.rank.engine.unexpected().map(|head| head.bytes).collect());
        assert_eq!(left, lengths(self.model.messages.iter().map(|head| head.bytes).collect()));
    }
}

fn of(head: &Head) -> Status {
    status(head.source, head.tag, head.bytes)
}

fn run(messages: Vec<(Rank, Tag, bool)>, events: Vec<Event>) {
    let mut numbers = [0; 3];
    let mut coming: Vec<(Head, bool)> = Vec::new();
    for (at, (source, tag, announced)) in messages.into_iter().enumerate() {
        let number = &mut numbers[source as usize];
        coming.push((head(source, tag, *number, at as u64), announced));
        *number += 1;
    }
    let (rank, model) = (Driven::new(9), Model::default());
    let mut both = Both { rank, model, receives: vec![], awaited: None, statuses: vec![], cancelled: vec![] };
    let rest = (0..coming.len()).map(|_| Event::Arrive(0));
    for event in events.into_iter().chain(rest) {
        both.apply(event, &mut coming);
    }
    both.check();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn matching_is_as_by_brute_force(
        messages in prop::collection::vec((0..3u32, 0..3i32, any::<bool>()), 0..25),
        events in prop::collection::vec(event(), 0..60),
    ) {
        run(messages, events);
    }
}
