//! Reductions: every reducer, the same bits in every manner, several at once, over elements that move.

mod reducers {
    use std::collections::BTreeSet;

    use talisman::prelude::*;

    const ALL: i32 = 23;

    /// In the order of contributors.
    #[derive(Pup, Debug, PartialEq, Clone)]
    struct Path(String);

    impl Merge for Path {
        fn merge(&mut self, next: Self) {
            self.0 = format!("({}{})", self.0, next.0);
        }
    }

    /// Values whose naive sum depends on the order.
    fn rough(i: i32) -> f64 {
        let i = i as f64;
        (i * 1.7).sin() * 10f64.powi((i * 3.3) as i32 % 17 - 8)
    }

    fn letter(i: i32) -> Path {
        Path(char::from(b'a' + i as u8).to_string())
    }

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn float(&mut self, cx: &mut Cx<Self>) -> f64 {
            cx.migrate_to((cx.pe() + 1) % cx.pes());
            rough(cx.index())
        }

        #[entry]
        fn int(&mut self, cx: &mut Cx<Self>) -> i64 {
            cx.index() as i64 - 5
        }

        #[entry]
        fn small(&mut self, cx: &mut Cx<Self>) -> u8 {
            1 << (cx.index() % 5)
        }

        #[entry]
        fn truth(&mut self, cx: &mut Cx<Self>) -> bool {
            cx.index() % 3 == 0
        }

        #[entry]
        fn row(&mut self, cx: &mut Cx<Self>) -> Vec<f64> {
            vec![rough(cx.index()), 1.0, -cx.index() as f64]
        }

        #[entry]
        fn pair(&mut self, cx: &mut Cx<Self>) -> (i64, [f64; 2], String) {
            (cx.index() as i64, [rough(cx.index()), 1.0], format!("e{}", cx.index() % 4))
        }

        #[entry]
        fn letter(&mut self, cx: &mut Cx<Self>) -> Path {
            letter(cx.index())
        }

        /// The same by `contribute`.
        #[entry]
        fn contribute(&mut self, cx: &mut Cx<Self>) {
            let (i, to) = (cx.index(), Main::main_chare());
            cx.contribute(rough(i), Sum, to.callback(Main::sum));
            cx.contribute(rough(i), Stats, to.callback(Main::stats));
            cx.contribute(letter(i), Merged, to.callback(Main::merged));
            cx.migrate_to((cx.pe() + i as u32) % cx.pes());
            cx.contribute(letter(i).0, Concat, to.callback(Main::concat));
            cx.contribute(i % 6, Gather::<i32>::default(), to.callback(Main::gather));
            cx.contribute(i % 6, Set, to.callback(Main::set));
            cx.contribute((), Nothing, to.callback(Main::nothing));
            cx.contribute((i, i % 2 == 0, 3u64), (Min, Xor, BitXor), to.callback(Main::both));
        }
    }

    #[derive(Pup)]
    struct Main {
        array: Array<Element>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            cx.me().run();
            Main { array: Element::array(ALL).new() }
        }

        #[entry]
        fn sum(sum: f64);
        #[entry]
        fn stats(stats: Statistics);
        #[entry]
        fn merged(path: Path);
        #[entry]
        fn concat(all: Vec<String>);
        #[entry]
        fn gather(all: Vec<(i32, i32)>);
        #[entry]
        fn set(all: BTreeSet<i32>);
        #[entry]
        fn nothing();
        #[entry]
        fn both(min: i32, odd: bool, bits: u64);

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) {
            let sum: f64 = self.array.float().reduce(Sum).await;
            let product: f64 = self.array.float().reduce(Product).await;
            let least: f64 = self.array.float().reduce(Min).await;
            let most: f64 = self.array.float().reduce(Max).await;
            let bits: Vec<u64> = [sum, product, least, most].map(f64::to_bits).into();
            writeln!(cx.output(), "{bits:x?}");
            let sum: i64 = self.array.int().reduce(Sum).await;
            let least: i64 = self.array.int().reduce(Min).await;
            let most: i64 = self.array.int().reduce(Max).await;
            let product: i64 = self.array.int().reduce(Product).await;
            writeln!(cx.output(), "{sum} {least} {most} {product}");
            let and: u8 = self.array.small().reduce(BitAnd).await;
            let or: u8 = self.array.small().reduce(BitOr).await;
            let xor: u8 = self.array.small().reduce(BitXor).await;
            writeln!(cx.output(), "{and} {or} {xor}");
            let all: bool = self.array.truth().reduce(All).await;
            let any: bool = self.array.truth().reduce(Any).await;
            let odd: bool = self.array.truth().reduce(Xor).await;
            writeln!(cx.output(), "{all} {any} {odd}");
            let row: Vec<f64> = self.array.row().reduce(Sum).await;
            let highest: Vec<f64> = self.array.row().reduce(Max).await;
            writeln!(cx.output(), "{:x} {:?} {:?}", row[0].to_bits(), &row[1..], &highest[1..]);
            let (count, sums, names): (i64, [f64; 2], BTreeSet<String>) =
                self.array.pair().reduce((Max, Sum, Set)).await;
            writeln!(cx.output(), "{count} {:x} {} {names:?}", sums[0].to_bits(), sums[1]);
            let path: Path = self.array.letter().reduce(Merged).await;
            writeln!(cx.output(), "{}", path.0.replace(['(', ')'], ""));
            self.array.contribute();
            self.contributed(cx).await;
            cx.exit();
        }

        async fn contributed(&mut self, cx: &mut Cx<Self>) {
            cx.when(Self::nothing).await;
            let (min, odd, bits) = cx.when(Self::both).await;
            writeln!(cx.output(), "{min} {odd} {bits}");
            let sum = cx.when(Self::sum).await;
            let stats = cx.when(Self::stats).await;
            writeln!(cx.output(), "{:x} {} {:x}", sum.to_bits(), stats.count, stats.mean.to_bits());
            let path = cx.when(Self::merged).await;
            writeln!(cx.output(), "{}", path.0.replace(['(', ')'], ""));
            let all = cx.when(Self::concat).await;
            writeln!(cx.output(), "{}", all.concat());
            let all = cx.when(Self::gather).await;
            assert_eq!(all, (0..ALL).map(|i| (i, i % 6)).collect::<Vec<_>>());
            let set = cx.when(Self::set).await;
            writeln!(cx.output(), "{set:?}");
        }
    }

    fn lines(test: &talisman::testing::Test) -> Vec<String> {
        test.run::<Main>(()).output
    }

    #[test]
    fn give_the_same_bits_in_every_manner() {
        let one = lines(&talisman::testing::Test::new());
        assert_eq!(one.len(), 12, "{one:?}");
        assert_eq!(one[1], "138 -5 17 0");
        assert_eq!(one[2], "0 31 7");
        assert_eq!(one[3], "false true false");
        assert_eq!(one[6], "abcdefghijklmnopqrstuvw");
        assert_eq!(one[7], "0 false 3");
        assert_eq!(one[9..], ["abcdefghijklmnopqrstuvw", "abcdefghijklmnopqrstuvw", "{0, 1, 2, 3, 4, 5}"]);
        let one: Vec<&str> = one.iter().map(String::as_str).collect();
        crate::common::same_everywhere::<Main, _>(|| (), &one);
    }
}

mod overflow {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn much(&mut self) -> u8 {
            200
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let sum: u8 = Element::array(2).new().much().reduce(Sum).await;
        writeln!(cx.output(), "{sum}");
    }

    #[test]
    fn of_an_integer_is_an_error() {
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &["sum is too large for u8", "Element"]);
    }
}

mod different {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn contribute(&mut self, cx: &mut Cx<Self>) {
            if cx.index() == 0 {
                cx.contribute(1u32, Sum, Callback::ignore());
            } else {
                cx.contribute(1u64, Max, Callback::ignore());
            }
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        Element::array(2).new().contribute();
        cx.quiescence().await;
    }

    #[test]
    fn contributions_are_an_error() {
        crate::common::fails_everywhere::<__Main, _>(
            || (),
            1,
            &["cannot join", "Sum", "Max", "failed at what "],
        );
    }
}

mod changing {
    use talisman::prelude::*;

    const ROUNDS: u32 = 12;

    /// Everybody contributes in each round; some are born, some go, all move.
    #[derive(Pup)]
    struct Element {
        round: u32,
    }

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new(round: u32) -> Self {
            Element { round }
        }

        #[entry]
        fn round(&mut self, cx: &mut Cx<Self>) {
            let me = cx.index();
            cx.migrate_to((cx.pe() + 1 + me as u32) % cx.pes());
            if me >= 1000 && self.round % 3 == 2 {
                return cx.destroy();
            }
            if me < 5 {
                let child = 1000 * (self.round as i32 + 1) + me;
                cx.array().insert(child).new(self.round);
                cx.array().at(child).round();
            }
            self.round += 1;
            cx.contribute(1u64, Sum, Main::main_chare().callback(Main::counted));
        }
    }

    #[derive(Pup)]
    struct Main {
        array: Array<Element>,
        counts: Vec<u64>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new() -> Self {
            let array = Element::array(10).new(0);
            array.round();
            Main { array, counts: vec![] }
        }

        #[entry]
        fn counted(&mut self, cx: &mut Cx<Self>, count: u64) {
            self.counts.push(count);
            if self.counts.len() as u32 == ROUNDS {
                writeln!(cx.output(), "{:?}", self.counts);
                return cx.exit();
            }
            self.array.round();
        }
    }

    /// The same, counted by hand.
    fn expected() -> Vec<u64> {
        let mut rounds: Vec<u32> = vec![];
        let mut counts = vec![];
        for round in 0..ROUNDS {
            rounds.extend([round; 5]);
            rounds.retain(|round| round % 3 != 2);
            rounds.iter_mut().for_each(|round| *round += 1);
            counts.push(10 + rounds.len() as u64);
        }
        counts
    }

    #[test]
    fn elements_are_counted_once_in_each_round() {
        crate::common::same_everywhere::<Main, _>(|| (), &[&format!("{:?}", expected())]);
    }
}

mod in_flight {
    use talisman::prelude::*;

    /// Contributes to many reductions before the first has a result.
    #[derive(Pup)]
    struct Element;

    #[chare(array2d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn burst(&mut self, cx: &mut Cx<Self>, from: u32, to: u32) {
            for n in from..to {
                cx.contribute(n as u64, Sum, Main::main_chare().callback(Main::sum).with(n));
            }
            cx.migrate_to((cx.pe() + 1) % cx.pes());
            if from == 0 {
                cx.me().burst(to, 2 * to);
            }
        }

        #[entry]
        fn value(&mut self, cx: &mut Cx<Self>, n: u64) -> u64 {
            cx.migrate_to((cx.pe() + 1) % cx.pes());
            n
        }
    }

    #[derive(Pup)]
    struct Main {
        sums: u32,
        answers: u64,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let array = Element::array((3, 3)).new();
            array.burst(0, 10);
            for n in 0..10 {
                array.value(n).reduce(Sum).reply(cx.callback(Self::answer).with(n));
            }
            Main { sums: 0, answers: 0 }
        }

        #[entry]
        fn sum(&mut self, cx: &mut Cx<Self>, n: u32, sum: u64) {
            assert_eq!(sum, 9 * n as u64);
            self.sums += 1;
            self.check(cx);
        }

        #[entry]
        fn answer(&mut self, cx: &mut Cx<Self>, n: u64, sum: u64) {
            assert_eq!(sum, 9 * n);
            self.answers += 1;
            self.check(cx);
        }

        fn check(&mut self, cx: &mut Cx<Self>) {
            if (self.sums, self.answers) == (20, 10) {
                writeln!(cx.output(), "all");
                cx.exit();
            }
        }
    }

    #[test]
    fn several_at_once() {
        crate::common::same_everywhere::<Main, _>(|| (), &["all"]);
    }
}

mod dying {
    use talisman::prelude::*;

    /// Broadcasts whose answers are reduced, while elements move and go: whoever receives one answers it.
    #[derive(Pup)]
    struct Element {
        left: u32,
    }

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let left = if cx.index() < 8 { u32::MAX } else { 2 + cx.index() as u32 % 9 };
            Element { left }
        }

        #[entry]
        fn walk(&mut self, cx: &mut Cx<Self>) {
            self.left -= 1;
            if self.left == 0 {
                return cx.destroy();
            }
            if self.left > 20 && self.left < u32::MAX - 40 {
                return;
            }
            let pes = cx.pes() as u64;
            let to = cx.rng().below(pes) as u32;
            cx.migrate_to(to);
            cx.me().walk();
        }

        #[entry]
        fn one(&mut self) -> u32 {
            1
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let array: Array<Element> = Element::array(24).new();
        array.walk();
        let mut last: u32 = 24;
        for _ in 0..40 {
            let count: u32 = array.one().reduce(Sum).await;
            assert!((8..=last).contains(&count), "{count} after {last}");
            last = count;
        }
        cx.quiescence().await;
        let count: u32 = array.one().reduce(Sum).await;
        writeln!(cx.output(), "{count}");
    }

    #[test]
    fn elements_are_not_waited_for() {
        crate::common::same_everywhere::<__Main, _>(|| (), &["8"]);
    }
}
