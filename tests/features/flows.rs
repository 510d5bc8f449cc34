//! Async entries, whose objects move in the middle of them.

mod rings {
    use talisman::prelude::*;

    const ALL: i32 = 10;
    const STEPS: u32 = 12;

    #[derive(Pup)]
    struct Worker {
        sum: u64,
        exchanged: u32,
    }

    #[chare(array1d)]
    impl Worker {
        #[init]
        fn new() -> Self {
            Worker { sum: 0, exchanged: 0 }
        }

        #[entry]
        fn left(step: u32, value: u64);

        #[entry]
        fn right(step: u32, value: u64);

        #[entry]
        fn token(n: u32);

        #[entry]
        fn stop(why: String);

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) -> u64 {
            for step in 0..STEPS {
                let value = self.exchange(cx, step).await;
                self.sum += value;
                cx.migrate_to((cx.pe() + cx.index() as u32 + step) % cx.pes());
                if step % 4 == 3 {
                    let all: u64 = cx.all_reduce(self.sum, Sum).await;
                    self.sum += all % 1000;
                    cx.migrate_to((cx.pe() + 1) % cx.pes());
                    cx.barrier().await;
                }
            }
            self.sum
        }

        /// Both neighbours' values, in whatever order they come.
        async fn exchange(&mut self, cx: &mut Cx<Self>, step: u32) -> u64 {
            let at = |shift: i32| cx.array().at((cx.index() + shift).rem_euclid(ALL));
            at(1).left(step, cx.index() as u64);
            at(-1).right(step, self.exchanged as u64);
            let mut sum: u64 = 0;
            cx.overlap(
                async {
                    let value = cx.when(Self::left, step).await;
                    sum += value;
                    cx.migrate_to((cx.pe() + 1) % cx.pes());
                },
                async {
                    let value = cx.when(Self::right, step).await;
                    sum += 100 * value;
                },
            )
            .await;
            self.exchanged += 1;
            sum
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let workers: Array<Worker> = Worker::array(ALL).new();
        let sums: Vec<u64> = workers.run().reduce(Concat).await;
        writeln!(cx.output(), "{}", sums == expected());
    }

    /// What a loop over all of them gives.
    fn expected() -> Vec<u64> {
        let mut sums = vec![0u64; ALL as usize];
        for step in 0..STEPS {
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum += (i as u64 + ALL as u64 - 1) % ALL as u64 + 100 * step as u64;
            }
            if step % 4 == 3 {
                let all: u64 = sums.iter().sum();
                sums.iter_mut().for_each(|sum| *sum += all % 1000);
            }
        }
        sums
    }

    #[test]
    fn of_neighbours_that_move_all_the_time() {
        crate::common::same_everywhere::<__Main, _>(|| (), &["true"]);
    }
}

mod early {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Late {
        seen: Vec<u32>,
    }

    #[chare(single)]
    impl Late {
        #[init]
        fn new() -> Self {
            Late { seen: vec![] }
        }

        #[entry]
        fn item(key: u32, text: String);

        #[entry]
        fn end(n: usize);

        /// Takes keys downwards although they come upwards; then the rest in the order of arrival.
        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>, from: u32) -> Vec<u32> {
            for key in 0..from {
                let key: u32 = from - 1 - key;
                cx.migrate_to((cx.pe() + 1) % cx.pes());
                let text = cx.when(Self::item, key).await;
                assert_eq!(text, format!("item {key}"));
                self.seen.push(key);
            }
            let mut others: usize = 0;
            'others: loop {
                match cx.when_any().await {
                    Self::item(key, _) if key % 2 == 1 => self.seen.push(key),
                    Self::item(key, text) if text.len() > 10 => {
                        assert_eq!(text, format!("item {key} is long"));
                        self.seen.push(1000 + key);
                        cx.migrate_to((cx.pe() + 1) % cx.pes());
                    }
                    Self::end(n) if n == others => break 'others,
                }
                others += 1;
            }
            std::mem::take(&mut self.seen)
        }
    }

    #[derive(Pup)]
    struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            cx.me().run();
            Main
        }

        #[entry]
        fn seen(keys: Vec<u32>);

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) {
            let late: Proxy<Late> = Late::chare().on(cx.pes() - 1).new();
            for key in 0..5u32 {
                late.item(key, format!("item {key}"));
            }
            late.end(4);
            for key in 20..23u32 {
                cx.quiescence().await;
                late.item(key, if key == 22 { "item 22 is long".into() } else { "short".into() });
            }
            cx.quiescence().await;
            late.run(5).reply(cx.callback(Self::seen));
            cx.quiescence().await;
            late.item(23, "odd".into());
            cx.quiescence().await;
            late.item(24, "item 24 is long".into());
            let seen = cx.when(Self::seen).await;
            writeln!(cx.output(), "{seen:?}");
            cx.exit();
        }
    }

    #[test]
    fn messages_are_kept() {
        crate::common::same_everywhere::<Main, _>(|| (), &["[4, 3, 2, 1, 0, 21, 1022, 23, 1024]"]);
    }
}

mod questions {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Asker;

    #[chare(array1d)]
    impl Asker {
        #[init]
        fn new() -> Self {
            Asker
        }

        #[entry]
        fn half(&mut self, n: u32) -> Result<u32, String> {
            if n.is_multiple_of(2) { Ok(n / 2) } else { Err(format!("{n} is odd")) }
        }

        #[entry]
        async fn halve(&mut self, cx: &mut Cx<Self>, n: u32) -> Result<u32, String> {
            let mut n: u32 = n;
            let mut times: u32 = 0;
            while n > 1 {
                let to: i32 = (cx.index() + 1) % 4;
                let half: Result<u32, String> = cx.array().at(to).half(n).await;
                n = half?;
                times += 1;
                cx.migrate_to((cx.pe() + 1) % cx.pes());
            }
            Ok(times)
        }

        /// A subroutine that calls itself.
        #[entry]
        async fn depth(&mut self, cx: &mut Cx<Self>, n: u32) -> u32 {
            let depth = self.below(cx, n).await;
            depth
        }

        async fn below(&mut self, cx: &mut Cx<Self>, n: u32) -> u32 {
            if n == 0 {
                return 0;
            }
            let _: Result<u32, String> = cx.me().half(n).await;
            cx.migrate_to((cx.pe() + 1) % cx.pes());
            let deeper = self.below(cx, n - 1).await;
            deeper + 1
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let array: Array<Asker> = Asker::array(4).new();
        let good: Result<u32, String> = array.at(0).halve(1 << 9).await;
        let bad: Result<u32, String> = array.at(1).halve(24).await;
        let depth: u32 = array.at(2).depth(7).await;
        let small = 1e-3;
        writeln!(cx.output(), "{good:?} {bad:?} {depth} {small:.1e}");
    }

    #[test]
    fn errors_and_subroutines() {
        crate::common::same_everywhere::<__Main, _>(|| (), &[r#"Ok(9) Err("3 is odd") 7 1.0e-3"#]);
    }
}

mod many_at_once {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Server;

    #[chare(single)]
    impl Server {
        #[init]
        fn new() -> Self {
            Server
        }

        #[entry]
        fn key(n: u64, value: u64);

        /// Several of these run at once, each waiting for its own key.
        #[entry]
        async fn serve(&mut self, cx: &mut Cx<Self>, n: u64) -> u64 {
            let first = cx.when(Self::key, n).await;
            cx.migrate_to((cx.pe() + 1) % cx.pes());
            let second = cx.when(Self::key, n + 1000).await;
            first + second
        }
    }

    #[derive(Pup)]
    struct Client;

    #[chare(array1d)]
    impl Client {
        #[init]
        fn new() -> Self {
            Client
        }

        #[entry]
        async fn ask(&mut self, cx: &mut Cx<Self>, server: Proxy<Server>) -> u64 {
            let me: u64 = cx.index() as u64;
            server.key((me + 1) % 16, 10 * me);
            server.key(1000 + (me + 3) % 16, me);
            let answer: u64 = server.serve(me).await;
            answer
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let answers: Vec<u64> = Client::array(16).new().ask(Server::chare().new()).reduce(Concat).await;
        let expected: Vec<u64> = (0..16).map(|me| 10 * ((me + 15) % 16) + (me + 13) % 16).collect();
        writeln!(cx.output(), "{}", answers == expected);
    }

    #[test]
    fn async_entries_of_one_object() {
        crate::common::same_everywhere::<__Main, _>(|| (), &["true"]);
    }
}
