//! Objects that hold more than plain values: held where they are, told that they depart, asked what they wait for.

mod held {
    use talisman::launch::options::Transport;
    use talisman::prelude::*;
    use talisman::testing::Test;

    #[derive(Pup)]
    struct Holder {
        departures: u32,
    }

    #[chare(array1d)]
    impl Holder {
        #[init]
        fn new() -> Self {
            Holder { departures: 0 }
        }

        #[departs]
        fn departs(&mut self) {
            self.departures += 1;
        }

        #[entry]
        fn hold(&mut self, cx: &mut Cx<Self>) {
            cx.hold(true);
            cx.migrate_to(1);
        }

        #[entry]
        fn let_go(&mut self, cx: &mut Cx<Self>) {
            cx.hold(false);
        }

        #[entry]
        fn seen(&mut self, cx: &mut Cx<Self>) -> (u32, u32) {
            (cx.pe(), self.departures)
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let holder: Proxy<Holder> = Holder::array(1).map(Map::Block).new().at(0);
        holder.hold();
        let held: (u32, u32) = holder.seen().await;
        holder.let_go();
        cx.quiescence().await;
        let moved: (u32, u32) = holder.seen().await;
        writeln!(cx.output(), "{held:?} {moved:?}");
    }

    fn output(test: Test) -> Vec<String> {
        let tested = test.run::<__Main>(());
        crate::common::assert_ended_well("held", &tested);
        tested.output.clone()
    }

    #[test]
    fn objects_move_when_they_are_let_go() {
        // Within a node it takes its memory along; to another node it is packed.
        assert_eq!(output(Test::new().pes(2)), ["(0, 0) (1, 0)"]);
        assert_eq!(output(Test::new().nodes(2, Transport::Shm)), ["(0, 0) (1, 1)"]);
        for seed in 0..5 {
            assert_eq!(output(Test::new().simulated(2, seed)), ["(0, 0) (1, 1)"]);
            assert_eq!(output(Test::new().simulated(2, seed).verifying_replay()), ["(0, 0) (1, 1)"]);
        }
    }

    #[test]
    fn objects_do_not_depart_for_a_checkpoint() {
        use talisman::launch::checkpoints::{CkptEvery, FaultTolerance};
        let every = CkptEvery::Time(std::time::Duration::from_micros(20));
        let often = |test: Test| {
            test.with_options(|options| {
                (options.ft, options.ckpt_every) = (FaultTolerance::Double, Some(every));
            })
        };
        for seed in 0..5 {
            let test = often(Test::new().simulated(2, seed));
            assert_eq!(output(test), ["(0, 0) (1, 1)"], "seed {seed}");
        }
    }
}

mod balanced {
    use talisman::launch::balancing::Every;
    use talisman::prelude::*;
    use talisman::testing::Test;

    #[derive(Pup)]
    struct Holder;

    #[chare(array1d)]
    impl Holder {
        #[init]
        fn new() -> Self {
            Holder
        }

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) -> u32 {
            cx.hold(cx.index() < 2);
            cx.set_load(1.0);
            cx.at_sync().await;
            cx.pe()
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let holders: Array<Holder> = Holder::sparse();
        (0..4).for_each(|index| {
            holders.insert(index).on(0).new();
        });
        holders.done_inserting();
        let places: Vec<u32> = holders.run().reduce(Concat).await;
        writeln!(cx.output(), "{places:?}");
    }

    #[test]
    fn around_what_is_held() {
        let tested = Test::new().simulated(2, 1).balancing("greedy", Every::Sync).run::<__Main>(());
        crate::common::assert_ended_well("balanced", &tested);
        assert_eq!(tested.output, ["[0, 0, 1, 1]"]);
    }
}

mod waiting {
    use talisman::chare::Waiting;
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Rank;

    #[chare(array1d)]
    impl Rank {
        #[init]
        fn new() -> Self {
            Rank
        }

        #[waits]
        fn waits(&self) -> Vec<Waiting> {
            vec![Waiting::new("rank", "`recv` from 3", String::from("solve.c"), 17)]
        }

        #[entry]
        fn never(&mut self) {}
    }

    #[derive(Pup)]
    struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new() -> Self {
            let _: Array<Rank> = Rank::array(2).new();
            Main
        }
    }

    #[test]
    fn objects_say_what_for() {
        let parts = ["Rank[1]", "rank waits for `recv` from 3 (solve.c:17)"];
        crate::common::fails_everywhere::<Main, _>(|| (), 1, &parts);
    }
}
