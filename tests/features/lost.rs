//! What becomes of members of groups on nodes that are lost, where others wait for them.

/// Sections: nobody waits for what lost members would have contributed.
mod sections {
    use talisman::prelude::*;

    const ROUNDS: usize = 8;

    #[derive(Pup)]
    struct Runner;

    #[chare(group)]
    impl Runner {
        #[init]
        fn new() -> Self {
            Runner
        }

        /// Every other one is far ahead of the rest.
        #[entry]
        fn begin(&mut self, cx: &mut Cx<Self>, part: Section<Self>, to: Callback<u64>) {
            let rounds = if cx.index().is_multiple_of(2) { ROUNDS } else { 1 };
            (0..rounds).for_each(|_| cx.contribute_to(part, 1_u64, Sum, to.clone()));
        }

        #[entry]
        fn more(&mut self, cx: &mut Cx<Self>, part: Section<Self>, to: Callback<u64>) {
            if !cx.index().is_multiple_of(2) {
                cx.contribute_to(part, 1_u64, Sum, to);
            }
        }

        #[entry]
        fn one(&mut self) -> u64 {
            1
        }
    }

    #[derive(Pup)]
    struct Main {
        part: Section<Runner>,
        most: u64,
        rounds: usize,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let part: Section<Runner> = Runner::group().new().section(1..cx.pes());
            part.begin(part, cx.callback(Self::contributed));
            Main { part, most: u64::from(cx.pes()) - 1, rounds: 0 }
        }

        /// Who has contributed to a reduction has contributed to all before.
        #[entry]
        fn contributed(&mut self, cx: &mut Cx<Self>, members: u64) {
            assert!((1..=self.most).contains(&members), "{members} of {}", self.most);
            (self.most, self.rounds) = (members, self.rounds + 1);
            if self.rounds < ROUNDS {
                self.part.more(self.part, cx.callback(Self::contributed));
            } else {
                self.part.one().reduce(Sum).reply(cx.callback(Self::answered));
            }
        }

        #[entry]
        fn answered(&mut self, cx: &mut Cx<Self>, members: u64) {
            assert!(members <= self.most, "{members} of {}", self.most);
            writeln!(cx.output(), "{} rounds, {members} left", self.rounds);
            cx.exit();
        }
    }

    #[test]
    fn complete_though_members_are_lost() {
        let mut fewer = 0;
        for seed in 0..120 {
            let lost: &[u32] = [&[0][..], &[1], &[3], &[0, 1], &[1, 2], &[2, 3]][seed as usize % 6];
            let test = talisman::testing::Test::new().pes(2).simulated(4, seed);
            let test = test.going_back(seed * 3, lost);
            // And once more, with what was lost before among what is saved.
            let test = if seed % 2 == 0 { test.going_back(seed % 40, &[]) } else { test };
            let tested = test.run::<Main>(());
            crate::common::assert_ended_well(&format!("without {lost:?}, seed {seed}"), &tested);
            let is_whole = tested.output == ["8 rounds, 7 left"];
            assert!(tested.output[0].starts_with("8 rounds, "), "without {lost:?}, seed {seed}");
            fewer += u32::from(!is_whole);
        }
        assert!(fewer > 40, "{fewer} were in time");
    }
}

/// Who still answers what it had been given rebuilds first what is not packed.
mod rebuilt {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Cook {
        #[pup(skip)]
        is_ready: bool,
    }

    #[chare(group)]
    impl Cook {
        #[init]
        fn new() -> Self {
            Cook { is_ready: true }
        }

        #[restored]
        fn restored(&mut self, _cx: &mut Cx<Self>, _why: Restored) {
            self.is_ready = true;
        }

        #[entry]
        fn serve(&mut self) -> u64 {
            assert!(self.is_ready, "it was not told that it is restored");
            1
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let cooks: Group<Cook> = Cook::group().new();
        let mut served: u64 = u64::from(cx.pes());
        for _ in 0..6 {
            let again: u64 = cooks.serve().reduce(Sum).await;
            assert!((1..=served).contains(&again), "{again} of {served}");
            served = again;
        }
        writeln!(cx.output(), "{served} are left");
    }

    #[test]
    fn lost_members_are_told_that_they_are_restored() {
        for seed in 0..60 {
            let lost: &[u32] = [&[0][..], &[1], &[3], &[0, 1], &[2, 3]][seed as usize % 5];
            let test = talisman::testing::Test::new().pes(2).simulated(4, seed);
            let tested = test.going_back(seed * 2, lost).run::<__Main>(());
            crate::common::assert_ended_well(&format!("without {lost:?}, seed {seed}"), &tested);
        }
        let marks = talisman::sometimes::take_marks();
        assert!(marks.contains_key("a broadcast waited for the end of a checkpoint"), "{marks:#?}");
    }
}

/// Async entries that are in their midst when their PE is lost.
mod answers {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Walker;

    #[chare(group)]
    impl Walker {
        #[init]
        fn new() -> Self {
            Walker
        }

        /// The others' way takes time.
        #[entry]
        async fn walk(&mut self, cx: &mut Cx<Self>, steps: u32) -> u64 {
            for step in 0..steps {
                let next = (cx.index() + step) % cx.pes();
                cx.group().on(next).pass().await;
            }
            1
        }

        #[entry(ack)]
        fn pass(&mut self) {}
    }

    mod reduced {
        use talisman::prelude::*;

        use super::Walker;

        #[talisman::main]
        async fn main(cx: &mut Cx) {
            let walkers: Group<Walker> = Walker::group().new();
            for _ in 0..4 {
                let some: Section<Walker> = walkers.section(1..cx.pes());
                let arrived: u64 = some.walk(6).reduce(Sum).await;
                assert!((1..8).contains(&arrived), "{arrived}");
                let arrived: u64 = walkers.walk(6).reduce(Sum).await;
                assert!((1..=8).contains(&arrived), "{arrived}");
            }
            writeln!(cx.output(), "all that are left have arrived");
        }

        #[test]
        fn they_are_not_waited_for() {
            for seed in 0..60 {
                let lost: &[u32] = [&[0][..], &[1], &[3], &[0, 1], &[2, 3]][seed as usize % 5];
                let test = talisman::testing::Test::new().pes(2).simulated(4, seed);
                let tested = test.going_back(seed * 9, lost).run::<__Main>(());
                crate::common::assert_ended_well(&format!("without {lost:?}, seed {seed}"), &tested);
                assert_eq!(tested.output, ["all that are left have arrived"]);
            }
        }
    }

    mod awaited {
        use talisman::prelude::*;

        use super::Walker;

        #[talisman::main]
        async fn main(cx: &mut Cx) {
            let walkers: Group<Walker> = Walker::group().new();
            for round in 0..10 {
                let arrived: u64 = walkers.on(round % cx.pes()).walk(4).await;
                assert_eq!(arrived, 1);
            }
            writeln!(cx.output(), "all have arrived");
        }

        #[test]
        fn the_job_ends_and_says_whose_answer_is_missing() {
            let mut missing = 0;
            for seed in 0..60 {
                let test = talisman::testing::Test::new().pes(2).simulated(4, seed);
                let tested = test.going_back(seed * 5, &[1, 3]).run::<__Main>(());
                if tested.status == 0 {
                    assert_eq!(tested.output, ["all have arrived"], "seed {seed}");
                    continue;
                }
                missing += 1;
                let message = tested.message.clone().unwrap_or_default();
                assert_eq!(tested.status, 3, "seed {seed}: {message}");
                assert!(message.contains("Walker["), "seed {seed}: {message}");
                assert!(message.contains("in the midst of `walk`"), "seed {seed}: {message}");
            }
            assert!((5..55).contains(&missing), "{missing} of 60");
        }
    }
}

/// Nodes that are added: there is a member on each of their PEs again, which takes part in what the others have before them.
mod added {
    use talisman::prelude::*;

    const ROUNDS: u64 = 12;

    #[derive(Pup)]
    struct Counter;

    #[chare(group)]
    impl Counter {
        #[init]
        fn new(_: &mut Cx<Self>, one: Shared<u64>) -> Self {
            assert_eq!(*one, 1);
            Counter
        }

        #[entry]
        fn count(&mut self, cx: &mut Cx<Self>, round: u64, to: Callback<(u64, u64)>) {
            cx.contribute((1_u64, round), (Sum, Max), to);
        }

        #[entry]
        fn one(&mut self) -> u64 {
            1
        }
    }

    /// One on each node; whoever is lost leaves what it has to another.
    #[derive(Pup)]
    struct Purse {
        coins: u64,
    }

    #[chare(nodegroup)]
    impl Purse {
        #[init]
        fn new() -> Self {
            Purse { coins: 0 }
        }

        #[entry]
        fn give(&mut self, coins: u64) {
            self.coins += coins;
        }

        #[entry]
        fn one(&mut self) -> (u64, u64) {
            (1, self.coins)
        }

        #[lost]
        fn inherit(&mut self, other: Self) {
            self.coins += other.coins;
        }
    }

    #[derive(Pup)]
    struct Main {
        counters: Group<Counter>,
        purses: Group<Purse>,
        round: u64,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let one = cx.share(1_u64);
            let main = Main { counters: Counter::group().new(one), purses: Purse::group().new(), round: 1 };
            main.counters.count(1, cx.callback(Self::counted));
            main
        }

        #[entry]
        fn counted(&mut self, cx: &mut Cx<Self>, counts: (u64, u64)) {
            let (members, round) = counts;
            assert!((1..=u64::from(cx.pes())).contains(&members), "{members} members");
            assert_eq!(round, self.round);
            (0..cx.nodes()).for_each(|node| self.purses.on(node).give(round));
            self.round += 1;
            if self.round <= ROUNDS {
                self.counters.count(self.round, cx.callback(Self::counted));
            } else {
                let rests = cx.callback(Self::rests);
                cx.on_quiescence(rests);
            }
        }

        #[entry]
        fn rests(&mut self, cx: &mut Cx<Self>) {
            self.counters.one().reduce(Sum).reply(cx.callback(Self::answered));
        }

        #[entry]
        fn answered(&mut self, cx: &mut Cx<Self>, members: u64) {
            writeln!(cx.output(), "{members} members");
            self.purses.one().reduce((Sum, Sum)).reply(cx.callback(Self::ended));
        }

        #[entry]
        fn ended(&mut self, cx: &mut Cx<Self>, counts: (u64, u64)) {
            let (nodes, coins) = counts;
            assert_eq!(coins, u64::from(cx.nodes()) * (1..=ROUNDS).sum::<u64>());
            writeln!(cx.output(), "{nodes} nodes");
            cx.exit();
        }
    }

    #[test]
    fn they_have_members_again() {
        let mut again = 0;
        for seed in 0..120 {
            let lost: &[u32] = [&[0][..], &[1], &[3], &[0, 1], &[1, 2], &[0, 2, 3]][seed as usize % 6];
            let test = talisman::testing::Test::new().pes(2).simulated(4, seed);
            let test = test.going_back(20 + seed * 3, lost).growing(seed % 90, lost);
            // And once more, with what came among what is saved.
            let test = if seed % 2 == 0 { test.going_back(seed % 40, &[]) } else { test };
            let tested = test.run::<Main>(());
            crate::common::assert_ended_well(&format!("with {lost:?} again, seed {seed}"), &tested);
            again += u32::from(tested.output == ["8 members", "4 nodes"]);
        }
        assert!(again > 60, "{again} were in time");
    }
}
