//! Quiescence, timers, idle moments.

mod quiescence {
    use talisman::prelude::*;

    /// Sends itself round, moving, and splitting in two.
    #[derive(Pup)]
    struct Ball {
        bounces: u64,
    }

    #[chare(array1d)]
    impl Ball {
        #[init]
        fn new() -> Self {
            Ball { bounces: 0 }
        }

        #[entry]
        fn bounce(&mut self, cx: &mut Cx<Self>, left: u32) {
            self.bounces += 1;
            let pes = cx.pes() as u64;
            let to = cx.rng().below(pes) as u32;
            cx.migrate_to(to);
            if left > 0 {
                for shift in [1, 5] {
                    cx.array().at((cx.index() + shift) % 7).bounce(left - 1);
                }
            }
        }

        #[entry]
        fn bounces(&mut self) -> u64 {
            self.bounces
        }
    }

    #[derive(Pup)]
    struct Main {
        balls: Array<Ball>,
        round: u32,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            cx.me().run();
            Main { balls: Ball::array(7).new(), round: 0 }
        }

        #[entry]
        fn quiet();

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) {
            for round in 1..=4u64 {
                self.balls.at(0).bounce(5);
                if round % 2 == 0 {
                    cx.quiescence().await;
                } else {
                    cx.on_quiescence(cx.callback(Self::quiet));
                    cx.when(Self::quiet).await;
                }
                let bounces: u64 = self.balls.bounces().reduce(Sum).await;
                assert_eq!(bounces, 63 * round);
            }
            // Two at once, and one right after another.
            cx.on_quiescence(cx.callback(Self::quiet));
            cx.quiescence().await;
            cx.when(Self::quiet).await;
            cx.quiescence().await;
            writeln!(cx.output(), "quiet");
            cx.exit();
        }
    }

    #[test]
    fn comes_after_the_last_message() {
        crate::common::same_everywhere::<Main, _>(|| (), &["quiet"]);
    }
}

mod timers {
    use std::time::Duration;

    use talisman::prelude::*;

    #[derive(Pup)]
    struct Sleeper;

    #[chare(array1d)]
    impl Sleeper {
        #[init]
        fn new() -> Self {
            Sleeper
        }

        #[entry]
        async fn sleep(&mut self, cx: &mut Cx<Self>, ms: u64) -> u64 {
            let before: Duration = cx.now();
            cx.migrate_to((cx.pe() + 1) % cx.pes());
            cx.sleep(Duration::from_millis(ms)).await;
            assert!(cx.now() - before >= Duration::from_millis(ms));
            1
        }
    }

    #[derive(Pup)]
    struct Main {
        rang: Vec<u32>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            for ms in [3u32, 1, 2] {
                cx.after(Duration::from_millis(ms as u64), cx.callback(Self::rang).with(ms));
            }
            cx.me().run();
            Main { rang: vec![] }
        }

        #[entry]
        fn rang(&mut self, ms: u32, _again: ()) {
            self.rang.push(ms);
        }

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) {
            // Quiescence waits for timers.
            cx.quiescence().await;
            assert_eq!(self.rang, [1, 2, 3]);
            assert!(cx.now() >= Duration::from_millis(3));
            let slept: u64 = Sleeper::array(5).new().sleep(2).reduce(Sum).await;
            writeln!(cx.output(), "{slept} slept");
            cx.exit();
        }
    }

    #[test]
    fn ring_in_their_order() {
        crate::common::same_everywhere::<Main, _>(|| (), &["5 slept"]);
    }
}

mod idle {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Main {
        worked: u32,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            cx.when_idle(cx.callback(Self::idle));
            cx.me().work(50);
            Main { worked: 0 }
        }

        #[entry]
        fn work(&mut self, cx: &mut Cx<Self>, left: u32) {
            self.worked += 1;
            if left > 1 {
                cx.me().work(left - 1);
            }
        }

        #[entry]
        fn idle(&mut self, cx: &mut Cx<Self>) {
            writeln!(cx.output(), "idle after {}", self.worked);
            cx.exit();
        }
    }

    #[test]
    fn is_when_nothing_waits() {
        crate::common::same_everywhere::<Main, _>(|| (), &["idle after 50"]);
    }
}

mod a_chain {
    use std::time::Duration;

    use talisman::prelude::*;

    /// Hands a parcel on: by a message, by a timer, or when its PE has nothing else to do; and moves each time.
    #[derive(Pup)]
    struct Carrier;

    #[chare(array1d)]
    impl Carrier {
        #[init]
        fn new() -> Self {
            Carrier
        }

        #[entry]
        fn carry(&mut self, cx: &mut Cx<Self>, hops: u32, parcel: Vec<u64>, to: Callback<u64>) {
            let Some(left) = hops.checked_sub(1) else { return to.send(parcel.iter().sum()) };
            let again = cx.me().callback(Self::carry).with(left).with(parcel.clone());
            match hops % 5 {
                1 => cx.after(Duration::from_micros(300), again.with_value(to)),
                3 => cx.when_idle(again.with_value(to)),
                _ => cx.array().at((cx.index() + 2) % 5).carry(left, parcel, to),
            }
            let pes = cx.pes();
            cx.migrate_to((hops + cx.index() as u32) % pes);
        }
    }

    #[derive(Pup)]
    struct Main {
        arrived: u64,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            cx.me().run();
            Main { arrived: 0 }
        }

        #[entry]
        fn arrived(&mut self, sum: u64) {
            self.arrived += sum;
        }

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) {
            let carriers: Array<Carrier> = Carrier::array(5).new();
            for round in 1..=3u64 {
                // One that is lent between nodes, and one that is not.
                carriers.at(0).carry(23, vec![1; 5_000], cx.callback(Self::arrived));
                carriers.at(3).carry(31, vec![2; 3], cx.callback(Self::arrived));
                cx.quiescence().await;
                assert_eq!(self.arrived, round * 5_006, "quiescence came before the last hop");
            }
            writeln!(cx.output(), "arrived");
            cx.exit();
        }
    }

    #[test]
    fn of_messages_timers_and_idle_moments_ends_before_quiescence() {
        crate::common::same_everywhere::<Main, _>(|| (), &["arrived"]);
    }
}
