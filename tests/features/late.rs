//! Members of groups on nodes that are added: every reduction ends, whatever makes the others contribute, and has the contributions of
//! the same round in it.

use std::time::Duration;

use talisman::prelude::*;

const ROUNDS: u64 = 10;
/// Contributions of each member in a round, where there are several.
const PARTS: u64 = 3;

/// How members come to contribute once a round has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pup)]
enum Manner {
    /// At once.
    #[default]
    AtOnce,
    /// After a time that differs from member to member.
    Timer,
    /// After a few messages to itself.
    Hops,
    /// In an async entry that waits for a message from elsewhere.
    Waiting,
    /// Several times: at once, after messages, after a time.
    Several,
    /// In an async entry that goes on from round to round: members that come later are told nothing.
    Loop,
    /// Each round begins before the one before it has ended.
    Overlapping,
}

#[derive(clap::Parser, Clone, Copy, Pup)]
struct Plan {
    #[arg(skip)]
    manner: Manner,
}

/// How many contributed, and the least and the greatest of what they contributed.
type Sums = (u64, u64, u64);

#[derive(Pup)]
struct Member {
    manner: Manner,
    to: Callback<Sums>,
}

/// What a lost member sends itself in its last entries comes to its acting node: each says whose message it is.
#[chare(group)]
impl Member {
    /// All are there.
    #[init]
    fn new(cx: &mut Cx<Self>, manner: Manner, to: Callback<Sums>) -> Self {
        let me = Member { manner, to };
        me.contribute(cx, 0);
        me
    }

    fn contribute(&self, cx: &mut Cx<Self>, what: u64) {
        cx.contribute((1_u64, what, what), (Sum, Min, Max), self.to.clone());
    }

    #[entry]
    fn begin(&mut self, cx: &mut Cx<Self>, round: u64) {
        match self.manner {
            Manner::AtOnce => self.contribute(cx, round),
            Manner::Timer | Manner::Overlapping => cx.me().later(cx.index(), round),
            Manner::Hops => cx.me().hop(cx.index(), round, 3),
            Manner::Waiting => cx.me().wait(cx.index(), round),
            Manner::Several => {
                self.contribute(cx, PARTS * round);
                cx.me().go_on(cx.index(), PARTS * round + 1);
            }
            Manner::Loop => {}
        }
    }

    #[entry]
    async fn later(&mut self, cx: &mut Cx<Self>, whose: u32, what: u64) {
        if whose != cx.index() {
            return;
        }
        cx.sleep(Duration::from_micros(30 * (1 + u64::from(cx.pe()) % 3))).await;
        self.contribute(cx, what);
    }

    #[entry]
    fn hop(&mut self, cx: &mut Cx<Self>, whose: u32, round: u64, left: u64) {
        match left {
            _ if whose != cx.index() => {}
            0 => self.contribute(cx, round),
            _ => cx.me().hop(whose, round, left - 1),
        }
    }

    #[entry]
    async fn wait(&mut self, cx: &mut Cx<Self>, whose: u32, round: u64) {
        if whose != cx.index() {
            return;
        }
        cx.when(Self::opened, round).await;
        self.contribute(cx, round);
    }

    #[entry]
    fn opened(round: u64);

    #[entry]
    fn go_on(&mut self, cx: &mut Cx<Self>, whose: u32, what: u64) {
        if whose == cx.index() {
            self.contribute(cx, what);
            cx.me().later(whose, what + 1);
        }
    }

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) {
        for round in 1..=ROUNDS {
            self.contribute(cx, round);
            cx.when(Self::opened, round).await;
        }
    }

    #[entry]
    fn one(&mut self) -> u64 {
        1
    }
}

#[derive(Pup)]
struct Main {
    manner: Manner,
    members: Group<Member>,
    /// What all have contributed.
    reductions: u64,
    /// How many did so the last time.
    last: u64,
}

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, plan: Plan) -> Self {
        let manner = plan.manner;
        let members: Group<Member> = Member::group().new(manner, cx.callback(Self::reduced));
        Main { manner, members, reductions: 0, last: 0 }
    }

    #[entry]
    fn reduced(&mut self, cx: &mut Cx<Self>, sums: Sums) {
        let (count, least, most) = sums;
        assert!((1..=u64::from(cx.pes())).contains(&count), "{count} members");
        if self.manner != Manner::Overlapping {
            assert_eq!((least, most), (self.expected(), self.expected()), "of {count} members");
        }
        (self.reductions, self.last) = (self.reductions + 1, count);
        let first = self.reductions == 1;
        let in_round = if self.manner == Manner::Several { PARTS } else { 1 };
        let (rounds, parts) = ((self.reductions - 1) / in_round, (self.reductions - 1) % in_round);
        match self.manner {
            _ if rounds == ROUNDS => {
                let ended = cx.callback(Self::ended);
                self.members.one().reduce(Sum).reply(ended);
            }
            Manner::Loop if first => self.members.run().ignore(),
            Manner::Loop => self.members.opened(rounds),
            Manner::Overlapping if first => (1..=2).for_each(|round| self.members.begin(round).ignore()),
            Manner::Overlapping if rounds + 2 <= ROUNDS => self.members.begin(rounds + 2).ignore(),
            Manner::Overlapping => {}
            _ if parts == 0 || first => {
                self.members.begin(rounds + 1);
                (0..cx.pes()).for_each(|pe| self.members.on(pe).opened(rounds + 1));
            }
            _ => {}
        }
    }

    /// What every member contributes to the next reduction.
    fn expected(&self) -> u64 {
        match self.manner {
            Manner::Several if self.reductions > 0 => self.reductions - 1 + PARTS,
            _ => self.reductions,
        }
    }

    #[entry]
    fn ended(&mut self, cx: &mut Cx<Self>, members: u64) {
        writeln!(cx.output(), "{} of {members}", self.last);
        cx.exit();
    }
}

/// How often all members that were there at the end took part in the last reduction, after some had been added.
fn run(manner: Manner) -> u32 {
    let mut all = 0;
    for seed in 0..150 {
        let lost: &[u32] = [&[0][..], &[1], &[3], &[0, 1], &[1, 2], &[0, 2, 3]][seed as usize % 6];
        let test = talisman::testing::Test::new().pes(2).simulated(4, seed);
        let test = test.going_back(1 + seed / 6 * 5 % 90, lost).growing(seed * 7 % 180, lost);
        // And once more, with what came among what is saved; or lost again.
        let test = match seed % 3 {
            0 => test.going_back(seed % 50, &[]),
            1 => test.going_back(seed % 70, lost).growing(seed % 60, lost),
            _ => test,
        };
        let tested = test.run::<Main>((Plan { manner },));
        crate::common::assert_ended_well(&format!("{manner:?}, with {lost:?} again, seed {seed}"), &tested);
        all += u32::from(tested.output == ["8 of 8"]);
    }
    all
}

macro_rules! manners {
    ($($name:ident $manner:ident)*) => { $(
        #[test]
        fn $name() {
            let all = run(Manner::$manner);
            assert!(all > 50, "all members took part in {all} of 150");
        }
    )* };
}

manners! {
    they_take_part_at_once AtOnce
    they_take_part_where_members_wait_for_a_time Timer
    they_take_part_where_members_are_busy Hops
    they_take_part_where_members_wait_for_messages Waiting
    they_take_part_where_several_reductions_are_open Several
}

#[test]
fn nobody_waits_for_members_that_are_told_nothing() {
    run(Manner::Loop);
}

#[test]
fn rounds_may_overlap() {
    run(Manner::Overlapping);
}
