//! Chares of their own: made from anywhere, placed, ordered by priority, moved, removed.

mod a_tree_of_chares {
    use talisman::prelude::*;

    const DEPTH: u32 = 6;

    #[derive(Pup)]
    struct Twig {
        name: u64,
    }

    #[chare(single)]
    impl Twig {
        #[init]
        fn new(name: u64, depth: u32) -> Self {
            if depth > 0 {
                for child in [2 * name, 2 * name + 1] {
                    Twig::chare().new(child, depth - 1).hello();
                }
            }
            Twig { name }
        }

        #[entry]
        fn hello(&mut self, cx: &mut Cx<Self>) {
            Main::main_chare().met(self.name);
            cx.destroy();
        }
    }

    #[derive(Pup)]
    struct Main {
        met: u64,
        names: u64,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new() -> Self {
            Twig::chare().new(1, DEPTH).hello();
            Main { met: 0, names: 0 }
        }

        #[entry]
        fn met(&mut self, cx: &mut Cx<Self>, name: u64) {
            self.met += 1;
            self.names += name;
            if self.met == (2 << DEPTH) - 1 {
                writeln!(cx.output(), "{} met, names {}", self.met, self.names);
                cx.exit();
            }
        }
    }

    #[test]
    fn every_one_is_made_once() {
        let names: u64 = (1..2 << DEPTH).sum();
        crate::common::same_everywhere::<Main, _>(|| (), &[&format!("127 met, names {names}")]);
    }
}

mod places {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Where {
        made_on: u32,
    }

    #[chare(single)]
    impl Where {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            Where { made_on: cx.pe() }
        }

        #[entry]
        fn places(&mut self, cx: &mut Cx<Self>) -> (u32, u32) {
            (self.made_on, cx.pe())
        }

        #[entry(ack)]
        fn go(&mut self, cx: &mut Cx<Self>, to: u32) {
            cx.migrate_to(to);
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        for pe in 0..cx.pes() {
            let chare: Proxy<Where> = Where::chare().on(pe).new();
            let at_first: (u32, u32) = chare.places().await;
            let next: u32 = (pe + 1) % cx.pes();
            chare.go(next).await;
            let then: (u32, u32) = chare.places().await;
            assert_eq!((at_first, then), ((pe, pe), (pe, next)));
        }
        writeln!(cx.output(), "as told");
    }

    #[test]
    fn are_as_told() {
        crate::common::same_with_all_nodes::<__Main, _>(|| (), &["as told"]);
    }
}

mod no_such_place {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Lost;

    #[chare(single)]
    impl Lost {
        #[init]
        fn new() -> Self {
            Lost
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let _ = Lost::chare().on(cx.pes()).new();
    }

    #[test]
    fn is_told() {
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &["__Main[0]", "there is no PE"]);
    }
}

mod urgent_creation {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Made;

    #[chare(single)]
    impl Made {
        #[init]
        fn new(name: u32) -> Self {
            Main::main_chare().made(name);
            Made
        }
    }

    #[derive(Pup)]
    struct Main {
        order: Vec<u32>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            for (name, priority) in [(0, 0), (1, 7), (2, -1), (3, 0), (4, -9)] {
                Made::chare().on(cx.pe()).with_priority(&Priority::int(priority)).new(name);
            }
            Main { order: vec![] }
        }

        #[entry]
        fn made(&mut self, cx: &mut Cx<Self>, name: u32) {
            self.order.push(name);
            if self.order.len() == 5 {
                writeln!(cx.output(), "{:?}", self.order);
                cx.exit();
            }
        }
    }

    #[test]
    fn goes_first() {
        crate::common::same_everywhere::<Main, _>(|| (), &["[4, 2, 0, 3, 1]"]);
    }
}

mod a_message_to_one_that_is_not_made_yet {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Named {
        name: u32,
    }

    #[chare(single)]
    impl Named {
        #[init]
        fn new(name: u32) -> Self {
            Named { name }
        }

        #[entry]
        fn say(&mut self) {
            Main::main_chare().said(self.name);
        }
    }

    #[derive(Pup)]
    struct Main {
        order: Vec<u32>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let named: Vec<Proxy<Named>> = (0..3).map(|name| Named::chare().on(cx.pe()).new(name)).collect();
            Main::main_chare().said(9);
            named[2].with_priority(&Priority::int(-1)).say();
            named[1].say();
            named[0].say();
            Main { order: vec![] }
        }

        #[entry]
        fn said(&mut self, cx: &mut Cx<Self>, name: u32) {
            self.order.push(name);
            if self.order.len() == 4 {
                writeln!(cx.output(), "{:?}", self.order);
                cx.exit();
            }
        }
    }

    /// It has its place in the queue from when it is sent. One that comes to its turn before its chare waits for that, as urgent as
    /// it is. (Where checkpoints come between, what waits is kept by its chare.)
    #[test]
    fn goes_behind_its_creation() {
        for (name, test) in crate::common::manners() {
            let tested = test.run::<Main>(());
            crate::common::assert_ended_well(&name, &tested);
            if !name.contains("checkpoints") {
                assert_eq!(tested.output, ["[9, 2, 1, 0]"], "{name}");
            }
        }
    }
}

mod calls_before_and_after_one_is_made {
    use talisman::prelude::*;

    /// Hears numbers, each larger than the one before.
    #[derive(Pup)]
    struct Hearer {
        latest: u32,
    }

    #[chare(single)]
    impl Hearer {
        #[init]
        fn new() -> Self {
            Hearer { latest: 0 }
        }

        #[entry]
        fn hear(&mut self, number: u32) {
            assert!(number > self.latest, "{number} after {}", self.latest);
            self.latest = number;
        }
    }

    /// Makes them, and calls all that it has made.
    #[derive(Pup)]
    struct Maker {
        made: Vec<Proxy<Hearer>>,
        number: u32,
    }

    #[chare(group)]
    impl Maker {
        #[init]
        fn new() -> Self {
            Maker { made: Vec::new(), number: 0 }
        }

        #[entry]
        fn make(&mut self, cx: &mut Cx<Self>) {
            for pe in [cx.pe(), (cx.pe() + 1) % cx.pes()] {
                self.made.push(Hearer::chare().on(pe).new());
                self.call();
            }
        }

        #[entry]
        fn call(&mut self) {
            self.number += 1;
            self.made.iter().for_each(|one| one.hear(self.number));
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let makers = Maker::group().new();
        for _ in 0..8 {
            for pe in 0..cx.pes() {
                let maker = makers.on(pe);
                maker.make();
                maker.call();
                maker.make();
                maker.call();
            }
            cx.quiescence().await;
        }
        writeln!(cx.output(), "all in order");
    }

    /// What its PE puts off, as it is frozen for a checkpoint before the chare is made, is not overtaken by what is sent after that.
    #[test]
    fn come_in_order() {
        crate::common::same_with_all_nodes::<__Main, _>(|| (), &["all in order"]);
    }
}

mod a_walker {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Walker {
        hops: u32,
        heard: u64,
    }

    #[chare(single)]
    impl Walker {
        #[init]
        fn new() -> Self {
            Walker { hops: 0, heard: 0 }
        }

        #[entry]
        fn add(&mut self, n: u64) {
            self.heard += n;
        }

        #[entry]
        async fn walk(&mut self, cx: &mut Cx<Self>, hops: u32) -> (u32, u64) {
            for _ in 0..hops {
                let next = (cx.pe() + 1) % cx.pes();
                cx.migrate_to(next);
                cx.me().step().await;
                self.hops += 1;
                assert_eq!(cx.pe(), next_of(self.hops, cx.pes()));
            }
            cx.quiescence().await;
            (self.hops, self.heard)
        }

        #[entry(ack)]
        fn step(&mut self) {}
    }

    fn next_of(hops: u32, pes: u32) -> u32 {
        hops % pes
    }

    #[derive(Pup)]
    struct Caller;

    #[chare(group)]
    impl Caller {
        #[init]
        fn new() -> Self {
            Caller
        }

        #[entry]
        async fn call(&mut self, cx: &mut Cx<Self>, walker: Proxy<Walker>) {
            for n in 1..=20u64 {
                walker.add(n);
                cx.me().again().await;
            }
        }

        #[entry(ack)]
        fn again(&mut self) {}
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let walker = Walker::chare().on(0).new();
        Caller::group().new().call(walker);
        let (hops, heard): (u32, u64) = walker.walk(30).await;
        writeln!(cx.output(), "{hops} hops, heard all: {}", heard == 210 * cx.pes() as u64);
    }

    #[test]
    fn hears_everything_on_its_way() {
        crate::common::same_with_all_nodes::<__Main, _>(|| (), &["30 hops, heard all: true"]);
    }
}
