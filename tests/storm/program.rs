//! A program that does everything at once, at random.

use std::time::Duration;

use talisman::prelude::*;
use talisman::rng::Rng;

use super::ledger::{self, Cast, Counted, Ledger};

/// The size of a storm.
#[derive(Clone, Copy, Debug, Pup, clap::Parser)]
pub struct Plan {
    #[arg(skip)]
    pub job: u64,
    #[arg(skip)]
    pub seed: u64,
    /// Elements that stay; others come and go.
    #[arg(skip)]
    pub core: i32,
    #[arg(skip)]
    pub rounds: u32,
    #[arg(skip)]
    pub sparse: bool,
    /// Elements may be inserted again after they were destroyed.
    #[arg(skip)]
    pub again: bool,
    #[arg(skip)]
    pub end: End,
}

/// How it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pup)]
pub enum End {
    #[default]
    Calm,
    /// In the middle, when this round is reached.
    Exit(u32),
    Fail(u32),
    Panic(u32),
}

/// The count after which nobody moves any more.
const LAST_COUNT: u32 = u32::MAX;

impl Plan {
    fn ledger(&self) -> std::sync::Arc<Ledger> {
        ledger::of(self.job)
    }
}

#[derive(Pup)]
pub struct Member {
    plan: Plan,
    /// Unlike `cx.rng()`, not the same again in another element of its index.
    rng: Rng,
    /// The next round that it has to hear of.
    next: u32,
    /// Contributions that it has yet to make.
    owed: u32,
    value: Counted,
    /// Read-only values of the last two rounds, which may not be known yet where it moves or where it is told of them.
    news: [Option<Shared<u64>>; 2],
    /// From now on it stays where it is.
    calm: bool,
    /// Of messages to each in calm weather.
    said: Vec<(i32, u32)>,
    heard: Vec<(i32, u32)>,
}

#[chare(array1d)]
impl Member {
    #[init]
    fn first(cx: &mut Cx<Self>, plan: Plan) -> Self {
        Member::born(cx, plan)
    }

    #[init]
    fn newborn(cx: &mut Cx<Self>, plan: Plan, round: u32) -> Self {
        let mut me = Member { next: round + 1, owed: 1, ..Member::born(cx, plan) };
        cx.me().settle(round, plan.ledger().send(), Counted::new(plan.job));
        me.wander(cx);
        me
    }

    /// It may move on at once, before anybody has heard that it is here.
    #[restored]
    fn restored(&mut self, cx: &mut Cx<Self>, _why: Restored) {
        if !self.calm {
            self.wander(cx);
        }
    }

    /// A round begins.
    #[entry]
    fn step(&mut self, cx: &mut Cx<Self>, round: u32, news: Shared<u64>) {
        self.hear(round, news);
        self.plan.ledger().cast(Cast::Step(round), cx.index());
        if round < self.next {
            return; // Born in this round.
        }
        if round > self.next {
            self.plan.ledger().violation(format!(
                "{} heard of round {round} before {}",
                cx.index(),
                self.next
            ));
        }
        self.next = round + 1;
        self.owed += 1;
        for _ in 0..self.rng.below(4) {
            self.hop_on(cx, 3);
        }
        if self.is_core(cx) {
            self.do_what_only_the_core_does(cx);
        }
        // What it inserts here is announced later, from wherever it is then.
        if self.rng.below(8) == 0 {
            self.insert_one(cx, round);
        }
        self.wander(cx);
        match self.rng.below(3) {
            0 => cx.me().settle(round, self.plan.ledger().send(), Counted::new(self.plan.job)),
            _ => self.take_part(cx, round),
        }
    }

    /// The contribution to a round, later than other things.
    #[entry]
    fn settle(&mut self, cx: &mut Cx<Self>, round: u32, id: u64, _value: Counted) {
        self.plan.ledger().receive(id, cx.index());
        self.wander(cx);
        self.take_part(cx, round);
    }

    #[entry]
    fn hop(&mut self, cx: &mut Cx<Self>, id: u64, left: u8, _value: Counted) {
        self.plan.ledger().receive(id, cx.index());
        self.wander(cx);
        if left > 0 && self.rng.below(3) > 0 {
            self.hop_on(cx, left - 1);
        }
    }

    #[entry]
    fn tick(&mut self, cx: &mut Cx<Self>, id: u64, _now: ()) {
        self.plan.ledger().receive(id, cx.index());
        self.hop_on(cx, 1);
        self.wander(cx);
    }

    #[entry]
    async fn ask(&mut self, cx: &mut Cx<Self>, id: u64, times: u32) {
        for _ in 0..times {
            let question: u64 = self.rng.below(1 << 40);
            let other = self.some_core();
            let answer: u64 = cx.array().at(other).double(question).await;
            if answer != 2 * question {
                self.plan.ledger().violation(format!("the double of {question} is {answer}"));
            }
            self.wander(cx);
        }
        self.plan.ledger().receive(id, cx.index());
    }

    #[entry]
    fn double(&mut self, cx: &mut Cx<Self>, value: u64) -> u64 {
        self.wander(cx);
        2 * value
    }

    #[entry]
    fn count(&mut self, cx: &mut Cx<Self>, number: u32, _news: Shared<u64>) -> u64 {
        self.plan.ledger().cast(Cast::Count(number), cx.index());
        self.wander(cx);
        self.calm = number == LAST_COUNT;
        1
    }

    #[entry]
    fn part(&mut self, cx: &mut Cx<Self>, part: Section<Self>, number: u32) {
        self.plan.ledger().cast(Cast::Part(number), cx.index());
        self.wander(cx);
        cx.contribute_to(part, 1u64, Sum, Main::main_chare().callback(Main::part).with(number));
    }

    #[entry]
    fn part_count(&mut self, cx: &mut Cx<Self>, number: u32) -> u64 {
        self.plan.ledger().cast(Cast::PartCount(number), cx.index());
        self.wander(cx);
        1
    }

    /// In calm weather nobody moves, and messages between two come in order.
    #[entry]
    fn talk(&mut self, cx: &mut Cx<Self>) {
        for _ in 0..10 {
            let to = self.some_core();
            let number = next_of(&mut self.said, to);
            cx.array().at(to).say(self.plan.ledger().send(), cx.index(), number);
        }
    }

    #[entry]
    fn say(&mut self, cx: &mut Cx<Self>, id: u64, from: i32, number: u32) {
        self.plan.ledger().receive(id, cx.index());
        let expected = next_of(&mut self.heard, from);
        if number != expected {
            let me = cx.index();
            self.plan.ledger().violation(format!("{me} heard {number} of {from} instead of {expected}"));
        }
    }
}

/// The next number of a channel.
fn next_of(channels: &mut Vec<(i32, u32)>, other: i32) -> u32 {
    match channels.iter_mut().find(|channel| channel.0 == other) {
        Some(channel) => {
            channel.1 += 1;
            channel.1
        }
        None => {
            channels.push((other, 0));
            0
        }
    }
}

impl Member {
    fn hear(&mut self, round: u32, news: Shared<u64>) {
        if *news != u64::from(round) {
            self.plan.ledger().violation(format!("the news of round {round} are {}", *news));
        }
        self.news = [Some(news), self.news[0].take()];
    }

    fn born(cx: &Cx<Self>, plan: Plan) -> Self {
        let rng = Rng::new(plan.seed.wrapping_add(plan.ledger().born(cx.index()) << 32));
        Member {
            plan,
            rng,
            next: 0,
            owed: 0,
            value: Counted::new(plan.job),
            news: [None, None],
            calm: false,
            said: vec![],
            heard: vec![],
        }
    }

    fn is_core(&self, cx: &Cx<Self>) -> bool {
        cx.index() < self.plan.core
    }

    fn some_pe(&mut self, cx: &Cx<Self>) -> u32 {
        self.rng.below(cx.pes().into()) as u32
    }

    fn some_core(&mut self) -> i32 {
        self.rng.below(self.plan.core as u64) as i32
    }

    fn hop_on(&mut self, cx: &mut Cx<Self>, left: u8) {
        let to = self.some_core();
        let to = cx.array().at(to);
        let (id, value) = (self.plan.ledger().send(), Counted::new(self.plan.job));
        match cx.rng().below(8) {
            0 => to.expedited().hop(id, left, value),
            1 => to.with_priority(&Priority::int(7)).hop(id, left, value),
            2 => to.with_priority(&Priority::int(-7)).hop(id, left, value),
            _ => to.hop(id, left, value),
        }
    }

    fn wander(&mut self, cx: &mut Cx<Self>) {
        if self.rng.below(3) == 0 {
            let pe = self.some_pe(cx);
            cx.migrate_to(pe);
        }
    }

    fn do_what_only_the_core_does(&mut self, cx: &mut Cx<Self>) {
        let ledger = self.plan.ledger();
        if self.rng.below(4) == 0 {
            let micros = self.rng.below(200);
            cx.after(Duration::from_micros(micros), cx.callback(Self::tick).with(ledger.send()));
        }
        if self.rng.below(4) == 0 {
            let times = 1 + self.rng.below(3) as u32;
            cx.me().ask(ledger.send(), times);
        }
        if self.rng.below(8) == 0 {
            cx.when_idle(cx.callback(Self::tick).with(ledger.send()));
        }
    }

    /// Inserts others, contributes, and perhaps goes.
    fn take_part(&mut self, cx: &mut Cx<Self>, round: u32) {
        for _ in 0..2 {
            if self.rng.below(5) == 0 {
                self.insert_one(cx, round);
            }
        }
        self.owed -= 1;
        let may_go = !self.is_core(cx) && self.owed == 0;
        if may_go && self.rng.below(4) == 0 {
            return self.go(cx);
        }
        let value = self.rng.below(1 << 20) as f64 / 1024.0;
        self.plan.ledger().contribute(round, value);
        let to = Main::main_chare().callback(Main::reduced).with(round);
        cx.contribute((1u64, value), (Sum, Sum), to);
        if may_go && self.rng.below(4) == 0 {
            self.go(cx);
        }
    }

    fn go(&mut self, cx: &mut Cx<Self>) {
        self.plan.ledger().died(cx.index());
        cx.destroy();
    }

    fn insert_one(&mut self, cx: &mut Cx<Self>, round: u32) {
        let index = self.plan.ledger().free_index(self.plan.again && self.rng.below(2) == 0);
        let place = self.some_pe(cx) + self.some_pe(cx);
        let new = cx.array().insert(index);
        match place < cx.pes() {
            true => new.on(place).newborn(self.plan, round),
            false => new.newborn(self.plan, round),
        };
    }
}

#[derive(Pup)]
pub struct Main {
    plan: Plan,
    members: Array<Member>,
    rng: Rng,
    casts: u32,
    /// Results to come: of counts, and of sections.
    wanted: u32,
}

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, plan: Plan) -> Self {
        let members = match plan.sparse {
            false => Member::array(plan.core).first(plan),
            true => {
                let members = Member::sparse();
                for index in 0..plan.core {
                    members.insert(index).first(plan);
                }
                members.done_inserting();
                members
            }
        };
        cx.on_quiescence(cx.callback(Self::quiet));
        let mut main = Main { plan, members, rng: Rng::new(plan.seed), casts: 0, wanted: 0 };
        main.begin(cx);
        main
    }

    #[entry]
    fn reduced(&mut self, cx: &mut Cx<Self>, round: u32, count: u64, sum: f64) {
        self.plan.ledger().reduced(round, count, sum);
        match self.plan.end {
            End::Exit(end) if end == round => return cx.exit(),
            End::Fail(end) if end == round => return cx.fail("as planned"),
            End::Panic(end) if end == round => panic!("as planned"),
            _ => {}
        }
        if self.rng.below(2) == 0 {
            self.count(cx);
        }
        if round + 1 < self.plan.rounds {
            self.step(cx, round + 1);
        }
        // In the midst of everything, which is no good moment for it.
        if self.rng.below(3) == 0 {
            cx.checkpoint(cx.callback(Self::checkpointed).with(self.plan.ledger().send()));
        }
        if self.rng.below(2) == 0 {
            self.count(cx);
        }
        if self.rng.below(2) == 0 {
            self.cast_to_a_part(cx);
        }
    }

    /// Told once in every history, also in one that goes on from this checkpoint. Before, it is not quiet.
    #[entry]
    fn checkpointed(&mut self, id: u64, _now: ()) {
        self.plan.ledger().receive(id, -1);
    }

    #[entry]
    fn counted(&mut self, cx: &mut Cx<Self>, number: u32, count: u64) {
        self.check(Cast::Count(number), count, 0..self.plan.core);
        let _ = cx;
    }

    #[entry]
    fn part(&mut self, number: u32, count: u64) {
        self.check(Cast::Part(number), count, 0..0);
    }

    #[entry]
    fn part_counted(&mut self, number: u32, count: u64) {
        self.check(Cast::PartCount(number), count, 0..0);
    }

    /// Nothing is in flight: only now, and really.
    #[entry]
    fn quiet(&mut self, cx: &mut Cx<Self>) {
        let ledger = self.plan.ledger();
        ledger.quiet("after the storm");
        for round in 0..self.plan.rounds {
            ledger.was_received_by_all(Cast::Step(round), 0..self.plan.core);
        }
        if self.wanted > 0 {
            ledger.violation(format!("quiet, while {} results are missing", self.wanted));
        }
        let news = cx.share(0);
        self.members.count(LAST_COUNT, news).reduce(Sum).reply(cx.callback(Self::all_counted));
    }

    #[entry]
    fn all_counted(&mut self, cx: &mut Cx<Self>, count: u64) {
        let alive = self.plan.ledger().alive();
        if count != alive {
            self.plan.ledger().violation(format!("{count} of {alive} elements are there in the end"));
        }
        cx.on_quiescence(cx.callback(Self::calm));
    }

    #[entry]
    fn calm(&mut self, cx: &mut Cx<Self>) {
        self.members.talk();
        cx.on_quiescence(cx.callback(Self::done));
    }

    #[entry]
    fn done(&mut self, cx: &mut Cx<Self>) {
        self.plan.ledger().quiet("after the talk");
        self.plan.ledger().finish();
        cx.exit();
    }
}

impl Main {
    /// While the news of the array still spreads, its elements hear of broadcasts, move and meet on PEs that do not know it.
    fn begin(&mut self, cx: &mut Cx<Self>) {
        if self.rng.below(2) == 0 {
            self.count(cx);
        }
        self.step(cx, 0);
        for _ in 0..self.rng.below(4) {
            self.count(cx);
        }
    }

    fn step(&mut self, cx: &mut Cx<Self>, round: u32) {
        let news = cx.share(u64::from(round));
        self.members.step(round, news);
    }

    fn next_cast(&mut self) -> u32 {
        self.casts += 1;
        self.wanted += 1;
        self.casts
    }

    fn count(&mut self, cx: &mut Cx<Self>) {
        let number = self.next_cast();
        let news = cx.share(number.into());
        self.members.count(number, news).reduce(Sum).reply(cx.callback(Self::counted).with(number));
    }

    fn cast_to_a_part(&mut self, cx: &mut Cx<Self>) {
        let core = self.plan.core as u64;
        let size = 1 + self.rng.below(core);
        let members: Vec<_> = (0..size).map(|_| self.rng.below(core) as i32).collect();
        let part = self.members.section(members);
        let number = self.next_cast();
        part.part(part, number);
        let number = self.next_cast();
        part.part_count(number).reduce(Sum).reply(cx.callback(Self::part_counted).with(number));
    }

    fn check(&mut self, cast: Cast, count: u64, who: std::ops::Range<i32>) {
        self.wanted -= 1;
        let (ledger, receivers) = (self.plan.ledger(), self.plan.ledger().receivers(cast));
        if count != receivers {
            ledger.violation(format!("{cast:?} was answered by {count}, received by {receivers}"));
        }
        ledger.was_received_by_all(cast, who);
    }
}
