//! Proxies as values, and entries that return values.

mod proxies {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Leaf {
        parent: Option<Proxy<Root>>,
    }

    #[chare(array1d)]
    impl Leaf {
        #[init]
        fn new() -> Self {
            Leaf { parent: None }
        }

        #[entry]
        fn adopt(&mut self, cx: &mut Cx<Self>, by: Proxy<Root>, to: u32) {
            self.parent = Some(by);
            cx.migrate_to(to % cx.pes());
        }

        #[entry]
        fn report(&mut self, cx: &mut Cx<Self>, group: Group<Board>, others: Vec<Proxy<Leaf>>) {
            let me = cx.me();
            assert_eq!(me.index(), cx.index());
            assert!(others.contains(&me), "a proxy equals one that travelled");
            group.here().note(1);
            self.parent.expect("adopted before").reported(me, Some(cx.array()));
        }
    }

    #[derive(Pup)]
    struct Board {
        notes: u32,
    }

    #[chare(group)]
    impl Board {
        #[init]
        fn new() -> Self {
            Board { notes: 0 }
        }

        #[entry]
        fn note(&mut self, n: u32) {
            self.notes += n;
        }

        #[entry]
        fn notes(&mut self) -> u32 {
            self.notes
        }
    }

    #[derive(Pup)]
    struct Root {
        leaves: Array<Leaf>,
        board: Group<Board>,
        reported: Vec<i32>,
        done: Option<Callback<Vec<i32>>>,
    }

    #[chare(single)]
    impl Root {
        #[init]
        fn new(leaves: Array<Leaf>, board: Group<Board>) -> Self {
            Root { leaves, board, reported: vec![], done: None }
        }

        #[entry]
        fn run(&mut self, cx: &mut Cx<Self>, done: Callback<Vec<i32>>) {
            self.done = Some(done);
            let all: Vec<_> = (0..9).map(|i| self.leaves.at(i)).collect();
            for (to, leaf) in all.iter().enumerate() {
                leaf.adopt(cx.me(), to as u32);
            }
            all[0].index();
            cx.migrate_to(cx.pes() - 1);
            cx.me().ask(all);
        }

        #[entry]
        async fn ask(&mut self, cx: &mut Cx<Self>, all: Vec<Proxy<Leaf>>) {
            cx.quiescence().await;
            self.leaves.report(self.board, all);
        }

        #[entry]
        fn reported(&mut self, leaf: Proxy<Leaf>, of: Option<Array<Leaf>>) {
            assert_eq!(of, Some(self.leaves));
            self.reported.push(leaf.index());
            if self.reported.len() == 9 {
                self.reported.sort();
                self.done.take().unwrap().send(self.reported.clone());
            }
        }
    }

    #[derive(Pup)]
    struct Main {
        board: Group<Board>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let board = Board::group().new();
            Root::chare().new(Leaf::array(9).new(), board).run(cx.callback(Self::done));
            Main { board }
        }

        #[entry]
        fn done(&mut self, cx: &mut Cx<Self>, who: Vec<i32>) {
            writeln!(cx.output(), "{who:?}");
            self.board.notes().reduce(Sum).reply(cx.callback(Self::noted));
        }

        #[entry]
        fn noted(&mut self, cx: &mut Cx<Self>, notes: u32) {
            writeln!(cx.output(), "{notes} notes");
            cx.exit();
        }
    }

    #[test]
    fn are_values() {
        crate::common::same_everywhere::<Main, _>(|| (), &["[0, 1, 2, 3, 4, 5, 6, 7, 8]", "9 notes"]);
    }
}

mod calls {
    use talisman::prelude::*;

    #[derive(Pup, Debug, PartialEq)]
    enum Answer {
        Text(String),
        Numbers { all: Vec<u64> },
    }

    #[derive(Pup)]
    struct Server {
        calls: u32,
    }

    #[chare(array1d)]
    impl Server {
        #[init]
        fn new() -> Self {
            Server { calls: 0 }
        }

        #[entry]
        fn text(&mut self, n: u64) -> Answer {
            self.calls += 1;
            Answer::Text("x".repeat(n as usize))
        }

        /// Asks others, and itself, before it answers.
        #[entry]
        async fn numbers(&mut self, cx: &mut Cx<Self>, below: u64) -> Answer {
            let mut all: Vec<u64> = vec![];
            for n in 0..below {
                let to: i32 = (cx.index() + n as i32) % 5;
                let square: u64 = cx.array().at(to).square(n).await;
                all.push(square);
            }
            let own: u64 = cx.me().square(100).await;
            all.push(own);
            self.calls += 1;
            Answer::Numbers { all }
        }

        #[entry]
        fn square(&mut self, n: u64) -> u64 {
            self.calls += 1;
            n * n
        }

        #[entry]
        fn calls(&mut self) -> u32 {
            self.calls
        }

        #[entry(ack)]
        fn moved(&mut self, cx: &mut Cx<Self>) {
            cx.migrate_to((cx.pe() + 1) % cx.pes());
        }
    }

    #[derive(Pup)]
    struct Main {
        servers: Array<Server>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let servers = Server::array(5).new();
            cx.me().run();
            Main { servers }
        }

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) {
            for i in 0..5 {
                let text: Answer = self.servers.at(i).text(i as u64).await;
                assert_eq!(text, Answer::Text("x".repeat(i as usize)));
                self.servers.at(i).moved().await;
                let numbers: Answer = self.servers.at(i).numbers(4).await;
                assert_eq!(numbers, Answer::Numbers { all: vec![0, 1, 4, 9, 10_000] });
                self.servers.at(i).square(7).ignore();
            }
            self.servers.square(3).ignore();
            cx.quiescence().await;
            self.servers.at(4).square(12).reply(cx.callback(Self::squared));
            let squared = cx.when(Self::squared).await;
            self.servers.calls().reduce(Sum).reply(cx.callback(Self::counted));
            let counted = cx.when(Self::counted).await;
            writeln!(cx.output(), "{counted} calls, {squared}");
            cx.exit();
        }

        #[entry]
        fn counted(n: u32);

        #[entry]
        fn squared(n: u64);
    }

    #[test]
    fn are_answered() {
        // Each of five: text, numbers, its five squares, the one ignored, the broadcast. And the last.
        crate::common::same_everywhere::<Main, _>(|| (), &["46 calls, 144"]);
    }
}
