//! Checkpoints: what a program sees of them, in every manner of running.

use talisman::launch::checkpoints::{CkptEvery, FaultTolerance};
use talisman::testing::Test;

/// With checkpoints when the program asks for them, and after so many of its steps.
fn after_steps(test: Test, steps: u64) -> Test {
    test.with_options(|options| {
        (options.ft, options.ckpt_every) = (FaultTolerance::Double, Some(CkptEvery::Steps(steps)));
    })
}

const NEVER: u64 = u64::MAX;

mod asked {
    use talisman::prelude::*;

    const ALL: i32 = 9;
    const ROUNDS: u32 = 4;

    #[derive(Pup)]
    struct Block {
        main: Proxy<Main>,
        cells: Vec<f64>,
    }

    #[chare(array1d)]
    impl Block {
        #[init]
        fn new(main: Proxy<Main>) -> Self {
            Block { main, cells: vec![1.0; 3000] }
        }

        /// Everybody asks at once.
        #[entry]
        fn ask(&mut self, cx: &mut Cx<Self>) {
            self.cells.iter_mut().for_each(|cell| *cell += 1.0);
            cx.checkpoint(self.main.callback(Main::told));
            let to = (cx.pe() + 1) % cx.pes();
            cx.migrate_to(to);
        }

        #[entry]
        fn sum(&self) -> f64 {
            self.cells.iter().sum()
        }
    }

    #[derive(Pup)]
    struct Main {
        blocks: Array<Block>,
        told: u32,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let blocks = Block::array(ALL).new(cx.me());
            blocks.ask();
            Main { blocks, told: 0 }
        }

        #[entry]
        fn told(&mut self, cx: &mut Cx<Self>) {
            self.told += 1;
            if self.told == ROUNDS * ALL as u32 {
                self.blocks.sum().reduce(Sum).reply(cx.callback(Self::done));
            } else if self.told.is_multiple_of(ALL as u32) {
                self.blocks.ask();
            }
        }

        #[entry]
        fn done(&mut self, cx: &mut Cx<Self>, sum: f64) {
            writeln!(cx.output(), "{} {sum}", self.told);
            cx.exit();
        }
    }

    #[test]
    fn everybody_is_told_once_it_is_committed() {
        let expected = [format!("{} {}", ROUNDS * ALL as u32, ALL * 3000 * (1 + ROUNDS as i32))];
        for (name, test) in crate::common::manners() {
            let tested = super::after_steps(test.clone(), super::NEVER).run::<Main>(());
            crate::common::assert_ended_well(&name, &tested);
            assert_eq!(tested.output, expected, "{name}");
            let taken = &tested.checkpoints;
            assert!(
                (ROUNDS as usize..=ROUNDS as usize * ALL as usize).contains(&taken.len()),
                "{name}: {taken:?}"
            );
            assert!(taken.iter().zip(1..).all(|(one, version)| one.version == version), "{name}: {taken:?}");
            for one in taken {
                assert_eq!((one.trigger.as_str(), one.objects), ("request", ALL as u64 + 1), "{name}");
                assert!(
                    one.bytes > ALL as u64 * 3000 * 8 && one.bytes < ALL as u64 * 3000 * 9,
                    "{name}: {one:?}"
                );
                assert!(one.blocked_s <= one.commit_s, "{name}: {one:?}");
            }
        }
    }

    #[test]
    fn without_any_everybody_is_told_at_once() {
        let tested = talisman::testing::Test::new().pes(3).run::<Main>(());
        crate::common::assert_ended_well("3 PEs", &tested);
        assert_eq!((tested.output.len(), tested.checkpoints.len()), (1, 0));
    }
}

mod steps {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Counter;

    #[chare(group)]
    impl Counter {
        #[init]
        fn new() -> Self {
            Counter
        }

        #[entry]
        fn count(&self, cx: &mut Cx<Self>, step: u64) -> u64 {
            // Whoever says it, and however often.
            cx.step(step);
            1
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let counters: Group<Counter> = Counter::group().new();
        for step in 1..=10 {
            let _all: u64 = counters.count(step).reduce(Sum).await;
            cx.quiescence().await;
        }
        writeln!(cx.output(), "done");
    }

    #[test]
    fn of_the_program_lead_to_checkpoints() {
        for (name, test) in crate::common::manners() {
            let tested = super::after_steps(test, 3).run::<__Main>(());
            crate::common::assert_ended_well(&name, &tested);
            // After steps 3, 6 and 9; the next step may come before the one for the last is over.
            let taken = &tested.checkpoints;
            assert!((1..=3).contains(&taken.len()), "{name}: {taken:?}");
            assert!(taken.iter().all(|one| one.trigger == "steps"), "{name}: {taken:?}");
        }
    }
}

mod balancing {
    use std::time::Duration;

    use talisman::launch::balancing::Every;
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Block {
        steps: u64,
    }

    #[chare(array1d)]
    impl Block {
        #[init]
        fn new() -> Self {
            Block { steps: 0 }
        }

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) -> u64 {
            for _ in 0..12 {
                cx.checkpoint(Callback::ignore());
                cx.at_sync().await;
                self.steps += 1;
            }
            self.steps
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let blocks: Array<Block> = Block::array(14).new();
        let steps: u64 = blocks.run().reduce(Sum).await;
        writeln!(cx.output(), "{steps}");
    }

    #[test]
    fn and_checkpoints_take_turns() {
        for (name, test) in crate::common::manners() {
            for every in [Every::Sync, Every::Time(Duration::from_micros(100))] {
                let test = super::after_steps(test.clone(), super::NEVER).balancing("rotate", every);
                let tested = test.run::<__Main>(());
                crate::common::assert_ended_well(&name, &tested);
                assert_eq!(tested.output, ["168"], "{name}, {every}");
                assert!(!tested.checkpoints.is_empty(), "{name}, {every}");
            }
        }
        let marks = talisman::sometimes::take_marks();
        for rare in [
            "a checkpoint waited for the end of a balancing step",
            "a checkpoint was wanted while one was under way",
        ] {
            assert!(marks.contains_key(rare), "nobody came there: {rare}; {marks:#?}");
        }
    }
}

mod automatic {
    use std::time::Duration;

    use talisman::launch::checkpoints::FaultTolerance;
    use talisman::prelude::*;
    use talisman::testing::Test;

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        for _ in 0..200 {
            cx.sleep(Duration::from_millis(100)).await;
        }
        writeln!(cx.output(), "slept");
    }

    #[test]
    fn ones_are_as_frequent_as_failures_make_it_worth_while() {
        let with = |mtbf| {
            let test = Test::new().simulated(2, 3).with_options(|options| {
                (options.ft, options.mtbf) = (FaultTolerance::Double, Some(Duration::from_secs(mtbf)));
            });
            let tested = test.run::<__Main>(());
            crate::common::assert_ended_well("simulated", &tested);
            assert!(tested.checkpoints.iter().all(|one| one.trigger == "auto"));
            tested.checkpoints.len()
        };
        let (often, rarely) = (with(10), with(1000));
        assert!(often > 3 * rarely && rarely > 2, "{often} and {rarely} in 20 s");
    }
}
