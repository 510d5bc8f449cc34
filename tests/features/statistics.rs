//! What a program leaves behind besides its output; random numbers.

mod results {
    use talisman::launch::ResultValue;
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
        fn pong(&mut self, n: u32) -> u32 {
            n
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let array: Array<Element> = Element::array(cx.pes() as i32).new();
        cx.expect_steps(50);
        for step in 1..=50u32 {
            let n: u32 = array.at(cx.pes() as i32 - 1).pong(step).await;
            assert_eq!(n, step);
            cx.step(step as u64);
        }
        cx.result("answer", 42u64);
        cx.result("name", "pong");
        cx.result("answer", 43u64);
    }

    #[test]
    fn and_counts_are_reported() {
        for (name, test) in crate::common::manners() {
            let tested = test.run::<__Main>(());
            crate::common::assert_ended_well(&name, &tested);
            assert_eq!(tested.steps, 50, "{name}");
            assert_eq!(tested.results.value("answer"), Some(&ResultValue::from(43u64)), "{name}");
            assert_eq!(tested.results.value("name"), Some(&ResultValue::from("pong")), "{name}");
            let messages = &tested.messages;
            // Fifty calls and their answers, and what little else there is.
            let away = messages.between_pes + messages.between_nodes;
            assert!((100..110).contains(&(messages.local + away)), "{name}: {messages:?}");
            let alone = tested.pe.len() == 1;
            assert_eq!(away, if alone { 0 } else { 100 }, "{name}: {messages:?}");
            let several = name.contains("2 nodes") || name.contains("3 nodes");
            assert_eq!(messages.between_nodes > 0, several, "{name}: {messages:?}");
            assert_eq!(messages.bytes_between_nodes > 0, messages.between_nodes > 0, "{name}: {messages:?}");
        }
    }
}

mod random {
    use talisman::prelude::*;
    use talisman::testing::Test;

    #[derive(Pup)]
    struct Element {
        drawn: Vec<u64>,
    }

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element { drawn: vec![] }
        }

        #[entry]
        fn draw(&mut self, cx: &mut Cx<Self>, moving: bool) {
            let (mut one, mut other) = (cx.rng(), cx.rng());
            let drawn = [one.next_u64(), other.next_u64(), one.below(cx.index() as u64 + 1)];
            assert_ne!(drawn[0], drawn[1], "both draw from the object");
            self.drawn.extend(drawn);
            if moving {
                cx.migrate_to((cx.pe() + 1) % cx.pes());
            }
        }

        #[entry]
        fn drawn(&mut self) -> Vec<u64> {
            self.drawn.clone()
        }
    }

    #[derive(clap::Parser, Pup)]
    struct Options {
        #[arg(long)]
        moving: bool,
    }

    #[talisman::main]
    async fn main(cx: &mut Cx, options: Options) {
        let array: Array<Element> = Element::array(4).new();
        for _ in 0..5 {
            array.draw(options.moving);
            cx.quiescence().await;
        }
        let drawn: Vec<Vec<u64>> = array.drawn().reduce(Concat).await;
        writeln!(cx.output(), "{drawn:x?}");
    }

    #[test]
    fn numbers_are_those_of_the_seed_and_the_object() {
        let draw = |test: Test, moving| test.run::<__Main>((Options { moving },)).output;
        for seed in [0, 7] {
            let one = draw(Test::new().simulated(1, seed), false);
            let moved = draw(Test::new().pes(3).simulated(2, seed), true);
            let packed = draw(Test::new().pes(2).simulated(2, seed).repacking_objects(), true);
            assert_eq!((&one, &one), (&moved, &packed));
            assert_ne!(one, draw(Test::new().simulated(1, seed + 1), false));
        }
        assert_eq!(draw(Test::new().pes(4), true), draw(Test::new().simulated(1, 0), false));
    }
}

mod simulation {
    use talisman::prelude::*;
    use talisman::testing::Test;

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn walk(&mut self, cx: &mut Cx<Self>, left: u32) {
            let to = cx.rng().below(cx.pes().into()) as u32;
            cx.migrate_to(to);
            if left > 0 {
                cx.array().at((cx.index() + left as i32) % 6).walk(left - 1);
            }
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        Element::array(6).new().walk(30);
        cx.quiescence().await;
    }

    #[test]
    fn is_the_same_again_for_the_same_seed() {
        let trace = |seed| {
            let done = Test::new().pes(2).simulated(3, seed).run::<__Main>(());
            (done.trace.expect("simulated"), done.events)
        };
        assert_eq!(trace(3), trace(3));
        assert_ne!(trace(3), trace(4));
    }
}
